//! Trees made to hurt: the program neither panics nor hangs, opens nothing that is no file, runs
//! nothing, writes nothing, and says of what it could not read that it could not.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value as Json;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const CONFIG: &str = "/etc/containerd/config.toml";
const GOOD: &str = "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n";

struct Tree(tempfile::TempDir);

impl Tree {
    /// A node with both daemons.
    fn new() -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.file(CONFIG, GOOD);
        tree.file("/proc/1/comm", "systemd\n");
        tree.file("/run/systemd/system/.keep", "");
        tree.file("/usr/lib/systemd/system/containerd.service", "[Service]\nExecStart=/usr/bin/containerd\n");
        tree.file(
            "/usr/lib/systemd/system/kubelet.service",
            "[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n",
        );
        tree.file(
            "/var/lib/kubelet/config.yaml",
            "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\n",
        );
        tree.file("/proc/1/mountinfo", "30 24 0:25 / /sys/fs/cgroup rw - cgroup2 c rw\n");
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        let path = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.at(path), text).unwrap();
    }

    /// Takes away what is there.
    fn clear(&self, path: &str) -> PathBuf {
        let path = self.at(path);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn check(&self) -> Json {
        let output = finished(self.command(&["check", "--format", "json", "--fail-on", "never"]));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        // the other ways to show the same
        finished(self.command(&["check", "--fail-on", "never", "-v"]));
        finished(self.command(&["facts"]));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = nodevet(args);
        command.arg("--root").arg(self.0.path());
        command
    }
}

fn nodevet(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodevet"));
    command.args(args).env_clear();
    command
}

/// Runs to the end, in time and not by a signal, without a control character in the output.
fn finished(mut command: Command) -> Output {
    let begin = Instant::now();
    let output = command.output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?} for {command:?}", begin.elapsed());
    assert_eq!(output.status.signal(), None, "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() != Some(101) && !said.contains("panicked"), "{said}");
    let strange = |c: &u8| *c < 0x20 && *c != b'\n';
    assert!(!output.stdout.iter().any(strange), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!output.stderr.iter().any(strange), "{said}");
    output
}

fn codes<'a>(report: &'a Json, key: &str) -> Vec<&'a str> {
    report[key].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

/// The rules about drivers must not pass where the configuration was not read.
fn not_passed(report: &Json) {
    // or it is certain that the daemon does not start
    let found = codes(report, "findings");
    let stops = found.contains(&"NV303") || found.contains(&"NV401");
    assert!(stops || codes(report, "unknown").contains(&"NV101"), "{report:#}");
    assert!(found.contains(&"NV905"), "{report:#}");
}

#[test]
fn a_configuration_that_is_no_file_is_unknown() {
    type Maker = fn(&Path);
    let makers: [(&str, Maker); 9] = [
        ("a directory", |p| fs::create_dir(p).unwrap()),
        ("a FIFO", |p| mkfifo(p, Mode::S_IRWXU).unwrap()),
        ("a socket", |p| drop(UnixListener::bind(p).unwrap())),
        ("a circle", |p| symlink(p.file_name().unwrap(), p).unwrap()),
        ("a long circle", |p| symlink(Path::new(".").join(p.file_name().unwrap()), p).unwrap()),
        ("a large file", |p| fs::File::create(p).unwrap().set_len(1 << 30).unwrap()),
        ("a deep path", |p| symlink("a/".repeat(2000) + "x", p).unwrap()),
        ("a long name", |p| symlink("x".repeat(300), p).unwrap()),
        ("a link to a FIFO", |p| {
            mkfifo(&p.with_file_name("fifo"), Mode::S_IRWXU).unwrap();
            symlink("fifo", p).unwrap();
        }),
    ];
    for (name, make) in makers {
        for path in [CONFIG, "/var/lib/kubelet/config.yaml"] {
            let tree = Tree::new();
            make(&tree.clear(path));
            let report = tree.check();
            if !matches!(name, "a deep path") {
                eprintln!("{name} at {path}");
                not_passed(&report);
            }
        }
    }
}

#[test]
fn links_out_of_the_root_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("config.toml"), "version = 2\n[debug]\nlevel = \"outsider\"\n").unwrap();
    let path = outside.path().join("config.toml");
    // what is read is told
    let tree = Tree::new();
    tree.file(CONFIG, fs::read(&path).unwrap());
    assert!(tree.check()["findings"].to_string().contains("outsider"));
    let climbing = PathBuf::from("../".repeat(40)).join(path.strip_prefix("/").unwrap());
    for target in [path.clone(), climbing, "/dev/zero".into(), "/proc/self/mem".into(), "/dev/stdin".into()] {
        let tree = Tree::new();
        symlink(&target, tree.clear(CONFIG)).unwrap();
        let output = finished(tree.command(&["check", "--format", "json", "-v", "--fail-on", "never"]));
        assert!(!String::from_utf8_lossy(&output.stdout).contains("outsider"), "{}", target.display());
    }
}

