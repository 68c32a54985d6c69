//! Flags that libraries bring: version and help, klog, cAdvisor, the credential providers.

use crate::model::kubelet::flags::{Flag, FlagKind::*};

const fn klog(name: &'static str, kind: super::FlagKind) -> Flag {
    Flag::new(name, kind).until(26)
}

const fn cadvisor(name: &'static str, kind: super::FlagKind) -> Flag {
    Flag::new(name, kind).old()
}

/// cAdvisor's flags for Docker are gone since the kubelet has none of its own for it; the version
/// is not established by a change log, nor is that of `azure-container-registry-config`.
pub(super) const FLAGS: &[Flag] = &[
    Flag::new("help", Bool).short('h'),
    Flag::new("version", Version),
    klog("add-dir-header", GoBool),
    klog("alsologtostderr", GoBool),
    klog("log-backtrace-at", Text),
    klog("log-dir", Text),
    klog("log-file", Text),
    klog("log-file-max-size", GoInt),
    klog("logtostderr", GoBool),
    klog("one-output", GoBool),
    klog("skip-headers", GoBool),
    klog("skip-log-headers", GoBool),
    klog("stderrthreshold", Text),
    Flag::new("experimental-logging-sanitization", Bool).until(24).old(),
    Flag::new("azure-container-registry-config", Text).until(31),
    cadvisor("application-metrics-count-limit", GoInt),
    cadvisor("boot-id-file", Text),
    cadvisor("container-hints", Text),
    cadvisor("containerd", Text),
    cadvisor("containerd-namespace", Text),
    cadvisor("docker", Text).until(24),
    cadvisor("docker-env-metadata-whitelist", Text).until(24),
    cadvisor("docker-only", GoBool).until(24),
    cadvisor("docker-root", Text).until(24),
    cadvisor("docker-tls", GoBool).until(24),
    cadvisor("docker-tls-ca", Text).until(24),
    cadvisor("docker-tls-cert", Text).until(24),
    cadvisor("docker-tls-key", Text).until(24),
    cadvisor("enable-load-reader", GoBool),
    cadvisor("event-storage-age-limit", Text),
    cadvisor("event-storage-event-limit", Text),
    cadvisor("global-housekeeping-interval", GoDuration),
    Flag::new("housekeeping-interval", GoDuration),
    cadvisor("log-cadvisor-usage", GoBool),
    cadvisor("machine-id-file", Text),
    cadvisor("storage-driver-buffer-duration", GoDuration),
    cadvisor("storage-driver-db", Text),
    cadvisor("storage-driver-host", Text),
    cadvisor("storage-driver-password", Text),
    cadvisor("storage-driver-secure", GoBool),
    cadvisor("storage-driver-table", Text),
    cadvisor("storage-driver-user", Text),
];
