//! Which rules are asked for: codes, prefixes of codes, names.

use crate::names;

/// How a rule is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleName<'a> {
    pub code: &'a str,
    pub name: &'a str,
}

/// A selector that selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no rule `{selector}`{}", near(.nearest))]
pub struct NoSuchRule {
    pub selector: String,
    pub nearest: Option<String>,
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
}

/// Selected and ignored rules; what is ignored is not judged, whatever selects it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Empty: all rules.
    select: Vec<String>,
    ignore: Vec<String>,
}

impl Selection {
    /// Checks every selector against the rules there are.
    pub fn new(
        select: &[String],
        ignore: &[String],
        rules: &[RuleName<'_>],
    ) -> Result<Selection, NoSuchRule> {
        for selector in select.iter().chain(ignore) {
            known(selector, rules)?;
        }
        Ok(Selection { select: select.to_vec(), ignore: ignore.to_vec() })
    }

    /// Adds a selector, unchecked.
    pub(crate) fn with(mut self, selector: &str) -> Selection {
        self.select.push(selector.to_owned());
        self
    }

    pub fn has(&self, code: &str, name: &str) -> bool {
        let rule = RuleName { code, name };
        (self.select.is_empty() || self.select.iter().any(|s| selects(s, rule)))
            && !self.ignore.iter().any(|s| selects(s, rule))
    }
}

/// Refuses a selector that selects no rule.
pub fn known(selector: &str, rules: &[RuleName<'_>]) -> Result<(), NoSuchRule> {
    if rules.iter().any(|rule| selects(selector, *rule)) {
        return Ok(());
    }
    let name = names::nearest(selector, rules.iter().map(|r| r.name));
    let nearest = nearest_code(selector, rules).or(name);
    Err(NoSuchRule { selector: selector.to_owned(), nearest: nearest.map(str::to_owned) })
}

/// For what looks like a code: digits in another order first, then the nearest number.
fn nearest_code<'a>(selector: &str, rules: &[RuleName<'a>]) -> Option<&'a str> {
    let split = |code: &str| {
        let at = code.find(|c: char| c.is_ascii_digit())?;
        Some((code[..at].to_ascii_uppercase(), code[at..].parse::<i64>().ok()?))
    };
    let sorted = |number: i64| {
        let mut digits = number.to_string().into_bytes();
        digits.sort_unstable();
        digits
    };
    let (letters, number) = split(selector)?;
    let near = rules.iter().filter_map(|rule| {
        let (l, n) = split(rule.code)?;
        (l == letters).then(|| (sorted(n) != sorted(number), n.abs_diff(number), rule.code))
    });
    near.min().map(|(_, _, code)| code)
}

/// A code, the beginning of codes (`NV1`), or a name; codes in either case.
fn selects(selector: &str, rule: RuleName<'_>) -> bool {
    let begins = rule.code.get(..selector.len()).is_some_and(|head| head.eq_ignore_ascii_case(selector));
    !selector.is_empty() && (begins || rule.name == selector)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [RuleName<'static>; 3] = [
        RuleName { code: "NV101", name: "cgroup-driver-mismatch" },
        RuleName { code: "NV102", name: "cgroupfs-on-systemd-host" },
        RuleName { code: "NV201", name: "two-kubepods-trees" },
    ];

    fn chosen(select: &[&str], ignore: &[&str]) -> Vec<&'static str> {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let selection = Selection::new(&own(select), &own(ignore), &RULES).unwrap();
        RULES.iter().filter(|r| selection.has(r.code, r.name)).map(|r| r.code).collect()
    }

    #[test]
    fn codes_prefixes_and_names_select() {
        assert_eq!(chosen(&[], &[]), ["NV101", "NV102", "NV201"]);
        assert_eq!(chosen(&["NV1"], &[]), ["NV101", "NV102"]);
        assert_eq!(chosen(&["nv1"], &["cgroup-driver-mismatch"]), ["NV102"]);
        assert_eq!(chosen(&["NV"], &["NV"]), [""; 0]);
    }

    #[test]
    fn a_selector_of_nothing_names_its_neighbour() {
        let error = |s: &str| known(s, &RULES).unwrap_err().to_string();
        assert_eq!(error("NV110"), "no rule `NV110`; did you mean `NV101`?");
        assert_eq!(
            error("two-kubepod-trees"),
            "no rule `two-kubepod-trees`; did you mean `two-kubepods-trees`?"
        );
        assert_eq!(error(""), "no rule ``");
    }
}
