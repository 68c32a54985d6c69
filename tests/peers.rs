//! Sockets held by somebody who means ill or is broken: whatever comes, or does not, the answer is
//! unknown with a reason, in time, and in little memory.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::fact::{Known, Why};
use nodevet::node::live::Ask;
use nodevet::node::{Door, Node};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const CRI: &str = "/run/containerd/containerd.sock";
const BUS: &str = "/run/dbus/system_bus_socket";
const DEADLINE: Duration = Duration::from_millis(300);

type Peer = fn(&mut UnixStream) -> std::io::Result<()>;

/// An HTTP/2 frame of a stream.
fn frame(kind: u8, flags: u8, stream: u8, body: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(body.len()).unwrap().to_be_bytes()[1..].to_vec();
    out.extend([kind, flags, 0, 0, 0, stream]);
    out.extend(body);
    out
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// `:status: 200` out of the static table.
const OK: [u8; 1] = [0x88];

fn greet(stream: &mut UnixStream) -> std::io::Result<()> {
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    stream.write_all(&frame(SETTINGS, 1, 0, &[]))
}

/// The head of an answer to the first question, once it was asked.
fn begin(stream: &mut UnixStream) -> std::io::Result<()> {
    greet(stream)?;
    let _ = stream.read(&mut [0; 4096])?;
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, &OK))
}

fn for_ever(stream: &mut UnixStream, bytes: &[u8]) -> std::io::Result<()> {
    loop {
        stream.write_all(bytes)?;
    }
}

fn slowly(stream: &mut UnixStream, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes.iter().cycle() {
        stream.write_all(&[*byte])?;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn hold(stream: &mut UnixStream) -> std::io::Result<()> {
    stream.read_to_end(&mut Vec::new()).map(|_| ())
}

const PEERS: &[(&str, Peer)] = &[
    ("closes at once", |_| Ok(())),
    ("reads and says nothing", hold),
    ("garbage without end", |s| for_ever(s, &[0xa5; 4096])),
    ("zeros without end", |s| for_ever(s, &[0; 4096])),
    ("settings, a byte at a time", |s| slowly(s, &frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]))),
    ("a frame of 16 MiB is announced", |s| {
        s.write_all(&[0xff, 0xff, 0xff, SETTINGS, 0, 0, 0, 0, 0])?;
        for_ever(s, &[0; 4096])
    }),
    ("closes in the greeting", |s| s.write_all(&frame(SETTINGS, 0, 0, &[])[..5])),
    ("closes after the greeting", greet),
    ("pings without end", |s| {
        greet(s)?;
        for_ever(s, &frame(PING, 0, 0, &[0; 8]).repeat(100))
    }),
    ("settings without end", |s| for_ever(s, &frame(SETTINGS, 0, 0, &[]).repeat(100))),
    ("closes after the head", begin),
    ("an answer of 4 GiB is announced and never comes", |s| {
        begin(s)?;
        s.write_all(&frame(DATA, 0, 1, &[0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]))?;
        hold(s)
    }),
    ("an answer without end", |s| {
        begin(s)?;
        // more than was allowed
        for_ever(s, &frame(DATA, 0, 1, &[0; 16000]))
    }),
    ("empty pieces without end", |s| {
        begin(s)?;
        for_ever(s, &frame(DATA, 0, 1, &[]).repeat(100))
    }),
    ("an answer that breaks off", |s| {
        begin(s)?;
        s.write_all(&frame(DATA, 1, 1, &[0, 0, 0, 0, 50, 0x0a, 3]))?;
        hold(s)
    }),
    ("an answer that is no message", |s| {
        begin(s)?;
        s.write_all(&frame(DATA, 1, 1, &[0, 0, 0, 0, 3, 0xff, 0xff, 0xff]))?;
        hold(s)
    }),
    ("an answer that ends without a word", |s| {
        begin(s)?;
        s.write_all(&frame(DATA, 1, 1, &[]))?;
        hold(s)
    }),
    ("headers without end", |s| {
        greet(s)?;
        let _ = s.read(&mut [0; 4096])?;
        s.write_all(&frame(HEADERS, 0, 1, &OK))?;
        for_ever(
            s,
            &frame(CONTINUATION, 0, 1, &[&[0, 3][..], b"abc", &[100], &[b'x'; 100]].concat().repeat(100)),
        )
    }),
];

/// The bus speaks first after a zero byte and `AUTH`.
const BUSES: &[(&str, Peer)] = &[
    ("closes at once", |_| Ok(())),
    ("garbage without end", |s| for_ever(s, &[0xa5; 4096])),
    ("one line without end", |s| for_ever(s, &[b'A'; 4096])),
    ("lines without end", |s| for_ever(s, b"OK 0123456789abcdef0123456789abcdef\r\n")),
    ("a byte at a time", |s| slowly(s, b"REJECTED EXTERNAL\r\n")),
    ("a message of 128 MiB is announced", |s| {
        let _ = s.read(&mut [0; 4096])?;
        s.write_all(b"OK 0123456789abcdef0123456789abcdef\r\n")?;
        s.write_all(&[b'l', 2, 0, 1, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0])?;
        for_ever(s, &[0; 4096])
    }),
];

fn serve(root: &Path, socket: &str, peer: Peer) {
    let path = root.join(socket.trim_start_matches('/'));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || {
                // ends when the other side has gone
                let _ = peer(&mut stream);
            });
        }
    });
}

/// A host with a containerd that nothing else is known of.
fn host(socket: &str, peer: Peer) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for path in ["run/systemd/system", "proc/1", "etc/containerd"] {
        std::fs::create_dir_all(dir.path().join(path)).unwrap();
    }
    std::fs::write(dir.path().join("proc/1/comm"), "systemd\n").unwrap();
    std::fs::write(dir.path().join("etc/containerd/config.toml"), "version = 2\n").unwrap();
    serve(dir.path(), socket, peer);
    dir
}

fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str, Peer)> {
    let cri = PEERS.iter().map(|(name, peer)| (CRI, "cri:Version", *name, *peer));
    cri.chain(BUSES.iter().map(|(name, peer)| (BUS, "dbus:manager", *name, *peer)))
}

#[test]
fn no_peer_costs_more_than_the_deadline() {
    for (socket, question, name, peer) in all() {
        let dir = host(socket, peer);
        let node = Node::open(Door::Host(dir.path().to_str().unwrap().to_owned()), DEADLINE).unwrap();
        let ask = Ask { units: Vec::new(), cri: vec![CRI.into()] };
        let start = Instant::now();
        let answer = node.probe(&ask).get(question);
        let took = start.elapsed();
        assert!(took < DEADLINE + Duration::from_secs(2), "{socket}: {name}: {took:?}");
        match &answer {
            Known::Unknown(Why::Strange(text)) => assert!(text.len() > socket.len(), "{name}: {text}"),
            Known::Unknown(Why::Timeout(what)) => assert_eq!(what, socket, "{name}"),
            Known::Unknown(Why::NotRunning(_)) if socket == BUS => {}
            other => panic!("{socket}: {name}: {other:?}"),
        }
    }
}

/// The whole program, with no more than 256 MiB of address space.
#[test]
fn no_peer_takes_the_memory() {
    for (socket, _, name, peer) in all() {
        let dir = host(socket, peer);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 262144; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_nodevet")]);
        command
            .args(["check", "--fail-on", "never", "--timeout", "300ms", "--host"])
            .arg(dir.path())
            .env_clear();
        let start = Instant::now();
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{socket}: {name}: {said}");
        assert!(start.elapsed() < Duration::from_secs(10), "{socket}: {name}: {:?}", start.elapsed());
    }
}
