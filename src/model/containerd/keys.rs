//! What is written, in force or not: keys below plugins, settings that look like a cgroup driver,
//! files that look like drop-ins.

use super::load::{Effect, File, Load};
use super::migrate::{self, CRI, IMAGES, RUNTIME};
use super::session::World;
use super::tree::{Shared, Tree, Val};
use super::{Effective, generation::Pipeline, paths};
use crate::fact::{Known, Row, Value};
use crate::text::{Place, SourceId, Span};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A `*.toml` where drop-ins are kept.
#[derive(Debug)]
pub(super) struct DropIn {
    pub(super) path: String,
    pub(super) reached: bool,
}

/// Files in the usual directories beside the main file, reached or not.
pub(super) fn dropins(main: &str, load: &Load, world: &mut World) -> Known<Vec<DropIn>> {
    let mut found = Vec::new();
    for name in ["conf.d", "config.d", "containerd.conf.d", "containerd.d"] {
        let dir = paths::join(paths::dir(main), name);
        match world.list(&dir) {
            Known::Is(names) => found.extend(names.iter().filter(|n| n.ends_with(".toml")).map(|n| {
                let path = format!("{dir}/{n}");
                let reached = load.files.iter().any(|f| f.path == path && f.effect != Effect::Ignored);
                DropIn { path, reached }
            })),
            Known::Absent(_) => {}
            Known::Unknown(why) => return Known::Unknown(why),
        }
    }
    Known::Is(found)
}

/// For each key of a section its row without effect and its row with it.
type KeyRows = Vec<[Option<Arc<Row>>; 2]>;

/// What the generations of one configuration have in common.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By the address of the section (documents are kept) and the version, for each of its keys:
    /// without effect, with it.
    keys: RefCell<BTreeMap<(*const Val, i64), KeyRows>>,
    /// The settings of a document that look like a cgroup driver.
    settings: RefCell<Vec<(Shared, Rc<Settings>)>>,
}

/// Key and value.
type Settings = [(String, Shared)];

impl Rows {
    fn looking_like_driver(&self, document: &Shared) -> Rc<Settings> {
        let mut known = self.settings.borrow_mut();
        if let Some((_, settings)) = known.iter().find(|(d, _)| Rc::ptr_eq(d, document)) {
            return settings.clone();
        }
        let mut found = Vec::new();
        document.table().into_iter().for_each(|root| walk(root, &mut found));
        let settings: Rc<Settings> = found.into();
        known.push((document.clone(), settings.clone()));
        settings
    }
}

/// A plugin table of a file, under the id that is written.
fn sections<'f>(effective: &Effective, file: &'f File) -> Vec<&'f (Rc<str>, Shared)> {
    let Some(root) = file.document.as_ref().and_then(|d| d.table()) else { return Vec::new() };
    let exact = effective.generation.is_v1() && effective.generation.since("1.5");
    let is_plugins = |k: &str| if exact { k == "plugins" } else { k.eq_ignore_ascii_case("plugins") };
    root.entries
        .iter()
        .filter(|(k, _)| is_plugins(k))
        .filter_map(|(_, v)| v.table())
        .flat_map(|t| &t.entries)
        .collect()
}

impl Effective {
    /// `version` in force for a file; 0: none said.
    fn version_for(&self, file: &File) -> i64 {
        match self.generation.pipeline {
            Pipeline::MigrateThenMerge => file.version(),
            _ => self.merged.version.as_ref().and_then(|v| v.int()).unwrap_or(0),
        }
    }

