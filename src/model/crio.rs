//! CRI-O: which cgroup manager it runs with, and whether it starts, from crio.conf, the directory
//! crio.conf.d, environment and flags. Measured on 1.18.6, 1.30.14, 1.34.11 and 1.36.3; sources
//! cri-o pkg/config/config.go and internal/criocli/criocli.go of the tags from 1.17 to 1.36.

mod files;
mod read;
mod settings;
mod validate;

use super::Reader;
use super::unit::{Argument, Environment, flag};
use crate::fact::{Known, Layer, Origin, Row};
use crate::text::{Place, SourceId, Span};
use crate::version::Version;
use read::Merged;

/// Where it reads without being told.
pub const MAIN: &str = "/etc/crio/crio.conf";
pub const DIR: &str = "/etc/crio/crio.conf.d";

/// The text of `default:crio`.
const DEFAULTS: &str = "\
config=/etc/crio/crio.conf
config-dir=/etc/crio/crio.conf.d
cgroup_manager=systemd
conmon_cgroup=system.slice
default_runtime=runc
# up to 1.17
cgroup_manager=cgroupfs
# from 1.31
default_runtime=crun
";

/// Versions that read the same texts alike; each from the one named to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    V116,
    /// The default manager is systemd.
    V118,
    /// The manager is checked.
    V119,
    /// Another TOML library.
    V122,
    /// Monitors have a cgroup for each runtime.
    V124,
    /// The built-in runtime stays.
    V125,
    /// The built-in runtime is crun.
    V131,
    /// cgroupfs clears the default monitor cgroup.
    V133,
}

const GENERATIONS: [(Generation, &str, &str); 8] = [
    (Generation::V116, "1.0", "crio before 1.18"),
    (Generation::V118, "1.18", "crio 1.18"),
    (Generation::V119, "1.19", "crio 1.19-1.21"),
    (Generation::V122, "1.22", "crio 1.22-1.23"),
    (Generation::V124, "1.24", "crio 1.24"),
    (Generation::V125, "1.25", "crio 1.25-1.30"),
    (Generation::V131, "1.31", "crio 1.31-1.32"),
    (Generation::V133, "1.33", "crio 1.33"),
];

impl Generation {
    pub fn name(self) -> &'static str {
        GENERATIONS.iter().find(|(g, ..)| *g == self).map_or("", |(.., name)| name)
    }

    /// The runtime that is there without a table.
    fn built_in(self) -> &'static str {
        if self >= Generation::V131 { "crun" } else { "runc" }
    }

    fn manager(self) -> &'static str {
        if self >= Generation::V118 { "systemd" } else { "cgroupfs" }
    }

    /// conmon_cgroup where nothing says it.
    fn conmon(self) -> &'static str {
        if self >= Generation::V124 { "" } else { "system.slice" }
    }
}

/// The generations that a version may belong to.
pub fn possible(version: Option<&Version>) -> Vec<Generation> {
    let since = |point: &str| version.and_then(|v| v.since(point));
    let fits = |(at, (_, from, _)): &(usize, &(Generation, &str, &str))| {
        let before_next = GENERATIONS.get(at + 1).is_none_or(|(_, next, _)| since(next) != Some(true));
        since(from) != Some(false) && before_next
    };
    GENERATIONS.iter().enumerate().filter(fits).map(|(_, (generation, ..))| *generation).collect()
}

/// What decides besides the files.
pub struct Input<'a> {
    /// With the program's own name.
    pub arguments: &'a [Argument],
    pub environment: &'a Environment,
}

/// What stops the daemon, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fatal {
    pub place: Place,
    pub message: String,
}

/// A file that it reads, or that lies where it might.
#[derive(Clone, Debug)]
pub struct File {
    pub path: String,
    /// Its first line.
    pub place: Place,
    pub is_main: bool,
    pub reached: bool,
    /// Named like a backup or hidden file.
    pub stray: bool,
    pub has_settings: bool,
}

/// Statements about one setting, weakest first.
pub type Statements = Vec<(String, Origin)>;

/// What a generation makes of its texts.
pub struct Effective {
    pub files: Vec<File>,
    /// Unknown when what decides could not be read.
    pub boots: Known<Result<(), Fatal>>,
    /// Where a start without an error is shown.
    pub near: Place,
    /// As said: what is not `systemd` behaves as cgroupfs where it is not refused.
    pub manager: Known<Statements>,
    pub conmon: Known<Statements>,
    pub default_runtime: Known<Statements>,
    /// Everything that looks like a driver setting, a row each.
    pub settings: Vec<Row>,
}

/// Reads what CRI-O would read.
pub fn effective(generation: Generation, input: &Input, reader: &mut dyn Reader) -> Effective {
    let default = reader.default("default:crio", DEFAULTS);
    let mut merged = Merged::new(generation, default);
    let read = files::read(generation, input, default, reader, &mut merged);
    if read.is_ok() {
        merged.overlay(input);
    }
    merged.name_default();
    let first = merged.files.iter().find(|f| f.reached).map(|f| f.place);
    let near = first.or(input.arguments.first().map(|a| a.place_from(0)));
    let near =
        near.unwrap_or(Place { source: default, span: Span::new(0, DEFAULTS.find('\n').unwrap_or(0)) });
    let boots = match read {
        Ok(()) => Known::Is(validate::check(generation, &merged, near, reader)),
        Err(files::Stop::Fatal(fatal)) => Known::Is(Err(fatal)),
        Err(files::Stop::Unread(why)) => Known::Unknown(why),
    };
    let settled = |mut statements: Statements| {
        for (_, origin) in statements.iter_mut().filter(|(_, o)| o.layer == Layer::Default) {
            origin.near = Some(near);
        }
        match &boots {
            Known::Is(Ok(())) => Known::Is(statements),
            Known::Is(Err(_)) => Known::Absent("the daemon does not start".into()),
            Known::Unknown(why) => Known::Unknown(why.clone()),
            Known::Absent(note) => Known::Absent(note.clone()),
        }
    };
    Effective {
        manager: settled(merged.manager),
        conmon: settled(merged.conmon),
        default_runtime: settled(merged.default_runtime),
        files: merged.files,
        near,
        settings: merged.settings,
        boots,
    }
}

/// A default, at its place in the text of defaults.
fn default(source: SourceId, key: &str, value: &str) -> (String, Origin) {
    let line = format!("{key}={value}\n");
    let start = DEFAULTS.find(&line).map_or(0, |at| at + key.len() + 1);
    let place = Place { source, span: Span::new(start, start + value.len()) };
    (value.to_owned(), Origin::new(Layer::Default, place))
}

/// What flag or environment say of a setting: the flag beats the variable, and of a repeated one
/// the last counts. An empty value is a value.
fn told(input: &Input, flags: &[&str], variable: &str) -> Vec<(String, Origin)> {
    let variable = input.environment.get(variable);
    let variable = variable.map(|v| (v.value.text().to_owned(), Origin::new(Layer::Environment, v.place)));
    let flag = flag(input.arguments, flags);
    let flag = flag.map(|(value, place)| (value, Origin::new(Layer::Flag, place)));
    variable.into_iter().chain(flag).collect()
}
