//! Runtime handlers: which shim, which options reach it, with which cgroup driver, and whether
//! pods of the handler can be created.

use super::decode::{Decoder, Mismatch};
use super::generation::{Generation, Keys};
use super::merge::Merged;
use super::plugins::Cri;
use super::schema::{self, Kind};
use super::tree::Shared;
use crate::text::Place;
use std::rc::Rc;

pub(super) const RUNC_V2: &str = "io.containerd.runc.v2";
const RUNC_V1: &str = "io.containerd.runc.v1";
const LINUX: &str = "io.containerd.runtime.v1.linux";

/// What a shim does with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Runc,
    /// The first shim of containerd, with options of its own (1.x).
    Linux,
    Other,
}

#[derive(Clone, Debug)]
pub(super) enum Driver {
    /// What decides, and the answer; nothing decides where no key is in force.
    Is(Option<Shared>, bool),
    /// Two spellings that disagree: 1.4 takes either, anew for each pod.
    Random(Shared),
    /// Not of the runc family, or its pods fail.
    None,
}

#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) name: Rc<str>,
    pub(super) table: Shared,
    pub(super) kind: Option<Shared>,
    pub(super) family: Family,
    pub(super) options: Option<Shared>,
    pub(super) driver: Driver,
    pub(super) binary: Option<Shared>,
    pub(super) unusable: Option<(String, Option<Place>)>,
}

impl Handler {
    pub(super) fn type_text(&self) -> &str {
        self.kind.as_ref().and_then(|k| k.text()).unwrap_or_default()
    }
}

/// The name of the default handler: what says it.
pub(super) fn default_name(generation: &Generation, cri: &Cri) -> Option<Shared> {
    let containerd = cri.runtime.get("containerd")?;
    if generation.is_v1()
        && let Some(table) = containerd.get("default_runtime")
        && typed(table)
    {
        // the table itself makes the name: CRI calls that handler "default"
        return Some(table.clone());
    }
    containerd.get("default_runtime_name").cloned()
}

/// The text of what [`default_name`] found.
pub(super) fn name_text(value: &Shared) -> &str {
    if value.table().is_some() { "default" } else { value.text().unwrap_or_default() }
}

fn typed(handler: &Shared) -> bool {
    handler.get("runtime_type").is_some_and(|t| !t.is_zero())
}

/// All handlers in force, by name.
pub(super) fn all(generation: &Generation, merged: &Merged, cri: &Cri) -> Vec<Handler> {
    let containerd = cri.runtime.get("containerd");
    let runtimes = containerd.and_then(|c| c.get("runtimes")).and_then(|r| r.table());
    let mut tables: Vec<(Rc<str>, Shared)> = runtimes.map(|r| r.entries.clone()).unwrap_or_default();
    if generation.is_v1() {
        for (name, key) in [("untrusted", "untrusted_workload_runtime"), ("default", "default_runtime")] {
            if let Some(table) = containerd.and_then(|c| c.get(key))
                && typed(table)
            {
                tables.retain(|(n, _)| **n != *name);
                tables.push((Rc::from(name), table.clone()));
            }
        }
    }
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    tables.into_iter().map(|(name, table)| handler(generation, merged, cri, name, table)).collect()
}

fn handler(generation: &Generation, merged: &Merged, cri: &Cri, name: Rc<str>, table: Shared) -> Handler {
    let kind = table.get("runtime_type").cloned();
    let text = kind.as_ref().and_then(|k| k.text()).unwrap_or_default().to_owned();
    let family = match text.as_str() {
        RUNC_V2 => Family::Runc,
        RUNC_V1 if generation.is_v1() => Family::Runc,
        LINUX if generation.is_v1() => Family::Linux,
        _ => Family::Other,
    };
    // defaults print an empty table where there is none
    let printed = |o: &&Shared| !(cri.is_default(o) && o.is_zero());
    let options = table.get("options").filter(printed).cloned();
    let mut handler =
        Handler { name, table, kind, family, options, driver: Driver::None, binary: None, unusable: None };
    match read_options(generation, &handler) {
        Ok(options) => {
            let get = |key: &str| options.as_ref().and_then(|o| o.get(key)).cloned();
            handler.binary = get("BinaryName").or_else(|| get("Runtime"));
            let value = match (&handler.options, family) {
                (None, Family::Linux) => {
                    handler.binary = handler.table.get("runtime_engine").filter(|e| !e.is_zero()).cloned();
                    cri.runtime.get("systemd_cgroup").cloned()
                }
                _ => get("SystemdCgroup"),
            };
            if family != Family::Other {
                let on = value.as_ref().and_then(|v| v.bool()).unwrap_or(false);
                handler.driver = match two_spellings(generation, &handler) {
                    Some(other) => Driver::Random(other),
                    None => Driver::Is(value, on),
                };
            }
        }
        Err(bad) => {
            handler.unusable = Some((format!("runtime option {}", bad.message), Some(bad.at.at.place)));
        }
    }
    if handler.unusable.is_none() {
        handler.unusable = unusable(generation, merged, &handler, &text);
    }
    if handler.unusable.is_some() {
        handler.driver = Driver::None;
    }
    handler
}

/// The options as the shim's struct takes them.
fn read_options(generation: &Generation, handler: &Handler) -> Result<Option<Shared>, Mismatch> {
    let Some(options) = &handler.options else { return Ok(None) };
    let kind: &Kind = match handler.family {
        Family::Runc => schema::RUNC_OPTIONS,
        Family::Linux => schema::LINUX_OPTIONS,
        Family::Other => schema::OTHER_OPTIONS,
    };
    let decoder = Decoder { keys: generation.keys, sorted: true };
    decoder.decode("options", kind, None, options).map(Some)
}

/// Whether a handler's options can be read as options of runc (what RuntimeConfig tries).
pub(super) fn reported(generation: &Generation, handler: &Handler) -> Option<Shared> {
    if handler.type_text() != RUNC_V2 {
        return None;
    }
    read_options(generation, handler).ok().flatten()
}

fn two_spellings(generation: &Generation, handler: &Handler) -> Option<Shared> {
    if generation.keys != Keys::AnyCase {
        return None;
    }
    let tree = handler.options.as_ref()?.table()?;
    let mut fitting = tree.entries.iter().filter(|(k, _)| k.eq_ignore_ascii_case("SystemdCgroup"));
    let (_, first) = fitting.next()?;
    fitting.find(|(_, v)| v.bool() != first.bool()).map(|(_, v)| v.clone())
}

fn unusable(
    generation: &Generation,
    merged: &Merged,
    handler: &Handler,
    kind: &str,
) -> Option<(String, Option<Place>)> {
    let place = handler.kind.as_ref().map(|k| k.at.place);
    if kind.is_empty() {
        let place = place.unwrap_or(handler.table.at.place);
        return Some(("runtime_type is empty".to_owned(), Some(place)));
    }
    if !generation.is_v1() && matches!(kind, RUNC_V1 | LINUX) {
        return Some((format!("containerd 2 has no shim for {kind}"), place));
    }
    let sandboxer = handler.table.get("sandboxer").filter(|s| !s.is_zero())?;
    let name = sandboxer.text()?;
    let known = matches!(name, "podsandbox" | "shim")
        || merged.top.get("proxy_plugins").is_some_and(|p| p.get(name).is_some());
    (!known).then(|| (format!("there is no sandboxer `{name}`"), Some(sandboxer.at.place)))
}
