//! Where a wanted value has to be written: the file that wins, the path that this generation reads
//! there, and what must be written beside it.

use super::generation::{Generation, Pipeline};
use super::migrate::{CRI, IMAGES, RUNTIME};
use super::owner;
use crate::fact::{Known, Layer, Origin, Value};
use crate::finding::{Edit, Intent, Op};
use crate::model::toml::{self, Dialect};
use crate::names;
use crate::resolve::{InForce, Snapshot};
use crate::text::{Kind, SourceId, Sources};
use std::cell::RefCell;
use std::rc::Rc;

type Edits = Result<Vec<Edit>, String>;

/// Lowers a wanted change to edits, or says why it must be made by hand.
pub fn home(
    intent: &Intent,
    facts: &Snapshot,
    sources: &Sources,
    generation: &Generation,
    documents: &Documents,
) -> Edits {
    let home = Home { facts, sources, generation, documents };
    let edits = match intent {
        Intent::Set { fact, row, value } => home.set(fact, *row, value),
        Intent::Remove { fact, row, element } => home.remove(fact, *row, element.as_ref()),
        Intent::Move { fact, row, to } => {
            let (source, from) = home.written(home.cell(fact, *row)?)?;
            Ok(vec![Edit { source, op: Op::Move { from, to: to.clone() } }])
        }
    }?;
    for edit in &edits {
        home.may_edit(edit.source)?;
    }
    Ok(edits)
}

struct Home<'a> {
    facts: &'a Snapshot,
    sources: &'a Sources,
    generation: &'a Generation,
    documents: &'a Documents,
}

/// Texts of one look as the daemon's parsers read them, each parsed once; without a dialect what
/// all of them read alike.
#[derive(Debug, Default)]
pub struct Documents(RefCell<Vec<(SourceId, Option<Dialect>, Parsed)>>);

/// Nothing where the text is malformed.
type Parsed = Option<Rc<toml::Table>>;

impl Documents {
    fn get(&self, sources: &Sources, id: SourceId, dialect: Dialect) -> Parsed {
        let mut parsed = self.0.borrow_mut();
        let fits = |of: Option<Dialect>| of.is_none_or(|of| of == dialect);
        if let Some((.., known)) = parsed.iter().find(|(s, d, _)| *s == id && fits(*d)) {
            return known.clone();
        }
        let text = &sources.get(id).text;
        // what all dialects read alike is read once
        let (of, document) = match toml::plain(text) {
            Some(document) => (None, Some(document.root)),
            None => (Some(dialect), toml::parse(text, dialect, None).ok()),
        };
        let document = document.map(Rc::new);
        parsed.push((id, of, document.clone()));
        document
    }
}

