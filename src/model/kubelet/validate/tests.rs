use super::testing::config;
use super::*;
use proptest::prelude::*;

fn host(cgroup_v2: Option<bool>) -> Host {
    let known = cgroup_v2.map_or(Known::Unknown(Why::Unread), Known::Is);
    Host { cgroup_v2: known, swap: Known::Is(false) }
}

fn verdict(fields: &str, minor: u32) -> Verdict {
    validate(&config(fields, minor), minor, &host(Some(true)))
}

/// The messages, `ok` for none, `?` and the fields for what is unclear only.
fn told(verdict: &Verdict) -> String {
    let messages: Vec<&str> = verdict.refusals.iter().map(|r| r.message.as_str()).collect();
    let fields: Vec<&str> = verdict.unclear.iter().map(|(field, _)| field.as_str()).collect();
    match (messages.is_empty(), fields.is_empty()) {
        (false, _) => messages.join("; "),
        (true, false) => format!("? {}", fields.join(" ")),
        (true, true) => "ok".into(),
    }
}

#[test]
fn an_empty_file_is_right_in_every_version() {
    for minor in 20..=37 {
        assert_eq!(told(&verdict("", minor)), "ok", "1.{minor}");
    }
}

/// Fields, the versions around a boundary, and what each says; only a part of a message is named.
const CASES: &[(&str, &[(u32, &str)])] = &[
    ("nodeLeaseDurationSeconds: -1", &[(20, "must be greater than 0"), (36, "-1 must be greater than 0")]),
    (
        "cgroupsPerQOS: false",
        &[(30, "not supported unless cgroupsPerQOS"), (31, "cgroupsPerQOS must be true when \"pods\"")],
    ),
    ("cgroupsPerQOS: false\nenforceNodeAllocatable: []", &[(28, "ok"), (36, "ok")]),
    (
        "cgroupsPerQOS: false\nenforceNodeAllocatable: [none]",
        &[(30, "enforceNodeAllocatable (none)"), (31, "ok")],
    ),
    (
        "systemCgroups: /system.slice",
        &[(20, "cgroupRoot was not specified"), (36, "cgroupRoot was not specified")],
    ),
    ("systemCgroups: /a\ncgroupRoot: /", &[(36, "ok")]),
    (
        "eventBurst: -1\neventRecordQPS: -2",
        &[(36, "eventBurst -1 must not be a negative number; eventRecordQPS -2")],
    ),
    ("healthzPort: 0", &[(36, "ok")]),
    ("healthzPort: 65536", &[(36, "healthzPort 65536 must be between 1 and 65535")]),
    (
        "port: 65536\nreadOnlyPort: -1",
        &[(28, "port 65536 must be between 1 and 65535, inclusive; readOnlyPort -1")],
    ),
    ("cpuCFSQuotaPeriod: 100ms", &[(35, "ok")]),
    ("cpuCFSQuotaPeriod: 50ms", &[(35, "requires feature gate CustomCPUCFSQuotaPeriod"), (36, "ok")]),
    (
        "cpuCFSQuotaPeriod: 500us\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}",
        &[(24, "ok"), (26, "? cpuCFSQuotaPeriod"), (27, "between 1ms and 1sec")],
    ),
    (
        "cpuCFSQuotaPeriod: 2s\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}",
        &[(20, "2s must be between 1usec and 1sec"), (27, "2s must be between 1ms and 1sec")],
    ),
    (
        "imageGCHighThresholdPercent: 101",
        &[(36, "imageGCHighThresholdPercent 101 must be between 0 and 100")],
    ),
    (
        "imageGCHighThresholdPercent: 80",
        &[(36, "imageGCLowThresholdPercent 80 must be less than imageGCHighThresholdPercent 80")],
    ),
    ("imageMaximumGCAge: 1h", &[(28, "ok"), (29, "requires feature gate ImageMaximumGCAge"), (30, "ok")]),
    ("imageMaximumGCAge: 1m", &[(30, "1m0s must be greater than imageMinimumGCAge 2m0s")]),
    ("imageMinimumGCAge: -1s", &[(28, "ok"), (29, "imageMinimumGCAge -1s must not be negative")]),
    ("draManagerReconcilePeriod: -1s", &[(35, "ok"), (36, "must be greater than zero")]),
    (
        "iptablesDropBit: 32\niptablesMasqueradeBit: -1",
        &[(36, "iptablesDropBit 32 must be between 0 and 31, inclusive; iptablesMasqueradeBit -1")],
    ),
    ("nodeStatusMaxImages: -2", &[(36, "nodeStatusMaxImages -2 must be -1 or greater")]),
    ("nodeStatusMaxImages: -1", &[(36, "ok")]),
    (
        "maxOpenFiles: -1\nmaxPods: -1\npodsPerCore: -1",
        &[(
            36,
            "maxOpenFiles -1 must not be a negative number; maxPods -1 must not be a negative number; podsPerCore -1",
        )],
    ),
    ("oomScoreAdj: -1001", &[(36, "oomScoreAdj -1001 must be between -1000 and 1000")]),
    (
        "registryBurst: -1\nregistryPullQPS: -1",
        &[(36, "registryBurst -1 must not be a negative number; registryPullQPS")],
    ),
    ("maxParallelImagePulls: 0", &[(26, "ok"), (27, "maxParallelImagePulls 0 must be a positive number")]),
    ("maxParallelImagePulls: 2\nserializeImagePulls: true", &[(36, "unless serializeImagePulls is false")]),
    ("maxParallelImagePulls: 2\nserializeImagePulls: false", &[(36, "ok")]),
    (
        "serverTLSBootstrap: true\nfeatureGates: {RotateKubeletServerCertificate: false}",
        &[(35, "requires feature gate RotateKubeletServerCertificate")],
    ),
    ("runOnce: true", &[(31, "ok"), (32, "must not be set")]),
    ("registerWithTaints: [{key: a/b, effect: NoSchedule}]", &[(23, "ok"), (36, "ok")]),
    ("registerWithTaints: [{key: a b, effect: NoSchedule}]", &[(22, "ok"), (23, "invalid taint: ")]),
    ("registerWithTaints: [{key: a, effect: Never}]", &[(36, "invalid taint: ")]),
    ("topologyManagerPolicy: single-numa-node", &[(20, "ok"), (36, "ok")]),
    (
        "topologyManagerPolicy: Restricted",
        &[(22, "? topologyManagerPolicy"), (23, "\"Restricted\" must be one of: none, ")],
    ),
    (
        "topologyManagerPolicy: restricted\nfeatureGates: {TopologyManager: false}",
        &[(26, "requires feature gate TopologyManager")],
    ),
    ("topologyManagerScope: node", &[(36, "topologyManagerScope \"node\" must be one of: container, pod")]),
    (
        "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s",
        &[(20, "require feature gate GracefulNodeShutdown"), (21, "ok"), (36, "ok")],
    ),
    ("shutdownGracePeriodCriticalPods: 10s", &[(21, "10s must be <= shutdownGracePeriod 0s")]),
    (
        "shutdownGracePeriod: 500ms",
        &[(21, "ok"), (22, "? shutdownGracePeriod"), (23, "must be either zero or at least 1 sec")],
    ),
    (
        "shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 1}]",
        &[(22, "ok"), (23, "requires feature gate GracefulNodeShutdownBasedOnPodPriority"), (24, "ok")],
    ),
    (
        "shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 1}]\nshutdownGracePeriod: 5s",
        &[(24, "cannot both be set")],
    ),
    (
        "memorySwap: {swapBehavior: LimitedSwap}",
        &[
            (21, "ok"),
            (22, "cannot be set when feature gate NodeSwap is off"),
            (29, "NodeSwap is off"),
            (30, "ok"),
            (36, "ok"),
        ],
    ),
    (
        "memorySwap: {swapBehavior: UnlimitedSwap}",
        &[
            (28, "NodeSwap is off"),
            (30, "must be one of: \"\", LimitedSwap or NoSwap"),
            (36, "must be one of"),
        ],
    ),
    (
        "memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}",
        &[(29, "ok"), (30, "must be one of")],
    ),
    (
        "memorySwap: {swapBehavior: NoSwap}\nfeatureGates: {NodeSwap: true}",
        &[(29, "must be one of: \"\", LimitedSwap or UnlimitedSwap"), (30, "ok")],
    ),
    ("memorySwap: {swapBehavior: LimitedSwap}\nfeatureGates: {NodeSwap: false}", &[(33, "NodeSwap is off")]),
    (
        "crashLoopBackOff: {maxContainerRestartPeriod: 2s}",
        &[(31, "ok"), (32, "must not be set unless feature gate"), (34, "must not be set"), (35, "ok")],
    ),
    ("crashLoopBackOff: {maxContainerRestartPeriod: 301s}", &[(35, "5m1s must be between 1s and 300s")]),
    (
        "enforceNodeAllocatable: [pods, system-reserved]",
        &[(36, "systemReservedCgroup must be specified when system-reserved")],
    ),
    ("enforceNodeAllocatable: [kube-reserved]\nkubeReservedCgroup: /k", &[(28, "ok"), (36, "ok")]),
    (
        "enforceNodeAllocatable: [pod]",
        &[(31, "kube-reserved or none"), (32, "kube-reserved-compressible or none")],
    ),
    ("enforceNodeAllocatable: [none, pods]", &[(36, "must not list anything besides none")]),
    (
        "enforceNodeAllocatable: [pods, pods]",
        &[(30, "ok"), (32, "? enforceNodeAllocatable"), (33, "pods stands twice")],
    ),
    (
        "enforceNodeAllocatable: [kube-reserved-compressible]\nkubeReservedCgroup: /k",
        &[(31, "option \"kube-reserved-compressible\""), (32, "ok")],
    ),
    (
        "enforceNodeAllocatable: [system-reserved, system-reserved-compressible]\nsystemReservedCgroup: /s",
        &[(31, "option \"system-reserved-compressible\""), (32, "cannot be specified together")],
    ),
    (
        "hairpinMode: zig",
        &[(20, "option \"zig\" specified for hairpinMode"), (36, "valid options are none, hairpin-veth")],
    ),
    (
        "imagePullCredentialsVerificationPolicy: AlwaysVerify",
        &[(32, "ok"), (33, "must not be set unless"), (35, "ok")],
    ),
    ("imagePullCredentialsVerificationPolicy: Always", &[(35, "\"Always\", not one of NeverVerify")]),
    (
        "preloadedImagesVerificationAllowlist: [a]",
        &[(35, "cannot be set unless imagePullCredentialsVerificationPolicy")],
    ),
    ("reservedSystemCPUs: 0-1,3", &[(36, "ok")]),
    ("reservedSystemCPUs: 3-1", &[(36, "is not a list of CPUs")]),
    (
        "reservedSystemCPUs: '0'\nkubeReservedCgroup: /kube.slice",
        &[(28, "reservedSystemCPUs (0) cannot be used with kubeReservedCgroup")],
    ),
    ("reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]", &[(36, "ok")]),
    ("reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]", &[(21, "ok"), (22, "only memory and hugepages")]),
    (
        "reservedMemory: [{limits: {memory: 1Gi}}, {limits: {memory: 2Gi}}]",
        &[(36, "memory (2Gi) of NUMA node 0: is there twice")],
    ),
    ("reservedMemory: [{limits: {memory: 0Gi}}]", &[(36, "must not be zero")]),
    (
        "showHiddenMetricsForVersion: '1.35'",
        &[(36, "ok"), (35, "? showHiddenMetricsForVersion"), (37, "only the previous minor")],
    ),
    ("showHiddenMetricsForVersion: next", &[(36, "only the previous minor version is allowed")]),
    ("logging: {format: xml}", &[(20, "unsupported log format \"xml\""), (36, "unsupported log format")]),
    (
        "logging: {format: json, vmodule: [{filePattern: a, verbosity: 1}]}",
        &[(36, "only supported for text")],
    ),
    (
        "tracing: {samplingRatePerMillion: 1}",
        &[(24, "ok"), (25, "feature gate KubeletTracing is off"), (27, "ok")],
    ),
    ("tracing: {samplingRatePerMillion: 1000001}", &[(27, "must be between 0 and 1000000")]),
    ("memoryThrottlingFactor: 1.5", &[(21, "ok"), (22, "memoryThrottlingFactor 1.5 must be greater than 0")]),
    ("memoryThrottlingFactor: 1", &[(36, "ok")]),
    ("memoryReservationPolicy: TieredReservation", &[(35, "ok"), (36, "requires feature gate MemoryQoS")]),
    ("memoryReservationPolicy: All", &[(36, "option \"All\" specified for memoryReservationPolicy")]),
    (
        "enableSystemLogQuery: true",
        &[(26, "ok"), (27, "requires feature gate NodeLogQuery"), (35, "NodeLogQuery"), (36, "ok")],
    ),
    ("enableSystemLogQuery: true\nenableSystemLogHandler: false", &[(36, "requires enableSystemLogHandler")]),
    (
        "containerLogMaxWorkers: 0\ncontainerLogMonitorInterval: 1s",
        &[
            (29, "ok"),
            (
                30,
                "containerLogMaxWorkers 0 must be greater than or equal to 1; containerLogMonitorInterval 1s",
            ),
        ],
    ),
    (
        "containerLogMaxFiles: 1",
        &[(29, "ok"), (32, "? containerLogMaxFiles"), (33, "containerLogMaxFiles 1 must be greater than 1")],
    ),
    ("podLogsDir: /var/log/../pods", &[(28, "ok"), (29, "must be normalized")]),
    ("podLogsDir: /var/log/ü", &[(36, "must contain ASCII characters only")]),
];

