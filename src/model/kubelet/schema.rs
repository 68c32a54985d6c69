//! The fields of a KubeletConfiguration: their names, types and the versions that have them.
//! Upstream: kubernetes staging/src/k8s.io/kubelet/config/v1beta1/types.go (names of the file) and
//! pkg/kubelet/apis/config/types.go (names of the internal object, which drop-ins of 1.29 to 1.31 meet).

use Kind::{Any, Bool, BoolMap, Duration, Float, Int32, Int64, Ints, Struct, Text, TextMap, Texts, TextsMap};

/// What JSON a field takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Bool,
    Int32,
    Int64,
    Float,
    Text,
    /// A text that Go's time.ParseDuration takes.
    Duration,
    Ints,
    Texts,
    TextMap,
    TextsMap,
    BoolMap,
    Struct(&'static [Field]),
    /// Lists of objects and what else no check looks into.
    Any,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: &'static str,
    /// The name in Go, the key of the internal object.
    pub go: &'static str,
    pub kind: Kind,
    /// A pointer: a zero value that is written counts, and does not bring the default back.
    pub pointer: bool,
    /// The first minor version of 1.x that has it; those before drop it as an unknown field.
    pub since: u32,
}

const fn field(name: &'static str, go: &'static str, kind: Kind) -> Field {
    Field { name, go, kind, pointer: false, since: 0 }
}

impl Field {
    const fn or_none(self) -> Field {
        Field { pointer: true, ..self }
    }

    const fn since(self, since: u32) -> Field {
        Field { since, ..self }
    }
}

/// The field of a path and the first version that has it; for the key of a map the map.
pub(super) fn find(path: &[impl AsRef<str>]) -> Option<(&'static Field, u32)> {
    let mut fields = FIELDS;
    let mut since = 0;
    for name in path {
        let field = fields.iter().find(|field| field.name == name.as_ref())?;
        since = since.max(field.since);
        match field.kind {
            Kind::Struct(inner) => fields = inner,
            _ => return Some((field, since)),
        }
    }
    None
}

/// Fields that hold a path: a relative one in the file of `--config` counts from the file's directory
/// (upstream: KubeletConfigurationPathRefs).
pub(super) const PATHS: [&[&str]; 7] = [
    &["staticPodPath"],
    &["authentication", "x509", "clientCAFile"],
    &["tlsCertFile"],
    &["tlsPrivateKeyFile"],
    &["resolvConf"],
    &["volumePluginDir"],
    &["podLogsDir"],
];

const AUTHENTICATION: &[Field] = &[
    field("x509", "X509", Struct(&[field("clientCAFile", "ClientCAFile", Text)])),
    field(
        "webhook",
        "Webhook",
        Struct(&[field("enabled", "Enabled", Bool).or_none(), field("cacheTTL", "CacheTTL", Duration)]),
    ),
    field("anonymous", "Anonymous", Struct(&[field("enabled", "Enabled", Bool).or_none()])),
];

const AUTHORIZATION: &[Field] = &[
    field("mode", "Mode", Text),
    field(
        "webhook",
        "Webhook",
        Struct(&[
            field("cacheAuthorizedTTL", "CacheAuthorizedTTL", Duration),
            field("cacheUnauthorizedTTL", "CacheUnauthorizedTTL", Duration),
        ]),
    ),
];

const MEMORY_SWAP: &[Field] = &[field("swapBehavior", "SwapBehavior", Text)];

const CRASH_LOOP: &[Field] =
    &[field("maxContainerRestartPeriod", "MaxContainerRestartPeriod", Duration).or_none()];

const USER_NAMESPACES: &[Field] = &[field("idsPerPod", "IDsPerPod", Int64).or_none()];

const LOGGING: &[Field] = &[
    field("format", "Format", Text),
    // a number of nanoseconds or a duration
    field("flushFrequency", "FlushFrequency", Any),
    // a number or a text, by version
    field("verbosity", "Verbosity", Any),
    field("vmodule", "VModule", Any),
    field("options", "Options", Any),
];

