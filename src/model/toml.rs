//! TOML as three Go libraries read it: BurntSushi/toml (containerd 1.4), pelletier/go-toml v1
//! (1.5 to 1.7) and v2 (2.0 on). They accept different texts; what one merges another refuses.
//! The document keeps the span of every key and value.

mod events;
mod plain;
mod report;
mod scalar;
mod strings;
mod tables;
mod time;
mod v1;

use crate::text::Span;

pub use plain::read as plain;

/// Which library reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// containerd 1.4
    BurntSushi,
    /// containerd 1.5 to 1.7
    GoTomlV1,
    /// containerd 2.0 and later
    GoTomlV2,
}

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub span: Span,
    pub message: String,
}

impl SyntaxError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        SyntaxError { span, message: message.into() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub name: String,
    /// The key alone, as written: with its quotes.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value; for a table written with headers, the (first) header's inside: `plugins.cri` of `[plugins.cri]`.
    /// A table that only a longer header or key implies has the span of its key there.
    pub span: Span,
    pub item: Item,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Date and time values, as written.
    Time(String),
    Array(Vec<Node>),
    Table(Table),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// In the order written.
    pub entries: Vec<(Key, Node)>,
    /// Whether a header `[…]` names it (not merely implied by a longer one, not inline, not dotted).
    pub header: Option<Span>,
}

impl Table {
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries.iter().find(|(k, _)| k.name == name).map(|(_, n)| n)
    }
}

/// A text that was accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub root: Table,
    /// What only some builds of the library accept, in the order written: go-toml v2 took up the
    /// syntax of TOML 1.1 (a newline or a trailing comma inside `{ }`, `\x41`, times without
    /// seconds) in a later version, and distributions link containerd with a version of their own.
    /// A build with the older version refuses the text at the first of these.
    pub unsure: Vec<SyntaxError>,
}

/// Parses a whole text as one library does. On an error nothing of the text counts.
/// What depends on the build of the library is accepted: see [`parse_document`].
///
/// `invalid_utf8` is the offset of the first byte that was not UTF-8 and was replaced by U+FFFD.
pub fn parse(text: &str, dialect: Dialect, invalid_utf8: Option<usize>) -> Result<Table, SyntaxError> {
    parse_document(text, dialect, invalid_utf8).map(|document| document.root)
}

/// Like [`parse`], and says what only some builds of the library accept.
pub fn parse_document(
    text: &str,
    dialect: Dialect,
    invalid_utf8: Option<usize>,
) -> Result<Document, SyntaxError> {
    let forbidden = forbidden_character(text, dialect, invalid_utf8);
    match (events::read(text, dialect), forbidden) {
        (Ok(_), Some(error)) => Err(error),
        (Err(first), Some(error)) if error.span.start <= first.span.start => Err(error),
        (result, _) => result,
    }
}

/// The first character that the library refuses wherever it stands.
fn forbidden_character(text: &str, dialect: Dialect, invalid_utf8: Option<usize>) -> Option<SyntaxError> {
    let at = |start: usize| {
        let start = (0..=start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let len = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(start, start + len)
    };
    let bom = (dialect != Dialect::GoTomlV1 && text.starts_with('\u{feff}'))
        .then(|| SyntaxError::new(at(0), "the text begins with a byte order mark"));
    bom.or_else(|| match dialect {
        Dialect::GoTomlV2 => invalid_utf8.map(|start| SyntaxError::new(at(start), "the text is not UTF-8")),
        Dialect::BurntSushi => {
            text.find('\0').map(|start| SyntaxError::new(at(start), "a NUL byte ends the text"))
        }
        Dialect::GoTomlV1 => None,
    })
}
