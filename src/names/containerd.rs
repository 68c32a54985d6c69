//! Names of containerd: what it runs with, per its version.

use super::{DRIVER, Decl, Type, restart, steady};

const RUNTIME: &[Decl] = &[
    restart("name", Type::Text, "handler name, as RuntimeClass uses it"),
    restart("type", Type::Text, "runtime_type; empty when the handler was declared without one"),
    restart("systemd_cgroup", Type::Bool, "whether its runc is called with --systemd-cgroup; absent for other families and for handlers whose pods fail").through("containerd.runtimes"),
    restart("binary_name", Type::Text, "options.BinaryName"),
    steady("binary_missing", Type::Bool, "that is a path, and nothing is there; absent for a bare name"),
    restart("usable", Type::Bool, "pods of this handler can be created"),
    restart("unusable_because", Type::Text, "why not"),
    restart("options", Type::Bool, "an options table is in force"),
    restart("is_default", Type::Bool, "it is the default runtime"),
    restart("declared", Type::Bool, "some file has a table for it; false for a built-in handler that none mentions"),
    restart("runc_family", Type::Bool, "its type takes runc options"),
];

const FILE: &[Decl] = &[
    steady("path", Type::Text, "node path"),
    steady("version", Type::Int, "the `version` it says; absent when it says none"),
    steady("is_main", Type::Bool, "it is the main file"),
    steady("effect", Type::OneOf(&["read", "fatal", "ignored"]), "what containerd makes of it"),
    steady("generated_by", Type::Text, "the program that owns this file and writes it anew"),
];

const PLUGIN_KEY: &[Decl] = &[
    steady("path", Type::Text, "the file"),
    steady("file_version", Type::Int, "`version` in force for this file (0 = none said)"),
    steady("plugin", Type::Text, "plugin id, as written"),
    steady("name", Type::Text, "key directly below it"),
    steady("effective", Type::Bool, "this version of containerd reads it there"),
];

const SETTING: &[Decl] = &[
    steady("path", Type::Text, "the file"),
    steady("key", Type::Text, "the key as written"),
    steady("written", Type::Text, "the whole dotted path as written"),
    steady("value", Type::Text, "the value as written"),
    steady("effective", Type::Bool, "it decides a handler's driver, or would if not overridden"),
    steady("because", Type::Text, "why it has no effect"),
];

const IMPORT: &[Decl] = &[
    steady("path", Type::Text, "the file that imports"),
    steady("pattern", Type::Text, "as written"),
    steady("matches", Type::Int, "how many files it reaches"),
    steady("missing", Type::Bool, "it names one file, and that is not there"),
];

const DROPIN: &[Decl] = &[
    steady("path", Type::Text, "a *.toml beside the main file (conf.d, config.d, …)"),
    steady("reached", Type::Bool, "an import reaches it"),
];

const REPLACED: &[Decl] = &[
    steady("plugin", Type::Text, "plugin id"),
    steady("path", Type::Text, "the file whose whole section is dropped"),
    steady("by", Type::Text, "the later file that replaces it"),
    steady("lost", Type::List(&Type::Text), "keys that are said only in the dropped section"),
];

pub(super) const DECLS: &[Decl] = &[
    restart("containerd.version", Type::Version, "version of the daemon"),
    steady("containerd.pid", Type::Int, "process id of the daemon behind the kubelet's endpoint"),
    steady("containerd.started", Type::Int, "when that process started, in seconds since the epoch"),
    steady(
        "containerd.program_replaced",
        Type::Bool,
        "the program file was exchanged since the process started",
    ),
    steady("containerd.config_file", Type::Text, "its main configuration file"),
    steady("containerd.files", Type::Table { row: "file", columns: FILE }, "configuration files, in the order of loading"),
    steady("containerd.imports", Type::Table { row: "import", columns: IMPORT }, "entries of `imports`"),
    steady("containerd.dropins", Type::Table { row: "dropin", columns: DROPIN }, "files that look like drop-ins"),
    steady("containerd.config_version", Type::Int, "`version` in force after merging, before migration; 0 = none said"),
    steady("containerd.boots", Type::Bool, "this configuration starts the daemon"),
    steady("containerd.boot_error", Type::Text, "what stops it"),
    steady("containerd.disabled_plugins", Type::List(&Type::Text), "union over all files"),
    steady("containerd.required_plugins", Type::List(&Type::Text), "union over all files"),
    restart("containerd.cri_enabled", Type::Bool, "the CRI service answers").through("containerd.disabled_plugins"),
    steady("containerd.cri_error", Type::Text, "why CRI does not come up"),
    restart("containerd.default_runtime", Type::Text, "default runtime handler"),
    restart("containerd.runtimes", Type::Table { row: "runtime", columns: RUNTIME }, "runtime handlers in force"),
    restart("containerd.cgroup_driver", DRIVER, "cgroup driver of the default runtime; absent when it is not of the runc family or its pods cannot start").through("containerd.runtimes"),
    restart(
        "containerd.reported_driver",
        Type::OneOf(&["systemd", "cgroupfs", "unimplemented"]),
        "what CRI RuntimeConfig answers",
    ),
    restart("containerd.sandbox_image", Type::Text, "pause image"),
    steady("containerd.legacy_systemd_cgroup", Type::Bool, "plugin-level systemd_cgroup").through("containerd.legacy_systemd_cgroup"),
    steady("containerd.plugin_keys", Type::Table { row: "key", columns: PLUGIN_KEY }, "keys directly below a plugin, per file: all of CRI, of other plugins those without effect"),
    steady("containerd.driver_settings", Type::Table { row: "setting", columns: SETTING }, "every key that looks like a cgroup driver setting, in force or not"),
    steady("containerd.replaced", Type::Table { row: "loss", columns: REPLACED }, "plugin sections that a later file replaces whole (1.x)"),
];
