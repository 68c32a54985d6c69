//! Probes of a running node against sockets that answer, refuse, are silent or speak nonsense.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use bytes::Bytes;
use nodevet::fact::{Known, Why};
use nodevet::node::live::Ask;
use nodevet::node::{Door, Node};
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SOCKET: &str = "/run/containerd/containerd.sock";
const OTHER: &str = "/run/k3s/containerd/containerd.sock";
const BUS: &str = "/run/dbus/system_bus_socket";

/// What a method answers: a message, or a gRPC status with its text.
type Answer = Result<Vec<u8>, (u8, &'static str)>;
type Service = fn(&str) -> Answer;

fn text(tag: u8, value: &str) -> Vec<u8> {
    let mut out = vec![tag << 3 | 2, u8::try_from(value.len()).unwrap()];
    out.extend(value.as_bytes());
    out
}

fn version() -> Vec<u8> {
    [text(1, "0.1.0"), text(2, "containerd"), text(3, "v2.1.5"), text(4, "v1")].concat()
}

fn status() -> Vec<u8> {
    let config = r#"{"containerd":{"defaultRuntimeName":"runc"},"registry":{"auth":"secret"}}"#;
    let entry = [text(1, "config"), text(2, config)].concat();
    let mut out = vec![2 << 3 | 2, u8::try_from(entry.len()).unwrap()];
    out.extend(entry);
    out
}

fn serve(root: &Path, socket: &str, service: Service) {
    let path = root.join(socket.trim_start_matches('/'));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::UnixListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut connection = h2::server::Builder::new()
                        .max_send_buffer_size(8 << 20)
                        .handshake::<_, Bytes>(stream)
                        .await
                        .unwrap();
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        reply(service(request.uri().path()), respond);
                    }
                });
            }
        });
    });
}

fn reply(answer: Answer, mut respond: h2::server::SendResponse<Bytes>) {
    let head = || http::Response::builder().header("content-type", "application/grpc");
    match answer {
        Ok(message) => {
            let mut body = respond.send_response(head().body(()).unwrap(), false).unwrap();
            let mut frame = vec![0];
            frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
            frame.extend(message);
            // in two parts, as a slow daemon would
            let rest = frame.split_off(3);
            body.send_data(frame.into(), false).unwrap();
            body.send_data(rest.into(), false).unwrap();
            let mut trailers = http::HeaderMap::new();
            trailers.insert("grpc-status", "0".parse().unwrap());
            body.send_trailers(trailers).unwrap();
        }
        Err((code, message)) => {
            let head = head().header("grpc-status", code.to_string()).header("grpc-message", message);
            respond.send_response(head.body(()).unwrap(), true).unwrap();
        }
    }
}

fn modern(path: &str) -> Answer {
    match path.strip_prefix("/runtime.v1.RuntimeService/").unwrap() {
        "Version" => Ok(version()),
        "Status" => Ok(status()),
        _ => Ok(vec![0x0a, 0x02, 0x08, 0x01]),
    }
}

fn unimplemented(path: &str) -> Answer {
    match path.rsplit('/').next().unwrap() {
        "RuntimeConfig" => Err((12, "method RuntimeConfig not implemented")),
        _ => modern(path),
    }
}

fn alpha(path: &str) -> Answer {
    match path.strip_prefix("/runtime.v1alpha2.RuntimeService/") {
        None => Err((12, "unknown service runtime.v1.RuntimeService")),
        Some("RuntimeConfig") => {
            Err((12, "unknown method RuntimeConfig for service runtime.v1alpha2.RuntimeService"))
        }
        Some(method) => modern(&format!("/runtime.v1.RuntimeService/{method}")),
    }
}

fn no_cri(_: &str) -> Answer {
    Err((12, "unknown service runtime.v1.RuntimeService"))
}

fn denied(_: &str) -> Answer {
    Err((7, "no"))
}

fn starting(_: &str) -> Answer {
    Err((14, "server%20is not initialized yet"))
}

