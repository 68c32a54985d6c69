//! Every directory of `fixtures/` that has a `case.toml` is a node: what is found on it is compared
//! with its `expected.txt`. `UPDATE=1` rewrites those files. A finding is two lines, in the order of
//! the report: code, severity, place and message; then the text that stands at that place.
//!
//! A directory called `ok-…` is a trap: nothing may be found there, and no more may be unknown than
//! its `case.toml` says. Its twin, the same name without `ok-`, differs in one thing and is found.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod covered;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    why: String,
    /// `--assume`, each.
    #[serde(default)]
    assume: Vec<String>,
    /// Paths that only another user may read: each has its line in `root/.nodevet/meta.jsonl`.
    #[serde(default)]
    unreadable: Vec<String>,
    /// `--now`.
    now: Option<String>,
    /// Known ways to be wrong about a node that this `ok-…` node shows, by number (see `covered`).
    #[serde(default)]
    traps: BTreeSet<u32>,
    /// What surprises about a daemon, as `kubelet 4`, and the rule that finds it here with a piece
    /// of the line that it points at.
    #[serde(default)]
    shows: BTreeMap<String, String>,
    /// Codes of rules that cannot be judged here; all that are unknown on an `ok-…` node.
    #[serde(default)]
    unknown: BTreeSet<String>,
    /// Public reports that this node stands for, by the names of `docs/field-cases.md`.
    #[serde(default)]
    cards: Vec<String>,
    /// What happened there, in a sentence or two.
    #[serde(default)]
    story: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let cases = cases();
    let names: BTreeSet<String> = cases.iter().map(|dir| name(dir)).collect();
    let mut trials: Vec<Trial> =
        cases.iter().cloned().map(|dir| Trial::test(name(&dir), move || node(&dir))).collect();
    trials.push(Trial::test("every trap has a twin", move || twins(&names)));
    trials.push(Trial::test("every rule finds something", every_rule));
    trials.push(Trial::test("every trap and every surprise has its node", covered));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn covered() -> Result<(), Failed> {
    let mut nodes = Vec::new();
    for dir in cases() {
        let case: Case = toml::from_str(&fs::read_to_string(dir.join("case.toml"))?)?;
        nodes.push(covered::Shown {
            name: name(&dir),
            root: dir.join("root"),
            traps: case.traps,
            shows: case.shows,
            expected: fs::read_to_string(dir.join("expected.txt"))?,
        });
    }
    let gaps = covered::gaps(&nodes);
    if gaps.is_empty() { Ok(()) } else { Err(gaps.join("\n").into()) }
}

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut cases: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|d| d.join("case.toml").exists())
        .collect();
    cases.sort();
    cases
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap().to_string_lossy().into_owned()
}

fn node(dir: &Path) -> Result<(), Failed> {
    let case: Case = toml::from_str(&fs::read_to_string(dir.join("case.toml"))?)?;
    if case.title.is_empty() || case.why.is_empty() {
        return Err("a case has a title and says why it is there".into());
    }
    let is_card = |card: &String| card.len() == 4 && card.starts_with('C');
    if !case.cards.iter().all(is_card) || case.cards.is_empty() != case.story.is_empty() {
        return Err("`cards` are like C001, and go with a `story`".into());
    }
    let meta = fs::read_to_string(dir.join("root/.nodevet/meta.jsonl")).unwrap_or_default();
    if let Some(path) = case.unreadable.iter().find(|path| !meta.contains(&format!("{{\"path\":\"{path}\",")))
    {
        return Err(format!("root/.nodevet/meta.jsonl does not say that {path} cannot be read").into());
    }
    let report = check(dir, &case)?;
    let found = found(dir, &case, &report)?;
    if name(dir).starts_with("ok-") && !found.is_empty() {
        return Err(format!("nothing may be found here:\n{found}").into());
    }
    let unknown: BTreeSet<String> =
        array(&report, "unknown").iter().map(|u| text(u, "code").to_owned()).collect();
    if (name(dir).starts_with("ok-") || !case.unknown.is_empty()) && unknown != case.unknown {
        return Err(
            format!("unknown: {unknown:?}, case.toml: {:?}\n{}", case.unknown, report["unknown"]).into()
        );
    }
    let path = dir.join("expected.txt");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &found)?;
    }
    let expected = fs::read_to_string(&path)?;
    if found != expected {
        return Err(format!("met:\n{found}\n{}:\n{expected}", path.display()).into());
    }
    Ok(())
}

