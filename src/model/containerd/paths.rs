//! Paths and globs as Go's path/filepath treats them.

use crate::fact::Known;

/// `filepath.Clean` of an absolute path.
pub(super) fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The directory of an absolute path.
pub(in crate::model) fn dir(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(i) => &path[..i],
    }
}

/// A path as seen from a directory.
pub(in crate::model) fn join(dir: &str, path: &str) -> String {
    if path.starts_with('/') { clean(path) } else { clean(&format!("{dir}/{path}")) }
}

/// Whether Go takes the pattern at all.
pub(super) fn well_formed(pattern: &str) -> bool {
    pattern.split('/').all(|part| tokens(part).is_some())
}

/// All paths that an absolute pattern reaches, in Go's order. `list` gives the sorted names of a directory.
pub(super) fn glob(pattern: &str, list: &mut dyn FnMut(&str) -> Known<Vec<String>>) -> Known<Vec<String>> {
    let mut found = vec![String::new()];
    let parts: Vec<&str> = pattern.split('/').filter(|p| !p.is_empty()).collect();
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let Some(want) = tokens(part) else { return Known::Is(Vec::new()) };
        let plain: Option<String> =
            want.iter().map(|t| if let Token::Char(c) = t { Some(*c) } else { None }).collect();
        let mut next = Vec::new();
        for base in &found {
            match &plain {
                // a fixed directory need not be listed: what is below it will tell
                Some(name) if !last => next.push(format!("{base}/{name}")),
                _ => {
                    let dir = if base.is_empty() { "/" } else { base };
                    match list(dir) {
                        Known::Is(names) => next.extend(
                            names
                                .iter()
                                .filter(|n| matches(&want, &n.chars().collect::<Vec<_>>()))
                                .map(|n| format!("{base}/{n}")),
                        ),
                        Known::Absent(_) => {}
                        Known::Unknown(why) => return Known::Unknown(why),
                    }
                }
            }
        }
        found = next;
    }
    Known::Is(found)
}

enum Token {
    Char(char),
    Any,
    One,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

fn tokens(part: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = part.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Char(chars.next()?),
            '[' => {
                let negated = chars.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                loop {
                    let low = match chars.next()? {
                        ']' if !ranges.is_empty() => break,
                        ']' | '-' => return None,
                        '\\' => chars.next()?,
                        low => low,
                    };
                    let high = match chars.next_if_eq(&'-') {
                        None => low,
                        Some(_) => match chars.next()? {
                            ']' | '-' => return None,
                            '\\' => chars.next()?,
                            high => high,
                        },
                    };
                    ranges.push((low, high));
                }
                Token::Class { negated, ranges }
            }
            c => Token::Char(c),
        });
    }
    Some(tokens)
}

/// Linear in practice: on a mismatch only the last `*` takes one more character.
fn matches(want: &[Token], name: &[char]) -> bool {
    let (mut w, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        let fits = match want.get(w) {
            Some(Token::Any) => {
                retry = Some((w + 1, n));
                w += 1;
                continue;
            }
            Some(Token::Char(c)) => *c == name[n],
            Some(Token::One) => true,
            Some(Token::Class { negated, ranges }) => {
                ranges.iter().any(|(a, b)| (*a..=*b).contains(&name[n])) != *negated
            }
            None => false,
        };
        if fits {
            w += 1;
            n += 1;
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            w = after;
            n = from + 1;
        } else {
            return false;
        }
    }
    want[w..].iter().all(|t| matches!(t, Token::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str) -> Vec<String> {
        let mut list = |dir: &str| match dir {
            "/c" => Known::Is(vec!["README".into(), "a.toml".into(), "b.toml".into(), "sub".into()]),
            "/c/sub" => Known::Is(vec!["x.toml".into()]),
            _ => Known::ABSENT,
        };
        glob(pattern, &mut list).is().cloned().unwrap_or_default()
    }

    #[test]
    fn globs_reach_what_go_reaches() {
        assert_eq!(find("/c/*.toml"), ["/c/a.toml", "/c/b.toml"]);
        assert_eq!(find("/c/**/*.toml"), ["/c/sub/x.toml"]);
        assert_eq!(find("/c/[b-c]*"), ["/c/b.toml"]);
        assert_eq!(find("/c/?.*"), ["/c/a.toml", "/c/b.toml"]);
        assert_eq!(find("/nothing/*"), Vec::<String>::new());
        assert_eq!(find("/c/*/x.toml"), ["/c/sub/x.toml"]);
        assert!(well_formed("/c/*[a]") && !well_formed("/c/*[a") && !well_formed("/c/*\\"));
    }

    #[test]
    fn paths_are_cleaned() {
        assert_eq!(join("/etc/containerd", "./conf.d/../x.toml"), "/etc/containerd/x.toml");
        assert_eq!(join("/etc", "/a//b/"), "/a/b");
        assert_eq!(dir("/config.toml"), "/");
        assert_eq!(clean("/../.."), "/");
    }
}
