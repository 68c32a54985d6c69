//! containerd's answers, recorded from real binaries, against what the model says: every case of
//! fixtures/corpus/containerd in six versions.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod memory;

use libtest_mimic::{Arguments, Failed, Trial};
use memory::Memory;
use nodevet::fact::{Fact, Known, Layer, Statements, Value, What};
use nodevet::model::containerd::{Input, Session, effective, generation};
use nodevet::text::{Kind, Sources};
use nodevet::version::Version;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where a case's files are said to lie.
const DIR: &str = "/etc/nodevet-case";

/// Answers that the model does not give, and why: (case, version, what).
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // 1.4 takes either of two spellings, anew for each pod; one outcome was recorded, the model says unknown
    ("d22-both-spellings", "1.4.13", "default_systemd_cgroup"),
    ("d22-both-spellings", "1.4.13", "runc.systemd_cgroup"),
];

/// What the facts say, as plain text: `?` unknown, `-` absent.
fn shown(said: &Statements) -> String {
    match said {
        Known::Is(said) => match said.iter().max_by_key(|s| s.origin.layer) {
            Some(s) => s.value.to_string(),
            None => String::new(),
        },
        Known::Absent(_) => "-".into(),
        Known::Unknown(why) => format!("? {why}"),
    }
}

struct Answer {
    facts: Vec<Fact>,
    sources: Sources,
}

impl Answer {
    fn one(&self, name: &str) -> String {
        match self.facts.iter().find(|f| f.name == name).map(|f| &f.what) {
            Some(What::One(said)) => shown(said),
            _ => "missing".into(),
        }
    }

    fn handlers(&self) -> BTreeMap<String, BTreeMap<&'static str, String>> {
        let rows = match self.facts.iter().find(|f| f.name == "containerd.runtimes").map(|f| &f.what) {
            Some(What::Rows(Known::Is(rows))) => rows.clone(),
            _ => Vec::new(),
        };
        rows.iter()
            .map(|row| {
                let cells: BTreeMap<&'static str, String> =
                    row.iter().map(|(name, said)| (*name, shown(said))).collect();
                (cells.get("name").cloned().unwrap_or_default(), cells)
            })
            .collect()
    }

    /// Every place lies in its text, and a value written in a file is the token there.
    fn places(&self) -> Result<(), String> {
        for fact in &self.facts {
            let all: Vec<&Statements> = match &fact.what {
                What::One(said) | What::Each(said) => vec![said],
                What::Rows(Known::Is(rows)) => {
                    rows.iter().flat_map(|row| &**row).map(|(_, said)| said).collect()
                }
                What::Rows(_) => Vec::new(),
            };
            for said in all.iter().filter_map(|s| s.is()).flatten() {
                let place = said.origin.place;
                let text = &self.sources.get(place.source).text;
                if text.get(place.span.start..place.span.end).is_none() {
                    return Err(format!("{}: a place outside its text", fact.name));
                }
                let kind = self.sources.get(place.source).kind;
                if (kind == Kind::Default) != (said.origin.layer == Layer::Default) {
                    return Err(format!("{}: layer {:?} in {kind:?}", fact.name, said.origin.layer));
                }
                if fact.name == "containerd.sandbox_image"
                    && let Value::Text(image) = &said.value
                    && !self.sources.slice(place).contains(&**image)
                {
                    return Err(format!("sandbox_image is not at {:?}", self.sources.slice(place)));
                }
            }
        }
        Ok(())
    }
}

fn ask(case: &Path, expected: &Json, version: &str, systemd: bool) -> Result<Answer, String> {
    let mut files = BTreeMap::new();
    for name in expected["files"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        let path = match name.strip_prefix("ETC_CONTAINERD/") {
            Some(rest) => format!("/etc/containerd/{rest}"),
            None => format!("{DIR}/{name}"),
        };
        let bytes = std::fs::read(case.join(name)).map_err(|e| format!("{name}: {e}"))?;
        files.insert(path, Some(substitute(&bytes)));
    }
    let main = expected["main"].as_str().unwrap_or_default();
    let path = match (main, main.strip_prefix("ETC_CONTAINERD/")) {
        ("", _) => "/etc/containerd/config.toml".to_owned(),
        (_, Some(rest)) => format!("/etc/containerd/{rest}"),
        _ => format!("{DIR}/{main}"),
    };
    let input = Input {
        main: &path,
        main_given: !main.is_empty(),
        systemd_running: Known::Is(systemd),
        cgroup_mode: Known::Is("hybrid".into()),
    };
    let parsed = Version::parse(version).ok_or("no version")?;
    let [generation] = generation::possible(Some(&parsed))[..] else {
        return Err(format!("{version} is of several generations"));
    };
    let mut reader = Memory { files, ..Memory::default() };
    let facts = effective(generation, &input, &mut reader, &mut Session::default()).facts();
    Ok(Answer { facts, sources: reader.sources })
}

