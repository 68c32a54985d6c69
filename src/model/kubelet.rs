//! The kubelet: which cgroup driver and CRI endpoint its files and flags say, per version.
//! Facts of upstream: kubernetes cmd/kubelet/app/server.go, pkg/features/kube_features.go,
//! pkg/kubelet/kubelet.go (getCgroupDriverFromCRI), read for v1.28 to v1.36.

pub mod config;
pub mod effective;
pub mod flags;

use crate::version::Version;

/// Versions that treat the cgroup driver alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// The runtime is not asked, unless a feature gate of 1.28 to 1.30 is switched on.
    Before131,
    /// The runtime is asked, unless the gate is switched off.
    From131,
    /// The runtime is asked.
    From134,
}

/// The gate that makes the kubelet ask the runtime for its driver.
pub const GATE: &str = "KubeletCgroupDriverFromCRI";

/// The documented defaults, as the file that would say them. An exact line each.
pub const DEFAULTS: &str = "\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
";

impl Generation {
    pub const ALL: [Generation; 3] = [Generation::Before131, Generation::From131, Generation::From134];

    pub fn name(self) -> &'static str {
        match self {
            Generation::Before131 => "kubelet before 1.31",
            Generation::From131 => "kubelet 1.31-1.33",
            Generation::From134 => "kubelet 1.34 and later",
        }
    }

    /// Name and text of what is documented of the gate.
    pub fn gate_default(self) -> (&'static str, &'static str) {
        match self {
            Generation::Before131 => {
                ("default:kubelet-1.30", "featureGates:\n  KubeletCgroupDriverFromCRI: false\n")
            }
            Generation::From131 => {
                ("default:kubelet-1.31", "featureGates:\n  KubeletCgroupDriverFromCRI: true\n")
            }
            Generation::From134 => (
                "default:kubelet-1.34",
                "featureGates:\n  KubeletCgroupDriverFromCRI: true # cannot be switched off\n",
            ),
        }
    }

    /// The first version after the generation; a pre-release counts as what it leads to.
    fn bounds(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Generation::Before131 => (None, Some("1.31.0-alpha")),
            Generation::From131 => (Some("1.31.0-alpha"), Some("1.34.0-alpha")),
            Generation::From134 => (Some("1.34.0-alpha"), None),
        }
    }
}

/// The generations that a version may belong to: one when it is known, all without any.
pub fn possible(version: Option<&Version>) -> Vec<Generation> {
    let fits = |g: &Generation| {
        let Some(version) = version else { return true };
        let (from, to) = g.bounds();
        from.is_none_or(|from| version.since(from) != Some(false))
            && to.is_none_or(|to| version.since(to) != Some(true))
    };
    Generation::ALL.into_iter().filter(fits).collect()
}

/// The driver that a written value stands for: it is never checked, and only this text means systemd.
pub fn behaves_as(written: &str) -> &'static str {
    if written == "systemd" { "systemd" } else { "cgroupfs" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_leaves_its_generations() {
        use Generation::{Before131, From131, From134};
        let of = |text: &str| possible(Version::parse(text).as_ref());
        for (text, expected) in [
            ("1.20.2", &[Before131][..]),
            ("v1.30", &[Before131]),
            ("1.31.0-rc.1", &[From131]),
            ("1.31", &[From131]),
            ("1.33.13", &[From131]),
            ("1.34.2+k3s1", &[From134]),
            ("2.0", &[From134]),
            ("1", &[Before131, From131, From134]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert_eq!(possible(None), Generation::ALL);
    }

    #[test]
    fn only_one_text_means_systemd() {
        for text in ["Systemd", "systemd ", "", "bogus"] {
            assert_eq!(behaves_as(text), "cgroupfs");
        }
        assert_eq!(behaves_as("systemd"), "systemd");
    }
}
