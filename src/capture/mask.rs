//! Masking of secrets: the value of a key that names one, userinfo in a URL, PEM private keys.

/// Keys whose values are secret, in lower case without `_`, `-` and quotes.
const SECRET_KEYS: [&str; 12] = [
    "password",
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
];

/// Flags whose values are secret.
const SECRET_FLAGS: [&str; 3] = ["--token", "--password", "--bootstrap-token"];

/// Masks a text; the length in characters of every line stays the same.
pub fn mask(path: &str, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_key = false;
    let argv = path.ends_with("/cmdline") || path.ends_with("/environ");
    let ends: &[char] = if argv { &['\0'] } else { &['\n'] };
    let mut next_is_secret = false;
    for line in text.split_inclusive(ends) {
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            in_key = true;
        }
        let ends_key = in_key && line.contains("-----END");
        let inside_key = in_key && !line.contains("-----BEGIN") && !ends_key;
        let masked =
            if inside_key || next_is_secret { cover(line) } else { userinfo(&value_of_secret(line)) };
        next_is_secret = argv && SECRET_FLAGS.contains(&line.trim_end_matches('\0'));
        in_key &= !ends_key;
        out.push_str(&masked);
    }
    out
}

/// Bytes that are no text: letters and digits after a secret's name cannot be told, so all of
/// every line that names one are covered.
pub(super) fn bytes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let text = String::from_utf8_lossy(line);
        if text == value_of_secret(&text) && !text.contains("PRIVATE KEY") {
            out.extend_from_slice(line);
        } else {
            out.extend(line.iter().map(|b| if b.is_ascii_alphanumeric() { b'x' } else { *b }));
        }
    }
    out
}

/// `key = "value"`, `key: value`, `"key": "value"`, `--token=value`, also several in one line.
fn value_of_secret(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        out.push_str(&after[..1]);
        rest = &after[1..];
        let key: String = before
            .trim_end()
            .trim_end_matches(['"', '\''])
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .next()
            .unwrap_or("")
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        if SECRET_KEYS.iter().any(|secret| key.ends_with(secret)) {
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let (space, value) = rest.split_at(blank);
            out.push_str(space);
            let end = value_end(value);
            out.push_str(&cover(&value[..end]));
            rest = &value[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Where a value ends: at its closing quote, else at white space, a comma or a brace.
fn value_end(value: &str) -> usize {
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let mut escaped = false;
            for (i, c) in value.char_indices().skip(1) {
                match c {
                    _ if escaped => escaped = false,
                    '\\' if quote == '"' => escaped = true,
                    c if c == quote => return i + 1,
                    _ => {}
                }
            }
            value.len()
        }
        // a header follows its scheme: `Authorization: Bearer …`
        _ => value.find(['\n', '\r', '\0', ',', '}', '#']).unwrap_or(value.len()),
    }
}

/// `https://user:password@host`: what stands before the `@`.
fn userinfo(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
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
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_and_nothing_moves() {
        for (text, masked) in [
            ("password = \"hunter2\" # why", "password = \"xxxxxxx\" # why"),
            ("auth = 'YWJj'", "auth = 'xxxx'"),
            ("{\"identity_token\": \"a\\nb\", \"x\": 1}", "{\"identity_token\": \"x\\nx\", \"x\": 1}"),
            ("endpoint = [\"https://me:pw@host/v2\"]", "endpoint = [\"https://xx:xx@host/v2\"]"),
            ("token = \"\\u00e9z\"", "token = \"\\u0000x\""),
            ("SystemdCgroup = true", "SystemdCgroup = true"),
            ("Environment=API_TOKEN=abc", "Environment=API_TOKEN=xxx"),
            ("authorization: Bearer abc\n", "authorization: xxxxxx xxx\n"),
            ("--bootstrap-token=ab.cd", "--bootstrap-token=xx.xx"),
        ] {
            assert_eq!(mask("/etc/containerd/config.toml", text), masked);
        }
        assert_eq!(mask("/proc/1/cmdline", "k\0--token\0abc\0--v\u{0}2\0"), "k\0--token\0xxx\0--v\u{0}2\0");
        let key = "-----BEGIN RSA PRIVATE KEY-----\nAbc+/=\n-----END RSA PRIVATE KEY-----\nx = 1\n";
        assert_eq!(
            mask("/k", key),
            "-----BEGIN RSA PRIVATE KEY-----\nxxx+/=\n-----END RSA PRIVATE KEY-----\nx = 1\n"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_covered_too() {
        assert_eq!(bytes(b"token = \"a\xff\"\nb = 1\xff\n"), b"xxxxx = \"x\xff\"\nb = 1\xff\n");
    }
}
