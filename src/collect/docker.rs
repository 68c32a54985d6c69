//! Docker, as the runtime that cri-dockerd offers to a kubelet.

use super::agree::{agree, boots};
use super::ctx::Ctx;
use super::{Daemon, parsed};
use crate::fact::{Fact, Known, Said, Statements, Value};
use crate::model::docker::{DEFAULT_FILE, Effective, Input, effective, possible};

const FACTS: [&str; 5] = [
    "docker.config_file",
    "docker.boots",
    "docker.boot_error",
    "docker.cgroup_driver",
    "docker.driver_settings",
];

/// Says what every generation still possible makes of daemon.json and flags.
pub(super) fn collect(ctx: &mut Ctx, daemon: &Daemon) {
    ctx.say(Fact::one("docker.version", daemon.version.clone()));
    let there = !matches!(ctx.node.stat(DEFAULT_FILE), Known::Absent(_));
    let arguments = match &daemon.arguments {
        Known::Unknown(why) => return ctx.say_all(&FACTS, &Known::Unknown(why.clone())),
        Known::Absent(_) if !there && matches!(daemon.version, Known::Absent(_)) => {
            return ctx.say_all(&FACTS, &Known::Absent("no dockerd on this node".into()));
        }
        Known::Absent(_) => Vec::new(),
        Known::Is(arguments) => arguments.clone(),
    };
    let input = Input {
        arguments: &arguments,
        systemd_running: ctx.known_as("host.systemd_running", |v| v.as_bool()),
        cgroup_mode: ctx.known_as("cgroup.mode", |v| v.as_text().map(str::to_owned)),
    };
    let mut worlds = Vec::new();
    for generation in possible(parsed(&daemon.version).as_ref()) {
        let found = effective(generation, &input, ctx);
        worlds.push((generation.name(), facts(ctx, found)));
    }
    agree("docker", worlds).into_iter().for_each(|fact| ctx.say(fact));
}

fn facts(ctx: &Ctx, found: Effective) -> Vec<Fact> {
    let file = match found.file {
        Some((path, origin)) => Known::Is(vec![Said { value: Value::text(path), origin }]),
        None => Known::Absent("it reads no file".into()),
    };
    let driver: Statements = found.driver.map(|driver| {
        let said = driver.statements.into_iter();
        said.map(|(driver, origin)| Said { value: Value::text(driver), origin }).collect()
    });
    let stopped = found.boots.map(|boots| boots.err().map(|fatal| (fatal.place, fatal.message)));
    let [boots, boot_error] = boots(ctx, ["docker.boots", "docker.boot_error"], stopped, found.near);
    vec![
        Fact::one("docker.config_file", file),
        boots,
        boot_error,
        Fact::one("docker.cgroup_driver", driver),
        Fact::rows("docker.driver_settings", Known::Is(found.settings)),
    ]
}
