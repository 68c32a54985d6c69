//! Names of the other runtimes: Docker behind cri-dockerd, and CRI-O.

use super::{Decl, Type, steady};

const SETTING: &[Decl] = &[
    steady("key", Type::Text, "the key or option, as written"),
    steady("value", Type::Text, "the value as written"),
    steady("effective", Type::Bool, "it decides the driver"),
    steady("because", Type::Text, "why it has no effect"),
];

const FILE: &[Decl] = &[
    steady("path", Type::Text, "node path"),
    steady("is_main", Type::Bool, "it is the main file"),
    steady("reached", Type::Bool, "CRI-O reads it; false for a file in a directory that looks like its own"),
    steady("stray", Type::Bool, "its name is not one of a drop-in: hidden, a backup, without .conf"),
    steady("has_settings", Type::Bool, "it says something of the driver or of runtimes"),
];

pub(super) const DECLS: &[Decl] = &[
    steady(
        "cri.other_runtime",
        Type::OneOf(&["crio", "docker"]),
        "the runtime behind the kubelet's endpoint, where that is not containerd",
    ),
    steady("docker.version", Type::Version, "version of dockerd"),
    steady("docker.config_file", Type::Text, "the file that dockerd reads"),
    steady("docker.boots", Type::Bool, "file and flags start the daemon"),
    steady("docker.boot_error", Type::Text, "what stops it"),
    steady(
        "docker.cgroup_driver",
        Type::OneOf(&["systemd", "cgroupfs", "none"]),
        "cgroup driver of dockerd, which cri-dockerd takes over; none: rootless without systemd",
    ),
    steady(
        "docker.driver_settings",
        Type::Table { row: "setting", columns: SETTING },
        "every exec-opt that looks like a cgroup driver setting, in force or not",
    ),
    steady("docker.cri_version", Type::Version, "version of cri-dockerd"),
    steady("crio.version", Type::Version, "version of CRI-O"),
    steady("crio.files", Type::Table { row: "file", columns: FILE }, "its files, in the order of reading"),
    steady("crio.boots", Type::Bool, "files, environment and flags start the daemon"),
    steady("crio.boot_error", Type::Text, "what stops it"),
    steady("crio.cgroup_driver", super::DRIVER, "cgroup driver of CRI-O, as it behaves"),
    steady(
        "crio.conmon_cgroup",
        Type::Text,
        "cgroup of the monitor processes, as said for all runtimes; empty: each runtime's own",
    ),
    steady("crio.default_runtime", Type::Text, "default runtime"),
    steady(
        "crio.driver_settings",
        Type::Table { row: "setting", columns: SETTING },
        "every key that looks like a cgroup driver setting, in force or not",
    ),
];
