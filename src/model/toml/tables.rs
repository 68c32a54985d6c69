//! The tables of a document while it is read, and what each library lets be defined twice.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Dialect, Item, Key, Node, SyntaxError, Table};
use crate::text::Span;

/// Index of a table in [`Tables`].
pub(super) type Id = usize;

pub(super) const ROOT: Id = 0;

/// Deepest nesting of tables and arrays, which bounds the recursion of whoever walks a document.
pub(super) const MAX_DEPTH: usize = 256;

/// From this size on a table is searched through an index.
const INDEXED: usize = 32;

pub(super) enum Slot {
    Leaf(Node),
    Array(Vec<Slot>, Span),
    Table(Id),
    /// An array of tables that a `[[header]]` or, in go-toml v1, an array of inline tables began.
    Tables(Vec<Id>, Span),
}

/// A key, or one part of a dotted one, before it is put anywhere.
pub(super) struct Part<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) span: Span,
}

impl Part<'_> {
    fn key(self) -> Key {
        Key { name: self.name.into_owned(), span: self.span }
    }

    fn copy(&self) -> Key {
        Key { name: self.name.as_ref().to_owned(), span: self.span }
    }
}

struct Cell {
    entries: Vec<(Key, Slot)>,
    index: Option<BTreeMap<String, usize>>,
    span: Span,
    header: Option<Span>,
    depth: usize,
    /// Closed against additions from outside, as an inline table is.
    inline: bool,
    /// Defined in full: another header must not name it.
    explicit: bool,
}

impl Cell {
    fn find(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.entries.iter().position(|(k, _)| k.name == name),
        }
    }

    fn add(&mut self, key: Key, slot: Slot) {
        if self.entries.len() == INDEXED {
            self.index =
                Some(self.entries.iter().enumerate().map(|(i, (k, _))| (k.name.clone(), i)).collect());
        }
        if let Some(index) = &mut self.index {
            index.insert(key.name.clone(), self.entries.len());
        }
        self.entries.push((key, slot));
    }
}

pub(super) struct Tables {
    dialect: Dialect,
    cells: Vec<Cell>,
    /// Headers as written, which is what go-toml v1 compares to find a table defined twice.
    seen: BTreeSet<String>,
    /// Made by dotted keys since the last header: go-toml v2 closes them at the next one.
    dotted: Vec<Id>,
}

type Answer<T> = Result<T, SyntaxError>;

impl Tables {
    pub(super) fn new(dialect: Dialect) -> Self {
        let mut tables = Tables { dialect, cells: Vec::new(), seen: BTreeSet::new(), dotted: Vec::new() };
        tables.cells.push(Cell::new(Span::default(), 0));
        tables
    }

    pub(super) fn depth(&self, id: Id) -> usize {
        self.cells[id].depth
    }

    /// A new table that nothing names yet, for an inline table.
    pub(super) fn inline(&mut self, span: Span, depth: usize) -> Id {
        self.cells.push(Cell { inline: true, explicit: true, ..Cell::new(span, depth) });
        self.cells.len() - 1
    }

    pub(super) fn set_span(&mut self, id: Id, span: Span) {
        self.cells[id].span = span;
    }

    pub(super) fn span(&self, id: Id) -> Span {
        self.cells[id].span
    }

    fn create(&mut self, parent: Id, key: &Part) -> Answer<Id> {
        let depth = self.cells[parent].depth + 1;
        if depth > MAX_DEPTH {
            return Err(too_deep(key.span));
        }
        self.cells.push(Cell::new(key.span, depth));
        let id = self.cells.len() - 1;
        self.cells[parent].add(key.copy(), Slot::Table(id));
        Ok(id)
    }

    /// Goes down one part of a header's path that is not its last, and makes the table if it is missing.
    fn descend(&mut self, parent: Id, key: &Part) -> Answer<Id> {
        let Some(entry) = self.cells[parent].find(&key.name) else {
            let inherited = self.dialect == Dialect::GoTomlV1 && self.cells[parent].inline;
            let id = self.create(parent, key)?;
            self.cells[id].inline = inherited;
            return Ok(id);
        };
        match &self.cells[parent].entries[entry].1 {
            Slot::Table(id) if self.dialect == Dialect::GoTomlV2 && self.cells[*id].inline => {}
            Slot::Table(id) => return Ok(*id),
            Slot::Tables(ids, _) => return Ok(ids.last().copied().unwrap_or(parent)),
            Slot::Leaf(_) | Slot::Array(..) => {}
        }
        Err(SyntaxError::new(
            key.span,
            format!("`{}` is a value already, so it can not hold a table", key.name),
        ))
    }

