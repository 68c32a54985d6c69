//! Which keys a plugin's struct has and of which type: read off its defaults, completed by hand
//! where a default is an empty map or is not printed.

use super::tree::{Data, Shared};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Bool,
    Int,
    /// Not below zero.
    Uint,
    Float,
    Text,
    /// A text that Go's `time.ParseDuration` takes, refused while decoding.
    Duration,
    /// A list of texts.
    Texts,
    /// Not looked at.
    Any,
    /// A table of anything (`options`).
    Free,
    Struct(Rc<Vec<(Rc<str>, Kind)>>),
    /// The same, known beforehand.
    Fixed(&'static [(&'static str, Kind)]),
    /// A table with free keys.
    Map(Rc<Kind>),
    MapOf(&'static Kind),
}

/// Durations that are decoded as such; a bad one stops the daemon.
const DURATIONS: &[&str] = &[
    "schedule_delay",
    "startup_delay",
    "interval",
    "per_verifier_timeout",
    "plugin_registration_timeout",
    "plugin_request_timeout",
];

/// Keys of a handler that no default prints.
fn handler_extras() -> [(&'static str, Kind); 4] {
    [
        ("pod_annotations", Kind::Texts),
        ("container_annotations", Kind::Texts),
        ("runtime_path", Kind::Text),
        ("options", Kind::Free),
    ]
}

const AUTH: Kind = Kind::Fixed(&[
    ("username", Kind::Text),
    ("password", Kind::Text),
    ("auth", Kind::Text),
    ("identitytoken", Kind::Text),
]);

const TLS: Kind = Kind::Fixed(&[
    ("insecure_skip_verify", Kind::Bool),
    ("ca_file", Kind::Text),
    ("cert_file", Kind::Text),
    ("key_file", Kind::Text),
]);

const REGISTRY: &[(&str, Kind)] = &[
    ("mirrors", Kind::MapOf(&Kind::Fixed(&[("endpoint", Kind::Texts)]))),
    ("configs", Kind::MapOf(&Kind::Fixed(&[("auth", AUTH), ("tls", TLS)]))),
    ("auths", Kind::MapOf(&AUTH)),
    ("headers", Kind::MapOf(&Kind::Texts)),
];

/// The schema of a plugin, from its default table.
pub(super) fn of_plugin(default: &Shared) -> Kind {
    of(default, "")
}

fn of(default: &Shared, name: &str) -> Kind {
    match &default.data {
        Data::Bool(_) => Kind::Bool,
        Data::Int(_) => Kind::Int,
        Data::Float(_) => Kind::Float,
        Data::Text(_) if DURATIONS.contains(&name) => Kind::Duration,
        Data::Text(_) => Kind::Text,
        Data::Time => Kind::Any,
        Data::Array(_) => Kind::Texts,
        Data::Table(tree) => {
            let inner = || tree.entries.iter().map(|(k, v)| (k.clone(), of(v, k)));
            match name {
                "options" => Kind::Free,
                "pinned_images" => Kind::MapOf(&Kind::Text),
                "runtimes" => {
                    let handler = tree.get("runc").map_or(Kind::Free, |runc| of(runc, "runc"));
                    Kind::Map(Rc::new(handler))
                }
                "runc" | "default_runtime" | "untrusted_workload_runtime" => {
                    let mut all: Vec<_> = inner().collect();
                    for (key, kind) in handler_extras() {
                        if !all.iter().any(|(k, _)| **k == *key) {
                            all.push((Rc::from(key), kind));
                        }
                    }
                    Kind::Struct(Rc::new(all))
                }
                "registry" => {
                    let mut all: Vec<_> = inner().filter(|(k, _)| **k == *"config_path").collect();
                    all.extend(REGISTRY.iter().map(|(k, v)| (Rc::from(*k), v.clone())));
                    Kind::Struct(Rc::new(all))
                }
                _ => Kind::Struct(Rc::new(inner().collect())),
            }
        }
    }
}

const PROCESSOR: Kind = Kind::Fixed(&[
    ("accepts", Kind::Texts),
    ("returns", Kind::Text),
    ("path", Kind::Text),
    ("args", Kind::Texts),
    ("env", Kind::Texts),
]);

const PROXY: Kind = Kind::Fixed(&[("type", Kind::Text), ("address", Kind::Text), ("platform", Kind::Text)]);

const GRPC: Kind = Kind::Fixed(&[
    ("address", Kind::Text),
    ("uid", Kind::Int),
    ("gid", Kind::Int),
    ("tcp_address", Kind::Text),
    ("tcp_tls_ca", Kind::Text),
    ("tcp_tls_cert", Kind::Text),
    ("tcp_tls_key", Kind::Text),
    ("max_recv_message_size", Kind::Int),
    ("max_send_message_size", Kind::Int),
]);

const TTRPC: Kind = Kind::Fixed(&[("address", Kind::Text), ("uid", Kind::Int), ("gid", Kind::Int)]);

const DEBUG: Kind = Kind::Fixed(&[
    ("address", Kind::Text),
    ("uid", Kind::Int),
    ("gid", Kind::Int),
    ("level", Kind::Text),
    ("format", Kind::Text),
]);

macro_rules! file_with {
    ($plugins:expr) => {
        Kind::Fixed(&[
            ("version", Kind::Int),
            ("root", Kind::Text),
            ("state", Kind::Text),
            ("temp", Kind::Text),
            ("plugin_dir", Kind::Text),
            ("disabled_plugins", Kind::Texts),
            ("required_plugins", Kind::Texts),
            ("imports", Kind::Texts),
            ("oom_score", Kind::Int),
            ("cgroup", Kind::Fixed(&[("path", Kind::Text)])),
            ("grpc", GRPC),
            ("ttrpc", TTRPC),
            ("debug", DEBUG),
            ("metrics", Kind::Fixed(&[("address", Kind::Text), ("grpc_histogram", Kind::Bool)])),
            ("timeouts", Kind::MapOf(&Kind::Text)),
            ("proxy_plugins", Kind::MapOf(&PROXY)),
            ("stream_processors", Kind::MapOf(&PROCESSOR)),
            ("plugins", Kind::MapOf(&$plugins)),
        ])
    };
}

/// The fields of the file itself, outside `plugins`.
pub(super) const FILE: &Kind = &file_with!(Kind::Any);

/// The same where every plugin has to be a table (go-toml v1).
pub(super) const FILE_OF_TABLES: &Kind = &file_with!(Kind::Free);

/// The options of the runc shims.
pub(super) const RUNC_OPTIONS: &Kind = &Kind::Fixed(&[
    ("NoPivotRoot", Kind::Bool),
    ("NoNewKeyring", Kind::Bool),
    ("ShimCgroup", Kind::Text),
    ("IoUid", Kind::Uint),
    ("IoGid", Kind::Uint),
    ("BinaryName", Kind::Text),
    ("Root", Kind::Text),
    ("CriuPath", Kind::Text),
    ("SystemdCgroup", Kind::Bool),
    ("CriuImagePath", Kind::Text),
    ("CriuWorkPath", Kind::Text),
    ("TaskApiAddress", Kind::Text),
    ("TaskApiVersion", Kind::Uint),
]);

/// The options of `io.containerd.runtime.v1.linux`.
pub(super) const LINUX_OPTIONS: &Kind = &Kind::Fixed(&[
    ("Runtime", Kind::Text),
    ("RuntimeRoot", Kind::Text),
    ("CriuPath", Kind::Text),
    ("SystemdCgroup", Kind::Bool),
    ("CriuImagePath", Kind::Text),
    ("CriuWorkPath", Kind::Text),
]);

/// The options of every other shim.
pub(super) const OTHER_OPTIONS: &Kind = &Kind::Fixed(&[("TypeUrl", Kind::Text), ("ConfigPath", Kind::Text)]);
