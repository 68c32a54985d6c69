//! The node: the only door to the outside. Files, listings, the bus, CRI and programs come in
//! through here, bounded and with deadlines, and everything that was touched is remembered so
//! that a capture holds exactly what was read.

pub(crate) mod buildinfo;
mod bus;
pub(crate) mod cri;
mod disk;
mod exec;
pub mod live;
pub mod meta;

use crate::fact::{Known, Why};
use disk::{Disk, Met};
use meta::{Failure, Line, Meta};
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The largest file that is read, in bytes.
pub const LIMIT: u64 = 16 << 20;

/// What a capture says of its files.
const META: &str = "/.nodevet/meta.jsonl";

/// Trees that only a running system has. If the root lacks one (or it is an empty mount point),
/// what is below it is unknown, not absent.
const RUNTIME_TREES: [&str; 4] = ["/proc", "/sys", "/run", "/dev"];

/// Which node is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Door {
    /// This machine: files, sockets, programs.
    Here,
    /// A dead tree: no socket is opened, no program run.
    Root(String),
    /// A live host mounted below a directory: its sockets are asked, no program is run.
    Host(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    File,
    Dir,
    Link,
    Fifo,
    Socket,
    Device,
    Other,
}

/// What stat(2) says. Times are seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    pub kind: FileKind,
    /// Permission bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub mtime: i64,
    pub ctime: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub kind: FileKind,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: Arc<str>,
    /// Where the bytes were not UTF-8: offset, in `text`, of the first replacement character.
    pub invalid_utf8: Option<usize>,
    /// The bytes, kept only where they were not UTF-8.
    raw: Option<Arc<[u8]>>,
}

impl Text {
    fn of(text: &str) -> Text {
        Text { text: text.into(), invalid_utf8: None, raw: None }
    }
}

/// What was read at a path, for a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(Arc<str>),
    /// Not UTF-8.
    Raw(Arc<[u8]>),
}

enum Tree {
    Disk(Disk),
    /// Texts by absolute path; directories are implied.
    Memory(BTreeMap<String, String>),
}

/// Everything that was touched, for a capture.
#[derive(Default)]
pub struct Record {
    /// By path; the line and, for a file read, its text.
    pub paths: BTreeMap<String, (Line, Option<Content>)>,
    /// By question; the answer or why there is none.
    pub replies: BTreeMap<String, (Line, Option<Arc<str>>)>,
}

pub struct Node {
    tree: Tree,
    door: Door,
    overlay: BTreeMap<String, String>,
    meta: Option<Meta>,
    record: RefCell<Record>,
    /// Which of [`RUNTIME_TREES`] the root lacks; looked at once.
    lacking: [OnceCell<bool>; RUNTIME_TREES.len()],
    /// Whether the root holds replies of a bus and of sockets.
    replies: OnceCell<bool>,
    /// How long one probe of a bus, a socket or a program may take.
    pub timeout: Duration,
}

impl Node {
    /// Opens a door. Fails when the directory cannot be opened.
    pub fn open(door: Door, timeout: Duration) -> Result<Node, String> {
        let dir = match &door {
            Door::Here => "/",
            Door::Root(dir) | Door::Host(dir) => dir,
        };
        let disk = Disk::open(Path::new(dir)).map_err(|e| format!("cannot open {dir}: {}", e.desc()))?;
        let mut node = Node::of(Tree::Disk(disk), door, timeout);
        if matches!(node.door, Door::Root(_)) {
            match node.fetch(META) {
                Known::Is(text) => {
                    let (meta, bad) = Meta::parse(&text.text);
                    if let Some((line, message)) = bad.first() {
                        return Err(format!("{META}:{line}: {message}"));
                    }
                    node.meta = Some(meta);
                }
                Known::Absent(_) => {}
                // what could not be read when it was captured would count as not there
                Known::Unknown(why) => return Err(format!("cannot read {META}: {why}")),
            }
            node.record.borrow_mut().paths.clear();
        }
        Ok(node)
    }

    /// A node made of texts: examples of rules, tests.
    pub fn memory(files: BTreeMap<String, String>) -> Node {
        Node::of(Tree::Memory(files), Door::Root(String::new()), Duration::ZERO)
    }

