//! One verdict out of the answers of several worlds.

use super::{Answer, Judged, RowKey};
use crate::fact::Why;
use crate::finding::{Confidence, Finding, Missing, Outcome};
use crate::names;
use crate::resolve::{World, Worlds};
use crate::rule::Rule;
use crate::rule::expr::{Ref, eval::join};
use std::collections::{BTreeMap, BTreeSet};

/// One world for each combination of generations that a rule can tell apart.
pub(super) fn relevant<'a>(rule: &Rule, reads: &[Ref], worlds: &'a Worlds) -> Vec<&'a World> {
    let more = rule.severity_reads();
    let facts = reads.iter().chain(&more).filter_map(|at| match at {
        Ref::Fact(id) => Some(*id),
        Ref::Cell(_) => None,
    });
    let depends: Vec<(bool, bool)> = facts.chain(rule.each).map(names::depends).collect();
    let (containerd, kubelet) = (depends.iter().any(|d| d.0), depends.iter().any(|d| d.1));
    let Some(first) = worlds.worlds.first() else { return Vec::new() };
    let told = |world: &&World| {
        (containerd || world.containerd == first.containerd) && (kubelet || world.kubelet == first.kubelet)
    };
    worlds.worlds.iter().filter(told).collect()
}

/// The outcomes of a rule: one, or one for each row met in any world; an unknown is said once.
pub(super) fn combine(worlds: &Worlds, relevant: &[&World], judged: Vec<Judged>) -> Vec<Outcome> {
    if judged.iter().all(|j| j.rows().is_empty()) {
        let whole = judged.into_iter().map(|j| match j {
            Judged::Whole(outcome) => outcome,
            Judged::Rows(_) => Some(Outcome::NotApplicable),
        });
        return vec![one(worlds, relevant, whole.collect())];
    }
    // what no world complains of is one answer for the whole table
    let quiet = |answer: &Answer| matches!(answer, None | Some(Outcome::Pass | Outcome::NotApplicable));
    let of_whole = |j: &Judged| matches!(j, Judged::Whole(answer) if !quiet(answer));
    if !judged.iter().any(|j| of_whole(j) || j.rows().iter().any(|(_, answer)| !quiet(answer))) {
        let passed = judged.iter().flat_map(Judged::rows).any(|(_, a)| *a == Some(Outcome::Pass));
        return vec![if passed { Outcome::Pass } else { Outcome::NotApplicable }];
    }
    let mut seen: BTreeSet<&RowKey> = BTreeSet::new();
    let mut keys: Vec<RowKey> = Vec::new();
    for (key, _) in judged.iter().flat_map(Judged::rows) {
        if seen.insert(key) {
            keys.push(key.clone());
        }
    }
    let mut answers: Vec<Answers> = judged.into_iter().map(Answers::of).collect();
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(keys.len());
    for key in &keys {
        let outcome = one(worlds, relevant, answers.iter_mut().map(|a| a.take(key)).collect());
        // many rows that lack the same fact are one thing to say
        if !matches!(outcome, Outcome::Unknown(_)) || !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
    }
    outcomes
}

/// The answers of one world, by row.
enum Answers {
    Whole(Answer),
    Rows(BTreeMap<RowKey, Answer>),
}

impl Answers {
    fn of(judged: Judged) -> Answers {
        match judged {
            Judged::Whole(outcome) => Answers::Whole(outcome),
            Judged::Rows(rows) => Answers::Rows(rows.into_iter().collect()),
        }
    }

    fn take(&mut self, key: &RowKey) -> Answer {
        match self {
            Answers::Whole(outcome) => outcome.clone(),
            Answers::Rows(rows) => rows.remove(key).unwrap_or(Some(Outcome::NotApplicable)),
        }
    }
}

/// A finding in all worlds that say something is one; in none, the rule passes or does not apply;
/// else it is unknown.
fn one(worlds: &Worlds, relevant: &[&World], answers: Vec<Answer>) -> Outcome {
    let telling = relevant.iter().zip(answers).filter_map(|(world, answer)| Some((*world, answer?)));
    let (relevant, outcomes): (Vec<&World>, Vec<Outcome>) = telling.unzip();
    let broken: Vec<bool> = outcomes.iter().map(|o| matches!(o, Outcome::Finding(_))).collect();
    let mut missing = Vec::new();
    let (mut findings, mut passed) = (Vec::new(), false);
    for outcome in outcomes {
        match outcome {
            Outcome::Finding(finding) => findings.push(*finding),
            Outcome::Pass => passed = true,
            Outcome::NotApplicable => {}
            Outcome::Unknown(more) => join(&mut missing, more),
        }
    }
    if findings.len() == broken.len()
        && let Some(finding) = same(&findings)
    {
        return Outcome::Finding(Box::new(finding));
    }
    if !findings.is_empty() {
        let mut named = needs(worlds, &relevant, &broken);
        join(&mut named, missing);
        return Outcome::Unknown(named);
    }
    match (missing.is_empty(), passed) {
        (false, _) => Outcome::Unknown(missing),
        (true, true) => Outcome::Pass,
        (true, false) => Outcome::NotApplicable,
    }
}

/// The finding of the world that is most sure of it (of equals, the newest), as sure as the least
/// sure; where the worlds differ in its severity, the mildest.
fn same(findings: &[Finding]) -> Option<Finding> {
    let mut finding = findings.iter().max_by_key(|f| f.confidence)?.clone();
    let least_sure = findings.iter().min_by_key(|f| f.confidence)?;
    finding.confidence = least_sure.confidence;
    finding.certainty.clone_from(&least_sure.certainty);
    finding.severity = findings.iter().map(|f| f.severity).min()?;
    if findings.iter().any(|f| f.severity != finding.severity) {
        finding.confidence = Confidence::Possible;
        finding.certainty = "the severity depends on a version that is unknown".to_owned();
    }
    Some(finding)
}

/// A daemon, its generations, and which of them a world has.
type Side<'a> = (&'static str, &'a [String], fn(&World) -> usize);

/// Which generations break the law, for each daemon whose version decides.
fn needs(worlds: &Worlds, relevant: &[&World], broken: &[bool]) -> Vec<Missing> {
    let mut missing = Vec::new();
    let sides: [Side<'_>; 2] =
        [("containerd", &worlds.containerd, |w| w.containerd), ("kubelet", &worlds.kubelet, |w| w.kubelet)];
    for (of, generations, index) in sides {
        let outcomes = |generation: usize| {
            let of_it = relevant.iter().zip(broken).filter(move |(w, _)| index(w) == generation);
            of_it.map(|(_, broken)| *broken).collect::<Vec<_>>()
        };
        let met: Vec<usize> =
            (0..generations.len()).filter(|g| relevant.iter().any(|w| index(w) == *g)).collect();
        let decides = met.windows(2).any(|pair| outcomes(pair[0]) != outcomes(pair[1]));
        if !decides {
            continue;
        }
        let breaks = met.iter().filter(|g| outcomes(**g).contains(&true));
        let named: Vec<String> = breaks.filter_map(|g| generations.get(*g)).cloned().collect();
        missing.push(Missing { fact: format!("{of}.version"), why: Why::NeedsVersion { of, worlds: named } });
    }
    missing
}
