//! The answer as facts, each value with where it was said.

use super::handlers::{self, Driver, Family, Handler};
use super::load::Effect;
use super::report::Reported;
use super::tree::Shared;
use super::{Effective, Running};
use crate::fact::{Fact, Known, Layer, Row, Statements, Type, Value, What, Why};
use crate::names;
use crate::text::Place;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Effective {
    /// All facts of containerd but its version and the path of its main file, which no file tells.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = self.about_files();
        facts.extend(self.about_boot());
        facts.extend(self.about_cri());
        facts
    }

    fn about_files(&self) -> Vec<Fact> {
        let files = self.load.files.iter().zip(&self.owners).map(|(file, owner)| {
            let start = Place { source: file.source, span: crate::text::line_span(&file.text, 1) };
            let cell = |v: Value| self.placed(v, Some(start));
            let effect = match file.effect {
                Effect::Read => "read",
                Effect::Fatal => "fatal",
                Effect::Ignored => "ignored",
            };
            let mut row: Row = vec![
                ("path", cell(Value::text(file.path.as_str()))),
                ("is_main", cell(Value::Bool(file.path == self.main))),
                ("effect", cell(Value::text(effect))),
            ];
            if let Some(version) = file.version_value()
                && let Some(v) = version.int()
            {
                row.push(("version", self.from(Value::Int(v), &version.at, None)));
            }
            if let Some(owner) = owner {
                row.push(("generated_by", cell(Value::text(*owner))));
            }
            row
        });
        let imports = self.load.imports.iter().map(|import| {
            let cell = |v: Value| self.from(v, &import.pattern.at, None);
            let reaches = match &import.reaches {
                Known::Is(paths) => {
                    let there = if import.missing { 0 } else { paths.len() };
                    cell(Value::Int(i64::try_from(there).unwrap_or(i64::MAX)))
                }
                Known::Absent(note) => Known::Absent(note.clone()),
                Known::Unknown(why) => Known::Unknown(why.clone()),
            };
            vec![
                ("path", cell(Value::text(import.by.as_str()))),
                ("pattern", cell(Value::text(import.pattern.text().unwrap_or_default()))),
                ("matches", reaches),
                ("missing", cell(Value::Bool(import.missing))),
            ]
        });
        let unread = self.load.unread.iter().map(|(path, asked, why)| {
            vec![
                ("path", self.placed(Value::text(path.as_str()), *asked)),
                ("version", Known::Unknown(why.clone())),
                ("is_main", self.placed(Value::Bool(*path == self.main), *asked)),
                ("effect", Known::Unknown(why.clone())),
                ("generated_by", Known::Unknown(why.clone())),
            ]
        });
        let (files, imports): (Vec<Row>, Vec<Row>) = (files.chain(unread).collect(), imports.collect());
        let whole = |name, rows| Fact::rows(name, Known::Is(rows));
        let rows = |name, mut rows: Vec<Row>| {
            rows.extend(self.unread_rows(name));
            whole(name, rows)
        };
        let mut keys = self.plugin_keys();
        keys.extend(self.unread_rows("containerd.plugin_keys").map(Arc::new));
        let dropins = self.dropins.as_ref().map(|found| {
            let row = |d: &super::keys::DropIn| {
                let cell = |v| self.placed(v, self.file_start(&d.path));
                vec![("path", cell(Value::text(d.path.as_str()))), ("reached", cell(Value::Bool(d.reached)))]
            };
            found.iter().map(row).collect()
        });
        vec![
            whole("containerd.files", files),
            rows("containerd.imports", imports),
            Fact::rows("containerd.dropins", dropins),
            Fact::shared("containerd.plugin_keys", Known::Is(keys)),
            rows("containerd.driver_settings", self.driver_settings()),
        ]
    }

    /// What a file that could not be read may say: a row of which nothing is known.
    fn unread_rows(&self, table: &'static str) -> impl Iterator<Item = Row> {
        let columns = match names::find(table).map(|id| &id.decl().ty) {
            Some(Type::Table { columns, .. }) => *columns,
            _ => &[],
        };
        let row = move |why: &Why| columns.iter().map(|c| (c.name, Known::Unknown(why.clone()))).collect();
        self.load.unread.iter().map(move |(_, _, why)| row(why))
    }

    fn file_start(&self, path: &str) -> Option<Place> {
        let file = self.load.files.iter().find(|f| f.path == path)?;
        Some(Place { source: file.source, span: crate::text::line_span(&file.text, 1) })
    }

    fn about_boot(&self) -> Vec<Fact> {
        // of a text that is no TOML nothing is known
        let syntax = self.stop.as_ref().filter(|s| s.syntax);
        let garbled = syntax.and_then(|s| Some(Why::Malformed(s.place?, s.message.clone())));
        let version = match (&self.merged.version, self.load.hidden.clone().or(garbled)) {
            (_, Some(why)) => Known::Unknown(why),
            (Some(version), None) => Known::Is(self.said(version, None, &|d| match d {
                super::tree::Data::Int(i) => Some(Value::Int(*i)),
                _ => None,
            })),
            (None, None) => self.whole(Value::Int(0)),
        };
        let boots = match &self.boots {
            Known::Is(true) => self.whole(Value::Bool(true)),
            Known::Is(false) => self.placed(Value::Bool(false), self.stop.as_ref().and_then(|s| s.place)),
            Known::Absent(note) => Known::Absent(note.clone()),
            Known::Unknown(why) => Known::Unknown(why.clone()),
        };
        let error = match (&self.stop, &self.load.hidden) {
            (Some(stop), _) => self.placed(Value::text(stop.message.as_str()), stop.place),
            (None, Some(why)) => Known::Unknown(why.clone()),
            (None, None) => Known::ABSENT,
        };
        let lists = [
            ("containerd.disabled_plugins", &self.merged.disabled),
            ("containerd.required_plugins", &self.merged.required),
        ];
        let list = |items: &[Shared]| match self.silence() {
            Some(none) => none.and_then(|()| Known::ABSENT),
            None => {
                let item = |i: &Shared| {
                    self.said(i, None, &|d| match d {
                        super::tree::Data::Text(t) => Some(Value::text(&**t)),
                        _ => None,
                    })
                };
                Known::Is(items.iter().flat_map(item).collect())
            }
        };
        let replaced = match self.silence() {
            Some(none) => none.and_then(|()| Known::ABSENT),
            None => Known::Is(self.merged.replaced.iter().map(|r| self.replaced(r)).collect()),
        };
        let mut facts = vec![
            Fact::one("containerd.config_version", version),
            Fact::one("containerd.boots", boots),
            Fact::one("containerd.boot_error", error),
        ];
        facts.extend(lists.into_iter().map(|(name, items)| Fact::each(name, list(items))));
        facts.push(Fact::rows("containerd.replaced", replaced));
        facts
    }

    fn replaced(&self, r: &super::merge::Replaced) -> Row {
        let cell = |v: Value| self.from(v, &r.old.at, None);
        let path = self.load.files.iter().find(|f| f.source == r.old.at.place.source);
        let mut lost = Vec::new();
        lost_keys(&r.old, &r.new, &mut lost);
        let said = lost.iter().flat_map(|key| {
            match self.from(Value::text(key.at.written()[2..].join(".")), &key.at, None) {
                Known::Is(said) => said,
                _ => Vec::new(),
            }
        });
        vec![
            ("plugin", cell(Value::text(&*r.plugin))),
            ("path", cell(Value::text(path.map(|f| f.path.as_str()).unwrap_or_default()))),
            ("by", self.from(Value::text(r.by.as_str()), &r.new.at, None)),
            ("lost", Known::Is(said.collect())),
        ]
    }

    fn about_cri(&self) -> Vec<Fact> {
        const NAMES: [&str; 8] = [
            "containerd.cri_enabled",
            "containerd.cri_error",
            "containerd.default_runtime",
            "containerd.runtimes",
            "containerd.cgroup_driver",
            "containerd.reported_driver",
            "containerd.sandbox_image",
            "containerd.legacy_systemd_cgroup",
        ];
        let Some(running) = &self.running else {
            let none = self.silence().unwrap_or(Known::ABSENT);
            return NAMES
                .into_iter()
                .map(|name| match name {
                    "containerd.runtimes" => Fact::rows(name, none.clone().and_then(|()| Known::ABSENT)),
                    _ => Fact { name, what: What::One(none.clone().and_then(|()| Known::ABSENT)) },
                })
                .collect();
        };
        let rows = running.handlers.iter().map(|h| self.handler_row(running, h)).collect();
        let image = match self.generation.is_v1() {
            true => running.cri.runtime.get("sandbox_image"),
            false => running.cri.images.dig(&["pinned_images", "sandbox"]),
        };
        let image_near = self.near(&[running.cri.images.get("pinned_images"), Some(&running.cri.images)]);
        let legacy = match running.cri.runtime.get("systemd_cgroup") {
            Some(value) if self.generation.is_v1() => {
                self.bool(value, self.near(&[Some(&running.cri.runtime)]))
            }
            _ => Known::Absent("containerd 2 does not read it".into()),
        };
        let [enabled, error] = self.cri_facts(running);
        let facts = [
            Fact::one(NAMES[0], enabled),
            Fact::one(NAMES[1], error),
            Fact::one(NAMES[2], self.default_name(running)),
            Fact::rows(NAMES[3], Known::Is(rows)),
            Fact::one(NAMES[4], self.cgroup_driver(running)),
            Fact::one(NAMES[5], self.reported_driver(running)),
            Fact::one(NAMES[6], image.map_or(Known::ABSENT, |i| self.text(i, image_near))),
            Fact::one(NAMES[7], legacy),
        ];
        facts.into()
    }

    fn cri_facts(&self, running: &Running) -> [Statements; 2] {
        match running.health.cri() {
            Known::Is(None) => [self.whole(Value::Bool(true)), Known::ABSENT],
            Known::Is(Some(dead)) => {
                let place = |v: Value| match &dead.by {
                    Some(by) => self.from(v, &by.at, None),
                    None => self.placed(v, dead.place),
                };
                [place(Value::Bool(false)), place(Value::text(dead.message.as_str()))]
            }
            Known::Absent(note) => [Known::Absent(note.clone()), Known::Absent(note.clone())],
            Known::Unknown(why) => [Known::Unknown(why.clone()), Known::Unknown(why.clone())],
        }
    }

    fn default_name(&self, running: &Running) -> Statements {
        let near = self.near(&[running.cri.runtime.get("containerd"), Some(&running.cri.runtime)]);
        match &running.default {
            Some(table) if table.table().is_some() => self.from(Value::text("default"), &table.at, near),
            Some(name) => self.text(name, near),
            None => Known::ABSENT,
        }
    }

    fn handler_row(&self, running: &Running, handler: &Handler) -> Row {
        let near = self.near(&[handler.options.as_ref(), Some(&handler.table)]);
        let near_table = self.near(&[Some(&handler.table)]);
        let table = |v: Value| self.from(v, &handler.table.at, near_table);
        let default = running.default.as_ref().map(handlers::name_text).unwrap_or_default();
        let kind = match &handler.kind {
            Some(kind) => self.text(kind, near_table),
            None => table(Value::text("")),
        };
        let mut row: Row = vec![
            ("name", table(Value::text(&*handler.name))),
            ("type", kind),
            ("systemd_cgroup", self.driver(running, handler).0),
            ("usable", table(Value::Bool(handler.unusable.is_none()))),
            ("options", table(Value::Bool(handler.options.is_some()))),
            ("is_default", table(Value::Bool(*handler.name == *default))),
            ("declared", table(Value::Bool(self.layer(handler.table.at.place) != Layer::Default))),
            ("runc_family", table(Value::Bool(handler.family != Family::Other))),
        ];
        if let Some(binary) = handler.binary.as_ref().filter(|b| !b.is_zero()) {
            row.push(("binary_name", self.text(binary, near)));
        }
        if let Some((why, place)) = &handler.unusable {
            row.push(("unusable_because", self.placed(Value::text(why.as_str()), *place)));
        }
        row
    }

    /// Whether a handler's runc is called with --systemd-cgroup, and the same as a driver's name.
    fn driver(&self, running: &Running, handler: &Handler) -> (Statements, Statements) {
        let near = self.near(&[handler.options.as_ref(), Some(&handler.table)]);
        let name = |on: bool| Value::text(if on { "systemd" } else { "cgroupfs" });
        match &handler.driver {
            Driver::Is(Some(value), _) => {
                let named = self.said(value, near, &|d| match d {
                    super::tree::Data::Bool(b) => Some(name(*b)),
                    _ => None,
                });
                (self.bool(value, near), Known::Is(named))
            }
            Driver::Is(None, on) => {
                let at = super::tree::At::new(running.default_driver);
                (self.from(Value::Bool(*on), &at, near), self.from(name(*on), &at, near))
            }
            Driver::Random(_) => {
                let why = Why::Strange(
                    "two spellings of SystemdCgroup, of which containerd 1.4 takes either".into(),
                );
                (Known::Unknown(why.clone()), Known::Unknown(why))
            }
            Driver::None => {
                let note = match &handler.unusable {
                    Some((why, _)) => format!("pods of `{}` cannot be created: {why}", handler.name),
                    None => format!("`{}` is not of the runc family", handler.name),
                };
                (Known::Absent(note.clone().into()), Known::Absent(note.into()))
            }
        }
    }

    fn cgroup_driver(&self, running: &Running) -> Statements {
        let name = running.default.as_ref().map(handlers::name_text).unwrap_or_default();
        match running.handlers.iter().find(|h| *h.name == *name) {
            Some(handler) => self.driver(running, handler).1,
            None => Known::Absent(format!("there is no runtime handler `{name}`").into()),
        }
    }

    fn reported_driver(&self, running: &Running) -> Statements {
        match running.health.cri() {
            Known::Is(None) => {}
            Known::Is(Some(_)) | Known::Absent(_) => return Known::Absent("CRI does not answer".into()),
            Known::Unknown(why) => return Known::Unknown(why.clone()),
        }
        let name = |on: bool| Value::text(if on { "systemd" } else { "cgroupfs" });
        match &running.reported {
            Reported::Unimplemented => self.whole(Value::text("unimplemented")),
            Reported::Handler(handler, Some(key), on) => {
                let near = self.near(&[handler.options.as_ref(), Some(&handler.table)]);
                self.from(name(*on), &key.at, near)
            }
            Reported::Handler(handler, None, on) => {
                let near = self.near(&[handler.options.as_ref(), Some(&handler.table)]);
                self.from(name(*on), &super::tree::At::new(running.default_driver), near)
            }
            Reported::Detected(Known::Is(on)) => self.whole(name(*on)),
            Reported::Detected(Known::Absent(_)) => self.whole(name(false)),
            Reported::Detected(Known::Unknown(why)) => {
                Known::Unknown(Why::Needs("host.systemd_running", Box::new(why.clone())))
            }
        }
    }
}

/// Leaves of `old` that `new` does not say.
fn lost_keys(old: &Shared, new: &Shared, lost: &mut Vec<Shared>) {
    let Some(tree) = old.table() else { return };
    let mut seen = BTreeSet::new();
    for (name, value) in &tree.entries {
        if !seen.insert(name.clone()) {
            continue;
        }
        match (new.get(name), value.table()) {
            (Some(other), Some(_)) => lost_keys(value, other, lost),
            (Some(_), None) => {}
            (None, Some(_)) => lost_keys(value, &value.with(super::tree::Data::Bool(false)), lost),
            (None, None) => lost.push(value.clone()),
        }
    }
}
