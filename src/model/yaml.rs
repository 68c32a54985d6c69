//! YAML with byte spans. The parser's marks count characters and its end mark of a quoted scalar
//! runs on over blanks and a comment; here every span is exactly what was written.

use crate::text::{Span, line_span, position};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// Deeper nesting is refused; no configuration has it.
const DEPTH: usize = 200;

/// How much is read again for lines that are joined, in bytes.
const REREAD: usize = 64 << 20;
/// How many maps that are merged in are looked at for one key; they may be merged into each other.
const MERGES: usize = 500;
/// How many nodes may stand below anchors, those below several counted for each.
const ANCHORED: usize = 200_000;

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub span: Span,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What was written: a scalar with its quotes, a collection from its first to its last byte.
    pub span: Span,
    pub item: Item,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The value; `plain` when it was written without quotes, so that its type is to be guessed.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Key and value in the order written.
    Map(Vec<(Node, Node)>),
    /// `*name`: the number of the anchor.
    Alias(usize),
}

/// The type of a scalar as Go's YAML 1.1 reader guesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    Null,
    Bool(bool),
    Number,
    Text(&'a str),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub root: Node,
    anchors: BTreeMap<usize, Node>,
}

impl Node {
    /// The scalar's value with its type; `None` for a collection.
    pub fn scalar(&self) -> Option<Scalar<'_>> {
        match &self.item {
            Item::Scalar { text, plain: true } => Some(guess(text)),
            Item::Scalar { text, plain: false } => Some(Scalar::Text(text)),
            _ => None,
        }
    }
}

impl Document {
    /// What an alias stands for; any other node is itself.
    pub fn resolve<'a>(&'a self, mut node: &'a Node) -> &'a Node {
        for _ in 0..DEPTH {
            match node.item {
                Item::Alias(id) => match self.anchors.get(&id) {
                    Some(target) => node = target,
                    None => return node,
                },
                _ => return node,
            }
        }
        node
    }

    /// The value of a key, of duplicates the last; what is merged in with `<<` counts last.
    pub fn get<'a>(&'a self, map: &'a Node, key: &str) -> Option<&'a Node> {
        self.get_within(map, key, &mut { MERGES })
    }

    fn get_within<'a>(&'a self, map: &'a Node, key: &str, left: &mut usize) -> Option<&'a Node> {
        let Item::Map(entries) = &self.resolve(map).item else { return None };
        let named = |name: &str| {
            entries
                .iter()
                .rev()
                .find(|(k, _)| matches!(&self.resolve(k).item, Item::Scalar { text, .. } if text == name))
        };
        if let Some((_, value)) = named(key) {
            return Some(value);
        }
        *left = left.checked_sub(1)?;
        let (_, merged) = named("<<")?;
        match &self.resolve(merged).item {
            Item::List(maps) => maps.iter().find_map(|map| self.get_within(map, key, left)),
            _ => self.get_within(merged, key, left),
        }
    }
}

/// Reads the first document; the rest of the text is not looked at. `None` for a text without any.
pub fn first_document(text: &str) -> Result<Option<Document>, SyntaxError> {
    let mut joined = None;
    // a large text is not read over and over
    for _ in 0..(REREAD / text.len().max(1)).clamp(1, DEPTH) {
        match read(joined.as_deref().unwrap_or(text)) {
            Err(error) => match join(joined.as_deref().unwrap_or(text), error.span.start) {
                Some(next) => joined = Some(next),
                // the place is the same in the text as it was written
                None => return Err(SyntaxError { span: rest_of_line(text, error.span.start), ..error }),
            },
            read => return read,
        }
    }
    read(text)
}

/// Go's reader takes a closing bracket in the first column, this parser does not: lays such a line
/// behind the one before it, without moving a byte.
fn join(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?.trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n')?;
    let commented = line.rsplit('\n').next().is_some_and(|last| last.contains('#'));
    if commented || !text[at..].starts_with([']', '}']) {
        return None;
    }
    let ends = if line.ends_with('\r') { line.len() - 1 } else { line.len() };
    Some(format!("{}{}{}", &text[..ends], " ".repeat(before.len() - ends), &text[before.len()..]))
}

fn read(text: &str) -> Result<Option<Document>, SyntaxError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let bytes = Bytes::new(body, text.len() - body.len());
    let mut parser = Parser::new_from_str(body);
    let mut builder = Builder { text, open: Vec::new(), anchors: BTreeMap::new(), anchored: 0, done: None };
    while let Some(event) = parser.next_event() {
        let (event, marks) = event.map_err(|e| {
            let at = bytes.at(e.marker().index());
            SyntaxError { span: rest_of_line(text, at), message: e.info().to_owned() }
        })?;
        let (start, end) = (bytes.at(marks.start.index()), bytes.at(marks.end.index()));
        match event {
            Event::DocumentEnd | Event::StreamEnd => break,
            event => builder.take(event, start, end)?,
        }
    }
    let Builder { done, anchors, .. } = builder;
    Ok(done.map(|root| Document { root, anchors }))
}

