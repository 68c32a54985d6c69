//! Host, cgroup and kernel facts against captures of real systems: Debian 12, 13 and sid under
//! systemd, sysvinit and busybox, with each cgroup hierarchy; and against trees that lack a part.

#![allow(clippy::unwrap_used)]

use nodevet::collect::{Options, collect};
use nodevet::fact::{Known, Value, Why};
use nodevet::node::{Door, Node};
use nodevet::resolve::{Snapshot, When, resolve};
use nodevet::text::Sources;
use std::collections::BTreeMap;
use std::time::Duration;

fn facts(node: &Node) -> (Snapshot, Sources) {
    let collected = collect(node, &Options::default());
    (resolve(&collected, When::Now, |_| {}).merged, collected.sources)
}

fn capture(guest: &str) -> (Snapshot, Sources) {
    let dir = format!("{}/fixtures/captures/{guest}/root", env!("CARGO_MANIFEST_DIR"));
    facts(&Node::open(Door::Root(dir), Duration::ZERO).unwrap())
}

fn memory(files: &[(&str, &str)]) -> (Snapshot, Sources) {
    let files: BTreeMap<_, _> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    facts(&Node::memory(files))
}

fn shown(facts: &Snapshot, name: &str) -> String {
    match &facts.named(name).value {
        Known::Is(value) => value.to_string(),
        Known::Absent(_) => "absent".into(),
        Known::Unknown(why) => format!("unknown: {why}"),
    }
}

const V2_ALL: &str = "cpuset, cpu, io, memory, hugetlb, pids, rdma, misc";
const V2_DOWN: &str = "cpuset, cpu, io, memory, pids";
const NS_V1: &str = "cpu, cpuacct, cpuset, memory, devices, freezer, blkio, pids";

#[test]
fn each_guest_is_told_right() {
    // guest, init, systemd runs, mode, kernel, controllers, handed down
    for (guest, init, systemd, mode, kernel, controllers, down) in [
        ("bookworm-v2", "systemd", "true", "v2", "6.1.0-50-cloud-amd64", V2_ALL, V2_DOWN),
        (
            "bookworm-hybrid",
            "systemd",
            "true",
            "hybrid",
            "6.1.0-50-cloud-amd64",
            "devices, misc, cpuset, memory, blkio, net_cls, net_prio, rdma, perf_event, hugetlb, cpu, cpuacct, \
             freezer, pids",
            "absent",
        ),
        (
            "bookworm-legacy",
            "systemd",
            "true",
            "v1",
            "6.1.0-50-cloud-amd64",
            "pids, memory, net_cls, net_prio, freezer, cpu, cpuacct, rdma, cpuset, blkio, hugetlb, misc, perf_event, \
             devices",
            "absent",
        ),
        ("trixie-v2", "systemd", "true", "v2", "6.12.117+deb13-cloud-amd64", V2_ALL, V2_DOWN),
        ("sid-v2", "systemd", "true", "v2", "7.2.13+deb14-cloud-amd64", V2_ALL, V2_DOWN),
        ("trixie-sysvinit", "sysvinit", "false", "none", "6.12.117+deb13-cloud-amd64", "absent", "absent"),
        // systemd mounts its own `unified` although only v1 was given
        ("ns-bookworm-legacy", "systemd", "true", "hybrid", "6.18.44-generic", NS_V1, "absent"),
        ("ns-trixie-hybrid", "systemd", "true", "hybrid", "6.18.44-generic", NS_V1, "absent"),
        ("ns-trixie-busybox", "busybox", "false", "v2", "6.18.44-generic", "", ""),
    ] {
        let (facts, _) = capture(guest);
        for (name, expected) in [
            ("host.init", init),
            ("host.systemd_running", systemd),
            ("cgroup.mode", mode),
            ("host.kernel", kernel),
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", down),
            ("kernel.swaps", ""),
            ("host.now", "1796079600"),
        ] {
            assert_eq!(shown(&facts, name), expected, "{guest}: {name}");
        }
        let live = if mode == "none" { "absent" } else { "false" };
        for name in ["cgroup.kubepods_populated", "cgroup.kubepods_slice_populated"] {
            assert_eq!(shown(&facts, name), live, "{guest}: {name}");
        }
        let top = shown(&facts, "cgroup.top");
        assert_eq!(top.contains("system.slice"), init == "systemd", "{guest}: {top}");
        assert_eq!(shown(&facts, "input.problems"), "", "{guest}");
        assert_eq!(shown(&facts, "input.unreadable"), "", "{guest}");
    }
}

