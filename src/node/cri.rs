//! The container runtime's word on itself: Version, Status and RuntimeConfig of CRI. gRPC is one
//! HTTP/2 request and a few trailers, so no more than that is spoken here.

use super::live::{CRI, Found, Socket};
use crate::fact::{Known, Why};
use bytes::{Buf, Bytes};
use prost::Message;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;

/// The longest answer that is taken, in bytes.
const LIMIT: usize = 16 << 20;

#[derive(Clone, PartialEq, Message)]
struct VersionReply {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(string, tag = "2")]
    runtime_name: String,
    #[prost(string, tag = "3")]
    runtime_version: String,
    #[prost(string, tag = "4")]
    runtime_api_version: String,
}

#[derive(Clone, PartialEq, Message)]
struct StatusRequest {
    #[prost(bool, tag = "1")]
    verbose: bool,
}

#[derive(Clone, PartialEq, Message)]
struct StatusReply {
    #[prost(message, optional, tag = "1")]
    status: Option<Conditions>,
    #[prost(btree_map = "string, string", tag = "2")]
    info: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
struct Conditions {
    #[prost(message, repeated, tag = "1")]
    conditions: Vec<Condition>,
}

#[derive(Clone, PartialEq, Message)]
struct Condition {
    #[prost(string, tag = "1")]
    r#type: String,
    #[prost(bool, tag = "2")]
    status: bool,
    #[prost(string, tag = "3")]
    reason: String,
    #[prost(string, tag = "4")]
    message: String,
}

#[derive(Clone, PartialEq, Message)]
struct RuntimeConfigReply {
    #[prost(message, optional, tag = "1")]
    linux: Option<LinuxConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct LinuxConfig {
    /// 0 is systemd, 1 cgroupfs.
    #[prost(int32, tag = "1")]
    cgroup_driver: i32,
}

/// Why a call gave no message.
#[derive(Debug)]
enum Failed {
    /// This service is not offered: CRI is off, or this is another version of it.
    UnknownService,
    /// The service is there, the method is not.
    Unimplemented,
    Denied,
    /// Any other status, or a peer that does not speak gRPC.
    Other(String),
}

type Answers = Vec<(&'static str, Known<Arc<str>>)>;

/// Asks every socket at once; the first in order where somebody listens decides.
pub(super) async fn ask(sockets: &[Result<Socket, Why>], deadline: Duration, found: &Found) {
    let mut tasks = Vec::new();
    for socket in sockets.iter().flatten() {
        let done = std::cell::RefCell::new(Answers::new());
        tasks.push((socket, done));
    }
    // a current-thread runtime: the conversations take turns, none waits for another
    let mut conversations: Vec<_> =
        tasks.iter().map(|(socket, done)| Box::pin(converse(socket, done))).collect();
    let all = std::future::poll_fn(|cx| {
        conversations.retain_mut(|c| c.as_mut().poll(cx).is_pending());
        if conversations.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    });
    let _ = tokio::time::timeout(deadline, all).await;
    let decisive = tasks.iter().find(|(_, done)| !is_dead(&done.borrow()));
    if let Some((socket, done)) = decisive.or(tasks.first()) {
        let mut found = found.borrow_mut();
        for question in CRI {
            let answer = done.borrow().iter().find(|(q, _)| *q == question).map(|(_, a)| a.clone());
            let late = || Known::Unknown(Why::Timeout(socket.name.clone()));
            found.insert(question.to_owned(), answer.unwrap_or_else(late));
        }
    }
}

/// Nobody listens there, or what listens offers no CRI: the next socket may.
fn is_dead(answers: &Answers) -> bool {
    answers.iter().any(|(question, answer)| match answer {
        Known::Unknown(Why::NotRunning(_)) => true,
        Known::Is(text) => *question == "cri:Version" && text.contains("\"unknown service\""),
        _ => false,
    })
}

/// Why there is no answer when no socket could be asked: the first that is more than missing.
pub(super) fn verdict(asked: &[String], sockets: &[Result<Socket, Why>]) -> Why {
    let failures = || sockets.iter().filter_map(|s| s.as_ref().err());
    failures().find(|w| !matches!(w, Why::NotRunning(_))).cloned().unwrap_or_else(|| {
        let paths = if asked.is_empty() { "container runtime".to_owned() } else { asked.join(", ") };
        Why::NotRunning(paths)
    })
}

async fn converse(socket: &Socket, done: &std::cell::RefCell<Answers>) {
    let keep = |question, answer| done.borrow_mut().push((question, answer));
    let all = |why: &Why| CRI.iter().for_each(|q| keep(q, Known::Unknown(why.clone())));
    let stream = match socket.connect().await {
        Ok(stream) => stream,
        Err(why) => return all(&why),
    };
    let mut client = match Client::new(stream).await {
        Ok(client) => client,
        Err(e) => return all(&strange(socket, e)),
    };
    keep("cri:socket", Known::Is(socket.name.as_str().into()));
    let mut version = client.call::<VersionReply>("Version", &VersionReply::default()).await;
    if matches!(version, Err(Failed::UnknownService)) {
        client.service = "runtime.v1alpha2.RuntimeService";
        version = client.call("Version", &VersionReply::default()).await;
    }
    let gone = matches!(version, Err(Failed::UnknownService));
    keep("cri:Version", answer(socket, version.map(version_json)));
    if gone {
        keep("cri:Status", unknown_service());
        keep("cri:RuntimeConfig", unknown_service());
        return;
    }
    let status = client.call::<StatusReply>("Status", &StatusRequest { verbose: true }).await;
    keep("cri:Status", answer(socket, status.map(status_json)));
    let config = client.call::<RuntimeConfigReply>("RuntimeConfig", &LinuxConfig::default()).await;
    keep("cri:RuntimeConfig", answer(socket, config.map(runtime_config_json)));
}

fn answer(socket: &Socket, reply: Result<Value, Failed>) -> Known<Arc<str>> {
    match reply {
        Ok(json) => Known::Is(pretty(&json)),
        Err(Failed::UnknownService) => unknown_service(),
        Err(Failed::Unimplemented) => Known::Is(pretty(&json!({ "error": "unimplemented" }))),
        Err(Failed::Denied) => Known::Unknown(Why::Denied(socket.name.clone())),
        Err(Failed::Other(text)) => Known::Unknown(strange(socket, text)),
    }
}

fn unknown_service() -> Known<Arc<str>> {
    Known::Is(pretty(&json!({ "error": "unknown service" })))
}

fn strange(socket: &Socket, text: String) -> Why {
    Why::Strange(format!("{}: {text}", socket.name))
}

fn pretty(json: &Value) -> Arc<str> {
    let mut text = serde_json::to_string_pretty(json).unwrap_or_default();
    text.push('\n');
    text.into()
}

fn version_json(reply: VersionReply) -> Value {
    json!({
        "version": reply.version,
        "runtimeName": reply.runtime_name,
        "runtimeVersion": reply.runtime_version,
        "runtimeApiVersion": reply.runtime_api_version,
    })
}

/// As `crictl info` shows it. Of the runtime's configuration the registries are left out: they
/// may hold passwords, and nothing here asks for them.
fn status_json(reply: StatusReply) -> Value {
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

fn runtime_config_json(reply: RuntimeConfigReply) -> Value {
    match reply.linux {
        // systemd is zero, which the wire leaves out: the message is there and empty
        Some(LinuxConfig { cgroup_driver: 0 }) => json!({ "linux": { "cgroupDriver": "SYSTEMD" } }),
        Some(LinuxConfig { cgroup_driver: 1 }) => json!({ "linux": { "cgroupDriver": "CGROUPFS" } }),
        Some(LinuxConfig { cgroup_driver }) => json!({ "linux": { "cgroupDriver": cgroup_driver } }),
        None => json!({}),
    }
}

struct Client {
    send: h2::client::SendRequest<Bytes>,
    service: &'static str,
}

impl Client {
    async fn new(stream: UnixStream) -> Result<Client, String> {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(1 << 20).initial_connection_window_size(1 << 20).enable_push(false);
        let (send, connection) = builder.handshake(stream).await.map_err(|e| e.to_string())?;
        // ends with the runtime
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Client { send, service: "runtime.v1.RuntimeService" })
    }

    async fn call<R: Message + Default>(
        &mut self,
        method: &str,
        request: &impl Message,
    ) -> Result<R, Failed> {
        let body = request.encode_to_vec();
        let mut frame = vec![0];
        frame.extend(u32::try_from(body.len()).unwrap_or(0).to_be_bytes());
        frame.extend(body);
        let reply = self.exchange(method, frame.into()).await?;
        R::decode(reply).map_err(|e| Failed::Other(e.to_string()))
    }

    async fn exchange(&mut self, method: &str, frame: Bytes) -> Result<Bytes, Failed> {
        let other = |e: h2::Error| Failed::Other(e.to_string());
        let request = http::Request::post(format!("http://localhost/{}/{method}", self.service))
            .version(http::Version::HTTP_2)
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .body(())
            .map_err(|e| Failed::Other(e.to_string()))?;
        let mut send = self.send.clone().ready().await.map_err(other)?;
        let (response, mut body) = send.send_request(request, false).map_err(other)?;
        body.send_data(frame, true).map_err(other)?;
        let response = response.await.map_err(other)?;
        if let Some(status) = response.headers().get("grpc-status") {
            judge(status, response.headers())?;
        }
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.map_err(other)?;
            let _ = body.flow_control().release_capacity(chunk.len());
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LIMIT {
                return Err(Failed::Other("the answer is too long".to_owned()));
            }
        }
        if let Some(trailers) = body.trailers().await.map_err(other)?
            && let Some(status) = trailers.get("grpc-status")
        {
            judge(status, &trailers)?;
        }
        let mut bytes = Bytes::from(bytes);
        if bytes.len() < 5 {
            return Err(Failed::Other("the answer is empty".to_owned()));
        }
        let (packed, length) = (bytes.get_u8(), bytes.get_u32() as usize);
        match (packed, bytes.len() >= length) {
            (0, true) => Ok(bytes.split_to(length)),
            (0, false) => Err(Failed::Other("the answer breaks off".to_owned())),
            _ => Err(Failed::Other("the answer is compressed".to_owned())),
        }
    }
}

/// What a gRPC status says; zero is success.
fn judge(status: &http::HeaderValue, headers: &http::HeaderMap) -> Result<(), Failed> {
    let message = headers.get("grpc-message").map(|m| unescape(m.as_bytes())).unwrap_or_default();
    match status.to_str().unwrap_or("") {
        "0" => Ok(()),
        "7" => Err(Failed::Denied),
        "12" if message.contains("unknown service") => Err(Failed::UnknownService),
        "12" => Err(Failed::Unimplemented),
        code => Err(Failed::Other(format!("code {code}: {message}"))),
    }
}

/// `%XX` of grpc-message.
fn unescape(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        let hex = text.get(i + 1..i + 3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()).filter(|_| text[i] == b'%') {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(text[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
