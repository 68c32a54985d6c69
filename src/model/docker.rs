//! dockerd: which cgroup driver it runs with, and whether it starts at all, from daemon.json and
//! its flags, in three generations. Measured on 20.10.5, 20.10.24, 26.1.5 and 28.5.2; sources
//! moby daemon/config/config.go and daemon/daemon_unix.go.

mod driver;
mod file;
mod flags;
mod options;
mod settings;

use super::unit::Argument;
use super::{Captured, Reader};
use crate::fact::{Known, Layer, Origin, Row, Why};
use crate::text::{Place, Span, line_span};
use crate::version::Version;
pub use driver::Driver;
use file::Entries;
use options::Given;

/// Where it reads without being told.
pub const DEFAULT_FILE: &str = "/etc/docker/daemon.json";

/// Versions that read the same texts alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Up to 20.10.
    V20,
    /// 23.0 to 27.x
    V23,
    /// 28.0 and later: exec-opts are checked, and the last one counts.
    V28,
}

impl Generation {
    pub const ALL: [Generation; 3] = [Generation::V20, Generation::V23, Generation::V28];

    pub fn name(self) -> &'static str {
        match self {
            Generation::V20 => "docker 20.10",
            Generation::V23 => "docker 23-27",
            Generation::V28 => "docker 28",
        }
    }
}

/// The generations that a version may belong to.
pub fn possible(version: Option<&Version>) -> Vec<Generation> {
    let since = |point| version.and_then(|v| v.since(point));
    let fits = |generation: &Generation| match generation {
        Generation::V20 => since("23.0") != Some(true),
        Generation::V23 => since("23.0") != Some(false) && since("28.0") != Some(true),
        Generation::V28 => since("28.0") != Some(false),
    };
    Generation::ALL.into_iter().filter(fits).collect()
}

/// What decides besides the file.
pub struct Input<'a> {
    /// With the program's own name.
    pub arguments: &'a [Argument],
    /// /run/systemd/system is a directory.
    pub systemd_running: Known<bool>,
    /// v1, hybrid, v2
    pub cgroup_mode: Known<String>,
}

/// What stops the daemon, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fatal {
    pub place: Place,
    pub message: String,
}

/// What a generation makes of its texts.
pub struct Effective {
    /// The file that it reads; none where it reads none.
    pub file: Option<(String, Origin)>,
    /// Unknown when what decides could not be read.
    pub boots: Known<Result<(), Fatal>>,
    /// Something of what decides: the file's first line, else the first argument, else a default.
    pub near: Place,
    /// Absent when it does not start.
    pub driver: Known<Driver>,
    /// Everything that looks like a driver setting, a row each.
    pub settings: Vec<Row>,
}

