//! Values of flags, by kind.

use super::walk::{Use, invalid};
use super::{Entry, FlagKind, Item, Parsed, Refused, csv, number, pairs, quote::quoted, taints};
use std::net::Ipv6Addr;
use std::ops::Range;

type Fault = (String, Option<Range<usize>>);

/// What a use says; nothing where the kubelet takes it and forgets it.
pub(super) fn read(used: &Use<'_>, minor: u32) -> Result<Option<Parsed>, Refused> {
    by_kind(used, minor).map_err(|(error, part)| invalid(used, part, &error))
}

fn by_kind(used: &Use<'_>, minor: u32) -> Result<Option<Parsed>, Fault> {
    let text = used.text();
    let whole = |error: String| (error, None);
    let part = |(error, range): (String, Range<usize>)| (error, Some(range));
    let duration = || number::duration(text).map(Parsed::Text);
    Ok(Some(match used.flag.kind {
        FlagKind::Text => Parsed::Text(text.to_owned()),
        FlagKind::Bool => Parsed::Bool(number::boolean(text).map_err(whole)?),
        FlagKind::Int32 => Parsed::Int(number::int(text, 0, 32).map_err(whole)?),
        FlagKind::Int64 => Parsed::Int(number::int(text, 0, 64).map_err(whole)?),
        FlagKind::Float => number::float(text).map(|()| Parsed::Text(text.to_owned())).map_err(whole)?,
        FlagKind::Duration => duration().map_err(whole)?,
        FlagKind::Ip if text.is_empty() => return Ok(None),
        FlagKind::Ip if is_ip(text) => Parsed::Text(text.to_owned()),
        FlagKind::Ip => return Err(whole(format!("{} is not a valid IP address", quoted(text)))),
        FlagKind::Level if minor < 23 => Parsed::Int(number::int(text, 10, 32).map_err(whole)?),
        FlagKind::Level => Parsed::Int(number::uint(text, 31).map_err(whole)?),
        FlagKind::Quantity if taints::is_quantity(text) => Parsed::Text(text.to_owned()),
        FlagKind::Quantity => {
            let form = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
            return Err(whole(format!("quantities must match the regular expression '{form}'")));
        }
        FlagKind::Version if text == "raw" || pretends(text, minor) => Parsed::Text(text.to_owned()),
        FlagKind::Version => Parsed::Bool(number::boolean(text).map_err(whole)?),
        FlagKind::GoBool => Parsed::Bool(number::boolean(text).map_err(|_| whole("parse error".into()))?),
        FlagKind::GoInt => Parsed::Int(number::int(text, 0, 64).map_err(go).map_err(whole)?),
        FlagKind::GoDuration => duration().map_err(|_| whole("parse error".into()))?,
        FlagKind::List => items(used, csv::read(text).map_err(part)?),
        FlagKind::Taints => items(used, taints::read(text, minor).map_err(part)?),
        FlagKind::Memory => match taints::memory(text).map_err(part)? {
            Some(reservation) => items(used, vec![reservation]),
            None => return Ok(None),
        },
        kind @ (FlagKind::Map
        | FlagKind::Pair
        | FlagKind::Gates
        | FlagKind::Thresholds
        | FlagKind::Headers
        | FlagKind::Labels
        | FlagKind::Vmodule) => {
            let pairs = pairs::read(text, kind).map_err(part)?.into_iter();
            let entry = |(key, value, range)| Entry { key, value, place: used.part(range) };
            Parsed::Map(pairs.map(entry).collect())
        }
    }))
}

fn items(used: &Use<'_>, parts: Vec<(String, Range<usize>)>) -> Parsed {
    Parsed::List(parts.into_iter().map(|(text, range)| Item { text, place: used.part(range) }).collect())
}

/// Go's flag package tells two errors of numbers apart.
fn go(error: String) -> String {
    if error.ends_with("out of range") { "value out of range".to_owned() } else { "parse error".to_owned() }
}

/// A version that the kubelet is to say it has.
fn pretends(text: &str, minor: u32) -> bool {
    minor >= 28 && text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// As Go read addresses before 1.17: numbers may begin with zeros.
fn is_ip(text: &str) -> bool {
    let number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.trim_start_matches('0').len() <= 3
            && part.trim_start_matches('0').parse::<u8>().is_ok() | part.trim_start_matches('0').is_empty()
    };
    text.parse::<Ipv6Addr>().is_ok() || (text.split('.').count() == 4 && text.split('.').all(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_zeros() {
        for good in ["0.0.0.0", "010.1.2.255", "::", "fe80::1", "::ffff:1.2.3.4"] {
            assert!(is_ip(good), "{good}");
        }
        for bad in ["1.2.3", "1.2.3.256", "1.2.3.4.5", "x", "fe80::1%eth0", "1.2.3.", "1.2.3.-4"] {
            assert!(!is_ip(bad), "{bad}");
        }
    }
}
