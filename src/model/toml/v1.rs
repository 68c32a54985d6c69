//! Where go-toml v1 cuts a text otherwise than TOML says.

use toml_parser::lexer::{Token, TokenKind};

/// The tokens as go-toml v1 sees them.
///
/// * A comment ends at a line feed only: a lone carriage return belongs to it.
/// * The line need not end after a header: `[a] b = 1` is a table and a key.
pub(super) fn tokens(tokens: &[Token], text: &str) -> Vec<Token> {
    let feed = |token: &Token| {
        token.kind() == TokenKind::Newline && text.as_bytes().get(token.span().end() - 1) == Some(&b'\n')
    };
    let newline = tokens.iter().copied().find(feed);
    let mut out = Vec::with_capacity(tokens.len());
    let (mut comment, mut place, mut depth) = (false, Place::LineStart, 0_usize);
    for token in tokens {
        if comment && !feed(token) && token.kind() != TokenKind::Eof {
            continue;
        }
        comment = token.kind() == TokenKind::Comment;
        if place == Place::Closed && begins(token.kind()) {
            out.extend(newline);
            place = Place::LineStart;
        }
        place = match token.kind() {
            TokenKind::Newline => Place::LineStart,
            TokenKind::Whitespace | TokenKind::Comment => place,
            TokenKind::LeftSquareBracket if depth == 0 && place == Place::LineStart => Place::Header,
            TokenKind::LeftSquareBracket if place == Place::Header => Place::Header,
            TokenKind::RightSquareBracket if matches!(place, Place::Header | Place::Closed) => Place::Closed,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                depth += 1;
                Place::Other
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                depth = depth.saturating_sub(1);
                Place::Other
            }
            _ if place == Place::Header => Place::Header,
            _ => Place::Other,
        };
        out.push(*token);
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    Header,
    /// After the bracket that closes a header.
    Closed,
    Other,
}

/// Whether a key or another header can begin with it.
fn begins(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::LeftSquareBracket | TokenKind::LiteralString | TokenKind::BasicString | TokenKind::Atom
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, parse};

    #[test]
    fn a_key_may_follow_a_header_on_its_line() {
        let table = parse("[a] b = 1 # x\n[c]\nd = [\n[1]\n, [2]]\n", Dialect::GoTomlV1, None).unwrap();
        let names: Vec<_> = table.entries.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(parse("[a] b = 1\n", Dialect::GoTomlV2, None).is_err());
        assert!(parse("[a] ]\n", Dialect::GoTomlV1, None).is_err());
    }

    #[test]
    fn a_comment_swallows_lone_carriage_returns() {
        let table = parse("# a\rb = 1\r\nc = 2\rd = 3", Dialect::GoTomlV1, None).unwrap();
        let names: Vec<_> = table.entries.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["c", "d"]);
    }
}