/// Reads what dockerd would read.
pub fn effective(generation: Generation, input: &Input, reader: &mut dyn Reader) -> Effective {
    let default = reader.default("default:docker", driver::DEFAULTS);
    let near = input.arguments.first().map(|argument| argument.place_from(0));
    let near = near.unwrap_or(Place { source: default, span: line_span(driver::DEFAULTS, 1) });
    let mut effective =
        Effective { file: None, boots: Known::Is(Ok(())), near, driver: Known::ABSENT, settings: Vec::new() };
    let given = match options::parse(input.arguments) {
        Ok(given) => given,
        Err((place, message)) => return effective.stopped(Fatal { place, message }),
    };
    let path = path(&given, default);
    let captured = match read(&path, reader) {
        Known::Is(Ok(captured)) => captured,
        Known::Is(Err(fatal)) => {
            effective.file = path;
            return effective.stopped(fatal);
        }
        Known::Absent(_) => None,
        Known::Unknown(why) => {
            (effective.boots, effective.driver) = (Known::Unknown(why.clone()), Known::Unknown(why));
            effective.file = path;
            return effective;
        }
    };
    if let Some(captured) = &captured {
        effective.near = Place { source: captured.id, span: line_span(&captured.text, 1) };
    }
    let decoded = captured.as_ref().map(|captured| file::decode(captured, generation));
    let entries = match decoded {
        None => Entries::new(),
        Some(Ok(Known::Is(entries))) => entries,
        Some(Ok(Known::Absent(_))) => Entries::new(),
        Some(Ok(Known::Unknown(why))) => {
            (effective.boots, effective.driver) = (Known::Unknown(why.clone()), Known::Unknown(why));
            effective.file = path;
            return effective;
        }
        Some(Err(fatal)) => {
            effective.file = path;
            return effective.stopped(fatal);
        }
    };
    effective.file = path.filter(|_| captured.is_some());
    let said = Said { captured: captured.as_ref(), entries: &entries, given: &given };
    effective.settings = settings::rows(&said, generation);
    let checked = captured.as_ref().map_or(Ok(()), |captured| file::check(captured, &entries, &given));
    match checked.and_then(|()| driver::decide(&said, generation, input, default, effective.near)) {
        Ok(driver) => {
            if let Known::Unknown(why) = &driver {
                // an invalid parent would stop it under one of the drivers
                let parent = said.text("cgroup-parent").is_some();
                effective.boots = if parent { Known::Unknown(why.clone()) } else { effective.boots };
            }
            effective.driver = driver;
            effective
        }
        Err(fatal) => effective.stopped(fatal),
    }
}

impl Effective {
    fn stopped(mut self, fatal: Fatal) -> Effective {
        self.boots = Known::Is(Err(fatal));
        self.driver = Known::Absent("the daemon does not start".into());
        self
    }
}

/// The file by flag or default, and where it is named; none where the flag names no file.
fn path(given: &[Given], default: crate::text::SourceId) -> Option<(String, Origin)> {
    match given.iter().rev().find(|g| g.name == "config-file") {
        Some(flag) if flag.value.is_empty() => None,
        Some(flag) => Some((flag.value.clone(), Origin::new(Layer::Flag, flag.place))),
        None => {
            let at = driver::DEFAULTS.find(DEFAULT_FILE).unwrap_or(0);
            let span = Span::new(at, at + DEFAULT_FILE.len());
            let origin = Origin::new(Layer::Default, Place { source: default, span });
            Some((DEFAULT_FILE.to_owned(), origin))
        }
    }
}

fn read(path: &Option<(String, Origin)>, reader: &mut dyn Reader) -> Known<Result<Option<Captured>, Fatal>> {
    let Some((path, origin)) = path else { return Known::ABSENT };
    let fatal = |message: String| Known::Is(Err(Fatal { place: origin.place, message }));
    if reader.is_dir(path) == Known::Is(true) {
        return fatal(format!("{path} is a directory"));
    }
    match reader.file(path) {
        Known::Is(captured) => Known::Is(Ok(Some(captured))),
        Known::Absent(_) if origin.layer == Layer::Flag => fatal(format!("{path} is not there")),
        Known::Absent(note) => Known::Absent(note),
        Known::Unknown(why) => Known::Unknown(why),
    }
}

/// What file and flags say.
struct Said<'a> {
    captured: Option<&'a Captured>,
    entries: &'a Entries,
    given: &'a [Given],
}

impl Said<'_> {
    /// A setting with one value; file and flag never both say it.
    fn text(&self, name: &str) -> Option<(String, Place)> {
        let flag = self.given.iter().rev().find(|g| g.name == name).map(|g| (g.value.clone(), g.place));
        flag.or_else(|| {
            let (text, span) = file::text(self.entries, name)?;
            Some((text.to_owned(), Place { source: self.captured?.id, span }))
        })
    }

    fn rootless(&self) -> bool {
        self.given.iter().any(|g| g.name == "rootless" && g.value != "false")
    }
}

/// Unknown for want of another fact.
fn needs<T>(fact: &'static str, why: &Why) -> Known<T> {
    Known::Unknown(Why::Needs(fact, Box::new(why.clone())))
}
