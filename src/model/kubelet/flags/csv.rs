//! One line of comma-separated values, as Go's encoding/csv reads it for pflag's lists.

use std::ops::Range;

/// A value and where it was written, quotes and all.
pub(super) type Field = (String, Range<usize>);

/// The values of the first line; an error with the range it is about.
pub(super) fn read(text: &str) -> Result<Vec<Field>, (String, Range<usize>)> {
    let mut fields = Vec::new();
    if text.is_empty() {
        return Ok(fields);
    }
    // lines that are empty are passed over
    let start = text.len() - text.trim_start_matches(['\n']).len();
    if start == text.len() {
        return Err(("EOF".to_owned(), 0..text.len()));
    }
    let mut at = start;
    let fail = |what: &str, byte: usize| {
        let (line, column) = place(text, byte);
        let message = format!("parse error on line {line}, column {column}: {what}");
        Err((message, byte.min(text.len())..text.len()))
    };
    loop {
        let rest = &text[at..];
        if !rest.starts_with('"') {
            let end = at + rest.find([',', '\n']).unwrap_or(rest.len());
            if let Some(quote) = text[at..end].find('"') {
                return fail("bare \" in non-quoted-field", at + quote);
            }
            let field = text[at..end].trim_end_matches(if end == text.len() { '\0' } else { '\r' });
            fields.push((field.to_owned(), at..end));
            at = end;
        } else {
            let mut value = String::new();
            let mut here = at + 1;
            loop {
                let Some(quote) = text[here..].find('"').map(|i| here + i) else {
                    return fail("extraneous or missing \" in quoted-field", text.len());
                };
                value.push_str(&text[here..quote]);
                here = quote + 1;
                match text[here..].chars().next() {
                    Some('"') => {
                        value.push('"');
                        here += 1;
                    }
                    Some(',' | '\n') | None => break,
                    Some(_) => return fail("extraneous or missing \" in quoted-field", quote),
                }
            }
            fields.push((value, at..here));
            at = here;
        }
        match text[at..].chars().next() {
            Some(',') => at += 1,
            _ => return Ok(fields),
        }
    }
}

/// Line and column of a byte, both from 1; columns count bytes.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before.len() - start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_stand_in_quotes() {
        let values = |text: &str| {
            let fields = read(text).map_err(|(error, _)| error)?;
            Ok::<_, String>(fields.into_iter().map(|(value, _)| value).collect::<Vec<_>>())
        };
        assert_eq!(values(""), Ok(vec![]));
        assert_eq!(values("a"), Ok(vec!["a".into()]));
        assert_eq!(values("a,, b"), Ok(vec!["a".into(), "".into(), " b".into()]));
        assert_eq!(values("a,"), Ok(vec!["a".into(), "".into()]));
        assert_eq!(values("\"a,b\",\"c\"\"d\""), Ok(vec!["a,b".into(), "c\"d".into()]));
        assert_eq!(values("a\nb"), Ok(vec!["a".into()]), "only the first line is read");
        assert_eq!(values("\n"), Err("EOF".into()));
        let error = values("a,b\"c").unwrap_err();
        assert_eq!(error, "parse error on line 1, column 4: bare \" in non-quoted-field");
        for text in ["\"a", "\"a\"b", "\""] {
            assert!(
                values(text).unwrap_err().ends_with("extraneous or missing \" in quoted-field"),
                "{text}"
            );
        }
        assert_eq!(read("\"a,b\",c").unwrap()[1], ("c".into(), 6..7));
    }
}
