//! How each daemon turns its files into what it runs with: pure. Texts come in through a
//! [`Reader`], statements and problems go out. Upstream knowledge lives here and nowhere else.

use crate::fact::{Known, Why};
use crate::text::SourceId;
use std::sync::Arc;

pub mod containerd;
pub mod crio;
pub mod docker;
pub mod json;
pub mod kubelet;
pub mod static_pods;
pub mod swap;
pub mod sysctl;
pub mod toml;
pub mod unit;
pub mod yaml;

/// A file as a model gets it.
#[derive(Clone, Debug)]
pub struct Captured {
    pub id: SourceId,
    pub text: Arc<str>,
    /// Where the bytes were not UTF-8: offset, in `text`, of the first replacement character.
    pub invalid_utf8: Option<usize>,
}

/// What a model may ask of the node. Paths are absolute node paths.
pub trait Reader {
    fn file(&mut self, path: &str) -> Known<Captured>;
    /// Names of the entries, sorted by bytes.
    fn list(&mut self, dir: &str) -> Known<Vec<String>>;
    /// Whether a directory may have an entry of this name; false only where that is known, or where
    /// the tree is one that a dead root lacks.
    fn may_have(&mut self, dir: &str, name: &str) -> bool {
        match self.list(dir) {
            Known::Is(names) => names.iter().any(|n| n == name),
            Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => false,
            Known::Unknown(_) => true,
        }
    }
    /// Whether something is there, and a directory.
    fn is_dir(&mut self, path: &str) -> Known<bool>;
    /// Where a symbolic link points; absent when it is something else.
    fn link(&mut self, path: &str) -> Known<String> {
        let _ = path;
        Known::ABSENT
    }
    /// A documented default, as a text of its own (`default:containerd-2.1`).
    fn default(&mut self, name: &str, text: &'static str) -> SourceId;
}
