//! Maps in one word: component-base's MapStringString, MapStringBool, LangleSeparatedMapStringString,
//! ColonSeparatedMultimapStringString and ConfigurationMap.

use super::FlagKind;
use super::number::{boolean, uint};
use super::quote::quoted;
use crate::fact::Value;
use std::ops::Range;

/// Key, value, and where they stand in the text.
pub(super) type KeyValue = (String, Value, Range<usize>);

/// A complaint, and what it is about.
type Fault = (String, Range<usize>);

pub(super) fn read(text: &str, kind: FlagKind) -> Result<Vec<KeyValue>, Fault> {
    if kind == FlagKind::Pair {
        let whole = 0..text.len();
        let (key, value) = split(text, '=', "string=string").map_err(|e| (e, whole.clone()))?;
        return Ok(vec![(key.to_owned(), Value::text(value), whole)]);
    }
    let mut pairs = Vec::new();
    let mut at = 0;
    for part in text.split(',') {
        let range = at..at + part.len();
        at = range.end + 1;
        if part.is_empty() {
            continue;
        }
        let (key, value) = pair(part, kind).map_err(|e| (e, range.clone()))?;
        pairs.push((key, value, range));
    }
    Ok(pairs)
}

fn pair(part: &str, kind: FlagKind) -> Result<(String, Value), String> {
    let text = |(key, value): (&str, &str)| (key.to_owned(), Value::text(value));
    match kind {
        FlagKind::Gates => {
            let (key, value) = split(part, '=', "string=bool")?;
            let on = boolean(value).map_err(|e| format!("invalid value of {key}: {value}, err: {e}"))?;
            Ok((key.to_owned(), Value::Bool(on)))
        }
        FlagKind::Thresholds => split(part, '<', "string<string").map(text),
        FlagKind::Headers => split(part, ':', "string:string").map(text),
        FlagKind::Labels => Ok(text(split(part, '=', "").unwrap_or((part.trim(), "")))),
        FlagKind::Vmodule => {
            let form = || format!("{} does not have the pattern=N format", quoted(part));
            let (pattern, level) = part.split_once('=').ok_or_else(form)?;
            if pattern.is_empty() || level.is_empty() || level.contains('=') {
                return Err(form());
            }
            let level = uint(level, 31).map_err(|e| format!("parsing verbosity in {}: {e}", quoted(part)))?;
            Ok((pattern.to_owned(), Value::Int(level)))
        }
        _ => split(part, '=', "string=string").map(text),
    }
}

/// Both sides lose the blanks around them.
fn split<'a>(part: &'a str, by: char, form: &str) -> Result<(&'a str, &'a str), String> {
    let (key, value) = part.split_once(by).ok_or_else(|| format!("malformed pair, expect {form}"))?;
    Ok((key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_split_at_commas() {
        let shown = |text: &str, kind| match read(text, kind) {
            Ok(pairs) => {
                let show = |(key, value, range): KeyValue| format!("{key}|{value}|{}", &text[range]);
                pairs.into_iter().map(show).collect::<Vec<_>>().join(" ")
            }
            Err((error, range)) => format!("{error} @ {}", &text[range]),
        };
        use FlagKind::*;
        for (text, kind, expected) in [
            ("cpu=1, memory = 2Gi,,", Map, "cpu|1|cpu=1 memory|2Gi| memory = 2Gi"),
            ("a=b=c", Map, "a|b=c|a=b=c"),
            ("\"a=1,b=2\"", Map, "\"a|1|\"a=1 b|2\"|b=2\""),
            ("a=1,b", Map, "malformed pair, expect string=string @ b"),
            ("a=1,b=2", Pair, "a|1,b=2|a=1,b=2"),
            ("A=true,B=f", Gates, "A|true|A=true B|false|B=f"),
            (
                "A=true,X=maybe",
                Gates,
                "invalid value of X: maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax @ X=maybe",
            ),
            ("A", Gates, "malformed pair, expect string=bool @ A"),
            ("memory.available<5%,x<1", Thresholds, "memory.available|5%|memory.available<5% x|1|x<1"),
            ("memory.available=5%", Thresholds, "malformed pair, expect string<string @ memory.available=5%"),
            ("a:b,a:c:d", Headers, "a|b|a:b a|c:d|a:c:d"),
            ("a=b,c", Labels, "a|b|a=b c||c"),
            ("x=1,y=2", Vmodule, "x|1|x=1 y|2|y=2"),
            ("x=1=2", Vmodule, "\"x=1=2\" does not have the pattern=N format @ x=1=2"),
            ("", Map, ""),
        ] {
            assert_eq!(shown(text, kind), expected, "{text}");
        }
    }
}
