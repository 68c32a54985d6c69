//! The container runtime's word on itself: Version, Status and RuntimeConfig of CRI.

mod grpc;
mod messages;

use super::live::{CRI, Found, Socket};
use crate::fact::{Known, Why};
use grpc::{Client, Failed};
use messages::{
    Nothing, RuntimeConfigReply, StatusReply, StatusRequest, VersionReply, runtime_config_json, status_json,
    version_json,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

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
    // one that may not be asked may be the one that serves: those behind it do not speak for it
    let before = sockets.iter().position(|s| matches!(s, Err(why) if !matches!(why, Why::NotRunning(_))));
    let before = before.map_or(tasks.len(), |at| sockets[..at].iter().flatten().count());
    let decisive = tasks[..before].iter().find(|(_, done)| !is_dead(&done.borrow()));
    if decisive.is_none() && before < tasks.len() {
        return;
    }
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
    let mut version = client.call::<VersionReply>("Version", &Nothing {}).await;
    if matches!(version, Err(Failed::UnknownService)) {
        client.service = "runtime.v1alpha2.RuntimeService";
        version = client.call("Version", &Nothing {}).await;
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
    let config = client.call::<RuntimeConfigReply>("RuntimeConfig", &Nothing {}).await;
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

/// What these bytes are taken for as the answer to each question, in a frame and without.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoded(data: &[u8]) -> Vec<String> {
    use prost::Message;
    let framed = grpc::message(bytes::Bytes::copy_from_slice(data)).unwrap_or_default();
    let mut told = vec![grpc::unescape(data)];
    for body in [&framed, data] {
        let answers = [
            VersionReply::decode(body).map(version_json),
            StatusReply::decode(body).map(status_json),
            RuntimeConfigReply::decode(body).map(runtime_config_json),
        ];
        told.extend(answers.into_iter().flatten().map(|json| pretty(&json).to_string()));
    }
    told
}
