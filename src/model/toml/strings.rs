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
    let mut decoder = Decoder { dialect, multiline, out: String::new(), unsure: None };
    let mut faulty = |fault: Fault| {
        // go-toml v1 reports every fault of a string at its first character
        let (start, end) = match dialect {
            Dialect::GoTomlV1 => (size.min(token.len()), size.min(token.len())),
            _ => (fault.0, fault.1),
        };
        SyntaxError::new(Span::new(span.start + start, span.start + end), fault.2)
    };
    let end = token.len();
    let body_end = end
        .checked_sub(size)
        .filter(|e| *e >= size && token.ends_with(delimiter) && !escaped(token, *e, escapes));
    let Some(body_end) = body_end else {
        let message =
            if multiline { "the string is not closed" } else { "the string is not closed on its line" };
        return Err(faulty((end, end, message.into())));
    };
    let body = &token[size..body_end];
    if multiline && dialect != Dialect::GoTomlV2 {
        // these end at the first three quotes, so a fourth one is text after the value
        if let Some(quote) =
            (delimiter.starts_with('\'') && body.ends_with('\'')).then_some(body_end).or_else(|| {
                (escapes && body.ends_with('"') && !escaped(token, body_end - 1, true)).then_some(body_end)
            })
        {
            let end = span.start + quote + size;
            return Err(SyntaxError::new(Span::new(end - 1, end), "more than three quotes end the string"));
        }
    }
    let mut offset = size;
    let mut body = body;
    if multiline {
        let skipped = match dialect {
            Dialect::BurntSushi => usize::from(body.starts_with('\n')),
            _ if body.starts_with("\r\n") => 2,
            _ => usize::from(body.starts_with('\n')),
        };
        body = &body[skipped..];
        offset += skipped;
    }
    let fault = if escapes { decoder.basic(body, offset) } else { decoder.literal(body, offset) };
    match fault {
        Err(fault) => Err(faulty(fault)),
        Ok(()) => {
            let unsure = decoder.unsure.take().map(&mut faulty);
            Ok(Text { value: decoder.out, unsure })
        }
    }
}

/// Whether the character at `at` has a backslash before it that is not itself escaped.
fn escaped(token: &str, at: usize, escapes: bool) -> bool {
    escapes && token.as_bytes()[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

struct Decoder {
    dialect: Dialect,
    multiline: bool,
    out: String,
    unsure: Option<Fault>,
}

impl Decoder {
    fn literal(&mut self, body: &str, offset: usize) -> Result<(), Fault> {
        self.plain(body, offset)
    }

    /// Text without escapes: checks its characters.
    fn plain(&mut self, text: &str, offset: usize) -> Result<(), Fault> {
        let bytes = text.as_bytes();
        let bad = bytes.iter().enumerate().find(|(i, b)| match **b {
            b'\t' => false,
            b'\n' => false,
            b'\r' => {
                self.dialect == Dialect::GoTomlV2 && !(self.multiline && bytes.get(i + 1) == Some(&b'\n'))
                    || self.dialect == Dialect::BurntSushi && !self.multiline
            }
            0x7f => self.dialect == Dialect::GoTomlV2,
            b => b < 0x20 && self.dialect != Dialect::BurntSushi,
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
                    return Err((at, at + c.len_utf8(), format!("`\\{}` is not an escape", c.escape_debug())));
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
                return Err((at, at + 1 + digits, format!("`\\{letter}{hex}` is not a Unicode character")));
            }
        }
        Ok(1 + digits)
    }
}
