//! Rules over facts: verdicts. Pure, and cannot fail.

use crate::fact::Known;
use crate::finding::{Finding, Missing, Outcome, Severity, Verdict};
use crate::resolve::{Cells, Worlds};
use crate::rule::Rule;
use crate::rule::expr::{Out, Ref, evaluate as run};
use crate::rule::law::{At, Case};
use crate::text::Sources;
use std::sync::Arc;

mod confidence;
mod show;
mod view;
mod worlds;

use view::View;
use worlds::{Group, Groups};

/// Judges every rule, at the moment that it asks for, in every world that matters to it.
/// Verdicts come in the order of the rules, and for a table in the order of its rows.
pub fn evaluate<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    now: &Worlds,
    next: &Worlds,
    sources: &Sources,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for rule in rules {
        let moment = if rule.at == At::NextStart { next } else { now };
        let reads = rule.reads();
        let groups = Groups::of(rule, &reads, moment);
        let context = Context { rule, reads: &reads, worlds: moment, sources };
        let judged = context.judge_all(groups.all());
        let read: Vec<String> = reads.iter().map(|at| at.name(rule.each)).collect();
        verdicts.extend(groups.combine(rule.each, judged).into_iter().map(|outcome| Verdict {
            code: rule.code.clone(),
            name: rule.name.clone(),
            outcome,
            read: read.clone(),
        }));
    }
    verdicts
}

/// What a world says of a rule or row. `None`: a fact that it reads is absent there, so that the
/// world says nothing (a daemon that does not start has no handlers to judge).
type Answer = Option<Outcome>;

/// What a world says: of the rule as a whole, or of each row in order.
enum Judged {
    Whole(Answer),
    Rows(Vec<Answer>),
}

impl Judged {
    fn rows(&self) -> &[Answer] {
        if let Judged::Rows(rows) = self { rows } else { &[] }
    }
}

struct Context<'a> {
    rule: &'a Rule,
    reads: &'a [Ref],
    worlds: &'a Worlds,
    sources: &'a Sources,
}

/// How far to look for the row of another group that comes next.
const AHEAD: usize = 8;

impl Context<'_> {
    fn judge_all(&self, groups: &[Group<'_>]) -> Vec<Judged> {
        let mut judged: Vec<Judged> = Vec::with_capacity(groups.len());
        for (index, group) in groups.iter().enumerate() {
            // the last one that differs in rows alone: what rows in common came to is known
            let like = |g: &Group| g.apart_from_rows == group.apart_from_rows;
            let last =
                groups[..index].iter().rposition(like).and_then(|at| Some((groups.get(at)?, &judged[at])));
            let answers = self.judge(group, last);
            judged.push(answers);
        }
        judged
    }

    /// One group's answer.
    fn judge(&self, group: &Group<'_>, last: Option<(&Group<'_>, &Judged)>) -> Judged {
        let facts = group.facts;
        let Some(table) = self.rule.each else {
            return Judged::Whole(self.law(&View { facts, each: None, row: None }));
        };
        let in_force = facts.get(table);
        match &in_force.value {
            Known::Absent(_) => return Judged::Whole(None),
            Known::Unknown(why) => {
                let missing = Missing { fact: table.decl().name.to_owned(), why: why.clone() };
                return Judged::Whole(Some(Outcome::Unknown(vec![missing])));
            }
            Known::Is(_) => {}
        }
        let known: &[Cells] = last.map_or(&[], |(group, _)| &group.facts.get(table).rows);
        let answers = last.map_or(&[][..], |(_, judged)| judged.rows());
        let mut next = 0;
        let mut judged = Vec::with_capacity(in_force.rows.len());
        for (index, cells) in in_force.rows.iter().enumerate() {
            let found = known
                .iter()
                .skip(next)
                .take(AHEAD)
                .position(|row| Arc::ptr_eq(row, cells))
                .map(|at| next + at);
            next = found.map_or(next, |at| at + 1);
            // what is told of a row names its place in the table
            let answer = found.and_then(|at| answers.get(at)).filter(|answer| worlds::quiet(answer));
            let law = || self.law(&View { facts, each: Some(table), row: Some((index, cells)) });
            judged.push(answer.cloned().unwrap_or_else(law));
        }
        Judged::Rows(judged)
    }

    /// Given this, expect that. What comes out absent does not apply. Where it is not known whether
    /// the law applies, it is kept all the same if what it expects is true.
    fn law(&self, view: &View<'_>) -> Answer {
        match self.rule.given.as_ref().map(|given| run(given, view)) {
            Some(Out::Unknown(_)) if run(&self.rule.expect, view).is_true() => return Some(Outcome::Pass),
            Some(Out::Unknown(missing)) => return Some(Outcome::Unknown(missing)),
            Some(Out::Absent) => return None,
            Some(given) if !given.is_true() => return Some(Outcome::NotApplicable),
            _ => {}
        }
        match run(&self.rule.expect, view) {
            Out::Unknown(missing) => Some(Outcome::Unknown(missing)),
            Out::Absent => None,
            expect if expect.is_false() => Some(Outcome::Finding(Box::new(self.finding(view)))),
            _ => Some(Outcome::Pass),
        }
    }

    fn finding(&self, view: &View<'_>) -> Finding {
        let (severity, undecided) = severity(&self.rule.severity, view);
        let (confidence, certainty) = confidence::of(self, view, &undecided);
        Finding {
            code: self.rule.code.clone(),
            name: self.rule.name.clone(),
            severity,
            confidence,
            certainty,
            message: self.rule.told.message.fill(view),
            labels: show::labels(self.rule, view, self.sources),
            fixes: show::fixes(self.rule, view),
            facts: show::facts(self.rule, self.reads, view),
        }
    }
}

/// The first case that is true; where some before it are unknown, the mildest still possible,
/// with the facts that would decide.
fn severity(cases: &[Case], view: &View<'_>) -> (Severity, Vec<Missing>) {
    let (mut possible, mut undecided) = (Vec::new(), Vec::new());
    for case in cases {
        match case.when.as_ref().map(|when| run(when, view)) {
            Some(Out::Unknown(missing)) => {
                possible.push(case.is);
                undecided.extend(missing);
            }
            Some(out) if !out.is_true() => {}
            _ => {
                possible.push(case.is);
                break;
            }
        }
    }
    let differ = possible.windows(2).any(|pair| pair[0] != pair[1]);
    let mildest = possible.into_iter().min().unwrap_or(Severity::Note);
    (mildest, if differ { undecided } else { Vec::new() })
}

#[cfg(test)]
mod tests;
