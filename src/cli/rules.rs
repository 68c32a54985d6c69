//! `nodevet rules`, `explain` and `schema`: what needs no look at the node.

use super::bench::Bench;
use super::{Trouble, args, settings};
use crate::config::select::{RuleName, known};
use crate::report::schema::schema as schema_text;
use crate::rule::{self, Home, Listed, Loaded};
use std::io;
use std::path::PathBuf;

pub(super) fn run(args: &args::Rules, out: &mut dyn io::Write) -> Result<u8, Trouble> {
    match &args.verb {
        None | Some(args::RulesVerb::List) => list(&args.rules, out),
        Some(args::RulesVerb::Show { rule }) => explain(rule, &args.rules, out),
        Some(args::RulesVerb::Test { paths }) => {
            test(&[args.rules.as_slice(), paths.as_slice()].concat(), out)
        }
    }
}

fn list(more: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    let rows: Vec<(Listed, String)> = files(more)?
        .iter()
        .map(|file| {
            let listed = file.listed();
            let names: Vec<&str> = listed.severities.iter().map(|s| s.name()).collect();
            let severities = if listed.removed.is_some() { "removed".to_owned() } else { names.join(", ") };
            (listed, severities)
        })
        .collect();
    let width = rows.iter().map(|(_, severities)| severities.len()).max().unwrap_or(0);
    let code = rows.iter().map(|(rule, _)| rule.code.len()).max().unwrap_or(0);
    for (rule, severities) in &rows {
        let what = rule.removed.as_ref().unwrap_or(&rule.summary);
        writeln!(out, "{:<code$}  {severities:<width$}  {}: {what}", rule.code, rule.name)?;
    }
    Ok(0)
}

pub(super) fn explain(asked: &str, more: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    let files = files(more)?;
    if let Some(found) = files.iter().find(|file| file.answers_to(asked)) {
        out.write_all(found.explain().as_bytes())?;
        return Ok(0);
    }
    let names: Vec<RuleName> = files.iter().map(|l| RuleName { code: &l.code, name: &l.name }).collect();
    Err(match known(asked, &names) {
        Err(error) => error.to_string(),
        Ok(()) => format!("`{asked}` is the beginning of several codes: name one rule"),
    }
    .into())
}

/// Runs the examples of rule files. The exit code is 1 when one does not hold.
fn test(paths: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    let loaded = if paths.is_empty() {
        built_in()
    } else {
        settings::user_rules(&settings::rule_files(None, &[], paths)?)?
    };
    let (mut held, mut failed) = (0, 0);
    for file in &loaded {
        let outcomes = rule::examples::run(file, Some(&Bench));
        held += outcomes.held;
        failed += outcomes.failures.len();
        for failure in &outcomes.failures {
            writeln!(out, "{failure}")?;
        }
    }
    writeln!(out, "{held} passed, {failed} failed")?;
    Ok(u8::from(failed > 0))
}

pub(super) fn schema(document: &str, out: &mut dyn io::Write) -> Result<u8, Trouble> {
    out.write_all(schema_text(document).map_err(|e| e.to_string())?.as_bytes())?;
    Ok(0)
}

fn built_in() -> Vec<Loaded> {
    rule::load_all(rule::texts().iter().copied(), Home::BuiltIn).0
}

/// The built-in rule files, then this machine's own and those named.
fn files(more: &[PathBuf]) -> Result<Vec<Loaded>, Trouble> {
    let here = settings::here()?;
    let mut loaded = built_in();
    loaded.extend(settings::user_rules(&settings::rule_files(Some(&here), &[], more)?)?);
    Ok(loaded)
}
