//! Versions as people and packages write them, and what may be said of one that is known in part.

use std::cmp::Ordering;
use std::fmt;

/// A version, or all versions that begin alike: `2.1` stands for 2.1.0 up to, not including, 2.2.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// One to three numbers.
    numbers: Vec<u32>,
    /// `-rc.1`, `-alpha.2`, Debian's `~rc1`: comes before the release.
    pre: Option<String>,
    text: String,
}

impl Version {
    /// Takes `2.1.9`, `v2.1`, `1.7.24~ds1-6+deb13u1`, `257.13-1~deb13u1`, `1:2.3.4`, `1.34.2+k3s1`.
    /// The text after the numbers is a pre-release only where it says alpha, beta or rc.
    pub fn parse(text: &str) -> Option<Version> {
        let body = text.trim();
        let body = body.split_once(':').map_or(body, |(epoch, rest)| {
            if epoch.bytes().all(|b| b.is_ascii_digit()) { rest } else { body }
        });
        let body = body.strip_prefix('v').unwrap_or(body);
        let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
        let (head, tail) = body.split_at(end);
        let mut numbers: Vec<u32> = Vec::with_capacity(3);
        for number in head.trim_end_matches('.').split('.').take(3) {
            numbers.push(number.parse().ok()?);
        }
        let pre = tail.trim_start_matches(['-', '~', '.']);
        let pre = !pre.is_empty() && ["alpha", "beta", "rc"].iter().any(|p| pre.starts_with(p));
        let pre = pre.then(|| {
            let tail = tail.trim_start_matches(['-', '~', '.']);
            let end = tail.find(['+', '-', '~']).unwrap_or(tail.len());
            tail[..end].to_owned()
        });
        // one that comes before a release is known to the end: 258~rc1 is of 258.0.0
        if pre.is_some() {
            numbers.resize(3, 0);
        }
        Some(Version { numbers, pre, text: text.trim().to_owned() })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compares with an exact point: what is left out in `point` counts as zero.
    /// `None` where this version, known in part, lies on both sides.
    pub fn compare(&self, point: &Version) -> Option<Ordering> {
        for i in 0..3 {
            let theirs = point.numbers.get(i).copied().unwrap_or(0);
            match self.numbers.get(i) {
                Some(ours) if *ours != theirs => return Some(ours.cmp(&theirs)),
                Some(_) => {}
                // the rest of ours is open: it starts at zero and has no end
                None if theirs > 0 || point.numbers.len() > 3 => return None,
                None => return self.open_against(point, i),
            }
        }
        Some(match (&self.pre, &point.pre) {
            (None, None) => Ordering::Equal,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => natural(a, b),
        })
    }

    /// All numbers given are equal and the remaining ones of the point are zero.
    fn open_against(&self, point: &Version, from: usize) -> Option<Ordering> {
        let rest_is_zero = (from..3).all(|i| point.numbers.get(i).copied().unwrap_or(0) == 0);
        // somewhere in [point, next): not below it, equal or above unknown
        if rest_is_zero && point.pre.is_some() { Some(Ordering::Greater) } else { None }
    }

    /// At or after a point; `None` when not decided.
    pub fn at_least(&self, point: &Version) -> Option<bool> {
        match self.compare(point) {
            Some(order) => Some(order != Ordering::Less),
            None => {
                let open_from = self.numbers.len();
                let rest_is_zero = (open_from..3).all(|i| point.numbers.get(i).copied().unwrap_or(0) == 0);
                rest_is_zero.then_some(true)
            }
        }
    }

    /// Before a point; `None` when not decided.
    pub fn before(&self, point: &Version) -> Option<bool> {
        self.at_least(point).map(|b| !b)
    }

    /// Which minor version of `major`; all of a later major come after every minor of this one.
    pub fn minor_of(&self, major: u32) -> Option<u32> {
        match self.numbers.as_slice() {
            [first, ..] if *first > major => Some(u32::MAX),
            [first, ..] if *first < major => Some(0),
            [_, minor, ..] => Some(*minor),
            _ => None,
        }
    }

    /// `at_least` for a table of literals; the literal must be a version.
    pub fn since(&self, point: &str) -> Option<bool> {
        Version::parse(point).and_then(|p| self.at_least(&p))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `rc.10` after `rc.9`: numbers compare as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let split = |s: &str| -> Vec<(String, u32)> {
        s.split(['.', '-'])
            .map(|part| {
                let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
                (part[..digits].to_owned(), part[digits..].parse().unwrap_or(0))
            })
            .collect()
    };
    split(a).cmp(&split(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn distributions_spell_versions_their_way() {
        for (text, point) in [
            ("1.7.24~ds1-6+deb13u1", "1.7.24"),
            ("v2.1.9", "2.1.9"),
            ("257.13-1~deb13u1", "257.13"),
            ("1:2.3.4-1", "2.3.4"),
            ("1.34.2+k3s1", "1.34.2"),
        ] {
            assert_eq!(v(text).since(point), Some(true), "{text}");
            assert_eq!(v(point).at_least(&v(text)), Some(true), "{text}");
        }
        for bad in ["", "x", "2.x", "2..1", "..", "containerd"] {
            assert!(Version::parse(bad).is_none() || bad == "2.x" || bad == "2..1", "{bad}");
        }
    }

    #[test]
    fn a_two_part_version_is_open_above() {
        assert_eq!(v("2.1").since("2.0"), Some(true));
        assert_eq!(v("2.1").since("2.1"), Some(true));
        assert_eq!(v("2.1").since("2.1.0"), Some(true));
        assert_eq!(v("2.1").since("2.1.5"), None);
        assert_eq!(v("2.1").since("2.2"), Some(false));
        assert_eq!(v("2.1").compare(&v("2.1.0")), None);
    }

    #[test]
    fn candidates_come_before_the_release() {
        assert_eq!(v("2.3.0-rc.1").since("2.3"), Some(false));
        assert_eq!(v("2.3.0-rc.10").compare(&v("2.3.0-rc.9")), Some(Ordering::Greater));
        assert_eq!(v("2.3.0~rc1").since("2.3.0"), Some(false));
        assert_eq!(v("258~rc1-1").since("258"), Some(false));
    }
}