    fn of(tree: Tree, door: Door, timeout: Duration) -> Node {
        Node {
            tree,
            door,
            overlay: BTreeMap::new(),
            meta: None,
            record: RefCell::default(),
            lacking: Default::default(),
            replies: OnceCell::new(),
            timeout,
        }
    }

    /// Lays edited texts over the node: later reads see these.
    pub fn overlay(&mut self, texts: BTreeMap<String, String>) {
        self.overlay.extend(texts);
    }

    /// Whether sockets may be opened.
    pub fn is_live(&self) -> bool {
        !matches!(self.door, Door::Root(_))
    }

    /// Whether programs may be run.
    pub fn runs_programs(&self) -> bool {
        self.door == Door::Here
    }

    /// The text of a regular file of at most [`LIMIT`] bytes.
    pub fn read(&self, path: &str) -> Known<Text> {
        let found = self.fetch(path);
        self.remember(path, &found, |text| {
            Some(text.raw.clone().map_or_else(|| Content::Text(text.text.clone()), Content::Raw))
        });
        found
    }

    fn fetch(&self, path: &str) -> Known<Text> {
        if let Some(text) = self.overlay.get(path) {
            return Known::Is(Text::of(text));
        }
        if let Some(recorded) = self.recorded(path) {
            return recorded;
        }
        match &self.tree {
            Tree::Memory(files) => match files.get(path) {
                Some(text) => Known::Is(Text::of(text)),
                None => self.missing(path),
            },
            Tree::Disk(disk) => match disk.read(path) {
                Ok(Met::Bytes(bytes, stat)) => {
                    self.saw(path, stat);
                    Known::Is(decode(bytes))
                }
                Ok(Met::Not(stat, met)) => {
                    self.saw(path, stat);
                    Known::Unknown(Why::Unreadable(path.to_owned(), met))
                }
                Err(e) => self.failed(path, e),
            },
        }
    }

