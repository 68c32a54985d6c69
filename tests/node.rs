//! The node door: every path stays inside the root, nothing blocks, and what cannot be read is
//! unknown with its reason.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use nodevet::fact::{Known, Why};
use nodevet::node::{Door, FileKind, LIMIT, Node};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

fn open(dir: &Path) -> Node {
    Node::open(Door::Root(dir.to_str().unwrap().to_owned()), Duration::from_secs(1)).unwrap()
}

fn text(node: &Node, path: &str) -> String {
    match node.read(path) {
        Known::Is(text) => text.text.to_string(),
        other => panic!("{path}: {other:?}"),
    }
}

fn why(node: &Node, path: &str) -> String {
    match node.read(path) {
        Known::Unknown(why) => why.to_string(),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn links_lead_nowhere_but_into_the_root() {
    let dir = tempfile::tempdir().unwrap();
    let etc = dir.path().join("etc");
    fs::create_dir_all(etc.join("real")).unwrap();
    fs::write(etc.join("real/file"), "inside").unwrap();
    fs::write(dir.path().join("passwd"), "the root's own").unwrap();
    symlink("/etc/real", etc.join("absolute")).unwrap();
    symlink("../../../../../../passwd", etc.join("climbing")).unwrap();
    symlink("real/file", etc.join("relative")).unwrap();
    let node = open(dir.path());
    assert_eq!(text(&node, "/etc/absolute/file"), "inside");
    assert_eq!(text(&node, "/etc/climbing"), "the root's own");
    assert_eq!(text(&node, "/etc/relative"), "inside");
    assert_eq!(text(&node, "/etc/../../../passwd"), "the root's own");
    assert_eq!(node.link("/etc/absolute"), Known::Is("/etc/real".into()));
    assert_eq!(node.link("/etc/real"), Known::ABSENT);
}

#[test]
fn what_is_no_file_is_unknown_and_never_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    symlink("loop-b", at("loop-a")).unwrap();
    symlink("loop-a", at("loop-b")).unwrap();
    symlink("/fifo", at("to-fifo")).unwrap();
    fs::File::create(at("huge")).unwrap().set_len(LIMIT + 1).unwrap();
    let node = open(dir.path());
    for (path, reason) in [
        ("/fifo", "FIFO"),
        ("/to-fifo", "FIFO"),
        ("/socket", "socket"),
        ("/dir", "directory"),
        ("/loop-a", "circle"),
        ("/huge", "larger than 16 MiB"),
    ] {
        assert!(why(&node, path).contains(reason), "{path}: {}", why(&node, path));
    }
    assert_eq!(node.read("/none"), Known::ABSENT);
    assert_eq!(node.read("/dir/none/deeper"), Known::ABSENT);
    assert_eq!(node.list("/none"), Known::ABSENT);
}

#[test]
fn text_that_is_not_utf8_says_where() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("latin"), b"a = 1 # caf\xe9\n").unwrap();
    let node = open(dir.path());
    let Known::Is(read) = node.read("/latin") else { panic!() };
    assert_eq!(read.invalid_utf8, Some(11));
    assert_eq!(&*read.text, "a = 1 # caf\u{fffd}\n");
}

#[test]
fn a_name_that_is_not_utf8_is_unknown_not_absent() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.toml")), "x").unwrap();
    let node = open(dir.path());
    let Known::Is(entries) = node.list("/") else { panic!() };
    assert!(why(&node, &format!("/{}", entries[0].name)).contains("not UTF-8"));
}

#[test]
fn a_missing_runtime_tree_is_unknown_and_a_missing_entry_absent() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("etc")).unwrap();
    fs::create_dir_all(dir.path().join("sys")).unwrap();
    fs::create_dir_all(dir.path().join("run/lock")).unwrap();
    let node = open(dir.path());
    assert!(matches!(node.read("/proc/1/comm"), Known::Unknown(Why::NotRunning(_))));
    // an empty mount point of an image is no tree either
    assert!(matches!(node.is_dir("/sys/fs/cgroup"), Known::Is(false) | Known::Unknown(_)));
    assert!(matches!(node.read("/sys/fs/cgroup/cgroup.controllers"), Known::Unknown(Why::NotRunning(_))));
    assert_eq!(node.is_dir("/run/systemd/system"), Known::Is(false));
    assert_eq!(node.read("/etc/none"), Known::ABSENT);
}

#[test]
fn listings_are_sorted_and_know_their_kinds() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::write(dir.path().join("a"), "").unwrap();
    symlink("a", dir.path().join("c")).unwrap();
    fs::create_dir(dir.path().join(".nodevet")).unwrap();
    let Known::Is(entries) = open(dir.path()).list("/") else { panic!() };
    let found: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
    assert_eq!(found, [("a", FileKind::File), ("b", FileKind::Dir), ("c", FileKind::Link)]);
}

#[test]
fn a_capture_reads_back_as_it_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let etc = dir.path().join("node/etc");
    fs::create_dir_all(&etc).unwrap();
    fs::write(etc.join("config"), "password = \"hunter2\"\nx = 1\n").unwrap();
    mkfifo(&etc.join("fifo"), Mode::S_IRWXU).unwrap();
    symlink("config", etc.join("link")).unwrap();
    let look = |node: &Node| {
        (
            node.read("/etc/none"),
            node.read("/etc/fifo"),
            node.list("/etc"),
            node.link("/etc/link"),
            node.stat("/etc/config"),
            node.read("/proc/1/comm"),
        )
    };
    let node = open(&dir.path().join("node"));
    let before = look(&node);
    assert!(text(&node, "/etc/config").contains("hunter2"));
    let files = nodevet::capture::files(&node.take_record(), Some(7));
    let copy = dir.path().join("copy");
    nodevet::write::tree(&copy, &files).unwrap();
    let replay = open(&copy);
    assert_eq!(look(&replay), before);
    assert_eq!(text(&replay, "/etc/config"), "password = \"xxxxxxx\"\nx = 1\n");
    assert_eq!(replay.now(), Known::Is(7));
    // and a capture of the capture is the same
    look(&replay);
    assert!(text(&replay, "/etc/config").contains("xxxxxxx"));
}

#[test]
fn an_overlay_is_read_in_place_of_the_file() {
    let mut node = Node::memory(BTreeMap::from([("/etc/a".to_owned(), "old".to_owned())]));
    node.overlay(BTreeMap::from([("/etc/a".to_owned(), "new".to_owned())]));
    assert_eq!(text(&node, "/etc/a"), "new");
}