#[test]
fn devices_are_not_opened() {
    use nix::sys::stat::{SFlag, makedev, mknod};
    let tree = Tree::new();
    for path in [CONFIG, "/proc/7/comm", "/usr/bin/containerd", "/var/lib/dpkg/status"] {
        // /dev/zero, if this user may make it
        if mknod(&tree.clear(path), SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 5)).is_err() {
            return;
        }
    }
    not_passed(&tree.check());
}

#[test]
fn drop_ins_in_great_number_and_of_all_kinds() {
    let tree = Tree::new();
    for i in 0..300 {
        tree.file(&format!("/etc/containerd/conf.d/{i:05}.toml"), "version = 2\n");
    }
    tree.check();
    let tree = Tree::new();
    let dir = tree.at("/etc/containerd/conf.d/x").parent().unwrap().to_owned();
    mkfifo(&dir.join("a.toml"), Mode::S_IRWXU).unwrap();
    fs::create_dir(dir.join("b.toml")).unwrap();
    symlink("nowhere", dir.join("c.toml")).unwrap();
    fs::write(dir.join(std::ffi::OsStr::from_bytes(b"caf\xe9.toml")), "version = 2\n").unwrap();
    fs::write(dir.join("e\x1b[31m\n.toml"), "version = 2\n").unwrap();
    not_passed(&tree.check());
    let tree = Tree::new();
    tree.file("/etc/containerd/conf.d", "a file");
    tree.check();
}

#[test]
fn imports_of_everything() {
    for pattern in ["/**/*", "/*/*/*/*", "/dev/stdin", "/proc/self/fd/0", "/etc/containerd/config.toml", "/"]
    {
        let tree = Tree::new();
        tree.file(CONFIG, format!("version = 2\nimports = [\"{pattern}\"]\n"));
        mkfifo(&tree.at("/dev/stdin"), Mode::S_IRWXU).unwrap();
        tree.check();
    }
    let tree = Tree::new();
    let many: String = (0..1000).map(|i| format!("\"/etc/x/{i}.toml\",")).collect();
    tree.file(CONFIG, format!("version = 2\nimports = [{many}]\n"));
    tree.check();
}