impl Home<'_> {
    /// A fact, or the cell of one row of a table (`containerd.runtimes.type`).
    fn cell(&self, fact: &str, row: Option<usize>) -> Result<&InForce, String> {
        let unknown = || format!("there is nothing called `{fact}` to change");
        let Some(row) = row else {
            names::find(fact).ok_or_else(unknown)?;
            return Ok(self.facts.named(fact));
        };
        let (table, column) = fact.rsplit_once('.').ok_or_else(unknown)?;
        let id = names::find(table).ok_or_else(unknown)?;
        let (column, _) = names::column(id, column).ok_or_else(unknown)?;
        self.facts.get(id).rows.get(row).and_then(|r| r.get(column)).ok_or_else(unknown)
    }

    /// Where a value in force is written, in a file.
    fn written(&self, cell: &InForce) -> Result<(SourceId, Vec<String>), String> {
        let origin = cell.by.as_ref().filter(|o| is_written(o)).ok_or("no file says it")?;
        Ok((origin.place.source, origin.written.to_vec()))
    }

    fn may_edit(&self, source: SourceId) -> Result<(), String> {
        let file = self.sources.get(source);
        if file.kind != Kind::File {
            return Err(format!("{} is not a file", file.name));
        }
        let table = names::find("containerd.files").ok_or("no table of files")?;
        for row in &self.facts.get(table).rows {
            let text = |column: &str| {
                let (at, _) = names::column(table, column)?;
                row.get(at)?.value.is()?.as_text().map(str::to_owned)
            };
            if text("path").as_deref() == Some(file.name.as_str())
                && let Some(by) = text("generated_by")
            {
                return Err(format!("{} is written anew by {by}: {}", file.name, owner::knob(&by)));
            }
        }
        Ok(())
    }

    fn set(&self, fact: &str, row: Option<usize>, value: &Value) -> Edits {
        match (fact, row) {
            ("containerd.config_version", _) => {
                Err("a `version` changes the meaning of the whole file: migrate it with `containerd config migrate`".into())
            }
            ("containerd.cgroup_driver", _) => {
                let on = match value.as_text() {
                    Some("systemd") => true,
                    Some("cgroupfs") => false,
                    _ => return Err(format!("`{value}` is no cgroup driver")),
                };
                let row = self.default_row().ok_or("no runtime handler is the default one")?;
                self.set_driver(row, on)
            }
            ("containerd.runtimes.systemd_cgroup", Some(row)) => {
                let on = value.as_bool().ok_or_else(|| format!("`{value}` is neither true nor false"))?;
                self.set_driver(row, on)
            }
            ("containerd.cri_enabled", _) if value.as_bool() == Some(true) => self.enable_cri(),
            _ => {
                let cell = self.cell(fact, row)?;
                let (source, path) = match (self.written(cell), self.below(fact, row)) {
                    (Ok(found), _) => found,
                    (Err(_), Ok(Some(place))) => place,
                    (Err(_), Err(refusal)) => return Err(refusal),
                    (Err(refusal), _) => return Err(refusal),
                };
                Ok(vec![Edit { source, op: Op::Set(path, value.clone()) }])
            }
        }
    }

    /// Where a key goes that is written nowhere yet.
    fn below(&self, fact: &str, row: Option<usize>) -> Result<Option<(SourceId, Vec<String>)>, String> {
        let column = |key: &str| -> Result<Option<(SourceId, Vec<String>)>, String> {
            let (source, mut path) = self.handler_path(row.ok_or("no row is named")?)?;
            path.extend(key.split('.').map(str::to_owned));
            Ok(Some((source, path)))
        };
        let section = |keys: &[&str], images: bool| {
            let (source, id) = self.section(images)?;
            let mut path = vec!["plugins".to_owned(), id.to_owned()];
            let split: &[&str] = if id == IMAGES { &["pinned_images", "sandbox"] } else { keys };
            path.extend(split.iter().map(|k| (*k).to_owned()));
            Ok(Some((source, path)))
        };
        match fact {
            "containerd.sandbox_image" => section(&["sandbox_image"], true),
            "containerd.default_runtime" => section(&["containerd", "default_runtime_name"], false),
            "containerd.legacy_systemd_cgroup" if self.generation.is_v1() => {
                section(&["systemd_cgroup"], false)
            }
            "containerd.runtimes.type" => column("runtime_type"),
            "containerd.runtimes.binary_name" => column("options.BinaryName"),
            _ => Ok(None),
        }
    }

    fn runtime(&self, row: usize, column: &str) -> Option<&InForce> {
        self.cell(&format!("containerd.runtimes.{column}"), Some(row)).ok()
    }

    fn runtime_text(&self, row: usize, column: &str) -> String {
        let value = self.runtime(row, column).and_then(|c| c.value.is().cloned());
        value.as_ref().and_then(Value::as_text).unwrap_or_default().to_owned()
    }

    fn runtime_bool(&self, row: usize, column: &str) -> bool {
        self.runtime(row, column).and_then(|c| c.value.is()).and_then(Value::as_bool) == Some(true)
    }

    fn default_row(&self) -> Option<usize> {
        let rows = self.facts.named("containerd.runtimes").rows.len();
        (0..rows).find(|row| self.runtime_bool(*row, "is_default"))
    }

    fn set_driver(&self, row: usize, on: bool) -> Edits {
        let value = Value::Bool(on);
        let name = self.runtime_text(row, "name");
        let kind = self.runtime_text(row, "type");
        if !kind.is_empty() && !self.runtime_bool(row, "runc_family") {
            return Err(format!("`{name}` runs {kind}, which takes no runc options"));
        }
        let cell = self.runtime(row, "systemd_cgroup").ok_or("no such runtime handler")?;
        if let Known::Unknown(why) = &cell.value {
            return Err(why.to_string());
        }
        if let Ok((source, path)) = self.written(cell) {
            return Ok(vec![Edit { source, op: Op::Set(path, value) }]);
        }
        let (source, handler) = self.handler_path(row)?;
        if kind == "io.containerd.runtime.v1.linux" && !self.runtime_bool(row, "options") {
            let mut path = handler[..2.min(handler.len())].to_vec();
            path.push("systemd_cgroup".to_owned());
            return Ok(vec![Edit { source, op: Op::Set(path, value) }]);
        }
        let mut edits = Vec::new();
        // in 1.x a declared handler starts from nothing, and without a type its pods fail
        let bare = kind.is_empty() || (self.generation.is_v1() && self.is_built_in(row));
        if bare {
            let mut path = handler.clone();
            path.push("runtime_type".to_owned());
            edits.push(Edit { source, op: Op::Set(path, Value::text("io.containerd.runc.v2")) });
        }
        let (options, key) = self.option(source, &handler);
        let mut path = handler;
        path.extend([options, key]);
        edits.push(Edit { source, op: Op::Set(path, value) });
        Ok(edits)
    }

    fn is_built_in(&self, row: usize) -> bool {
        self.runtime(row, "name").and_then(|c| c.by.as_ref()).is_none_or(|o| !is_written(o))
    }

    /// The keys under which a handler's options and its driver are written, or would be.
    fn option(&self, source: SourceId, handler: &[String]) -> (String, String) {
        let parsed = self.documents.get(self.sources, source, self.generation.parser);
        let mut table = parsed.as_deref();
        for name in handler {
            table = table.and_then(|t| t.get(name)).and_then(|n| match &n.item {
                toml::Item::Table(t) => Some(t),
                _ => None,
            });
        }
        let fits = |table: Option<&toml::Table>, name: &str| -> Option<String> {
            let keys = || table.into_iter().flat_map(|t| &t.entries).map(|(k, _)| k.name.as_str());
            let exact = keys().find(|k| *k == name);
            exact.or_else(|| keys().find(|k| k.eq_ignore_ascii_case(name))).map(str::to_owned)
        };
        let options = fits(table, "options").unwrap_or_else(|| "options".to_owned());
        let inner = table.and_then(|t| t.get(&options)).and_then(|n| match &n.item {
            toml::Item::Table(t) => Some(t),
            _ => None,
        });
        let key = fits(inner, "SystemdCgroup").unwrap_or_else(|| "SystemdCgroup".to_owned());
        (options, key)
    }

    /// The file that declares a handler, and its path there; for a built-in one, where it would be.
    fn handler_path(&self, row: usize) -> Result<(SourceId, Vec<String>), String> {
        let cell = self.runtime(row, "name").ok_or("no such runtime handler")?;
        if let Ok(found) = self.written(cell) {
            return Ok(found);
        }
        let (source, id) = self.section(false)?;
        let name = self.runtime_text(row, "name");
        let path = ["plugins", &id, "containerd", "runtimes", &name].map(str::to_owned);
        Ok((source, path.to_vec()))
    }

    /// The file that holds the CRI section in force, with the id it has there; the main file if none does.
    fn section(&self, images: bool) -> Result<(SourceId, String), String> {
        let table = names::find("containerd.plugin_keys").ok_or("no table of keys")?;
        let column = |row: &'_ [InForce], name: &str| -> Option<Value> {
            let (at, _) = names::column(table, name)?;
            row.get(at)?.value.is().cloned()
        };
        let wanted = |id: &str| id == CRI || id == "cri" || id == if images { IMAGES } else { RUNTIME };
        let mut found = None;
        for row in &self.facts.get(table).rows {
            let id = column(row, "plugin").and_then(|v| v.as_text().map(str::to_owned)).unwrap_or_default();
            let used = column(row, "effective").and_then(|v| v.as_bool()) == Some(true);
            if used && wanted(&id) && self.takes(&id) {
                let source = row.first().and_then(|c| c.by.as_ref()).map(|o| o.place.source);
                // 1.x: the last file that has the section; 2.x: the first, the main file before drop-ins
                if let Some(source) = source
                    && (found.is_none() || self.generation.is_v1())
                {
                    found = Some((source, id));
                }
            }
        }
        if let Some(found) = found {
            return Ok(found);
        }
        let files = names::find("containerd.files").ok_or("no table of files")?;
        let main = self.facts.get(files).rows.first().and_then(|r| r.first()).and_then(|c| c.by.as_ref());
        let main = main.ok_or("there is no configuration file yet: create one first")?;
        Ok((main.place.source, self.new_id(images).to_owned()))
    }

    /// Whether container settings may still be put below this id (2.0 to 2.2 keep only the streaming
    /// keys of the old one where the whole has version 3).
    fn takes(&self, id: &str) -> bool {
        self.generation.pipeline != Pipeline::MergeThenMigrate
            || !matches!(id, CRI | "cri")
            || self.version() == 2
    }

    fn version(&self) -> i64 {
        self.facts.named("containerd.config_version").value.is().and_then(Value::as_int).unwrap_or(0)
    }

    /// The id for a section that is not there yet.
    fn new_id(&self, images: bool) -> &'static str {
        let new = if images { IMAGES } else { RUNTIME };
        match (self.generation.pipeline, self.version()) {
            (Pipeline::Replace, 0 | 1) => "cri",
            (Pipeline::Replace, _) | (_, 2) => CRI,
            _ => new,
        }
    }

    fn enable_cri(&self) -> Edits {
        let disabled = self.facts.named("containerd.disabled_plugins");
        let is_cri = |v: &Value| matches!(v.as_text(), Some("cri" | CRI | RUNTIME | IMAGES));
        let edits = self.elements(disabled, &is_cri);
        if edits.is_empty() {
            let why = self.facts.named("containerd.cri_error").value.is().map(Value::to_string);
            return Err(match why {
                Some(why) => format!("not a matter of disabled_plugins: {why}"),
                None => "CRI is not disabled".to_owned(),
            });
        }
        Ok(edits)
    }

    /// Takes elements out of a list, each where it is said.
    fn elements(&self, list: &InForce, wanted: &dyn Fn(&Value) -> bool) -> Vec<Edit> {
        let said = list.elements.iter().filter(|e| wanted(&e.value) && is_written(&e.origin));
        said.map(|e| {
            let token = self.sources.slice(e.origin.place).trim_matches(['"', '\'']).to_owned();
            let op = Op::RemoveElement(e.origin.written.to_vec(), Value::text(token));
            Edit { source: e.origin.place.source, op }
        })
        .collect()
    }

    fn remove(&self, fact: &str, row: Option<usize>, element: Option<&Value>) -> Edits {
        let cell = self.cell(fact, row)?;
        if let Some(element) = element {
            let edits = self.elements(cell, &|v| v == element);
            return if edits.is_empty() { Err(format!("no file says `{element}`")) } else { Ok(edits) };
        }
        let (source, path) = self.written(cell)?;
        Ok(vec![Edit { source, op: Op::Remove(path) }])
    }
}

fn is_written(origin: &Origin) -> bool {
    matches!(origin.layer, Layer::File | Layer::DropIn) && !origin.written.is_empty()
}

#[cfg(test)]
mod tests;
