//! Booleans, numbers and dates, as each library reads them.

use super::{Dialect, Item, SyntaxError, time};
use crate::text::Span;

/// What was read at the start of a text, and how many bytes of it.
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) len: usize,
    /// What only newer builds of the library accept.
    pub(super) unsure: Option<Fault>,
}

/// An offset in the text and what is wrong there.
pub(super) type Fault = (usize, String);

pub(super) fn fault(at: usize, message: &str) -> Fault {
    (at, message.to_owned())
}

/// Reads a value that is not quoted. `text` runs up to the next comma, bracket, comment or line end.
/// The second value says what only newer builds of the library accept.
pub(super) fn decode(
    text: &str,
    span: Span,
    dialect: Dialect,
) -> Result<(Item, Option<SyntaxError>), SyntaxError> {
    let error = |(at, message): Fault| {
        let start = span.start + at.min(text.len());
        let len = text.get(at..).map_or(0, |rest| rest.split([' ', '\t']).next().unwrap_or("").len());
        SyntaxError::new(Span::new(start, start + len), message)
    };
    let Found { value, len, unsure } = read(text, dialect).map_err(error)?;
    let rest = text[len..].trim_start_matches([' ', '\t']);
    if !rest.is_empty() {
        return Err(error((text.len() - rest.len(), "unexpected text after the value".into())));
    }
    Ok((value, unsure.map(error)))
}

fn read(text: &str, dialect: Dialect) -> Result<Found<Item>, Fault> {
    if dialect == Dialect::BurntSushi {
        let len = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        if len > 0 && !matches!(&text[..len], "true" | "false") {
            return Err(not_a_value(text));
        }
    }
    for (word, value) in [("true", true), ("false", false)] {
        if text.starts_with(word) {
            return Ok(Found { value: Item::Bool(value), len: word.len(), unsure: None });
        }
    }
    if is_time(text, dialect) {
        let found = time::read(text, dialect)?;
        let value = Item::Time(text[..found.len].to_owned());
        return Ok(Found { value, len: found.len, unsure: found.unsure });
    }
    number(text, dialect)
}

fn not_a_value(text: &str) -> Fault {
    let word = text.split([' ', '\t', '.']).next().unwrap_or("");
    let hint = match word.to_ascii_lowercase().as_str() {
        "true" | "false" => ", which must be written in lower case",
        "yes" | "on" => "; write `true`",
        "no" | "off" => "; write `false`",
        _ => "; a text must be quoted",
    };
    (0, format!("`{}` is not a value{hint}", word.escape_debug()))
}

/// Whether the text begins like a date or a time.
fn is_time(text: &str, dialect: Dialect) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    match bytes.get(digits) {
        Some(b'-') if dialect == Dialect::BurntSushi => digits > 0,
        Some(b'-') => digits == 4,
        Some(b':') => digits == 2 && dialect != Dialect::BurntSushi,
        _ => false,
    }
}

