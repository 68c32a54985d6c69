//! A TOML document with the span of every key and value, read field by field: everything that is
//! wrong with it is found at once.

use super::expr::Flaw;
use crate::names;
use crate::text::{Span, position};
use toml::de::{DeTable, DeValue};

/// A text as written.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    /// With its quotes.
    pub span: Span,
    /// Where its first character stands, if offsets in it map to the file by addition.
    inner: Option<usize>,
}

impl Text {
    fn new(text: String, span: Span, file: &str) -> Text {
        let raw = file.get(span.start..span.end).unwrap_or("");
        let quotes = if raw.starts_with("'''") || raw.starts_with("\"\"\"") { 3 } else { 1 };
        let body = raw.get(quotes..).unwrap_or("");
        let newline = match (quotes, body.as_bytes()) {
            (3, [b'\r', b'\n', ..]) => 2,
            (3, [b'\n', ..]) => 1,
            _ => 0,
        };
        let inner = (body.get(newline..)).is_some_and(|b| b.starts_with(&text));
        Text { text, span, inner: inner.then_some(span.start + quotes + newline) }
    }

    /// A span in the text as a span in the file.
    pub(super) fn within(&self, span: Span) -> Span {
        self.inner.map_or(self.span, |start| Span::new(start + span.start, start + span.end))
    }

