//! Names of the host: init system, cgroup hierarchy, kernel, units, and the check's own inputs.

use super::{Decl, Type, steady};

const UNIT: &[Decl] = &[
    steady("name", Type::Text, "unit name, e.g. containerd.service"),
    steady("role", Type::OneOf(&["kubelet", "containerd", "other"]), "which daemon it starts"),
    steady("load_state", Type::Text, "LoadState: loaded, not-found, masked, …"),
    steady("active_state", Type::Text, "ActiveState; absent when no systemd answered"),
    steady("fragment", Type::Text, "FragmentPath: the unit file"),
    steady("exec_start", Type::Text, "the command line of ExecStart="),
    steady("delegate", Type::Bool, "Delegate="),
    steady("kill_mode", Type::Text, "KillMode="),
    steady("slice", Type::Text, "Slice="),
    steady("tasks_max", Type::Text, "TasksMax=; `infinity` or a number"),
    steady("need_daemon_reload", Type::Bool, "the unit changed on disk since systemd read it"),
    steady("restarts", Type::Int, "NRestarts: automatic restarts so far"),
    steady("started", Type::Int, "ExecMainStartTimestamp, in seconds since the epoch"),
];

const PROBLEM: &[Decl] = &[
    steady("path", Type::Text, "the file"),
    steady("message", Type::Text, "what is wrong with it, in the words of its format"),
];

const UNREADABLE: &[Decl] =
    &[steady("path", Type::Text, "what could not be read"), steady("why", Type::Text, "why not")];

pub(super) const DECLS: &[Decl] = &[
    steady("host.now", Type::Int, "the clock, in seconds since the epoch; recorded in captures"),
    steady(
        "host.init",
        Type::OneOf(&["systemd", "openrc", "sysvinit", "busybox", "s6", "other", "container"]),
        "what process 1 is",
    ),
    steady("host.systemd_version", Type::Version, "version of systemd"),
    steady(
        "host.systemd_running",
        Type::Bool,
        "/run/systemd/system is a directory: what daemons test for systemd",
    ),
    steady("host.virtualization", Type::Text, "what systemd detected: kvm, qemu, container-other, …"),
    steady("host.kernel", Type::Version, "release of the running kernel"),
    steady("host.cmdline", Type::List(&Type::Text), "words of the kernel command line"),
    steady("cgroup.mode", Type::OneOf(&["v1", "hybrid", "v2", "none"]), "which cgroup hierarchy is mounted"),
    steady(
        "cgroup.controllers",
        Type::List(&Type::Text),
        "controllers available: cgroup.controllers of the v2 root, or the mounted v1 hierarchies",
    ),
    steady("cgroup.subtree_control", Type::List(&Type::Text), "controllers that the v2 root hands down"),
    steady(
        "cgroup.kubepods_subtree_control",
        Type::List(&Type::Text),
        "controllers that kubepods.slice or kubepods hands down (v2)",
    ),
    steady(
        "cgroup.top",
        Type::List(&Type::Text),
        "directories at the top of the tree (v2 root, or the v1 memory or systemd hierarchy)",
    ),
    steady("cgroup.kubepods_populated", Type::Bool, "processes live below /kubepods"),
    steady("cgroup.kubepods_slice_populated", Type::Bool, "processes live below /kubepods.slice"),
    steady("kernel.swaps", Type::List(&Type::Text), "active swap devices and files"),
    steady("kernel.ip_forward", Type::Int, "net.ipv4.ip_forward"),
    steady(
        "kernel.bridge_nf_call_iptables",
        Type::Int,
        "net.bridge.bridge-nf-call-iptables; absent while br_netfilter is not loaded",
    ),
    steady("kernel.modules", Type::List(&Type::Text), "loaded modules"),
    steady("systemd.units", Type::Table { row: "unit", columns: UNIT }, "units that matter to a node"),
    steady(
        "input.problems",
        Type::Table { row: "problem", columns: PROBLEM },
        "files that are malformed, at the place of the error",
    ),
    steady(
        "input.unreadable",
        Type::Table { row: "input", columns: UNREADABLE },
        "inputs that are there and could not be read",
    ),
];
