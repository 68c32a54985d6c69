//! CRI-O: what its files, environment and flags make of the cgroup manager.

use super::agree::{agree, boots};
use super::ctx::Ctx;
use super::{Daemon, parsed};
use crate::fact::{Fact, Known, Layer, Origin, Row, Said, Statements, Value};
use crate::model::crio::Statements as Told;
use crate::model::crio::{DIR, Effective, File, Input, MAIN, effective, possible};

const FACTS: [&str; 7] = [
    "crio.files",
    "crio.boots",
    "crio.boot_error",
    "crio.cgroup_driver",
    "crio.conmon_cgroup",
    "crio.default_runtime",
    "crio.driver_settings",
];

/// Says what every generation still possible makes of the files.
pub(super) fn collect(ctx: &mut Ctx, daemon: &Daemon) {
    ctx.say(Fact::one("crio.version", daemon.version.clone()));
    let there = [MAIN, DIR].iter().any(|path| !matches!(ctx.node.stat(path), Known::Absent(_)));
    let arguments = match &daemon.arguments {
        Known::Unknown(why) => return ctx.say_all(&FACTS, &Known::Unknown(why.clone())),
        Known::Absent(_) if !there && matches!(daemon.version, Known::Absent(_)) => {
            return ctx.say_all(&FACTS, &Known::Absent("no CRI-O on this node".into()));
        }
        Known::Absent(_) => Vec::new(),
        Known::Is(arguments) => arguments.clone(),
    };
    let input = Input { arguments: &arguments, environment: &daemon.environment };
    let mut worlds = Vec::new();
    for generation in possible(parsed(&daemon.version).as_ref()) {
        let found = effective(generation, &input, ctx);
        worlds.push((generation.name(), facts(ctx, found)));
    }
    agree("crio", worlds).into_iter().for_each(|fact| ctx.say(fact));
}

fn facts(ctx: &Ctx, found: Effective) -> Vec<Fact> {
    let said = |told: Known<Told>, behaves: fn(String) -> String| -> Statements {
        told.map(|told| {
            let said = told.into_iter();
            said.map(|(value, origin)| Said { value: Value::text(behaves(value)), origin }).collect()
        })
    };
    let stopped = found.boots.map(|boots| boots.err().map(|fatal| (fatal.place, fatal.message)));
    let [boots, boot_error] = boots(ctx, ["crio.boots", "crio.boot_error"], stopped, found.near);
    // 1.18 takes any word, and what is not systemd behaves as cgroupfs
    let behaves = |manager: String| match manager.as_str() {
        "systemd" => manager,
        _ => "cgroupfs".to_owned(),
    };
    vec![
        Fact::rows("crio.files", Known::Is(found.files.iter().map(row).collect())),
        boots,
        boot_error,
        Fact::one("crio.cgroup_driver", said(found.manager, behaves)),
        Fact::one("crio.conmon_cgroup", said(found.conmon, |cgroup| cgroup)),
        Fact::one("crio.default_runtime", said(found.default_runtime, |name| name)),
        Fact::rows("crio.driver_settings", Known::Is(found.settings)),
    ]
}

fn row(file: &File) -> Row {
    let origin = Origin::new(Layer::File, file.place);
    let cell = |value: Value| Known::Is(vec![Said { value, origin: origin.clone() }]);
    vec![
        ("path", cell(Value::text(file.path.as_str()))),
        ("is_main", cell(Value::Bool(file.is_main))),
        ("reached", cell(Value::Bool(file.reached))),
        ("stray", cell(Value::Bool(file.stray))),
        ("has_settings", cell(Value::Bool(file.has_settings))),
    ]
}
