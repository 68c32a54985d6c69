//! A node of bytes in memory, as containerd's model reads it.

use nodevet::fact::{Known, Why};
use nodevet::model::{Captured, Reader};
use nodevet::text::{Kind, SourceId, Sources};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// By path; `None`: it may not be read.
    pub(crate) files: BTreeMap<String, Option<Vec<u8>>>,
    pub(crate) sources: Sources,
}

impl Reader for Memory {
    fn file(&mut self, path: &str) -> Known<Captured> {
        let bytes = match self.files.get(path) {
            None => return Known::ABSENT,
            Some(None) => return Known::Unknown(Why::Denied(path.into())),
            Some(Some(bytes)) => bytes,
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let invalid_utf8 = std::str::from_utf8(bytes).err().map(|e| e.valid_up_to());
        let id = self.sources.add(path, Kind::File, text.as_str());
        Known::Is(Captured { id, text: text.into(), invalid_utf8 })
    }

    fn list(&mut self, dir: &str) -> Known<Vec<String>> {
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        let below = self.files.keys().filter_map(|p| p.strip_prefix(&prefix));
        let mut names: Vec<String> =
            below.map(|p| p.split('/').next().unwrap_or_default().to_owned()).collect();
        names.dedup();
        if names.is_empty() { Known::ABSENT } else { Known::Is(names) }
    }

    fn is_dir(&mut self, path: &str) -> Known<bool> {
        Known::Is(self.list(path).is().is_some())
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}
