//! containerd: which main file, and what every generation still possible makes of it.

use super::ctx::Ctx;
use super::process::Process;
use super::{parsed, strongest};
use crate::fact::{Fact, Known, Layer, Origin, Said, Statements, Type, Value, What, Why};
use crate::model::containerd::generation::Generation;
use crate::model::containerd::{Input, Session, worlds};
use crate::names;
use crate::resolve::Variant;
use crate::text::{Kind, Place, Span};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Where containerd reads without being told.
const DEFAULT: &str = "/etc/containerd/config.toml";

/// Distributions that keep the main file elsewhere: a part of the CRI endpoint that gives them
/// away (empty: any), and the file.
const LAYOUTS: [(&str, &str); 7] = [
    ("/run/k3s/", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"),
    ("/run/k3s/", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"),
    ("/k0s/", "/etc/k0s/containerd.toml"),
    ("/microk8s/", "/var/snap/microk8s/current/args/containerd.toml"),
    ("", DEFAULT),
    ("", "/etc/cri/containerd.toml"),
    ("", "/usr/share/containerd/config.toml"),
];

/// Facts of the process, said whether or not anything is installed.
const OF_PROCESS: [&str; 3] = ["containerd.pid", "containerd.started", "containerd.program_replaced"];

/// What the daemon's command line says of its main file.
pub(crate) enum Told {
    /// `--config FILE`, by a process or a unit.
    File(String, Origin),
    /// There is a command line, without `--config`.
    Default,
    /// No process and no unit.
    Nothing,
    /// There may be one that cannot be seen.
    Unknown(Why),
}

/// What was found out of the daemon before its files are read.
pub(crate) struct Daemon {
    pub(crate) told: Told,
    /// CRI endpoint of the kubelet, where it says one.
    pub(crate) endpoint: Option<String>,
    pub(crate) version: Statements,
    /// A process, a unit or a binary of it is there.
    pub(crate) installed: bool,
    /// What it answers now, by name.
    pub(crate) live: BTreeMap<&'static str, Said>,
    /// The driver of each handler as its Status shows it.
    pub(crate) live_handlers: BTreeMap<String, Said>,
}

struct Main {
    path: String,
    given: bool,
    origin: Origin,
}

/// The process itself: absent when it does not run, unknown without a /proc.
pub(crate) fn process(ctx: &mut Ctx, process: &Known<&Process>) {
    let cell = |value: &dyn Fn(&Process) -> Option<Value>| {
        process.as_ref().and_then(|p| {
            let origin = Ctx::observed(p.argv, Span::default());
            value(p).map_or(Known::ABSENT, |value| Known::Is(vec![Said { value, origin }]))
        })
    };
    let facts = [
        Fact::one("containerd.pid", cell(&|p| Some(Value::Int(p.pid.into())))),
        Fact::one("containerd.started", cell(&|p| p.started.map(Value::Int))),
        Fact::one("containerd.program_replaced", cell(&|p| Some(Value::Bool(p.replaced)))),
    ];
    facts.into_iter().for_each(|fact| ctx.say(fact));
}

/// Says what holds in every generation, and gives a variant for each one possible.
pub(crate) fn collect(ctx: &mut Ctx, daemon: Daemon) -> Vec<Variant> {
    let missing = Known::Absent("no containerd on this node".into());
    let main = locate(ctx, &daemon);
    if let (Told::Unknown(why), None) = (&daemon.told, &ctx.options.containerd_config) {
        return vec![unseen(&daemon.version, why)];
    }
    let there = !matches!(ctx.node.stat(&main.path), Known::Absent(_));
    let version = strongest(&daemon.version);
    if !there && !daemon.installed && version.is_none() && !main.given {
        return vec![match &daemon.version {
            Known::Unknown(why) => unseen(&daemon.version, why),
            _ => Variant { name: "containerd".to_owned(), facts: nothing(&missing) },
        }];
    }
    let file = Said { value: Value::text(main.path.as_str()), origin: main.origin.clone() };
    ctx.say(Fact::one("containerd.config_file", Known::Is(vec![file])));

    let input = Input {
        main: &main.path,
        main_given: main.given,
        systemd_running: ctx
            .known("host.systemd_running")
            .and_then(|v| v.as_bool().map_or(Known::ABSENT, Known::Is)),
        cgroup_mode: ctx
            .known("cgroup.mode")
            .and_then(|v| v.as_text().map_or(Known::ABSENT, |t| Known::Is(t.to_owned()))),
    };
    let mut session = Session::default();
    let worlds = worlds(parsed(&daemon.version).as_ref(), &input, ctx, &mut session);
    let several = worlds.len() > 1;
    let mut variants = Vec::with_capacity(worlds.len());
    for (name, effective) in &worlds {
        for problem in effective.problems() {
            ctx.problem(problem.place, problem.message);
        }
        let mut facts = effective.facts();
        if !there {
            said_by(&main, &mut facts);
        }
        facts.push(match (&daemon.version, several) {
            (Known::Unknown(_) | Known::Absent(_), true) => taken(ctx, name, effective.generation()),
            (said, _) => Fact::one("containerd.version", said.clone()),
        });
        binaries(ctx, &mut facts);
        add_live(&mut facts, &daemon);
        variants.push(Variant { name: name.clone(), facts });
    }
    ctx.kept.push(Rc::new((session, worlds)));
    variants
}

/// What follows from a file that is not there is said where the file is named.
fn said_by(main: &Main, facts: &mut [Fact]) {
    for fact in facts.iter_mut().filter(|f| ["containerd.boots", "containerd.boot_error"].contains(&f.name)) {
        if let What::One(Known::Is(said)) = &mut fact.what {
            said.iter_mut().for_each(|said| said.origin = main.origin.clone());
        }
    }
}

/// The version that a world stands for: of several generations in one, no more than the minor.
fn taken(ctx: &mut Ctx, name: &str, generation: &Generation) -> Fact {
    let mut text = generation.representative;
    if name != generation.name {
        text = text.rsplit_once('.').map_or(text, |(minor, _)| minor);
    }
    let source = ctx.sources.add(format!("default:{}", name.replace(' ', "-")), Kind::Default, text);
    let place = Place { source, span: Span::new(0, text.len()) };
    Fact::is("containerd.version", Value::text(text), Origin::new(Layer::Default, place))
}

fn locate(ctx: &mut Ctx, daemon: &Daemon) -> Main {
    if let Some(path) = ctx.options.containerd_config.clone() {
        let source = ctx.sources.add("assume:containerd-config", Kind::Assumed, path.as_str());
        let place = Place { source, span: Span::new(0, path.len()) };
        return Main { path, given: true, origin: Origin::new(Layer::Assumed, place) };
    }
    if let Told::File(path, origin) = &daemon.told {
        return Main { path: path.clone(), given: true, origin: origin.clone() };
    }
    let endpoint = daemon.endpoint.clone().unwrap_or_default();
    let fits = |mark: &str| mark.is_empty() || endpoint.contains(mark) || endpoint.is_empty();
    let told_default = matches!(daemon.told, Told::Default);
    let found = LAYOUTS
        .iter()
        .filter(|(mark, path)| if told_default { *path == DEFAULT } else { fits(mark) })
        .map(|(_, path)| *path)
        // an endpoint that names a distribution decides before /etc does
        .find(|path| !matches!(ctx.node.stat(path), Known::Absent(_)))
        .unwrap_or(DEFAULT);
    let source = ctx.sources.add("default:containerd-config", Kind::Default, found);
    let origin = Origin::new(Layer::Default, Place { source, span: Span::new(0, found.len()) });
    // the embedding program always names its file
    Main { path: found.to_owned(), given: found != DEFAULT, origin }
}

/// Whether the programs that handlers name by a path are there.
fn binaries(ctx: &Ctx, facts: &mut [Fact]) {
    let rows = facts.iter_mut().find(|fact| fact.name == "containerd.runtimes");
    let Some(Fact { what: What::Rows(Known::Is(rows)), .. }) = rows else { return };
    // a tree of configurations alone tells nothing of programs
    let programs = ["/bin/sh", "/usr/bin/sh", "/sbin/init", "/usr/sbin/init", "/usr/lib/systemd/systemd"];
    let whole = |ctx: &Ctx| programs.iter().any(|path| !matches!(ctx.node.stat(path), Known::Absent(_)));
    for row in rows {
        let named = row.iter().find(|(column, _)| *column == "binary_name");
        let Some(said) = named.and_then(|(_, said)| strongest(said)) else { continue };
        let Some(path) = said.value.as_text().filter(|path| path.starts_with('/')) else { continue };
        let missing = match ctx.node.stat(path) {
            Known::Is(_) => Known::Is(false),
            Known::Absent(_) if whole(ctx) => Known::Is(true),
            Known::Absent(_) => continue,
            Known::Unknown(why) => Known::Unknown(why),
        };
        let cell =
            missing.map(|missing| vec![Said { value: Value::Bool(missing), origin: said.origin.clone() }]);
        Arc::make_mut(row).push(("binary_missing", cell));
    }
}

/// What the daemon answers now counts beside what its files say.
fn add_live(facts: &mut Vec<Fact>, daemon: &Daemon) {
    for (name, live) in &daemon.live {
        match facts.iter_mut().find(|fact| fact.name == *name) {
            Some(Fact { what: What::One(Known::Is(said)), .. }) => said.push(live.clone()),
            Some(fact) => fact.what = What::One(Known::Is(vec![live.clone()])),
            None => facts.push(Fact::one(name, Known::Is(vec![live.clone()]))),
        }
    }
    let one = |name: &str| facts.iter().find(|fact| fact.name == name);
    let default = match one("containerd.default_runtime").map(|fact| &fact.what) {
        Some(What::One(said)) => strongest(said).and_then(|s| s.value.as_text().map(str::to_owned)),
        _ => None,
    };
    if let Some(live) = default.and_then(|name| daemon.live_handlers.get(&name))
        && let Some(on) = live.value.as_bool()
        && let Some(fact) = facts.iter_mut().find(|fact| fact.name == "containerd.cgroup_driver")
    {
        let value = Value::text(if on { "systemd" } else { "cgroupfs" });
        let said = Said { value, origin: live.origin.clone() };
        match &mut fact.what {
            What::One(Known::Is(all)) => all.push(said),
            what => *what = What::One(Known::Is(vec![said])),
        }
    }
    let rows = facts.iter_mut().find(|fact| fact.name == "containerd.runtimes");
    if let Some(Fact { what: What::Rows(Known::Is(rows)), .. }) = rows {
        for row in rows {
            let name = row.iter().find(|(column, _)| *column == "name").and_then(|(_, said)| text_of(said));
            let Some(live) = name.and_then(|name| daemon.live_handlers.get(&name)) else { continue };
            if let Some((_, Known::Is(said))) =
                Arc::make_mut(row).iter_mut().find(|(column, _)| *column == "systemd_cgroup")
            {
                said.push(live.clone());
            }
        }
    }
}

fn text_of(said: &Statements) -> Option<String> {
    said.is()?.last()?.value.as_text().map(str::to_owned)
}

/// Which files decide cannot be told: nothing is known but the version.
fn unseen(version: &Statements, why: &Why) -> Variant {
    let mut facts = nothing(&Known::Unknown(why.clone()));
    facts.retain(|fact| fact.name != "containerd.version");
    facts.push(Fact::one("containerd.version", version.clone()));
    Variant { name: "containerd".to_owned(), facts }
}

/// Every containerd fact, absent or unknown for one reason.
fn nothing(reason: &Known<()>) -> Vec<Fact> {
    names::all()
        .map(|id| id.decl())
        .filter(|decl| decl.name.starts_with("containerd.") && !OF_PROCESS.contains(&decl.name))
        .map(|decl| match decl.ty {
            Type::Table { .. } => Fact::rows(decl.name, reason.clone().map(|()| Vec::new())),
            Type::List(_) => Fact::each(decl.name, reason.clone().map(|()| Vec::new())),
            _ => Fact::one(decl.name, reason.clone().map(|()| Vec::new())),
        })
        .collect()
}
