//! Dates and durations as people write them, without a calendar crate.

use std::time::Duration;

const DAY: i64 = 86_400;

/// Seconds since the epoch of an RFC 3339 date or date-time (`2027-03-01`, `2027-03-01T06:00:00Z`),
/// or of a plain count of seconds. Without an offset the time is UTC; a date is its midnight.
pub fn instant(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    if text.len() == 10 {
        return Some(day(text)? * DAY);
    }
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => (&time[..at], offset(&time[at..])?),
        None => (time, 0),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut parts = clock.split(':');
    let (h, m, s) = (two(parts.next()?)?, two(parts.next()?)?, parts.next().map_or(Some(0), two)?);
    if parts.next().is_some() || h > 23 || m > 59 || s > 60 {
        return None;
    }
    Some(day(date)? * DAY + h * 3600 + m * 60 + s - offset)
}

/// The last second of what a date means for `until`: the whole day counts; a date-time is exact.
pub fn last_second(text: &str) -> Option<i64> {
    let instant = instant(text)?;
    Some(if text.trim().len() == 10 && text.contains('-') { instant + DAY - 1 } else { instant })
}

/// `2027-03-01` of seconds since the epoch.
pub fn date(instant: i64) -> String {
    let (y, m, d) = civil(instant.div_euclid(DAY));
    format!("{y:04}-{m:02}-{d:02}")
}

/// `5s`, `500ms`, `2m`, or plain seconds.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<u64>().ok()?, text[end..].trim());
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

fn two(text: &str) -> Option<i64> {
    (text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn offset(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (h, m) = text.get(1..)?.split_once(':')?;
    let (h, m) = (two(h)?, two(m)?);
    (h < 24 && m < 60).then_some(sign * (h * 3600 + m * 60))
}

/// Days since the epoch of `YYYY-MM-DD`.
fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (y, m, d) = (parts.next()?, two(parts.next()?)?, two(parts.next()?)?);
    if parts.next().is_some() || y.len() != 4 || !y.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let y: i64 = y.parse().ok()?;
    // Days from a civil date, with years that begin in March so that the leap day comes last.
    let shifted = if m <= 2 { y - 1 } else { y };
    let era = shifted.div_euclid(400);
    let year = shifted.rem_euclid(400);
    let of_year = (153 * ((m + 9) % 12) + 2) / 5 + d - 1;
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + of_year - 719_468;
    (civil(days) == (y, m, d)).then_some(days)
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (d, m) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year + era * 400 + i64::from(m <= 2), m, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_and_back() {
        assert_eq!(instant("1970-01-01"), Some(0));
        assert_eq!(instant("2026-12-01T00:00:00Z"), Some(1_796_083_200));
        assert_eq!(instant("2000-02-29T01:00:00.5+01:00"), Some(951_782_400));
        assert_eq!(instant("1796083200"), Some(1_796_083_200));
        assert_eq!(last_second("1970-01-01"), Some(86_399));
        for days in (-200_000..200_000).step_by(37) {
            let text = date(days * DAY);
            assert_eq!(instant(&text), Some(days * DAY), "{text}");
        }
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in ["2027-02-29", "2027-13-01", "2027-00-10", "2027-1-1", "soon", "", "2027-03-01T25:00:00Z"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!((duration("5s"), duration("5")), (Some(Duration::from_secs(5)), duration("5s")));
        assert_eq!(duration("5 years"), None);
    }
}
