//! Questions put to a running node: to systemd over the bus, to the container runtime over CRI.
//! Both are asked at the same time, each with the deadline of the node; a capture answers for a
//! dead root, and no socket is opened there.

use super::{FileKind, Node, Stat, bus, cri, meta};
use crate::fact::{Known, Why};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::UnixStream;

/// What to ask.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Units whose properties are wanted.
    pub units: Vec<String>,
    /// Sockets where a runtime may listen, the likeliest first (node paths).
    pub cri: Vec<String>,
}

/// Answers by question: `dbus:manager`, `dbus:UNIT`, `cri:socket`, `cri:Version`, `cri:Status`,
/// `cri:RuntimeConfig`.
#[derive(Clone, Debug, Default)]
pub struct Replies(BTreeMap<String, Known<Arc<str>>>);

impl Replies {
    /// The answer; unknown when the question was not asked.
    pub fn get(&self, question: &str) -> Known<Arc<str>> {
        self.0.get(question).cloned().unwrap_or(Known::Unknown(Why::Unread))
    }
}

/// Answers while they come in: what is there when a deadline passes is kept.
pub(super) type Found = RefCell<BTreeMap<String, Known<Arc<str>>>>;

/// A socket of the node, as this process connects to it. The descriptor keeps the path alive.
pub(super) struct Socket {
    pub(super) name: String,
    path: PathBuf,
    _held: OwnedFd,
}

/// The system bus.
pub(crate) const BUS: &str = "/run/dbus/system_bus_socket";
pub(super) const CRI: [&str; 4] = ["cri:socket", "cri:Version", "cri:Status", "cri:RuntimeConfig"];

impl Node {
    /// Asks everything at once. Takes one deadline at most, however many sockets stay silent.
    pub fn probe(&self, ask: &Ask) -> Replies {
        let on_bus: Vec<String> = std::iter::once("dbus:manager".to_owned())
            .chain(ask.units.iter().map(|unit| format!("dbus:{unit}")))
            .collect();
        let all = on_bus.iter().cloned().chain(CRI.map(str::to_owned));
        if !self.is_live() {
            return Replies(all.map(|q| (q.clone(), self.replay(&q))).collect());
        }
        let found = Found::default();
        let bus = self.bus_socket();
        let sockets: Vec<Result<Socket, Why>> = ask.cri.iter().map(|path| self.socket(path)).collect();
        if bus.is_ok() || sockets.iter().any(Result::is_ok) {
            self.converse(bus.as_ref(), &ask.units, &sockets, &found);
        }
        let no_bus = match &bus {
            Err(why) => why.clone(),
            Ok(_) => Why::Timeout(BUS.to_owned()),
        };
        let mut answers = found.into_inner();
        for question in on_bus {
            answers.entry(question).or_insert_with(|| Known::Unknown(no_bus.clone()));
        }
        for question in CRI {
            answers
                .entry(question.to_owned())
                .or_insert_with(|| Known::Unknown(cri::verdict(&ask.cri, &sockets)));
        }
        for (question, answer) in &answers {
            self.remember_reply(question, answer);
        }
        Replies(answers)
    }

    /// Processes whose name (`comm`) is wanted, by id. The others leave no trace in the record.
    pub fn processes(&self, wanted: impl Fn(&str) -> bool) -> Known<Vec<(u32, String)>> {
        let entries = match &self.tree {
            super::Tree::Disk(disk) => match disk.list("/proc") {
                Ok(entries) => entries,
                Err(e) => return self.failed("/proc", e),
            },
            super::Tree::Memory(files) => super::below(files, "/proc"),
        };
        if entries.is_empty() {
            return self.missing("/proc");
        }
        let mut ids: Vec<u32> = entries.iter().filter_map(|e| e.name.parse().ok()).collect();
        ids.sort_unstable();
        // with hidepid= others see their own processes only
        if self.is_live() && !ids.is_empty() && !ids.contains(&1) {
            return Known::Unknown(Why::Denied("/proc".to_owned()));
        }
        let mut named = Vec::new();
        for id in ids {
            let path = format!("/proc/{id}/comm");
            let name = match (self.recorded::<String>(&path), &self.tree) {
                (Some(known), _) => known,
                (None, super::Tree::Disk(disk)) => match disk.line(&path) {
                    Ok(name) => name.map_or(Known::ABSENT, Known::Is),
                    Err(e) => self.failed(&path, e),
                },
                (None, super::Tree::Memory(files)) => {
                    files.get(&path).map_or(Known::ABSENT, |text| Known::Is(text.trim_end().to_owned()))
                }
            };
            match name {
                Known::Is(name) if wanted(&name) => {}
                Known::Is(_) | Known::Absent(_) => continue,
                Known::Unknown(why) => {
                    // any daemon may hide behind it
                    self.remember(&path, &Known::<()>::Unknown(why.clone()), |()| None);
                    return Known::Unknown(why);
                }
            }
            match self.read(&path) {
                Known::Is(text) => named.push((id, text.text.trim_end().to_owned())),
                Known::Absent(_) => {}
                Known::Unknown(why) => return Known::Unknown(why),
            }
        }
        Known::Is(named)
    }

