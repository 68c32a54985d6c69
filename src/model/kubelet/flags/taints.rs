//! `--register-with-taints` and `--reserved-memory`: pkg/util/taints and pkg/util/flag.

use super::quote::quoted;
use std::ops::Range;

/// A text and where it stands.
type Part = (String, Range<usize>);

/// From this version on a taint that is to be added must have an effect and be said once.
const STRICT: u32 = 23;

/// The taints, as `key=value:effect`.
pub(super) fn read(text: &str, minor: u32) -> Result<Vec<Part>, Part> {
    let mut taints = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut at = 0;
    if text.is_empty() {
        return Ok(taints);
    }
    for part in text.split(',') {
        let range = at..at + part.len();
        at = range.end + 1;
        let fail = |message: String| (message, range.clone());
        // a dash at the end takes a taint away, of which there is none
        let (spec, away) = match part.strip_suffix('-') {
            Some(spec) if minor >= STRICT => (spec, true),
            _ => (part, false),
        };
        let (key, value, effect) = taint(spec).map_err(fail)?;
        if away {
            continue;
        }
        if minor >= STRICT {
            if effect.is_empty() {
                return Err(fail(format!("invalid taint spec: {part}")));
            }
            if seen.contains(&(key, effect)) {
                let message = format!("duplicated taints with the same key and effect: {key} {effect}");
                return Err(fail(message));
            }
            seen.push((key, effect));
        }
        taints.push((format!("{key}={value}:{effect}"), range));
    }
    Ok(taints)
}

fn taint(spec: &str) -> Result<(&str, &str, &str), String> {
    let invalid = || format!("invalid taint spec: {spec}");
    let (pair, effect) = match spec.split_once(':') {
        None => (spec, ""),
        Some((_, effect)) if effect.contains(':') => return Err(invalid()),
        Some((pair, effect)) if ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) => {
            (pair, effect)
        }
        Some((_, effect)) => {
            return Err(format!("invalid taint effect: {effect}, unsupported taint effect"));
        }
    };
    // without an effect all of it is the key
    let (key, value) =
        if effect.is_empty() { (pair, "") } else { pair.split_once('=').unwrap_or((pair, "")) };
    let good = super::labels::is_name(key) && super::labels::is_value(value);
    if good { Ok((key, value, effect)) } else { Err(invalid()) }
}

/// One reservation of memory, `0:memory=1Gi,hugepages-1Gi=2Gi`; nothing for an empty text.
pub(super) fn memory(text: &str) -> Result<Option<Part>, Part> {
    if text.is_empty() {
        return Ok(None);
    }
    let fail = |message: String, range: Range<usize>| Err((message, range));
    let Some((node, limits)) = text.split_once(':').filter(|(_, limits)| !limits.contains(':')) else {
        let form = "expected numaNodeID:type=quantity[,type=quantity...]";
        return fail(format!("the reserved memory has incorrect format, {form}, got {text}"), 0..text.len());
    };
    if super::number::int(node, 10, 64).is_err() {
        let message = format!("failed to convert the NUMA node ID, exptected integer, got {node}");
        return fail(message, 0..node.len());
    }
    let mut at = node.len() + 1;
    for limit in limits.split(',') {
        let range = at..at + limit.len();
        at = range.end + 1;
        let Some((name, amount)) = limit.split_once('=').filter(|(_, amount)| !amount.contains('=')) else {
            let form = "expected type=quantatity";
            return fail(format!("the reserved limit has incorrect value, {form}, got {limit}"), range);
        };
        if name != "memory" && !name.starts_with("hugepages-") {
            return fail(format!("memory type conversion error, unknown type: {}", quoted(name)), range);
        }
        if !is_quantity(amount) {
            return fail(format!("failed to parse the quantatity, expected quantatity, got {amount}"), range);
        }
    }
    Ok(Some((text.to_owned(), 0..text.len())))
}

/// Whether a text is an amount as Kubernetes writes it: a decimal number with one of its suffixes.
pub(super) fn is_quantity(text: &str) -> bool {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
    let (number, suffix) = body.split_at(end);
    let plain = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
    let known = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let power = suffix.strip_prefix(['e', 'E']).is_some_and(|power| {
        let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
        !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit())
    });
    plain && (known.contains(&suffix) || power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_have_a_key_and_an_effect() {
        let shown = |text: &str, minor| match read(text, minor) {
            Ok(taints) => taints.into_iter().map(|(t, _)| t).collect::<Vec<_>>().join(" "),
            Err((error, range)) => format!("{error} @ {}", &text[range]),
        };
        for (text, expected) in [
            ("", ""),
            ("a:NoSchedule,b/c=d:NoExecute", "a=:NoSchedule b/c=d:NoExecute"),
            ("a=b:Never", "invalid taint effect: Never, unsupported taint effect @ a=b:Never"),
            ("a:NoSchedule,b", "invalid taint spec: b @ b"),
            ("a:NoSchedule:x", "invalid taint spec: a:NoSchedule:x @ a:NoSchedule:x"),
            ("a=1=2:NoSchedule", "invalid taint spec: a=1=2:NoSchedule @ a=1=2:NoSchedule"),
            ("a b:NoSchedule", "invalid taint spec: a b:NoSchedule @ a b:NoSchedule"),
            ("a:NoSchedule-", ""),
            (
                "a:NoSchedule,a=2:NoSchedule",
                "duplicated taints with the same key and effect: a NoSchedule @ a=2:NoSchedule",
            ),
        ] {
            assert_eq!(shown(text, 31), expected, "{text}");
        }
        assert_eq!(shown("a", 22), "a=:");
        assert_eq!(shown("a:NoSchedule,a:NoSchedule", 22), "a=:NoSchedule a=:NoSchedule");
    }

    #[test]
    fn memory_is_reserved_node_by_node() {
        let shown = |text: &str| match memory(text) {
            Ok(_) => "ok".to_owned(),
            Err((error, range)) => format!("{error} @ {}", &text[range]),
        };
        for (text, expected) in [
            ("", "ok"),
            ("0:memory=1Gi,hugepages-2Mi=1e3", "ok"),
            ("x:memory=1Gi", "failed to convert the NUMA node ID, exptected integer, got x @ x"),
            ("0:cpu=1", "memory type conversion error, unknown type: \"cpu\" @ cpu=1"),
            ("0:memory=1Gib", "failed to parse the quantatity, expected quantatity, got 1Gib @ memory=1Gib"),
            (
                "0:memory",
                "the reserved limit has incorrect value, expected type=quantatity, got memory @ memory",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(shown("memory=1Gi").starts_with("the reserved memory has incorrect format"));
    }
}
