//! The result of a run, and the forms it is printed in. Verdicts and captured texts in, bytes out.

use crate::config::FailOn;
use crate::finding::{Confidence, Finding, Missing, Outcome, Severity, Verdict};
use crate::names;
use crate::suppress::Suppressed;
use crate::text::{Place, Sources};
use std::collections::BTreeMap;
use std::io;

pub mod facts;
mod json;
pub mod schema;
mod short;
mod snippet;
mod style;
mod text;

pub use style::{ColorChoice, Detail, Style, Surroundings};
pub use text::trouble;

/// A rule that could not be judged, with everything that was missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    pub code: String,
    pub name: String,
    pub facts: Vec<Missing>,
}

impl Unjudged {
    /// The one thing that would help first.
    pub fn resolve(&self) -> String {
        self.facts.first().map(|f| f.why.remedy()).unwrap_or_default()
    }
}

/// A rule that found nothing to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    pub code: String,
    pub name: String,
    /// Names of the facts that were read.
    pub read: Vec<String>,
}

/// Everything that is printed of one run.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    pub sources: &'a Sources,
    /// Gravest first, then by code and place.
    pub findings: Vec<Finding>,
    pub unknown: Vec<Unjudged>,
    pub suppressed: Vec<Suppressed>,
    pub passed: Vec<Quiet>,
    pub not_applicable: Vec<Quiet>,
    /// What the node is, a line each; for people who ask for more.
    pub node: Vec<String>,
    /// What limits the judgement, a line each.
    pub notes: Vec<String>,
    /// False: neither a kubelet nor a container runtime was found.
    pub kubernetes: bool,
    /// Findings below are not shown; they still count for the exit code.
    pub min_severity: Option<Severity>,
    pub min_confidence: Option<Confidence>,
}

/// How many of each; rules are counted, not rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
    pub unknown: usize,
    pub suppressed: usize,
    pub passed: usize,
    pub not_applicable: usize,
    /// Findings below `--min-severity` or `--min-confidence`.
    pub hidden: usize,
}

impl<'a> Report<'a> {
    /// Sorts, counts and merges what [`crate::suppress::apply`] left.
    pub fn new(sources: &'a Sources, verdicts: Vec<Verdict>, suppressed: Vec<Suppressed>) -> Report<'a> {
        let mut findings: Vec<Finding> = Vec::new();
        let mut known = BTreeMap::new();
        let mut unknown: BTreeMap<String, Unjudged> = BTreeMap::new();
        // Whether some row passed, for rules that are otherwise silent.
        let mut silent: BTreeMap<String, (bool, Quiet)> = BTreeMap::new();
        for verdict in verdicts {
            let Verdict { code, name, outcome, read } = verdict;
            match outcome {
                Outcome::Finding(finding) => add(&mut findings, &mut known, *finding),
                Outcome::Unknown(facts) => {
                    let entry = unknown.entry(code.clone());
                    let rule = entry.or_insert_with(|| Unjudged { code, name, facts: Vec::new() });
                    for fact in facts {
                        if !rule.facts.contains(&fact) {
                            rule.facts.push(fact);
                        }
                    }
                }
                Outcome::Pass | Outcome::NotApplicable => {
                    let quiet = Quiet { code: code.clone(), name, read: Vec::new() };
                    let (passed, quiet) = silent.entry(code).or_insert((false, quiet));
                    *passed |= outcome == Outcome::Pass;
                    for fact in read {
                        if !quiet.read.contains(&fact) {
                            quiet.read.push(fact);
                        }
                    }
                }
            }
        }
        let place =
            |f: &Finding| f.labels.first().map(|l| (sources.get(l.place.source).name.as_str(), l.place.span));
        findings.sort_by(|a, b| {
            (b.severity, a.code.as_str(), place(a), a.message.as_str()).cmp(&(
                a.severity,
                b.code.as_str(),
                place(b),
                b.message.as_str(),
            ))
        });
        silent.retain(|code, _| {
            !unknown.contains_key(code)
                && !findings.iter().any(|f| f.code == *code)
                && !suppressed.iter().any(|s| s.finding.code == *code)
        });
        let (passed, not_applicable): (Vec<_>, Vec<_>) =
            silent.into_values().partition(|(passed, _)| *passed);
        let quiet = |list: Vec<(bool, Quiet)>| list.into_iter().map(|(_, quiet)| quiet).collect();
        Report {
            sources,
            findings,
            unknown: unknown.into_values().collect(),
            suppressed,
            passed: quiet(passed),
            not_applicable: quiet(not_applicable),
            node: Vec::new(),
            notes: Vec::new(),
            kubernetes: true,
            min_severity: None,
            min_confidence: None,
        }
    }

    /// The findings that are not hidden.
    pub fn shown(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| {
            self.min_severity.is_none_or(|min| f.severity >= min)
                && self.min_confidence.is_none_or(|min| f.confidence >= min)
        })
    }

