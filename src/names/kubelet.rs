//! Names of the kubelet and of the node as a whole.

use super::{DRIVER, Decl, Type, restart, steady};

const TEXTS: Type = Type::List(&Type::Text);

const RESERVED: &[Decl] = &[
    steady("resource", Type::Text, "cpu, memory, ephemeral-storage or pid"),
    steady("quantity", Type::Text, "as written"),
];

pub(super) const DECLS: &[Decl] = &[
    restart("kubelet.version", Type::Version, "version of the kubelet"),
    steady("kubelet.config_file", Type::Text, "the file of --config"),
    steady("kubelet.drop_in_dir", Type::Text, "the directory of --config-dir"),
    steady("kubelet.drop_in_dir_is_link", Type::Bool, "that directory is a symbolic link, which the kubelet does not follow"),
    steady("kubelet.drop_ins", TEXTS, "files of the directory that are merged, in order"),
    steady(
        "kubelet.drop_in_strays",
        TEXTS,
        "files of the directory that are not merged though they look like configuration: without .conf",
    ),
    steady(
        "kubelet.accepted",
        Type::Bool,
        "it would get as far as asking the runtime: flags, files, drop-ins, feature gates and validation are right",
    ),
    steady(
        "kubelet.refusals",
        Type::Table {
            row: "refusal",
            columns: &[
                steady("message", Type::Text, "what is wrong"),
                steady(
                    "stage",
                    Type::OneOf(&["flags", "config-load", "drop-in", "feature-gates", "validate"]),
                    "how far the start gets",
                ),
                steady("missing", Type::Bool, "the file is not there, as before a node joins"),
            ],
        },
        "what stops the kubelet, in its order",
    ),
    steady(
        "kubelet.setup_refusals",
        Type::Table {
            row: "trouble",
            columns: &[
                steady("field", Type::Text, "the setting"),
                steady("message", Type::Text, "what is wrong"),
                steady("stage", Type::OneOf(&["container-manager", "node-setup"]), "how far the start gets"),
            ],
        },
        "settings that are accepted and stop the kubelet later, whatever the host: thresholds of eviction, \
         reservations and their enforcement, systemCgroups",
    ),
    steady(
        "kubelet.ignored",
        Type::Table {
            row: "entry",
            columns: &[
                steady("key", Type::Text, "the field as written, with those around it"),
                steady(
                    "reason",
                    Type::OneOf(&[
                        "unknown-field", "wrong-case", "repeated", "later-document", "zero-value", "internal-name",
                    ]),
                    "why",
                ),
                steady("field", Type::Text, "the field that was meant, where one can be told"),
                steady("drop_in", Type::Bool, "it stands in a drop-in"),
            ],
        },
        "keys without effect",
    ),
    restart("kubelet.runtime_endpoint", Type::Text, "CRI endpoint that the kubelet is told to use"),
    restart("kubelet.image_endpoint", Type::Text, "CRI endpoint for images, if it is another"),
    restart(
        "kubelet.configured_driver",
        DRIVER,
        "cgroup driver said by its own configuration, as it behaves",
    )
    .through("kubelet.configured_driver"),
    restart("kubelet.written_driver", Type::Text, "the same as it is written, which the kubelet never checks")
        .through("kubelet.configured_driver"),
    restart("kubelet.said_driver", Type::Text, "cgroupDriver as the last file or flag says it; absent when none does")
        .through("kubelet.configured_driver"),
    restart("kubelet.file_driver", Type::Text, "cgroupDriver as the files alone say it; absent when none does"),
    steady(
        "kubelet.follows_runtime",
        Type::Bool,
        "it asks the runtime for the driver (KubeletCgroupDriverFromCRI)",
    ),
    restart("kubelet.cgroup_driver", DRIVER, "cgroup driver in force, after the runtime was asked; absent when the runtime that it asks does not answer")
        .through("kubelet.configured_driver"),
    restart("kubelet.fail_cgroup_v1", Type::Bool, "it refuses to run on cgroup v1 (failCgroupV1); absent in versions without it"),
    restart("kubelet.fail_swap_on", Type::Bool, "it refuses to run with swap (failSwapOn)"),
    restart("kubelet.swap_behavior", Type::Text, "memorySwap.swapBehavior"),
    restart("kubelet.static_pod_path", Type::Text, "directory or file of static pods (staticPodPath)"),
    restart("kubelet.static_pod_url", Type::Text, "address of static pods (staticPodURL)"),
    restart("kubelet.protect_kernel_defaults", Type::Bool, "it stops when sysctls are not as it wants them, instead of setting them"),
    restart("kubelet.cgroup_root", Type::Text, "cgroup above kubepods (cgroupRoot)"),
    restart(
        "kubelet.wanted_cgroups",
        Type::Table {
            row: "wanted",
            columns: &[
                steady("field", Type::Text, "cgroupRoot, kubeReservedCgroup or systemReservedCgroup"),
                steady("written", Type::Text, "as written"),
                steady("systemd_path", Type::Text, "where the driver systemd looks for it"),
                steady("cgroupfs_path", Type::Text, "where the driver cgroupfs looks for it"),
                steady("systemd_found", Type::Bool, "it is there for the driver systemd"),
                steady("cgroupfs_found", Type::Bool, "it is there for the driver cgroupfs"),
            ],
        },
        "cgroups that the kubelet wants and does not make; reserved ones where enforceNodeAllocatable lists them",
    ),
    restart("kubelet.cgroups_per_qos", Type::Bool, "it keeps a cgroup for each QoS class (cgroupsPerQOS)"),
    restart("kubelet.enforce_node_allocatable", TEXTS, "what enforceNodeAllocatable lists"),
    restart("kubelet.kube_reserved_cgroup", Type::Text, "kubeReservedCgroup as written"),
    restart("kubelet.system_reserved_cgroup", Type::Text, "systemReservedCgroup as written"),
    restart("kubelet.kubelet_cgroups", Type::Text, "kubeletCgroups: a literal cgroup path"),
    restart("kubelet.system_cgroups", Type::Text, "systemCgroups: a literal cgroup path"),
    restart("kubelet.resolv_conf", Type::Text, "resolvConf"),
    restart("kubelet.read_only_port", Type::Int, "readOnlyPort; 0 is off"),
    restart("kubelet.anonymous_auth", Type::Bool, "anonymous requests are let in"),
    restart("kubelet.authorization_mode", Type::Text, "authorization.mode"),
    restart(
        "kubelet.feature_gates",
        Type::Table {
            row: "gate",
            columns: &[
                steady("name", Type::Text, "as written"),
                steady("enabled", Type::Bool, "switched on"),
            ],
        },
        "featureGates and --feature-gates",
    ),
    restart(
        "kubelet.eviction_hard",
        Type::Table {
            row: "limit",
            columns: &[
                steady("signal", Type::Text, "memory.available and the like"),
                steady("threshold", Type::Text, "a quantity or a percentage"),
            ],
        },
        "evictionHard",
    ),
    restart(
        "kubelet.system_reserved",
        Type::Table { row: "reservation", columns: RESERVED },
        "systemReserved",
    ),
    restart(
        "kubelet.kube_reserved",
        Type::Table { row: "reservation", columns: RESERVED },
        "kubeReserved",
    ),
    steady(
        "kubelet.deprecated_flags",
        TEXTS,
        "flags on its command line that are to be settings of its file",
    ),
    steady(
        "node.verdict",
        Type::OneOf(&[
            "agree", "two-managers", "mismatch", "runtime-dead", "kubelet-dead", "no-runtime", "no-kubelet",
        ]),
        "do init system, runtime and kubelet agree; the first that holds of no-runtime, runtime-dead, \
         mismatch (runtime and kubelet differ, or systemd's driver without systemd), two-managers \
         (cgroupfs beside systemd), kubelet-dead (it refuses its flags or files), no-kubelet, agree",
    ),
];
