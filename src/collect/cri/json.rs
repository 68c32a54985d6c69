//! Where a value stands in a JSON text.

use crate::text::Span;

/// The span of a member reached by keys; of a text, what is between its quotes. The text must be
/// valid JSON: what is not found is not there.
pub(super) fn find(text: &str, keys: &[&str]) -> Option<Span> {
    let mut at = blank(text, 0);
    for key in keys {
        at = member(text, at, key)?;
    }
    let end = value_end(text, at)?;
    match text.as_bytes().get(at)? {
        b'"' => Some(Span::new(at + 1, end - 1)),
        _ => Some(Span::new(at, end)),
    }
}

/// Where the value of a key of the object at `at` begins.
fn member(text: &str, at: usize, key: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if *bytes.get(at)? != b'{' {
        return None;
    }
    let mut at = blank(text, at + 1);
    while *bytes.get(at)? == b'"' {
        let end = value_end(text, at)?;
        let name: String = serde_json::from_str(text.get(at..end)?).ok()?;
        let colon = blank(text, end);
        let value = blank(text, colon + 1);
        if name == key {
            return Some(value);
        }
        at = blank(text, value_end(text, value)?);
        if *bytes.get(at)? != b',' {
            return None;
        }
        at = blank(text, at + 1);
    }
    None
}

fn blank(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    at + rest.len() - rest.trim_start().len()
}

fn value_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut quoted) = (start, 0usize, false);
    loop {
        match (*bytes.get(at)?, quoted) {
            (b'\\', true) => at += 1,
            (b'"', true) => quoted = false,
            (_, true) => {}
            (b'"', false) => quoted = true,
            (b'{' | b'[', false) => depth += 1,
            (b'}' | b']', false) => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        let next = bytes.get(at);
        let closed = matches!(bytes.get(at - 1)?, b'"' | b'}' | b']');
        let ends = next.is_none_or(|b| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace());
        if !quoted && depth == 0 && (closed || ends) {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_where_they_stand() {
        let text = r#" { "a" : "x\"y", "b": {"c": [1, {"d": 2}], "d": true}, "n": -1.5 } "#;
        let at = |keys: &[&str]| find(text, keys).map(|s| &text[s.start..s.end]);
        assert_eq!(at(&["a"]), Some(r#"x\"y"#));
        assert_eq!(at(&["b", "d"]), Some("true"));
        assert_eq!(at(&["b", "c"]), Some(r#"[1, {"d": 2}]"#));
        assert_eq!(at(&["n"]), Some("-1.5"));
        assert_eq!(at(&["b", "x"]), None);
        assert_eq!(at(&["a", "x"]), None);
    }
}
