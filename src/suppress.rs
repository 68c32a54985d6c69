//! The only place where a finding is silenced: by a comment beside it, or by `[[ignore]]` in the
//! configuration. Silences that silence nothing, or give no reason, are findings themselves.

use crate::config::Silenced;
use crate::config::select::{RuleName, Selection, known};
use crate::finding::{Confidence, Finding, Label, Outcome, Severity, Verdict};
use crate::text::{Kind, Place, SourceId, Sources};
use inline::Directive;

mod inline;

const UNUSED: RuleName<'static> = RuleName { code: "NV901", name: "unused-suppression" };
const UNEXPLAINED: RuleName<'static> = RuleName { code: "NV902", name: "suppression-without-reason" };

/// What silenced a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A comment.
    Inline,
    /// An `[[ignore]]` of the configuration.
    Config,
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            By::Inline => "inline",
            By::Config => "config",
        }
    }
}

/// A finding that is not shown, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    pub finding: Finding,
    pub by: By,
    /// The comment or entry.
    pub place: Place,
    pub reason: Option<String>,
    /// As written.
    pub until: Option<String>,
}

/// What may silence, and what is needed to judge it.
#[derive(Clone, Copy, Debug)]
pub struct Means<'a> {
    /// The configuration as a captured text, with its `[[ignore]]` entries.
    pub config: Option<(SourceId, &'a [Silenced])>,
    /// All rules there are.
    pub rules: &'a [RuleName<'a>],
    pub selection: &'a Selection,
    /// The clock (`host.now`), seconds since the epoch; without one nothing expires.
    pub now: Option<i64>,
}

/// Takes the silenced findings out of the verdicts and adds those about the silences.
pub fn apply(
    verdicts: Vec<Verdict>,
    sources: &Sources,
    means: &Means<'_>,
) -> (Vec<Verdict>, Vec<Suppressed>) {
    let directives = inline::scan(sources);
    let (config, entries) = means.config.map_or((None, &[][..]), |(id, entries)| (Some(id), entries));
    let mut used: Vec<Vec<bool>> = directives.iter().map(|d| vec![false; d.rules.len()]).collect();
    let mut used_entries = vec![false; entries.len()];
    let states = States::of(&verdicts);
    let mut kept = Vec::with_capacity(verdicts.len());
    let mut suppressed = Vec::new();
    for verdict in verdicts {
        let Outcome::Finding(finding) = verdict.outcome else {
            kept.push(verdict);
            continue;
        };
        let mut by = None;
        for (d, directive) in directives.iter().enumerate().filter(|(_, d)| beside(d, &finding, sources)) {
            for (r, (rule, _)) in directive.rules.iter().enumerate() {
                if *rule == finding.code || *rule == finding.name {
                    used[d][r] = true;
                    by.get_or_insert((By::Inline, directive.place, directive.reason.clone(), None));
                }
            }
        }
        for (e, entry) in entries.iter().enumerate() {
            let matches = Selection::default().with(&entry.rule).has(&finding.code, &finding.name);
            if let Some(source) = config.filter(|_| matches && !expired(entry, means.now)) {
                used_entries[e] = true;
                let place = Place { source, span: entry.span };
                by.get_or_insert((By::Config, place, entry.reason.clone(), entry.until.clone()));
            }
        }
        match by {
            Some((by, place, reason, until)) => {
                suppressed.push(Suppressed { finding: *finding, by, place, reason, until });
            }
            None => kept.push(Verdict { outcome: Outcome::Finding(finding), ..verdict }),
        }
    }
    for (directive, used) in directives.iter().zip(&used) {
        judge_directive(directive, used, &states, means, &mut kept);
    }
    if let Some(source) = config {
        for (entry, used) in entries.iter().zip(used_entries) {
            judge_entry(entry, Place { source, span: entry.span }, used, &states, means, &mut kept);
        }
    }
    let any = !(directives.is_empty() && entries.is_empty());
    for rule in [UNUSED, UNEXPLAINED] {
        settle(rule, any, means, &mut kept);
    }
    (kept, suppressed)
}

/// Where nothing is wrong with the silences, their rules passed; where there are none, they do not apply.
fn settle(rule: RuleName<'_>, any: bool, means: &Means<'_>, out: &mut Vec<Verdict>) {
    let chosen = means.selection.has(rule.code, rule.name);
    if chosen && !out.iter().any(|v| v.code == rule.code) {
        let outcome = if any { Outcome::Pass } else { Outcome::NotApplicable };
        out.push(Verdict { code: rule.code.into(), name: rule.name.into(), outcome, read: Vec::new() });
    }
}

fn expired(entry: &Silenced, now: Option<i64>) -> bool {
    entry.until_second.zip(now).is_some_and(|(until, now)| now > until)
}

