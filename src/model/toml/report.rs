//! What the parser finds wrong, in our words and at the place where each library reports it.

use toml_parser::ParseError;

use super::{Dialect, SyntaxError};
use crate::text::Span;

/// An error of the parser in our words, at the place where the library would report it.
pub(super) fn translate(text: &str, dialect: Dialect, error: &ParseError) -> SyntaxError {
    let span = error.unexpected().or(error.context()).unwrap_or_default();
    let at = span.start().min(text.len());
    let next = text[at..].chars().next();
    let shown = match next {
        None => "the end of the text".to_owned(),
        Some('\n' | '\r') => "the end of the line".to_owned(),
        Some(c) => format!("`{}`", c.escape_debug()),
    };
    let message = match error.description() {
        "key with no value" | "missing value for key" => format!("expected `=` after the key, found {shown}"),
        "unclosed table" | "invalid table" => format!("expected `]` to end the table's name, found {shown}"),
        "unclosed array table" => {
            format!("expected `]]` to end the name of the array of tables, found {shown}")
        }
        "unclosed array" => "the array is not closed".to_owned(),
        "unclosed inline table" => "the inline table is not closed".to_owned(),
        "missing comma between array elements" | "missing comma between key-value pairs" => {
            format!("expected a comma, found {shown}")
        }
        "extra comma in array" | "extra comma in inline table" => {
            "there is nothing before this comma".to_owned()
        }
        "missing assignment between key-value pairs" => format!("expected `=` after the key, found {shown}"),
        "extra `=`" | "extra assignment between key-value pairs" | "unexpected `=` in array" => {
            "there is one `=` too many".to_owned()
        }
        "unexpected key or value" => format!("unexpected {shown} after the value"),
        "invalid key-value pair" | "missing key for inline table element" => {
            format!("a key can not begin with {shown}")
        }
        _ => format!("unexpected {shown}"),
    };
    let at = report_at(text, dialect, error, at);
    let len = text[at..].chars().next().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
    SyntaxError::new(Span::new(at, at + len), message)
}

/// Where the library reports the error that the parser found at `at`.
fn report_at(text: &str, dialect: Dialect, error: &ParseError, at: usize) -> usize {
    let context = error.context().map_or(at, |context| context.start()).min(at);
    let before = &text[..at];
    match (error.description(), dialect) {
        // at the beginning of the table's name
        ("unclosed table" | "invalid table" | "unclosed array table", Dialect::GoTomlV1) => {
            let name = text[context..at].trim_start_matches('[');
            at - name.len()
        }
        ("unclosed table" | "unclosed array table", _) => {
            let rest = &text[at..];
            at + rest.len() - rest.trim_start_matches([' ', '\t']).len()
        }
        // at the beginning of the key, unless white space ended it
        ("key with no value" | "missing value for key", Dialect::GoTomlV1)
            if !before.ends_with([' ', '\t']) =>
        {
            let line = before.rfind(['\n', '\r']).map_or(0, |i| i + 1);
            at - before[line..].trim_start_matches([' ', '\t']).len()
        }
        ("unclosed array", Dialect::GoTomlV2) => context,
        ("unclosed array" | "unclosed inline table", Dialect::GoTomlV1) => text.len(),
        _ => at,
    }
}