    /// The stanzas of a package database (blocks between empty lines) that `wanted` accepts by
    /// their first line; the rest is neither kept nor captured.
    pub fn stanzas(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Known<Text> {
        let found = self.fetch(path).map(|whole| {
            let mut kept = String::new();
            for stanza in
                whole.text.split("\n\n").filter(|s| wanted(s.trim_start().lines().next().unwrap_or("")))
            {
                kept.push_str(stanza.trim_matches('\n'));
                kept.push_str("\n\n");
            }
            Text::of(&kept)
        });
        self.remember(path, &found, |text| Some(Content::Text(text.text.clone())));
        found
    }

    /// The entries of a directory, sorted by bytes.
    pub fn list(&self, path: &str) -> Known<Vec<Entry>> {
        let listed = self.meta.as_ref().and_then(|m| m.path(path)).and_then(|l| l.entries.clone());
        let found = match (listed.map(Known::Is).or_else(|| self.recorded(path)), &self.tree) {
            (Some(recorded), _) => recorded,
            (None, Tree::Disk(disk)) => match disk.list(path) {
                Ok(entries) => Known::Is(entries),
                Err(e) => self.failed(path, e),
            },
            (None, Tree::Memory(files)) => match below(files, path) {
                entries if entries.is_empty() => self.missing(path),
                entries => Known::Is(entries),
            },
        };
        // `.nodevet` belongs to the capture, not to the node
        let found = found
            .map(|entries| entries.into_iter().filter(|e| path != "/" || e.name != ".nodevet").collect());
        self.remember(path, &found, |_: &Vec<Entry>| None);
        if let Known::Is(entries) = &found {
            self.line(path, |line| line.entries = Some(entries.clone()));
        }
        found
    }

    /// What stat(2) says of a path, links followed. A capture's own record comes first.
    pub fn stat(&self, path: &str) -> Known<Stat> {
        let line = self.meta.as_ref().and_then(|m| m.path(path));
        let found = match (line.and_then(|l| l.stat), self.recorded(path), &self.tree) {
            (Some(stat), _, _) => Known::Is(stat),
            (None, Some(recorded), _) => recorded,
            (None, None, Tree::Disk(disk)) => match disk.stat(path) {
                Ok(stat) => Known::Is(stat),
                Err(e) => self.failed(path, e),
            },
            (None, None, Tree::Memory(files)) => match files.get(path) {
                Some(text) => Known::Is(plain(FileKind::File, text.len() as u64)),
                None if !below(files, path).is_empty() => Known::Is(plain(FileKind::Dir, 0)),
                None => self.missing(path),
            },
        };
        if let Known::Is(stat) = &found {
            self.saw(path, *stat);
        }
        self.remember(path, &found, |_| None);
        found
    }

    pub fn is_dir(&self, path: &str) -> Known<bool> {
        match self.stat(path) {
            Known::Is(stat) => Known::Is(stat.kind == FileKind::Dir),
            Known::Absent(_) => Known::Is(false),
            Known::Unknown(why) => Known::Unknown(why),
        }
    }

    /// Where a symbolic link points; absent when it is something else.
    pub fn link(&self, path: &str) -> Known<String> {
        let recorded = self.meta.as_ref().and_then(|m| m.path(path)).and_then(|l| l.target.clone());
        let found = match (recorded, self.recorded(path), &self.tree) {
            (Some(target), _, _) => Known::Is(target),
            (None, Some(recorded), _) => recorded,
            (None, None, Tree::Disk(disk)) => match disk.link(path) {
                Ok(target) => Known::Is(target),
                // something else is there: that is no word on the path itself
                Err(Errno::EINVAL) => return Known::ABSENT,
                Err(e) => self.failed(path, e),
            },
            (None, None, Tree::Memory(files)) if files.contains_key(path) => return Known::ABSENT,
            (None, None, Tree::Memory(_)) => self.missing(path),
        };
        self.remember(path, &found, |_| None);
        if let Known::Is(target) = &found {
            self.line(path, |line| line.target = Some(target.clone()));
        }
        found
    }

    /// Type of the file system below a path (statfs magic).
    pub fn magic(&self, path: &str) -> Known<i64> {
        let recorded = self.meta.as_ref().and_then(|m| m.path(path)).and_then(|l| l.magic);
        let found = match (recorded, &self.tree, self.is_live()) {
            (Some(magic), _, _) => Known::Is(magic),
            (None, Tree::Disk(disk), true) => match disk.magic(path) {
                Ok(magic) => Known::Is(magic),
                Err(e) => self.failed(path, e),
            },
            // the file system of a dead tree says nothing of the node
            _ => Known::Unknown(Why::NotRunning(format!("file system of {path}"))),
        };
        if let Known::Is(magic) = found {
            self.line(path, |line| line.magic = Some(magic));
        }
        found
    }

    /// The clock, in seconds since the epoch: this machine's, or a capture's own.
    pub fn now(&self) -> Known<i64> {
        if self.is_live() {
            return clock();
        }
        match self.fetch("/.nodevet/clock") {
            Known::Is(text) => match text.text.trim().parse() {
                Ok(seconds) => Known::Is(seconds),
                Err(_) => Known::Unknown(Why::Unreadable("/.nodevet/clock".into(), "not a number".into())),
            },
            Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) => Known::Unknown(why),
            _ => clock(),
        }
    }

    /// Tells of everything touched so far: what, and how it went (read, seen, absent, error).
    pub fn touched(&self, tell: &mut dyn FnMut(&str, &str) -> std::io::Result<()>) -> std::io::Result<()> {
        let record = self.record.borrow();
        for (what, (line, content)) in record.paths.iter() {
            tell(what, line.outcome(content.is_some()))?;
        }
        for (what, (line, answer)) in record.replies.iter() {
            tell(what, line.outcome(answer.is_some()))?;
        }
        Ok(())
    }

    /// Takes the record of everything touched so far.
    pub fn take_record(&self) -> Record {
        self.record.take()
    }

    /// A capture's own word on a path: not there, or not readable.
    fn recorded<T>(&self, path: &str) -> Option<Known<T>> {
        let line = self.meta.as_ref()?.path(path)?;
        match &line.error {
            Some(failure) => Some(Known::Unknown(failure.why())),
            None => line.absent.then_some(Known::ABSENT),
        }
    }

