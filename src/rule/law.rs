//! A checked rule: what evaluation needs, and nothing else.

use super::expr::{Ref, Term};
use super::late::Late;
use super::template::Template;
use crate::fact::Value;
use crate::finding::{Safety, Severity};
use crate::names::FactId;
use serde::{Deserialize, Serialize};

/// A law: where `given` holds, `expect` must hold too; else there is something to report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// `NV101`
    pub code: String,
    /// `cgroup-driver-mismatch`
    pub name: String,
    /// The first whose `when` is true counts; the last has none.
    pub severity: Vec<Case>,
    pub at: At,
    /// A table: the rule is judged once for each of its rows.
    pub each: Option<FactId>,
    pub given: Option<Term>,
    pub expect: Term,
    /// All facts that decide what it says: those it reads, shows and changes.
    pub mentions: Vec<FactId>,
    pub told: Late<Told>,
}

/// What is told of a finding, and what can be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub summary: String,
    pub message: Template,
    /// The first is the primary one.
    pub labels: Vec<LabelSpec>,
    pub fixes: Vec<FixSpec>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub when: Option<Term>,
    pub is: Severity,
}

/// Which moment a rule judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    #[default]
    Now,
    NextStart,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelSpec {
    pub fact: Ref,
    /// Elements of a list fact, each shown at its own place; empty: the fact as a whole.
    pub show: Vec<String>,
    pub text: Template,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixSpec {
    pub title: Template,
    pub when: Option<Term>,
    /// None for what only people can do.
    pub action: Option<Action>,
    pub safety: Safety,
    pub reason: Option<Template>,
    pub after: Vec<Template>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    Set { fact: Ref, to: To },
    Remove { fact: Ref, element: Option<To> },
    Move { fact: Ref, to: Vec<Template> },
}

/// A value that a fix writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum To {
    Value(Value),
    Text(Template),
}

impl Rule {
    /// What `given` and `expect` read, each name once.
    pub fn reads(&self) -> Vec<Ref> {
        let mut reads = Vec::new();
        for term in self.given.iter().chain([&self.expect]) {
            term.reads(&mut reads);
        }
        reads
    }

    /// What the severity reads.
    pub fn severity_reads(&self) -> Vec<Ref> {
        let mut reads = Vec::new();
        self.severity.iter().filter_map(|case| case.when.as_ref()).for_each(|term| term.reads(&mut reads));
        reads
    }

    /// The facts that it reads, shows and changes, each once.
    pub(super) fn to_mention(&self) -> Vec<FactId> {
        let mut refs = self.reads();
        let read = |term: &Option<Term>, refs: &mut Vec<Ref>| term.iter().for_each(|term| term.reads(refs));
        self.severity.iter().for_each(|case| read(&case.when, &mut refs));
        refs.extend(self.told.message.slots());
        refs.extend(self.told.labels.iter().flat_map(|label| label.text.slots().chain([label.fact])));
        for fix in &self.told.fixes {
            read(&fix.when, &mut refs);
            let said = [&fix.title].into_iter().chain(&fix.reason).chain(&fix.after);
            refs.extend(said.flat_map(Template::slots));
            let filled = |to: &To| if let To::Text(text) = to { text.slots().collect() } else { Vec::new() };
            match &fix.action {
                None => {}
                Some(Action::Set { to, .. }) => refs.extend(filled(to)),
                Some(Action::Remove { element, .. }) => refs.extend(element.iter().flat_map(filled)),
                Some(Action::Move { to, .. }) => refs.extend(to.iter().flat_map(Template::slots)),
            }
        }
        let facts = refs.into_iter().filter_map(|at| if let Ref::Fact(id) = at { Some(id) } else { None });
        let mut facts: Vec<FactId> = facts.chain(self.each).collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// The mildest severity that is still possible.
    pub fn mildest(&self) -> Severity {
        self.severity.iter().map(|case| case.is).min().unwrap_or(Severity::Note)
    }
}
