//! The form for people: each finding with the lines it is about, and at the end what to do next.

use super::snippet::{self, Pages};
use super::style::{Ink, wrap};
use super::{Counts, Detail, Quiet, Report, Style, Unjudged};
use crate::finding::{Edit, Finding, Fix, Label, Op, Severity};
use crate::text::{Kind, Place, Sources, Span};
use std::fmt::Write as _;
use std::io;

/// Facts named for each group of unknown rules, unless all are asked for.
const FEW: usize = 3;

pub(super) fn print(report: &Report<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text = String::new();
    if style.detail == Detail::Verbose {
        for line in &report.node {
            text += &style.paint(Ink::Dim, &wrap(&style.clean(line), 0, 2, style.width));
            text.push('\n');
        }
        if !report.node.is_empty() && report.shown().next().is_some() {
            text.push('\n');
        }
    }
    let pages = Pages::new(report.sources);
    for (i, finding) in report.shown().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        text += &draw(&pages, finding, style);
    }
    if style.detail > Detail::Findings {
        if report.shown().next().is_some() {
            text.push('\n');
        }
        unknown(&mut text, &report.unknown, style);
        if style.detail == Detail::Verbose {
            suppressed(&mut text, report, style);
            quiet(&mut text, "passed", &report.passed, style);
            quiet(&mut text, "not applicable", &report.not_applicable, style);
        }
        for note in &report.notes {
            field(&mut text, style, Ink::Note, "note: ", &style.clean(note));
        }
        if !report.kubernetes {
            text += "no Kubernetes on this node: neither a kubelet nor a container runtime was found\n";
        }
        text += &wrap(&summary(report), 0, 2, style.width);
        text.push('\n');
    }
    out.write_all(text.as_bytes())
}

fn ink(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
        Severity::Note => Ink::Note,
    }
}

fn draw(pages: &Pages<'_>, finding: &Finding, style: &Style) -> String {
    // Titles and commands are not wrapped: they are searched for and copied.
    let mut text = format!(
        "{} {}: {}\n",
        style.paint(ink(finding.severity), &format!("{} {}", finding.severity.name(), finding.code)),
        style.clean(&finding.name),
        style.paint(Ink::Bold, &style.clean(&finding.message))
    );
    text += &snippet::draw(pages, &finding.labels, finding.severity, style);
    // The safest fix, and of equals the first.
    if let Some(fix) = finding.fixes.iter().rev().max_by_key(|f| f.safety) {
        help(&mut text, pages.sources, fix, style);
    }
    let certainty = style.clean(&finding.certainty);
    field(&mut text, style, Ink::Dim, &format!("  {}: ", finding.confidence.name()), &certainty);
    field(&mut text, style, Ink::Dim, "  more: ", &format!("nodevet explain {}", finding.code));
    text
}

fn help(text: &mut String, sources: &Sources, fix: &Fix, style: &Style) {
    field(text, style, Ink::Good, "  help: ", &style.clean(&fix.title));
    for edit in &fix.edits {
        let _ = writeln!(text, "        in {}", style.clean(&describe(sources, edit)));
    }
    for (i, command) in fix.after.iter().enumerate() {
        let key = if i == 0 { style.paint(Ink::Dim, "  then: ") } else { " ".repeat(8) };
        let _ = writeln!(text, "{key}{}", style.clean(command));
    }
    let reason = fix.reason.as_deref().map(|r| format!(": {}", style.clean(r))).unwrap_or_default();
    if !reason.is_empty() || !fix.edits.is_empty() {
        field(text, style, Ink::Dim, "  fix:  ", &format!("{}{reason}", fix.safety.name()));
    }
}

/// `/etc/containerd/config.toml: set plugins."a.b".x = true`
fn describe(sources: &Sources, edit: &Edit) -> String {
    let what = match &edit.op {
        Op::Set(path, value) => format!("set {} = {value}", dotted(path)),
        Op::Remove(path) => format!("remove {}", dotted(path)),
        Op::RemoveElement(path, value) => format!("take {value} out of {}", dotted(path)),
        Op::Move { from, to } => format!("move {} to {}", dotted(from), dotted(to)),
    };
    format!("{}: {what}", sources.get(edit.source).name)
}

fn dotted(path: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let quoted = path
        .iter()
        .map(|key| if !key.is_empty() && key.chars().all(plain) { key.clone() } else { format!("{key:?}") });
    quoted.collect::<Vec<_>>().join(".")
}

/// One `key: text` line, wrapped below its text.
fn field(out: &mut String, style: &Style, ink: Ink, key: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let indent = key.chars().count();
    let _ = writeln!(out, "{}{}", style.paint(ink, key), wrap(text, indent, indent, style.width));
}

