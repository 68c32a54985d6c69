//! From the parser's events to a document, with the limits of each library.

use std::cell::RefCell;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, ParseError, Source};

use super::tables::{Id, MAX_DEPTH, Part, ROOT, Slot, Tables, too_deep};
use super::{Dialect, Document, Item, Node, SyntaxError, report, scalar, strings, v1};
use crate::text::Span;

/// Reads a whole text.
pub(super) fn read(text: &str, dialect: Dialect) -> Result<Document, SyntaxError> {
    let mut tokens = Source::new(text).lex().into_vec();
    if dialect == Dialect::GoTomlV1 {
        tokens = v1::tokens(&tokens, text);
    }
    let fault = RefCell::new(None);
    let mut reader = Reader {
        text,
        dialect,
        tables: Tables::new(dialect),
        current: ROOT,
        fault: &fault,
        unsure: Vec::new(),
        header: None,
        path: Vec::new(),
        pending: false,
        frames: Vec::new(),
    };
    let mut sink = |error: ParseError| {
        let mut fault = fault.borrow_mut();
        if fault.is_none() {
            *fault = Some(report::translate(text, dialect, &error));
        }
    };
    parse_document(&tokens, &mut reader, &mut sink);
    let (tables, unsure) = (reader.tables, reader.unsure);
    match fault.take() {
        Some(error) => Err(error),
        None => Ok(Document { root: tables.into_root(), unsure }),
    }
}

enum Frame<'a> {
    Array {
        start: usize,
        slots: Vec<Slot>,
    },
    Inline {
        table: Id,
        start: usize,
        /// The key to which the table is assigned.
        outer: Vec<Part<'a>>,
        /// The last comma, if nothing followed it yet.
        comma: Option<Span>,
        /// A newline that came after a value.
        newline: Option<Span>,
    },
}

struct Reader<'a> {
    text: &'a str,
    dialect: Dialect,
    tables: Tables,
    /// The table of the last header.
    current: Id,
    fault: &'a RefCell<Option<SyntaxError>>,
    unsure: Vec<SyntaxError>,
    /// Start of the name in the header being read.
    header: Option<usize>,
    /// The key being read.
    path: Vec<Part<'a>>,
    /// A key was read and its value was not.
    pending: bool,
    frames: Vec<Frame<'a>>,
}

fn ours(span: toml_parser::Span) -> Span {
    Span::new(span.start(), span.end())
}

impl<'a> Reader<'a> {
    fn failed(&self) -> bool {
        self.fault.borrow().is_some()
    }

    fn fail(&mut self, error: SyntaxError) {
        self.fault.borrow_mut().get_or_insert(error);
    }

    fn fail_at(&mut self, span: Span, message: impl Into<String>) {
        self.fail(SyntaxError::new(span, message));
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or("")
    }