    fn converse(
        &self,
        bus: Result<&Socket, &Why>,
        units: &[String],
        sockets: &[Result<Socket, Why>],
        found: &Found,
    ) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
            Ok(runtime) => runtime,
            Err(_) => return,
        };
        runtime.block_on(async {
            let systemd = async {
                if let Ok(socket) = bus {
                    // what is unanswered by then is a timeout
                    let _ = tokio::time::timeout(self.timeout, bus::ask(socket, units, found)).await;
                }
            };
            tokio::join!(systemd, cri::ask(sockets, self.timeout, found));
        });
        // nothing is waited for
        runtime.shutdown_background();
    }

    /// The system bus; only where systemd runs, since a call would otherwise try to start it.
    fn bus_socket(&self) -> Result<Socket, Why> {
        match self.is_dir("/run/systemd/system") {
            Known::Is(true) => self.socket(BUS),
            Known::Unknown(why) => Err(why),
            _ => Err(Why::NotRunning("systemd".to_owned())),
        }
    }

    fn socket(&self, name: &str) -> Result<Socket, Why> {
        match self.stat(name) {
            Known::Is(Stat { kind: FileKind::Socket, .. }) => {}
            Known::Is(stat) => {
                let met = format!("is {}, not a socket", stat.kind.name());
                return Err(Why::Unreadable(name.to_owned(), met));
            }
            Known::Absent(_) => return Err(Why::NotRunning(name.to_owned())),
            Known::Unknown(why) => return Err(why),
        }
        let super::Tree::Disk(disk) = &self.tree else { return Err(Why::NotRunning(name.to_owned())) };
        match disk.connectable(name) {
            Ok((held, path)) => Ok(Socket { name: name.to_owned(), path, _held: held }),
            Err(_) => Err(Why::NotRunning(name.to_owned())),
        }
    }

    /// What a capture holds of a question.
    pub(super) fn replay(&self, question: &str) -> Known<Arc<str>> {
        let kept = self.meta.as_ref().and_then(|m| m.reply(question));
        let answer = kept.unwrap_or_else(|| {
            let path = meta::reply_path(question);
            let text = if self.holds_replies() { self.fetch(&path) } else { Known::ABSENT };
            // the folder belongs to the capture, not to the node
            self.record.borrow_mut().paths.remove(&path);
            match text {
                Known::Is(text) => Known::Is(text.text),
                Known::Absent(_) => {
                    Known::Unknown(Why::NotRunning(format!("{question} is not in this root")))
                }
                Known::Unknown(why) => Known::Unknown(why),
            }
        });
        self.remember_reply(question, &answer);
        answer
    }

    /// Whether the tree is a capture that holds replies; looked at once.
    fn holds_replies(&self) -> bool {
        *self.replies.get_or_init(|| {
            let there = !matches!(self.stat(meta::REPLIES), Known::Absent(_));
            self.record.borrow_mut().paths.remove(meta::REPLIES);
            there
        })
    }

    pub(super) fn remember_reply(&self, question: &str, answer: &Known<Arc<str>>) {
        let mut line = meta::Line { reply: question.to_owned(), ..meta::Line::default() };
        match answer {
            Known::Is(_) => {}
            Known::Absent(_) => line.absent = true,
            Known::Unknown(why) => line.error = meta::Failure::of(why),
        }
        let entry = (line, answer.is().cloned());
        self.record.borrow_mut().replies.insert(question.to_owned(), entry);
    }
}

impl Socket {
    pub(super) async fn connect(&self) -> Result<UnixStream, Why> {
        UnixStream::connect(&self.path).await.map_err(|e| match e.kind() {
            ErrorKind::PermissionDenied => Why::Denied(self.name.clone()),
            // a full backlog: somebody listens and does not accept
            ErrorKind::WouldBlock => Why::Timeout(self.name.clone()),
            ErrorKind::ConnectionRefused => {
                Why::NotRunning(format!("{} is there, but nobody listens", self.name))
            }
            _ => Why::NotRunning(self.name.clone()),
        })
    }
}