    /// Keys directly below a plugin, per file: all of CRI, of the others those that have no effect.
    pub(super) fn plugin_keys(&self) -> Vec<Arc<Row>> {
        let mut rows = Vec::new();
        for file in &self.load.files {
            let version = self.version_for(file);
            let path = OnceCell::new();
            for (id, section) in sections(self, file) {
                let read = self.read_there(file, id, section);
                let cri = [CRI, RUNTIME, IMAGES, "cri"].contains(&&**id);
                let entries = section.table().map_or(&[][..], |t| &t.entries);
                let mut known = self.rows.keys.borrow_mut();
                let known = known.entry((Rc::as_ptr(section), version)).or_default();
                let plugin = OnceCell::new();
                known.resize_with(entries.len(), Default::default);
                for ((name, value), known) in entries.iter().zip(known) {
                    let effective = self.is_field(&read, name);
                    if effective && !cri {
                        continue;
                    }
                    let place = value.at.key();
                    let cell = |v: Value| self.placed(v, Some(place));
                    let row = || {
                        Arc::new(vec![
                            ("path", cell(path.get_or_init(|| Value::text(file.path.as_str())).clone())),
                            ("file_version", cell(Value::Int(version))),
                            ("plugin", cell(plugin.get_or_init(|| Value::text(&**id)).clone())),
                            ("name", self.at_key(Value::text(&**name), place, value)),
                            ("effective", cell(Value::Bool(effective))),
                        ])
                    };
                    rows.push(known[usize::from(effective)].get_or_insert_with(row).clone());
                }
            }
        }
        rows
    }

