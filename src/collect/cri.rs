//! What the container runtime says of itself over CRI: statements about the daemon that runs.

mod json;

use super::ctx::Ctx;
use crate::fact::{Known, Layer, Origin, Said, Value, Why};
use crate::node::live::Replies;
use crate::text::{Kind, Place, SourceId, Span, line_span};
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
    /// By fact of containerd, where the answers tell: `containerd.reported_driver`,
    /// `containerd.cri_enabled`, `containerd.default_runtime`, `containerd.sandbox_image`.
    pub(crate) live: BTreeMap<&'static str, Said>,
    /// By handler: whether its options say `SystemdCgroup`.
    pub(crate) live_handlers: BTreeMap<String, Said>,
}

/// An answer with its text captured.
struct Answer {
    id: SourceId,
    text: std::sync::Arc<str>,
    json: Json,
}

impl Answer {
    fn of(ctx: &mut Ctx, replies: &Replies, question: &str) -> Known<Answer> {
        let found = replies.get(question).and_then(|text| {
            let id = ctx.sources.add(question, Kind::Cri, text.clone());
            match serde_json::from_str(&text) {
                Ok(json) => Known::Is(Answer { id, json, text }),
                Err(e) => {
                    let place = Place { source: id, span: line_span(&text, e.line().max(1)) };
                    ctx.problem(place, format!("not JSON: {e}"));
                    Known::Unknown(Why::Malformed(place, e.to_string()))
                }
            }
        });
        if let Known::Unknown(
            why @ (Why::Denied(_) | Why::Unreadable(..) | Why::Timeout(_) | Why::Strange(_)),
        ) = &found
        {
            ctx.could_not_read(question, why);
        }
        found
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
    // what another runtime answers says nothing of containerd
    if is_containerd
        && let Known::Is(answer) = Answer::of(ctx, replies, "cri:RuntimeConfig")
        && let Some(said) = driver(&answer)
    {
        running.say("containerd.reported_driver", said);
    }
    running
}

/// The driver that RuntimeConfig names; `unimplemented` where the method does not exist.
fn driver(answer: &Answer) -> Option<Said> {
    if let Some(("unimplemented", origin)) = answer.failed() {
        return Some(Said { value: Value::text("unimplemented"), origin });
    }
    let (named, origin) = answer.get(&["linux", "cgroupDriver"])?;
    let driver = match named.as_str()? {
        "SYSTEMD" => "systemd",
        "CGROUPFS" => "cgroupfs",
        _ => return None,
    };
    Some(Said { value: Value::text(driver), origin })
}

impl Running {
    fn say(&mut self, name: &'static str, said: Said) {
        self.live.insert(name, said);
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
            if let Some(said) = status.bool(&[a, b, c, name, "options", "SystemdCgroup"]) {
                self.live_handlers.insert(name.clone(), said);
            }
        }
    }
}

/// The answers that a captured node holds: their texts, and where in them each statement stands.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn spans(node: &crate::node::Node) -> Vec<(std::sync::Arc<str>, Span)> {
    let options = super::Options::default();
    let mut ctx = Ctx::new(node, &options);
    let running = running(&mut ctx, &node.probe(&crate::node::live::Ask::default()));
    let said = running.socket.iter().chain(&running.runtime).chain(&running.version);
    let said = said.chain(running.live.values()).chain(running.live_handlers.values());
    let place =
        |said: &Said| (ctx.sources.get(said.origin.place.source).text.clone(), said.origin.place.span);
    said.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;
    use crate::node::live::Ask;

    fn look(replies: &[(&str, &str)]) -> (Running, Vec<String>) {
        let files =
            replies.iter().map(|(q, text)| (format!("/.nodevet/replies/cri/{q}"), (*text).to_owned()));
        let node = Node::memory(files.collect());
        let options = Options::default();
        let mut ctx = Ctx::new(&node, &options);
        let running = running(&mut ctx, &node.probe(&Ask::default()));
        let all = running
            .live
            .iter()
            .map(|(name, said)| (*name, said))
            .chain(running.live_handlers.iter().map(|(name, said)| (name.as_str(), said)));
        let told = all
            .map(|(name, said)| format!("{name}={} at {}", said.value, ctx.sources.slice(said.origin.place)))
            .collect();
        (running, told)
    }

    const VERSION: &str =
        r#"{"version": "0.1.0", "runtimeName": "containerd", "runtimeVersion": "1.7.24~ds1"}"#;

    #[test]
    fn the_handlers_own_option_counts_and_not_the_old_key_of_the_plugin() {
        let status = r#"{"config": {"systemdCgroup": false, "sandboxImage": "registry.k8s.io/pause:3.8",
            "containerd": {"defaultRuntimeName": "runc", "runtimes": {
                "kata": {"runtimeType": "io.containerd.kata.v2", "options": null},
                "runc": {"runtimeType": "io.containerd.runc.v2", "options": {"BinaryName": "", "SystemdCgroup": true}}}}}}"#;
        let config = r#"{"error": "unimplemented"}"#;
        let (running, told) = look(&[("Version", VERSION), ("Status", status), ("RuntimeConfig", config)]);
        assert_eq!(running.version.unwrap().value, Value::text("1.7.24~ds1"));
        assert_eq!(
            told,
            [
                "containerd.cri_enabled=true at containerd",
                "containerd.default_runtime=runc at runc",
                "containerd.reported_driver=unimplemented at unimplemented",
                "containerd.sandbox_image=registry.k8s.io/pause:3.8 at registry.k8s.io/pause:3.8",
                "runc=true at true",
            ]
        );
    }

    #[test]
    fn another_runtime_says_nothing_of_containerd() {
        let version = r#"{"runtimeName": "cri-o", "runtimeVersion": "1.34.1"}"#;
        let (running, told) =
            look(&[("Version", version), ("RuntimeConfig", r#"{"linux": {"cgroupDriver": "SYSTEMD"}}"#)]);
        assert_eq!(running.runtime.unwrap().value, Value::text("cri-o"));
        assert!(running.version.is_none() && told.is_empty(), "{told:?}");
    }

    #[test]
    fn a_daemon_without_cri_answers_that() {
        let (_, told) = look(&[("Version", r#"{"error": "unknown service"}"#)]);
        assert_eq!(told, ["containerd.cri_enabled=false at unknown service"]);
        let (_, told) =
            look(&[("Version", VERSION), ("RuntimeConfig", r#"{"linux": {"cgroupDriver": "CGROUPFS"}}"#)]);
        assert_eq!(told[1], "containerd.reported_driver=cgroupfs at CGROUPFS");
    }
}
