//! Several files become one configuration.

use super::decode::shadow;
use super::generation::{Generation, Pipeline};
use super::load::{File, Load, Stop};
use super::migrate;
use super::tree::{Data, Shared, Tree};
use std::rc::Rc;

/// A plugin's section that a later file replaced whole (1.x).
#[derive(Clone, Debug)]
pub(super) struct Replaced {
    pub(super) plugin: Rc<str>,
    /// The file that replaces it.
    pub(super) by: String,
    /// The dropped section and the one that took its place.
    pub(super) old: Shared,
    pub(super) new: Shared,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    /// The last `version` other than 0 that a file says.
    pub(super) version: Option<Shared>,
    /// The version that the daemon takes the whole for.
    pub(super) running: i64,
    pub(super) disabled: Vec<Shared>,
    pub(super) required: Vec<Shared>,
    pub(super) plugins: Tree,
    /// Everything else.
    pub(super) top: Tree,
    pub(super) replaced: Vec<Replaced>,
}

const APART: &[&str] = &["version", "disabled_plugins", "required_plugins", "imports", "plugins"];

/// Merges what was loaded. An error is what the daemon dies of on the way.
pub(super) fn merge(generation: &Generation, load: &Load) -> (Merged, Option<Stop>) {
    let mut merged = Merged { running: generation.max_version.unwrap_or(2), ..Merged::default() };
    if generation.is_v1() {
        merged.running = 0;
    }
    for file in &load.files {
        let Some(top) = &file.top else { continue };
        if let Err(stop) = add(generation, &mut merged, file, top) {
            return (merged, Some(stop));
        }
    }
    let migrated = match generation.pipeline {
        Pipeline::MergeThenMigrate if merged.running < 0 => Err(panic(&merged.version, merged.running)),
        Pipeline::MergeThenMigrate if merged.running < 3 => {
            migrate::cri(&mut merged.plugins, generation.since("2.1"))
        }
        _ => Ok(()),
    };
    (merged, migrated.err())
}

fn panic(at: &Option<Shared>, version: i64) -> Stop {
    let message = format!("version {version} makes the daemon panic");
    Stop { message, place: at.as_ref().map(|v| v.at.place), syntax: false }
}

fn add(generation: &Generation, merged: &mut Merged, file: &File, top: &Shared) -> Result<(), Stop> {
    let said = file.version();
    let list = |name: &str| top.get(name).map(|l| l.array().to_vec()).unwrap_or_default();
    let mut disabled = list("disabled_plugins");
    let mut required = list("required_plugins");
    let mut plugins = top.get("plugins").and_then(|p| p.table()).cloned().unwrap_or_default();
    let mut version = said;
    match generation.pipeline {
        Pipeline::Replace => {}
        Pipeline::MergeThenMigrate if said == 0 || said == 1 => {
            if merged.running > 3 {
                return Err(panic(&merged.version, merged.running));
            }
            // versions 0 and 1 are lifted to the version in force so far
            if merged.running >= 2 {
                migrate::rename(&mut plugins, &mut disabled, &mut required);
                version = merged.running;
            }
        }
        Pipeline::MergeThenMigrate => {}
        Pipeline::MigrateThenMerge => {
            // a negative version is refused elsewhere; it must not be counted up from
            for step in said.max(0)..4 {
                if step == 1 {
                    migrate::rename(&mut plugins, &mut disabled, &mut required);
                }
                migrate::cri(&mut plugins, true)?;
            }
            version = said.max(4);
        }
    }
    if version != 0 {
        merged.running = version;
    }
    if said != 0
        && let Some(value) = file.version_value()
    {
        let new = merged.version.as_ref().map_or_else(|| value.clone(), |old| value.over(old));
        merged.version = Some(new);
    }
    let twice = generation.is_v1();
    append(&mut merged.disabled, disabled, twice);
    append(&mut merged.required, required, twice);
    for (name, value) in &plugins.entries {
        let new = match merged.plugins.get(name) {
            None => value.clone(),
            Some(old) if generation.is_v1() => {
                merged.replaced.push(Replaced {
                    plugin: name.clone(),
                    by: file.path.clone(),
                    old: old.clone(),
                    new: value.clone(),
                });
                shadow(value, Some(old))
            }
            Some(old) => deep(old, value),
        };
        merged.plugins.put(name, new);
    }
    if let Some(tree) = top.table() {
        non_zero(&mut merged.top, tree, true);
    }
    Ok(())
}

/// 1.x keeps duplicates, 2.x does not.
fn append(list: &mut Vec<Shared>, more: Vec<Shared>, twice: bool) {
    for item in more {
        if twice || !list.iter().any(|known| known.text() == item.text()) {
            list.push(item);
        }
    }
}

/// Tables merge, everything else is replaced, also by `false` and by nothing.
pub(super) fn deep(old: &Shared, new: &Shared) -> Shared {
    match (&old.data, &new.data) {
        (Data::Table(o), Data::Table(n)) => {
            let mut all = o.clone();
            for (name, value) in &n.entries {
                let merged = o.get(name).map_or_else(|| value.clone(), |known| deep(known, value));
                all.put(name, merged);
            }
            new.with(Data::Table(all))
        }
        (_, Data::Table(_)) => new.clone(),
        _ => new.over(old),
    }
}

/// The fields of the file itself: zero values never override; maps are replaced entry by entry.
fn non_zero(into: &mut Tree, from: &Tree, outermost: bool) {
    for (name, value) in &from.entries {
        if (outermost && APART.contains(&&**name)) || value.is_zero() {
            continue;
        }
        let map = matches!(&**name, "timeouts" | "proxy_plugins" | "stream_processors");
        let new = match (into.get(name).cloned(), value.table()) {
            (old, Some(tree)) => {
                let mut inner = old.and_then(|o| o.table().cloned()).unwrap_or_default();
                if outermost && map {
                    for (key, entry) in &tree.entries {
                        let new = shadow(entry, inner.get(key));
                        inner.put(key, new);
                    }
                } else {
                    non_zero(&mut inner, tree, false);
                }
                value.with(Data::Table(inner))
            }
            (Some(old), None) => value.over(&old),
            (None, _) => value.clone(),
        };
        into.put(name, new);
    }
}
