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

/// What is wrong with a value. The libraries report nearly all of it at the value's beginning.
pub(super) type Fault = String;

/// Reads a value that is not quoted. `text` runs up to the next comma, bracket, comment or line end.
/// The second value says what only newer builds of the library accept.
pub(super) fn decode(
    text: &str,
    span: Span,
    dialect: Dialect,
) -> Result<(Item, Option<SyntaxError>), SyntaxError> {
    let part = |from: usize, to: usize, message| {
        SyntaxError::new(Span::new(span.start + from, span.start + to), message)
    };
    let word = |from: usize| text[from..].find([' ', '\t']).map_or(text.len(), |len| from + len);
    let Found { value, len, unsure } = read(text, dialect).map_err(|message| part(0, word(0), message))?;
    let rest = text.len() - text[len..].trim_start_matches([' ', '\t']).len();
    if rest < text.len() {
        return Err(part(rest, word(rest), "unexpected text after the value".to_owned()));
    }
    Ok((value, unsure.map(|message| part(0, len, message))))
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
    format!("`{}` is not a value{hint}", word.escape_debug())
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
                Some(b) if b.is_ascii_alphabetic() && dialect == Dialect::GoTomlV1 => {
                    return Err("0 can not be followed by a letter".into());
                }
                _ => {}
            }
        }
    }
    if !bytes.get(signed).is_some_and(u8::is_ascii_digit) {
        return Err(match bytes.get(signed) {
            Some(b'.') => "a number must begin with a digit, not with a point".into(),
            _ if signed == 1 => "a digit must follow the sign".into(),
            _ => not_a_value(text),
        });
    }
    let len = extent(bytes, signed);
    let written = &text[..len];
    let float = written[signed..].contains(['.', 'e', 'E']);
    if bad_underscore(written, dialect) {
        return Err("an underscore may only stand between digits".into());
    }
    check_point(written)?;
    leading_zero(&written[signed..], float, dialect, signed == 1)?;
    let digits = written.replace('_', "");
    let value = if float {
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Item::Float(value),
            Ok(_) => return Err(format!("`{written}` is too large for a number of 64 bits")),
            Err(_) => return Err(format!("`{written}` is not a number")),
        }
    } else {
        match digits.parse::<i64>() {
            Ok(value) => Item::Int(value),
            Err(_) if digits[signed..].bytes().all(|b| b.is_ascii_digit()) => {
                return Err(format!("`{written}` is too large for an integer of 64 bits"));
            }
            Err(_) => return Err(format!("`{written}` is not a number")),
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

/// Whether an underscore stands where the library refuses it.
fn bad_underscore(written: &str, dialect: Dialect) -> bool {
    let bytes = written.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).any(|at| {
        let before = digit(at.checked_sub(1));
        let after = match dialect {
            // looks only for what stands before, and at the end
            Dialect::GoTomlV1 => at + 1 < bytes.len(),
            _ => digit(Some(at + 1)),
        };
        bytes[at] == b'_' && !(before && after)
    })
}

fn check_point(written: &str) -> Result<(), Fault> {
    let Some(point) = written.find('.') else { return Ok(()) };
    if !written.as_bytes().get(point + 1).is_some_and(u8::is_ascii_digit) {
        return Err("a digit must follow the point".into());
    }
    match written[point + 1..].find('.') {
        Some(_) => Err("a number has one point at most".into()),
        None => Ok(()),
    }
}

/// BurntSushi/toml of that age allows leading zeros, go-toml v1 some, v2 none.
fn leading_zero(unsigned: &str, float: bool, dialect: Dialect, signed: bool) -> Result<(), Fault> {
    let bytes = unsigned.as_bytes();
    let zero = bytes.first() == Some(&b'0') && bytes.get(1).is_some_and(|b| b.is_ascii_digit() || *b == b'_');
    let refused = match dialect {
        Dialect::BurntSushi => false,
        Dialect::GoTomlV1 => !float && !signed && bytes.iter().filter(|b| **b != b'_').count() > 2,
        Dialect::GoTomlV2 => true,
    };
    if zero && refused { Err("a number must not begin with 0".into()) } else { Ok(()) }
}

fn radix(text: &str, radix: u32, digit: fn(&u8) -> bool) -> Result<Found<Item>, Fault> {
    let digits: String =
        text[2..].chars().take_while(|c| *c == '_' || u8::try_from(*c).is_ok_and(|b| digit(&b))).collect();
    let len = 2 + digits.len();
    if digits.is_empty() {
        return Err("a digit must follow the base".into());
    }
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Err("an underscore may only stand between digits".into());
    }
    match i64::from_str_radix(&digits.replace('_', ""), radix) {
        Ok(value) => Ok(Found { value: Item::Int(value), len, unsure: None }),
        Err(_) => Err(format!("`{}` is too large for an integer of 64 bits", &text[..len])),
    }
}
