//! dockerd's and CRI-O's answers, recorded from real programs, against what the collectors say of a
//! node with the same files, flags and environment: every case of fixtures/corpus/docker and
//! fixtures/corpus/crio, in four versions each and on each kind of host that was recorded.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use libtest_mimic::{Arguments, Failed, Trial};
use nodevet::collect::{Options, collect};
use nodevet::derive::derive;
use nodevet::fact::{Known, Layer, Value};
use nodevet::node::{Door, Node};
use nodevet::resolve::{Collected, Snapshot, When, resolve};
use serde_json::Value as Json;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const V2: &str = "30 24 0:25 / /sys/fs/cgroup rw - cgroup2 c rw\n";
const V1: &str = "30 24 0:25 / /sys/fs/cgroup ro - tmpfs t ro\n\
                  33 30 0:28 / /sys/fs/cgroup/memory rw - cgroup c rw,memory\n";

/// Where the recorded runtimes lay on $PATH.
const BIN: &str = "/usr/libexec/crio";

/// Answers that files, flags and environment do not decide, and why: (case, version, host, what);
/// an empty version or host stands for all.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    // it starts and waits for a socket that never comes
    ("docker/containerd-flag-missing", "", "", "up"),
    ("docker/containerd-socket-missing", "", "", "up"),
];

struct Daemon {
    name: &'static str,
    program: &'static str,
    facts: &'static [(&'static str, &'static str)],
}

const DAEMONS: [Daemon; 2] = [
    Daemon { name: "docker", program: "dockerd", facts: &[("cgroup_driver", "docker.cgroup_driver")] },
    Daemon {
        name: "crio",
        program: "crio",
        facts: &[
            ("cgroup_driver", "crio.cgroup_driver"),
            ("conmon_cgroup", "crio.conmon_cgroup"),
            ("default_runtime", "crio.default_runtime"),
        ],
    },
];

/// A node as the case had it.
fn node(case: &Path, daemon: &Daemon, expected: &Json, host: &Json) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let put = |path: &str, text: &[u8]| {
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    copy(&case.join("root"), root);
    let v2 = host["cgroup"] == "v2";
    put("/proc/1/mountinfo", if v2 { V2 } else { V1 }.as_bytes());
    let mark = if host["systemd_dir"] == true { "/run/systemd/system/.keep" } else { "/run/lock/.keep" };
    put(mark, b"");
    for runtime in ["runc", "crun"] {
        put(&format!("{BIN}/{runtime}"), b"");
    }
    let mut unit = "[Service]\n".to_owned();
    for (name, value) in expected["environment"].as_object().into_iter().flatten() {
        writeln!(unit, "Environment=\"{name}={}\"", value.as_str().unwrap()).unwrap();
    }
    write!(unit, "ExecStart=/usr/bin/{}", daemon.program).unwrap();
    let flags = expected["flags"].as_array().into_iter().flatten();
    for flag in flags.map(|f| f.as_str().unwrap()) {
        write!(unit, " \"{flag}\"").unwrap();
    }
    if host["rootless"] == true {
        unit.push_str(" --rootless");
    }
    put(&format!("/etc/systemd/system/{}.service", daemon.name), (unit + "\n").as_bytes());
    // git keeps no empty directory
    if case.ends_with("crio/main-is-dir") {
        fs::create_dir_all(root.join("etc/crio/crio.conf")).unwrap();
    }
    dir
}

/// Copies a tree; `NAME.symlink` holds the target of a link.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            fs::create_dir_all(to.join(&name)).unwrap();
            copy(&entry.path(), &to.join(&name));
        } else if let Some(link) = name.strip_suffix(".symlink") {
            fs::create_dir_all(to).unwrap();
            symlink(fs::read_to_string(entry.path()).unwrap().trim(), to.join(link)).unwrap();
        } else if name != ".gitkeep" {
            let bytes = fs::read(entry.path()).unwrap();
            let text = match String::from_utf8(bytes) {
                Ok(text) => text.replace("@BIN@", BIN).into_bytes(),
                Err(e) => e.into_bytes(),
            };
            fs::write(to.join(&name), text).unwrap();
        }
    }
}

fn shown(facts: &Snapshot, name: &str) -> String {
    match &facts.named(name).value {
        Known::Is(value) => value.to_string(),
        Known::Absent(_) => "-".into(),
        Known::Unknown(why) => format!("? {why}"),
    }
}