pub(super) const FIELDS: &[Field] = &[
    field("enableServer", "EnableServer", Bool).or_none(),
    field("staticPodPath", "StaticPodPath", Text),
    field("podLogsDir", "PodLogsDir", Text).since(29),
    field("syncFrequency", "SyncFrequency", Duration),
    field("fileCheckFrequency", "FileCheckFrequency", Duration),
    field("httpCheckFrequency", "HTTPCheckFrequency", Duration),
    field("staticPodURL", "StaticPodURL", Text),
    field("staticPodURLHeader", "StaticPodURLHeader", TextsMap),
    field("address", "Address", Text),
    field("port", "Port", Int32),
    field("readOnlyPort", "ReadOnlyPort", Int32),
    field("tlsCertFile", "TLSCertFile", Text),
    field("tlsPrivateKeyFile", "TLSPrivateKeyFile", Text),
    field("tlsCipherSuites", "TLSCipherSuites", Texts),
    field("tlsCurvePreferences", "TLSCurvePreferences", Ints).since(36),
    field("tlsMinVersion", "TLSMinVersion", Text),
    field("rotateCertificates", "RotateCertificates", Bool),
    field("serverTLSBootstrap", "ServerTLSBootstrap", Bool),
    field("authentication", "Authentication", Struct(AUTHENTICATION)),
    field("authorization", "Authorization", Struct(AUTHORIZATION)),
    field("registryPullQPS", "RegistryPullQPS", Int32).or_none(),
    field("registryBurst", "RegistryBurst", Int32),
    field("imagePullCredentialsVerificationPolicy", "ImagePullCredentialsVerificationPolicy", Text).since(33),
    field("preloadedImagesVerificationAllowlist", "PreloadedImagesVerificationAllowlist", Texts).since(33),
    field("eventRecordQPS", "EventRecordQPS", Int32).or_none(),
    field("eventBurst", "EventBurst", Int32),
    field("enableDebuggingHandlers", "EnableDebuggingHandlers", Bool).or_none(),
    field("enableContentionProfiling", "EnableContentionProfiling", Bool),
    field("healthzPort", "HealthzPort", Int32).or_none(),
    field("healthzBindAddress", "HealthzBindAddress", Text),
    field("oomScoreAdj", "OOMScoreAdj", Int32).or_none(),
    field("clusterDomain", "ClusterDomain", Text),
    field("clusterDNS", "ClusterDNS", Texts),
    field("streamingConnectionIdleTimeout", "StreamingConnectionIdleTimeout", Duration),
    field("nodeStatusUpdateFrequency", "NodeStatusUpdateFrequency", Duration),
    field("nodeStatusReportFrequency", "NodeStatusReportFrequency", Duration),
    field("nodeLeaseDurationSeconds", "NodeLeaseDurationSeconds", Int32),
    field("imageMinimumGCAge", "ImageMinimumGCAge", Duration),
    field("imageMaximumGCAge", "ImageMaximumGCAge", Duration).since(29),
    field("imageGCHighThresholdPercent", "ImageGCHighThresholdPercent", Int32).or_none(),
    field("imageGCLowThresholdPercent", "ImageGCLowThresholdPercent", Int32).or_none(),
    field("volumeStatsAggPeriod", "VolumeStatsAggPeriod", Duration),
    field("kubeletCgroups", "KubeletCgroups", Text),
    field("systemCgroups", "SystemCgroups", Text),
    field("cgroupRoot", "CgroupRoot", Text),
    field("cgroupsPerQOS", "CgroupsPerQOS", Bool).or_none(),
    field("cgroupDriver", "CgroupDriver", Text),
    field("cpuManagerPolicy", "CPUManagerPolicy", Text),
    field("singleProcessOOMKill", "SingleProcessOOMKill", Bool).or_none().since(32),
    field("cpuManagerPolicyOptions", "CPUManagerPolicyOptions", TextMap).since(22),
    field("cpuManagerReconcilePeriod", "CPUManagerReconcilePeriod", Duration),
    field("draManagerReconcilePeriod", "DRAManagerReconcilePeriod", Duration).since(36),
    field("memoryManagerPolicy", "MemoryManagerPolicy", Text).since(22),
    field("topologyManagerPolicy", "TopologyManagerPolicy", Text),
    field("topologyManagerScope", "TopologyManagerScope", Text),
    field("topologyManagerPolicyOptions", "TopologyManagerPolicyOptions", TextMap).since(26),
    field("qosReserved", "QOSReserved", TextMap),
    field("runtimeRequestTimeout", "RuntimeRequestTimeout", Duration),
    field("hairpinMode", "HairpinMode", Text),
    field("maxPods", "MaxPods", Int32),
    field("podCIDR", "PodCIDR", Text),
    field("podPidsLimit", "PodPidsLimit", Int64).or_none(),
    field("resolvConf", "ResolverConfig", Text).or_none(),
    field("runOnce", "RunOnce", Bool),
    field("cpuCFSQuota", "CPUCFSQuota", Bool).or_none(),
    field("cpuCFSQuotaPeriod", "CPUCFSQuotaPeriod", Duration).or_none(),
    field("nodeStatusMaxImages", "NodeStatusMaxImages", Int32).or_none(),
    field("maxOpenFiles", "MaxOpenFiles", Int64),
    field("contentType", "ContentType", Text),
    field("kubeAPIQPS", "KubeAPIQPS", Int32).or_none(),
    field("kubeAPIBurst", "KubeAPIBurst", Int32),
    field("serializeImagePulls", "SerializeImagePulls", Bool).or_none(),
    field("maxParallelImagePulls", "MaxParallelImagePulls", Int32).or_none().since(27),
    field("evictionHard", "EvictionHard", TextMap),
    field("evictionSoft", "EvictionSoft", TextMap),
    field("evictionSoftGracePeriod", "EvictionSoftGracePeriod", TextMap),
    field("evictionPressureTransitionPeriod", "EvictionPressureTransitionPeriod", Duration),
    field("evictionMaxPodGracePeriod", "EvictionMaxPodGracePeriod", Int32),
    field("evictionMinimumReclaim", "EvictionMinimumReclaim", TextMap),
    field("mergeDefaultEvictionSettings", "MergeDefaultEvictionSettings", Bool).or_none().since(34),
    field("podsPerCore", "PodsPerCore", Int32),
    field("enableControllerAttachDetach", "EnableControllerAttachDetach", Bool).or_none(),
    field("protectKernelDefaults", "ProtectKernelDefaults", Bool),
    field("makeIPTablesUtilChains", "MakeIPTablesUtilChains", Bool).or_none(),
    field("iptablesMasqueradeBit", "IPTablesMasqueradeBit", Int32).or_none(),
    field("iptablesDropBit", "IPTablesDropBit", Int32).or_none(),
    field("featureGates", "FeatureGates", BoolMap),
    field("failSwapOn", "FailSwapOn", Bool).or_none(),
    field("memorySwap", "MemorySwap", Struct(MEMORY_SWAP)).since(22),
    field("containerLogMaxSize", "ContainerLogMaxSize", Text),
    field("containerLogMaxFiles", "ContainerLogMaxFiles", Int32).or_none(),
    field("containerLogMaxWorkers", "ContainerLogMaxWorkers", Int32).or_none().since(30),
    field("containerLogMonitorInterval", "ContainerLogMonitorInterval", Duration).or_none().since(30),
    field("configMapAndSecretChangeDetectionStrategy", "ConfigMapAndSecretChangeDetectionStrategy", Text),
    field("systemReserved", "SystemReserved", TextMap),
    field("kubeReserved", "KubeReserved", TextMap),
    field("reservedSystemCPUs", "ReservedSystemCPUs", Text),
    field("showHiddenMetricsForVersion", "ShowHiddenMetricsForVersion", Text),
    field("systemReservedCgroup", "SystemReservedCgroup", Text),
    field("kubeReservedCgroup", "KubeReservedCgroup", Text),
    field("enforceNodeAllocatable", "EnforceNodeAllocatable", Texts).or_none(),
    field("allowedUnsafeSysctls", "AllowedUnsafeSysctls", Texts),
    field("volumePluginDir", "VolumePluginDir", Text),
    field("providerID", "ProviderID", Text),
    field("kernelMemcgNotification", "KernelMemcgNotification", Bool),
    field("logging", "Logging", Struct(LOGGING)),
    field("enableSystemLogHandler", "EnableSystemLogHandler", Bool).or_none(),
    field("enableSystemLogQuery", "EnableSystemLogQuery", Bool).or_none().since(27),
    field("shutdownGracePeriod", "ShutdownGracePeriod", Duration),
    field("shutdownGracePeriodCriticalPods", "ShutdownGracePeriodCriticalPods", Duration),
    field("shutdownGracePeriodByPodPriority", "ShutdownGracePeriodByPodPriority", Any).since(23),
    field("crashLoopBackOff", "CrashLoopBackOff", Struct(CRASH_LOOP)).since(32),
    field("reservedMemory", "ReservedMemory", Any).since(22),
    field("enableProfilingHandler", "EnableProfilingHandler", Bool).or_none().since(22),
    field("enableDebugFlagsHandler", "EnableDebugFlagsHandler", Bool).or_none().since(22),
    field("seccompDefault", "SeccompDefault", Bool).or_none().since(22),
    field("memoryThrottlingFactor", "MemoryThrottlingFactor", Float).or_none().since(22),
    field("memoryReservationPolicy", "MemoryReservationPolicy", Text).since(36),
    field("registerWithTaints", "RegisterWithTaints", Any).since(23),
    field("registerNode", "RegisterNode", Bool).or_none().since(23),
    field("tracing", "Tracing", Any).since(25),
    field("localStorageCapacityIsolation", "LocalStorageCapacityIsolation", Bool).or_none().since(25),
    field("containerRuntimeEndpoint", "ContainerRuntimeEndpoint", Text).since(27),
    field("imageServiceEndpoint", "ImageServiceEndpoint", Text).since(27),
    field("failCgroupV1", "FailCgroupV1", Bool).or_none().since(31),
    field("userNamespaces", "UserNamespaces", Struct(USER_NAMESPACES)).since(33),
    field("podHousekeepingPeriod", "PodHousekeepingPeriod", Duration).or_none().since(37),
];
