//! Names of the host: init system, cgroup hierarchy, kernel, units, and the check's own inputs.

use super::{Decl, Type, steady};

const UNIT: &[Decl] = &[
    steady("name", Type::Text, "unit name, e.g. containerd.service"),
    steady(
        "role",
        Type::OneOf(&["kubelet", "containerd", "crio", "docker", "cri-dockerd"]),
        "which daemon it starts",
    ),
    steady("load_state", Type::Text, "LoadState: loaded, not-found, masked, …"),
    steady("active_state", Type::Text, "ActiveState; absent when no systemd answered"),
    steady("fragment", Type::Text, "FragmentPath: the unit file"),
    steady("exec_start", Type::Text, "the command line of ExecStart="),
    steady("delegate", Type::Bool, "Delegate="),
    steady("kill_mode", Type::Text, "KillMode="),
    steady("slice", Type::Text, "Slice="),
    steady("tasks_max", Type::Text, "TasksMax=; `infinity` or a number"),
    steady("limit_nofile", Type::Text, "LimitNOFILE=; `infinity` or a number"),
    steady("oom_score_adjust", Type::Int, "OOMScoreAdjust="),
    steady("need_daemon_reload", Type::Bool, "the unit changed on disk since systemd read it"),
    steady("restarts", Type::Int, "NRestarts: automatic restarts so far"),
    steady("started", Type::Int, "ExecMainStartTimestamp, in seconds since the epoch"),
    steady(
        "environment_missing",
        Type::List(&Type::Text),
        "files of EnvironmentFile= that are not there, though nothing says that they may be missing",
    ),
];

const SYSCTL: &[Decl] = &[
    steady("name", Type::Text, "with dots"),
    steady("value", Type::Int, "now"),
    steady("at_boot", Type::Int, "what sysctl.d sets at boot; absent when it says nothing"),
    steady("kubelet_wants", Type::Int, "what the kubelet sets, or insists on with protectKernelDefaults"),
];

const SWAP: &[Decl] = &[
    steady("what", Type::Text, "device or file, or the service that makes it"),
    steady("by", Type::OneOf(&["fstab", "unit", "zram-generator", "service"]), "what switches it on"),
    steady("at_boot", Type::Bool, "it is switched on at boot; false where noauto or a mask keeps it off"),
];

const OPTION: &[Decl] = &[
    steady("word", Type::Text, "the option as written"),
    steady("path", Type::Text, "the file"),
    steady("effective", Type::Bool, "the running kernel was started with it"),
    steady("because", Type::Text, "why not"),
];

const POD: &[Decl] = &[
    steady("path", Type::Text, "the file"),
    steady(
        "runs",
        Type::Bool,
        "the kubelet takes it for a manifest: a regular file whose name has no dot in front",
    ),
    steady("stray", Type::Bool, "its name is that of a backup, or has no ending of a manifest"),
    steady("pod", Type::Text, "namespace/name of the pod in it, where that can be told"),
    steady("lost_to", Type::Text, "a later file with a pod of the same name, which the kubelet runs instead"),
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
    steady(
        "cgroup.misplaced",
        Type::List(&Type::Text),
        "of these the ones called slice:prefix:name, which runc makes when it is told a slice and not to use systemd",
    ),
    steady("cgroup.kubepods_populated", Type::Bool, "processes live below /kubepods"),
    steady("cgroup.kubepods_slice_populated", Type::Bool, "processes live below /kubepods.slice"),
    steady("kernel.swaps", Type::List(&Type::Text), "active swap devices and files"),
    steady(
        "kernel.configured_swaps",
        Type::Table { row: "swap", columns: SWAP },
        "swap in fstab, units, zram-generator.conf and of known services",
    ),
    steady(
        "kernel.sysctls",
        Type::Table { row: "sysctl", columns: SYSCTL },
        "sysctls that matter to a node, now and at boot",
    ),
    steady(
        "boot.options",
        Type::Table { row: "option", columns: OPTION },
        "options about cgroups in cmdline.txt of a Raspberry Pi",
    ),
    steady("pods.static", Type::Table { row: "file", columns: POD }, "files in the directory of static pods"),
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