    pub fn counts(&self) -> Counts {
        let of = |severity| self.shown().filter(|f| f.severity == severity).count();
        Counts {
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            notes: of(Severity::Note),
            unknown: self.unknown.len(),
            suppressed: self.suppressed.len(),
            passed: self.passed.len(),
            not_applicable: self.not_applicable.len(),
            hidden: self.findings.len() - self.shown().count(),
        }
    }

    /// 0 clean, 1 something at or above `fail_on`, 2 nothing at all could be judged.
    pub fn exit_code(&self, fail_on: FailOn) -> u8 {
        // rules about the check itself say nothing of the node
        let of_the_node = |code: &str| !code.starts_with("NV9");
        let judged = self.findings.iter().any(|f| of_the_node(&f.code))
            || self.passed.iter().chain(&self.not_applicable).any(|quiet| of_the_node(&quiet.code))
            || !self.suppressed.is_empty();
        if !self.unknown.is_empty() && !judged {
            return 2;
        }
        let worst = self.findings.iter().map(|f| f.severity).max();
        let fails = match fail_on {
            FailOn::Error => worst >= Some(Severity::Error),
            FailOn::Warning => worst >= Some(Severity::Warning),
            FailOn::Note => worst.is_some(),
            FailOn::Unknown => worst.is_some() || !self.unknown.is_empty(),
            FailOn::Never => false,
        };
        u8::from(fails)
    }
}

/// Code, message and first place.
type Same = (String, String, Option<Place>);

/// The same rule saying the same of the same place is one finding, whatever else its labels show.
fn add(findings: &mut Vec<Finding>, known: &mut BTreeMap<Same, usize>, new: Finding) {
    let same = (new.code.clone(), new.message.clone(), new.labels.first().map(|l| l.place));
    let at = *known.entry(same).or_insert(findings.len());
    match findings.get_mut(at) {
        Some(known) => {
            known.severity = known.severity.max(new.severity);
            for label in new.labels {
                if !known.labels.contains(&label) {
                    known.labels.push(label);
                }
            }
            for fix in new.fixes {
                if !known.fixes.contains(&fix) {
                    known.fixes.push(fix);
                }
            }
        }
        None => findings.push(new),
    }
}

type Print = fn(&Report<'_>, &Style, &mut dyn io::Write) -> io::Result<()>;

/// Every form there is, by name.
const FORMATS: [(&str, Print); 3] = [("text", text::print), ("short", short::print), ("json", json::print)];

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format(usize);

/// A form that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no format `{name}`: {}", hint(.nearest))]
pub struct NoSuchFormat {
    pub name: String,
    pub nearest: Option<&'static str>,
}

fn hint(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", FORMATS.map(|f| f.0).join(", ")),
    }
}

impl Format {
    /// The form for people, which is the default.
    pub const TEXT: Format = Format(0);

    pub fn named(name: &str) -> Result<Format, NoSuchFormat> {
        FORMATS.iter().position(|f| f.0 == name).map(Format).ok_or_else(|| NoSuchFormat {
            name: name.to_owned(),
            nearest: names::nearest(name, FORMATS.iter().map(|f| f.0)),
        })
    }

    pub fn name(self) -> &'static str {
        FORMATS[self.0].0
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|f| f.0)
    }

    pub fn print(self, report: &Report<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
        FORMATS[self.0].1(report, style, out)
    }
}

impl std::str::FromStr for Format {
    type Err = NoSuchFormat;

    fn from_str(name: &str) -> Result<Format, NoSuchFormat> {
        Format::named(name)
    }
}

#[cfg(test)]
mod tests;