/// More than anyone asked for.
fn talkative(_: &str) -> Answer {
    Ok(vec![0; 5 << 20])
}

struct Host {
    dir: tempfile::TempDir,
    node: Node,
}

fn host() -> Host {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::open(Door::Host(dir.path().to_str().unwrap().to_owned()), Duration::from_millis(200));
    Host { node: node.unwrap(), dir }
}

impl Host {
    fn path(&self, path: &str) -> std::path::PathBuf {
        let path = self.dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn ask(&self, question: &str) -> Known<Arc<str>> {
        let ask = Ask { units: vec!["kubelet.service".into()], cri: vec![SOCKET.into(), OTHER.into()] };
        self.node.probe(&ask).get(question)
    }

    fn json(&self, question: &str) -> serde_json::Value {
        match self.ask(question) {
            Known::Is(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{question}: {other:?}"),
        }
    }
}

#[test]
fn a_modern_runtime_answers_everything() {
    let host = host();
    serve(host.dir.path(), SOCKET, modern);
    assert_eq!(host.ask("cri:socket"), Known::Is(SOCKET.into()));
    assert_eq!(host.json("cri:Version")["runtimeVersion"], "v2.1.5");
    assert_eq!(host.json("cri:RuntimeConfig")["linux"]["cgroupDriver"], "CGROUPFS");
    let status = host.json("cri:Status");
    assert_eq!(status["config"]["containerd"]["defaultRuntimeName"], "runc");
    assert_eq!(status["config"].get("registry"), None, "registries may hold passwords");
}

#[test]
fn a_runtime_without_runtime_config_says_so() {
    let host = host();
    serve(host.dir.path(), SOCKET, unimplemented);
    assert_eq!(host.json("cri:RuntimeConfig")["error"], "unimplemented");
    assert_eq!(host.json("cri:Version")["runtimeName"], "containerd");
}

#[test]
fn the_old_service_is_asked_when_the_new_one_is_unknown() {
    let host = host();
    serve(host.dir.path(), SOCKET, alpha);
    assert_eq!(host.json("cri:Version")["runtimeName"], "containerd");
    assert_eq!(host.json("cri:RuntimeConfig")["error"], "unimplemented");
}

#[test]
fn a_daemon_without_cri_is_told_apart_and_the_next_socket_asked() {
    let host = host();
    serve(host.dir.path(), SOCKET, no_cri);
    assert_eq!(host.json("cri:Version")["error"], "unknown service");
    serve(host.dir.path(), OTHER, modern);
    assert_eq!(host.ask("cri:socket"), Known::Is(OTHER.into()));
}

#[test]
fn refusals_keep_their_kind() {
    let host = host();
    serve(host.dir.path(), SOCKET, denied);
    assert_eq!(host.ask("cri:Version"), Known::Unknown(Why::Denied(SOCKET.into())));
    let other = self::host();
    serve(other.dir.path(), SOCKET, starting);
    let Known::Unknown(Why::Strange(text)) = other.ask("cri:Status") else { panic!() };
    assert!(text.ends_with("code 14: server is not initialized yet"), "{text}");
}

#[test]
fn an_answer_that_is_too_long_is_not_taken() {
    let host = host();
    serve(host.dir.path(), SOCKET, talkative);
    let Known::Unknown(Why::Strange(text)) = host.ask("cri:Version") else { panic!() };
    assert!(text.ends_with("the answer is too long"), "{text}");
}

#[test]
fn silence_ends_with_the_deadline_on_bus_and_cri() {
    let host = host();
    std::fs::create_dir_all(host.dir.path().join("run/systemd/system")).unwrap();
    let _bus = UnixListener::bind(host.path(BUS)).unwrap();
    let _cri = UnixListener::bind(host.path(SOCKET)).unwrap();
    assert_eq!(host.ask("cri:Version"), Known::Unknown(Why::Timeout(SOCKET.into())));
    assert_eq!(host.ask("dbus:manager"), Known::Unknown(Why::Timeout(BUS.into())));
    assert_eq!(host.ask("dbus:kubelet.service"), Known::Unknown(Why::Timeout(BUS.into())));
    let record = host.node.take_record();
    assert!(record.replies["dbus:kubelet.service"].0.error.is_some(), "a capture keeps that it hung");
}

#[test]
fn a_socket_file_without_a_listener_is_not_running() {
    let host = host();
    drop(UnixListener::bind(host.path(SOCKET)).unwrap());
    let Known::Unknown(Why::NotRunning(text)) = host.ask("cri:Version") else { panic!() };
    assert!(text.contains(SOCKET) && text.contains("nobody listens"), "{text}");
    serve(host.dir.path(), OTHER, modern);
    assert_eq!(host.ask("cri:socket"), Known::Is(OTHER.into()), "the next one in order");
}

#[test]
fn nonsense_on_the_wire_is_strange() {
    let host = host();
    let listener = UnixListener::bind(host.path(SOCKET)).unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    assert!(matches!(host.ask("cri:Version"), Known::Unknown(Why::Strange(_))));
}

#[test]
fn without_systemd_the_bus_is_not_asked() {
    let host = host();
    let _bus = UnixListener::bind(host.path(BUS)).unwrap();
    assert_eq!(host.ask("dbus:manager"), Known::Unknown(Why::NotRunning("systemd".into())));
}

#[test]
fn a_dead_root_is_never_connected_to() {
    let host = host();
    std::fs::create_dir_all(host.dir.path().join("run/systemd/system")).unwrap();
    let touched = Arc::new(AtomicBool::new(false));
    for socket in [BUS, SOCKET] {
        let (listener, touched) = (UnixListener::bind(host.path(socket)).unwrap(), touched.clone());
        std::thread::spawn(move || {
            let _ = listener.accept();
            touched.store(true, Ordering::SeqCst);
        });
    }
    let replies = host.path("/.nodevet/replies/cri/Version");
    std::fs::write(replies, "{\"runtimeName\":\"containerd\"}").unwrap();
    std::fs::write(
        host.path("/.nodevet/meta.jsonl"),
        "{\"reply\":\"dbus:kubelet.service\",\"absent\":true}\n{\"reply\":\"cri:Status\",\"error\":{\"timeout\":\"s\"}}\n",
    )
    .unwrap();
    let root = host.dir.path().to_str().unwrap().to_owned();
    let node = Node::open(Door::Root(root), Duration::from_millis(200)).unwrap();
    let ask = Ask { units: vec!["kubelet.service".into()], cri: vec![SOCKET.into()] };
    let replies = node.probe(&ask);
    assert_eq!(replies.get("cri:Version"), Known::Is("{\"runtimeName\":\"containerd\"}".into()));
    assert_eq!(replies.get("cri:Status"), Known::Unknown(Why::Timeout("s".into())));
    assert_eq!(replies.get("dbus:kubelet.service"), Known::ABSENT);
    assert!(matches!(replies.get("dbus:manager"), Known::Unknown(Why::NotRunning(_))));
    assert!(node.version_of("/bin/true").is_unknown());
    assert!(!touched.load(Ordering::SeqCst), "no socket of a dead root is opened");
}

#[test]
fn programs_are_run_here_only_and_only_when_root_alone_can_change_them() {
    let node = Node::open(Door::Here, Duration::from_secs(5)).unwrap();
    let Known::Is(text) = node.version_of("/usr/bin/env") else { panic!() };
    assert!(text.starts_with("env "), "{text}");
    let dir = tempfile::tempdir().unwrap();
    let script = |name: &str, body: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let open = script("open", "echo 1.0", 0o777);
    assert!(matches!(node.version_of(&open), Known::Unknown(Why::Unreadable(_, _))));
    let mut node = node;
    node.timeout = Duration::from_millis(200);
    let hangs = script("hangs", "sleep 1000", 0o755);
    assert!(matches!(node.version_of(&hangs), Known::Unknown(Why::Timeout(_))));
    assert_eq!(node.version_of("/nowhere/x"), Known::ABSENT);
}
