//! Strings in their four writings, as each library decodes them.

use toml_parser::decoder::Encoding;

use super::{Dialect, SyntaxError};
use crate::text::Span;

/// A decoded string, and the span of what only newer builds of the library accept.
pub(super) struct Text {
    pub(super) value: String,
    pub(super) unsure: Option<SyntaxError>,
}

/// Where in the token something is wrong, as byte offsets, and what.
type Fault = (usize, usize, String);

/// Decodes the token at `span`, with its quotes.
pub(super) fn decode(
    token: &str,
    encoding: Encoding,
    span: Span,
    dialect: Dialect,
) -> Result<Text, SyntaxError> {
    let (delimiter, multiline) = match encoding {
        Encoding::BasicString => ("\"", false),
        Encoding::LiteralString => ("'", false),
        Encoding::MlBasicString => ("\"\"\"", true),
        Encoding::MlLiteralString => ("'''", true),
    };
    let escapes = delimiter.starts_with('"');
    let size = delimiter.len();
    let at = |start: usize, end: usize| Span::new(span.start + start, span.start + end);
    let end = token.len();
    let closed = end
        .checked_sub(size)
        .filter(|close| *close >= size && token.ends_with(delimiter) && !(escapes && escaped(token, *close)));
    let Some(close) = closed else {
        let start = if dialect == Dialect::GoTomlV1 { size.min(end) } else { end };
        let message =
            if multiline { "the string is not closed" } else { "the string is not closed on its line" };
        return Err(SyntaxError::new(at(start, end), message));
    };
    let body = &token[size..close];
    let fourth = multiline && body.ends_with(&delimiter[..1]) && !(escapes && escaped(token, close - 1));
    if fourth && dialect != Dialect::GoTomlV2 {
        // these end at the first three quotes, so a fourth one is text after the value
        return Err(SyntaxError::new(at(end - 1, end), "more than three quotes end the string"));
    }
    let skipped = match dialect {
        _ if !multiline => 0,
        Dialect::GoTomlV1 | Dialect::GoTomlV2 if body.starts_with("\r\n") => 2,
        _ => usize::from(body.starts_with('\n')),
    };
    let (offset, body) = (size + skipped, &body[skipped..]);
    // go-toml v1 reports every fault of a string at its first character
    let faulty = |fault: Fault| {
        let start = if dialect == Dialect::GoTomlV1 { offset } else { fault.0 };
        SyntaxError::new(at(start, fault.1), fault.2)
    };
    let mut decoder = Decoder { dialect, multiline, escapes, out: String::new(), unsure: None };
    let read = if escapes { decoder.basic(body, offset) } else { decoder.plain(body, offset) };
    read.map_err(faulty)?;
    Ok(Text { value: decoder.out, unsure: decoder.unsure.map(faulty) })
}

/// Whether the character at `at` has a backslash before it that is not itself escaped.
fn escaped(token: &str, at: usize) -> bool {
    token.as_bytes()[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

struct Decoder {
    dialect: Dialect,
    multiline: bool,
    /// Whether the string is a basic one.
    escapes: bool,
    out: String,
    unsure: Option<Fault>,
}

impl Decoder {
    /// Text without escapes: checks its characters.
    fn plain(&mut self, text: &str, offset: usize) -> Result<(), Fault> {
        let bytes = text.as_bytes();
        let bad = bytes.iter().enumerate().find(|(i, b)| match (**b, self.dialect) {
            (b'\t' | b'\n', _) => false,
            (b'\r', Dialect::GoTomlV2) => !(self.multiline && bytes.get(i + 1) == Some(&b'\n')),
            (b'\r', Dialect::BurntSushi) => !self.multiline,
            (b'\r', Dialect::GoTomlV1) => self.escapes && !self.multiline,
            (b, Dialect::GoTomlV1) => self.escapes && b < 0x20,
            (b, Dialect::GoTomlV2) => b < 0x20 || b == 0x7f,
            (_, Dialect::BurntSushi) => false,
        });
        if let Some((i, b)) = bad {
            return Err((
                offset + i,
                offset + i + 1,
                format!("the string contains the control character U+{b:04X}"),
            ));
        }
        self.out.push_str(text);
        Ok(())
    }

    fn basic(&mut self, body: &str, offset: usize) -> Result<(), Fault> {
        let mut rest = body;
        while let Some(backslash) = rest.find('\\') {
            let at = offset + body.len() - rest.len();
            self.plain(&rest[..backslash], at)?;
            rest = &rest[backslash + 1..];
            let used = self.escape(rest, at + backslash + 1)?;
            rest = &rest[used..];
        }
        self.plain(rest, offset + body.len() - rest.len())
    }

    /// Decodes what follows a backslash and says how long it is.
    fn escape(&mut self, rest: &str, at: usize) -> Result<usize, Fault> {
        let Some(c) = rest.chars().next() else {
            return Err((at, at, "nothing follows the backslash".into()));
        };
        let v1 = self.dialect == Dialect::GoTomlV1;
        let v2 = self.dialect == Dialect::GoTomlV2;
        let simple = match c {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            '"' | '\\' => c,
            '/' if v1 => '/',
            'e' if v2 => '\u{1b}',
            'u' => return self.code_point(rest, 4, at),
            'U' => return self.code_point(rest, 8, at),
            'x' if v2 => {
                let message = "`\\x` is new in TOML 1.1".to_owned();
                self.unsure.get_or_insert((at, at + 1, message));
                return self.code_point(rest, 2, at);
            }
            _ => match self.continuation(rest) {
                Some(used) => return Ok(used),
                None => {
                    return Err((
                        at,
                        at + c.len_utf8(),
                        format!("`\\{}` is not an escape", c.escape_debug()),
                    ));
                }
            },
        };
        self.out.push(simple);
        Ok(1)
    }

    /// A backslash that swallows the white space after it: its length, if it is one.
    fn continuation(&self, rest: &str) -> Option<usize> {
        let space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
        let swallowed = rest.len() - rest.trim_start_matches(space).len();
        match self.dialect {
            Dialect::GoTomlV1 => (swallowed > 0).then_some(swallowed),
            Dialect::GoTomlV2 => {
                let line = rest.trim_start_matches([' ', '\t']);
                let newline = line.starts_with('\n') || line.starts_with("\r\n");
                (self.multiline && newline).then_some(swallowed)
            }
            Dialect::BurntSushi => (self.multiline && rest.starts_with('\n'))
                .then(|| rest.len() - rest.trim_start_matches(char::is_whitespace).len()),
        }
    }

    fn code_point(&mut self, rest: &str, digits: usize, at: usize) -> Result<usize, Fault> {
        let hex = rest.get(1..=digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let letter = &rest[..1];
        let Some(hex) = hex else {
            return Err((at, at + 1, format!("`\\{letter}` needs {digits} hexadecimal digits")));
        };
        let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        match (c, self.dialect) {
            (Some(c), _) => self.out.push(c),
            (None, Dialect::GoTomlV1) => self.out.push('\u{fffd}'),
            (None, _) => {
                return Err((
                    at + 1,
                    at + 1 + digits,
                    format!("`\\{letter}{hex}` is not a Unicode character"),
                ));
            }
        }
        Ok(1 + digits)
    }
}