/// Whether some label of the finding stands on a line the comment speaks of.
fn beside(directive: &Directive, finding: &Finding, sources: &Sources) -> bool {
    finding.labels.iter().any(|label| {
        label.place.source == directive.place.source
            && sources.get(label.place.source).kind == Kind::File
            && directive.lines.contains(&sources.position(label.place).line)
    })
}

/// What was said of each rule, to tell an unused silence from one that could not be judged.
struct States(Vec<(String, String, State)>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    NotApplicable,
    Judged,
    Unknown,
}

impl States {
    fn of(verdicts: &[Verdict]) -> States {
        let state = |verdict: &Verdict| match verdict.outcome {
            Outcome::Unknown(_) => State::Unknown,
            Outcome::NotApplicable => State::NotApplicable,
            Outcome::Pass | Outcome::Finding(_) => State::Judged,
        };
        States(verdicts.iter().map(|v| (v.code.clone(), v.name.clone(), state(v))).collect())
    }

    /// The state of a whole code or name over all its rows, the least certain one; none if it was not asked.
    fn of_rule(&self, rule: &str) -> Option<State> {
        self.0.iter().filter(|(code, name, _)| code == rule || name == rule).map(|s| s.2).max()
    }

    fn of_selector(&self, selector: &str) -> Option<State> {
        let selection = Selection::default().with(selector);
        self.0.iter().filter(|(code, name, _)| selection.has(code, name)).map(|s| s.2).max()
    }
}

fn judge_directive(d: &Directive, used: &[bool], states: &States, means: &Means<'_>, out: &mut Vec<Verdict>) {
    if let Some(mistake) = &d.mistake {
        push(out, means, UNUSED, format!("this comment silences nothing: {mistake}"), d.place, "ignored");
        return;
    }
    for ((rule, place), used) in d.rules.iter().zip(used) {
        let message = match known_exactly(rule, means) {
            Err(message) => message,
            Ok(()) if !used && states.of_rule(rule).is_some_and(|s| s != State::Unknown) => {
                format!("{rule} finds nothing here: the comment that silences it is not needed")
            }
            Ok(()) => continue,
        };
        push(out, means, UNUSED, message, *place, "silences nothing");
    }
    if d.reason.is_none() && used.contains(&true) {
        let message = format!("{} is silenced without a reason", names(d));
        push(out, means, UNEXPLAINED, message, d.place, "says not why");
    }
}

fn judge_entry(
    e: &Silenced,
    place: Place,
    used: bool,
    states: &States,
    means: &Means<'_>,
    out: &mut Vec<Verdict>,
) {
    if let Err(error) = known(&e.rule, means.rules).map_err(|e| e.to_string()) {
        push(out, means, UNUSED, error, place, "silences nothing");
    } else if expired(e, means.now) {
        let until = e.until.as_deref().unwrap_or("");
        let message = format!("the silence of {} expired: it was given until {until}", e.rule);
        push(out, means, UNUSED, message, place, "no longer silences");
    } else if !used && states.of_selector(&e.rule) == Some(State::Judged) {
        let message = format!("{} finds nothing on this node: the entry is not needed", e.rule);
        push(out, means, UNUSED, message, place, "silences nothing");
    }
    if e.reason.is_none() && used {
        push(
            out,
            means,
            UNEXPLAINED,
            format!("{} is silenced without a reason", e.rule),
            place,
            "says not why",
        );
    }
}

fn names(d: &Directive) -> String {
    d.rules.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>().join(", ")
}

/// A comment names whole codes or names, not prefixes.
fn known_exactly(rule: &str, means: &Means<'_>) -> Result<(), String> {
    if means.rules.iter().any(|r| r.code == rule || r.name == rule) {
        return Ok(());
    }
    match known(rule, means.rules) {
        Err(error) => Err(error.to_string()),
        Ok(()) => Err(format!("`{rule}` is not a whole code: a comment names each rule it silences")),
    }
}

fn push(
    out: &mut Vec<Verdict>,
    means: &Means<'_>,
    rule: RuleName<'_>,
    message: String,
    at: Place,
    label: &str,
) {
    if !means.selection.has(rule.code, rule.name) {
        return;
    }
    let finding = Finding {
        code: rule.code.into(),
        name: rule.name.into(),
        severity: Severity::Note,
        confidence: Confidence::Certain,
        certainty: "it is written there".into(),
        message: message.clone(),
        labels: vec![Label { place: at, text: label.into() }],
        fixes: Vec::new(),
        facts: vec![("suppression".into(), message)],
    };
    out.push(Verdict {
        code: rule.code.into(),
        name: rule.name.into(),
        outcome: Outcome::Finding(Box::new(finding)),
        read: Vec::new(),
    });
}

/// Every comment that speaks to nodevet, and every rule that it names.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn comments(sources: &Sources) -> Vec<Place> {
    let found = inline::scan(sources);
    found.iter().flat_map(|d| d.rules.iter().map(|(_, place)| *place).chain([d.place])).collect()
}

#[cfg(test)]
mod tests;
