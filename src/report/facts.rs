//! What was seen, from where: `nodevet facts`, for people and as JSON.

use super::Style;
use crate::fact::{Known, Why};
use crate::names::{self, FactId};
use crate::resolve::{InForce, Worlds};
use crate::text::Sources;
use std::io;

mod json;
mod text;

/// A name on the command line that is no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no fact `{name}`{}", .nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
pub struct NoSuchFact {
    pub name: String,
    pub nearest: Option<&'static str>,
}

/// The facts asked for, in the order of their table: whole names, or groups (`containerd.`,
/// `containerd.*`, `containerd`); all of them when nothing is asked for.
pub fn select(asked: &[String]) -> Result<Vec<FactId>, NoSuchFact> {
    let mut chosen = [asked.is_empty(); names::COUNT];
    for name in asked {
        let before = name.strip_suffix('*').or(name.ends_with('.').then_some(name));
        let group = format!("{name}.");
        let mut found = false;
        for id in names::all() {
            let fact = id.decl().name;
            let hit = fact == name || fact.starts_with(&group) || before.is_some_and(|b| fact.starts_with(b));
            chosen[id.index()] |= hit;
            found |= hit;
        }
        if !found {
            let nearest = names::nearest(name, names::all().map(|id| id.decl().name));
            return Err(NoSuchFact { name: name.clone(), nearest });
        }
    }
    Ok(names::all().filter(|id| chosen[id.index()]).collect())
}

/// What is printed.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub sources: &'a Sources,
    pub worlds: &'a Worlds,
    pub chosen: &'a [FactId],
}

impl Facts<'_> {
    pub fn print_text(&self, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
        text::print(self, style, out)
    }

    pub fn print_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        json::print(self, out)
    }

    /// Where a fact hangs on an unknown version: its value in each world, equal ones of one name once.
    fn differing(&self, id: FactId) -> Vec<(String, &InForce)> {
        let mut said: Vec<(String, &InForce)> = Vec::new();
        let Known::Unknown(why) = &self.worlds.merged.get(id).value else { return said };
        if !hangs_on_version(why) {
            return said;
        }
        let (on_containerd, on_kubelet) = names::depends(id);
        for world in &self.worlds.worlds {
            let of = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
            let name = match (on_containerd, on_kubelet) {
                (true, false) => of(&self.worlds.containerd, world.containerd),
                (false, true) => of(&self.worlds.kubelet, world.kubelet),
                _ => self.worlds.name(world),
            };
            let value = world.facts.get(id);
            if !said.iter().any(|(n, v)| *n == name && *v == value) {
                said.push((name, value));
            }
        }
        said
    }
}

fn hangs_on_version(why: &Why) -> bool {
    match why {
        Why::NeedsVersion { .. } => true,
        Why::Needs(_, why) => hangs_on_version(why),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(asked: &[&str]) -> Vec<&'static str> {
        let asked: Vec<String> = asked.iter().map(|s| (*s).to_owned()).collect();
        select(&asked).unwrap().into_iter().map(|id| id.decl().name).collect()
    }

    #[test]
    fn names_and_groups_select_in_the_order_of_the_table() {
        assert_eq!(names_of(&["cgroup.mode", "host.init"]), ["host.init", "cgroup.mode"]);
        let group = names_of(&["cgroup."]);
        assert!(group.len() > 2 && group.iter().all(|n| n.starts_with("cgroup.")), "{group:?}");
        assert_eq!((names_of(&["cgroup.*"]), names_of(&["cgroup"])), (group.clone(), group));
        assert_eq!(names_of(&[]).len(), names::COUNT);
    }

    #[test]
    fn an_unknown_name_finds_its_neighbour() {
        let error = select(&["host.innit".into()]).unwrap_err();
        assert_eq!(error.to_string(), "no fact `host.innit`; did you mean `host.init`?");
        assert!(select(&["nonsense.".into()]).is_err());
    }
}