#[test]
fn the_mode_is_shown_by_its_mount() {
    for (guest, line) in [
        ("bookworm-v2", "/sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:8 - cgroup2"),
        ("bookworm-hybrid", "/sys/fs/cgroup/unified rw"),
        ("bookworm-legacy", "/sys/fs/cgroup/systemd rw"),
        ("trixie-sysvinit", " /sys "),
    ] {
        let (facts, sources) = capture(guest);
        let place = facts.named("cgroup.mode").by.as_ref().unwrap().place;
        assert!(sources.slice(place).contains(line), "{guest}: {}", sources.slice(place));
        assert_eq!(sources.get(place.source).name, "/proc/1/mountinfo");
    }
    let (facts, sources) = capture("bookworm-hybrid");
    for said in &facts.named("cgroup.controllers").elements {
        assert_eq!(sources.slice(said.origin.place), said.value.as_text().unwrap());
    }
}

/// Kernels without v1 memory: the directory is there, the hierarchy is not.
#[test]
fn a_plain_directory_is_no_controller() {
    let (facts, _) = memory(&[
        (
            "/proc/1/mountinfo",
            "30 24 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n\
             31 30 0:26 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
             32 30 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
        ),
        ("/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t1\t1\n"),
        ("/sys/fs/cgroup/memory/kubepods/cgroup.procs", "1\n"),
        ("/sys/fs/cgroup/systemd/system.slice/cgroup.procs", "1\n"),
    ]);
    assert_eq!(shown(&facts, "cgroup.mode"), "v1");
    assert_eq!(shown(&facts, "cgroup.controllers"), "pids");
    assert_eq!(shown(&facts, "cgroup.top"), "system.slice");
    assert_eq!(shown(&facts, "cgroup.kubepods_populated"), "false");
}

/// A root without the trees of a running system says nothing of what runs.
#[test]
fn an_image_is_not_judged() {
    let (facts, _) = memory(&[("/etc/os-release", "ID=debian\n"), ("/usr/lib/systemd/systemd", "")]);
    for name in [
        "host.init",
        "host.systemd_running",
        "host.kernel",
        "host.cmdline",
        "cgroup.mode",
        "cgroup.controllers",
        "cgroup.top",
        "cgroup.kubepods_populated",
        "kernel.swaps",
        "kernel.ip_forward",
        "kernel.modules",
    ] {
        let value = &facts.named(name).value;
        assert!(value.is_unknown(), "{name}: {value:?}");
        assert_ne!(value, &Known::Unknown(Why::Unread), "{name} was not said");
    }
    // nothing of that is an input that could not be read
    assert_eq!(shown(&facts, "input.unreadable"), "");
}

/// A tree that is there and lacks an entry is another matter.
#[test]
fn a_missing_entry_of_a_tree_is_absent() {
    let (facts, _) = memory(&[("/proc/1/comm", "systemd\n"), ("/run/utmp", "")]);
    for name in ["kernel.swaps", "kernel.ip_forward", "kernel.bridge_nf_call_iptables", "host.cmdline"] {
        assert_eq!(shown(&facts, name), "absent", "{name}");
    }
    assert_eq!(facts.named("host.systemd_running").value, Known::Is(Value::Bool(false)));
    assert_eq!(shown(&facts, "host.init"), "systemd");
}
