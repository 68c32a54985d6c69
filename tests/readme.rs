//! The README tells the truth: its examples are run, its rule table is made from the rules.
//! `UPDATE=1 cargo test --test readme` writes both anew.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Compares a piece of the README with what it ought to be, or puts that in its place.
fn settle(old: &str, new: &str, what: &str) {
    if old == new {
        return;
    }
    assert!(
        std::env::var_os("UPDATE").is_some(),
        "README: {what} is out of date\n--- is\n{old}\n--- ought to be\n{new}"
    );
    let text = fs::read_to_string(readme()).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{what} stands more than once");
    fs::write(readme(), text.replace(old, new)).unwrap();
}

/// Runs one `$ nodevet …` line in the checkout; the exit code is appended as the shell would not.
fn run(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[0], "nodevet", "{line}");
    let done = Command::new(env!("CARGO_BIN_EXE_nodevet"))
        .args(&words[1..])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    text.lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

// one test: both parts rewrite the same file
#[test]
fn the_readme_is_true() {
    let text = fs::read_to_string(readme()).unwrap();
    let mut examples = 0;
    for block in text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let Some(line) = block.lines().next().and_then(|l| l.strip_prefix("$ ")) else {
            panic!("an example without a command: {block}");
        };
        if !line.starts_with("nodevet ") {
            continue;
        }
        examples += 1;
        settle(block, &format!("$ {line}\n{}", run(line)), line);
    }
    assert!(examples >= 4, "only {examples} examples");

    let (begin, end) = ("<!-- rules: made by tests/readme.rs -->\n", "<!-- /rules -->");
    let text = fs::read_to_string(readme()).unwrap();
    let table = text.split(begin).nth(1).and_then(|rest| rest.split(end).next()).unwrap();
    let mut made = String::from("| code | name | severity | what is wrong |\n|---|---|---|---|\n");
    for rule in nodevet::rule::list().iter().filter(|rule| rule.removed.is_none()) {
        let severities: Vec<&str> = rule.severities.iter().map(|s| s.name()).collect();
        made +=
            &format!("| {} | `{}` | {} | {} |\n", rule.code, rule.name, severities.join(", "), rule.summary);
    }
    // with their marks: an empty table stands everywhere
    settle(&format!("{begin}{table}{end}"), &format!("{begin}{made}{end}"), "the rule table");
}