/// A value that a file, flag or variable says stands where its origin points.
fn placed(collected: &Collected, facts: &Snapshot, name: &str) -> Result<(), String> {
    let fact = facts.named(name);
    let (Known::Is(Value::Text(value)), Some(by)) = (&fact.value, &fact.by) else { return Ok(()) };
    let said = collected.sources.slice(by.place);
    let letters: String = said.chars().filter(|c| *c != '\0').collect();
    // what CRI-O 1.18 takes for cgroupfs, what a rootless dockerd makes of it, and what nothing
    // stands for
    let stands_for = ["cgroupfs", "none", ""].contains(&&**value) || letters.trim_matches('"').is_empty();
    if !stands_for && by.layer != Layer::Default && !letters.contains(&**value) {
        return Err(format!("{name} is {value}, and at its place stands {said:?}"));
    }
    Ok(())
}

fn compare(case: &Path, daemon: &Daemon, expected: &Json) -> Result<Vec<(String, String, String)>, String> {
    let mut wrong = Vec::new();
    for (version, hosts) in expected["results"].as_object().unwrap() {
        for (host, answer) in hosts.as_object().unwrap() {
            // its network needs a program that was not there: nothing of the driver was seen
            if answer["error"].as_str().is_some_and(|e| e.contains("network controller")) {
                continue;
            }
            let root = node(case, daemon, expected, &expected["hosts"][host]);
            let door = Door::Root(root.path().to_str().unwrap().to_owned());
            let node = Node::open(door, Duration::ZERO)?;
            let options =
                Options { assume: [(daemon.name.to_owned(), version.clone())].into(), ..Options::default() };
            let collected = collect(&node, &options);
            let facts = resolve(&collected, When::NextStart, derive).merged;
            let mut check = |what: &str, told: String, want: String| {
                if told != want {
                    wrong.push((format!("{version} {host} {what}"), told, want));
                }
            };
            let up = answer["up"] == true;
            check("up", shown(&facts, &format!("{}.boots", daemon.name)), up.to_string());
            for (key, fact) in daemon.facts {
                placed(&collected, &facts, fact)?;
                let mut want = match (up, answer[*key].as_str()) {
                    (false, _) => "-".to_owned(),
                    (true, Some(want)) => want.to_owned(),
                    (true, None) => continue,
                };
                // 1.18 shows any word, and takes what is not systemd for cgroupfs
                if up && *fact == "crio.cgroup_driver" && want != "systemd" {
                    want = "cgroupfs".to_owned();
                }
                check(key, shown(&facts, fact), want);
            }
        }
    }
    Ok(wrong)
}

fn run(name: &str, case: &Path, daemon: &Daemon) -> Result<(), Failed> {
    let expected: Json = serde_json::from_str(&fs::read_to_string(case.join("expected.json"))?)?;
    let excepted = |what: &str| {
        EXCEPTIONS.iter().any(|(case, version, host, of)| {
            let mut words = what.split(' ');
            let (v, h, w) = (words.next(), words.next(), words.next());
            let fits = |said: &str, met: Option<&str>| said.is_empty() || met == Some(said);
            *case == name && fits(version, v) && fits(host, h) && (w == Some(of) || *of == "up")
        })
    };
    let wrong = compare(case, daemon, &expected)?;
    let listed = EXCEPTIONS.iter().any(|(case, ..)| *case == name);
    if listed && wrong.is_empty() {
        return Err("agrees, and is listed as an exception".into());
    }
    let mut report = String::new();
    for (what, told, want) in wrong.iter().filter(|(what, ..)| !excepted(what)) {
        writeln!(report, "{what}: the model says {told}, the program {want}")?;
    }
    if report.is_empty() { Ok(()) } else { Err(report.into()) }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    for daemon in DAEMONS {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus").join(daemon.name);
        let mut cases: Vec<PathBuf> = fs::read_dir(&root)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.join("expected.json").is_file())
            .collect();
        cases.sort();
        let count = cases.len();
        for case in cases {
            let name = format!("{}/{}", daemon.name, case.file_name().unwrap().to_string_lossy());
            let daemon = Daemon { ..daemon };
            trials.push(Trial::test(name.clone(), move || run(&name, &case, &daemon)));
        }
        trials.push(Trial::test(format!("{}/all_cases_are_there", daemon.name), move || {
            if count < 90 { Err(format!("only {count} cases found").into()) } else { Ok(()) }
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}