#[test]
fn each_check_in_the_versions_around_its_boundary() {
    for (fields, versions) in CASES {
        for (minor, expected) in *versions {
            let told = told(&verdict(fields, *minor));
            let right = match *expected {
                "ok" => told == "ok",
                unclear if unclear.starts_with('?') => told == unclear,
                part => told.contains(part),
            };
            assert!(right, "{fields} with 1.{minor}: {told}, not {expected}");
        }
    }
}

#[test]
fn what_the_cgroups_of_the_host_decide() {
    for (fields, minor, v2, expected) in [
        ("", 34, Some(false), "ok"),
        ("", 35, Some(false), "cgroup v1 support is unsupported"),
        ("", 35, Some(true), "ok"),
        ("", 35, None, "? failCgroupV1"),
        ("failCgroupV1: false", 36, Some(false), "ok"),
        ("failCgroupV1: false", 36, None, "ok"),
        ("failCgroupV1: true", 30, Some(false), "ok"),
        ("failCgroupV1: true", 31, Some(false), "cgroup v1 support is in maintenance mode"),
        ("failCgroupV1: true", 31, None, "? failCgroupV1"),
        ("singleProcessOOMKill: false", 31, Some(false), "ok"),
        (
            "singleProcessOOMKill: false",
            32,
            Some(false),
            "singleProcessOOMKill must not be explicitly set to false",
        ),
        ("singleProcessOOMKill: false", 32, Some(true), "ok"),
        ("singleProcessOOMKill: false", 32, None, "? singleProcessOOMKill"),
        ("singleProcessOOMKill: true", 32, Some(false), "ok"),
    ] {
        let told = told(&validate(&config(fields, minor), minor, &host(v2)));
        let right = if expected.starts_with('?') || expected == "ok" {
            told == expected
        } else {
            told.contains(expected)
        };
        assert!(right, "{fields} with 1.{minor} on {v2:?}: {told}, not {expected}");
    }
}

