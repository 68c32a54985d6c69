//! Drop-ins of the kubelet: three algorithms, by version, each with its own treatment of null, zero,
//! case, foreign kinds and relative paths. Rows are what real kubelets 1.28.15, 1.31.14, 1.34.9 and
//! 1.36.3 did; 1.29 and 1.30 merge as 1.31, 1.32 and 1.33 as 1.34 (upstream's functions compared).

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod memory;

use memory::Memory;
use nodevet::fact::Known;
use nodevet::model::kubelet::start::Start;
use nodevet::model::kubelet::validate::Host;
use nodevet::model::unit::{Argument, Woven};
use nodevet::text::{Kind, Place, Span};

const HEAD: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/// A text that begins with `~` gets the heading of a configuration.
fn text(body: &str) -> Vec<u8> {
    body.strip_prefix('~').map_or(body.to_owned(), |body| format!("{HEAD}{body}")).into_bytes()
}

/// What a field comes to, `-` for one that nobody says, or the stage that refuses.
fn value(base: &str, drop_ins: &[&str], field: &str, minor: u32) -> String {
    let mut node = Memory::default();
    let mut line = String::new();
    if !base.is_empty() {
        node.files.insert("/k/config.yaml".into(), Some(text(base)));
        line += "--config=/k/config.yaml ";
    }
    for (index, body) in drop_ins.iter().enumerate() {
        node.files.insert(format!("/k/d/{index}.conf"), Some(text(body)));
    }
    line += "--config-dir=/k/d";
    let source = node.sources.add("argv:7", Kind::Argv, line.as_str());
    let mut at = 0;
    let words = line.split(' ').map(|word| {
        let span = Span::new(at, at + word.len());
        at = span.end + 1;
        Argument { value: Woven::of(word, source, span.start), place: Place { source, span }, variable: None }
    });
    let words = words.collect();
    let start = Start::read(&mut node, words, Known::Is(true), "/");
    let host = Host { cgroup_v2: Known::Is(true), swap: Known::Is(false) };
    let outcome = start.outcome(&mut node, &[minor], &host);
    if let Some(refusal) = outcome.refusals.first() {
        return format!("refused: {}", refusal.stage.name());
    }
    let Known::Is(config) = outcome.config else { panic!("neither refused nor read") };
    let path: Vec<&str> = field.split('/').collect();
    match config.value(&path) {
        Known::Is(value) => value.to_string(),
        Known::Absent(_) => "-".into(),
        Known::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Base, drop-ins, field; then what 1.28, 1.29 to 1.31, and 1.32 and later make of it.
type Row = (&'static str, &'static [&'static str], &'static str, [&'static str; 3]);

const REFUSED: &str = "refused: drop-in";

const ROWS: &[Row] = &[
    // something else is said: 1.28 lays all defaults that are not zero over the file
    ("~cgroupDriver: systemd", &["~syncFrequency: 2m"], "cgroupDriver", ["cgroupfs", "systemd", "systemd"]),
    ("~failSwapOn: false", &["~syncFrequency: 2m"], "failSwapOn", ["true", "false", "false"]),
    ("~resolvConf: /base", &["~syncFrequency: 2m"], "resolvConf", ["/etc/resolv.conf", "/base", "/base"]),
    (
        "~evictionHard: {memory.available: 5%}",
        &["~syncFrequency: 2m"],
        "evictionHard/memory.available",
        ["100Mi", "5%", "5%"],
    ),
    (
        "~evictionHard: {memory.available: 5%}",
        &["~syncFrequency: 2m"],
        "evictionHard/nodefs.available",
        ["10%", "-", "-"],
    ),
    // false, 0, "" and []
    ("~failSwapOn: true", &["~failSwapOn: false"], "failSwapOn", ["true", "false", "false"]),
    ("~failSwapOn: true", &["~failSwapOn: no"], "failSwapOn", ["true", "false", "false"]),
    ("~readOnlyPort: 10255", &["~readOnlyPort: 0"], "readOnlyPort", ["10255", "0", "0"]),
    ("~staticPodPath: /x", &["~staticPodPath: \"\""], "staticPodPath", ["/x", "", ""]),
    (
        "~",
        &["~enforceNodeAllocatable: []\ncgroupsPerQOS: false"],
        "cgroupsPerQOS",
        ["true", "false", "false"],
    ),
    ("~", &["~enforceNodeAllocatable: []\ncgroupsPerQOS: false"], "enforceNodeAllocatable", ["pods", "", ""]),
    // null
    ("~cgroupDriver: systemd", &["~cgroupDriver: null"], "cgroupDriver", ["cgroupfs", "systemd", "cgroupfs"]),
    ("~failSwapOn: false", &["~failSwapOn: null"], "failSwapOn", ["true", "false", "true"]),
    ("~staticPodPath: /x", &["~staticPodPath: null"], "staticPodPath", ["/x", "/x", "-"]),
    (
        "~systemReserved: {cpu: 100m, memory: 1Gi}",
        &["~systemReserved: {cpu: null}"],
        "systemReserved/cpu",
        ["", "100m", "-"],
    ),
    (
        "~systemReserved: {cpu: 100m, memory: 1Gi}",
        &["~systemReserved: {cpu: null}"],
        "systemReserved/memory",
        ["1Gi", "1Gi", "1Gi"],
    ),
    (
        "~featureGates: {MemoryQoS: false}",
        &["~featureGates: null"],
        "featureGates/MemoryQoS",
        ["false", "false", "-"],
    ),
    // 1.29 to 1.31: null undoes an earlier drop-in
    (
        "~cgroupDriver: cgroupfs",
        &["~cgroupDriver: systemd", "~cgroupDriver: null"],
        "cgroupDriver",
        ["cgroupfs", "cgroupfs", "cgroupfs"],
    ),
    // an empty text
    ("~cgroupDriver: systemd", &["~cgroupDriver: \"\""], "cgroupDriver", ["cgroupfs", "", "cgroupfs"]),
    // case
    (
        "~cgroupDriver: cgroupfs",
        &["~cgroupdriver: systemd"],
        "cgroupDriver",
        ["cgroupfs", "systemd", "systemd"],
    ),
    (
        "~cgroupDriver: cgroupfs",
        &["~CgroupDriver: systemd"],
        "cgroupDriver",
        ["cgroupfs", "systemd", "cgroupfs"],
    ),
    (
        "~",
        &["~CgroupDriver: systemd", "~cgroupDriver: cgroupfs"],
        "cgroupDriver",
        ["cgroupfs", "cgroupfs", "cgroupfs"],
    ),
    // the one field with two names
    ("~resolvConf: /base", &["~resolvConf: /drop"], "resolvConf", ["/drop", "/base", "/drop"]),
    ("~resolvConf: /base", &["~resolverConfig: /drop"], "resolvConf", ["/etc/resolv.conf", "/drop", "/base"]),
    // a struct inside
    ("~", &["~authorization: {mode: AlwaysAllow}"], "authorization/mode", ["AlwaysAllow"; 3]),
    ("", &["~authorization: {mode: AlwaysAllow}"], "readOnlyPort", ["10255"; 3]),
    ("", &["~syncFrequency: 2m"], "authorization/mode", ["Webhook", "AlwaysAllow", "AlwaysAllow"]),
    ("", &["~syncFrequency: 2m"], "authentication/anonymous/enabled", ["true"; 3]),
    // lists replace, maps merge, the later file wins
    ("~clusterDNS: [10.0.0.1]", &["~clusterDNS: [10.0.0.2]"], "clusterDNS", ["10.0.0.2"; 3]),
    (
        "~systemReserved: {cpu: 1}",
        &["~systemReserved: {memory: 1Gi}"],
        "systemReserved/cpu",
        ["refused: config-load"; 3],
    ),
    ("~systemReserved: {cpu: \"1\"}", &["~systemReserved: {memory: 1Gi}"], "systemReserved/cpu", ["1"; 3]),
    ("~", &["~cgroupDriver: systemd", "~cgroupDriver: cgroupfs"], "cgroupDriver", ["cgroupfs"; 3]),
    // what is no configuration
    (
        "~",
        &["~cgroupDriver: systemd\ncgroupDriver: cgroupfs"],
        "cgroupDriver",
        ["cgroupfs", REFUSED, REFUSED],
    ),
    ("~", &["cgroupDriver: systemd"], "cgroupDriver", [REFUSED; 3]),
    (
        "~",
        &["apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\ncgroupDriver: systemd"],
        "cgroupDriver",
        [REFUSED, "systemd", REFUSED],
    ),
    (
        "~",
        &["apiVersion: v1\nkind: ConfigMap\ncgroupDriver: systemd"],
        "cgroupDriver",
        [REFUSED, "systemd", REFUSED],
    ),
    (
        "~",
        &["apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n---\n~"],
        "cgroupDriver",
        [REFUSED, "cgroupfs", REFUSED],
    ),
    ("~", &[""], "cgroupDriver", [REFUSED; 3]),
    ("~", &["~failSwapOn: \"no\""], "failSwapOn", [REFUSED; 3]),
    ("~", &["~noSuchField: 1"], "cgroupDriver", ["cgroupfs"; 3]),
    // a relative path
    ("~", &["~staticPodPath: rel"], "staticPodPath", ["/k/d/rel", "rel", "rel"]),
    ("~staticPodPath: rel", &["~cgroupDriver: systemd"], "staticPodPath", ["/k/rel"; 3]),
];

#[test]
fn each_version_merges_as_its_kubelet_did() {
    let mut wrong = Vec::new();
    for (base, drop_ins, field, expected) in ROWS {
        for minor in 28..=36 {
            let expected = match minor {
                28 => expected[0],
                29..=31 => expected[1],
                _ => expected[2],
            };
            let ours = value(base, drop_ins, field, minor);
            if ours != expected {
                wrong.push(format!("1.{minor}: {base:?} {drop_ins:?} {field} is {ours:?}, was {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
