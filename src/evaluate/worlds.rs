//! One verdict out of the answers of several worlds.

use super::{Answer, Judged};
use crate::fact::{Value, Why};
use crate::finding::{Confidence, Finding, Missing, Outcome};
use crate::names::{self, FactId};
use crate::resolve::{Cells, Snapshot, World, Worlds};
use crate::rule::Rule;
use crate::rule::expr::{Ref, eval::join};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a world that answers so complains of nothing.
pub(super) fn quiet(answer: &Answer) -> bool {
    matches!(answer, None | Some(Outcome::Pass | Outcome::NotApplicable))
}

/// The worlds that a rule can tell apart, in groups of which all have the same facts for it:
/// however many worlds there are, a rule is judged once a group.
pub(super) struct Groups<'a> {
    worlds: &'a Worlds,
    /// One world for each combination of generations of the daemons that the rule reads.
    relevant: Vec<&'a World>,
    /// The group of each of them; groups are counted in the order of their first world.
    of: Vec<usize>,
    groups: Vec<Group<'a>>,
}

pub(super) struct Group<'a> {
    pub(super) facts: &'a Snapshot,
    /// The first group that differs from it in the rows of the rule's table alone, if in anything.
    pub(super) apart_from_rows: usize,
    /// Its last world, by index.
    last: usize,
}

