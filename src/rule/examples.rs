//! Runs the examples of a rule file. An example is *noisy* (a finding where none belongs),
//! *missing* (none where one belongs) or *wrong* (another line, severity, text or answer).

use super::file::{ExampleFile, Expected};
use super::given::{Given, given};
use super::load::Loaded;
use crate::evaluate::evaluate;
use crate::fact::{Known, Why};
use crate::finding::{Finding, Fix, Outcome};
use crate::names::{self, FactId};
use crate::resolve::{Cells, InForce, Snapshot, World, Worlds};
use crate::text::{Kind, Sources, position};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Facts that an example puts in directly.
pub type Facts = [(FactId, InForce)];

/// A node that was collected and resolved.
pub struct Scene {
    pub now: Worlds,
    pub next: Worlds,
    pub sources: Sources,
}

/// What an example with `files` needs: the collectors, and the editors for `fixed`.
pub trait Harness {
    /// Collects from a node that has these files and nothing else, and resolves. The facts override
    /// what is collected, before anything is derived from them; a version among them counts as
    /// assumed. They are laid over the result once more by the caller.
    fn collect(&self, files: &BTreeMap<String, String>, facts: &Facts) -> Scene;

    /// The texts after the edits of one fix; or why they cannot be made.
    fn fixed(
        &self,
        files: &BTreeMap<String, String>,
        facts: &Facts,
        finding: &Finding,
        fix: &Fix,
    ) -> Result<BTreeMap<String, String>, String>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Noisy,
    Missing,
    Wrong,
}

/// An example that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub path: String,
    /// Line of the example in the rule file.
    pub line: usize,
    pub example: String,
    pub fault: Fault,
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.fault {
            Fault::Noisy => "noisy",
            Fault::Missing => "missing",
            Fault::Wrong => "wrong",
        };
        write!(f, "{}:{}: {fault}: {}: {}", self.path, self.line, self.example, self.message)
    }
}

/// What came of the examples of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub held: usize,
    /// Examples with `files`, when there is no harness: neither held nor failed.
    pub not_run: Vec<String>,
    pub failures: Vec<Failure>,
}

/// Runs every example of a file.
pub fn run(loaded: &Loaded, harness: Option<&dyn Harness>) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let Some(rule) = &loaded.rule else { return outcomes };
    for example in &loaded.file.examples {
        if !example.files.is_empty() && harness.is_none() {
            outcomes.not_run.push(example.name.clone());
            continue;
        }
        match judge(rule, example, harness) {
            Ok(()) => outcomes.held += 1,
            Err((fault, message)) => outcomes.failures.push(Failure {
                path: loaded.path.clone(),
                line: position(&loaded.text, example.span.start).line,
                example: example.name.clone(),
                fault,
                message,
            }),
        }
    }
    outcomes
}

type Judgement = Result<(), (Fault, String)>;

fn judge(rule: &super::law::Rule, example: &ExampleFile, harness: Option<&dyn Harness>) -> Judgement {
    let facts = in_force(example);
    let mut scene = match harness {
        Some(harness) if !example.files.is_empty() => harness.collect(&example.files, &facts),
        _ => Scene { now: nothing(), next: nothing(), sources: Sources::default() },
    };
    for worlds in [&mut scene.now, &mut scene.next] {
        let worlds = worlds.worlds.iter_mut().map(|w| &mut w.facts).chain([&mut worlds.merged]);
        worlds.for_each(|snapshot| facts.iter().for_each(|(id, fact)| snapshot.set(*id, fact.clone())));
    }
    let verdicts = evaluate(std::slice::from_ref(rule), &scene.now, &scene.next, &scene.sources);
    let outcomes: Vec<Outcome> = verdicts.into_iter().map(|v| v.outcome).collect();
    let findings: Vec<&Finding> =
        outcomes.iter().filter_map(|o| if let Outcome::Finding(f) = o { Some(&**f) } else { None }).collect();
    answer(example, &outcomes, &findings)?;
    let Some(finding) = findings.first() else { return Ok(()) };
    if let Some(severity) = example.severity.filter(|s| *s != finding.severity) {
        let message = format!("severity {}, expected {}", finding.severity.name(), severity.name());
        return Err((Fault::Wrong, message));
    }
    label(example, &findings, &scene.sources)?;
    match harness {
        Some(harness) if !example.fixed.is_empty() => fixed(example, &facts, finding, harness),
        _ => Ok(()),
    }
}

