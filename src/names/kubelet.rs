//! Names of the kubelet and of the node as a whole.

use super::{DRIVER, Decl, Type, restart, steady};

pub(super) const DECLS: &[Decl] = &[
    restart("kubelet.version", Type::Version, "version of the kubelet"),
    steady("kubelet.config_file", Type::Text, "the file of --config"),
    restart("kubelet.runtime_endpoint", Type::Text, "CRI endpoint that the kubelet is told to use"),
    restart(
        "kubelet.configured_driver",
        DRIVER,
        "cgroup driver said by its own configuration, as it behaves",
    )
    .through("kubelet.configured_driver"),
    steady(
        "kubelet.follows_runtime",
        Type::Bool,
        "it asks the runtime for the driver (KubeletCgroupDriverFromCRI)",
    ),
    restart("kubelet.cgroup_driver", DRIVER, "cgroup driver in force, after the runtime was asked; absent when the runtime that it asks does not answer")
        .through("kubelet.configured_driver"),
    steady(
        "node.verdict",
        Type::OneOf(&["agree", "two-managers", "mismatch", "runtime-dead", "no-runtime", "no-kubelet"]),
        "do init system, runtime and kubelet agree; the first that holds of no-runtime, runtime-dead, \
         mismatch (runtime and kubelet differ, or systemd's driver without systemd), two-managers \
         (cgroupfs beside systemd), no-kubelet, agree",
    ),
];