#[test]
fn all_errors_in_upstreams_order() {
    let fields = "enforceNodeAllocatable: [bogus]\nhairpinMode: zig\nnodeLeaseDurationSeconds: -1";
    let verdict = verdict(fields, 36);
    let first = |message: &str| message.split(' ').next().unwrap_or_default().to_owned();
    let starts: Vec<String> = verdict.refusals.iter().map(|r| first(&r.message)).collect();
    assert_eq!(starts, ["nodeLeaseDurationSeconds", "option", "option"]);
    // each at its value: the element, the word, the number
    let lengths = verdict.refusals.iter().map(|r| r.origin.place.span.end - r.origin.place.span.start);
    assert_eq!(lengths.collect::<Vec<_>>(), ["-1".len(), "bogus".len(), "zig".len()]);
    assert!(verdict.refusals.iter().all(|r| r.origin.layer == Layer::File));
}

#[test]
fn an_unread_source_makes_checks_unclear_and_refuses_nothing() {
    let covered = Effective { covered: Some(Why::Denied("/etc".into())), ..Effective::default() };
    let verdict = validate(&covered, 36, &host(Some(true)));
    assert_eq!(verdict.refusals, []);
    assert!(verdict.unclear.len() > 20, "{:?}", verdict.unclear);
    assert_eq!(gates::check(&covered, 36).unclear.len(), 1);
}