fn substitute(bytes: &[u8]) -> Vec<u8> {
    let mark = b"@DIR@";
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(mark.len()).position(|w| w == mark) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(DIR.as_bytes());
        rest = &rest[at + mark.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn driver(answer: &Json) -> Option<&'static str> {
    match answer.as_str()? {
        "SYSTEMD" => Some("systemd"),
        "CGROUPFS" => Some("cgroupfs"),
        "UNIMPLEMENTED" => Some("unimplemented"),
        _ => None,
    }
}

/// Disagreements of one case in one version: (what, told, expected).
fn compare(case: &Path, expected: &Json, version: &str) -> Result<Vec<(String, String, String)>, String> {
    let answer = ask(case, expected, version, false)?;
    answer.places()?;
    let wanted = &expected["versions"][version];
    let effective = &wanted["effective"];
    let mut wrong = Vec::new();
    let mut check = |what: &str, told: String, want: String| {
        if told != want {
            wrong.push((what.to_owned(), told, want));
        }
    };
    let boots = effective["daemon_boots"].as_bool().unwrap_or(false);
    check("daemon_boots", answer.one("containerd.boots"), boots.to_string());
    if !boots {
        check("cri_plugin_enabled", answer.one("containerd.cri_enabled"), "-".into());
        return Ok(wrong);
    }
    let cri = effective["cri_plugin_enabled"].as_bool().unwrap_or(false);
    check("cri_plugin_enabled", answer.one("containerd.cri_enabled"), cri.to_string());
    let handlers = answer.handlers();
    if let Some(name) = effective["default_runtime_name"].as_str() {
        check("default_runtime_name", answer.one("containerd.default_runtime"), name.to_owned());
    }
    let default = answer.one("containerd.default_runtime");
    let cell = |handler: &str, column: &str| {
        handlers.get(handler).and_then(|h| h.get(column)).cloned().unwrap_or_else(|| "-".into())
    };
    if cri {
        let fails = effective.get("default_pod_error").is_some();
        let family = cell(&default, "runc_family") == "true";
        if fails || family {
            check("default_pod_error", cell(&default, "usable"), (!fails).to_string());
            let told = answer.one("containerd.cgroup_driver");
            let want = match effective["default_systemd_cgroup"].as_bool() {
                Some(true) => Some("systemd"),
                Some(false) => Some("cgroupfs"),
                // nothing was recorded where 1.4 was not probed
                None => fails.then_some("-"),
            };
            if let Some(want) = want {
                check("default_systemd_cgroup", told, want.to_owned());
            }
        } else {
            check("cgroup_driver", answer.one("containerd.cgroup_driver"), "-".into());
        }
        for (key, systemd) in [("runtime_config", false), ("runtime_config_with_systemd", true)] {
            if let Some(want) = driver(&wanted[key]) {
                let told = ask(case, expected, version, systemd)?.one("containerd.reported_driver");
                check(key, told, want.to_owned());
            }
        }
    }
    for (name, handler) in wanted["runtimes"].as_object().into_iter().flatten() {
        let kind = handler["runtime_type"].as_str().unwrap_or_default();
        check(&format!("{name}.type"), cell(name, "type"), kind.to_owned());
        let binary = handler["binary_name"].as_str().filter(|b| !b.is_empty());
        if let Some(binary) = binary {
            let told = cell(name, "binary_name");
            if cell(name, "runc_family") == "true" {
                check(&format!("{name}.binary_name"), told, binary.to_owned());
            }
        }
        let proved = handler["systemd_cgroup_source"].as_str() == Some("probe")
            || handler["systemd_cgroup_source"].as_str() == Some("pod-fails")
            || kind == "io.containerd.runc.v2";
        if let (true, Some(driver)) = (proved, handler["systemd_cgroup"].as_bool()) {
            check(&format!("{name}.systemd_cgroup"), cell(name, "systemd_cgroup"), driver.to_string());
        }
        if handler.get("pod_fails").is_some() {
            check(&format!("{name}.usable"), cell(name, "usable"), "false".into());
        }
    }
    if let Some(image) = wanted["sandbox_image"].as_str() {
        check("sandbox_image", answer.one("containerd.sandbox_image"), image.to_owned());
    }
    Ok(wrong)
}

fn run(case: &Path) -> Result<(), Failed> {
    let name = case.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let text = std::fs::read_to_string(case.join("expected.json"))?;
    let expected: Json = serde_json::from_str(&text)?;
    let mut report = String::new();
    for version in expected["versions"].as_object().into_iter().flatten().map(|(v, _)| v) {
        let wrong = compare(case, &expected, version).map_err(|e| format!("{version}: {e}"))?;
        let allowed: Vec<&str> = EXCEPTIONS
            .iter()
            .filter(|(c, v, _)| *c == name && *v == version)
            .map(|(.., what)| *what)
            .collect();
        for what in &allowed {
            if !wrong.iter().any(|(w, ..)| w == what) {
                report.push_str(&format!("{version} {what}: agrees, and is listed as an exception\n"));
            }
        }
        for (what, told, want) in wrong.iter().filter(|(w, ..)| !allowed.contains(&w.as_str())) {
            report.push_str(&format!("{version} {what}: the model says {told}, containerd {want}\n"));
        }
    }
    if report.is_empty() { Ok(()) } else { Err(report.into()) }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus/containerd");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(&root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.join("expected.json").is_file())
        .collect();
    cases.sort();
    let mut trials: Vec<Trial> = cases
        .iter()
        .map(|case| {
            let name = case.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let case = case.clone();
            Trial::test(format!("containerd::{name}"), move || run(&case))
        })
        .collect();
    let (count, exceptions) = (cases.len(), EXCEPTIONS.len());
    trials.push(Trial::test("containerd::few_exceptions", move || {
        if count < 150 {
            return Err(format!("only {count} cases found").into());
        }
        let answers = count * 6;
        if exceptions * 50 > answers { Err("more than 2 % are exceptions".into()) } else { Ok(()) }
    }));
    libtest_mimic::run(&args, trials).exit_code()
}