/// Unknown rules by what would resolve them.
fn unknown(out: &mut String, unknown: &[Unjudged], style: &Style) {
    let mut groups: Vec<(String, Vec<&Unjudged>)> = Vec::new();
    for rule in unknown {
        let resolve = rule.resolve();
        match groups.iter_mut().find(|(r, _)| *r == resolve) {
            Some((_, rules)) => rules.push(rule),
            None => groups.push((resolve, vec![rule])),
        }
    }
    for (resolve, rules) in &groups {
        let codes: Vec<_> = rules.iter().map(|r| r.code.as_str()).collect();
        field(
            out,
            style,
            Ink::Warning,
            "unknown ",
            &format!("{}: {}", codes.join(", "), style.clean(resolve)),
        );
        let mut facts: Vec<String> = Vec::new();
        for fact in rules.iter().flat_map(|r| &r.facts) {
            let line = style.clean(&format!("{}: {}", fact.fact, fact.why));
            if !facts.contains(&line) {
                facts.push(line);
            }
        }
        let most = if style.detail == Detail::Verbose { facts.len() } else { FEW };
        for fact in facts.iter().take(most) {
            field(out, style, Ink::Dim, "        ", fact);
        }
        if facts.len() > most {
            field(out, style, Ink::Dim, "        ", &format!("and {} more (-v)", facts.len() - most));
        }
    }
    if !groups.is_empty() {
        out.push('\n');
    }
}

fn suppressed(out: &mut String, report: &Report<'_>, style: &Style) {
    for gone in &report.suppressed {
        let at = report.sources.position(gone.place);
        let reason = gone.reason.as_deref().unwrap_or("no reason given");
        let until = gone.until.as_deref().map(|u| format!(" (until {u})")).unwrap_or_default();
        let name = &report.sources.get(gone.place.source).name;
        let line =
            format!("{} {}: {reason}{until}; {name}:{}", gone.finding.code, gone.finding.name, at.line);
        field(out, style, Ink::Dim, "suppressed ", &style.clean(&line));
    }
}

fn quiet(out: &mut String, what: &str, rules: &[Quiet], style: &Style) {
    for rule in rules {
        let read = if rule.read.is_empty() { String::new() } else { format!(": {}", rule.read.join(", ")) };
        field(
            out,
            style,
            Ink::Dim,
            &format!("{what} "),
            &style.clean(&format!("{} {}{read}", rule.code, rule.name)),
        );
    }
}

/// `2 errors, 1 warning, 3 unknown. Next: nodevet explain NV101`
fn summary(report: &Report<'_>) -> String {
    let c = report.counts();
    let some = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let mut said: Vec<String> = [
        some(c.errors, "error", "errors"),
        some(c.warnings, "warning", "warnings"),
        some(c.notes, "note", "notes"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if said.is_empty() {
        let passed = some(c.passed, "rule passed", "rules passed").unwrap_or_else(|| "0 rules passed".into());
        said.push(format!("no findings: {passed}"));
        said.extend((c.not_applicable > 0).then(|| format!("{} not applicable", c.not_applicable)));
    }
    let rest = [(c.unknown, "unknown"), (c.suppressed, "suppressed"), (c.hidden, "not shown")];
    said.extend(rest.iter().filter(|r| r.0 > 0).map(|(n, what)| format!("{n} {what}")));
    let next = next(report, &c).map(|n| format!(". Next: {n}")).unwrap_or_default();
    format!("{}{next}", said.join(", "))
}

/// What to do next: read about the gravest finding, else make the unknown known.
fn next(report: &Report<'_>, counts: &Counts) -> Option<String> {
    if let Some(finding) = report.shown().next() {
        return Some(format!("nodevet explain {}", finding.code));
    }
    (counts.unknown > 0).then(|| report.unknown[0].resolve()).filter(|r| !r.is_empty())
}

/// Trouble of the tool itself (a bad configuration, a bad rule file), with the same look as a finding.
pub fn trouble(
    name: &str,
    text: &str,
    span: Span,
    message: &str,
    help: Option<&str>,
    style: &Style,
) -> String {
    let mut sources = Sources::default();
    let source = sources.add(name, Kind::File, text);
    let labels = [Label { place: Place { source, span }, text: String::new() }];
    let mut out = format!("{}: {}\n", style.paint(Ink::Error, "error"), style.clean(message));
    out += &snippet::draw(&Pages::new(&sources), &labels, Severity::Error, style);
    field(&mut out, style, Ink::Good, "  help: ", &help.map(|h| style.clean(h)).unwrap_or_default());
    out
}
