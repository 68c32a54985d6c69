//! A rule told to people, offline.

use super::builtin;
use super::check::Home;
use super::file::{ExampleFile, Expected};
use super::given::{Given, given};
use super::load::{Loaded, load_all};
use super::raw::Text;
use crate::fact::{Type, Value};
use crate::finding::Severity;
use std::fmt::Write;

/// One line of `nodevet rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub code: String,
    pub name: String,
    pub summary: String,
    /// All that are possible, most severe first; empty for a rule that was removed.
    pub severities: Vec<Severity>,
    pub removed: Option<String>,
}

/// All built-in rules, the removed ones too, in the order of codes.
pub fn list() -> Vec<Listed> {
    load_all(builtin::texts().iter().copied(), Home::BuiltIn).0.iter().map(Loaded::listed).collect()
}

impl Loaded {
    /// The line about a rule.
    pub fn listed(&self) -> Listed {
        let said = |text: &Option<Text>| text.as_ref().map(|t| t.text.trim().to_owned());
        let mut severities: Vec<Severity> = self.file.severity.iter().map(|case| case.is).collect();
        severities.sort_by(|a, b| b.cmp(a));
        severities.dedup();
        Listed {
            code: self.code.clone(),
            name: self.name.clone(),
            summary: said(&self.file.summary).unwrap_or_default(),
            severities,
            removed: said(&self.file.removed),
        }
    }

    /// Whether people mean this rule: its code in either case, or its name.
    pub fn answers_to(&self, wanted: &str) -> bool {
        self.code.eq_ignore_ascii_case(wanted) || self.name == wanted
    }

    /// The text about a rule: what it judges and why, the facts it reads, examples, fixes, links.
    pub fn explain(&self) -> String {
        let mut out = format!("{} {}\n", self.code, self.name);
        // writing to a String cannot fail
        let _ = self.tell(&mut out);
        out
    }

    fn tell(&self, out: &mut String) -> std::fmt::Result {
        let file = &self.file;
        if let Some(summary) = &file.summary {
            writeln!(out, "{}", summary.text)?;
        }
        if let Some(why) = &file.removed {
            return writeln!(out, "\nThis rule was removed: {}", why.text.trim());
        }
        writeln!(out)?;
        for case in &file.severity {
            let when = case.when.as_ref().map(|w| format!(" when {}", flat(&w.text))).unwrap_or_default();
            writeln!(out, "severity  {}{when}", case.is.name())?;
        }
        if let Some(maker) = &file.made_by {
            writeln!(out, "made by   {}", maker.text)?;
        }
        let law = [("each", &file.each), ("given", &file.given), ("expect", &file.expect)];
        for (word, text) in law.iter().filter_map(|(word, text)| text.as_ref().map(|t| (word, t))) {
            writeln!(out, "{word:<9} {}", flat(&text.text))?;
        }
        if let Some(explain) = &file.explain {
            writeln!(out, "\n{}", explain.text.trim())?;
        }
        self.facts(out)?;
        for expected in [Expected::Finding, Expected::Pass] {
            if let Some(example) = file.examples.iter().find(|e| e.expect == Some(expected)) {
                writeln!(out, "\nExample, {}: {}", expected.name(), example.name)?;
                tell_example(example, out)?;
            }
        }
        if !file.fixes.is_empty() {
            writeln!(out, "\nFixes")?;
        }
        for fix in &file.fixes {
            let title = fix.title.as_ref().map_or("", |t| t.text.as_str());
            writeln!(out, "  {title} ({})", fix.safety.map_or("", |s| s.name()))?;
            if let Some(reason) = &fix.reason {
                writeln!(out, "    {}", reason.text)?;
            }
            fix.after.iter().try_for_each(|command| writeln!(out, "    $ {}", command.text))?;
        }
        if !file.links.is_empty() {
            writeln!(out, "\nLinks")?;
        }
        file.links.iter().try_for_each(|link| writeln!(out, "  {}", link.text))
    }

    fn facts(&self, out: &mut String) -> std::fmt::Result {
        let Some(rule) = &self.rule else { return Ok(()) };
        writeln!(out, "\nFacts")?;
        let mut reads = rule.reads();
        for more in rule.severity_reads() {
            if !reads.contains(&more) {
                reads.push(more);
            }
        }
        let each = rule.each.map(|table| (table.decl().name.to_owned(), table.decl().doc));
        let told = reads.iter().filter_map(|at| Some((at.name(rule.each), at.decl(rule.each)?.doc)));
        let told: Vec<(String, &str)> = each.into_iter().chain(told).collect();
        let width = told.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        told.iter().try_for_each(|(name, doc)| writeln!(out, "  {name:<width$}  {doc}"))
    }
}

/// On one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tell_example(example: &ExampleFile, out: &mut String) -> std::fmt::Result {
    for (id, given) in given(example, &mut Vec::new()) {
        let name = id.decl().name;
        match given {
            Given::Value(value) => writeln!(out, "  {name} = {}", literal(&value))?,
            Given::Unread => writeln!(out, "  {name} could not be read")?,
            Given::Rows(rows) => {
                let Type::Table { columns, .. } = &id.decl().ty else { continue };
                for row in rows {
                    let cells = columns.iter().zip(row).filter_map(|(c, v)| v.map(|v| (c.name, v)));
                    let cells: Vec<String> = cells.map(|(n, v)| format!("{n} = {}", literal(&v))).collect();
                    writeln!(out, "  {name}: {}", cells.join(", "))?;
                }
            }
        }
    }
    for (path, text) in &example.files {
        writeln!(out, "  {path}")?;
        text.trim_end().lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    Ok(())
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