    /// Absent, unless the whole runtime tree is missing from a dead root.
    fn missing<T>(&self, path: &str) -> Known<T> {
        if self.is_live() {
            return Known::ABSENT;
        }
        for (tree, lacking) in RUNTIME_TREES.into_iter().zip(&self.lacking) {
            if path == tree || path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/')) {
                let lacks = || match &self.tree {
                    Tree::Disk(disk) => disk.list(tree).map_or(true, |entries| entries.is_empty()),
                    Tree::Memory(files) => below(files, tree).is_empty(),
                };
                if *lacking.get_or_init(lacks) {
                    return Known::Unknown(Why::NotRunning(format!("{tree} is not in this root")));
                }
            }
        }
        Known::ABSENT
    }

    fn failed<T>(&self, path: &str, errno: Errno) -> Known<T> {
        if path.contains('\u{fffd}') {
            return Known::Unknown(Why::Unreadable(path.to_owned(), "its name is not UTF-8".into()));
        }
        match errno {
            // a process that ended while its files were read (ESRCH) is as good as not there
            Errno::ENOENT | Errno::ENOTDIR | Errno::ESRCH | Errno::ENXIO => self.missing(path),
            Errno::EACCES | Errno::EPERM => Known::Unknown(Why::Denied(path.to_owned())),
            Errno::ELOOP => {
                Known::Unknown(Why::Unreadable(path.to_owned(), "symbolic links in a circle".into()))
            }
            disk::TOO_MANY => {
                let met = format!("has more than {} entries", disk::ENTRIES);
                Known::Unknown(Why::Unreadable(path.to_owned(), met))
            }
            other => Known::Unknown(Why::Unreadable(path.to_owned(), other.desc().to_lowercase())),
        }
    }

    fn saw(&self, path: &str, stat: Stat) {
        self.line(path, |line| line.stat = Some(stat));
    }

    fn line(&self, path: &str, change: impl FnOnce(&mut Line)) {
        let mut record = self.record.borrow_mut();
        let entry = record.paths.entry(path.to_owned()).or_default();
        entry.0.path = path.to_owned();
        change(&mut entry.0);
    }

    fn remember<T>(&self, path: &str, found: &Known<T>, content: impl FnOnce(&T) -> Option<Content>) {
        self.line(path, |line| match found {
            Known::Is(_) => line.absent = false,
            Known::Absent(_) => line.absent = line.stat.is_none(),
            Known::Unknown(why) => line.error = Failure::of(why),
        });
        if let Some(content) = found.is().and_then(content)
            && let Some(entry) = self.record.borrow_mut().paths.get_mut(path)
        {
            entry.1 = Some(content);
        }
    }
}

fn clock() -> Known<i64> {
    use nix::time::{ClockId, clock_gettime};
    match clock_gettime(ClockId::CLOCK_REALTIME) {
        Ok(time) => Known::Is(time.tv_sec()),
        Err(e) => Known::Unknown(Why::Unreadable("clock".into(), e.desc().into())),
    }
}

fn plain(kind: FileKind, size: u64) -> Stat {
    Stat { kind, mode: 0o644, uid: 0, gid: 0, size, mtime: 0, ctime: 0 }
}

/// Names directly below a directory of a tree in memory.
fn below(files: &BTreeMap<String, String>, dir: &str) -> Vec<Entry> {
    let prefix = format!("{}/", dir.trim_end_matches('/'));
    let mut entries: BTreeMap<&str, FileKind> = BTreeMap::new();
    for path in files.keys().filter_map(|p| p.strip_prefix(&prefix)) {
        let (name, kind) =
            path.split_once('/').map_or((path, FileKind::File), |(dir, _)| (dir, FileKind::Dir));
        entries.insert(name, kind);
    }
    entries.into_iter().map(|(name, kind)| Entry { name: name.to_owned(), kind }).collect()
}

/// Bytes to text; what is not UTF-8 is replaced and its first place kept.
fn decode(bytes: Vec<u8>) -> Text {
    match String::from_utf8(bytes) {
        Ok(text) => Text { text: text.into(), invalid_utf8: None, raw: None },
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            Text {
                text: String::from_utf8_lossy(e.as_bytes()).into(),
                invalid_utf8: Some(at),
                raw: Some(e.into_bytes().into()),
            }
        }
    }
}
