//! The kubelet: which files and flags it is started with, and what each version makes of them.

mod cgroups;
mod facts;
mod setup;

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Why};
use crate::model::kubelet::start::Start;
use crate::model::kubelet::validate::Host;
use crate::model::kubelet::{Generation, possible};
use crate::model::unit::Argument;
use crate::node::FileKind;
use crate::resolve::Variant;
use crate::version::Version;
use std::borrow::Cow;

/// Where installers put the file of `--config`; looked at only when no command line is known.
const CONFIGS: [&str; 8] = [
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet/kubelet-config.json",
    "/etc/kubernetes/kubelet/config.yaml",
    "/etc/kubernetes/kubelet/config",
    "/etc/kubernetes/kubelet.yaml",
    "/etc/kubernetes/kubelet-config.yaml",
    "/etc/default/kubeletconfig.json",
];

const BINARIES: [&str; 5] =
    ["/usr/bin/kubelet", "/usr/local/bin/kubelet", "/opt/bin/kubelet", "/bin/kubelet", "/usr/sbin/kubelet"];

/// Programs that carry a kubelet inside, by a path that shows them.
const EMBEDDED: [(&str, &str); 8] = [
    ("/usr/local/bin/k3s", "k3s"),
    ("/usr/bin/k3s", "k3s"),
    ("/var/lib/rancher/k3s/agent", "k3s"),
    ("/var/lib/rancher/rke2/agent", "rke2"),
    ("/usr/local/bin/rke2", "rke2"),
    ("/usr/local/bin/k0s", "k0s"),
    ("/usr/bin/k0s", "k0s"),
    ("/var/snap/microk8s/current/args/kubelet", "MicroK8s"),
];

/// Directories that installers name with `--config-dir`; looked at only when no command line is known.
const DIRS: [&str; 4] = [
    "/etc/kubernetes/kubelet/config.json.d",
    "/etc/kubernetes/kubelet.conf.d",
    "/etc/kubernetes/kubelet/kubelet.conf.d",
    "/var/lib/kubelet/kubelet.conf.d",
];

/// A command line and the environment that goes with it.
pub(crate) struct Command {
    pub(crate) args: Vec<Argument>,
    /// Whether the environment has the variable that 1.28 and 1.29 want for drop-ins.
    pub(crate) variable: Known<bool>,
    /// Where relative paths begin.
    pub(crate) directory: String,
}

/// `running` is the command line of a live kubelet, `unit` the one its unit would start; absent
/// when there is none. Returns what each version that is possible makes of them; neighbours that
/// make the same of them are one.
pub(crate) fn collect(
    ctx: &mut Ctx,
    running: Known<Command>,
    unit: Known<Command>,
    version: Option<&Version>,
) -> Vec<Variant> {
    let starts = match (running, unit) {
        (Known::Is(running), Known::Is(unit)) => {
            let now = (!alike(&running.args, &unit.args)).then(|| start(ctx, running));
            Known::Is((start(ctx, unit), now))
        }
        (Known::Is(one), Known::Absent(_) | Known::Unknown(_)) | (_, Known::Is(one)) => {
            Known::Is((start(ctx, one), None))
        }
        // a dead tree has no processes
        (Known::Absent(_) | Known::Unknown(Why::NotRunning(_)), Known::Absent(_)) => {
            guess(ctx).map(|start| (start, None))
        }
        (Known::Unknown(why), _) | (_, Known::Unknown(why)) => Known::Unknown(why),
    };
    let generations = possible(version);
    let (next, now) = match &starts {
        Known::Is((next, now)) => (next, now.as_ref()),
        none => {
            let said = none.as_ref().map(|_| ());
            let facts = facts::nothing(&said);
            return named(generations.into_iter().map(|g| (g, facts.clone())).collect());
        }
    };
    let near = next.near();
    let host = Host {
        // to the kubelet a hybrid tree is v1
        cgroup_v2: ctx.known("cgroup.mode").map(|mode| mode.as_text() == Some("v2")),
        swap: ctx.known_rows("kernel.swaps").map(|rows| rows > 0),
    };
    let of_start = facts::of_start(next);
    let mut variants = Vec::new();
    for generation in generations {
        let (minor, minors) = (generation.minor, generation.minors());
        let outcome = next.outcome(ctx, &minors, &host);
        let live = now.map(|now| now.outcome(ctx, &minors, &host));
        let mut facts = facts::of_outcome(ctx, &outcome, live.as_ref(), minor, near);
        facts.push(cgroups::wanted(ctx, &outcome.config, &host.cgroup_v2));
        facts.push(setup::refusals(&outcome.config, minor));
        variants.push((generation, of_start.iter().cloned().chain(facts).collect()));
    }
    named(variants)
}

/// Whether two command lines say the same.
fn alike(one: &[Argument], other: &[Argument]) -> bool {
    one.iter().map(Argument::text).eq(other.iter().map(Argument::text))
}

/// Joins neighbours that say the same.
fn named(variants: Vec<(Generation, Vec<Fact>)>) -> Vec<Variant> {
    let mut runs: Vec<(Generation, Generation, Vec<Fact>)> = Vec::new();
    for (generation, facts) in variants {
        match runs.last_mut() {
            Some((_, last, same)) if *same == facts => *last = generation,
            _ => runs.push((generation, generation, facts)),
        }
    }
    let variant = |(first, last, facts)| Variant { name: Generation::name(first, last), facts };
    runs.into_iter().map(variant).collect()
}

fn start(ctx: &mut Ctx, command: Command) -> Start {
    Start::read(ctx, command.args, command.variable, &command.directory)
}

/// Without any command line: a file in a usual place, or nothing.
fn guess(ctx: &mut Ctx) -> Known<Start> {
    for path in CONFIGS {
        match ctx.read(path) {
            Known::Is(_) => {
                let dir = usual_dir(ctx);
                return Known::Is(Start::guessed(ctx, path, dir));
            }
            Known::Unknown(why) => return Known::Unknown(why),
            Known::Absent(_) => {}
        }
    }
    let unseen = std::cell::RefCell::new(None);
    let there = |path: &str| match ctx.node.stat(path) {
        Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) => {
            unseen.borrow_mut().get_or_insert(why);
            false
        }
        found => found.is().is_some(),
    };
    if let Some((_, program)) = EMBEDDED.iter().find(|(path, _)| there(path)) {
        return Known::Unknown(Why::Strange(format!("the kubelet is part of {program}")));
    }
    let note = match BINARIES.iter().find(|path| there(path)) {
        Some(path) => Cow::Owned(format!("nothing starts {path}")),
        None => Cow::Borrowed("no kubelet on this node"),
    };
    match unseen.take() {
        Some(why) => Known::Unknown(why),
        None => Known::Absent(note),
    }
}

/// A usual directory of drop-ins counts as named; one that cannot be seen may be there.
fn usual_dir(ctx: &Ctx) -> Option<&'static str> {
    let may_be = |dir: &&str| match ctx.node.stat(dir).map(|stat| stat.kind) {
        Known::Is(kind) => kind == FileKind::Dir,
        Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => false,
        Known::Unknown(_) => true,
    };
    DIRS.into_iter().find(may_be)
}

#[cfg(test)]
mod tests;
