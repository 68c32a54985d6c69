//! From what is written to a rule: every name, type, placeholder, fix and example is checked, and
//! everything that is wrong is said at once.

use super::expr::check::stranger;
use super::expr::{self, Flaw, Ref, Scope, Term, dotted};
use super::file::{CaseFile, Expected, LabelFile, RuleFile};
use super::late::Late;
use super::law::{Case, LabelSpec, Rule, Told};
use super::raw::Text;
use super::template::Template;
use crate::fact::Type;
use crate::names::{self, FactId};
use crate::text::Span;

mod fixes;

/// Where a rule file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Part of the program: the prefix `NV`, and each edit has an example that proves it.
    BuiltIn,
    /// A user's own: any other prefix.
    User,
}

const TOP: Span = Span { start: 0, end: 0 };

/// Parts of the program that make findings of their own.
const MAKERS: [&str; 1] = ["suppression"];

/// Code and name out of `NV101-cgroup-driver-mismatch.toml`.
pub(super) fn identity(path: &str, home: Home, flaws: &mut Vec<Flaw>) -> (String, String) {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let (code, name) = stem.split_once('-').unwrap_or((stem, ""));
    let letters = code.trim_end_matches(|c: char| c.is_ascii_digit());
    let good_code = (2..=8).contains(&letters.len())
        && letters.bytes().all(|b| b.is_ascii_uppercase())
        && code.len() == letters.len() + 3;
    let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !good_code || !name.split('-').all(word) {
        let message = format!(
            "`{file}` names no rule: a file is called CODE-name.toml, \
             with two to eight capitals and three digits, and small words joined by `-`"
        );
        flaws.push(Flaw::new(TOP, message));
    } else if (letters == "NV") != (home == Home::BuiltIn) {
        flaws.push(Flaw::new(
            TOP,
            match home {
                Home::BuiltIn => format!("the prefix of a built-in rule is `NV`, not `{letters}`"),
                Home::User => "the prefix `NV` is reserved for built-in rules".to_owned(),
            },
        ));
    }
    (code.to_owned(), name.to_owned())
}

/// The rule of a file; `None` when it was removed, when no law stands behind it, or when flaws
/// were added.
pub(super) fn check(
    file: &RuleFile,
    (code, name): (String, String),
    home: Home,
    flaws: &mut Vec<Flaw>,
) -> Option<Rule> {
    if file.removed.is_some() {
        return None;
    }
    if let Some(maker) = &file.made_by {
        lawless(file, maker, home, flaws);
        return None;
    }
    let before = flaws.len();
    for (field, there) in [
        ("summary", file.summary.is_some()),
        ("severity", !file.severity.is_empty()),
        ("expect", file.expect.is_some()),
        ("message", file.message.is_some()),
        ("[[label]]", !file.labels.is_empty()),
    ] {
        if !there {
            flaws.push(Flaw::new(TOP, format!("a rule has no `{field}`")));
        }
    }
    let each = file.each.as_ref().and_then(|text| table(text, flaws));
    let scope = Scope { each };
    let mut condition = |text: &Option<Text>| text.as_ref().and_then(|text| condition(text, &scope, flaws));
    let (given, expect) = (condition(&file.given), condition(&file.expect));
    let mut message = file.message.as_ref().map(|text| template(text, &scope, flaws));
    let severity = cases(&file.severity, &scope, flaws);
    let labels: Vec<LabelSpec> = file.labels.iter().filter_map(|l| label(l, &scope, flaws)).collect();
    if let (Some(expect), Some(first), Some(written)) = (&expect, labels.first(), file.labels.first()) {
        primary(expect, first, written, &scope, flaws);
    }
    let fixes = file.fixes.iter().filter_map(|f| fixes::fix(f, &scope, flaws)).collect();
    links(file, flaws);
    examples(file, home, flaws);
    if flaws.len() > before {
        return None;
    }
    let summary = file.summary.as_ref()?.text.clone();
    let mut rule = Rule {
        code,
        name,
        severity,
        at: file.at,
        each,
        given,
        expect: expect?,
        mentions: Vec::new(),
        told: Late::new(Told { summary, message: message.take()?, labels, fixes }),
    };
    rule.mentions = rule.to_mention();
    Some(rule)
}

/// A rule whose findings the program makes itself: it is described, and judges no facts.
fn lawless(file: &RuleFile, maker: &Text, home: Home, flaws: &mut Vec<Flaw>) {
    if home == Home::User {
        flaws.push(Flaw::new(maker.span, "only built-in rules are `made_by` the program"));
    }
    if let Some(message) = stranger(&maker.text, &MAKERS, Some("made_by")) {
        flaws.push(Flaw::new(maker.span, message));
    }
    for (field, there) in [
        ("summary", file.summary.is_some()),
        ("severity", !file.severity.is_empty()),
        ("explain", file.explain.is_some()),
    ] {
        if !there {
            flaws.push(Flaw::new(TOP, format!("a rule has no `{field}`")));
        }
    }
    let case = file.severity.iter().find_map(|case| case.when.as_ref());
    let law = [&file.each, &file.given, &file.expect, &file.message].into_iter().flatten().chain(case);
    let parts = [
        file.labels.first().map(|l| l.span),
        file.fixes.first().map(|f| f.span),
        file.examples.first().map(|e| e.span),
    ];
    for span in law.map(|text| text.span).chain(parts.into_iter().flatten()) {
        flaws.push(Flaw::new(span, "what is `made_by` the program has no law, label, fix or example"));
    }
    links(file, flaws);
}

