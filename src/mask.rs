//! Masking of secrets: the value of a key that names one, userinfo in a URL, PEM private keys.
//! Captures and reports hide the same.

use std::borrow::Cow;

/// Keys whose values are secret, in lower case without `_`, `-` and quotes.
const SECRET_KEYS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "auth",
    "identitytoken",
    "token",
    "registrytoken",
    "secret",
    "accesskey",
    "secretkey",
    "clientsecret",
    "apikey",
    "authorization",
    "privatekey",
    "credential",
    "credentials",
];

/// How far a secret reaches beyond its line.
enum Open {
    /// Up to these characters.
    Until(&'static str),
    /// All lines that are indented deeper.
    Deeper(usize),
    /// A PEM private key.
    Key,
}

/// What every one of them holds.
const ROOTS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "auth",
    "token",
    "secret",
    "accesskey",
    "apikey",
    "privatekey",
    "credential",
];

const BEGIN: &str = "PRIVATE KEY-----";
const END: &str = "-----END";

/// Masks a text; the length in characters of every line stays the same.
pub(crate) fn mask(path: &str, text: &str) -> String {
    if !(path.ends_with("/cmdline") || path.ends_with("/environ")) {
        return lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut next_is_secret = false;
    for argument in text.split_inclusive('\0') {
        out.push_str(&if next_is_secret { cover(argument) } else { lines(argument) });
        let flag = argument.trim_end_matches('\0').strip_prefix("--");
        next_is_secret = !next_is_secret && flag.is_some_and(is_secret);
    }
    out
}

/// The same for a few words about a text: a message, or a value out of it.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    // what is a secret follows one of these
    let may_hold = text.contains(['=', ':']) || text.contains("--");
    if may_hold { lines(text).into() } else { text.into() }
}

fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open = None;
    let mut letters = Vec::new();
    for line in text.split_inclusive('\n') {
        if open.is_none() && !may_hold(line, &mut letters) {
            out.push_str(line);
            continue;
        }
        let (covered, rest) = still_open(line, &mut open);
        out.push_str(&covered);
        if open.is_none() {
            out.push_str(&one_line(rest, &mut open));
        }
    }
    out
}

/// What of a line belongs to a secret that began before it, covered, and the rest of the line.
fn still_open<'a>(line: &'a str, open: &mut Option<Open>) -> (String, &'a str) {
    let end = match open {
        None => Some(0),
        Some(Open::Until(closing)) => line.find(*closing).map(|at| at + closing.len()),
        Some(Open::Key) => line.find(END),
        Some(Open::Deeper(indent)) => {
            let deeper = line.trim().is_empty() || indent_of(line) > *indent;
            (!deeper).then_some(0)
        }
    };
    match end {
        Some(end) => {
            *open = None;
            (cover(&line[..end]), &line[end..])
        }
        None => (cover(line), ""),
    }
}

fn one_line(line: &str, open: &mut Option<Open>) -> String {
    let (line, key) = keys(line);
    let (masked, more) = value_of_secret(&line);
    *open = key.or(more);
    userinfo(&after_flags(&masked))
}

/// What stands between the first and the last line of private keys, where both are in this one.
fn keys(line: &str) -> (String, Option<Open>) {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(BEGIN).map(|at| at + BEGIN.len()) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        rest = after;
        // the last line of a key ends as its first one does
        let mark = before[..at - BEGIN.len()].rfind("-----");
        if mark.is_some_and(|mark| before[mark..].starts_with(END)) {
            continue;
        }
        let Some(end) = rest.find(END) else {
            out.push_str(&cover(rest));
            return (out, Some(Open::Key));
        };
        out.push_str(&cover(&rest[..end]));
        rest = &rest[end..];
    }
    out.push_str(rest);
    (out, None)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether a line is worth a closer look: most are not. `letters` is scratch room.
fn may_hold(line: &str, letters: &mut Vec<u8>) -> bool {
    if !line.is_ascii() || line.contains('@') || line.contains(BEGIN) {
        return true;
    }
    letters.clear();
    letters.extend(line.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase()));
    letters.iter().enumerate().any(|(at, first)| {
        ROOTS.iter().any(|root| root.as_bytes()[0] == *first && letters[at..].starts_with(root.as_bytes()))
    })
}

fn is_secret(key: &str) -> bool {
    let key: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    // a switch of the kubelet has such a name
    key != "anonymousauth" && SECRET_KEYS.iter().any(|secret| key.ends_with(secret))
}

/// Bytes that are no text: letters and digits after a secret's name cannot be told, so all of
/// every line that names one are covered.
pub(crate) fn bytes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut open = None;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let text = String::from_utf8_lossy(line);
        let (covered, rest) = still_open(&text, &mut open);
        if open.is_none() && covered.is_empty() && rest == one_line(rest, &mut open) {
            out.extend_from_slice(line);
        } else {
            out.extend(line.iter().map(|b| if b.is_ascii_alphanumeric() { b'x' } else { *b }));
        }
    }
    out
}

