//! Messages of CRI (runtime.v1, api.proto of k8s.io/cri-api), as far as they are read, and the
//! same as JSON.

use prost::Message;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Requests that say nothing.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct VersionReply {
    #[prost(string, tag = "1")]
    pub(super) version: String,
    #[prost(string, tag = "2")]
    pub(super) runtime_name: String,
    #[prost(string, tag = "3")]
    pub(super) runtime_version: String,
    #[prost(string, tag = "4")]
    pub(super) runtime_api_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StatusRequest {
    #[prost(bool, tag = "1")]
    pub(super) verbose: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StatusReply {
    #[prost(message, optional, tag = "1")]
    pub(super) status: Option<Conditions>,
    #[prost(btree_map = "string, string", tag = "2")]
    pub(super) info: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Conditions {
    #[prost(message, repeated, tag = "1")]
    pub(super) conditions: Vec<Condition>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Condition {
    #[prost(string, tag = "1")]
    pub(super) r#type: String,
    #[prost(bool, tag = "2")]
    pub(super) status: bool,
    #[prost(string, tag = "3")]
    pub(super) reason: String,
    #[prost(string, tag = "4")]
    pub(super) message: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RuntimeConfigReply {
    #[prost(message, optional, tag = "1")]
    pub(super) linux: Option<LinuxConfig>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LinuxConfig {
    /// 0 is systemd, 1 cgroupfs.
    #[prost(int32, tag = "1")]
    pub(super) cgroup_driver: i32,
}

pub(super) fn version_json(reply: VersionReply) -> Value {
    json!({
        "version": reply.version,
        "runtimeName": reply.runtime_name,
        "runtimeVersion": reply.runtime_version,
        "runtimeApiVersion": reply.runtime_api_version,
    })
}

/// As `crictl info` shows it. Of the runtime's configuration the registries are left out: they
/// may hold passwords, and nothing here asks for them.
pub(super) fn status_json(reply: StatusReply) -> Value {
    let conditions: Vec<Value> = reply
        .status
        .unwrap_or_default()
        .conditions
        .into_iter()
        .map(|c| json!({ "type": c.r#type, "status": c.status, "reason": c.reason, "message": c.message }))
        .collect();
    let mut all = Map::new();
    all.insert("status".to_owned(), json!({ "conditions": conditions }));
    for (name, text) in reply.info {
        let mut value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        match name.as_str() {
            "config" => {
                if let Some(config) = value.as_object_mut() {
                    config.shift_remove("registry");
                }
            }
            "golang" => {}
            other if other.starts_with("lastCNILoadStatus") => {}
            _ => continue,
        }
        all.insert(name, value);
    }
    Value::Object(all)
}

pub(super) fn runtime_config_json(reply: RuntimeConfigReply) -> Value {
    match reply.linux {
        // systemd is zero, which the wire leaves out: the message is there and empty
        Some(LinuxConfig { cgroup_driver: 0 }) => json!({ "linux": { "cgroupDriver": "SYSTEMD" } }),
        Some(LinuxConfig { cgroup_driver: 1 }) => json!({ "linux": { "cgroupDriver": "CGROUPFS" } }),
        Some(LinuxConfig { cgroup_driver }) => json!({ "linux": { "cgroupDriver": cgroup_driver } }),
        None => json!({}),
    }
}
