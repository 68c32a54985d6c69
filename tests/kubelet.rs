//! What real kubelets 1.28.15, 1.31.14, 1.34.9 and 1.36.3 made of their flags and files, against what
//! the model says: every case of fixtures/corpus/kubelet.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod memory;

use libtest_mimic::{Arguments, Failed, Trial};
use memory::Memory;
use nodevet::collect::Options;
use nodevet::fact::{Known, Value};
use nodevet::look::Look;
use nodevet::model::kubelet::effective::Effective;
use nodevet::model::kubelet::start::{Outcome, Start};
use nodevet::model::kubelet::validate::Host;
use nodevet::model::unit::Argument;
use nodevet::node::Node;
use nodevet::text::Kind;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Cases that the model judges otherwise, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    // recorded with a patched kubelet that takes any label of a node's role
    ("f18-node-labels", "*"),
    // the same kubelets only warn of a gate that they do not know
    ("d37-unknown-gate", "*"),
    ("e16-dropin-unknown-gate", "*"),
    // the socket lay elsewhere in these runs
    ("r95-bare-path", "1.28.15"),
    ("r95-bare-path", "1.31.14"),
    ("r95-bare-path", "1.34.9"),
];

/// Recorded fields and where the file says them.
const FIELDS: [(&str, &[&str]); 22] = [
    ("CgroupDriver", &["cgroupDriver"]),
    ("CgroupRoot", &["cgroupRoot"]),
    ("CgroupsPerQOS", &["cgroupsPerQOS"]),
    ("FailSwapOn", &["failSwapOn"]),
    ("FailCgroupV1", &["failCgroupV1"]),
    ("StaticPodPath", &["staticPodPath"]),
    ("StaticPodURL", &["staticPodURL"]),
    ("ContainerRuntimeEndpoint", &["containerRuntimeEndpoint"]),
    ("EnforceNodeAllocatable", &["enforceNodeAllocatable"]),
    ("KubeReservedCgroup", &["kubeReservedCgroup"]),
    ("SystemReservedCgroup", &["systemReservedCgroup"]),
    ("KubeletCgroups", &["kubeletCgroups"]),
    ("SystemCgroups", &["systemCgroups"]),
    ("ClusterDNS", &["clusterDNS"]),
    ("ProtectKernelDefaults", &["protectKernelDefaults"]),
    ("ServerTLSBootstrap", &["serverTLSBootstrap"]),
    ("ResolverConfig", &["resolvConf"]),
    ("VolumePluginDir", &["volumePluginDir"]),
    ("ReadOnlyPort", &["readOnlyPort"]),
    ("SyncFrequency", &["syncFrequency"]),
    ("AnonymousAuth", &["authentication", "anonymous", "enabled"]),
    ("AuthorizationMode", &["authorization", "mode"]),
];

const MAPS: [(&str, &str); 4] = [
    ("FeatureGates", "featureGates"),
    ("SystemReserved", "systemReserved"),
    ("EvictionHard", "evictionHard"),
    ("StaticPodURLHeader", "staticPodURLHeader"),
];

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn outcome(case: &Json, version: &str) -> Outcome {
    let mut node = Memory::default();
    for (path, content) in case["files"].as_object().unwrap() {
        node.files.insert(path.clone(), Some(text(content).into_bytes()));
    }
    for (path, target) in case["links"].as_object().into_iter().flatten() {
        node.links.insert(path.clone(), text(target));
    }
    let args = case["results"][version].get("args").unwrap_or(&case["args"]);
    let mut at = 0;
    let words: Vec<String> = args.as_array().unwrap().iter().map(text).collect();
    let source = node.sources.add("argv:7", Kind::Argv, words.join("\n"));
    let args = words.into_iter().map(|word| {
        let argument = Argument::of(&word, source, at);
        at += word.len() + 1;
        argument
    });
    // all were run with the variable but this one
    let variable = Known::Is(case["case"] != "e00-noenv");
    let start = Start::read(&mut node, args.collect(), variable, "/");
    let v2 = match case["cgroup"].as_str() {
        Some("v2") => Known::Is(true),
        _ => Known::Is(false),
    };
    let minor = version.split('.').nth(1).unwrap().parse().unwrap();
    start.outcome(&mut node, &[minor], &Host { cgroup_v2: v2, swap: Known::Is(false) })
}

fn as_json(value: &Value) -> Json {
    match value {
        Value::Bool(is) => Json::from(*is),
        Value::Int(number) => Json::from(*number),
        Value::Text(text) => Json::from(&**text),
        Value::List(items) => items.iter().map(as_json).collect(),
    }
}

/// Go prints a field that nobody said as its zero value.
fn is_zero(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(is) => !is,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty() || text == "0s",
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
    }
}

fn differences(config: &Effective, recorded: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |name: &str, ours: Json, theirs: &Json| {
        if &ours != theirs && !(is_zero(&ours) && is_zero(theirs)) {
            found.push(format!("{name} is {ours}, was {theirs}"));
        }
    };
    let swap = (&["memorySwap", "swapBehavior"][..], &recorded["MemorySwap"]["SwapBehavior"]);
    let fields = FIELDS.iter().filter_map(|(name, path)| Some((*path, recorded.get(*name)?)));
    for (path, theirs) in fields.chain([swap]) {
        let ours = match config.value(path) {
            Known::Is(value) => as_json(value),
            Known::Absent(_) => Json::Null,
            Known::Unknown(why) => Json::from(why.to_string()),
        };
        compare(&path.join("."), ours, theirs);
    }
    for (name, path) in MAPS {
        let Known::Is(entries) = config.entries(&[path]) else {
            compare(path, Json::from("unknown"), &recorded[name]);
            continue;
        };
        let ours: serde_json::Map<String, Json> =
            entries.into_iter().map(|(key, said)| (key.to_owned(), as_json(&said.value))).collect();
        compare(path, Json::Object(ours), &recorded[name]);
    }
    found
}

