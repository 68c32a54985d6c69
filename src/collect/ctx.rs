//! What collectors share: the door, the texts captured so far, and what has been said.

use super::Options;
use crate::fact::{Fact, Known, Layer, Origin, Problem, Row, Said, Statements, Type, Value, What, Why};
use crate::model::{Captured, Reader};
use crate::names;
use crate::node::{Entry, FileKind, Node};
use crate::resolve::{Collected, Variant};
use crate::text::{Kind, Place, SourceId, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

/// What collectors share: the door, the texts captured so far, and what has been said.
pub(crate) struct Ctx<'a> {
    pub(crate) node: &'a Node,
    pub(crate) options: &'a Options,
    pub(crate) sources: Sources,
    pub(super) facts: Vec<Fact>,
    pub(super) problems: Vec<Problem>,
    told: BTreeSet<(Place, String)>,
    pub(super) kept: Vec<Rc<dyn fmt::Debug>>,
    unreadable: BTreeMap<String, Why>,
    /// What was read and listed: once in a run, so that all of it is one moment's.
    files: BTreeMap<String, Known<Captured>>,
    listings: BTreeMap<String, Known<Listing>>,
    defaults: Vec<Shown>,
}

/// A documented default that was shown before; looking for an equal text reads all of it.
struct Shown {
    name: String,
    text: &'static str,
    id: SourceId,
}

/// The captured listing and its entries, sorted by bytes.
pub(crate) type Listing = (SourceId, Rc<[Entry]>);

