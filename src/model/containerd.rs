//! What containerd runs with: its configuration files as each generation of it reads them.
//! One file a step of its own pipeline: load, merge, migrate, validate, decode, handlers, report.

use crate::fact::{Known, Problem, Why};
use crate::model::Reader;
use crate::text::{Place, line_span};
use generation::Generation;
use handlers::Handler;
use load::{Load, Stop};
use merge::Merged;
use plugins::Cri;
use report::Reported;
use session::World;

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
mod paths;
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
    merged: Merged,
    /// Whether the daemon starts; unknown where an input could not be read.
    boots: Known<bool>,
    stop: Option<Stop>,
    /// What runs; nothing where the daemon does not start or an input is hidden.
    running: Option<Running>,
    dropins: Known<Vec<keys::DropIn>>,
    /// Plugins that take configuration, and their fields.
    known_ids: Vec<&'static str>,
    fields: Vec<(&'static str, &'static str)>,
    owners: Vec<Option<&'static str>>,
}

/// CRI as configured in a daemon that starts.
#[derive(Debug)]
struct Running {
    cri: Cri,
    handlers: Vec<Handler>,
    default: Option<tree::Shared>,
    dead: Known<Option<alive::Dead>>,
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
    let mut load = load::load(generation, input, &mut world);
    let (merged, migration) = merge::merge(generation, &load);
    let owners = load.files.iter().map(|f| owner::of(&f.path, &f.text, &mut world)).collect();
    let dropins = keys::dropins(input.main, &load, &mut world);
    let mut stop = load.stop.take();
    if stop.is_none() && load.hidden.is_none() {
        let ids = || if load.cut_short { None } else { validate::ids(generation, &merged) };
        stop = migration_first(generation, migration, ids).or_else(|| validate::settings(&merged));
    }
    let defaults = world.defaults(generation);
    let (source, known_ids, fields) = (defaults.source(), defaults.ids().collect(), defaults.fields());
    let nowhere = Place { source, span: line_span(generation.defaults.1, 1) };
    let mut effective = Effective {
        generation,
        main: input.main.to_owned(),
        nowhere,
        load,
        merged,
        boots: Known::Is(true),
        stop,
        running: None,
        dropins,
        known_ids,
        fields,
        owners,
    };
    effective.run(input, &mut world);
    effective.boots = match (&effective.stop, &effective.load.hidden) {
        (Some(_), _) => Known::Is(false),
        (None, Some(why)) => Known::Unknown(why.clone()),
        (None, None) => Known::Is(true),
    };
    effective
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
    fn run(&mut self, input: &Input, world: &mut World) {
        if self.stop.is_some() || self.load.hidden.is_some() {
            return;
        }
        let (generation, merged) = (self.generation, &self.merged);
        let (cri, stop, bad) = plugins::decode(generation, merged, world);
        if stop.is_some() {
            self.stop = stop;
            return;
        }
        let handlers = handlers::all(generation, merged, &cri);
        let default = handlers::default_name(generation, &cri);
        let dead = alive::check(generation, input, merged, &cri, &handlers, bad.as_ref(), world);
        let why = dead.is().and_then(|d| d.as_ref()).map(|d| d.message.clone());
        self.stop = validate::required(generation, merged, why.as_deref());
        if self.stop.is_some() {
            return;
        }
        let name = default.as_ref().map(handlers::name_text).unwrap_or_default();
        let reported = report::reported(generation, &handlers, name, &input.systemd_running);
        let section = if generation.is_v1() { migrate::CRI } else { migrate::RUNTIME };
        let header = ["plugins", section, "containerd", "runtimes", "runc", "options"];
        let defaults = world.defaults(generation);
        let default_driver = defaults
            .plugin(section)
            .and_then(|p| p.dig(&["containerd", "runtimes", "runc", "options", "SystemdCgroup"]).cloned())
            .map_or_else(|| defaults.header(&header), |v| v.at.place);
        self.running = Some(Running { cri, handlers, default, dead, reported, default_driver });
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
