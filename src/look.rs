//! One look at a node: collected once, resolved for both moments.

use crate::collect::{Options, collect};
use crate::derive::derive;
use crate::finding::{Edit, Fix, Intent};
use crate::model::containerd::generation::{Generation, possible};
use crate::model::containerd::home;
use crate::node::Node;
use crate::resolve::{Collected, Snapshot, When, Worlds, moments_differ, resolve};
use crate::version::Version;

pub struct Look {
    pub collected: Collected,
    /// As it runs.
    pub now: Worlds,
    /// As it will start next.
    pub next: Worlds,
    documents: home::Documents,
}

impl Look {
    pub fn at(node: &Node, options: &Options) -> Look {
        Look::of(collect(node, options), derive)
    }

    pub fn of(collected: Collected, derive: impl Fn(&mut Snapshot)) -> Look {
        let now = resolve(&collected, When::Now, &derive);
        let next = match moments_differ(&collected) {
            true => resolve(&collected, When::NextStart, &derive),
            false => now.clone(),
        };
        Look { collected, now, next, documents: home::Documents::default() }
    }

    /// Where a fix would write: what every generation of containerd still possible agrees on.
    /// A world in which the daemon or the row is not there has no say.
    pub fn home(&self, fix: &Fix, intent: &Intent) -> Result<Vec<Edit>, String> {
        let (Intent::Set { fact, .. } | Intent::Remove { fact, .. } | Intent::Move { fact, .. }) = intent;
        if !fact.starts_with("containerd.") {
            return Err(format!("nothing here edits what says {fact}: change it by hand"));
        }
        let mut agreed: Option<Vec<Edit>> = None;
        let mut refusal = None;
        // the kubelet has no say in where containerd's files are changed
        let kubelet = self.next.worlds.first().map(|w| w.kubelet);
        for world in self.next.worlds.iter().filter(|w| Some(w.kubelet) == kubelet) {
            let Some(generation) = generation(&world.facts) else { continue };
            let Some(intent) = in_world(intent, fix, &world.facts) else { continue };
            match home::home(&intent, &world.facts, &self.collected.sources, generation, &self.documents) {
                Ok(edits) if agreed.as_ref().is_some_and(|a| *a != edits) => {
                    return Err(
                        "where to write depends on the version of containerd: --assume containerd=VERSION"
                            .into(),
                    );
                }
                Ok(edits) => agreed = Some(edits),
                Err(why) => refusal = Some(why),
            }
        }
        match (agreed, refusal) {
            (Some(edits), None) => Ok(edits),
            (_, Some(why)) => Err(why),
            (None, None) => Err("the version of containerd is not known".into()),
        }
    }
}

/// The (first) generation of containerd that a world may have.
fn generation(facts: &Snapshot) -> Option<&'static Generation> {
    let version = facts.named("containerd.version").value.is().and_then(|v| Version::parse(v.as_text()?));
    possible(Some(&version?)).first().copied()
}

/// The intent with the index that its row has in this world; none where the row is not there.
fn in_world(intent: &Intent, fix: &Fix, facts: &Snapshot) -> Option<Intent> {
    let mut intent = intent.clone();
    let (Intent::Set { fact, row, .. } | Intent::Remove { fact, row, .. } | Intent::Move { fact, row, .. }) =
        &mut intent;
    if let (Some(index), Some((first, nth))) = (row, &fix.row) {
        let table = fact.rsplit_once('.').map_or(fact.as_str(), |(table, _)| table);
        let rows = facts.named(table).rows.iter().enumerate();
        let alike = rows.filter(|(_, cells)| cells.first().is_some_and(|c| c.value.is() == Some(first)));
        *index = alike.map(|(at, _)| at).nth(*nth)?;
    }
    Some(intent)
}