impl<'a> Ctx<'a> {
    pub(crate) fn new(node: &'a Node, options: &'a Options) -> Ctx<'a> {
        Ctx {
            node,
            options,
            sources: Sources::default(),
            facts: Vec::new(),
            problems: Vec::new(),
            told: BTreeSet::new(),
            kept: Vec::new(),
            unreadable: BTreeMap::new(),
            files: BTreeMap::new(),
            listings: BTreeMap::new(),
            defaults: Vec::new(),
        }
    }

    /// Reads a file and captures its text.
    pub(crate) fn read(&mut self, path: &str) -> Known<Captured> {
        if let Some(found) = self.files.get(path) {
            return found.clone();
        }
        let found = self.node.read(path).map(|text| {
            let id = self.sources.add(path, kind_of(path), text.text.clone());
            Captured { id, text: text.text, invalid_utf8: text.invalid_utf8 }
        });
        if let Known::Unknown(why) = &found {
            self.could_not_read(path, why);
        }
        self.files.insert(path.to_owned(), found.clone());
        found
    }

    /// Lists a directory and captures the listing, one name a line.
    pub(crate) fn list(&mut self, dir: &str) -> Known<Listing> {
        if let Some(found) = self.listings.get(dir) {
            return found.clone();
        }
        let found = self.node.list(dir).map(|entries| {
            let text: String = entries.iter().flat_map(|e| [e.name.as_str(), "\n"]).collect();
            (self.sources.add(dir, Kind::Listing, text), entries.into())
        });
        if let Known::Unknown(why) = &found {
            self.could_not_read(dir, why);
        }
        self.listings.insert(dir.to_owned(), found.clone());
        found
    }

    /// The directories below a directory, each with its line of the listing.
    pub(crate) fn dirs(&mut self, dir: &str) -> Statements {
        self.list(dir).map(|(id, entries)| {
            let mut at = 0;
            let mut said = Vec::new();
            for entry in entries.iter() {
                let span = Span::new(at, at + entry.name.len());
                at = span.end + 1;
                if entry.kind == FileKind::Dir {
                    let origin = Origin::new(Layer::Runtime, Place { source: id, span });
                    said.push(Said { value: Value::text(entry.name.as_str()), origin });
                }
            }
            said
        })
    }

    pub(crate) fn say(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// The strongest value said so far of a plain fact.
    pub(crate) fn known(&self, name: &str) -> Known<Value> {
        match self.fact(name) {
            Some(What::One(Known::Is(said))) => {
                let strongest = said.iter().max_by_key(|s| s.origin.layer);
                strongest.map_or(Known::ABSENT, |s| Known::Is(s.value.clone()))
            }
            Some(What::One(Known::Absent(note))) => Known::Absent(note.clone()),
            Some(What::One(Known::Unknown(why))) => Known::Unknown(why.clone()),
            _ => Known::Unknown(Why::Unread),
        }
    }

    /// What was said last under a name.
    pub(crate) fn fact(&self, name: &str) -> Option<&What> {
        self.facts.iter().rev().find(|fact| fact.name == name).map(|fact| &fact.what)
    }

    /// A plain fact said so far, as a model takes it.
    pub(crate) fn known_as<T>(&self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Known<T> {
        self.known(name).and_then(|value| read(&value).map_or(Known::ABSENT, Known::Is))
    }

    /// Says the same of several facts: that they are absent, or unknown.
    pub(crate) fn say_all(&mut self, names: &[&'static str], reason: &Known<()>) {
        for name in names {
            let nothing = reason.clone().map(|()| Vec::new());
            let rows = matches!(names::find(name).map(|id| &id.decl().ty), Some(Type::Table { .. }));
            self.say(match rows {
                true => Fact::rows(name, reason.clone().map(|()| Vec::new())),
                false => Fact::one(name, nothing),
            });
        }
    }

    /// How many rows a table has.
    pub(crate) fn known_rows(&self, name: &str) -> Known<usize> {
        match self.facts.iter().rev().find(|fact| fact.name == name).map(|fact| &fact.what) {
            Some(What::Rows(rows)) => rows.as_ref().map(Vec::len),
            Some(What::Each(said)) => said.as_ref().map(Vec::len),
            _ => Known::Unknown(Why::Unread),
        }
    }

    pub(crate) fn problem(&mut self, place: Place, message: impl Into<String>) {
        let problem = Problem { place, message: message.into() };
        if self.told.insert((place, problem.message.clone())) {
            self.problems.push(problem);
        }
    }

    /// Notes an input that is there but could not be read. A runtime tree or a daemon that is not
    /// there is no such input.
    pub(crate) fn could_not_read(&mut self, path: &str, why: &Why) {
        if !matches!(why, Why::NotRunning(_)) {
            self.unreadable.insert(path.to_owned(), why.clone());
        }
    }

    /// A statement observed on the node: a whole captured text, or a span of it.
    pub(crate) fn observed(id: SourceId, span: Span) -> Origin {
        Origin::new(Layer::Runtime, Place { source: id, span })
    }

    /// `--assume` for a daemon, as a statement that beats all others.
    pub(crate) fn assumed(&mut self, daemon: &str) -> Option<Said> {
        let version = self.options.assume.get(daemon)?.clone();
        let id = self.sources.add(format!("assume:{daemon}"), Kind::Assumed, version.as_str());
        let place = Place { source: id, span: Span::new(0, version.len()) };
        Some(Said { value: Value::text(version), origin: Origin::new(Layer::Assumed, place) })
    }
}

/// Pseudo files are not edited.
fn kind_of(path: &str) -> Kind {
    let runtime = ["/proc/", "/sys/", "/run/", "/dev/"];
    if runtime.iter().any(|tree| path.starts_with(tree)) { Kind::Entry } else { Kind::File }
}

impl Ctx<'_> {
    /// Closes the books.
    pub(crate) fn finish(mut self, containerd: Vec<Variant>, kubelet: Vec<Variant>) -> Collected {
        inputs(&mut self);
        let Ctx { sources, facts, problems, kept, .. } = self;
        Collected { sources, facts, containerd, kubelet, problems, kept }
    }
}

/// The check's own inputs, as facts that rules can judge.
fn inputs(ctx: &mut Ctx) {
    let problems: Vec<Row> = ctx
        .problems
        .iter()
        .map(|p| {
            let path = ctx.sources.get(p.place.source).name.clone();
            let cell = |text: &str| {
                Known::Is(vec![Said { value: Value::text(text), origin: Origin::new(Layer::File, p.place) }])
            };
            vec![("path", cell(&path)), ("message", cell(&p.message))]
        })
        .collect();
    let unreadable: Vec<Row> = std::mem::take(&mut ctx.unreadable)
        .into_iter()
        .map(|(path, why)| {
            let id = ctx.sources.add(path.as_str(), kind_of(&path), "");
            let origin = Ctx::observed(id, Span::default());
            let cell =
                |text: String| Known::Is(vec![Said { value: Value::text(text), origin: origin.clone() }]);
            vec![("path", cell(path.clone())), ("why", cell(why.to_string()))]
        })
        .collect();
    ctx.say(Fact::rows("input.problems", Known::Is(problems)));
    ctx.say(Fact::rows("input.unreadable", Known::Is(unreadable)));
}

/// The node as a model reads it.
impl Reader for Ctx<'_> {
    fn file(&mut self, path: &str) -> Known<Captured> {
        self.read(path)
    }

    fn list(&mut self, dir: &str) -> Known<Vec<String>> {
        Ctx::list(self, dir).map(|(_, entries)| entries.iter().map(|e| e.name.clone()).collect())
    }

    fn may_have(&mut self, dir: &str, name: &str) -> bool {
        match Ctx::list(self, dir) {
            Known::Is((_, entries)) => entries.binary_search_by(|e| e.name.as_str().cmp(name)).is_ok(),
            Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => false,
            Known::Unknown(_) => true,
        }
    }

    fn is_dir(&mut self, path: &str) -> Known<bool> {
        let found = self.node.is_dir(path);
        if let Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) = &found {
            self.could_not_read(path, why);
        }
        found
    }

    fn link(&mut self, path: &str) -> Known<String> {
        self.node.link(path)
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        let same = |known: &&Shown| std::ptr::eq(known.text, text) && known.name == name;
        if let Some(known) = self.defaults.iter().find(same) {
            return known.id;
        }
        let id = self.sources.add(name, Kind::Default, text);
        self.defaults.push(Shown { name: name.to_owned(), text, id });
        id
    }
}
