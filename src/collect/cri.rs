//! What the container runtime says of itself over CRI: statements about the daemon that runs.

mod json;

use super::ctx::Ctx;
use crate::fact::{Known, Layer, Origin, Said, Statements, Value};
use crate::node::live::Replies;
use crate::text::{Kind, Place, SourceId, Span};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What runs now, to be laid over what files say.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// The socket that answered.
    pub(crate) socket: Option<Said>,
    /// The runtime's name: containerd, cri-o, docker.
    pub(crate) runtime: Option<Said>,
    /// Its version, when it is containerd.
    pub(crate) version: Option<Said>,
    /// By fact of containerd: `containerd.reported_driver` (always), and where the answers tell
    /// `containerd.cri_enabled`, `containerd.default_runtime`, `containerd.sandbox_image`.
    pub(crate) facts: BTreeMap<&'static str, Statements>,
    /// By handler: cells of `containerd.runtimes` (`type`, `systemd_cgroup`, `binary_name`).
    pub(crate) handlers: BTreeMap<String, BTreeMap<&'static str, Said>>,
}

/// An answer with its text captured.
struct Answer {
    id: SourceId,
    text: std::sync::Arc<str>,
    json: Json,
}

impl Answer {
    fn of(ctx: &mut Ctx, replies: &Replies, question: &str) -> Known<Answer> {
        replies.get(question).map(|text| Answer {
            id: ctx.sources.add(question, Kind::Cri, text.clone()),
            json: serde_json::from_str(&text).unwrap_or(Json::Null),
            text,
        })
    }

    fn get(&self, keys: &[&str]) -> Option<(&Json, Origin)> {
        let mut value = &self.json;
        for key in keys {
            value = value.get(key)?;
        }
        let span = json::find(&self.text, keys)?;
        Some((value, Origin::new(Layer::Runtime, Place { source: self.id, span })))
    }

    fn text(&self, keys: &[&str]) -> Option<Said> {
        let (value, origin) = self.get(keys)?;
        let value = value.as_str().filter(|text| !text.is_empty())?;
        Some(Said { value: Value::text(value), origin })
    }

    fn bool(&self, keys: &[&str]) -> Option<Said> {
        let (value, origin) = self.get(keys)?;
        Some(Said { value: Value::Bool(value.as_bool()?), origin })
    }

    fn failed(&self) -> Option<(&str, Origin)> {
        self.get(&["error"]).and_then(|(value, origin)| Some((value.as_str()?, origin)))
    }
}

/// Reads the answers.
pub(crate) fn running(ctx: &mut Ctx, replies: &Replies) -> Running {
    let mut running = Running::default();
    if let Known::Is(path) = replies.get("cri:socket") {
        let id = ctx.sources.add("cri:socket", Kind::Cri, path.clone());
        let origin = Ctx::observed(id, Span::new(0, path.len()));
        running.socket = Some(Said { value: Value::Text(path), origin });
    }
    let version = Answer::of(ctx, replies, "cri:Version");
    if let Known::Unknown(why) = &version {
        ctx.could_not_read("cri:Version", why);
    }
    if let Known::Is(answer) = &version {
        running.runtime = answer.text(&["runtimeName"]);
        if let Some(("unknown service", origin)) = answer.failed() {
            running.say("containerd.cri_enabled", Said { value: Value::Bool(false), origin });
        }
    }
    let is_containerd =
        running.runtime.as_ref().is_some_and(|name| name.value.as_text() == Some("containerd"));
    if let (Known::Is(answer), true) = (&version, is_containerd) {
        running.version = answer.text(&["runtimeVersion"]);
        if let Some(name) = running.runtime.clone() {
            running.say("containerd.cri_enabled", Said { value: Value::Bool(true), ..name });
        }
    }
    if is_containerd && let Known::Is(status) = Answer::of(ctx, replies, "cri:Status") {
        running.status(&status);
    }
    let config = match version {
        // what another runtime answers says nothing of containerd
        Known::Is(_) if !is_containerd => Known::ABSENT,
        _ => Answer::of(ctx, replies, "cri:RuntimeConfig").and_then(|answer| driver(&answer)),
    };
    running.facts.insert("containerd.reported_driver", config);
    running
}

/// The driver that RuntimeConfig names; `unimplemented` where the method does not exist.
fn driver(answer: &Answer) -> Statements {
    if let Some(("unimplemented", origin)) = answer.failed() {
        return Known::Is(vec![Said { value: Value::text("unimplemented"), origin }]);
    }
    let Some((named, origin)) = answer.get(&["linux", "cgroupDriver"]) else { return Known::ABSENT };
    let driver = match named.as_str() {
        Some("SYSTEMD") => "systemd",
        Some("CGROUPFS") => "cgroupfs",
        _ => return Known::Unknown(crate::fact::Why::Strange(format!("cgroup driver {named}"))),
    };
    Known::Is(vec![Said { value: Value::text(driver), origin }])
}

impl Running {
    fn say(&mut self, name: &'static str, said: Said) {
        self.facts.insert(name, Known::Is(vec![said]));
    }

    /// The configuration in force, as far as the verbose status shows it. Beside it stands a
    /// `systemdCgroup` of the plugin, long deprecated, that says nothing of any handler.
    fn status(&mut self, status: &Answer) {
        if let Some(said) = status.text(&["config", "containerd", "defaultRuntimeName"]) {
            self.say("containerd.default_runtime", said);
        }
        if let Some(said) = status.text(&["config", "sandboxImage"]) {
            self.say("containerd.sandbox_image", said);
        }
        let handlers = ["config", "containerd", "runtimes"];
        let Some(Json::Object(table)) = status.get(&handlers).map(|(v, _)| v) else { return };
        for name in table.keys() {
            let [a, b, c] = handlers;
            let cells = [
                ("type", status.text(&[a, b, c, name, "runtimeType"])),
                ("systemd_cgroup", status.bool(&[a, b, c, name, "options", "SystemdCgroup"])),
                ("binary_name", status.text(&[a, b, c, name, "options", "BinaryName"])),
            ];
            let cells = cells.into_iter().filter_map(|(column, said)| Some((column, said?))).collect();
            self.handlers.insert(name.clone(), cells);
        }
    }
}
