//! The kubelet: which files and flags it is started with, and what they say of its driver.

mod dropins;

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Layer, Origin, Said, Statements, Value, Why};
use crate::model::kubelet::config::{Config, Field, decode};
use crate::model::kubelet::flags::{self, Arg};
use crate::model::kubelet::{self as model, GATE, Generation, behaves_as};
use crate::resolve::Variant;
use crate::text::{Kind, Place, SourceId, Span, line_span};
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

/// What one start of the kubelet reads.
struct Start {
    args: Vec<Arg>,
    file: Option<Loaded>,
    dropins: dropins::Dropins,
}

struct Loaded {
    path: String,
    /// The path as said; for a guessed one the file itself.
    said: Place,
    id: Option<SourceId>,
    config: Known<Config>,
}

/// `running` is the command line of a live kubelet, `unit` the one its unit would start; absent
/// when there is none. Returns what each version that is possible makes of them.
pub(crate) fn collect(
    ctx: &mut Ctx,
    running: &Known<Vec<Arg>>,
    unit: &Known<Vec<Arg>>,
    version: Option<&Version>,
) -> Vec<Variant> {
    let starts = match (running, unit) {
        (Known::Is(running), Known::Is(unit)) => {
            let now = (running != unit).then(|| start(ctx, running.clone()));
            Known::Is((start(ctx, unit.clone()), now))
        }
        (Known::Is(args), Known::Absent(_)) | (_, Known::Is(args)) => {
            Known::Is((start(ctx, args.clone()), None))
        }
        (Known::Is(args), Known::Unknown(_)) => Known::Is((start(ctx, args.clone()), None)),
        // a dead tree has no processes
        (Known::Absent(_) | Known::Unknown(Why::NotRunning(_)), Known::Absent(_)) => {
            guess(ctx).map(|start| (start, None))
        }
        (Known::Unknown(why), _) | (_, Known::Unknown(why)) => Known::Unknown(why.clone()),
    };
    let generations = model::possible(version);
    let recent = version.and_then(|v| v.since("1.29.0-alpha")) == Some(true);
    let variants = generations.into_iter().map(|generation| Variant {
        name: generation.name().to_owned(),
        facts: match &starts {
            Known::Is((next, now)) => facts(ctx, next, now.as_ref(), generation, recent),
            Known::Absent(note) => nothing(|| Known::Absent(note.clone())),
            Known::Unknown(why) => nothing(|| Known::Unknown(why.clone())),
        },
    });
    variants.collect()
}

fn nothing(said: impl Fn() -> Statements) -> Vec<Fact> {
    [
        "kubelet.config_file",
        "kubelet.runtime_endpoint",
        "kubelet.configured_driver",
        "kubelet.follows_runtime",
    ]
    .into_iter()
    .map(|name| Fact::one(name, said()))
    .collect()
}

