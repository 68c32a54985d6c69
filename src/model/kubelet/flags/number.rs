//! Go's numbers, booleans and durations.

use super::quote::quoted;
use crate::model::kubelet::duration;

/// strconv.ParseBool.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", quoted(text))),
    }
}

/// strconv.ParseInt of so many bits; base 0 takes `0x`, `0o`, `0b`, `0` before octals, and
/// underscores between digits.
pub(super) fn int(text: &str, base: u32, bits: u32) -> Result<i64, String> {
    let error = |what: &str| format!("strconv.ParseInt: parsing {}: {what}", quoted(text));
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let amount = magnitude(digits, base).map_err(|e| error(e.says()))?;
    let amount = if text.starts_with('-') { -amount } else { amount };
    let limit = 1i128 << (bits - 1);
    let fits = (-limit..limit).contains(&amount);
    i64::try_from(amount).ok().filter(|_| fits).ok_or_else(|| error(Fault::Range.says()))
}

/// strconv.ParseUint of so many bits, in base 10.
pub(super) fn uint(text: &str, bits: u32) -> Result<i64, String> {
    let error = |what: &str| format!("strconv.ParseUint: parsing {}: {what}", quoted(text));
    let amount = magnitude(text, 10).map_err(|e| error(e.says()))?;
    let fits = amount < 1i128 << bits;
    i64::try_from(amount).ok().filter(|_| fits).ok_or_else(|| error(Fault::Range.says()))
}

pub(super) enum Fault {
    Syntax,
    Range,
}

impl Fault {
    fn says(&self) -> &'static str {
        match self {
            Fault::Syntax => "invalid syntax",
            Fault::Range => "value out of range",
        }
    }
}

/// Digits without a sign; more than 64 bits are out of range.
fn magnitude(digits: &str, base: u32) -> Result<i128, Fault> {
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = match (base, lower.as_bytes()) {
        (0, [b'0', b'x', ..]) => (16, &lower[2..]),
        (0, [b'0', b'o', ..]) => (8, &lower[2..]),
        (0, [b'0', b'b', ..]) => (2, &lower[2..]),
        (0, [b'0', _, ..]) => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    let prefixed = body.len() < lower.len();
    let body = if base == 0 { between_digits(body, prefixed).ok_or(Fault::Syntax)? } else { body.to_owned() };
    if body.is_empty() {
        return Err(Fault::Syntax);
    }
    let mut amount: i128 = 0;
    let mut over = false;
    for c in body.chars() {
        let digit = c.to_digit(radix).ok_or(Fault::Syntax)?;
        amount = (amount * i128::from(radix) + i128::from(digit)).min(1 << 65);
        over |= amount > i128::from(u64::MAX);
    }
    if over { Err(Fault::Range) } else { Ok(amount) }
}

/// Takes out underscores, each of which must follow a digit or the prefix and precede a digit.
fn between_digits(body: &str, prefixed: bool) -> Option<String> {
    let mut before = prefixed;
    let mut out = String::new();
    for c in body.chars() {
        match (c, before) {
            ('_', true) => before = false,
            ('_', false) => return None,
            (c, _) => {
                out.push(c);
                before = true;
            }
        }
    }
    (before || body.is_empty()).then_some(out)
}

/// strconv.ParseFloat, as far as it is used: any number that can be written plainly.
pub(super) fn float(text: &str) -> Result<(), String> {
    let error = || format!("strconv.ParseFloat: parsing {}: invalid syntax", quoted(text));
    text.parse::<f64>().map(|_| ()).map_err(|_| error())
}

/// A duration as Go prints it, or Go's complaint.
pub(super) fn duration(text: &str) -> Result<String, String> {
    duration::parse(text).map(duration::print).ok_or_else(|| complaint(text))
}

/// Why a text is no duration; the first thing wrong counts.
fn complaint(text: &str) -> String {
    let invalid = format!("time: invalid duration {}", quoted(text));
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    while !rest.is_empty() {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = digits(rest);
        let after = &rest[whole..];
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits(after)),
            None => ("", after),
        };
        if whole == 0 && fraction.is_empty() {
            return invalid;
        }
        let (unit, after) =
            after.split_at(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()));
        if unit.is_empty() {
            return format!("time: missing unit in duration {}", quoted(text));
        }
        if duration::parse(&format!("0{unit}")).is_none() {
            return format!("time: unknown unit {} in duration {}", quoted(unit), quoted(text));
        }
        rest = after;
    }
    invalid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_prefixes_and_limits() {
        for (text, expected) in
            [("10", 10), ("-5", -5), ("+7", 7), ("0x1F", 31), ("017", 15), ("1_000", 1000)]
        {
            assert_eq!(int(text, 0, 32), Ok(expected), "{text}");
        }
        for text in ["", "-", "x", "1.5", "08", "_1", "1_", "1__0", "0x", " 1", "1e3"] {
            let error = format!("strconv.ParseInt: parsing {text:?}: invalid syntax");
            assert_eq!(int(text, 0, 32), Err(error));
        }
        let range = |text| Err(format!("strconv.ParseInt: parsing {text:?}: value out of range"));
        assert_eq!(int("2147483648", 0, 32), range("2147483648"));
        assert_eq!(int("-2147483648", 0, 32), Ok(i64::from(i32::MIN)));
        assert_eq!(int("99999999999999999999999", 0, 64), range("99999999999999999999999"));
        assert_eq!(int("-9223372036854775808", 0, 64), Ok(i64::MIN));
        assert!(uint("-1", 31).is_err() && uint("2147483648", 31).is_err() && uint("0x1", 31).is_err());
        assert_eq!(uint("010", 31), Ok(10));
    }

    #[test]
    fn durations_are_printed_as_go_does() {
        for (text, printed) in [
            ("1m", "1m0s"),
            ("90s", "1m30s"),
            ("1.5h", "1h30m0s"),
            ("100ms", "100ms"),
            ("1500us", "1.5ms"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("-1h2m3.25s", "-1h2m3.25s"),
            ("0", "0s"),
            ("+0", "0s"),
            ("0s", "0s"),
            ("7ns", "7ns"),
            ("1.000000001s", "1.000000001s"),
        ] {
            assert_eq!(duration(text).as_deref(), Ok(printed), "{text}");
        }
        for (text, error) in [
            ("", "time: invalid duration \"\""),
            ("10", "time: missing unit in duration \"10\""),
            ("1..5s", "time: missing unit in duration \"1..5s\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            (".s", "time: invalid duration \".s\""),
            ("s", "time: invalid duration \"s\""),
            ("9999999999h", "time: invalid duration \"9999999999h\""),
        ] {
            assert_eq!(duration(text).unwrap_err(), error);
        }
        assert_eq!(duration("-9223372036854775808ns").as_deref(), Ok("-2562047h47m16.854775808s"));
    }
}