    /// Offset of the character at `at`, as a span; empty at the end of a line.
    fn char_at(&self, at: usize) -> Span {
        let next = self.text.get(at..).and_then(|rest| rest.chars().next());
        Span::new(at, at + next.filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8))
    }

    fn key(&mut self, span: Span, encoding: Option<Encoding>) -> Result<Part<'a>, SyntaxError> {
        let written = self.slice(span);
        let v1 = self.dialect == Dialect::GoTomlV1;
        let Some(encoding) = encoding else {
            let bad =
                written.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
            return match bad {
                None if written.is_empty() => {
                    Err(SyntaxError::new(self.char_at(span.start), "a key is missing here"))
                }
                None => Ok(Part { name: written.into(), span }),
                Some((at, c)) => {
                    let at = span.start + at;
                    let message = format!("a key without quotes can not contain `{}`", c.escape_debug());
                    let start = if v1 { span.start } else { at };
                    Err(SyntaxError::new(Span::new(start, self.char_at(at).end), message))
                }
            };
        };
        let multiline = matches!(encoding, Encoding::MlBasicString | Encoding::MlLiteralString);
        if multiline && self.dialect != Dialect::BurntSushi {
            return Err(SyntaxError::new(span, "a key can not have three quotes"));
        }
        if v1 && self.header.is_some() {
            // taken as written, escapes and all
            let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
            if written.len() < 2 || inner.contains(['[', ']', '"']) {
                return Err(SyntaxError::new(span, "the table's name is not closed"));
            }
            return Ok(Part { name: inner.into(), span });
        }
        let text =
            strings::decode(written, encoding, span, self.dialect).map_err(|error| match self.dialect {
                Dialect::GoTomlV1 => SyntaxError { span, ..error },
                _ => error,
            })?;
        if v1 && encoding == Encoding::BasicString && text.value.contains('"') {
            return Err(SyntaxError::new(span, "a key can not contain a quote"));
        }
        self.unsure.extend(text.unsure);
        Ok(Part { name: text.value.into(), span })
    }

    /// go-toml v1 reports what is wrong with a key, or the name of a table, at its beginning.
    fn report_key(&self, error: SyntaxError) -> SyntaxError {
        let start = match (self.dialect, self.header) {
            (Dialect::GoTomlV1, Some(header)) => header,
            (Dialect::GoTomlV1, None) => self.path.first().map_or(error.span.start, |first| first.span.start),
            _ => return error,
        };
        SyntaxError { span: Span::new(start.min(error.span.start), error.span.end), ..error }
    }

    fn value(&mut self, span: Span, encoding: Option<Encoding>) -> Result<Slot, SyntaxError> {
        if span.start == span.end {
            return Err(self.missing_value(span.start));
        }
        let text = self.slice(span);
        let (item, unsure) = match encoding {
            None => scalar::decode(text, span, self.dialect)?,
            Some(encoding) => {
                let text = strings::decode(text, encoding, span, self.dialect)?;
                (Item::Text(text.value), text.unsure)
            }
        };
        self.unsure.extend(unsure);
        Ok(Slot::Leaf(Node { span, item }))
    }

    /// go-toml v1 looks for the value on the following lines and reports the end of the text when there is nothing.
    fn missing_value(&self, at: usize) -> SyntaxError {
        let rest = self.text.get(at..).unwrap_or("");
        let nothing =
            rest.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'));
        let at = if self.dialect == Dialect::GoTomlV1 && nothing { self.text.len() } else { at };
        SyntaxError::new(self.char_at(at), "the value is missing")
    }

    fn place(&mut self, slot: Slot) {
        let result = match self.frames.last_mut() {
            Some(Frame::Array { slots, .. }) => {
                slots.push(slot);
                return;
            }
            Some(Frame::Inline { table, comma, newline, .. }) => {
                (*comma, *newline) = (None, None);
                let table = *table;
                self.tables.assign_inline(table, &mut self.path, slot)
            }
            None => self.tables.assign(self.current, &mut self.path, slot),
        };
        self.path.clear();
        self.pending = false;
        if let Err(error) = result {
            self.fail(error);
        }
    }

    /// Depth of a value that begins here.
    fn depth(&self) -> usize {
        let base = match self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Inline { table, .. } => Some(*table),
            Frame::Array { .. } => None,
        }) {
            Some(table) => self.tables.depth(table),
            None => self.tables.depth(self.current),
        };
        let arrays =
            self.frames.iter().rev().take_while(|frame| matches!(frame, Frame::Array { .. })).count();
        base + arrays + 1
    }

    fn close_header(&mut self, close: Span, array: bool) {
        if self.failed() {
            return;
        }
        let path = std::mem::take(&mut self.path);
        let (Some(open), Some(first), Some(last)) = (self.header.take(), path.first(), path.last()) else {
            return;
        };
        let inside = Span::new(first.span.start, last.span.end);
        let raw = self.slice(Span::new(open, close.start));
        let result = match array {
            true => self.tables.append(&path, inside, raw),
            false => self.tables.open(&path, inside, raw),
        };
        self.path = path;
        self.path.clear();
        match result {
            Ok(id) => self.current = id,
            Err(error) => self.fail(error),
        }
    }

    /// Whether all elements are of one kind, as BurntSushi/toml wants.
    fn mixed(&self, slots: &[Slot]) -> Option<Span> {
        let kind = |slot: &Slot| match slot {
            Slot::Leaf(node) => Some(std::mem::discriminant(&node.item)),
            Slot::Array(..) | Slot::Tables(..) => Some(std::mem::discriminant(&Item::Array(Vec::new()))),
            Slot::Table(_) => None,
        };
        let first = kind(slots.first()?);
        let other = slots.iter().find(|slot| kind(slot) != first)?;
        Some(match other {
            Slot::Leaf(node) => node.span,
            Slot::Array(_, span) | Slot::Tables(_, span) => *span,
            Slot::Table(id) => self.tables.span(*id),
        })
    }
}