    /// `[path]`: the table it opens. `raw` is the text between the brackets.
    pub(super) fn open(&mut self, path: &[Part], inside: Span, raw: &str) -> Answer<Id> {
        let Some((last, before)) = path.split_last() else {
            return Err(SyntaxError::new(inside, "a table needs a name"));
        };
        let twice = || SyntaxError::new(inside, format!("table `{}` is defined twice", dotted(path)));
        if self.dialect == Dialect::GoTomlV1 && !self.seen.insert(raw.to_owned()) {
            return Err(twice());
        }
        self.close_dotted();
        let mut parent = ROOT;
        for key in before {
            parent = self.descend(parent, key)?;
        }
        let Some(entry) = self.cells[parent].find(&last.name) else {
            let id = self.descend(parent, last)?;
            if self.cells[id].inline {
                return Err(closed(inside, path));
            }
            let cell = &mut self.cells[id];
            (cell.explicit, cell.header, cell.span) = (true, Some(inside), inside);
            return Ok(id);
        };
        let id = match &self.cells[parent].entries[entry].1 {
            Slot::Table(id) => *id,
            Slot::Tables(ids, _) if self.dialect == Dialect::GoTomlV1 => {
                return Ok(ids.last().copied().unwrap_or(parent));
            }
            Slot::Tables(..) => {
                return Err(SyntaxError::new(
                    inside,
                    format!("`{}` is an array of tables already", dotted(path)),
                ));
            }
            Slot::Leaf(_) | Slot::Array(..) => {
                return Err(SyntaxError::new(
                    inside,
                    format!("`{}` is a value already, not a table", dotted(path)),
                ));
            }
        };
        let cell = &mut self.cells[id];
        if cell.inline {
            return Err(closed(inside, path));
        }
        if cell.explicit && self.dialect != Dialect::GoTomlV1 {
            return Err(twice());
        }
        cell.explicit = true;
        if cell.header.is_none() {
            (cell.header, cell.span) = (Some(inside), inside);
        }
        Ok(id)
    }

    /// `[[path]]`: the new element of the array.
    pub(super) fn append(&mut self, path: &[Part], inside: Span, raw: &str) -> Answer<Id> {
        let Some((last, before)) = path.split_last() else {
            return Err(SyntaxError::new(inside, "an array of tables needs a name"));
        };
        self.close_dotted();
        let mut parent = ROOT;
        for key in before {
            parent = self.descend(parent, key)?;
        }
        let depth = self.cells[parent].depth + 2;
        if depth > MAX_DEPTH {
            return Err(too_deep(inside));
        }
        let id = self.cells.len();
        match self.cells[parent].find(&last.name) {
            None => self.cells[parent].add(last.copy(), Slot::Tables(vec![id], inside)),
            Some(entry) => match &mut self.cells[parent].entries[entry].1 {
                Slot::Tables(ids, _) => ids.push(id),
                _ => {
                    let message =
                        format!("`{}` is defined already, and not as an array of tables", dotted(path));
                    return Err(SyntaxError::new(inside, message));
                }
            },
        }
        self.cells.push(Cell { header: Some(inside), explicit: true, ..Cell::new(inside, depth) });
        if self.dialect == Dialect::GoTomlV1 {
            let prefix = format!("{raw}.");
            let under: Vec<String> = self
                .seen
                .range(prefix.clone()..)
                .take_while(|seen| seen.starts_with(&prefix))
                .cloned()
                .collect();
            for seen in under {
                self.seen.remove(&seen);
            }
            self.seen.insert(raw.to_owned());
        }
        Ok(id)
    }

    /// `path = value` in the table that the last header opened.
    /// Takes the last part of the path.
    pub(super) fn assign(&mut self, table: Id, path: &mut Vec<Part>, slot: Slot) -> Answer<()> {
        let start = path.first().map_or(0, |first| first.span.start);
        self.set(table, path, slot).map_err(|error| match self.dialect {
            // reported at the beginning of the key
            Dialect::GoTomlV1 => SyntaxError { span: Span::new(start, error.span.end), ..error },
            _ => error,
        })
    }

    fn set(&mut self, table: Id, path: &mut Vec<Part>, slot: Slot) -> Answer<()> {
        let Some((last, before)) = path.split_last() else { return Ok(()) };
        let mut at = table;
        for key in before {
            at = self.descend_dotted(at, key)?;
        }
        if self.cells[at].inline {
            return Err(closed(last.span, path));
        }
        match self.cells[at].find(&last.name) {
            None => {
                if let Some(last) = path.pop() {
                    self.cells[at].add(last.key(), slot);
                }
                Ok(())
            }
            Some(entry) => {
                // BurntSushi/toml forgets the value when the table was only implied so far.
                if let (Dialect::BurntSushi, Slot::Table(id)) =
                    (self.dialect, &self.cells[at].entries[entry].1)
                {
                    let id = *id;
                    if !self.cells[id].explicit {
                        self.cells[id].explicit = true;
                        return Ok(());
                    }
                }
                Err(SyntaxError::new(last.span, format!("key `{}` is defined twice", dotted(path))))
            }
        }
    }

