//! `nodevet rules`, `explain` and `schema`: what needs no node.

use super::bench::Bench;
use super::{Trouble, args, settings};
use crate::names::nearest;
use crate::report::schema::schema as schema_text;
use crate::rule::{self, Home, Loaded};
use std::io;
use std::path::PathBuf;

pub(super) fn run(args: &args::Rules, out: &mut dyn io::Write) -> Result<u8, Trouble> {
    match &args.verb {
        None | Some(args::RulesVerb::List) => list(&args.rules, out),
        Some(args::RulesVerb::Show { rule }) => explain(rule, &args.rules, out),
        Some(args::RulesVerb::Test { paths }) => test(paths, out),
    }
}

fn list(more: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    for loaded in files(more)? {
        if let Some(rule) = &loaded.rule {
            let severities: Vec<&str> = rule.severity.iter().map(|case| case.is.name()).collect();
            writeln!(
                out,
                "{:<6} {:<8} {}: {}",
                rule.code,
                severities.last().unwrap_or(&""),
                rule.name,
                rule.summary
            )?;
        }
    }
    Ok(0)
}

pub(super) fn explain(asked: &str, more: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    let files = files(more)?;
    let Some(found) = files.iter().find(|l| l.code.eq_ignore_ascii_case(asked) || l.name == asked) else {
        let names = files.iter().flat_map(|l| [l.code.as_str(), l.name.as_str()]);
        let hint = nearest(asked, names).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        return Err(format!("unknown rule `{asked}`{hint}").into());
    };
    out.write_all(found.explain().as_bytes())?;
    Ok(0)
}

/// Runs the examples of rule files. The exit code is 1 when one does not hold.
fn test(paths: &[PathBuf], out: &mut dyn io::Write) -> Result<u8, Trouble> {
    let loaded = if paths.is_empty() {
        files(&[])?
    } else {
        checked(&settings::rule_files(None, &[], paths)?, Home::User)?
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

/// The built-in rule files, then those named.
fn files(more: &[PathBuf]) -> Result<Vec<Loaded>, Trouble> {
    let (mut loaded, _) = rule::load_all(rule::texts().iter().copied(), Home::BuiltIn);
    loaded.extend(checked(&settings::rule_files(None, &[], more)?, Home::User)?);
    Ok(loaded)
}

fn checked(files: &[(String, String)], home: Home) -> Result<Vec<Loaded>, Trouble> {
    let (loaded, errors) = rule::load_all(files.iter().map(|(p, t)| (p.as_str(), t.as_str())), home);
    if errors.is_empty() {
        return Ok(loaded);
    }
    Err(Trouble::Drawn(errors.iter().map(|e| format!("error: {e}\n")).collect()))
}
