use super::*;
use crate::collect::Options;
use crate::fact::Layer;
use crate::node::Node;
use crate::resolve::{Snapshot, When};
use crate::text::{Kind, words};

const HEAD: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const FILE: &str = "/var/lib/kubelet/config.yaml";

struct Look {
    now: Snapshot,
    next: Snapshot,
    problems: usize,
}

/// A text that begins with `~` gets the heading of a configuration.
fn look(files: &[(&str, &str)], running: Option<&str>, unit: Option<&str>, version: &str) -> Look {
    let text = |t: &str| t.strip_prefix('~').map_or(t.to_owned(), |body| format!("{HEAD}{body}"));
    let node = Node::memory(files.iter().map(|(p, t)| (p.to_string(), text(t))).collect());
    let options = Options::default();
    let mut ctx = Ctx::new(&node, &options);
    let mut args = |name: &str, line: Option<&str>| match line {
        Some(line) => {
            let source = ctx.sources.add(name, Kind::Argv, line);
            Known::Is(
                words(line).skip(1).map(|(span, word)| Argument::of(word, source, span.start)).collect(),
            )
        }
        None => Known::ABSENT,
    };
    let command = |args| Command { args, variable: Known::ABSENT, directory: "/".to_owned() };
    let (running, unit) = (args("argv:7", running).map(command), args("unit", unit).map(command));
    let version = Version::parse(version);
    let variants = collect(&mut ctx, running, unit, version.as_ref());
    assert_eq!(variants.len(), 1);
    let of = |when| Snapshot::unread().with(&variants[0].facts, when);
    let (now, next) = (of(When::Now), of(When::NextStart));
    for name in ["config_file", "runtime_endpoint", "configured_driver", "follows_runtime"] {
        let value = &now.named(&format!("kubelet.{name}")).value;
        assert_ne!(value, &Known::Unknown(Why::Unread), "{name}");
    }
    Look { now, next, problems: ctx.problems.len() }
}

fn shown(facts: &Snapshot, name: &str) -> String {
    match &facts.named(&format!("kubelet.{name}")).value {
        Known::Is(value) => value.to_string(),
        Known::Absent(_) => "absent".into(),
        Known::Unknown(_) => "unknown".into(),
    }
}

#[test]
fn flag_beats_file_beats_default() {
    let systemd = &[(FILE, "~cgroupDriver: systemd\n")][..];
    let with = format!("kubelet --config={FILE}");
    for (files, line, driver, layer) in [
        (systemd, with.clone(), "systemd", Layer::File),
        (systemd, format!("{with} --cgroup-driver=cgroupfs"), "cgroupfs", Layer::Flag),
        (systemd, format!("{with} --cgroup-driver="), "cgroupfs", Layer::Flag),
        (systemd, "kubelet".into(), "cgroupfs", Layer::Default),
        (systemd, format!("{with} --config="), "cgroupfs", Layer::Default),
        (&[(FILE, "~x: 1\n")], with.clone(), "cgroupfs", Layer::Default),
        (&[(FILE, "~cgroupDriver:\n")], with.clone(), "cgroupfs", Layer::Default),
        (&[(FILE, "~cgroupDriver: Systemd\n")], with.clone(), "cgroupfs", Layer::File),
    ] {
        let look = look(files, None, Some(&line), "1.34");
        assert_eq!(shown(&look.now, "configured_driver"), driver, "{line}");
        assert_eq!(look.now.named("kubelet.configured_driver").by.as_ref().unwrap().layer, layer, "{line}");
        assert_eq!(look.problems, 0);
        // newer ones would ask for the cgroup tree
        assert_eq!(shown(&look.now, "accepted"), "true", "{line}");
    }
}

#[test]
fn without_a_command_line_a_usual_file_counts() {
    let found = look(&[(FILE, "~cgroupDriver: systemd\n")], None, None, "1.36");
    assert_eq!(shown(&found.now, "configured_driver"), "systemd");
    assert_eq!(shown(&found.now, "config_file"), FILE);
    assert_eq!(shown(&found.now, "runtime_endpoint"), "unix:///run/containerd/containerd.sock");
    for (files, expected) in [
        (&[("/etc/hosts", "")][..], "absent"),
        (&[("/usr/bin/kubelet", "")], "absent"),
        (&[("/usr/local/bin/k3s", "")], "unknown"),
    ] {
        assert_eq!(shown(&look(files, None, None, "1.36").now, "configured_driver"), expected, "{files:?}");
    }
}

