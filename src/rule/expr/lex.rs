//! Text to tokens.

use super::Flaw;
use crate::text::Span;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Int(i64),
    Text(String),
    /// Operators and brackets, as written.
    Sign(&'static str),
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(i) => format!("`{i}`"),
            Token::Text(text) => format!("text {text:?}"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".into(),
        }
    }
}

const SIGNS: [&str; 19] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ".", ",", "?", ":", "-", "="];

/// All tokens, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Flaw> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if let Some(raw) = rest.strip_prefix('r').filter(|r| r.starts_with(['\'', '"'])) {
            let (text, length) = raw_text(raw, at)?;
            (Token::Text(text), length + 1)
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Word(rest[..end].to_owned()), end)
        } else if c.is_ascii_digit() || (c == '-' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
            integer(rest, at)?
        } else if c == '\'' || c == '"' {
            let (text, length) = quoted(rest, at)?;
            (Token::Text(text), length)
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            (Token::Sign(sign), sign.len())
        } else {
            let span = Span::new(at, at + c.len_utf8());
            return Err(Flaw::new(span, unexpected(c)));
        };
        found.push((token, Span::new(at, at + length)));
        at += length;
    }
    found.push((Token::End, Span::new(text.len(), text.len())));
    Ok(found)
}

fn unexpected(c: char) -> String {
    match c {
        '&' => "write `&&` for and".into(),
        '|' => "write `||` for or".into(),
        '+' | '*' | '/' | '%' => format!("`{c}`: there is no arithmetic here"),
        '$' => "`$`: names are written bare here; `${…}` is for messages".into(),
        '`' | '“' | '”' | '‘' | '’' => "write text between '…' or \"…\"".into(),
        '{' | '}' => "there are no maps here".into(),
        c => format!("unexpected character {c:?}"),
    }
}

fn integer(rest: &str, at: usize) -> Result<(Token, usize), Flaw> {
    let sign = usize::from(rest.starts_with('-'));
    let end =
        rest[sign..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |i| i + sign);
    let span = Span::new(at, at + end);
    let fraction = rest[end..].strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    if fraction {
        return Err(Flaw::new(span, "there are no fractions here; compare versions with version(\"…\")"));
    }
    match rest[..end].parse() {
        Ok(i) => Ok((Token::Int(i), end)),
        Err(_) => Err(Flaw::new(span, format!("`{}` is not an integer of 64 bits", &rest[..end]))),
    }
}

fn unclosed(rest: &str, at: usize) -> Flaw {
    Flaw::new(Span::new(at, at + rest.len().min(1)), "this text has no end")
}

fn tripled(rest: &str, at: usize) -> Result<(), Flaw> {
    let triple = rest.starts_with("'''") || rest.starts_with("\"\"\"");
    if triple {
        Err(Flaw::new(Span::new(at, at + 3), "write text between single quote signs"))
    } else {
        Ok(())
    }
}

/// `'…'` or `"…"` with escapes; the length counts the quotes.
fn quoted(rest: &str, at: usize) -> Result<(String, usize), Flaw> {
    tripled(rest, at)?;
    let mut chars = rest.char_indices();
    let Some((_, quote)) = chars.next() else { return Err(unclosed(rest, at)) };
    let mut text = String::new();
    while let Some((i, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((text, i + 1)),
            '\n' | '\r' => return Err(unclosed(rest, at)),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c @ ('\\' | '\'' | '"'))) => text.push(c),
                Some((end, c)) => {
                    let span = Span::new(at + i, at + end + c.len_utf8());
                    return Err(Flaw::new(span, "unknown escape; a raw text r'…' takes every sign as it is"));
                }
                None => return Err(unclosed(rest, at)),
            },
            c => text.push(c),
        }
    }
    Err(unclosed(rest, at))
}

/// The part of `r'…'` after the r.
fn raw_text(rest: &str, at: usize) -> Result<(String, usize), Flaw> {
    tripled(rest, at)?;
    let Some(quote) = rest.chars().next() else { return Err(unclosed(rest, at)) };
    match rest[1..].find([quote, '\n']) {
        Some(end) if rest[1 + end..].starts_with(quote) => Ok((rest[1..1 + end].to_owned(), end + 2)),
        _ => Err(unclosed(rest, at)),
    }
}