impl<'a> Groups<'a> {
    pub(super) fn of(rule: &Rule, reads: &[Ref], worlds: &'a Worlds) -> Groups<'a> {
        let relevant = relevant(rule, reads, worlds);
        let differs = |id: &FactId| relevant.windows(2).any(|pair| !pair[0].facts.alike(&pair[1].facts, *id));
        let mentions: Vec<FactId> = rule.mentions.iter().copied().filter(differs).collect();
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut of = Vec::with_capacity(relevant.len());
        for (index, world) in relevant.iter().enumerate() {
            let facts = &world.facts;
            let alike = |group: &Group, but: Option<FactId>| {
                mentions.iter().all(|id| Some(*id) == but || group.facts.alike(facts, *id))
            };
            let group = groups.iter().position(|g| alike(g, None)).unwrap_or(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.last = index,
                None => {
                    let like = groups.iter().position(|g| alike(g, rule.each)).unwrap_or(group);
                    groups.push(Group { facts, apart_from_rows: like, last: index });
                }
            }
            of.push(group);
        }
        Groups { worlds, relevant, of, groups }
    }

    pub(super) fn all(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// The outcomes of a rule out of the answer of each group: one, or one for each row met in any
    /// world; an unknown is said once.
    pub(super) fn combine(&self, each: Option<FactId>, judged: Vec<Judged>) -> Vec<Outcome> {
        if judged.iter().all(|j| j.rows().is_empty()) {
            let whole = judged.into_iter().map(|j| match j {
                Judged::Whole(outcome) => outcome,
                Judged::Rows(_) => Some(Outcome::NotApplicable),
            });
            return vec![self.one(whole.collect())];
        }
        // what no world complains of is one answer for the whole table
        let of_whole = |j: &Judged| matches!(j, Judged::Whole(answer) if !quiet(answer));
        if !judged.iter().any(|j| of_whole(j) || j.rows().iter().any(|answer| !quiet(answer))) {
            let passed = judged.iter().flat_map(Judged::rows).any(|a| *a == Some(Outcome::Pass));
            return vec![if passed { Outcome::Pass } else { Outcome::NotApplicable }];
        }
        let mut seen: BTreeSet<RowKey<'a>> = BTreeSet::new();
        let mut keys: Vec<RowKey<'a>> = Vec::new();
        let mut answers: Vec<Answers<'a>> = Vec::with_capacity(judged.len());
        for (judged, group) in judged.into_iter().zip(&self.groups) {
            answers.push(match judged {
                Judged::Whole(outcome) => Answers::Whole(outcome),
                Judged::Rows(rows) => {
                    let named = each.map(|table| row_keys(&group.facts.get(table).rows)).unwrap_or_default();
                    keys.extend(named.iter().copied().filter(|key| seen.insert(*key)));
                    Answers::Rows(named.into_iter().zip(rows).collect())
                }
            });
        }
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(keys.len());
        for key in &keys {
            let outcome = self.one(answers.iter_mut().map(|a| a.take(key)).collect());
            // many rows that lack the same fact are one thing to say
            if !matches!(outcome, Outcome::Unknown(_)) || !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        outcomes
    }

    /// A finding in all worlds that say something is one; in none, the rule passes or does not
    /// apply; else it is unknown. One answer a group.
    fn one(&self, answers: Vec<Answer>) -> Outcome {
        let broken: Vec<Option<bool>> =
            answers.iter().map(|a| a.as_ref().map(|o| matches!(o, Outcome::Finding(_)))).collect();
        let mut missing = Vec::new();
        let (mut findings, mut passed) = (Vec::new(), false);
        for (group, answer) in answers.into_iter().enumerate() {
            match answer {
                Some(Outcome::Finding(finding)) => findings.push((group, *finding)),
                Some(Outcome::Pass) => passed = true,
                Some(Outcome::NotApplicable) | None => {}
                Some(Outcome::Unknown(more)) => join(&mut missing, more),
            }
        }
        if broken.iter().flatten().all(|broken| *broken)
            && let Some(finding) = self.same(&findings)
        {
            return Outcome::Finding(Box::new(finding));
        }
        if !findings.is_empty() {
            let mut named = self.needs(&broken);
            join(&mut named, missing);
            return Outcome::Unknown(named);
        }
        match (missing.is_empty(), passed) {
            (false, _) => Outcome::Unknown(missing),
            (true, true) => Outcome::Pass,
            (true, false) => Outcome::NotApplicable,
        }
    }

    /// The finding of the world that is most sure of it (of equals, the newest), as sure as the
    /// least sure; where the worlds differ in its severity, the mildest.
    fn same(&self, findings: &[(usize, Finding)]) -> Option<Finding> {
        let last = |group: usize| self.groups.get(group).map(|g| g.last);
        let mut finding = findings.iter().max_by_key(|(g, f)| (f.confidence, last(*g)))?.1.clone();
        let findings = || findings.iter().map(|(_, finding)| finding);
        let least_sure = findings().min_by_key(|f| f.confidence)?;
        finding.confidence = least_sure.confidence;
        finding.certainty.clone_from(&least_sure.certainty);
        finding.severity = findings().map(|f| f.severity).min()?;
        if findings().any(|f| f.severity != finding.severity) {
            finding.confidence = Confidence::Possible;
            finding.certainty = "the severity depends on a version that is unknown".to_owned();
        }
        Some(finding)
    }

    /// Which generations break the law, for each daemon whose version decides. By group, whether
    /// it is broken; nothing where the group says nothing.
    fn needs(&self, broken: &[Option<bool>]) -> Vec<Missing> {
        let told = self.relevant.iter().zip(&self.of);
        let telling: Vec<(&World, bool)> =
            told.filter_map(|(world, group)| Some((*world, broken.get(*group).copied()??))).collect();
        let mut missing = Vec::new();
        let sides: [Side<'_>; 2] = [
            ("containerd", &self.worlds.containerd, |w| w.containerd),
            ("kubelet", &self.worlds.kubelet, |w| w.kubelet),
        ];
        for (of, generations, index) in sides {
            let mut outcomes: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
            for (world, broken) in &telling {
                outcomes.entry(index(world)).or_default().push(*broken);
            }
            let first = outcomes.values().next();
            if outcomes.values().all(|o| Some(o) == first) {
                continue;
            }
            let breaks = outcomes.iter().filter(|(_, broken)| broken.contains(&true));
            let named: Vec<String> = breaks.filter_map(|(g, _)| generations.get(*g)).cloned().collect();
            missing.push(Missing {
                fact: format!("{of}.version"),
                why: Why::NeedsVersion { of, worlds: named },
            });
        }
        missing
    }
}

/// One world for each combination of generations that a rule can tell apart.
fn relevant<'a>(rule: &Rule, reads: &[Ref], worlds: &'a Worlds) -> Vec<&'a World> {
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

/// By what a row is known again in another world: its first cell, and how many like it came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey<'a> {
    first: Option<&'a Value>,
    nth: usize,
}

fn row_keys(rows: &[Cells]) -> Vec<RowKey<'_>> {
    let mut seen: BTreeMap<Option<&Value>, usize> = BTreeMap::new();
    let firsts = rows.iter().map(|cells| cells.first().and_then(|cell| cell.value.is()));
    let keys = firsts.map(|first| {
        let alike = seen.entry(first).or_default();
        *alike += 1;
        RowKey { first, nth: *alike - 1 }
    });
    keys.collect()
}

/// The answers of one group, by row.
enum Answers<'a> {
    Whole(Answer),
    Rows(BTreeMap<RowKey<'a>, Answer>),
}

impl<'a> Answers<'a> {
    fn take(&mut self, key: &RowKey<'a>) -> Answer {
        match self {
            Answers::Whole(outcome) => outcome.clone(),
            Answers::Rows(rows) => rows.remove(key).unwrap_or(Some(Outcome::NotApplicable)),
        }
    }
}

/// A daemon, its generations, and which of them a world has.
type Side<'a> = (&'static str, &'a [String], fn(&World) -> usize);
