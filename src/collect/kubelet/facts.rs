//! What one version makes of a start, as facts.

use crate::collect::ctx::Ctx;
use crate::fact::{Fact, Known, Layer, Origin, Row, Said, Statements, Value};
use crate::model::kubelet::decode::{Ignored, Reason};
use crate::model::kubelet::effective::{Effective, Refusal};
use crate::model::kubelet::start::{Outcome, Start};
use crate::model::kubelet::{GATE, behaves_as, gate_default};
use crate::text::{Kind, Place, line_span};
use std::borrow::Cow;

/// Facts that are one field, with its path.
const FIELDS: [(&str, &[&str]); 20] = [
    ("kubelet.runtime_endpoint", &["containerRuntimeEndpoint"]),
    ("kubelet.image_endpoint", &["imageServiceEndpoint"]),
    ("kubelet.written_driver", &["cgroupDriver"]),
    ("kubelet.fail_cgroup_v1", &["failCgroupV1"]),
    ("kubelet.fail_swap_on", &["failSwapOn"]),
    ("kubelet.swap_behavior", &["memorySwap", "swapBehavior"]),
    ("kubelet.static_pod_path", &["staticPodPath"]),
    ("kubelet.static_pod_url", &["staticPodURL"]),
    ("kubelet.protect_kernel_defaults", &["protectKernelDefaults"]),
    ("kubelet.cgroup_root", &["cgroupRoot"]),
    ("kubelet.cgroups_per_qos", &["cgroupsPerQOS"]),
    ("kubelet.kube_reserved_cgroup", &["kubeReservedCgroup"]),
    ("kubelet.system_reserved_cgroup", &["systemReservedCgroup"]),
    ("kubelet.kubelet_cgroups", &["kubeletCgroups"]),
    ("kubelet.system_cgroups", &["systemCgroups"]),
    ("kubelet.resolv_conf", &["resolvConf"]),
    ("kubelet.read_only_port", &["readOnlyPort"]),
    ("kubelet.anonymous_auth", &["authentication", "anonymous", "enabled"]),
    ("kubelet.authorization_mode", &["authorization", "mode"]),
    ("kubelet.configured_driver", &["cgroupDriver"]),
];

/// Facts that are a map, with its path and the columns of key and value.
const MAPS: [(&str, &str, &str, &str); 4] = [
    ("kubelet.feature_gates", "featureGates", "name", "enabled"),
    ("kubelet.eviction_hard", "evictionHard", "signal", "threshold"),
    ("kubelet.system_reserved", "systemReserved", "resource", "quantity"),
    ("kubelet.kube_reserved", "kubeReserved", "resource", "quantity"),
];

/// All names that a start says something of.
pub(super) fn nothing(said: &Known<()>) -> Vec<Fact> {
    let none = || said.clone().map(|()| Vec::new());
    let texts = FIELDS.iter().map(|(name, _)| *name).chain([
        "kubelet.config_file",
        "kubelet.drop_in_dir",
        "kubelet.drop_in_dir_is_link",
        "kubelet.accepted",
        "kubelet.follows_runtime",
        "kubelet.said_driver",
        "kubelet.file_driver",
    ]);
    let tables = ["kubelet.refusals", "kubelet.ignored", "kubelet.wanted_cgroups", "kubelet.setup_refusals"];
    let tables = MAPS.iter().map(|(name, ..)| *name).chain(tables);
    let lists = [
        "kubelet.drop_ins",
        "kubelet.drop_in_strays",
        "kubelet.enforce_node_allocatable",
        "kubelet.deprecated_flags",
    ];
    let texts = texts.map(|name| Fact::one(name, none()));
    let tables = tables.map(|name| Fact::rows(name, said.clone().map(|()| Vec::new())));
    texts.chain(lists.map(|name| Fact::each(name, none()))).chain(tables).collect()
}