fn judge(case: &Json, version: &str) -> Result<(), Failed> {
    let recorded = &case["results"][version];
    let outcome = outcome(case, version);
    let ours = match outcome.refusals.first() {
        Some(refusal) => format!("{}: {}", refusal.stage.name(), refusal.message),
        None if outcome.unclear.is_empty() => "accepted".into(),
        None => format!("unclear: {:?}", outcome.unclear),
    };
    let mut wrong = Vec::new();
    let stage = recorded["stage"].as_str().unwrap();
    let theirs = match stage {
        "dropin" => "drop-in",
        "flags" | "config-load" | "feature-gates" | "validate" => stage,
        _ => "accepted",
    };
    if ours.split(':').next() != Some(theirs) {
        wrong.push(format!("{ours}, was {stage} {}", recorded["error"]));
    }
    // the kind of error: a name that both speak of
    if let (Some(refusal), Some(error)) = (outcome.refusals.first(), recorded["error"].as_str())
        && theirs != "accepted"
    {
        let error = error.to_lowercase();
        let ours = refusal.message.to_lowercase();
        let mut names =
            ours.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|name| name.len() > 3);
        if !names.any(|name| error.contains(name)) {
            wrong.push(format!("{ours}, was {error}"));
        }
    }
    if let (Known::Is(config), Some(_)) = (&outcome.config, recorded["effective"].as_object()) {
        wrong.extend(differences(config, &recorded["effective"]));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ").into()),
    }
}

/// A containerd as those that were run beside the kubelets: `c17-true` is 1.7.24 with SystemdCgroup.
fn containerd(runtime: &str) -> Option<(&'static str, String)> {
    let (version, wanted) = runtime.split_once('-')?;
    let (version, head, table) = match version {
        "c17" => ("1.7.24", 2, "io.containerd.grpc.v1.cri"),
        _ => ("2.1.9", 3, "io.containerd.cri.v1.runtime"),
    };
    let options = match wanted {
        "unset" => String::new(),
        wanted => format!(
            "[plugins.'{table}'.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n\
             [plugins.'{table}'.containerd.runtimes.runc.options]\nSystemdCgroup = {wanted}\n"
        ),
    };
    Some((version, format!("version = {head}\n{options}")))
}

/// The driver in force, from the whole program on a node of files: the kubelet's unit, its files and
/// containerd's.
fn in_force(case: &Json, version: &str) -> Result<(), Failed> {
    let recorded = case["results"][version]["in_force"].as_str().unwrap();
    let Some((containerd, config)) = containerd(case["runtime"].as_str().unwrap()) else { return Ok(()) };
    let mut files: BTreeMap<String, String> = case["files"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, content)| (path.clone(), text(content)))
        .collect();
    let args: Vec<String> = case["args"].as_array().unwrap().iter().map(text).collect();
    // the sockets of the lab are elsewhere
    let args = args.iter().filter(|arg| !arg.starts_with("--container-runtime-endpoint"));
    let args = args.fold(String::new(), |line, arg| line + " " + arg);
    files.insert(
        "/etc/systemd/system/kubelet.service".into(),
        format!("[Service]\nExecStart=/usr/bin/kubelet{args}\n"),
    );
    files.insert(
        "/usr/lib/systemd/system/containerd.service".into(),
        "[Service]\nExecStart=/usr/bin/containerd\n".into(),
    );
    files.insert("/etc/containerd/config.toml".into(), config);
    let assume = [("kubelet", version), ("containerd", containerd)];
    let options = Options {
        assume: assume.into_iter().map(|(name, version)| (name.to_owned(), version.to_owned())).collect(),
        ..Options::default()
    };
    let look = Look::at(&Node::memory(files), &options);
    let ours = match &look.now.merged.named("kubelet.cgroup_driver").value {
        Known::Is(value) => value.to_string(),
        other => format!("{other:?}"),
    };
    if ours == recorded { Ok(()) } else { Err(format!("{ours}, was {recorded}").into()) }
}

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for line in include_str!("../fixtures/corpus/kubelet/cases.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let name = text(&case["case"]);
        let versions: Vec<String> = case["results"].as_object().unwrap().keys().cloned().collect();
        for version in versions {
            let case = case.clone();
            let ran = case["results"][&version]["in_force"].is_string() && case["runtime"] != "none";
            if ran {
                let (case, version) = (case.clone(), version.clone());
                let title = format!("{name}@{version} in force");
                trials.push(Trial::test(title, move || in_force(&case, &version)));
            }
            let excepted = EXCEPTIONS.iter().any(|(n, v)| *n == name && (*v == version || *v == "*"));
            trials.push(Trial::test(format!("{name}@{version}"), move || {
                match (judge(&case, &version), excepted) {
                    (Err(_), true) => Ok(()),
                    (Ok(()), true) => Err("listed as an exception, but agrees".into()),
                    (judged, false) => judged,
                }
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