#[test]
fn texts_made_to_hurt() {
    let nested_keys = format!("{}a = 1\n", "a.".repeat(5_000));
    let texts: Vec<Vec<u8>> = vec![
        vec![],
        vec![0; 4096],
        b"version = 2\xff\n".to_vec(),
        b"version = 2\n\x1b]0;x\x07[plugins]\n".to_vec(),
        b"root = \"\\u001b[2J\\u202e\"\nversion = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"\\u001b[31m\"\n"
            .to_vec(),
        format!("version = 2\nx = \"{}\"\n", "a".repeat(1 << 20)).into_bytes(),
        format!("{}\n", "x".repeat(1 << 20)).into_bytes(),
        format!("x = {}1{}\n", "[".repeat(10_000), "]".repeat(10_000)).into_bytes(),
        format!("x = {}1{}\n", "{a=".repeat(10_000), "}".repeat(10_000)).into_bytes(),
        nested_keys.clone().into_bytes(),
        format!("[{}a]\n", "a.".repeat(5_000)).into_bytes(),
        "[[a]]\n".repeat(10_000).into_bytes(),
        "version = 99999999999999999999999\n".into(),
        "version = -9223372036854775808\n".into(),
        b"version = 2\r\r\n\r".to_vec(),
        "\u{feff}version = 2\n".into(),
        format!("a: {}\n", "[".repeat(10_000)).into_bytes(),
        format!("{}a: 1\n", "- ".repeat(10_000)).into_bytes(),
        (0..200).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>().into_bytes(),
        // maps merged into each other
        (1..60)
            .fold("a0: &a0 {x: 1}\n".to_owned(), |text, i| {
                format!("{text}a{i}: &a{i} {{<<: [*a{0}, *a{0}]}}\n", i - 1)
            })
            .into_bytes()
            .into_iter()
            .chain(*b"<<: [*a59, *a59]\n")
            .collect(),
        // anchors within anchors
        format!("{}{}{}", (0..190).map(|i| format!("&b{i} [")).collect::<String>(), "x,".repeat(10_000), "]".repeat(190))
            .into_bytes(),
        format!("x: [\n{}\n", "]\n".repeat(200)).into_bytes(),
    ];
    for text in texts {
        let read = [
            CONFIG,
            "/var/lib/kubelet/config.yaml",
            "/proc/1/mountinfo",
            "/proc/1/comm",
            "/var/lib/dpkg/status",
            "/proc/cmdline",
        ];
        let units =
            ["/usr/lib/systemd/system/containerd.service", "/etc/systemd/system/kubelet.service.d/x.conf"];
        for paths in [&read[..], &units] {
            let tree = Tree::new();
            paths.iter().for_each(|path| tree.file(path, &text));
            finished(tree.command(&["check", "--fail-on", "never"]));
        }
    }
}

#[test]
fn mount_tables_in_circles_end() {
    let tree = Tree::new();
    let table: String = (0..20_000)
        .map(|i| format!("{i} {} 0:1 / /sys/fs/cgroup/{i} rw - cgroup c rw,memory\n", (i + 1) % 20_000))
        .collect();
    tree.file("/proc/1/mountinfo", table);
    assert!(codes(&tree.check(), "findings").contains(&"NV904"));
    let tree = Tree::new();
    let circle: String = (1..20_000)
        .map(|i| format!("{i} {} 0:1 / /a rw - tmpfs t rw\n", i % 19_999 + 1))
        .chain(["30000 1 0:25 / /sys/fs/cgroup rw - cgroup2 c rw\n".to_owned()])
        .collect();
    tree.file("/proc/1/mountinfo", circle);
    tree.check();
}

#[test]
fn many_processes() {
    let tree = Tree::new();
    for i in 2..10_000 {
        tree.file(&format!("/proc/{i}/comm"), "x\n");
    }
    tree.file("/proc/77/comm", "containerd\n");
    tree.file("/proc/77/cmdline", b"containerd\0--config\0\xff\0");
    tree.file("/proc/77/stat", format!("77 (c) S {}", "9223372036854775807 ".repeat(30)));
    tree.file("/proc/stat", "btime 9223372036854775807\n");
    mkfifo(&tree.clear("/proc/78/comm"), Mode::S_IRWXU).unwrap();
    tree.check();
}

#[test]
fn captures_made_to_hurt() {
    let refused = |meta: &[u8]| {
        let tree = Tree::new();
        tree.file("/.nodevet/meta.jsonl", meta);
        finished(tree.command(&["check", "--fail-on", "never"])).status.code()
    };
    assert_eq!(refused(b"not json\n"), Some(2));
    assert_eq!(refused(b"{\"path\":\"/a\",\"stat\":{\"kind\":\"file\"}}\n"), Some(2));
    assert_eq!(refused(format!("{}\n", "[".repeat(100_000)).as_bytes()), Some(2));
    let odd = concat!(
        "{\"path\":\"/../../etc/passwd\",\"absent\":true}\n{\"path\":\"\"}\n",
        "{\"path\":\"/etc/containerd/config.toml\",\"target\":\"/../../x\",\"magic\":-9223372036854775808}\n",
        "{\"path\":\"/etc/containerd/config.toml\",\"stat\":{\"kind\":\"fifo\",\"mode\":4294967295,\"uid\":0,\"gid\":0,",
        "\"size\":18446744073709551615,\"mtime\":-9223372036854775808,\"ctime\":9223372036854775807}}\n",
        "{\"reply\":\"dbus:../../x\",\"error\":{\"strange\":\"\\u001b[31m\"}}\n",
    );
    assert_eq!(refused(odd.as_bytes()), Some(0));
    let tree = Tree::new();
    mkfifo(&tree.at("/.nodevet/meta.jsonl"), Mode::S_IRWXU).unwrap();
    let output = finished(tree.command(&["check"]));
    assert_eq!(output.status.code(), Some(2), "a capture without its word on errors is none");
    let tree = Tree::new();
    for clock in ["9223372036854775807", "-9223372036854775808", "x"] {
        tree.file("/.nodevet/clock", clock);
        tree.check();
    }
}

#[test]
fn a_directory_without_end_is_unknown() {
    let tree = Tree::new();
    for i in 0..=65_536 {
        fs::File::create(tree.at(&format!("/etc/containerd/conf.d/{i}.toml"))).unwrap();
    }
    let report = tree.check();
    let unknown = report["unknown"].to_string();
    assert!(unknown.contains("/etc/containerd/conf.d: has more than 65536 entries"), "{unknown}");
}

#[test]
fn thousands_of_wrong_lines_take_no_longer_each_than_one() {
    let time = |lines: usize| {
        let tree = Tree::new();
        let unit = format!("[Service]\nExecStart=/usr/bin/containerd\n{}", "no sign\n".repeat(lines));
        tree.file("/usr/lib/systemd/system/containerd.service", unit);
        let begin = Instant::now();
        finished(tree.command(&["check", "--format", "json"]));
        begin.elapsed()
    };
    // twenty times the lines; where each looked at all others, that would take four hundred times as long
    let (few, many) = (time(250), time(5000));
    assert!(many < few * 100, "{few:?} for 250, {many:?} for 5000");
}

#[test]
fn no_form_of_output_tells_a_secret() {
    let tree = Tree::new();
    let secret = "SEKRIT";
    // a finding at the very line, one beside it, one that quotes it, and values that hold one
    tree.file(
        CONFIG,
        format!(
            "version = 2\nimports = [\"https://me:{secret}1@host/x.toml\"]\n\
             [plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"é\".auth] # nodevet: ignroe\n\
             password = \"é{secret}2\" # nodevet: ignore NV999 no such rule\n\
             [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = false\n"
        ),
    );
    tree.file(
        "/usr/lib/systemd/system/containerd.service",
        format!(
            "[Service]\ntoken: {secret}3\nExecStart=/usr/bin/containerd --token {secret}4\n\
             Environment=\"API_TOKEN={secret}5\" # nodevet: ignore NV999 x\n"
        ),
    );
    tree.file(
        "/var/lib/kubelet/config.yaml",
        format!("kind: X\ntoken: \"{secret}6\" # nodevet: ignore NV999 x\n"),
    );
    for (verb, format) in
        [("check", "text"), ("check", "short"), ("check", "json"), ("facts", "text"), ("facts", "json")]
    {
        let output = finished(tree.command(&[verb, "--format", format, "-v"]));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.len() > 200 && !said.contains(secret), "{verb} {format}: {said}");
        assert!(verb != "check" || format != "text" || said.contains("password = \"xxxxxxxx\""), "{said}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains(secret), "{verb} {format}: {told}");
    }
    tree.file(CONFIG, format!("version = 2\n[registry]\ntoken = \"{secret}7\n"));
    for format in ["text", "short", "json"] {
        let output = finished(tree.command(&["check", "--format", format]));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("NV904") && !said.contains(secret), "{format}: {said}");
    }
}

