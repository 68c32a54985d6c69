//! Configuration values that remember where they were written and what they replaced.

use crate::fact::Written;
use crate::model::toml::{Item, Node, Table};
use crate::text::{Place, SourceId, Span};
use std::cell::OnceCell;
use std::rc::Rc;

pub(super) type Shared = Rc<Val>;

/// The dotted path of a value, as written, from the leaf up.
#[derive(Debug)]
pub(super) struct Path {
    parent: Option<Rc<Path>>,
    name: Rc<str>,
    key: Span,
    /// The whole path, once it was asked for.
    written: OnceCell<Written>,
}

/// Where a value stands.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) place: Place,
    path: Option<Rc<Path>>,
}

impl At {
    pub(super) fn new(place: Place) -> At {
        At { place, path: None }
    }

    /// The written path, outermost first.
    pub(super) fn written(&self) -> Written {
        let Some(path) = &self.path else { return Written::default() };
        let whole = || {
            let mut names = vec![path.name.to_string()];
            let mut next = path.parent.as_ref();
            while let Some(path) = next {
                names.push(path.name.to_string());
                next = path.parent.as_ref();
            }
            names.reverse();
            names.into()
        };
        path.written.get_or_init(whole).clone()
    }

    /// Where the key of this value is written; the value itself where it has none.
    pub(super) fn key(&self) -> Place {
        let span = self.path.as_ref().map_or(self.place.span, |p| p.key);
        Place { source: self.place.source, span }
    }

    fn below(&self, name: &Rc<str>, key: Span, span: Span) -> At {
        let path =
            Rc::new(Path { parent: self.path.clone(), name: name.clone(), key, written: OnceCell::new() });
        At { place: Place { source: self.place.source, span }, path: Some(path) }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) data: Data,
    pub(super) at: At,
    /// Statements that this one replaced, weakest first.
    pub(super) beaten: Vec<Shared>,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    Time,
    Array(Vec<Shared>),
    Table(Tree),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) entries: Vec<(Rc<str>, Shared)>,
}

impl Tree {
    pub(super) fn get(&self, name: &str) -> Option<&Shared> {
        self.entries.iter().find(|(k, _)| **k == *name).map(|(_, v)| v)
    }

    /// Puts a value under a name, in the place of the one that was there.
    pub(super) fn set(&mut self, name: &str, value: Shared) {
        match self.entries.iter_mut().find(|(k, _)| **k == *name) {
            Some((_, old)) => *old = value,
            None => self.entries.push((Rc::from(name), value)),
        }
    }

    /// The same with a name that is at hand.
    pub(super) fn put(&mut self, name: &Rc<str>, value: Shared) {
        match self.entries.iter_mut().find(|(k, _)| k == name) {
            Some((_, old)) => *old = value,
            None => self.entries.push((name.clone(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Shared> {
        let index = self.entries.iter().position(|(k, _)| **k == *name)?;
        Some(self.entries.remove(index).1)
    }
}

impl Val {
    pub(super) fn table(&self) -> Option<&Tree> {
        if let Data::Table(tree) = &self.data { Some(tree) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Data::Text(text) = &self.data { Some(text) } else { None }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        if let Data::Bool(b) = &self.data { Some(*b) } else { None }
    }

    pub(super) fn int(&self) -> Option<i64> {
        if let Data::Int(i) = &self.data { Some(*i) } else { None }
    }

    pub(super) fn array(&self) -> &[Shared] {
        if let Data::Array(items) = &self.data { items } else { &[] }
    }

    /// A key of a table; nothing for other values.
    pub(super) fn get(&self, name: &str) -> Option<&Shared> {
        self.table().and_then(|t| t.get(name))
    }

    pub(super) fn dig(&self, path: &[&str]) -> Option<&Shared> {
        let (first, rest) = path.split_first()?;
        let next = self.get(first)?;
        if rest.is_empty() { Some(next) } else { next.dig(rest) }
    }

    /// "", 0, false, nothing: what a merge of Go structs takes for not said.
    pub(super) fn is_zero(&self) -> bool {
        match &self.data {
            Data::Bool(b) => !b,
            Data::Int(i) => *i == 0,
            Data::Float(f) => *f == 0.0,
            Data::Text(t) => t.is_empty(),
            Data::Time => false,
            Data::Array(items) => items.is_empty(),
            Data::Table(tree) => tree.entries.is_empty(),
        }
    }

    /// In the words of Go's decoders.
    pub(super) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Bool(_) => "a boolean",
            Data::Int(_) => "an integer",
            Data::Float(_) => "a float",
            Data::Text(_) => "a string",
            Data::Time => "a date or time",
            Data::Array(_) => "an array",
            Data::Table(_) => "a table",
        }
    }

    /// This value after it replaced `old`.
    pub(super) fn over(self: &Shared, old: &Shared) -> Shared {
        let mut beaten = old.beaten.clone();
        beaten.push(old.clone());
        beaten.extend(self.beaten.iter().cloned());
        Rc::new(Val { data: self.data.clone(), at: self.at.clone(), beaten })
    }

    /// The same value under other data (a table whose entries changed).
    pub(super) fn with(&self, data: Data) -> Shared {
        Rc::new(Val { data, at: self.at.clone(), beaten: self.beaten.clone() })
    }
}

/// The tree of a parsed document.
pub(super) fn from_document(source: SourceId, table: &Table) -> Shared {
    let at = At::new(Place { source, span: Span::default() });
    Rc::new(Val { data: Data::Table(from_table(table, &at)), at, beaten: Vec::new() })
}

fn from_table(table: &Table, at: &At) -> Tree {
    let entries = table
        .entries
        .iter()
        .map(|(key, node)| {
            let name: Rc<str> = Rc::from(key.name.as_str());
            let value = from_node(node, at.below(&name, key.span, node.span));
            (name, value)
        })
        .collect();
    Tree { entries }
}

fn from_node(node: &Node, at: At) -> Shared {
    let data = match &node.item {
        Item::Bool(b) => Data::Bool(*b),
        Item::Int(i) => Data::Int(*i),
        Item::Float(f) => Data::Float(*f),
        Item::Text(t) => Data::Text(Rc::from(t.as_str())),
        Item::Time(_) => Data::Time,
        Item::Array(items) => {
            let place = |span| At { place: Place { source: at.place.source, span }, path: at.path.clone() };
            Data::Array(items.iter().map(|n| from_node(n, place(n.span))).collect())
        }
        Item::Table(table) => Data::Table(from_table(table, &at)),
    };
    Rc::new(Val { data, at, beaten: Vec::new() })
}

/// A value that the program makes up from another (a migrated container): same place, other data.
pub(super) fn made(data: Data, at: &At) -> Shared {
    Rc::new(Val { data, at: at.clone(), beaten: Vec::new() })
}
