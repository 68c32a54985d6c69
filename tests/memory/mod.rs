//! A node of bytes in memory, as containerd's model reads it.

use nodevet::fact::{Known, Why};
use nodevet::model::{Captured, Reader};
use nodevet::text::{Kind, SourceId, Sources};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// By path; `None`: it may not be read.
    pub(crate) files: BTreeMap<String, Option<Vec<u8>>>,
    /// Symbolic links: path and target.
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) sources: Sources,
}

impl Memory {
    /// Where a path leads; the last part is followed too.
    fn follow(&self, path: &str) -> String {
        let mut path = path.trim_end_matches('/').to_owned();
        for _ in 0..40 {
            let begins = |link: &&String| {
                path.strip_prefix(link.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('/'))
            };
            let Some((link, target)) = self.links.iter().find(|(link, _)| begins(link)) else { break };
            let mut parts: Vec<&str> = link.rsplit_once('/').map_or("", |(dir, _)| dir).split('/').collect();
            for part in target.split('/') {
                if part == ".." {
                    parts.pop();
                } else {
                    parts.push(part);
                }
            }
            path = format!("{}{}", parts.join("/"), &path[link.len()..]);
        }
        path
    }
}

impl Reader for Memory {
    fn file(&mut self, path: &str) -> Known<Captured> {
        let bytes = match self.files.get(&self.follow(path)) {
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
        let prefix = format!("{}/", self.follow(dir));
        let all = self.files.keys().chain(self.links.keys());
        let below = all.filter_map(|p| p.strip_prefix(&prefix));
        let mut names: Vec<String> =
            below.map(|p| p.split('/').next().unwrap_or_default().to_owned()).collect();
        names.sort();
        names.dedup();
        if names.is_empty() { Known::ABSENT } else { Known::Is(names) }
    }

    fn is_dir(&mut self, path: &str) -> Known<bool> {
        if self.list(path).is().is_some() {
            return Known::Is(true);
        }
        if self.files.contains_key(&self.follow(path)) { Known::Is(false) } else { Known::ABSENT }
    }

    fn link(&mut self, path: &str) -> Known<String> {
        self.links.get(path).map_or(Known::ABSENT, |target| Known::Is(target.clone()))
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}
