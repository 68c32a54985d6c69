//! A configuration from a text, for the tests: loaded as a start does it, defaults and all.

use super::super::effective::Effective;
use super::super::start::Start;
use super::Host;
use crate::fact::{Known, Why};
use crate::model::{Captured, Reader};
use crate::text::{Kind, SourceId, Sources};

struct OneFile {
    text: String,
    sources: Sources,
}

impl Reader for OneFile {
    fn file(&mut self, path: &str) -> Known<Captured> {
        let id = self.sources.add(path, Kind::File, self.text.as_str());
        Known::Is(Captured { id, text: self.text.as_str().into(), invalid_utf8: None })
    }

    fn list(&mut self, _: &str) -> Known<Vec<String>> {
        Known::ABSENT
    }

    fn is_dir(&mut self, _: &str) -> Known<bool> {
        Known::Is(false)
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}

/// What a version makes of the fields of a file.
pub(in crate::model::kubelet) fn config(fields: &str, minor: u32) -> Effective {
    let text = format!("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{fields}\n");
    let mut reader = OneFile { text, sources: Sources::default() };
    let start = Start::guessed(&mut reader, "/config.yaml", None);
    let unread = || Known::Unknown(Why::Unread);
    let outcome = start.outcome(&mut reader, &[minor], &Host { cgroup_v2: unread(), swap: unread() });
    match outcome.config {
        Known::Is(config) => config,
        other => panic!("{fields} with 1.{minor}: {other:?}"),
    }
}
