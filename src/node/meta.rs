//! The `.nodevet` folder inside a captured root: what a tree of files cannot hold. `meta.jsonl`
//! has a line for each path touched (type, mode, owner, size, times, link target, file system,
//! error, or that it was not there) and for each question asked of a bus or socket; `replies/`
//! holds the answers; `clock` the time of the capture.

use super::{Entry, FileKind, Stat};
use crate::fact::{Known, Why};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of `meta.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// A node path; empty for a reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// A question: `dbus:UNIT`, `cri:METHOD`, `binary:PATH`; empty for a path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reply: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stat: Option<Stat>,
    /// Entries of a directory that was listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<Entry>>,
    /// Target of a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Type of its file system, as in statfs(2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magic: Option<i64>,
    /// Looked for and not there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Line {
    /// How looking went, in one word.
    pub(super) fn outcome(&self, has_text: bool) -> &'static str {
        match self {
            Line { error: Some(_), .. } => "unknown",
            Line { absent: true, .. } => "absent",
            Line { entries: Some(_), .. } => "listed",
            _ if has_text => "read",
            _ => "seen",
        }
    }
}

/// A [`Why`] that survives a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    Denied(String),
    NotRunning(String),
    Timeout(String),
    Unreadable(String, String),
    Strange(String),
}

impl Failure {
    /// `None` for reasons that only resolving or parsing gives.
    pub fn of(why: &Why) -> Option<Failure> {
        Some(match why {
            Why::Denied(what) => Failure::Denied(what.clone()),
            Why::NotRunning(what) => Failure::NotRunning(what.clone()),
            Why::Timeout(what) => Failure::Timeout(what.clone()),
            Why::Unreadable(path, met) => Failure::Unreadable(path.clone(), met.clone()),
            Why::Strange(text) => Failure::Strange(text.clone()),
            Why::Malformed(..) | Why::NeedsVersion { .. } | Why::Needs(..) | Why::Unread => return None,
        })
    }

    pub fn why(&self) -> Why {
        match self.clone() {
            Failure::Denied(what) => Why::Denied(what),
            Failure::NotRunning(what) => Why::NotRunning(what),
            Failure::Timeout(what) => Why::Timeout(what),
            Failure::Unreadable(path, met) => Why::Unreadable(path, met),
            Failure::Strange(text) => Why::Strange(text),
        }
    }
}

/// `meta.jsonl`, read.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    paths: BTreeMap<String, Line>,
    replies: BTreeMap<String, Line>,
}

impl Meta {
    /// Reads the lines; a line that is not understood is named (number, message) and left out.
    pub fn parse(text: &str) -> (Meta, Vec<(usize, String)>) {
        let mut meta = Meta::default();
        let mut bad = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            match serde_json::from_str::<Line>(line) {
                Ok(line) if line.reply.is_empty() => {
                    meta.paths.insert(line.path.clone(), line);
                }
                Ok(line) => {
                    meta.replies.insert(line.reply.clone(), line);
                }
                Err(e) => bad.push((i + 1, e.to_string())),
            }
        }
        (meta, bad)
    }

    pub fn path(&self, path: &str) -> Option<&Line> {
        self.paths.get(path)
    }

    /// What is recorded of a question beside its answer: that there was none.
    pub fn reply<T>(&self, question: &str) -> Option<Known<T>> {
        let line = self.replies.get(question)?;
        match &line.error {
            Some(failure) => Some(Known::Unknown(failure.why())),
            None if line.absent => Some(Known::ABSENT),
            None => None,
        }
    }
}

/// The folder of the replies in a capture.
pub const REPLIES: &str = "/.nodevet/replies";

/// Where an answer is kept below the root.
pub fn reply_path(question: &str) -> String {
    let (kind, name) = question.split_once(':').unwrap_or(("other", question));
    // a slash or a leading dot would lead out of the folder
    let plain = |part: &str| part.trim_start_matches('/').replace('/', "%2F").replace("..", "%2E%2E");
    format!("{REPLIES}/{}/{}", plain(kind), plain(name))
}

impl FileKind {
    pub fn name(self) -> &'static str {
        match self {
            FileKind::File => "a file",
            FileKind::Dir => "a directory",
            FileKind::Link => "a symbolic link",
            FileKind::Fifo => "a FIFO",
            FileKind::Socket => "a socket",
            FileKind::Device => "a device",
            FileKind::Other => "something else",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_survives_the_round_trip() {
        let line =
            Line { path: "/etc/x".into(), error: Some(Failure::Denied("/etc/x".into())), ..Line::default() };
        let text = serde_json::to_string(&line).unwrap();
        let (meta, bad) =
            Meta::parse(&format!("{text}\nnot json\n\n{{\"reply\":\"cri:Version\",\"absent\":true}}"));
        assert_eq!(meta.path("/etc/x"), Some(&line));
        assert_eq!(bad.len(), 1);
        assert_eq!(bad[0].0, 2);
        assert_eq!(meta.reply::<()>("cri:Version"), Some(Known::ABSENT));
    }

    #[test]
    fn no_reply_leads_out_of_the_folder() {
        assert_eq!(reply_path("binary:/usr/bin/../x"), "/.nodevet/replies/binary/usr%2Fbin%2F%2E%2E%2Fx");
    }
}