/// Facts of the start itself, which no version changes.
pub(super) fn of_start(start: &Start) -> Vec<Fact> {
    let file = match start.config_file() {
        Some((path, origin)) => Known::Is(vec![Said { value: Value::text(path), origin }]),
        None => Known::Absent(Cow::Borrowed("it is started without --config")),
    };
    let none = || Known::Absent(Cow::Borrowed("it is started without --config-dir"));
    let (dir, link) = match start.drop_in_dir() {
        Some((dir, place, link)) => {
            let one = |value| Known::Is(vec![Said { value, origin: Origin::new(Layer::Flag, place) }]);
            (one(Value::text(dir)), one(Value::Bool(link)))
        }
        None => (none(), none()),
    };
    let files = start.drop_in_files().into_iter().filter_map(|(path, first)| {
        Some(Said { value: Value::text(path), origin: Origin::new(Layer::DropIn, first?) })
    });
    let strays = start.drop_in_strays().iter();
    let strays = strays.map(|(path, first)| Said {
        value: Value::text(path.as_str()),
        origin: Origin::new(Layer::DropIn, *first),
    });
    vec![
        Fact::one("kubelet.config_file", file),
        Fact::one("kubelet.drop_in_dir", dir),
        Fact::one("kubelet.drop_in_dir_is_link", link),
        Fact::each("kubelet.drop_ins", Known::Is(files.collect())),
        Fact::each("kubelet.drop_in_strays", Known::Is(strays.collect())),
    ]
}

/// Facts of one version; `now` is what it makes of the command line of a process that was started
/// otherwise than it would be started next.
pub(super) fn of_outcome(
    ctx: &mut Ctx,
    next: &Outcome,
    now: Option<&Outcome>,
    minor: u32,
    near: Option<Place>,
) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(40);
    for (name, path) in FIELDS {
        let said = |outcome: &Outcome| match name {
            "kubelet.configured_driver" => {
                field(outcome, path).map(|said| said.into_iter().map(behaves).collect())
            }
            _ => field(outcome, path),
        };
        facts.push(Fact::one(name, with_live(said(next), now.map(said))));
    }
    let now_or_next = now.unwrap_or(next);
    for (name, path, key, value) in MAPS {
        facts.push(Fact::rows(name, map(now_or_next, path, key, value)));
    }
    facts.push(Fact::each("kubelet.enforce_node_allocatable", elements(now_or_next)));
    facts.push(Fact::one("kubelet.said_driver", driver(now_or_next, |layer| layer > Layer::Default)));
    let in_files = |layer| layer == Layer::File || layer == Layer::DropIn;
    facts.push(Fact::one("kubelet.file_driver", driver(now_or_next, in_files)));
    facts.push(Fact::one("kubelet.follows_runtime", follows(ctx, now_or_next, minor, near)));
    facts.push(Fact::one("kubelet.accepted", accepted(next, near)));
    facts.push(Fact::rows("kubelet.refusals", Known::Is(next.refusals.iter().map(refusal).collect())));
    facts.push(Fact::each("kubelet.deprecated_flags", Known::Is(next.deprecated.clone())));
    facts.push(Fact::rows("kubelet.ignored", Known::Is(next.ignored.iter().map(ignored).collect())));
    facts
}

/// A value that is never checked, as it behaves.
fn behaves(said: Said) -> Said {
    let value = Value::text(behaves_as(said.value.as_text().unwrap_or_default()));
    Said { value, ..said }
}

/// The last statement about the driver in certain layers.
fn driver(outcome: &Outcome, layers: impl Fn(Layer) -> bool) -> Statements {
    field(outcome, &["cgroupDriver"]).and_then(|said| {
        let last = said.into_iter().rfind(|said| layers(said.origin.layer));
        last.map_or(Known::ABSENT, |said| Known::Is(vec![said]))
    })
}

