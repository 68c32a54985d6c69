//! What cannot be read never turns a verdict into a pass: on healthy and on sick nodes every path
//! that was touched is made unreadable, one at a time, and what the rules say may only become
//! unknown.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::collect::Options;
use nodevet::look::Look;
use nodevet::node::meta::{Failure, Line};
use nodevet::node::{Door, Node};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How far a rule is from a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Pass,
    Unknown,
    Finding,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &target),
            kind if kind.is_symlink() => {
                std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), target).unwrap();
            }
            _ => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Every path that a look at the node touches.
fn touched(root: &Path) -> BTreeSet<String> {
    let node = Node::open(Door::Root(root.to_str().unwrap().into()), Duration::from_secs(1)).unwrap();
    let options = Options { now: Some(1_796_083_200), ..Options::default() };
    drop(Look::at(&node, &options));
    node.take_record().paths.into_keys().collect()
}

/// What each rule says; those that are not named passed (or do not apply).
fn verdicts(root: &Path) -> BTreeMap<String, Said> {
    let output = Command::new(env!("CARGO_BIN_EXE_nodevet"))
        .args(["check", "--format", "json", "--no-config", "--fail-on", "never", "--now", "2026-12-01"])
        .arg("--root")
        .arg(root)
        .output()
        .unwrap();
    // 2: without that path nothing at all can be judged
    let told = [Some(0), Some(2)].contains(&output.status.code()) && output.stderr.is_empty();
    assert!(told, "{}", String::from_utf8_lossy(&output.stderr));
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let mut said = BTreeMap::new();
    for (key, verdict) in [("unknown", Said::Unknown), ("findings", Said::Finding)] {
        for one in report[key].as_array().unwrap() {
            let code = one["code"].as_str().unwrap().to_owned();
            let strongest = said.entry(code).or_insert(verdict);
            *strongest = verdict.max(*strongest);
        }
    }
    said
}

/// Tells a root that a path may not be read.
fn deny(meta: &Path, before: &str, path: &str) {
    let line =
        Line { path: path.to_owned(), error: Some(Failure::Denied(path.to_owned())), ..Line::default() };
    let mut file = fs::File::create(meta).unwrap();
    writeln!(file, "{before}\n{}", serde_json::to_string(&line).unwrap()).unwrap();
}

/// What got better by not being read.
fn better(root: &Path) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let copied = dir.path().join("root");
    copy(root, &copied);
    fs::create_dir_all(copied.join(".nodevet")).unwrap();
    let meta = copied.join(".nodevet/meta.jsonl");
    let before = fs::read_to_string(&meta).unwrap_or_default();
    let healthy = verdicts(&copied);
    let mut wrong = Vec::new();
    for path in touched(&copied) {
        deny(&meta, &before, &path);
        let now = verdicts(&copied);
        for (code, was) in &healthy {
            let is = now.get(code).copied().unwrap_or(Said::Pass);
            // of the 9xx group the subject is the reading itself
            if is == Said::Pass && !code.starts_with("NV9") {
                wrong.push(format!("{}: without {path} {code} passes, was {was:?}", root.display()));
            }
        }
        for (code, is) in &now {
            if *is == Said::Finding && !healthy.contains_key(code) && !code.starts_with("NV9") {
                wrong.push(format!("{}: without {path} {code} is found", root.display()));
            }
        }
    }
    wrong
}

#[test]
fn nothing_gets_better_by_not_being_read() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let wanted = std::env::var("FIXTURE").ok();
    let all = [
        "ok-kubeadm-1.34-containerd-2.1",
        "kubeadm-1.34-containerd-2.1",
        "cgroupfs-pair-on-openrc",
        "two-drivers-at-work",
        "unit-with-drop-in",
        "gpu-drop-in-on-2.1",
        "v1-without-memory-controller",
    ];
    let wanted = all.into_iter().filter(|name| wanted.as_deref().is_none_or(|w| w == *name));
    let runs: Vec<_> = wanted
        .map(|name| {
            let root = fixtures.join(name).join("root");
            std::thread::spawn(move || better(&root))
        })
        .collect();
    let wrong: Vec<String> = runs.into_iter().flat_map(|run| run.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
