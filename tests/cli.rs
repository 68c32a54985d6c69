//! The command line as its user meets it: `tests/snapshots/cli/*.txt` hold what was typed, what
//! came out on which stream, and the exit code. `UPDATE=1` rewrites them.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const CHECKOUT: &str = env!("CARGO_MANIFEST_DIR");
/// A node with one warning, and one with an error and unknown rules.
const WARNING: &str = "fixtures/kubeadm-1.34-containerd-2.1/root";
const ERROR: &str = "fixtures/image-not-booted/root";
const CLEAN: &str = "fixtures/ok-kubeadm-1.34-containerd-2.1/root";

/// A scratch directory, called TMP in what is typed and printed.
struct Shell {
    dir: TempDir,
}

impl Shell {
    fn new() -> Shell {
        Shell { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// `NAME=value … nodevet argument …`, split at blanks; nothing else of the environment is kept.
    fn command(&self, line: &str) -> Command {
        let line = line.replace("TMP", self.dir.path().to_str().unwrap());
        let (variables, arguments) = line.split_once("nodevet").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodevet"));
        command.args(arguments.split_whitespace()).current_dir(CHECKOUT).env_clear();
        command.env("LANG", "C.UTF-8").env("COLUMNS", "100").env("SOURCE_DATE_EPOCH", "1796083200");
        command.envs(variables.split_whitespace().map(|v| v.split_once('=').unwrap()));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Exit code and stdout of a run that says nothing on stderr.
    fn quiet(&self, line: &str) -> (i32, String) {
        let done = self.run(line);
        assert_eq!(self.scrub(&done.stderr), "", "{line}");
        (done.status.code().unwrap(), self.scrub(&done.stdout))
    }

    fn scrub(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.replace(self.dir.path().to_str().unwrap(), "TMP").replace(CHECKOUT, "CHECKOUT")
    }

    fn transcript(&self, name: &str, lines: &[&str]) {
        let mut told = String::new();
        for line in lines {
            let done = self.run(line);
            told += &format!("$ {line}\n{}", self.scrub(&done.stdout));
            for said in self.scrub(&done.stderr).lines() {
                told += &format!("2> {said}\n");
            }
            told += &format!("=> {}\n\n", done.status.code().unwrap());
        }
        let told: String = told.lines().map(|l| format!("{}\n", l.trim_end())).collect();
        let path = Path::new(CHECKOUT).join(format!("tests/snapshots/cli/{name}.txt"));
        if std::env::var_os("UPDATE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &told).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(told == expected, "{name} differs from {}; got:\n{told}", path.display());
    }
}

const RULE: &str = r#"summary = "systemd is older than this site wants it"
severity = "error"
given = 'has(host.systemd_version)'
expect = 'version(host.systemd_version) >= version("300")'
message = "systemd is ${host.systemd_version}"

[[label]]
fact = "host.systemd_version"
text = "this one"

[[example]]
name = "old"
expect = "finding"
[example.facts]
host.systemd_version = "257"

[[example]]
name = "new"
expect = "pass"
[example.facts]
host.systemd_version = "301"
"#;

#[test]
fn help() {
    let verbs = ["--help", "-h", "check --help", "facts --help", "capture --help", "rules --help"];
    let more = ["rules test --help", "explain --help", "schema --help"];
    let lines: Vec<String> = verbs.iter().chain(&more).map(|v| format!("nodevet {v}")).collect();
    Shell::new().transcript("help", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (code, version) = Shell::new().quiet("nodevet --version");
    assert_eq!((code, version.as_str()), (0, concat!("nodevet ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn what_is_wrong_on_the_command_line_is_named_with_its_neighbour() {
    let shell = Shell::new();
    let lines: Vec<String> = [
        "chek",
        "--fromat json",
        "check --root",
        "check --root R --host /",
        "check --root /no/such/dir",
        "check --root Cargo.toml",
        "check --host /no/such/dir",
        "check --root R --format jsn",
        "check --root R --select NV110",
        "check --root R --select cgroup-driver-mismatc",
        "check --root R --ignore NV1,nonsense",
        "check --root R --fail-on eror",
        "check --root R --min-severity fatal",
        "check --root R --min-confidence certan",
        "check --root R --color sometimes",
        "check --root R -q -v",
        "check --root R --timeout soon",
        "check --root R --now yesterday",
        "check --root R -o json",
        "check --root R -o json=",
        "check --root R -o jsno=TMP/x",
        "check --root R -o short=TMP/no/such/dir -q",
        "facts --root R host.innit",
        "facts --root R --format jsn",
        "facts --root /no/such/dir",
        "schema chek",
        "explain NV110",
        "explain NV1",
        "explain",
        "rules shw",
        "rules test /no/such/file",
        "check --root R -c fixtures",
        "check --root R -c TMP/binary.toml",
        "check --root R --rules TMP/binary.toml",
        "check --root TMP/strange",
        "capture",
    ]
    .iter()
    .map(|line| format!("nodevet {}", line.replace(" R", &format!(" {WARNING}"))))
    .chain([format!("SOURCE_DATE_EPOCH=soon nodevet check --root {WARNING}")])
    .collect();
    fs::write(shell.path("binary.toml"), b"\xff\xfe").unwrap();
    fs::create_dir_all(shell.path("strange/etc/nodevet.toml")).unwrap();
    for line in &lines {
        assert_eq!(shell.run(line).status.code(), Some(2), "{line}");
    }
    shell.transcript("usage", &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn assumed_versions() {
    let assume = |said: &str| format!("nodevet facts --root {WARNING} --assume {said}");
    let shell = Shell::new();
    for (daemon, fact, spellings) in [
        (
            "containerd",
            "containerd.version",
            &["v2.1", "2.1", "2.1.9", "1.7.24~ds1", "1:2.1.9-1", "2.2.0-rc.1"][..],
        ),
        ("kubelet", "kubelet.version", &["1.34", "v1.34.2", "1.34.2+k3s1"]),
        ("systemd", "host.systemd_version", &["257", "257.13-1~deb13u1"]),
    ] {
        for version in spellings {
            let (code, told) = shell.quiet(&format!("{} {fact}", assume(&format!("{daemon}={version}"))));
            let first = format!("{fact} = {version}   assume:{daemon}:1:1 (assumed)\n  overrides ");
            assert!(code == 0 && told.starts_with(&first), "{told}");
        }
    }
    let wrong =
        ["containerd=new", "containerd=2", "containrd=2.1", "podman=5.2", "containerd", "kubelet=", "=2.1"];
    let lines: Vec<String> = wrong.iter().map(|said| assume(said)).collect();
    shell.transcript("assume", &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn exit_codes() {
    let shell = Shell::new();
    fs::create_dir(shell.path("empty")).unwrap();
    shell.file("only-unknown/proc/1/comm", "systemd\n");
    for (line, code) in [
        (format!("--root {CLEAN}"), 0),
        (format!("--root {CLEAN} --fail-on unknown"), 0),
        (format!("--root {WARNING}"), 0),
        (format!("--root {WARNING} --fail-on warning"), 1),
        (format!("--root {WARNING} --fail-on note"), 1),
        (format!("--root {WARNING} --fail-on unknown"), 1),
        (format!("--root {ERROR}"), 1),
        (format!("--root {ERROR} --fail-on never"), 0),
        // what is hidden still counts
        (format!("--root {ERROR} --min-severity error --fail-on warning"), 1),
        (format!("--root {WARNING} --min-severity error --fail-on warning"), 1),
        (format!("--root {WARNING} --min-confidence certain --fail-on error"), 0),
        // unknown counts when it is asked for, or when nothing else was judged
        (format!("--root {ERROR} --ignore NV101 --fail-on note"), 0),
        (format!("--root {ERROR} --ignore NV101 --fail-on unknown"), 1),
        (format!("--root {ERROR} --select NV201"), 2),
        (format!("--root {ERROR} --select NV201 --fail-on never"), 2),
        (format!("--root {ERROR} --select NV201,NV9"), 2),
        (format!("--root {ERROR} --select NV201,NV303"), 0),
        ("--root TMP/empty".to_owned(), 0),
    ] {
        let (is, told) = shell.quiet(&format!("nodevet check {line} --format short"));
        assert_eq!(is, code, "{line}: {told}");
        assert_eq!(shell.quiet(&format!("nodevet {line} -qq")), (code, String::new()), "without the verb");
    }
}

#[test]
fn how_much_is_said_and_how_it_looks() {
    Shell::new().transcript(
        "check",
        &[
            &format!("nodevet --root {WARNING}"),
            &format!("nodevet check --root {WARNING} -q"),
            &format!("nodevet check --root {WARNING} -v --select NV1,NV9"),
            &format!("nodevet check --root {WARNING} --format short"),
            &format!("LANG=C nodevet check --root {WARNING}"),
            &format!("COLUMNS=50 nodevet check --root {ERROR}"),
            &format!("nodevet check --root {ERROR} --min-severity error"),
            &format!("nodevet check --root {CLEAN}"),
            &format!("nodevet check --root {CLEAN} -q"),
            &format!("nodevet check --root {CLEAN} --format short"),
            &format!("nodevet check --root {WARNING} --assume containerd=1.2 --select NV303"),
        ],
    );
    let shell = Shell::new();
    let colored = |line: &str| shell.quiet(&format!("{line} --root {WARNING} -q")).1.contains("\u{1b}[");
    assert!(!colored("nodevet check"), "not a terminal");
    assert!(colored("nodevet check --color always"));
    assert!(colored("CLICOLOR_FORCE=1 nodevet check"));
    assert!(!colored("CLICOLOR_FORCE=0 nodevet check"));
    assert!(!colored("CLICOLOR_FORCE=1 NO_COLOR=1 nodevet check"));
    assert!(!colored("CLICOLOR_FORCE=1 nodevet check --color never"));
}

#[test]
fn probes_are_told_on_stderr_when_asked_for() {
    let shell = Shell::new();
    for verb in ["check", "facts"] {
        let done = shell.run(&format!("nodevet {verb} --root {WARNING} -vv"));
        let told = shell.scrub(&done.stderr);
        assert!(told.contains("read     /etc/containerd/config.toml\n"), "{told}");
        let once = shell.quiet(&format!("nodevet {verb} --root {WARNING} -v"));
        assert_eq!(once, (0, shell.scrub(&done.stdout)));
    }
}

#[test]
fn reports_in_files() {
    let shell = Shell::new();
    let line = format!("check --root {WARNING}");
    let (_, text) =
        shell.quiet(&format!("nodevet {line} -o json=TMP/a.json -o short=TMP/b.txt -o text=TMP/c.txt"));
    assert_eq!(text, shell.read("c.txt"));
    assert_eq!(shell.quiet(&format!("nodevet {line} --format json")).1, shell.read("a.json"));
    assert_eq!(shell.quiet(&format!("nodevet {line} --format short")).1, shell.read("b.txt"));
    let done = shell.run(&format!("nodevet {line} --format json -o json=TMP/no/such/dir"));
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(shell.scrub(&done.stdout), shell.read("a.json"), "stdout is whole all the same");
    assert_eq!(shell.scrub(&done.stderr), "error: cannot write TMP/no/such/dir: no such file or directory\n");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let shell = Shell::new();
    for (line, code) in [
        (format!("nodevet check --root {CLEAN} --format json"), 0),
        (format!("nodevet check --root {ERROR} --format json"), 1),
        (format!("nodevet facts --root {CLEAN} --format json"), 0),
        ("nodevet explain NV101".to_owned(), 0),
    ] {
        let mut child = shell.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), shell.scrub(&done.stderr).as_str()), (Some(code), ""), "{line}");
    }
}

#[test]
fn facts() {
    Shell::new().transcript(
        "facts",
        &[
            &format!("nodevet facts --root {WARNING} host cgroup.mode containerd.cgroup_driver containerd.runtimes"),
            &format!("nodevet facts --root {WARNING} containerd.cgroup_driver node.verdict --format json"),
            &format!("nodevet facts --root {WARNING} containerd.disabled_plugins kernel.ip_forward --format json"),
            "nodevet facts --root fixtures/import-pattern-matches-nothing/root containerd.boots containerd.runtimes containerd.reported_driver",
            &format!("nodevet facts --root {ERROR} host.init containerd.cgroup_driver cgroup. -v"),
            &format!("nodevet facts --root {WARNING} host.now"),
            &format!("nodevet facts --root {WARNING} host.now --now 2027-03-01"),
            &format!("nodevet facts --root {WARNING} node.verdict --next-start"),
        ],
    );
}

#[test]
fn configuration() {
    let shell = Shell::new();
    let ignore = |more: &str| format!("[[ignore]]\nrule = \"NV102\"\n{more}");
    shell.file("key.toml", &ignore("reson = \"x\"\n"));
    shell.file("syntax.toml", "select = [\n");
    shell.file("rule.toml", "fail_on = \"note\"\nignore = [\"NV102\", \"NV999\"]\n");
    shell.file("no-reason.toml", &ignore(""));
    shell.file("expired.toml", &ignore("reason = \"migrated\"\nuntil = 2026-01-01\n"));
    shell.file("unused.toml", "[[ignore]]\nrule = \"NV101\"\nreason = \"lab\"\n");
    shell.file(
        "good.toml",
        &format!("fail_on = \"note\"\n{}", ignore("reason = \"migrated\"\nuntil = 2027-05-31\n")),
    );
    shell.file("levels.toml", "fail_on = \"warning\"\nmin_severity = \"error\"\n");
    let names = ["key", "syntax", "rule", "no-reason", "expired", "unused", "good", "levels", "missing"];
    let mut lines: Vec<String> = names
        .iter()
        .map(|n| format!("nodevet check --root {WARNING} --select NV1,NV9 -c TMP/{n}.toml"))
        .collect();
    lines.push(format!(
        "nodevet check --root {WARNING} -c TMP/levels.toml --fail-on never --min-severity note -qq"
    ));
    lines.push(format!("nodevet check --root {WARNING} -c TMP/good.toml --no-config"));
    lines.push(format!("nodevet check --root {WARNING} -c TMP/good.toml -v --select NV102"));
    lines.push(format!("nodevet check --root {WARNING} -c TMP/good.toml --now 2027-06-01 --format short"));
    shell.transcript("configuration", &lines.iter().map(String::as_str).collect::<Vec<_>>());

    // of the node, else of the user
    shell.file("home/.config/nodevet/config.toml", &shell.read("good.toml"));
    let short = |line: &str| shell.quiet(&format!("{line} --format short")).1;
    shell.file("root/etc/nodevet.toml", "[[ignore]]\nrule = \"NV999\"\n");
    let told = short("nodevet check --root TMP/root");
    assert_eq!(told, "/etc/nodevet.toml:2:8: NV901 no rule `NV999`; did you mean `NV905`?\n");
    assert_eq!(short("nodevet check --root TMP/root --no-config"), "");
    assert_eq!(
        short(&format!("HOME=TMP/home nodevet check --root {WARNING}")).lines().count(),
        2,
        "not of this machine"
    );
}

#[test]
fn silences_are_judged_by_rules_of_their_own() {
    let shell = Shell::new();
    let told = |line: &str| shell.quiet(&format!("nodevet check {line} --format short")).1;
    let reasonless = "--root fixtures/silenced-without-a-reason/root";
    assert!(told(reasonless).contains(": NV902 NV102 is silenced without a reason\n"));
    assert!(!told(&format!("{reasonless} --ignore NV902")).contains("NV902"));
    assert!(!told(&format!("{reasonless} --select NV1")).contains("NV902"));
    let unneeded = "--root fixtures/silenced-without-need/root";
    assert!(told(&format!("{unneeded} --select unused-suppression,NV102")).contains("NV901"));
    let json = shell.quiet(&format!("nodevet check --root {CLEAN} --format json")).1;
    assert!(json.contains("\"code\": \"NV901\""), "a rule that says nothing is listed as such");
    shell.transcript(
        "explain",
        &["nodevet explain NV901", "nodevet rules show suppression-without-reason", "nodevet explain nv201"],
    );
}

#[test]
fn rules_of_users() {
    let shell = Shell::new();
    shell.file("rules/ACME001-systemd-too-old.toml", RULE);
    shell.file("rules/notes.txt", "not a rule");
    shell.file("root/etc/nodevet/rules.d/ACME001-systemd-too-old.toml", RULE);
    shell.file("failing/ACME002-systemd-too-new.toml", &RULE.replace("\"257\"", "\"302\""));
    shell.file("bad/ACME003-cgroup-driver-mismatch.toml", RULE);
    shell.file("bad/NV950-systemd-too-old.toml", RULE);
    shell.file("bad/systemd.toml", RULE);
    shell.file("bad/ACME004-syntax.toml", "summary = \"x\n");
    let typo = RULE
        .replace("severity = \"error\"", "severity = \"eror\"")
        .replace("systemd_version)", "systemd_verson)");
    shell.file("bad/ACME005-misspelt.toml", &typo.replace("message =", "mesage ="));
    shell.file("bad/ACME006-typed.toml", &RULE.replace(">= version(\"300\")", "&& 1"));
    shell.transcript(
        "rules",
        &[
            &format!("nodevet check --root {WARNING} --rules TMP/rules --select ACME"),
            &format!("nodevet check --root {WARNING} --rules TMP/rules --rules TMP/rules/ACME001-systemd-too-old.toml --format short"),
            &format!("nodevet check --root {WARNING} --rules TMP/bad"),
            "nodevet check --root TMP/root --select ACME001",
            "nodevet explain acme001 --rules TMP/rules",
            "nodevet rules test TMP/rules",
            "nodevet rules test TMP/rules TMP/failing",
            "nodevet rules test TMP/bad/NV950-systemd-too-old.toml",
            "nodevet rules list --rules TMP/rules",
        ],
    );
    let (code, tested) = shell.quiet("nodevet rules test");
    assert!(code == 0 && tested.ends_with(" passed, 0 failed\n"), "{tested}");
    assert_eq!(shell.quiet("nodevet rules"), shell.quiet("nodevet rules list"));
    assert_eq!(
        shell.quiet("nodevet rules show NV101"),
        shell.quiet("nodevet explain cgroup-driver-mismatch")
    );
}

#[test]
fn schemas() {
    let shell = Shell::new();
    for document in ["check", "facts"] {
        let (code, schema) = shell.quiet(&format!("nodevet schema {document}"));
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let id = format!("nodevet/{document}/1");
        assert_eq!((code, schema["properties"]["schema"]["const"].as_str()), (0, Some(id.as_str())));
        let validator = jsonschema::validator_for(&schema).unwrap();
        for root in [WARNING, ERROR, CLEAN, "fixtures/silenced-with-a-reason/root"] {
            let (_, told) = shell.quiet(&format!("nodevet {document} --root {root} --format json"));
            let told = serde_json::from_str(&told).unwrap();
            let errors: Vec<String> = validator.iter_errors(&told).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{root}: {errors:?}");
        }
    }
    assert_eq!(shell.quiet("nodevet schema"), shell.quiet("nodevet schema check"));
}

#[test]
fn a_capture_answers_as_the_node_did() {
    let shell = Shell::new();
    let cases = ["fixtures", "fixtures/captures"].map(|dir| fs::read_dir(dir).unwrap()).into_iter().flatten();
    let roots = cases.map(|case| case.unwrap().path().join("root")).filter(|root| root.is_dir());
    let mut nodes: Vec<String> = roots.map(|root| root.display().to_string()).collect();
    nodes.sort();
    nodes.insert(0, WARNING.to_owned());
    assert!(nodes.len() > 80);
    for (i, node) in nodes.iter().enumerate() {
        let done = shell.run(&format!("nodevet capture TMP/c{i} --root {node}"));
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0));
        for verb in ["check --format json", "facts --format json", "facts --next-start"] {
            let of = |root: &str| shell.quiet(&format!("nodevet {verb} --root {root}"));
            assert_eq!(of(&format!("TMP/c{i}")), of(node), "{verb}");
        }
    }
    assert_eq!(shell.read("c0/.nodevet/clock"), "1796083200\n");
    let told = shell.run(&format!("nodevet capture TMP/c0 --root {WARNING}"));
    assert_eq!(
        shell.scrub(&told.stderr),
        "error: TMP/c0 is there already: a capture makes a new directory\n"
    );
    fs::create_dir(shell.path("empty")).unwrap();
    for dir in ["TMP/c0", "TMP/empty", "TMP/no/such/dir"] {
        let done = shell.run(&format!("nodevet capture {dir} --root {WARNING}"));
        assert_eq!(done.status.code(), Some(2), "{dir}");
    }
}

#[test]
fn a_capture_holds_no_secret() {
    let shell = Shell::new();
    let secret = "\n[plugins.'io.containerd.cri.v1.images'.registry.configs.'r.example'.auth]\n\
                  password = \"hunter2\"\nauth = \"Ym9iOmh1bnRlcjI=\"\nidentitytoken = 'tok-123'\n";
    let config =
        fs::read_to_string(Path::new(CHECKOUT).join(WARNING).join("etc/containerd/config.toml")).unwrap();
    shell.file("root/etc/containerd/config.toml", &(config + secret));
    assert_eq!(shell.run("nodevet capture TMP/capture --root TMP/root").status.code(), Some(0));
    let kept = shell.read("capture/etc/containerd/config.toml");
    assert_eq!(kept.len(), shell.read("root/etc/containerd/config.toml").len(), "every span stays");
    for word in ["hunter2", "Ym9i", "tok-123"] {
        assert!(!kept.contains(word), "{word}");
    }
    let of = |root: &str| shell.quiet(&format!("nodevet check --format json --root TMP/{root}"));
    assert_eq!(of("capture"), of("root"));
}