/// From a byte to the end of its line, never empty where there is a character.
fn rest_of_line(text: &str, at: usize) -> Span {
    let line = line_span(text, position(text, at).line);
    if at < line.end { Span::new(at, line.end) } else { line }
}

/// Offsets of characters in bytes.
struct Bytes {
    /// Empty for a text that is ASCII only.
    offsets: Vec<usize>,
    len: usize,
    skipped: usize,
}

impl Bytes {
    fn new(text: &str, skipped: usize) -> Bytes {
        let offsets =
            if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Bytes { offsets, len: text.len(), skipped }
    }

    fn at(&self, character: usize) -> usize {
        let offset = match self.offsets.is_empty() {
            true => character.min(self.len),
            false => self.offsets.get(character).copied().unwrap_or(self.len),
        };
        offset + self.skipped
    }
}

/// A collection that is not closed yet.
struct Open {
    start: usize,
    anchor: usize,
    is_map: bool,
    items: Vec<Node>,
}

struct Builder<'a> {
    text: &'a str,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    anchored: usize,
    done: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, start: usize, end: usize) -> Result<(), SyntaxError> {
        let is_map = matches!(event, Event::MappingStart(..));
        match event {
            Event::Alias(id) => self.add(Node { span: Span::new(start, end), item: Item::Alias(id) }, 0)?,
            Event::Scalar(value, style, anchor, tag) => {
                let named = anchor != 0 || tag.is_some();
                let start = if named { after_properties(self.text, start).min(end) } else { start };
                let span = self.scalar_span(style, start, end);
                let plain = style == ScalarStyle::Plain;
                self.add(Node { span, item: Item::Scalar { text: value.into_owned(), plain } }, anchor)?;
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor != 0 || tag.is_some() =>
            {
                self.begin(after_properties(self.text, start), anchor, is_map)?;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => self.begin(start, 0, is_map)?,
            Event::SequenceEnd | Event::MappingEnd => self.close(end)?,
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, start: usize, anchor: usize, is_map: bool) -> Result<(), SyntaxError> {
        if self.open.len() >= DEPTH {
            let span = rest_of_line(self.text, start);
            return Err(SyntaxError { span, message: "nested too deeply".into() });
        }
        self.open.push(Open { start, anchor, is_map, items: Vec::new() });
        Ok(())
    }

    fn close(&mut self, mark: usize) -> Result<(), SyntaxError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        // an end mark is that of the next token: a block ends with its last item, the rest is sought
        let last = open.items.last().map(|n| n.span.end);
        let end = match self.text.as_bytes().get(open.start) {
            Some(b'[') => flow_end(self.text, last.unwrap_or(open.start + 1), ']'),
            Some(b'{') => flow_end(self.text, last.unwrap_or(open.start + 1), '}'),
            _ => last,
        };
        let end = end.unwrap_or(mark);
        let mut items = open.items.into_iter();
        let item = if open.is_map {
            let mut entries = Vec::new();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                entries.push((key, value));
            }
            Item::Map(entries)
        } else {
            Item::List(items.collect())
        };
        self.add(Node { span: Span::new(open.start, end), item }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if anchor != 0 {
            self.anchored += size(&node);
            if self.anchored > ANCHORED {
                let span = rest_of_line(self.text, node.span.start);
                return Err(SyntaxError { span, message: "too much below anchors".into() });
            }
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.done = Some(node),
        }
        Ok(())
    }

    fn scalar_span(&self, style: ScalarStyle, start: usize, end: usize) -> Span {
        let written = self.text.get(start..).unwrap_or("");
        let length = match style {
            ScalarStyle::DoubleQuoted => double_quoted(written),
            ScalarStyle::SingleQuoted => single_quoted(written),
            _ => None,
        };
        match length {
            Some(length) => Span::new(start, start + length),
            None => {
                let end = end.clamp(start, self.text.len().max(start));
                let written = self.text.get(start..end).unwrap_or("");
                Span::new(start, start + written.trim_end().len())
            }
        }
    }
}

/// A node and all below it; nested no deeper than [`DEPTH`].
fn size(node: &Node) -> usize {
    1 + match &node.item {
        Item::List(items) => items.iter().map(size).sum(),
        Item::Map(entries) => entries.iter().map(|(k, v)| size(k) + size(v)).sum(),
        Item::Scalar { .. } | Item::Alias(_) => 0,
    }
}

/// Behind `&anchor` and `!tag`, and the white space and comments that follow them.
fn after_properties(text: &str, start: usize) -> usize {
    let mut rest = text.get(start..).unwrap_or("");
    while rest.starts_with(['&', '!']) {
        rest = rest.find(char::is_whitespace).map_or("", |end| rest[end..].trim_start());
        while rest.starts_with('#') {
            rest = rest.find('\n').map_or("", |end| rest[end..].trim_start());
        }
    }
    text.len() - rest.len()
}

/// Where a collection in brackets ends, sought from the end of its last item.
fn flow_end(text: &str, from: usize, bracket: char) -> Option<usize> {
    let mut comment = false;
    let after = text.get(from..)?;
    let at = after.char_indices().find(|(_, c)| {
        comment = (comment || *c == '#') && *c != '\n';
        !comment && *c == bracket
    });
    at.map(|(at, c)| from + at + c.len_utf8())
}

/// Length of a scalar in double quotes.
fn double_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    let inside = text.strip_prefix('"')?;
    let end = inside.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })?;
    Some(end + 2)
}

