//! What sysctl.d sets at boot. Facts of sysctl.d(5) and systemd's src/sysctl/sysctl.c.

use super::Reader;
use crate::fact::{Known, Why};
use crate::text::{Place, Span, lines};
use std::collections::BTreeMap;

/// An earlier directory shadows a later one, file by file.
const DIRS: [&str; 5] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"];

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// With dots: `net.ipv4.ip_forward`.
    pub name: String,
    pub value: String,
    pub place: Place,
}

/// All assignments in the order in which they are made: the last one of a name counts.
/// `plain_file` is read last, /etc/sysctl.conf where another init than systemd sets them.
pub fn settings(reader: &mut dyn Reader, plain_file: Option<&str>) -> Known<Vec<Setting>> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for dir in DIRS {
        match reader.list(dir) {
            Known::Is(names) => {
                for name in names.into_iter().filter(|n| n.ends_with(".conf")) {
                    let path = format!("{dir}/{name}");
                    files.entry(name).or_insert(path);
                }
            }
            Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => {}
            Known::Unknown(why) => return Known::Unknown(why),
        }
    }
    let mut settings = Vec::new();
    for path in files.into_values().chain(plain_file.map(str::to_owned)) {
        if reader.link(&path).is().is_some_and(|target| target == "/dev/null") {
            continue;
        }
        match reader.file(&path) {
            Known::Is(captured) => {
                for (span, line) in lines(&captured.text) {
                    settings.extend(assignment(line, span.start).map(|(name, value, span)| Setting {
                        name,
                        value,
                        place: Place { source: captured.id, span },
                    }));
                }
            }
            // a link that leads nowhere
            Known::Absent(_) => {}
            Known::Unknown(why) => return Known::Unknown(why),
        }
    }
    Known::Is(settings)
}

/// Name, value and the span of both.
fn assignment(line: &str, at: usize) -> Option<(String, String, Span)> {
    let said = line.trim();
    if said.is_empty() || said.starts_with(['#', ';']) {
        return None;
    }
    let start = at + line.find(said)?;
    // a failure of this one is no failure
    let (key, value) = said.strip_prefix('-').unwrap_or(said).split_once('=')?;
    let span = Span::new(start, start + said.len());
    Some((dotted(key.trim()), value.trim().to_owned(), span))
}

/// Whichever separator comes first is the separator; the other one is part of a name.
fn dotted(key: &str) -> String {
    match key.find(['.', '/']) {
        Some(at) if key[at..].starts_with('/') => key
            .chars()
            .map(|c| {
                if c == '/' {
                    '.'
                } else if c == '.' {
                    '/'
                } else {
                    c
                }
            })
            .collect(),
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_systemd_does() {
        let read = |line| assignment(line, 10).map(|(name, value, span)| (name, value, span.start));
        let is = |name: &str, value: &str, at| Some((name.to_owned(), value.to_owned(), at));
        assert_eq!(read(" net.ipv4.ip_forward = 1"), is("net.ipv4.ip_forward", "1", 11));
        assert_eq!(read("-net/ipv4/conf/eth0.1/x=0"), is("net.ipv4.conf.eth0/1.x", "0", 10));
        for nothing in ["", "# a=1", "; a=1", "a"] {
            assert_eq!(read(nothing), None);
        }
    }
}