fn field(outcome: &Outcome, path: &[&str]) -> Statements {
    outcome.config.as_ref().and_then(|config| match config.statements(path) {
        Known::Is(said) => Known::Is(said.to_vec()),
        Known::Absent(note) => Known::Absent(note),
        Known::Unknown(why) => Known::Unknown(why),
    })
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

pub(super) fn cell(value: Value, origin: &Origin) -> Statements {
    Known::Is(vec![Said { value, origin: origin.clone() }])
}

fn map(outcome: &Outcome, path: &str, key: &'static str, value: &'static str) -> Known<Vec<Row>> {
    outcome.config.as_ref().and_then(|config: &Effective| {
        config.entries(&[path]).map(|entries| {
            let row = |(name, said): (&str, &Said)| {
                vec![
                    (key, cell(Value::text(name), &said.origin)),
                    (value, cell(said.value.clone(), &said.origin)),
                ]
            };
            entries.into_iter().map(row).collect()
        })
    })
}

fn elements(outcome: &Outcome) -> Statements {
    outcome.config.as_ref().and_then(|config| config.elements(&["enforceNodeAllocatable"]))
}

fn accepted(outcome: &Outcome, near: Option<Place>) -> Statements {
    if let Some(refusal) = outcome.refusals.first() {
        return cell(Value::Bool(false), &refusal.origin);
    }
    if let Some((_, why)) = outcome.unclear.first() {
        return Known::Unknown(why.clone());
    }
    outcome.config.as_ref().and_then(|config| match (config.covered(), config.origin(&["cgroupDriver"])) {
        (Some(why), _) => Known::Unknown(why.clone()),
        (None, said) => {
            let place = near.or(said.map(|origin| origin.place));
            place.map_or(Known::ABSENT, |place| {
                let layer = if near.is_some() { Layer::File } else { Layer::Default };
                cell(Value::Bool(true), &Origin::new(layer, place))
            })
        }
    })
}

fn refusal(refusal: &Refusal) -> Row {
    let at = &refusal.origin;
    vec![
        ("message", cell(Value::text(refusal.message.as_str()), at)),
        ("stage", cell(Value::text(refusal.stage.name()), at)),
        ("missing", cell(Value::Bool(refusal.missing), at)),
    ]
}

fn ignored(ignored: &Ignored) -> Row {
    let layer = if ignored.drop_in { Layer::DropIn } else { Layer::File };
    let at = Origin::new(layer, ignored.place);
    let (reason, field) = match &ignored.reason {
        Reason::UnknownField => ("unknown-field", None),
        Reason::WrongCase(field) => ("wrong-case", Some(*field)),
        Reason::Repeated => ("repeated", None),
        Reason::LaterDocument => ("later-document", None),
        Reason::ZeroValue => ("zero-value", None),
        Reason::InternalName(field) => ("internal-name", Some(*field)),
    };
    let field = field.map_or(Known::ABSENT, |field| cell(Value::text(field), &at));
    vec![
        ("key", cell(Value::text(ignored.path.join(".")), &at)),
        ("reason", cell(Value::text(reason), &at)),
        ("field", field),
        ("drop_in", cell(Value::Bool(ignored.drop_in), &at)),
    ]
}

/// Whether the runtime is asked: a gate, until it was locked.
fn follows(ctx: &mut Ctx, outcome: &Outcome, minor: u32, near: Option<Place>) -> Statements {
    let config = match &outcome.config {
        Known::Is(config) => config,
        Known::Absent(note) => return Known::Absent(note.clone()),
        Known::Unknown(why) => return Known::Unknown(why.clone()),
    };
    let (name, text) = gate_default(minor);
    let source = ctx.sources.add(name, Kind::Default, text);
    let span = line_span(text, if minor < 28 { 1 } else { 2 });
    let origin = Origin { near, ..Origin::new(Layer::Default, Place { source, span }) };
    let mut said = vec![Said { value: Value::Bool(minor >= 31), origin }];
    if !(28..34).contains(&minor) {
        return Known::Is(said);
    }
    // AllAlpha and AllBeta stand for a gate that is not named itself
    let group = if minor < 31 { "AllAlpha" } else { "AllBeta" };
    for wanted in [group, GATE] {
        match config.statements(&["featureGates", wanted]) {
            Known::Is(set) => {
                // named itself it beats its group, wherever that is said
                if wanted == GATE {
                    said.truncate(1);
                }
                said.extend(set.iter().cloned());
            }
            Known::Unknown(why) => return Known::Unknown(why),
            Known::Absent(_) => {}
        }
    }
    Known::Is(said)
}