    /// Whether columns in it are columns in the file.
    pub(super) fn is_literal(&self) -> bool {
        self.inner.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct Raw {
    pub span: Span,
    pub kind: RawKind,
}

#[derive(Clone, Debug)]
pub enum RawKind {
    Bool(bool),
    Int(i64),
    Text(Text),
    List(Vec<Raw>),
    Table(Vec<(Text, Raw)>),
    /// What rules have no use for, by its TOML name.
    Other(&'static str),
}

impl RawKind {
    pub(super) fn describe(&self) -> &'static str {
        match self {
            RawKind::Bool(_) => "true or false",
            RawKind::Int(_) => "an integer",
            RawKind::Text(_) => "text",
            RawKind::List(_) => "a list",
            RawKind::Table(_) => "a table",
            RawKind::Other(name) => name,
        }
    }
}

/// The whole document; the first syntax error of each line is a flaw.
pub(super) fn parse(text: &str, flaws: &mut Vec<Flaw>) -> Raw {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut line = 0;
    for error in errors {
        let span = error.span().map_or(Span::default(), |s| Span::new(s.start, s.end));
        let at = position(text, span.start).line;
        if std::mem::replace(&mut line, at) == at {
            continue;
        }
        flaws.push(Flaw::new(span, error.message().replace('\n', ", ")));
    }
    Raw { span: Span::new(0, text.len()), kind: table(document.get_ref(), text) }
}

fn table(table: &DeTable<'_>, file: &str) -> RawKind {
    let mut entries: Vec<(Text, Raw)> = table
        .iter()
        .map(|(key, value)| {
            let key_span = Span::new(key.span().start, key.span().end);
            let span = Span::new(value.span().start, value.span().end);
            let key = Text { text: key.get_ref().to_string(), span: key_span, inner: None };
            (key, Raw { span, kind: value_of(value.get_ref(), span, file) })
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    RawKind::Table(entries)
}

fn value_of(value: &DeValue<'_>, span: Span, file: &str) -> RawKind {
    match value {
        DeValue::String(text) => RawKind::Text(Text::new(text.to_string(), span, file)),
        DeValue::Boolean(b) => RawKind::Bool(*b),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix())
            .map_or(RawKind::Other("an integer of more than 64 bits"), RawKind::Int),
        DeValue::Array(items) => RawKind::List(
            items
                .iter()
                .map(|item| {
                    let span = Span::new(item.span().start, item.span().end);
                    Raw { span, kind: value_of(item.get_ref(), span, file) }
                })
                .collect(),
        ),
        DeValue::Table(inner) => table(inner, file),
        DeValue::Float(_) => RawKind::Other("a fraction"),
        DeValue::Datetime(_) => RawKind::Other("a time"),
    }
}

/// The fields of one table, taken one by one.
pub(super) struct Fields<'a> {
    entries: Vec<(Text, Raw)>,
    pub(super) span: Span,
    pub(super) flaws: &'a mut Vec<Flaw>,
}

impl<'a> Fields<'a> {
    /// Keys that are not among `known` are flaws, with the nearest.
    pub(super) fn new(raw: Raw, what: &str, known: &[&str], flaws: &'a mut Vec<Flaw>) -> Fields<'a> {
        let RawKind::Table(entries) = raw.kind else {
            flaws.push(Flaw::new(raw.span, format!("{what} is a table, this is {}", raw.kind.describe())));
            return Fields { entries: Vec::new(), span: raw.span, flaws };
        };
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.text.as_str())) {
            let near = names::nearest(&key.text, known.iter().copied());
            let hint = near.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
            let message = format!("unknown key `{}` in {what}; {hint}known: {}", key.text, known.join(", "));
            flaws.push(Flaw::new(key.span, message));
        }
        Fields { entries, span: raw.span, flaws }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Raw> {
        let at = self.entries.iter().position(|(k, _)| k.text == key)?;
        Some(self.entries.remove(at).1)
    }

    pub(super) fn flaw(&mut self, span: Span, message: impl Into<String>) {
        self.flaws.push(Flaw::new(span, message));
    }

    pub(super) fn text(&mut self, key: &str) -> Option<Text> {
        match self.take(key)? {
            Raw { kind: RawKind::Text(text), .. } => Some(text),
            raw => {
                self.flaw(raw.span, format!("`{key}` is text, this is {}", raw.kind.describe()));
                None
            }
        }
    }

    /// A text that must be there.
    pub(super) fn required(&mut self, key: &str, what: &str) -> Option<Text> {
        if !self.entries.iter().any(|(k, _)| k.text == key) {
            self.flaw(Span::new(self.span.start, self.span.start), format!("{what} has no `{key}`"));
        }
        self.text(key)
    }

    /// An integer of at least one.
    pub(super) fn count(&mut self, key: &str) -> Option<usize> {
        let raw = self.take(key)?;
        match raw.kind {
            RawKind::Int(i) if i > 0 => usize::try_from(i).ok(),
            _ => {
                self.flaw(raw.span, format!("`{key}` is an integer of at least 1"));
                None
            }
        }
    }

    pub(super) fn list(&mut self, key: &str) -> Vec<Raw> {
        match self.take(key) {
            None => Vec::new(),
            Some(Raw { kind: RawKind::List(items), .. }) => items,
            Some(raw) => {
                self.flaw(raw.span, format!("`{key}` is a list, this is {}", raw.kind.describe()));
                Vec::new()
            }
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Vec<Text> {
        let mut texts = Vec::new();
        for item in self.list(key) {
            match item.kind {
                RawKind::Text(text) => texts.push(text),
                kind => {
                    self.flaw(item.span, format!("`{key}` is a list of texts, this is {}", kind.describe()))
                }
            }
        }
        texts
    }

    /// A table of free keys.
    pub(super) fn map(&mut self, key: &str) -> Vec<(Text, Raw)> {
        match self.take(key) {
            None => Vec::new(),
            Some(Raw { kind: RawKind::Table(entries), .. }) => entries,
            Some(raw) => {
                self.flaw(raw.span, format!("`{key}` is a table, this is {}", raw.kind.describe()));
                Vec::new()
            }
        }
    }

    /// A text out of a closed set, as its place in the set.
    pub(super) fn choice(&mut self, key: &str, set: &[&'static str]) -> Option<usize> {
        let text = self.text(key)?;
        let at = set.iter().position(|member| *member == text.text);
        if let Some(message) = super::expr::check::stranger(&text.text, set, Some(key)) {
            self.flaw(text.span, message);
        }
        at
    }
}