#[test]
fn what_stops_the_kubelet_is_not_taken_for_a_driver() {
    let line = format!("kubelet --config={FILE} --cgroup-driver=systemd");
    let missing = look(&[], None, Some(&line), "1.36");
    assert_eq!(shown(&missing.now, "configured_driver"), "absent");
    let broken = look(&[(FILE, "~cgroupDriver: [\n")], None, Some(&line), "1.36");
    assert_eq!(shown(&broken.now, "configured_driver"), "absent");
    assert_eq!(shown(&broken.now, "accepted"), "false");
    // a refusal says it
    assert_eq!(broken.problems, 0);
}

#[test]
fn what_runs_and_what_starts_next_may_differ() {
    let files = [(FILE, "~cgroupDriver: systemd\n")];
    let with = format!("kubelet --config={FILE}");
    let look = look(&files, Some(&format!("{with} --cgroup-driver=cgroupfs")), Some(&with), "1.36");
    assert_eq!(shown(&look.now, "configured_driver"), "cgroupfs");
    assert_eq!(shown(&look.next, "configured_driver"), "systemd");
}

#[test]
fn the_gate_decides_until_it_is_locked() {
    let on = "~featureGates: {KubeletCgroupDriverFromCRI: true}\n";
    let off = "~featureGates: {KubeletCgroupDriverFromCRI: false}\n";
    let beta = "~featureGates: {AllBeta: false}\n";
    for (text, flag, version, follows) in [
        ("~", "", "1.30.2", "false"),
        (on, "", "1.30.2", "true"),
        (beta, "", "1.30.2", "false"),
        ("~", "--feature-gates=AllAlpha=true", "1.30.2", "true"),
        ("~", "", "1.31.0", "true"),
        (off, "", "1.31.0", "false"),
        (beta, "", "1.33.0", "false"),
        (off, "--feature-gates=KubeletCgroupDriverFromCRI=true", "1.33.0", "true"),
        (on, "--feature-gates=AllBeta=false", "1.33.0", "true"),
        (off, "", "1.34.0", "true"),
    ] {
        let look = look(&[(FILE, text)], None, Some(&format!("kubelet --config={FILE} {flag}")), version);
        assert_eq!(shown(&look.now, "follows_runtime"), follows, "{text} {flag} {version}");
    }
}

#[test]
fn drop_ins_are_merged_as_the_version_does_it() {
    let line = format!("kubelet --config={FILE} --config-dir=/d");
    let file = (FILE, "~cgroupDriver: systemd\n");
    for (name, text, version, driver) in [
        ("/d/10.conf", "~cgroupdriver: cgroupfs\n", "1.36", "cgroupfs"),
        ("/d/10.conf", "~CgroupDriver: cgroupfs\n", "1.36", "systemd"),
        ("/d/a/10.conf", "~cgroupDriver: cgroupfs\n", "1.36", "cgroupfs"),
        ("/d/10.conf", "~maxPods: 7\n", "1.36", "systemd"),
        ("/d/10.conf", "~maxPods: 7\n", "1.30.3", "systemd"),
        ("/d/10.conf", "~maxPods: 7\n", "1.29.3", "absent"),
        ("/d/10.yaml", "~cgroupDriver: cgroupfs\n", "1.36", "systemd"),
    ] {
        let look = look(&[file, (name, text)], None, Some(&line), version);
        assert_eq!(shown(&look.now, "configured_driver"), driver, "{name} {text} {version}");
    }
    let line = format!("{line} --cgroup-driver=systemd");
    let flagged = look(&[file, ("/d/1.conf", "~cgroupDriver: x\n")], None, Some(&line), "1.36");
    assert_eq!(shown(&flagged.now, "configured_driver"), "systemd");
}

#[test]
fn each_possible_version_is_a_variant() {
    let node = Node::memory([(FILE.to_owned(), HEAD.to_owned())].into());
    let options = Options::default();
    let mut ctx = Ctx::new(&node, &options);
    let variants = collect(&mut ctx, Known::ABSENT, Known::ABSENT, None);
    let names: Vec<_> = variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "kubelet before 1.28",
            "kubelet 1.28-1.29",
            "kubelet 1.30",
            "kubelet 1.31-1.33",
            "kubelet 1.34",
            "kubelet 1.35 and later"
        ]
    );
}