impl EventReceiver for Reader<'_> {
    fn std_table_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.header = Some(span.end());
        self.path.clear();
    }

    fn std_table_close(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.close_header(ours(span), false);
    }

    fn array_table_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.header = Some(span.end());
        self.path.clear();
    }

    fn array_table_close(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.close_header(ours(span), true);
    }

    fn simple_key(&mut self, span: toml_parser::Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        if self.failed() {
            return;
        }
        match self.key(ours(span), encoding).map_err(|error| self.report_key(error)) {
            Ok(key) => {
                self.path.push(key);
                self.pending = self.header.is_none();
                if self.path.len() > MAX_DEPTH {
                    self.fail(too_deep(ours(span)));
                }
            }
            Err(error) => self.fail(error),
        }
    }

    fn key_sep(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if self.dialect == Dialect::BurntSushi && self.header.is_none() {
            self.fail_at(ours(span), "a key can not be dotted");
        }
        let blank = |c: Option<char>| matches!(c, Some(' ' | '\t'));
        let (before, after) =
            (self.text[..span.start()].chars().next_back(), self.text[span.end()..].chars().next());
        if self.dialect == Dialect::GoTomlV1 && self.header.is_none() && !blank(before) && blank(after) {
            // it ends the key at white space that follows a dot, unless white space precedes the dot too
            self.fail_at(ours(span), "the key ends after this dot");
        }
    }

    fn scalar(&mut self, span: toml_parser::Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        if self.failed() {
            return;
        }
        match self.value(ours(span), encoding) {
            Ok(slot) => self.place(slot),
            Err(error) => self.fail(error),
        }
    }

    fn array_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) -> bool {
        if self.failed() {
            return false;
        }
        if self.depth() > MAX_DEPTH {
            self.fail(too_deep(ours(span)));
            return false;
        }
        self.frames.push(Frame::Array { start: span.start(), slots: Vec::new() });
        true
    }

    fn array_close(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if self.failed() {
            return;
        }
        let Some(Frame::Array { start, slots }) = self.frames.pop() else { return };
        let span = Span::new(start, span.end());
        if self.dialect == Dialect::BurntSushi
            && let Some(other) = self.mixed(&slots)
        {
            return self.fail_at(other, "the values of the array are of different types");
        }
        // go-toml v1 makes the same of it as of `[[header]]`s
        let tables = self.dialect == Dialect::GoTomlV1 && !slots.is_empty();
        let ids: Option<Vec<Id>> = slots
            .iter()
            .map(|slot| match slot {
                Slot::Table(id) if tables => Some(*id),
                _ => None,
            })
            .collect();
        self.place(match ids.filter(|_| tables) {
            Some(ids) => Slot::Tables(ids, span),
            None => Slot::Array(slots, span),
        });
    }

    fn inline_table_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) -> bool {
        if self.failed() {
            return false;
        }
        let depth = self.depth() + self.path.len();
        if depth > MAX_DEPTH {
            self.fail(too_deep(ours(span)));
            return false;
        }
        let table = self.tables.inline(ours(span), depth);
        let outer = std::mem::take(&mut self.path);
        self.frames.push(Frame::Inline { table, start: span.start(), outer, comma: None, newline: None });
        self.pending = false;
        true
    }

    fn inline_table_close(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if self.failed() {
            return;
        }
        let Some(Frame::Inline { table, start, outer, comma, .. }) = self.frames.pop() else { return };
        if let Some(comma) = comma {
            let error = SyntaxError::new(comma, "a comma can not end an inline table");
            match self.dialect {
                Dialect::BurntSushi => {}
                Dialect::GoTomlV1 => return self.fail(error),
                Dialect::GoTomlV2 => self.unsure.push(error),
            }
        }
        self.tables.set_span(table, Span::new(start, span.end()));
        self.path = outer;
        self.place(Slot::Table(table));
    }

    fn value_sep(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        let dialect = self.dialect;
        if let Some(Frame::Inline { comma, newline, .. }) = self.frames.last_mut() {
            *comma = Some(ours(span));
            if newline.is_some() && dialect == Dialect::GoTomlV1 {
                self.fail_at(ours(span), "a comma can not begin a line of an inline table");
            }
        }
    }

    fn comment(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if self.failed() || self.dialect != Dialect::GoTomlV2 {
            return;
        }
        let span = ours(span);
        if matches!(self.frames.last(), Some(Frame::Inline { .. })) {
            self.unsure.push(SyntaxError::new(span, "a comment inside an inline table"));
        }
        let control = |b: u8| b == 0x7f || b < 0x20 && b != b'\t';
        if let Some(at) = self.slice(span).bytes().position(control) {
            let span = Span::new(span.start + at, span.start + at + 1);
            self.fail_at(span, "the comment contains a control character");
        }
    }

    fn newline(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if self.failed() {
            return;
        }
        let span = ours(span);
        let lone = self.slice(span) == "\r";
        if lone && self.dialect == Dialect::GoTomlV2 {
            return self.fail_at(span, "the line ends with a carriage return alone");
        }
        let (dialect, pending) = (self.dialect, self.pending);
        if let Some(Frame::Inline { newline, comma, .. }) = self.frames.last_mut() {
            if comma.is_none() {
                *newline = Some(span);
            }
            let error =
                SyntaxError::new(Span::new(span.start, span.start), "a newline inside an inline table");
            match dialect {
                _ if pending => self.fail(SyntaxError::new(error.span, "the value is missing")),
                Dialect::BurntSushi => self.fail(error),
                Dialect::GoTomlV1 => {}
                Dialect::GoTomlV2 => self.unsure.push(error),
            }
        }
    }
}