fn links(file: &RuleFile, flaws: &mut Vec<Flaw>) {
    for link in file.links.iter().filter(|l| !l.text.starts_with("https://")) {
        flaws.push(Flaw::new(link.span, "a link begins with https://"));
    }
}

fn table(text: &Text, flaws: &mut Vec<Flaw>) -> Option<FactId> {
    let tables = || names::all().filter(|id| matches!(id.decl().ty, Type::Table { .. }));
    match names::find(&text.text) {
        Some(id) if matches!(id.decl().ty, Type::Table { .. }) => return Some(id),
        Some(_) => flaws.push(Flaw::new(text.span, format!("`{}` is not a table", text.text))),
        None => {
            let near = names::nearest(&text.text, tables().map(|id| id.decl().name));
            let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            flaws.push(Flaw::new(text.span, format!("no fact `{}`{hint}", text.text)));
        }
    }
    None
}

/// An expression that is true or false; its flaws are moved to their place in the file.
fn condition(text: &Text, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<Term> {
    if !text.is_literal() {
        let message = "write an expression between '…' or '''…''', without escapes: then columns are true";
        flaws.push(Flaw::new(text.span, message));
    }
    match expr::condition(&text.text, scope) {
        Ok(term) => Some(term),
        Err(found) => {
            flaws.extend(found.into_iter().map(|f| Flaw::new(text.within(f.span), f.message)));
            None
        }
    }
}

fn template(text: &Text, scope: &Scope, flaws: &mut Vec<Flaw>) -> Template {
    let mut found = Vec::new();
    let template = Template::parse(&text.text, scope, &mut found);
    flaws.extend(found.into_iter().map(|f| Flaw::new(text.within(f.span), f.message)));
    template
}

/// A name as labels and fixes write it.
fn named(text: &Text, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<Ref> {
    dotted(&text.text, scope).map_err(|message| flaws.push(Flaw::new(text.span, message))).ok()
}

fn cases(written: &[CaseFile], scope: &Scope, flaws: &mut Vec<Flaw>) -> Vec<Case> {
    for (i, case) in written.iter().enumerate() {
        let last = i + 1 == written.len();
        if last != case.when.is_none() {
            let message = if last {
                "the last case of the severity has no `when`: it counts where no other does"
            } else {
                "only the last case of the severity is without `when`"
            };
            flaws.push(Flaw::new(case.span, message));
        }
    }
    written
        .iter()
        .map(|case| Case { when: case.when.as_ref().and_then(|w| condition(w, scope, flaws)), is: case.is })
        .collect()
}

fn label(written: &LabelFile, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<LabelSpec> {
    let text = written.text.as_ref().map(|text| template(text, scope, flaws));
    let fact = named(written.fact.as_ref()?, scope, flaws)?;
    let is_list = fact.decl(scope.each).is_some_and(|d| matches!(d.ty, Type::List(_)));
    if let (false, Some(first)) = (is_list, written.show.first()) {
        flaws.push(Flaw::new(first.span, "`show` picks elements of a list; this fact is none"));
    }
    Some(LabelSpec { fact, show: written.show.iter().map(|t| t.text.clone()).collect(), text: text? })
}

/// The primary label stands where the law was broken: on something that `expect` reads.
fn primary(expect: &Term, first: &LabelSpec, written: &LabelFile, scope: &Scope, flaws: &mut Vec<Flaw>) {
    let mut reads = Vec::new();
    expect.reads(&mut reads);
    let of_the_row = scope.each.is_some() && matches!(first.fact, Ref::Cell(_));
    if !reads.contains(&first.fact) && !of_the_row {
        let read: Vec<String> = reads.iter().map(|r| format!("`{}`", r.name(scope.each))).collect();
        let message = format!("the first label names a fact that `expect` reads: {}", read.join(", "));
        flaws.push(Flaw::new(written.fact.as_ref().map_or(written.span, |f| f.span), message));
    }
}

fn examples(file: &RuleFile, home: Home, flaws: &mut Vec<Flaw>) {
    let some = |wanted: &[Expected]| {
        file.examples.iter().any(|e| e.expect.is_some_and(|expect| wanted.contains(&expect)))
    };
    if !some(&[Expected::Finding]) {
        flaws.push(Flaw::new(TOP, "no [[example]] expects a finding"));
    }
    if !some(&[Expected::Pass, Expected::NotApplicable]) {
        flaws.push(Flaw::new(TOP, "no [[example]] expects `pass` or `not-applicable`"));
    }
    for example in &file.examples {
        if example.expect.is_none() {
            flaws.push(Flaw::new(example.span, "an example says what to `expect`"));
        }
        if !example.fixed.is_empty() && example.files.is_empty() {
            flaws.push(Flaw::new(example.span, "`fixed` needs the `files` that are mended"));
        }
        super::given::given(example, flaws);
    }
    let edit = file.fixes.iter().find(|f| f.set.is_some() || f.remove.is_some() || f.moved.is_some());
    let proved = file.examples.iter().any(|e| !e.fixed.is_empty());
    if let (Home::BuiltIn, Some(fix), false) = (home, edit, proved) {
        flaws.push(Flaw::new(fix.span, "a fix that edits needs an example with `files` and `fixed`"));
    }
}