    /// The fields that this generation reads in a section of a file.
    fn read_there(&self, file: &File, id: &str, section: &Shared) -> [&[&'static str]; 4] {
        const CRI_FIELDS: &[&str] = &["sandbox_image", "containerd", "cni"];
        let none: &[&str] = &[];
        let replaced = self.merged.replaced.iter().any(|r| r.old.at.place == section.at.place);
        if file.effect != Effect::Read || self.load.hidden.is_some() || replaced {
            return [none; 4];
        }
        let of = |id: &str| {
            let more: &[&str] = if id == IMAGES { &["pinned_images", "runtime_platforms"] } else { none };
            (self.defaults.plugin(id).map_or(none, |plugin| self.defaults.fields(plugin)), more)
        };
        if self.generation.is_v1() {
            let mut plugins = self.defaults.plugins().iter();
            let plugin = plugins.find(|p| self.merged.name_of(self.generation, p.id) == id);
            let (own, more) = plugin.map_or((none, none), |p| of(p.id));
            return [own, more, none, none];
        }
        let said = file.version();
        let renamed = if said < 2 { migrate::full_id(id) } else { id.to_owned() };
        let lifted = match self.generation.pipeline {
            Pipeline::MigrateThenMerge => said < 4,
            _ => self.merged.running < 3,
        };
        if renamed == CRI && lifted {
            return [CRI_FIELDS, migrate::TO_IMAGES, migrate::SERVER, of(RUNTIME).0];
        }
        let (own, more) = of(&renamed);
        [own, more, none, none]
    }

    fn is_field(&self, read: &[&[&'static str]; 4], name: &str) -> bool {
        let four = self.generation.keys == super::generation::Keys::FourSpellings;
        let upper = |field: &str| {
            field.len() == name.len()
                && field.bytes().zip(name.bytes()).all(|(f, n)| f.to_ascii_uppercase() == n)
        };
        read.iter().flat_map(|fields| fields.iter()).any(|field| match four {
            true => *field == name || upper(field),
            false => field.eq_ignore_ascii_case(name),
        })
    }

    /// Every key that looks like a cgroup driver setting.
    pub(super) fn driver_settings(&self) -> Vec<Row> {
        let decides = self.deciding();
        let mut rows = Vec::new();
        for file in &self.load.files {
            let Some(document) = &file.document else { continue };
            for (key, value) in self.rows.looking_like_driver(document).iter() {
                let place = value.at.place;
                let effective = decides.contains(&spot(place));
                let written = value.at.written();
                let because =
                    if effective { String::new() } else { self.because(file, &written, key, value) };
                let cell = |v: Value| self.at_key(v, place, value);
                let token = file.text.get(place.span.start..place.span.end).unwrap_or_default();
                let mut row = vec![
                    ("path", cell(Value::text(file.path.as_str()))),
                    ("key", cell(Value::text(key.as_str()))),
                    ("written", cell(Value::text(written.join(".")))),
                    ("value", cell(Value::text(token))),
                    ("effective", cell(Value::Bool(effective))),
                ];
                if !effective {
                    row.push(("because", cell(Value::text(because))));
                }
                rows.push(row);
            }
        }
        rows
    }

    /// Places of all values that decide a driver, or would if nothing overrode them.
    fn deciding(&self) -> BTreeSet<(SourceId, Span)> {
        let mut places = BTreeSet::new();
        for handler in self.running.iter().flat_map(|r| &r.handlers) {
            let value = match &handler.driver {
                super::handlers::Driver::Is(Some(value), _) => value.clone(),
                super::handlers::Driver::Random(value) => value.clone(),
                _ => continue,
            };
            for one in value.beaten.iter().chain([&value]) {
                places.insert(spot(one.at.place));
            }
        }
        places
    }

    fn because(&self, file: &File, written: &[String], key: &str, value: &Shared) -> String {
        if file.effect == Effect::Ignored {
            return "containerd does not get to this file".into();
        }
        let Some(running) = &self.running else {
            return match self.stop {
                Some(_) => "the daemon does not start".into(),
                None => "an input could not be read".into(),
            };
        };
        let parent = written.len().checked_sub(2).map(|i| written[i].as_str()).unwrap_or_default();
        let in_options = written.len() >= 4 && parent.eq_ignore_ascii_case("options");
        let id = written.get(1).map(String::as_str).unwrap_or_default();
        let section = sections(self, file).into_iter().find(|(k, _)| **k == *id).map(|(_, s)| s);
        let Some(section) = section else {
            return "only options of a runtime handler set the driver".into();
        };
        if self.merged.replaced.iter().any(|r| r.old.at.place == section.at.place) {
            return "a later file replaces this whole section".into();
        }
        if !in_options {
            return match key {
                "systemd_cgroup" if !self.generation.is_v1() => {
                    "containerd 2 no longer reads systemd_cgroup".into()
                }
                "systemd_cgroup" if parent == id => {
                    "systemd_cgroup is only for handlers of type io.containerd.runtime.v1.linux".into()
                }
                _ => "only the options of a runtime handler set the driver".into(),
            };
        }
        let first = written.get(2).map(String::as_str).unwrap_or_default();
        if !self.is_field(&self.read_there(file, id, section), first) {
            return format!("this containerd does not read [plugins.\"{id}\"] here");
        }
        let name = written.len().checked_sub(3).map(|i| written[i].as_str()).unwrap_or_default();
        let Some(handler) = running.handlers.iter().find(|h| *h.name == *name) else {
            return "another section decides".into();
        };
        if let Some((why, _)) = &handler.unusable {
            return format!("pods of `{name}` cannot be created: {why}");
        }
        if handler.family == super::handlers::Family::Other {
            return format!("the shim {} takes no such option", handler.type_text());
        }
        if key.contains('_') || !key.eq_ignore_ascii_case("SystemdCgroup") {
            return "the option is spelt SystemdCgroup".into();
        }
        let in_force = handler.options.as_ref().and_then(|o| o.get(key));
        match in_force {
            Some(v) if spot(v.at.place) == spot(value.at.place) => "the option is spelt SystemdCgroup".into(),
            _ => "another section decides".into(),
        }
    }

    fn at_key(&self, value: Value, place: Place, at: &Shared) -> crate::fact::Statements {
        let mut statements = self.from(value, &at.at, None);
        if let Known::Is(said) = &mut statements {
            said.iter_mut().for_each(|s| s.origin.place = place);
        }
        statements
    }
}

fn spot(place: Place) -> (SourceId, Span) {
    (place.source, place.span)
}

/// `systemdcgroup` in any case and with any underscores.
fn looks_like_driver(key: &str) -> bool {
    let folded = key.bytes().filter(|b| *b != b'_').map(|b| b.to_ascii_lowercase());
    folded.eq("systemdcgroup".bytes())
}

fn walk(tree: &Tree, found: &mut Vec<(String, Shared)>) {
    for (key, value) in &tree.entries {
        if looks_like_driver(key) {
            found.push((key.to_string(), value.clone()));
        }
        if let Some(inner) = value.table() {
            walk(inner, found);
        }
        for inner in value.array().iter().filter_map(|v| v.table()) {
            walk(inner, found);
        }
    }
}
