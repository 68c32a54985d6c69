//! A checked expression: names are places in the table of declared facts, types fit. No spans.

use super::ast::Compare;
use crate::fact::{Decl, Type, Value};
use crate::names::FactId;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ref {
    Fact(FactId),
    /// A column, by index, of the row that `each` gives.
    Cell(u16),
}

impl Ref {
    /// Its declaration; a column needs the table.
    pub fn decl(self, each: Option<FactId>) -> Option<&'static Decl> {
        match (self, each.map(|table| &table.decl().ty)) {
            (Ref::Fact(id), _) => Some(id.decl()),
            (Ref::Cell(at), Some(Type::Table { columns, .. })) => columns.get(usize::from(at)),
            (Ref::Cell(_), _) => None,
        }
    }

    /// The full name: `kubelet.version`, `containerd.runtimes.type`.
    pub fn name(self, each: Option<FactId>) -> String {
        let decl = self.decl(each).map_or("", |d| d.name);
        match (self, each) {
            (Ref::Cell(_), Some(table)) => format!("{}.{decl}", table.decl().name),
            _ => decl.to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Term {
    Value(Value),
    Ref(Ref),
    Has(Ref),
    /// A list with parts to be evaluated.
    List(Vec<Term>),
    Not(Box<Term>),
    And(Vec<Term>),
    Or(Vec<Term>),
    Compare(Compare, Box<Term>, Box<Term>),
    /// Both sides are texts that are read as versions.
    Versions(Compare, Box<Term>, Box<Term>),
    Choose(Box<Term>, Box<Term>, Box<Term>),
    /// Element of a list; a place outside of it is absent.
    Index(Box<Term>, Box<Term>),
    Size(Box<Term>),
    Text(TextTest, Box<Term>, Box<Term>),
    Matches(Box<Term>, Pattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

impl Term {
    /// All names it reads, each once, in order of first appearance.
    pub fn reads(&self, into: &mut Vec<Ref>) {
        match self {
            Term::Value(_) => {}
            Term::Ref(at) | Term::Has(at) => {
                if !into.contains(at) {
                    into.push(*at);
                }
            }
            Term::List(list) | Term::And(list) | Term::Or(list) => {
                list.iter().for_each(|t| t.reads(into));
            }
            Term::Not(a) | Term::Size(a) | Term::Matches(a, _) => a.reads(into),
            Term::Compare(_, a, b) | Term::Versions(_, a, b) | Term::Index(a, b) | Term::Text(_, a, b) => {
                a.reads(into);
                b.reads(into);
            }
            Term::Choose(a, b, c) => [a, b, c].iter().for_each(|t| t.reads(into)),
        }
    }
}

/// A regular expression, compiled at first use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pattern {
    text: String,
    #[serde(skip)]
    compiled: OnceLock<Option<regex_lite::Regex>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Refuses what is no regular expression, in the words of its library.
    pub(super) fn new(text: &str) -> Result<Pattern, String> {
        let compiled = regex_lite::Regex::new(text).map_err(|e| e.to_string())?;
        Ok(Pattern { text: text.to_owned(), compiled: OnceLock::from(Some(compiled)) })
    }

    /// Whether it is found anywhere in the text.
    pub(super) fn found_in(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| regex_lite::Regex::new(&self.text).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}
