//! A node in memory, and the facts of one generation in plain words, for the tests.

use super::{Input, Session, effective, generation};
use crate::fact::{Fact, Known, Statements, What, Why};
use crate::model::{Captured, Reader};
use crate::resolve::{Snapshot, When};
use crate::text::{Kind, SourceId, Sources};
use crate::version::Version;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Fake {
    files: BTreeMap<String, String>,
    denied: Vec<String>,
    pub(super) sources: Sources,
    given: bool,
    systemd: Option<bool>,
    mode: Option<&'static str>,
}

pub(super) const MAIN: &str = "/etc/containerd/config.toml";

impl Fake {
    pub(super) fn main(text: &str) -> Fake {
        Fake { systemd: Some(false), mode: Some("v2"), ..Default::default() }.and(MAIN, text)
    }

    pub(super) fn empty() -> Fake {
        Fake { systemd: Some(false), mode: Some("v2"), ..Default::default() }
    }

    pub(super) fn and(mut self, path: &str, text: &str) -> Fake {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(super) fn given(mut self) -> Fake {
        self.given = true;
        self
    }

    pub(super) fn denied(mut self, path: &str) -> Fake {
        self.denied.push(path.to_owned());
        self
    }

    pub(super) fn systemd(mut self, running: Option<bool>) -> Fake {
        self.systemd = running;
        self
    }

    pub(super) fn mode(mut self, mode: Option<&'static str>) -> Fake {
        self.mode = mode;
        self
    }

    pub(super) fn facts(&mut self, version: &str) -> Told {
        let parsed = Version::parse(version).unwrap();
        let [generation] = generation::possible(Some(&parsed))[..] else { panic!("{version}") };
        let input = Input {
            main: MAIN,
            main_given: self.given,
            systemd_running: self.systemd.map_or(Known::Unknown(Why::Unread), Known::Is),
            cgroup_mode: self.mode.map_or(Known::Unknown(Why::Unread), |m| Known::Is(m.to_owned())),
        };
        let facts = effective(generation, &input, self, &mut Session::default()).facts();
        Told { snapshot: Snapshot::unread().with(&facts, When::NextStart), facts, generation }
    }

    /// One fact in one version.
    pub(super) fn ask(&mut self, version: &str, fact: &str) -> String {
        self.facts(version).one(fact)
    }
}

pub(super) struct Told {
    pub(super) facts: Vec<Fact>,
    pub(super) snapshot: Snapshot,
    pub(super) generation: &'static generation::Generation,
}

impl Told {
    /// A fact as text: `-` absent, `?` unknown.
    pub(super) fn one(&self, fact: &str) -> String {
        let name = format!("containerd.{fact}");
        match &self.snapshot.named(&name).value {
            Known::Is(value) => value.to_string(),
            Known::Absent(_) => "-".into(),
            Known::Unknown(_) => "?".into(),
        }
    }

    /// A cell of the row whose first column has this value.
    pub(super) fn cell(&self, table: &str, row: &str, column: &str) -> String {
        let rows = match self.facts.iter().find(|f| f.name == format!("containerd.{table}")).map(|f| &f.what)
        {
            Some(What::Rows(Known::Is(rows))) => rows,
            _ => return "no table".into(),
        };
        let text = |said: &Statements| match said {
            Known::Is(said) => said.last().map(|s| s.value.to_string()).unwrap_or_default(),
            Known::Absent(_) => "-".into(),
            Known::Unknown(_) => "?".into(),
        };
        let Some(found) = rows.iter().find(|r| text(&r[0].1) == row) else { return "no row".into() };
        found.iter().find(|(c, _)| *c == column).map_or_else(|| "-".into(), |(_, said)| text(said))
    }

    pub(super) fn handler(&self, name: &str, column: &str) -> String {
        self.cell("runtimes", name, column)
    }
}

impl Reader for Fake {
    fn file(&mut self, path: &str) -> Known<Captured> {
        if self.denied.iter().any(|d| d == path) {
            return Known::Unknown(Why::Denied(path.to_owned()));
        }
        if self.is_dir(path) == Known::Is(true) {
            return Known::Unknown(Why::Unreadable(path.to_owned(), "a directory".into()));
        }
        let Some(text) = self.files.get(path) else { return Known::ABSENT };
        let id = self.sources.add(path, Kind::File, text.as_str());
        Known::Is(Captured { id, text: text.as_str().into(), invalid_utf8: None })
    }

    fn list(&mut self, dir: &str) -> Known<Vec<String>> {
        if self.denied.iter().any(|d| d == dir) {
            return Known::Unknown(Why::Denied(dir.to_owned()));
        }
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        let below = self.files.keys().filter_map(|p| p.strip_prefix(&prefix));
        let mut names: Vec<String> =
            below.map(|p| p.split('/').next().unwrap_or_default().to_owned()).collect();
        names.dedup();
        if names.is_empty() { Known::ABSENT } else { Known::Is(names) }
    }

    fn is_dir(&mut self, path: &str) -> Known<bool> {
        let prefix = format!("{path}/");
        Known::Is(self.files.keys().any(|p| p.starts_with(&prefix)))
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}

/// Sections of a CRI configuration, to be put together.
pub(super) fn runc(id: &str, on: bool) -> String {
    format!(
        "[plugins.'{id}'.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n\
         [plugins.'{id}'.containerd.runtimes.runc.options]\nSystemdCgroup = {on}\n"
    )
}
