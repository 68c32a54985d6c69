//! The kubelet: what its command line, files and drop-ins come to, per version.
//! Facts of upstream: kubernetes cmd/kubelet/app, pkg/kubelet/apis/config and pkg/features, read for
//! v1.28 to v1.36, and what real kubelets 1.28.15, 1.31.14, 1.34.9 and 1.36.3 did.

pub mod cgroup_names;
pub mod decode;
mod defaults;
mod duration;
pub mod effective;
mod fields;
mod files;
pub mod flags;
pub mod gates;
mod internal;
pub mod merge;
mod schema;
mod settings;
pub mod setup;
pub mod start;
mod tree;
pub mod validate;

use crate::version::Version;

/// Versions that treat the same files and flags alike, as far as is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The minor version of 1.x that stands for all of them.
    pub minor: u32,
    /// The version is known, and is this one.
    known: bool,
    /// Which of [`STARTS`] it is; a known version keeps its own minor.
    index: usize,
}

/// The first minor version of each generation.
const STARTS: [u32; 9] = [0, 27, 28, 29, 30, 31, 32, 34, 35];

/// The newest minor version that anything is known of.
const NEWEST: u32 = 36;

impl Generation {
    /// The versions that it may be, the one that stands for them first.
    pub fn minors(self) -> Vec<u32> {
        if self.known {
            return vec![self.minor];
        }
        let next = STARTS.get(self.index + 1).copied().unwrap_or(NEWEST + 1);
        let start = STARTS[self.index].max(20);
        // of the versions before 1.27, which are long gone, three tell enough
        let old = |minor: &u32| self.index > 0 || [20, 23].contains(minor);
        let others = (start..next).filter(|minor| *minor != self.minor && old(minor));
        std::iter::once(self.minor).chain(others).collect()
    }

    /// Names a run of neighbours, which are told by their first and last.
    pub fn name(first: Generation, last: Generation) -> String {
        let next = STARTS.get(last.index + 1);
        match (first.index, next) {
            (0, Some(next)) => format!("kubelet before 1.{next}"),
            (0, None) => "kubelet".into(),
            (_, None) => format!("kubelet 1.{} and later", STARTS[first.index]),
            (_, Some(next)) if next - 1 == STARTS[first.index] => {
                format!("kubelet 1.{}", STARTS[first.index])
            }
            (_, Some(next)) => format!("kubelet 1.{}-1.{}", STARTS[first.index], next - 1),
        }
    }
}

/// The generations that a version may belong to: one when it is known, all without any.
pub fn possible(version: Option<&Version>) -> Vec<Generation> {
    match version.and_then(|version| version.minor_of(1)) {
        Some(minor) => {
            let index = STARTS.iter().rposition(|start| *start <= minor).unwrap_or(0);
            vec![Generation { minor, known: true, index }]
        }
        // 1.26 stands for what came before
        None => STARTS
            .iter()
            .enumerate()
            .map(|(index, start)| Generation { minor: (*start).max(26), known: false, index })
            .collect(),
    }
}

/// The gate that makes the kubelet ask the runtime for its driver.
pub const GATE: &str = "KubeletCgroupDriverFromCRI";

/// Name and text of what is documented of the gate; `None` before it existed.
pub fn gate_default(minor: u32) -> (&'static str, &'static str) {
    match minor {
        ..28 => ("default:kubelet-1.27", "# the runtime is not asked for its driver\n"),
        28..31 => ("default:kubelet-1.30", "featureGates:\n  KubeletCgroupDriverFromCRI: false\n"),
        31..34 => ("default:kubelet-1.31", "featureGates:\n  KubeletCgroupDriverFromCRI: true\n"),
        34.. => (
            "default:kubelet-1.34",
            "featureGates:\n  KubeletCgroupDriverFromCRI: true # cannot be switched off\n",
        ),
    }
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
        let of = |text: &str| {
            let found = possible(Version::parse(text).as_ref());
            found.iter().map(|g| (g.minor, Generation::name(*g, *g))).collect::<Vec<_>>()
        };
        for (text, minor, name) in [
            ("1.20.2", 20, "kubelet before 1.27"),
            ("v1.30", 30, "kubelet 1.30"),
            ("1.31.0-rc.1", 31, "kubelet 1.31"),
            ("1.33.13", 33, "kubelet 1.32-1.33"),
            ("1.34.2+k3s1", 34, "kubelet 1.34"),
            ("2.0", u32::MAX, "kubelet 1.35 and later"),
        ] {
            assert_eq!(of(text), [(minor, name.to_owned())], "{text}");
        }
        assert_eq!(of("1").len(), STARTS.len());
        let all = possible(None);
        assert_eq!(Generation::name(all[0], all[4]), "kubelet before 1.31");
        assert_eq!(Generation::name(all[0], all[8]), "kubelet");
        assert_eq!(Generation::name(all[7], all[8]), "kubelet 1.34 and later");
    }

    #[test]
    fn a_generation_is_all_its_versions() {
        let minors = |version: Option<&str>| {
            let version = version.map(|text| Version::parse(text).unwrap());
            possible(version.as_ref()).into_iter().map(Generation::minors).collect::<Vec<_>>()
        };
        assert_eq!(minors(Some("1.33.1")), [[33]]);
        let all = minors(None);
        assert_eq!(all.concat().len(), 13, "1.20, 1.23, 1.26 to 1.36, each once");
        assert_eq!(all[0], [26, 20, 23]);
        assert_eq!(all[all.len() - 1], [35, 36]);
    }

    #[test]
    fn only_one_text_means_systemd() {
        for text in ["Systemd", "systemd ", "", "bogus"] {
            assert_eq!(behaves_as(text), "cgroupfs");
        }
        assert_eq!(behaves_as("systemd"), "systemd");
    }
}