fn number(text: &str, dialect: Dialect) -> Result<Found<Item>, Fault> {
    let bytes = text.as_bytes();
    let signed = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let negative = bytes.first() == Some(&b'-');
    if dialect != Dialect::BurntSushi {
        for (word, value) in [("inf", f64::INFINITY), ("nan", f64::NAN)] {
            if text[signed..].starts_with(word) {
                let value = Item::Float(if negative { -value } else { value });
                return Ok(Found { value, len: signed + word.len(), unsure: None });
            }
        }
        if signed == 0 && bytes.first() == Some(&b'0') {
            match bytes.get(1) {
                Some(b'x') => return radix(text, 16, u8::is_ascii_hexdigit),
                Some(b'o') => return radix(text, 8, |b| matches!(b, b'0'..=b'7')),
                Some(b'b') => return radix(text, 2, |b| matches!(b, b'0' | b'1')),
                _ => {}
            }
        }
    }
    if !bytes.get(signed).is_some_and(u8::is_ascii_digit) {
        return Err(match bytes.get(signed) {
            Some(b'.') => fault(0, "a number must begin with a digit, not with a point"),
            _ if signed == 1 => fault(0, "a digit must follow the sign"),
            _ => not_a_value(text),
        });
    }
    let len = extent(bytes, signed);
    let written = &text[..len];
    let float = written[signed..].contains(['.', 'e', 'E']);
    if let Some(at) = bad_underscore(written, dialect) {
        return Err(fault(at, "an underscore may only stand between digits"));
    }
    check_point(written)?;
    leading_zero(&written[signed..], float, dialect, signed)?;
    let digits = written.replace('_', "");
    let value = if float {
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Item::Float(value),
            Ok(_) => return Err((0, format!("`{written}` is too large for a number of 64 bits"))),
            Err(_) => return Err((0, format!("`{written}` is not a number"))),
        }
    } else {
        match digits.parse::<i64>() {
            Ok(value) => Item::Int(value),
            Err(_) if digits[signed..].bytes().all(|b| b.is_ascii_digit()) => {
                return Err((0, format!("`{written}` is too large for an integer of 64 bits")));
            }
            Err(_) => return Err((0, format!("`{written}` is not a number"))),
        }
    };
    Ok(Found { value, len, unsure: None })
}

/// How far the number reaches: digits, underscores, and in a float points, exponents and their signs.
fn extent(bytes: &[u8], signed: usize) -> usize {
    let mut len = signed;
    while let Some(b) = bytes.get(len) {
        let sign = matches!(b, b'+' | b'-') && matches!(bytes[len - 1], b'e' | b'E');
        if !(b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'e' | b'E') || sign) {
            break;
        }
        len += 1;
    }
    len
}

/// The offset of an underscore that the library refuses.
fn bad_underscore(written: &str, dialect: Dialect) -> Option<usize> {
    let bytes = written.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).find(|at| {
        let before = digit(at.checked_sub(1));
        let after = match dialect {
            // looks only for what stands before, and at the end
            Dialect::GoTomlV1 => at + 1 < bytes.len(),
            _ => digit(Some(at + 1)),
        };
        bytes[*at] == b'_' && !(before && after)
    })
}

fn check_point(written: &str) -> Result<(), Fault> {
    let Some(point) = written.find('.') else { return Ok(()) };
    if !written.as_bytes().get(point + 1).is_some_and(u8::is_ascii_digit) {
        return Err(fault(point, "a digit must follow the point"));
    }
    match written[point + 1..].find('.') {
        Some(second) => Err(fault(point + 1 + second, "a number has one point at most")),
        None => Ok(()),
    }
}

/// BurntSushi/toml of that age allows leading zeros, go-toml v1 some, v2 none.
fn leading_zero(unsigned: &str, float: bool, dialect: Dialect, signed: usize) -> Result<(), Fault> {
    let bytes = unsigned.as_bytes();
    let zero = bytes.first() == Some(&b'0') && bytes.get(1).is_some_and(|b| b.is_ascii_digit() || *b == b'_');
    let refused = match dialect {
        Dialect::BurntSushi => false,
        Dialect::GoTomlV1 => !float && signed == 0 && bytes.iter().filter(|b| **b != b'_').count() > 2,
        Dialect::GoTomlV2 => true,
    };
    if zero && refused { Err(fault(signed, "a number must not begin with 0")) } else { Ok(()) }
}

fn radix(text: &str, radix: u32, digit: fn(&u8) -> bool) -> Result<Found<Item>, Fault> {
    let digits: String =
        text[2..].chars().take_while(|c| *c == '_' || u8::try_from(*c).is_ok_and(|b| digit(&b))).collect();
    let len = 2 + digits.len();
    if digits.is_empty() {
        return Err(fault(0, "a digit must follow the base"));
    }
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Err(fault(2, "an underscore may only stand between digits"));
    }
    match i64::from_str_radix(&digits.replace('_', ""), radix) {
        Ok(value) => Ok(Found { value: Item::Int(value), len, unsure: None }),
        Err(_) => Err((0, format!("`{}` is too large for an integer of 64 bits", &text[..len]))),
    }
}