/// What the program says of the node, as JSON.
fn check(dir: &Path, case: &Case) -> Result<Json, Failed> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_nodevet"));
    program.args(["check", "--format", "json", "--no-config", "--fail-on", "never", "--root"]);
    program.arg(dir.join("root")).env_remove("SOURCE_DATE_EPOCH");
    program.arg("--now").arg(case.now.as_deref().unwrap_or("2026-12-01"));
    case.assume.iter().for_each(|assumed| {
        program.args(["--assume", assumed]);
    });
    let output = program.output()?;
    if output.status.code() != Some(0) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit code {:?}\n{said}", output.status.code()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn array<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

/// The findings as `expected.txt` has them.
fn found(dir: &Path, case: &Case, report: &Json) -> Result<String, Failed> {
    let mut lines = String::new();
    for finding in array(report, "findings") {
        let labels = array(finding, "labels");
        let quotes = labels.iter().map(|label| quote(dir, case, label)).collect::<Result<Vec<_>, _>>()?;
        let (Some(first), Some(quote)) = (labels.first(), quotes.first()) else {
            return Err(format!("{} has no label", finding["code"]).into());
        };
        writeln!(
            lines,
            "{} {} {}:{}:{} {}",
            text(finding, "code"),
            text(finding, "severity"),
            text(first, "source"),
            first["line"],
            first["column"],
            text(finding, "message"),
        )?;
        writeln!(lines, "    > {quote}")?;
    }
    Ok(lines)
}

/// What stands where a label points, found without the program's help: lines and columns (of
/// characters) are counted here once more.
fn quote(dir: &Path, case: &Case, label: &Json) -> Result<String, Failed> {
    let number = |key: &str| usize::try_from(label[key].as_u64().unwrap_or(0)).unwrap();
    let (line, column) = (number("line"), number("column"));
    let (end_line, end_column) = (number("end_line"), number("end_column"));
    if line == 0 || column == 0 || (end_line, end_column) < (line, column) {
        return Err(format!("a label without an extent: {label}").into());
    }
    let source = text(label, "source");
    let path = dir.join("root").join(source.trim_start_matches('/'));
    if case.unreadable.iter().any(|path| path == source) {
        return Ok("-".to_owned());
    }
    let is_dir = source.starts_with('/') && path.is_dir();
    let content = if is_dir {
        let mut names: Vec<String> =
            fs::read_dir(&path)?.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.iter().map(|name| format!("{name}\n")).collect()
    } else if source.starts_with('/') && path.exists() {
        String::from_utf8_lossy(&fs::read(&path)?).into_owned()
    } else {
        // a default, an assumption, or a path that could not be read
        return Ok("-".to_owned());
    };
    let there = content.split('\n').nth(line - 1).map(|l| l.trim_end_matches('\r'));
    let Some(there) = there else {
        return Err(format!("{source} has no line {line}").into());
    };
    let to = if end_line == line { end_column - 1 } else { there.chars().count() };
    if to > there.chars().count() || column - 1 > to {
        return Err(format!("{source}:{line} has no columns {column} to {to}: {there:?}").into());
    }
    let quoted: String = there.chars().skip(column - 1).take(to + 1 - column).collect();
    if quoted.is_empty() && !content.is_empty() && !is_dir {
        return Err(format!("a label at {source}:{line}:{column} points at nothing").into());
    }
    Ok(quoted)
}

fn twins(names: &BTreeSet<String>) -> Result<(), Failed> {
    let traps: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("ok-")).collect();
    let alone: Vec<&&str> = traps.iter().filter(|twin| !names.contains(**twin)).collect();
    if traps.len() < 12 || !alone.is_empty() {
        return Err(format!("{} traps, without a twin: {alone:?}", traps.len()).into());
    }
    Ok(())
}

/// Each rule finds something on a node, or in an example that has files; for the few that need a
/// live bus the facts of an example must do.
fn every_rule() -> Result<(), Failed> {
    const LIVE: [&str; 1] = ["NV603"];
    let on_nodes: String =
        cases().iter().map(|dir| fs::read_to_string(dir.join("expected.txt")).unwrap_or_default()).collect();
    let mut never = Vec::new();
    for (file, rule) in nodevet::rule::texts() {
        let code = file.split('-').next().unwrap();
        let on_a_node = on_nodes.lines().any(|line| line.starts_with(&format!("{code} ")));
        let by_files = rule
            .split("[[example]]")
            .any(|example| example.contains("[example.files]") && example.contains("expect = \"finding\""));
        let removed = rule.lines().any(|line| line.starts_with("removed"));
        if !on_a_node && !by_files && !removed && !LIVE.contains(&code) {
            never.push(code);
        }
    }
    if never.is_empty() { Ok(()) } else { Err(format!("found nowhere: {never:?}").into()) }
}
