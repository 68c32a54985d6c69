//! What containerd runs with: its configuration files as each generation of it reads them.
//! One file a step of its own pipeline: load, merge, migrate, validate, decode, handlers, report.

use crate::fact::{Known, Problem, Why};
use crate::model::Reader;
use crate::text::{Place, line_span};
use crate::version::Version;
use defaults::Defaults;
use generation::Generation;
use handlers::Handler;
use keys::Rows;
use load::{Load, Stop};
use merge::Merged;
use plugins::Cri;
use report::Reported;
use session::World;
use std::rc::Rc;

mod alive;
#[cfg(test)]
mod behaviour;
mod decode;
mod defaults;
mod facts;
#[cfg(test)]
mod fake;
pub mod generation;
mod handlers;
pub mod home;
mod keys;
mod load;
mod merge;
mod migrate;
mod owner;
pub(super) mod paths;
mod plugins;
mod report;
mod said;
mod schema;
mod session;
mod tree;
mod validate;

pub use home::home;
pub use session::Session;

/// What is known of the daemon besides its files.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Node path of the main file.
    pub main: &'a str,
    /// It is named by `--config`: then a missing file is an error in most versions.
    pub main_given: bool,
    /// /run/systemd/system is a directory.
    pub systemd_running: Known<bool>,
    /// As the fact `cgroup.mode`.
    pub cgroup_mode: Known<String>,
}

/// What one generation makes of a configuration.
#[derive(Debug)]
pub struct Effective {
    generation: &'static Generation,
    main: String,
    /// The first line of its defaults: for what follows from no file.
    nowhere: Place,
    load: Load,
    merged: Rc<Merged>,
    /// Whether the daemon starts; unknown where an input could not be read.
    boots: Known<bool>,
    stop: Option<Stop>,
    /// What runs; nothing where the daemon does not start or an input is hidden.
    running: Option<Running>,
    dropins: Known<Vec<keys::DropIn>>,
    /// Plugins that take configuration, each with its fields.
    defaults: Rc<Defaults>,
    /// Rows that generations have in common.
    rows: Rc<Rows>,
    owners: Vec<Option<&'static str>>,
}

/// CRI as configured in a daemon that starts.
#[derive(Debug)]
struct Running {
    cri: Cri,
    handlers: Vec<Handler>,
    default: Option<tree::Shared>,
    health: alive::Health,
    reported: Reported,
    /// Place of the driver's default in the default text.
    default_driver: Place,
}

/// Works out the configuration in force. Reads through `reader` alone; what was read and parsed is
/// kept in `session` for the next generation.
pub fn effective(
    generation: &'static Generation,
    input: &Input,
    reader: &mut dyn Reader,
    session: &mut Session,
) -> Effective {
    let mut world = World { session, reader };
    let mut effective = accept(generation, input, &mut world);
    effective.finish(input, &mut world);
    effective
}

/// The same for all generations that are possible, where neighbours which make the same of these
/// files are one, under a common name.
pub fn worlds(
    version: Option<&Version>,
    input: &Input,
    reader: &mut dyn Reader,
    session: &mut Session,
) -> Vec<(String, Effective)> {
    let mut world = World { session, reader };
    let mut worlds: Vec<(String, Effective)> = Vec::new();
    for generation in generation::possible(version) {
        let next = accept(generation, input, &mut world);
        match worlds.last_mut() {
            Some((name, last)) if last.same(&next) => *name = last.generation.name_to(generation),
            _ => worlds.push((generation.name.to_owned(), next)),
        }
    }
    for (_, effective) in &mut worlds {
        effective.finish(input, &mut world);
    }
    worlds
}

/// Loads and merges the files and checks what does not depend on their plugins.
fn accept(generation: &'static Generation, input: &Input, world: &mut World) -> Effective {
    let mut load = load::load(generation, input, world);
    let (merged, migration) = world.merged(generation, &load);
    let mut stop = load.stop.take();
    if stop.is_none() && load.hidden.is_none() {
        let ids = || if load.cut_short { None } else { validate::ids(generation, &merged) };
        let settings = || validate::settings(generation, &merged);
        stop = migration_first(generation, migration, ids).or_else(settings);
    }
    let defaults = world.defaults(generation);
    let nowhere = Place { source: defaults.source(), span: line_span(generation.defaults.text, 1) };
    Effective {
        generation,
        main: input.main.to_owned(),
        nowhere,
        load,
        merged,
        boots: Known::Is(true),
        stop,
        running: None,
        dropins: Known::ABSENT,
        defaults,
        rows: world.rows(),
        owners: Vec::new(),
    }
}