#[test]
fn replies_that_are_garbage_are_named() {
    for text in ["{", "nonsense", "[]", "null", "{\"runtimeName\": 7}", "\u{1b}[31m"] {
        let tree = Tree::new();
        for question in ["Version", "Status", "RuntimeConfig"] {
            tree.file(&format!("/.nodevet/replies/cri/{question}"), text);
        }
        tree.file("/.nodevet/replies/dbus/manager", format!("Version\n==\n{text}\nVersion=\u{7f}{text}\n"));
        tree.file("/.nodevet/replies/dbus/containerd.service", format!("Delegate={text}\nNRestarts=x\n"));
        let report = tree.check();
        if serde_json::from_str::<Json>(text).is_err() {
            assert!(codes(&report, "findings").contains(&"NV904"), "{text}: {report:#}");
        }
    }
}

#[test]
fn what_is_captured_can_be_read_back_however_it_was_named() {
    let tree = Tree::new();
    let imports = "\"/etc//containerd/a.toml\", \"/etc/containerd/./a.toml\", \"/.nodevet/meta.jsonl\", \"/etc/containerd/conf.d/../a.toml\"";
    tree.file(CONFIG, format!("version = 2\nimports = [{imports}]\n"));
    tree.file("/etc/containerd/a.toml", "version = 2\nroot = \"/x\"\ntoken = \"hunter2\"\n");
    tree.file("/.nodevet/meta.jsonl", "");
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    let mut capture = tree.command(&["capture"]);
    let output = finished({
        capture.arg(&copy);
        capture
    });
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let masked = fs::read_to_string(copy.join("etc/containerd/a.toml")).unwrap();
    assert!(masked.contains("token = \"xxxxxxx\""), "{masked}");
    let mut again = nodevet(&["facts", "containerd.version"]);
    again.arg("--root").arg(&copy);
    assert_eq!(finished(again).status.code(), Some(0));
}