    fn descend_dotted(&mut self, parent: Id, key: &Part) -> Answer<Id> {
        let Some(entry) = self.cells[parent].find(&key.name) else {
            let id = self.create(parent, key)?;
            self.cells[id].inline = self.dialect == Dialect::GoTomlV1 && self.cells[parent].inline;
            self.dotted.push(id);
            return Ok(id);
        };
        match &self.cells[parent].entries[entry].1 {
            Slot::Table(id) if self.dialect == Dialect::GoTomlV1 => Ok(*id),
            Slot::Tables(ids, _) if self.dialect == Dialect::GoTomlV1 => {
                Ok(ids.last().copied().unwrap_or(parent))
            }
            Slot::Table(id) if !self.cells[*id].inline && !self.cells[*id].explicit => Ok(*id),
            Slot::Table(id) if !self.cells[*id].inline => {
                let message =
                    format!("table `{}` is complete already, so a dotted key can not extend it", key.name);
                Err(SyntaxError::new(key.span, message))
            }
            _ => {
                let message = format!("`{}` is a value already, so it can not hold keys", key.name);
                Err(SyntaxError::new(key.span, message))
            }
        }
    }

    /// `path = value` inside an inline table.
    pub(super) fn assign_inline(&mut self, table: Id, path: &mut Vec<Part>, slot: Slot) -> Answer<()> {
        let Some((last, before)) = path.split_last() else { return Ok(()) };
        let mut at = table;
        for key in before {
            at = match self.cells[at].find(&key.name) {
                None => self.create(at, key)?,
                Some(entry) => match &self.cells[at].entries[entry].1 {
                    Slot::Table(id) if self.dialect == Dialect::GoTomlV1 || !self.cells[*id].inline => *id,
                    Slot::Tables(ids, _) => ids.last().copied().unwrap_or(at),
                    // go-toml v1 stays where it is then
                    _ if self.dialect == Dialect::GoTomlV1 => at,
                    _ => {
                        let message = format!("`{}` is a value already, so it can not hold keys", key.name);
                        return Err(SyntaxError::new(key.span, message));
                    }
                },
            };
        }
        match self.cells[at].find(&last.name) {
            None => {
                if let Some(last) = path.pop() {
                    self.cells[at].add(last.key(), slot);
                }
            }
            Some(_) if self.dialect == Dialect::GoTomlV2 => {
                return Err(SyntaxError::new(last.span, format!("key `{}` is defined twice", dotted(path))));
            }
            // both older libraries let the last one win
            Some(entry) => self.cells[at].entries[entry] = (last.copy(), slot),
        }
        Ok(())
    }

    /// go-toml v2: what dotted keys made is complete once the next header begins.
    fn close_dotted(&mut self) {
        for id in std::mem::take(&mut self.dotted) {
            if self.dialect == Dialect::GoTomlV2 {
                self.cells[id].explicit = true;
            }
        }
    }

    /// The finished document.
    pub(super) fn into_root(mut self) -> Table {
        self.take(ROOT)
    }

    fn take(&mut self, id: Id) -> Table {
        let entries = std::mem::take(&mut self.cells[id].entries);
        let entries = entries.into_iter().map(|(key, slot)| (key, self.node(slot))).collect();
        Table { entries, header: self.cells[id].header }
    }

    fn node(&mut self, slot: Slot) -> Node {
        match slot {
            Slot::Leaf(node) => node,
            Slot::Table(id) => Node { span: self.cells[id].span, item: Item::Table(self.take(id)) },
            Slot::Array(slots, span) => {
                let nodes = slots.into_iter().map(|slot| self.node(slot)).collect();
                Node { span, item: Item::Array(nodes) }
            }
            Slot::Tables(ids, span) => {
                let nodes = ids.into_iter().map(|id| self.node(Slot::Table(id))).collect();
                Node { span, item: Item::Array(nodes) }
            }
        }
    }
}

impl Cell {
    fn new(span: Span, depth: usize) -> Self {
        Cell { entries: Vec::new(), index: None, span, header: None, depth, inline: false, explicit: false }
    }
}

pub(super) fn too_deep(span: Span) -> SyntaxError {
    SyntaxError::new(span, format!("nested deeper than {MAX_DEPTH} levels"))
}

fn closed(span: Span, path: &[Part]) -> SyntaxError {
    SyntaxError::new(
        span,
        format!("`{}` belongs to an inline table, which can not be extended", dotted(path)),
    )
}

fn dotted(path: &[Part]) -> String {
    path.iter().map(|key| key.name.as_ref()).collect::<Vec<_>>().join(".")
}