/// The right number of findings, or the right other answer.
fn answer(example: &ExampleFile, outcomes: &[Outcome], findings: &[&Finding]) -> Judgement {
    let expected = example.expect.unwrap_or(Expected::Pass);
    if expected == Expected::Finding {
        let wanted = example.count.unwrap_or(1);
        return match findings.len() {
            met if met == wanted => Ok(()),
            met if met < wanted => {
                let answers: Vec<String> = outcomes.iter().map(describe).collect();
                Err((Fault::Missing, format!("{met} of {wanted} findings; answers: {}", answers.join("; "))))
            }
            met => Err((Fault::Noisy, format!("{met} findings, expected {wanted}"))),
        };
    }
    if let Some(finding) = findings.first() {
        return Err((Fault::Noisy, finding.message.clone()));
    }
    let any_unknown = outcomes.iter().any(|o| matches!(o, Outcome::Unknown(_)));
    let any_pass = outcomes.iter().any(|o| matches!(o, Outcome::Pass));
    let met = match (any_unknown, any_pass) {
        (true, _) => Expected::Unknown,
        (false, true) => Expected::Pass,
        (false, false) => Expected::NotApplicable,
    };
    if met == expected {
        return Ok(());
    }
    let answers: Vec<String> = outcomes.iter().map(describe).collect();
    Err((Fault::Wrong, format!("expected {}, answers: {}", expected.name(), answers.join("; "))))
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Finding(finding) => format!("finding ({})", finding.message),
        Outcome::Pass => "pass".into(),
        Outcome::NotApplicable => "not-applicable".into(),
        Outcome::Unknown(missing) => {
            let facts: Vec<String> = missing.iter().map(|m| format!("{}: {}", m.fact, m.why)).collect();
            format!("unknown ({})", facts.join(", "))
        }
    }
}

/// The primary label of some finding stands on the line marked `# here`.
fn label(example: &ExampleFile, findings: &[&Finding], sources: &Sources) -> Judgement {
    let marked = example.files.iter().flat_map(|(path, text)| {
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains("# here"));
        lines.map(move |(i, _)| (path.as_str(), i + 1))
    });
    for (path, line) in marked {
        let places = findings.iter().filter_map(|f| f.labels.first()).map(|label| {
            let source = sources.get(label.place.source);
            let at = sources.position(label.place);
            (
                source.kind == Kind::File && source.name == path && at.line == line,
                format!("{}:{}", source.name, at.line),
            )
        });
        let places: Vec<(bool, String)> = places.collect();
        if !places.iter().any(|(right, _)| *right) {
            let met = places.iter().map(|(_, at)| at.as_str()).collect::<Vec<_>>().join(", ");
            let met = if met.is_empty() { "nowhere" } else { met.as_str() };
            return Err((Fault::Wrong, format!("label at {met}, expected {path}:{line}")));
        }
    }
    Ok(())
}

/// The text after the first fix that edits.
fn fixed(example: &ExampleFile, facts: &Facts, finding: &Finding, harness: &dyn Harness) -> Judgement {
    let wrong = |message: String| Err((Fault::Wrong, message));
    let Some(fix) = finding.fixes.iter().find(|fix| fix.intent.is_some()) else {
        return wrong("no fix of this finding edits".into());
    };
    let texts = match harness.fixed(&example.files, facts, finding, fix) {
        Ok(texts) => texts,
        Err(why) => return wrong(format!("cannot be fixed: {why}")),
    };
    for (path, expected) in &example.fixed {
        match texts.get(path) {
            Some(text) if text == expected => {}
            Some(text) => return wrong(format!("{path} after the fix, {}", difference(text, expected))),
            None => return wrong(format!("{path} is not touched by the fix")),
        }
    }
    Ok(())
}

fn difference(met: &str, expected: &str) -> String {
    let (mut met, mut wanted) = (met.lines(), expected.lines());
    for line in 1.. {
        match (met.next(), wanted.next()) {
            (None, None) => break,
            (a, b) if a != b => {
                return format!("line {line}: {:?}, expected {:?}", a.unwrap_or(""), b.unwrap_or(""));
            }
            _ => {}
        }
    }
    "the end: a line end too many or too few".to_owned()
}

/// A node of which nothing is there.
fn nothing() -> Worlds {
    let mut facts = Snapshot::unread();
    names::all().for_each(|id| facts.set(id, InForce::bare(Known::ABSENT)));
    let world = World { containerd: 0, kubelet: 0, facts: facts.clone() };
    Worlds {
        containerd: vec![String::new()],
        kubelet: vec![String::new()],
        worlds: vec![world],
        merged: facts,
    }
}

fn in_force(example: &ExampleFile) -> Vec<(FactId, InForce)> {
    // checked when the file was loaded
    let facts = given(example, &mut Vec::new());
    facts.into_iter().map(|(id, given)| (id, of(given))).collect()
}

fn of(given: Given) -> InForce {
    let rows = match given {
        Given::Unread => return InForce::bare(Known::Unknown(Why::Unread)),
        Given::Value(value) => return InForce::bare(Known::Is(value)),
        Given::Rows(rows) => rows,
    };
    let cell = |cell: Option<crate::fact::Value>| InForce::bare(cell.map_or(Known::ABSENT, Known::Is));
    let cells = |row: Vec<_>| Arc::new(row.into_iter().map(cell).collect());
    let rows: Vec<Cells> = rows.into_iter().map(cells).collect();
    let first = rows.iter().filter_map(|row| row.first().and_then(|c| c.value.is().cloned())).collect();
    InForce { rows, ..InForce::bare(Known::Is(crate::fact::Value::List(first))) }
}

#[cfg(test)]
mod tests;
