//! The architecture as tests: who may import whom, one door to the outside, one room that
//! writes, short files.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module → what it may use of the crate. A module may always use itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("version", &[]),
    ("fact", &["text"]),
    ("names", &["fact"]),
    ("finding", &["fact", "text"]),
    ("node", &["fact", "text"]),
    ("model", &["fact", "text", "version", "names", "finding", "resolve"]),
    ("collect", &["node", "fact", "text", "model", "version", "names", "resolve"]),
    ("resolve", &["fact", "text", "names"]),
    ("derive", &["resolve", "fact", "text", "names", "version"]),
    ("rule", &["fact", "text", "names", "version", "finding", "resolve", "evaluate"]),
    ("evaluate", &["rule", "resolve", "finding", "fact", "text", "names"]),
    ("config", &["text", "finding", "names"]),
    ("suppress", &["finding", "text", "config", "fact", "names"]),
    ("fix", &["finding", "text", "fact"]),
    ("report", &["finding", "text", "fact", "resolve", "names", "suppress", "config", "mask"]),
    ("capture", &["node", "mask"]),
    ("mask", &[]),
    ("write", &[]),
    ("look", &["collect", "derive", "finding", "model", "node", "resolve", "version"]),
    ("cli", &["*"]),
    ("fuzz", &["*"]),
    ("lib", &["*"]),
    ("main", &["*"]),
];

/// Words that open a door to the outside, and the modules that may say them.
const DOORS: &[(&str, &[&str])] = &[
    ("std::fs", &["node", "write"]),
    ("use std::fs", &["node", "write"]),
    ("File::open", &["node", "write"]),
    ("Command::new", &["node"]),
    ("UnixStream", &["node"]),
    ("TcpStream", &[]),
    ("nix::", &["node"]),
    ("tokio::", &["node"]),
    ("zbus::", &["node"]),
    ("h2::", &["node"]),
    ("SystemTime", &[]),
    ("Instant::now", &[]),
    ("std::env::", &["cli", "write"]),
    ("println!", &[]),
    ("eprintln!", &[]),
    ("process::exit", &[]),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// (path below src, module, text without comments and without the tests at the foot)
fn modules() -> Vec<(String, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    files.sort();
    assert!(files.len() > 30, "found only {} files", files.len());
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
            let module = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            let body = text.split("#[cfg(test)]").next().unwrap();
            let code =
                body.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            (name, module, code)
        })
        .filter(|(name, _, _)| !name.ends_with("tests.rs"))
        .collect()
}

/// Names after `crate::`, also those in `use crate::{a, b::c}`.
fn used(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with("nodevet") {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 1 => {
                        found.push(word(item.trim()));
                        item.clear();
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                item.push(c);
            }
            found.push(word(item.trim()));
        } else {
            found.push(word(rest));
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn data_flows_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for (name, module, code) in modules() {
        let Some(may) = allowed.get(module.as_str()) else {
            wrong.push(format!("{name}: module `{module}` has no place in the architecture"));
            continue;
        };
        for used in used(&code) {
            if used != module && !may.contains(&"*") && !may.contains(&used.as_str()) {
                wrong.push(format!("{name} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn collectors_do_not_know_each_other() {
    let shared = ["agree", "command", "ctx", "number", "process", "version"];
    let mut wrong = Vec::new();
    for (name, module, code) in modules().into_iter().filter(|(name, ..)| name.starts_with("collect/")) {
        assert_eq!(module, "collect");
        let own = name.trim_start_matches("collect/").split(['/', '.']).next().unwrap().to_owned();
        for (at, _) in code.match_indices("super::").chain(code.match_indices("crate::collect::")) {
            let rest = &code[at..];
            let after = rest.trim_start_matches("crate::collect::").trim_start_matches("super::");
            let word: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let sibling = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/collect/{word}.rs"));
            if sibling.exists() && word != own && !shared.contains(&word.as_str()) {
                wrong.push(format!("{name} uses collect::{word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_door_opens_and_only_the_writer_writes() {
    let mut wrong = Vec::new();
    for (name, module, code) in modules() {
        for (word, may) in DOORS {
            let says = code.match_indices(word).any(|(at, _)| !code[..at].ends_with(char::is_alphanumeric));
            if says && !may.contains(&module.as_str()) && name != "main.rs" {
                wrong.push(format!("{name} says {word}"));
            }
        }
        for word in ["create_new(", "fs::rename", "fs::write", "File::create", "remove_file", "create_dir"] {
            if code.contains(word) && module != "write" {
                wrong.push(format!("{name} writes: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_one_file_runs_programs() {
    let running: Vec<_> =
        modules().into_iter().filter(|(_, _, code)| code.contains("Command::new")).map(|(n, ..)| n).collect();
    assert_eq!(running, ["node/exec.rs"]);
}

#[test]
fn files_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    let mut lengths: Vec<usize> = Vec::new();
    sources(&root.join("tests"), &mut files);
    for file in &files {
        let lines = fs::read_to_string(file).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines", file.display());
        if file.starts_with(root.join("src")) {
            lengths.push(lines);
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= 160, "the median file has {median} lines");
}

#[test]
fn unsafe_is_forbidden() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
}

#[test]
fn every_prescribed_crate_is_a_dependency_with_a_reason() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let lines: Vec<&str> = manifest.lines().collect();
    for name in ["toml", "toml_edit", "zbus", "procfs", "nix", "serde", "clap", "miette"] {
        let at = lines
            .iter()
            .position(|l| l.starts_with(&format!("{name} = ")))
            .unwrap_or_else(|| panic!("{name}"));
        assert!(lines[at - 1].starts_with("# "), "{name} has no reason");
    }
}
