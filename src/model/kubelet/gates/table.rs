//! The table of feature gates, read from its text.

use std::sync::OnceLock;

/// How far a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grade {
    Alpha,
    Beta,
    General,
    Deprecated,
}

/// Whether a gate may be set against its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    Open,
    Locked,
    Unread,
}

/// What a gate is from a version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Minor of 1.x.
    pub minor: u32,
    pub grade: Grade,
    pub on: bool,
    pub lock: Lock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gate {
    pub name: &'static str,
    steps: Vec<Step>,
    /// Whether versions before the first step know it was not read.
    open_start: bool,
    /// The last version that surely knows it, the first that surely does not.
    end: Option<(u32, u32)>,
    /// Read for the released [`NEWEST`].
    pub read: bool,
    pub depends: Vec<&'static str>,
}

/// The newest version that the table tells of; where a line does not say so, as it was while in work.
pub(super) const NEWEST: u32 = 36;

/// What a version makes of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It came with a later version.
    NotYet(u32),
    Is(Step),
    /// It went with this version or one before; what it was last.
    Gone(u32, Step),
    /// It may be unknown there; what it was before, if it was.
    Unread(Option<Step>),
}

impl Gate {
    pub(super) fn at(&self, minor: u32) -> Standing {
        let step = self.steps.iter().rev().find(|step| step.minor <= minor).copied();
        match (step, self.end) {
            (Some(step), Some((_, gone))) if minor >= gone => Standing::Gone(gone, step),
            (Some(step), Some((last, _))) if minor > last => Standing::Unread(Some(step)),
            (Some(step), _) => Standing::Is(step),
            (None, _) if self.open_start => Standing::Unread(None),
            (None, _) => Standing::NotYet(self.steps.first().map_or(0, |step| step.minor)),
        }
    }

    /// The version that locked it.
    pub(super) fn locked_by(&self) -> Option<u32> {
        self.steps.iter().find(|step| step.lock == Lock::Locked).map(|step| step.minor)
    }
}

const TEXT: &str = include_str!("table.txt");

fn lines() -> impl Iterator<Item = &'static str> {
    TEXT.lines().filter(|line| !line.starts_with('#'))
}

/// All gates, by name.
pub(super) fn all() -> &'static [Gate] {
    static ALL: OnceLock<Vec<Gate>> = OnceLock::new();
    ALL.get_or_init(|| lines().filter_map(gate).collect())
}

pub(super) fn find(name: &str) -> Option<&'static Gate> {
    let gates = all();
    gates.binary_search_by(|gate| gate.name.cmp(name)).ok().and_then(|at| gates.get(at))
}

fn gate(line: &'static str) -> Option<Gate> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let mut gate =
        Gate { name, steps: Vec::new(), open_start: false, end: None, read: false, depends: Vec::new() };
    for word in words {
        match word.split_at_checked(1)? {
            ("~", _) => gate.open_start = true,
            ("=", minor) => gate.read = minor.parse() == Ok(NEWEST),
            ("-", range) => {
                let (last, gone) = range.split_once("..")?;
                gate.end = Some((last.parse().ok()?, gone.parse().ok()?));
            }
            (">", names) => gate.depends = names.split(',').collect(),
            (grade, rest) => gate.steps.push(step(grade, rest)?),
        }
    }
    gate.read |= gate.steps.iter().any(|step| step.minor >= NEWEST);
    Some(gate)
}

fn step(grade: &str, rest: &str) -> Option<Step> {
    let grade = match grade {
        "a" => Grade::Alpha,
        "b" => Grade::Beta,
        "g" => Grade::General,
        "d" => Grade::Deprecated,
        _ => return None,
    };
    let (rest, lock) = match rest.strip_suffix('!') {
        Some(rest) => (rest, Lock::Locked),
        None => rest.strip_suffix('?').map_or((rest, Lock::Open), |rest| (rest, Lock::Unread)),
    };
    let (minor, on) = rest.strip_suffix('+').map_or((rest, false), |minor| (minor, true));
    Some(Step { minor: minor.parse().ok()?, grade, on, lock })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_in_order() {
        let names: Vec<&str> = lines().filter_map(|line| line.split(' ').next()).collect();
        let gates = all();
        assert_eq!(gates.iter().map(|gate| gate.name).collect::<Vec<_>>(), names);
        assert!(names.is_sorted(), "sorted and each once");
        for gate in gates {
            assert!(!gate.steps.is_empty(), "{}", gate.name);
            assert!(gate.steps.is_sorted_by(|a, b| a.minor < b.minor), "{}", gate.name);
            let last = gate.steps[gate.steps.len() - 1];
            assert!(gate.end.is_none_or(|(known, gone)| known < gone && last.minor <= gone), "{}", gate.name);
            assert!(gate.depends.iter().all(|name| find(name).is_some()), "{}", gate.name);
        }
    }
}
