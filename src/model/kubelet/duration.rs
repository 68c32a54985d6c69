//! Go's durations: what time.ParseDuration takes and how they are printed.

/// A duration in nanoseconds; `None` for what Go refuses (no unit, nothing, an unknown unit, overflow).
pub(super) fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = &rest[..end];
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit: i128 = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[end..];
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        let mut scale = unit;
        for digit in fraction.bytes() {
            scale /= 10;
            total += i128::from(digit - b'0') * scale;
        }
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// As Go prints it: `1m0s`, `1.5s`, `100ms`, `0s`.
pub(super) fn print(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let decimal = |unit: u64| {
        let fraction = format!("{:0width$}", all % unit, width = unit.ilog10() as usize);
        let fraction = fraction.trim_end_matches('0');
        let dot = if unit == 1 || fraction.is_empty() { "" } else { "." };
        (all / unit, format!("{dot}{}", if unit == 1 { "" } else { fraction }))
    };
    if all == 0 {
        return "0s".into();
    }
    let small = |unit: u64, name: &str| {
        let (whole, fraction) = decimal(unit);
        format!("{sign}{whole}{fraction}{name}")
    };
    match all {
        0..1_000 => small(1, "ns"),
        1_000..1_000_000 => small(1_000, "µs"),
        1_000_000..1_000_000_000 => small(1_000_000, "ms"),
        _ => {
            let (seconds, fraction) = decimal(1_000_000_000);
            let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            match (hours, minutes) {
                (0, 0) => format!("{sign}{rest}{fraction}s"),
                (0, _) => format!("{sign}{minutes}m{rest}{fraction}s"),
                _ => format!("{sign}{hours}h{minutes}m{rest}{fraction}s"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, print};

    #[test]
    fn durations_are_those_of_go() {
        for (text, printed) in [
            ("2m", "2m0s"),
            ("1h", "1h0m0s"),
            ("90s", "1m30s"),
            ("0", "0s"),
            ("0s", "0s"),
            ("1.5s", "1.5s"),
            ("100ms", "100ms"),
            ("1h2m3.25s", "1h2m3.25s"),
            ("-1m", "-1m0s"),
            ("1500us", "1.5ms"),
            ("7ns", "7ns"),
            (".5s", "500ms"),
        ] {
            assert_eq!(parse(text).map(print).as_deref(), Some(printed), "{text}");
        }
        for text in ["", "5", "s", "1x", "1 s", "-", "1..5s", "99999999999h", ".s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