/// `key = "value"`, `key: value`, `"key": "value"`, `--token=value`, also several in one line; and
/// how far the last one reaches.
fn value_of_secret(line: &str) -> (String, Option<Open>) {
    let mut out = String::with_capacity(line.len());
    let mut open = None;
    let mut rest = line;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        out.push_str(&after[..1]);
        let colon = after.starts_with(':');
        rest = &after[1..];
        let key = before
            .trim_end()
            .trim_end_matches(['"', '\''])
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .next()
            .unwrap_or("");
        if !is_secret(key) {
            continue;
        }
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let (space, value) = rest.split_at(blank);
        out.push_str(space);
        // behind a flag other arguments may follow
        let (end, more) = match key.starts_with("--") && !value.starts_with(['"', '\'', '[']) {
            true => (argument_end(value), None),
            false => value_end(value),
        };
        // a section of the kubelet's file has this name
        let section = value.trim().is_empty() && key.eq_ignore_ascii_case("authorization");
        let block = value.trim().is_empty() || value.starts_with(['|', '>']);
        open = match more {
            None if colon && block && !section => Some(Open::Deeper(indent_of(line))),
            more => more,
        };
        let is_switch = ["true", "false", "null", "{}", "[]"].contains(&value[..end].trim());
        out.push_str(&if is_switch { value[..end].to_owned() } else { cover(&value[..end]) });
        rest = &value[end..];
    }
    out.push_str(rest);
    (out, open)
}

/// `--token value`: the word after a flag.
fn after_flags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let ends = |c: char| c.is_whitespace() || "\"',=\0".contains(c);
    while let Some(at) = rest.find("--") {
        let end = rest[at..].find(ends).map_or(rest.len(), |end| at + end);
        let (flag, after) = rest.split_at(end);
        out.push_str(flag);
        rest = after;
        if is_secret(&flag[at..]) && !rest.starts_with('=') {
            let gap = rest.len() - rest.trim_start_matches([' ', '\t', '"', '\'', ',']).len();
            let word = rest[gap..].find(ends).map_or(rest.len(), |end| gap + end);
            out.push_str(&rest[..gap]);
            out.push_str(&cover(&rest[gap..word]));
            rest = &rest[word..];
        }
    }
    out.push_str(rest);
    out
}

/// Where a value ends: at its closing quote or bracket, else at white space, a comma or a brace.
/// One that does not end in this line says with what it will.
fn value_end(value: &str) -> (usize, Option<Open>) {
    for closing in ["\"\"\"", "'''"] {
        if let Some(inner) = value.strip_prefix(closing) {
            let end = inner.find(closing).map(|at| at + 2 * closing.len());
            return end.map_or((value.len(), Some(Open::Until(closing))), |end| (end, None));
        }
    }
    match value.chars().next() {
        Some('[') => value.find(']').map_or((value.len(), Some(Open::Until("]"))), |at| (at + 1, None)),
        Some(quote @ ('"' | '\'')) => {
            let mut escaped = false;
            for (i, c) in value.char_indices().skip(1) {
                match c {
                    _ if escaped => escaped = false,
                    '\\' if quote == '"' => escaped = true,
                    c if c == quote => return (i + 1, None),
                    _ => {}
                }
            }
            (value.len(), None)
        }
        // a header follows its scheme: `Authorization: Bearer …`
        _ => (value.find(['\n', '\r', '\0', ',', '}', '#']).unwrap_or(value.len()), None),
    }
}

/// Where the unquoted value of a flag ends in a line of arguments.
fn argument_end(value: &str) -> usize {
    value.find(|c: char| c.is_whitespace() || "\"'\0".contains(c)).unwrap_or(value.len())
}

/// `https://user:password@host`: what stands before the `@`.
fn userinfo(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    // a path that was made of one has a slash less
    while let Some(at) = rest.find(":/") {
        let tail = rest[at + 1..].trim_start_matches('/');
        let (head, tail) = rest.split_at(rest.len() - tail.len());
        out.push_str(head);
        let end = tail.find(|c: char| c.is_whitespace() || "/\"'?#,\0".contains(c)).unwrap_or(tail.len());
        let (authority, after) = tail.split_at(end);
        match authority.rfind('@') {
            Some(sign) => {
                out.push_str(&cover(&authority[..sign]));
                out.push_str(&authority[sign..]);
            }
            None => out.push_str(authority),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Letters and digits become `x`; quotes, punctuation and space stay, so that the text parses as before.
fn cover(text: &str) -> String {
    let mut escaped = false;
    // digits of a `\u` or `\U` escape must stay digits
    let mut digits = 0;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let covered = match c {
            _ if escaped => c,
            c if digits > 0 && c.is_ascii_hexdigit() => '0',
            c if c.is_alphanumeric() => 'x',
            c => c,
        };
        digits = match c {
            'u' if escaped => 4,
            'U' if escaped => 8,
            _ => usize::saturating_sub(digits, 1),
        };
        // `\n` must not become `\x`, which is an escape of its own
        escaped = c == '\\' && !escaped;
        out.push(covered);
    }
    out
}

#[cfg(test)]
mod tests;