/// Length of a scalar in single quotes; two of them stand for one.
fn single_quoted(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?.as_bytes();
    let mut at = 0;
    while at < inside.len() {
        match (inside[at], inside.get(at + 1)) {
            (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return Some(at + 2),
            _ => at += 1,
        }
    }
    None
}

fn guess(text: &str) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Scalar::Bool(false)
        }
        _ => {
            let digits = text.replace('_', "");
            let unsigned = digits.trim_start_matches(['+', '-']);
            let based = ["0x", "0o", "0b"]
                .iter()
                .any(|base| unsigned.strip_prefix(base).is_some_and(|n| i128::from_str_radix(n, 16).is_ok()));
            let special = [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&unsigned);
            let starts = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            if special || based || (starts && digits.parse::<f64>().is_ok()) {
                Scalar::Number
            } else {
                Scalar::Text(text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, key: &str) -> String {
        let document = first_document(text).unwrap().unwrap();
        let node = document.get(&document.root, key).unwrap();
        text[node.span.start..node.span.end].to_owned()
    }

    #[test]
    fn spans_are_bytes_and_end_with_the_value() {
        assert_eq!(at("# é ü\nd: \"systemd\" # why\n", "d"), "\"systemd\"");
        assert_eq!(at("d: 'it''s' # why\nx: 1\n", "d"), "'it''s'");
        assert_eq!(at("# ☃\r\nd: systemd   # why\r\n", "d"), "systemd");
        assert_eq!(at("{\"é\": 1,\t\"d\" : \"a\\\"b\" }", "d"), "\"a\\\"b\"");
        assert_eq!(at("\u{feff}d: x\n", "d"), "x");
        assert_eq!(at("d: [a, é] # c\n", "d"), "[a, é]");
        assert_eq!(at("d:\n  - a\n  - b # c\nx: 1\n", "d"), "- a\n  - b");
        assert_eq!(at("d: &a !!str systemd\n", "d"), "systemd");
        assert_eq!(at("d: &a # why\n  'x'  # c\n", "d"), "'x'");
        assert_eq!(at("d: &a\n  x: 1 # c\ne: 2\n", "d"), "x: 1");
        assert_eq!(at("d: !!map { x: 1, y: } # }\n", "d"), "{ x: 1, y: }");
        assert_eq!(at("d: [ # ]\n ] # c\n", "d"), "[ # ]\n ]");
        assert_eq!(at("d: &a\n", "d"), "");
        assert_eq!(at("d: [\r\n  é,\r\n] # c\r\nx: 1\r\n", "d"), "[\r\n  é,\r\n]");
    }

    #[test]
    fn the_first_document_counts_and_the_last_duplicate() {
        assert_eq!(at("---\nd: a\nd: b\n---\nd: [", "d"), "b");
        assert_eq!(first_document("").unwrap(), None);
        assert_eq!(first_document("# nothing\n").unwrap(), None);
        assert_eq!(at("base: &b {d: far}\n<<: *b\n", "d"), "far");
        assert_eq!(at("base: &b {d: far}\nd: near\n<<: *b\n", "d"), "near");
    }

    #[test]
    fn an_error_has_a_place() {
        let text = "# é\na: b\nc: \"d\n";
        let error = first_document(text).unwrap_err();
        assert_eq!(position(text, error.span.start).line, 3, "{error:?}");
        assert!(first_document(&"[".repeat(100_000)).is_err());
        assert!(first_document("a: &a [*a]\n").is_ok());
    }

    #[test]
    fn types_are_those_of_yaml_1_1() {
        for (text, scalar) in [
            ("systemd", Scalar::Text("systemd")),
            ("yes", Scalar::Bool(true)),
            ("Off", Scalar::Bool(false)),
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("0x1F", Scalar::Number),
            ("1_000", Scalar::Number),
            ("-1.5e3", Scalar::Number),
            (".inf", Scalar::Number),
            ("infinity", Scalar::Text("infinity")),
            ("1.2.3", Scalar::Text("1.2.3")),
        ] {
            assert_eq!(guess(text), scalar, "{text}");
        }
    }
}