/// 2.3 migrates while it loads; before, what is merged is checked first.
fn migration_first(
    generation: &Generation,
    migration: Option<Stop>,
    ids: impl FnOnce() -> Option<Stop>,
) -> Option<Stop> {
    match generation.pipeline {
        generation::Pipeline::MigrateThenMerge => migration.or_else(ids),
        _ => ids().or(migration),
    }
}

impl Effective {
    /// The (first) generation that makes this of the files.
    pub fn generation(&self) -> &'static Generation {
        self.generation
    }

    /// Whether another generation, of which as much is known, will come to the same end.
    fn same(&self, other: &Effective) -> bool {
        let stop = |e: &Effective| e.stop.as_ref().map(|s| (s.message.clone(), s.place));
        self.generation.like(other.generation) && self.load.same(&other.load) && stop(self) == stop(other)
    }

    fn finish(&mut self, input: &Input, world: &mut World) {
        self.run(input, world);
        if let Some(place) = self.stop.as_ref().and_then(|s| s.place) {
            let culprit = self.load.files.iter_mut().find(|f| f.source == place.source);
            culprit.into_iter().for_each(|f| f.effect = load::Effect::Fatal);
        }
        self.owners = self.load.files.iter().map(|f| owner::of(&f.path, &f.text, world)).collect();
        self.dropins = keys::dropins(input.main, &self.load, world);
        self.boots = match (&self.stop, &self.load.hidden) {
            (Some(_), _) => Known::Is(false),
            (None, Some(why)) => Known::Unknown(why.clone()),
            (None, None) => Known::Is(true),
        };
    }

    fn run(&mut self, input: &Input, world: &mut World) {
        if self.stop.is_some() || self.load.hidden.is_some() {
            return;
        }
        let (generation, merged) = (self.generation, &self.merged);
        let (cri, stop) = plugins::decode(generation, merged, world);
        if stop.is_some() {
            self.stop = stop;
            return;
        }
        let handlers = handlers::all(generation, merged, &cri);
        let default = handlers::default_name(generation, &cri);
        let health = alive::check(generation, input, merged, &cri, &handlers, world);
        match validate::required(generation, merged, &health) {
            Known::Is(stop) => self.stop = stop,
            Known::Unknown(why) => self.load.hidden = Some(why),
            Known::Absent(_) => {}
        }
        if self.stop.is_some() || self.load.hidden.is_some() {
            return;
        }
        let name = default.as_ref().map(handlers::name_text).unwrap_or_default();
        let reported = report::reported(generation, &handlers, name, &input.systemd_running);
        let section = if generation.is_v1() { migrate::CRI } else { migrate::RUNTIME };
        let header = ["plugins", section, "containerd", "runtimes", "runc", "options"];
        let defaults = world.defaults(generation);
        let default_driver = defaults
            .plugin(section)
            .and_then(|plugin| {
                let table = defaults.table(plugin);
                table.dig(&["containerd", "runtimes", "runc", "options", "SystemdCgroup"]).cloned()
            })
            .map_or_else(|| defaults.header(&header), |v| v.at.place);
        self.running = Some(Running { cri, handlers, default, health, reported, default_driver });
    }

    /// Why the other facts are not there, if they are not.
    fn silence(&self) -> Option<Known<()>> {
        match (&self.stop, &self.load.hidden) {
            (Some(_), _) => Some(Known::Absent("the daemon does not start".into())),
            (None, Some(why)) => Some(Known::Unknown(why.clone())),
            (None, None) => None,
        }
    }

    /// Inputs with something wrong, at their places.
    pub fn problems(&self) -> Vec<Problem> {
        let syntax = self.stop.iter().filter(|s| s.syntax);
        let syntax =
            syntax.filter_map(|s| s.place.map(|place| Problem { place, message: s.message.clone() }));
        let unsure = self.load.files.iter().filter_map(|f| f.unsure.as_ref()).map(|(place, message)| {
            let message = format!("only some builds of this containerd accept {message}");
            Problem { place: *place, message }
        });
        syntax.chain(unsure).collect()
    }

    /// The input that hides the rest, if one does.
    pub fn hidden(&self) -> Option<&Why> {
        self.load.hidden.as_ref()
    }
}
