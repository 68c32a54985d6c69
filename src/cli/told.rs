//! What a run says beside its findings: what the node is, and what was taken for granted.

use crate::fact::Known;
use crate::look::Look;
use crate::version::Version;

/// The oldest containerd whose behaviour is known.
const OLDEST: &str = "1.4";

/// `containerd 2.1.9, kubelet 1.34.2, systemd 257, cgroup v2`; empty where nothing of it is known.
pub(super) fn node(look: &Look) -> Vec<String> {
    let said = |name: &str| look.now.merged.named(name).value.is().map(ToString::to_string);
    let init = said("host.init");
    let systemd = said("host.systemd_version").filter(|_| init.as_deref().is_none_or(|i| i == "systemd"));
    let parts = [
        said("containerd.version").map(|v| format!("containerd {v}")),
        said("kubelet.version").map(|v| format!("kubelet {v}")),
        systemd.map(|v| format!("systemd {v}")).or(init.map(|i| format!("init {i}"))),
        said("cgroup.mode").map(|m| format!("cgroup {m}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { Vec::new() } else { vec![parts.join(", ")] }
}

/// Whether there is a kubelet or a container runtime at all.
pub(super) fn has_kubernetes(look: &Look) -> bool {
    let here = |name: &str| !matches!(look.now.merged.named(name).value, Known::Absent(_));
    here("containerd.config_file") || here("kubelet.runtime_endpoint")
}

/// What limits the judgement.
pub(super) fn notes(look: &Look) -> Vec<String> {
    let version = &look.now.merged.named("containerd.version").value;
    let version = version.is().and_then(|v| Version::parse(v.as_text()?));
    let older = version.zip(Version::parse(OLDEST)).filter(|(v, oldest)| v.at_least(oldest) == Some(false));
    older
        .map(|(v, _)| format!("containerd {} is judged as {OLDEST}, the oldest version known here", v.text()))
        .into_iter()
        .collect()
}