#[test]
fn of_several_versions_only_what_all_refuse_is_refused() {
    for (fields, minors, expected) in [
        ("featureGates: {KubeletPSI: false}", &[35, 36][..], "? cannot set feature gate KubeletPSI"),
        ("featureGates: {NodeSwap: false}", &[35, 36], "cannot set feature gate NodeSwap to false"),
        ("featureGates: {AtomicFIFO: true}", &[35, 36], "? unrecognized feature gate: AtomicFIFO"),
        ("cpuCFSQuotaPeriod: 50ms", &[35, 36], "? cpuCFSQuotaPeriod 50ms requires"),
        ("cpuCFSQuotaPeriod: 50ms", &[35], "cpuCFSQuotaPeriod 50ms requires"),
        // worded otherwise, refused alike
        ("enforceNodeAllocatable: [pod]", &[32, 31], "option \"pod\" specified for enforceNodeAllocatable"),
        ("hairpinMode: zig", &[26, 20, 21, 22, 23, 24, 25], "option \"zig\""),
        ("", &[26, 20, 21, 22, 23, 24, 25], "ok"),
    ] {
        let told = told(&judge(&config(fields, minors[0]), minors, &host(Some(true))));
        assert!(told.starts_with(expected), "{fields} with {minors:?}: {told}, not {expected}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        "\\PC{0,12}".prop_map(Value::text),
        prop_oneof![
            Just("none"),
            Just("1s"),
            Just("-9999999h"),
            Just("0-3"),
            Just("{\"key\":\"a\"}"),
            Just("1.5")
        ]
        .prop_map(Value::text),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| proptest::collection::vec(inner, 0..3).prop_map(Value::List))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_panics(
        values in proptest::collection::vec((0..super::super::schema::FIELDS.len(), any_value()), 0..12),
        gate in prop_oneof![Just("AllAlpha"), Just("AllBeta"), Just("NodeSwap"), Just("x")],
        on in any::<bool>(),
        minor in prop_oneof![0u32..45, Just(u32::MAX)],
        v2 in any::<Option<bool>>(),
    ) {
        let mut config = config("", 36);
        let origin = config.said.values().next().unwrap()[0].origin.clone();
        let mut say = |path: Vec<String>, value| {
            let said = Said { value, origin: Origin::new(Layer::File, origin.place) };
            config.said.entry(path).or_default().push(said);
        };
        for (index, value) in values {
            say(vec![super::super::schema::FIELDS[index].name.to_owned()], value);
        }
        say(vec!["featureGates".into(), gate.into()], Value::Bool(on));
        let verdict = validate(&config, minor, &host(v2));
        let again = validate(&config, minor, &host(v2));
        prop_assert_eq!(verdict, again);
        let _ = gates::check(&config, minor);
    }
}