/// Without any command line: a file in a usual place, or nothing.
fn guess(ctx: &mut Ctx) -> Known<Start> {
    for path in CONFIGS {
        match ctx.read(path) {
            Known::Is(text) => {
                let said = Place { source: text.id, span: line_span(&text.text, 1) };
                let file = Some(load(ctx, path, said));
                return Known::Is(Start { args: Vec::new(), file, dropins: dropins::usual(ctx) });
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

fn start(ctx: &mut Ctx, args: Vec<Arg>) -> Start {
    let file = flags::value(&args, "config").filter(|(path, _)| !path.is_empty()).map(|(path, said)| {
        // units are started in the root directory
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        load(ctx, &path, said)
    });
    let dropins = match flags::value(&args, "config-dir").filter(|(dir, _)| !dir.is_empty()) {
        Some((dir, _)) => dropins::of(ctx, &dir),
        None => dropins::Dropins::default(),
    };
    Start { args, file, dropins }
}

fn load(ctx: &mut Ctx, path: &str, said: Place) -> Loaded {
    let text = ctx.read(path);
    let id = text.is().map(|t| t.id);
    let config = match text {
        Known::Is(text) => match decode(&text) {
            Ok(config) => Known::Is(config),
            Err(error) => {
                let place = Place { source: text.id, span: error.span };
                ctx.problem(place, error.message.clone());
                Known::Unknown(Why::Malformed(place, error.message))
            }
        },
        Known::Absent(_) => {
            Known::Absent(Cow::Owned(format!("the kubelet does not start: {path} is not there")))
        }
        Known::Unknown(why) => Known::Unknown(why),
    };
    Loaded { path: path.to_owned(), said, id, config }
}

fn facts(
    ctx: &mut Ctx,
    next: &Start,
    now: Option<&Start>,
    generation: Generation,
    recent: bool,
) -> Vec<Fact> {
    let file = match &next.file {
        Some(file) => {
            let layer = if Some(file.said.source) == file.id { Layer::File } else { Layer::Flag };
            let origin = Origin::new(layer, file.said);
            Known::Is(vec![Said { value: Value::text(file.path.as_str()), origin }])
        }
        None => Known::Absent(Cow::Borrowed("it is started without --config")),
    };
    let both = |ctx: &mut Ctx, say: fn(&mut Ctx, &Start, Generation, bool) -> Statements| {
        let said = say(ctx, next, generation, recent);
        let live = now.map(|now| say(ctx, now, generation, recent));
        with_live(said, live)
    };
    vec![
        Fact::one("kubelet.config_file", file),
        Fact::one("kubelet.runtime_endpoint", both(ctx, endpoint)),
        Fact::one("kubelet.configured_driver", both(ctx, driver)),
        Fact::one("kubelet.follows_runtime", follows(ctx, now.unwrap_or(next), generation)),
    ]
}

/// Adds what the running process was started with, where that is something else.
fn with_live(said: Statements, live: Option<Statements>) -> Statements {
    let Some(live) = live else { return said };
    let last = |said: &Statements| said.is().and_then(|s| s.iter().max_by_key(|s| s.origin.layer)).cloned();
    match (said, last(&live)) {
        (Known::Is(mut said), Some(live)) => {
            let next = said.iter().max_by_key(|s| s.origin.layer);
            if next.map(|s| &s.value) != Some(&live.value) {
                said.push(Said { origin: Origin { layer: Layer::Runtime, ..live.origin }, ..live });
            }
            Known::Is(said)
        }
        // the next start is not known or will fail: what runs now is
        (_, Some(live)) => {
            Known::Is(vec![Said { origin: Origin { layer: Layer::Runtime, ..live.origin }, ..live }])
        }
        (said, None) => said,
    }
}

/// A setting that has a flag, a field of the file and a default, strongest last.
fn setting(
    ctx: &mut Ctx,
    start: &Start,
    flag: &str,
    field: (&'static str, fn(&Config) -> &Option<Field>),
    unclear: Option<Why>,
    value: fn(&str) -> Value,
) -> Statements {
    let mut said = Vec::new();
    let mut near = start.args.first().map(|(_, place)| *place);
    let said_by_flag = flags::value(&start.args, flag);
    if let Some(file) = &start.file {
        match (&file.config, &said_by_flag) {
            (Known::Is(config), _) => {
                let place = |span| file.id.map(|source| Place { source, span });
                near = place(line_span(file.id.map_or("", |id| &ctx.sources.get(id).text), 1));
                match field.1(config) {
                    Some(Field { value: Some(text), span })
                        if said_by_flag.is_some() || unclear.is_none() =>
                    {
                        said.extend(place(*span).map(|place| Said {
                            value: value(text),
                            origin: Origin {
                                written: vec![field.0.into()].into(),
                                ..Origin::new(Layer::File, place)
                            },
                        }));
                    }
                    Some(Field { value: None, span }) => near = place(*span),
                    _ => {}
                }
            }
            // a flag beats whatever an unreadable file says; a file that is refused stops the kubelet
            (Known::Unknown(Why::Malformed(..)) | Known::Absent(_), _) | (_, None) => {
                return file.config.clone().map(|_| Vec::new());
            }
            (Known::Unknown(_), Some(_)) => {}
        }
    }
    match (said_by_flag, unclear) {
        (Some((text, place)), _) => {
            said.push(Said { value: value(&text), origin: Origin::new(Layer::Flag, place) });
        }
        (None, Some(why)) => return Known::Unknown(why),
        (None, None) if said.is_empty() => {
            let text = model::DEFAULTS;
            let source = ctx.sources.add("default:kubelet", Kind::Default, text);
            let key = text.find(field.0).unwrap_or(0) + field.0.len() + 2;
            let span = Span::new(key, text[key..].find('\n').map_or(text.len(), |end| key + end));
            let origin = Origin { near, ..Origin::new(Layer::Default, Place { source, span }) };
            said.push(Said { value: value(&text[span.start..span.end]), origin });
        }
        (None, None) => {}
    }
    Known::Is(said)
}

fn driver(ctx: &mut Ctx, start: &Start, generation: Generation, recent: bool) -> Statements {
    let unclear = start.unclear(&["cgroupdriver"], generation, recent);
    setting(ctx, start, "cgroup-driver", ("cgroupDriver", |c| &c.driver), unclear, |text| {
        Value::text(behaves_as(text))
    })
}

fn endpoint(ctx: &mut Ctx, start: &Start, generation: Generation, recent: bool) -> Statements {
    let unclear = start.unclear(&["containerruntimeendpoint"], generation, recent);
    let field = ("containerRuntimeEndpoint", (|c| &c.endpoint) as fn(&Config) -> &Option<Field>);
    setting(ctx, start, "container-runtime-endpoint", field, unclear, |text| Value::text(text))
}

impl Start {
    fn unclear(&self, fields: &[&str], generation: Generation, recent: bool) -> Option<Why> {
        self.dropins.unclear(fields, generation == Generation::Before131 && !recent)
    }
}

/// Whether the runtime is asked: a gate, until it was locked.
fn follows(ctx: &mut Ctx, start: &Start, generation: Generation) -> Statements {
    let (name, text) = generation.gate_default();
    let source = ctx.sources.add(name, Kind::Default, text);
    let span = line_span(text, 2);
    let near = start.file.as_ref().map(|f| f.said).or(start.args.first().map(|(_, place)| *place));
    let origin = Origin { near, ..Origin::new(Layer::Default, Place { source, span }) };
    let asks = generation != Generation::Before131;
    let mut said = vec![Said { value: Value::Bool(asks), origin }];
    if generation == Generation::From134 {
        return Known::Is(said);
    }
    // AllAlpha and AllBeta stand for a gate that is not named itself
    let group = if generation == Generation::Before131 { "AllAlpha" } else { "AllBeta" };
    let mut gates: Vec<(String, bool, Origin)> = Vec::new();
    if let Some(file) = &start.file {
        match (&file.config, file.id) {
            (Known::Is(config), Some(source)) => {
                gates.extend(config.gates.iter().map(|(name, on, span)| {
                    let written = vec!["featureGates".to_owned(), name.clone()].into();
                    let origin =
                        Origin { written, ..Origin::new(Layer::File, Place { source, span: *span }) };
                    (name.clone(), *on, origin)
                }));
            }
            (config, _) => return config.clone().map(|_| Vec::new()),
        }
    }
    if let Some(why) = start.dropins.unclear(&["kubeletcgroupdriverfromcri", "allalpha", "allbeta"], false) {
        return Known::Unknown(why);
    }
    gates.extend(
        flags::gates(&start.args).into_iter().map(|(n, on, place)| (n, on, Origin::new(Layer::Flag, place))),
    );
    for wanted in [group, GATE] {
        if let Some((_, on, origin)) = gates.iter().rev().find(|(name, ..)| name == wanted) {
            // named itself it beats its group, wherever that is said
            if wanted == GATE {
                said.truncate(1);
            }
            said.push(Said { value: Value::Bool(*on), origin: origin.clone() });
        }
    }
    Known::Is(said)
}

#[cfg(test)]
mod tests;
