//! Texts in quotes as Go prints them (`%q`).

/// In double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    text.chars().for_each(|c| push(&mut out, c, '"'));
    out.push('"');
    out
}

/// One character in single quotes.
pub(super) fn quoted_char(c: char) -> String {
    let mut out = String::from("'");
    push(&mut out, c, '\'');
    out.push('\'');
    out
}

fn push(out: &mut String, c: char, quote: char) {
    match c {
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\\' => out.push_str("\\\\"),
        c if c == quote => out.extend(['\\', c]),
        c if u32::from(c) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_of_go() {
        assert_eq!(quoted("a\"b'\\\n\u{1}é\u{85}"), "\"a\\\"b'\\\\\\n\\x01é\\u0085\"");
        assert_eq!(quoted_char('\''), "'\\''");
        assert_eq!(quoted_char('c'), "'c'");
    }
}
