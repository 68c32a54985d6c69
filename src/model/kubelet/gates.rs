//! Feature gates: which a version knows, what they are by default, which it refuses to set.
//! Upstream: component-base featuregate (SetFromMap, AllAlpha, AllBeta); a gate that is unknown or
//! set against its lock stops the kubelet, in most versions with a panic while defaults are laid.

mod table;

use super::effective::{Effective, Refusal, Stage};
use super::validate::Verdict;
use crate::fact::{Known, Said, Why};
use table::{Gate, Grade, Lock, NEWEST, Standing, Step};

/// The field of the file and, key by key, of `--feature-gates`.
const FIELD: &[&str] = &["featureGates"];

/// From this version on, gates that are on with one they depend on off are refused; for the one
/// before that was not read.
const DEPENDENCIES: u32 = 36;

/// What setting the gates comes to. A gate that the table does not tell of refuses nothing: it may
/// be one of a distribution's own.
pub fn check(config: &Effective, minor: u32) -> Verdict {
    let mut verdict = Verdict::default();
    let entries = match config.entries(FIELD) {
        Known::Is(entries) => entries,
        Known::Absent(_) => return verdict,
        Known::Unknown(why) => {
            verdict.unclear("featureGates", why);
            return verdict;
        }
    };
    for (name, said) in entries {
        match judge(name, said, minor) {
            Judged::Right => {}
            Judged::Unread(why) => verdict.unclear(&format!("featureGates.{name}"), Why::Strange(why)),
            Judged::Wrong(message) => verdict.refusals.push(refusal(Stage::FeatureGates, message, said)),
        }
    }
    verdict
}

enum Judged {
    Right,
    Wrong(String),
    Unread(String),
}

fn judge(name: &str, said: &Said, minor: u32) -> Judged {
    let Some(on) = said.value.as_bool() else {
        return Judged::Unread(format!("feature gate {name} is neither true nor false"));
    };
    if matches!(name, "AllAlpha" | "AllBeta") {
        return Judged::Right;
    }
    let Some(gate) = table::find(name) else {
        return Judged::Unread(format!("feature gate {name} is not a known one"));
    };
    match gate.at(minor) {
        Standing::NotYet(since) => {
            Judged::Wrong(format!("unrecognized feature gate: {name}, which came with 1.{since}"))
        }
        Standing::Gone(gone, _) => {
            Judged::Wrong(format!("unrecognized feature gate: {name}, which 1.{gone} no longer has"))
        }
        Standing::Unread(_) => Judged::Unread(format!("feature gate {name} may be unknown to this version")),
        Standing::Is(step) => set(gate, step, on, minor),
    }
}

/// A gate that is known, set to a value.
fn set(gate: &Gate, step: Step, on: bool, minor: u32) -> Judged {
    let name = gate.name;
    match step.lock {
        Lock::Locked if on != step.on => {
            let since = gate.locked_by().unwrap_or(step.minor);
            return Judged::Wrong(format!(
                "cannot set feature gate {name} to {on}: it is locked to {} since 1.{since}",
                step.on
            ));
        }
        Lock::Unread if on != step.on => {
            return Judged::Unread(format!("feature gate {name} may be locked to {}", step.on));
        }
        _ => {}
    }
    let newest = minor == NEWEST && !gate.read;
    if minor > NEWEST || (newest && step.lock == Lock::Locked && step.minor + 3 <= minor) {
        return Judged::Unread(format!("feature gate {name} may have been removed"));
    }
    if newest && step.lock == Lock::Open && !on {
        return Judged::Unread(format!("feature gate {name} may have been locked"));
    }
    Judged::Right
}

/// Whether a gate is on.
pub fn enabled(config: &Effective, minor: u32, gate: &str) -> Known<bool> {
    let entries = match config.entries(FIELD) {
        Known::Is(entries) => entries,
        Known::Absent(_) => Vec::new(),
        Known::Unknown(why) => return Known::Unknown(why),
    };
    let said = |name: &str| {
        let entry = entries.iter().find(|(key, _)| *key == name);
        entry.and_then(|(_, said)| said.value.as_bool())
    };
    let unread = || Known::Unknown(Why::Strange(format!("whether feature gate {gate} is on by default")));
    let explicit = said(gate).map(Known::Is);
    let Some(found) = table::find(gate) else { return explicit.unwrap_or_else(unread) };
    let step = match found.at(minor) {
        Standing::NotYet(_) => return Known::Is(false),
        Standing::Unread(None) => return explicit.unwrap_or_else(unread),
        // what is gone stays as it was
        Standing::Gone(_, step) => return Known::Is(step.on),
        Standing::Is(step) | Standing::Unread(Some(step)) => step,
    };
    if step.lock == Lock::Locked {
        return Known::Is(step.on);
    }
    let group = match step.grade {
        Grade::Alpha => said("AllAlpha"),
        Grade::Beta => said("AllBeta"),
        Grade::General | Grade::Deprecated => None,
    };
    // a feature that is on stays on, one that is off may have been switched on since
    let open = minor > NEWEST || (minor == NEWEST && !found.read);
    match explicit.or(group.map(Known::Is)) {
        Some(known) => known,
        None if open && !step.on => unread(),
        None => Known::Is(step.on),
    }
}

/// Gates that are on though one they depend on is off, a part of validation.
pub(super) fn dependencies(config: &Effective, minor: u32) -> Verdict {
    let mut verdict = Verdict::default();
    let Known::Is(entries) = config.entries(FIELD) else { return verdict };
    if minor < DEPENDENCIES - 1 || entries.is_empty() {
        return verdict;
    }
    for gate in table::all().iter().filter(|gate| !gate.depends.is_empty()) {
        if enabled(config, minor, gate.name) != Known::Is(true) {
            continue;
        }
        let off = |name: &&&str| enabled(config, minor, name) == Known::Is(false);
        let missing: Vec<&str> = gate.depends.iter().filter(off).copied().collect();
        let cause = |(key, _): &&(&str, &Said)| {
            *key == gate.name || missing.contains(key) || matches!(*key, "AllAlpha" | "AllBeta")
        };
        if let Some((_, said)) = entries.iter().find(cause)
            && !missing.is_empty()
        {
            if minor < DEPENDENCIES {
                let why = format!("feature gate {} with {} off", gate.name, missing.join(", "));
                verdict.unclear(&format!("featureGates.{}", gate.name), Why::Strange(why));
                continue;
            }
            let message = format!(
                "feature gate {} is enabled, but depends on features that are disabled: {}",
                gate.name,
                missing.join(", ")
            );
            verdict.refusals.push(refusal(Stage::Validate, message, said));
        }
    }
    verdict
}

fn refusal(stage: Stage, message: String, said: &Said) -> Refusal {
    Refusal { stage, message, origin: said.origin.clone(), missing: false }
}

#[cfg(test)]
mod tests {
    use super::super::validate::testing::config;
    use super::*;

    /// `refused`, `unclear` or `right`.
    fn of(gates: &str, minor: u32) -> &'static str {
        let verdict = check(&config(&format!("featureGates: {{{gates}}}"), minor), minor);
        match (verdict.refusals.is_empty(), verdict.unclear.is_empty()) {
            (false, _) => "refused",
            (true, false) => "unclear",
            (true, true) => "right",
        }
    }

    #[test]
    fn versions_judge_a_gate() {
        for (gates, minor, expected) in [
            ("", 36, "right"),
            ("NoSuchGate: true", 36, "unclear"),
            ("AllAlpha: true, AllBeta: false", 36, "right"),
            ("KubeletCgroupDriverFromCRI: false", 27, "refused"),
            ("KubeletCgroupDriverFromCRI: false", 28, "right"),
            ("KubeletCgroupDriverFromCRI: false", 33, "right"),
            ("KubeletCgroupDriverFromCRI: false", 34, "refused"),
            ("KubeletCgroupDriverFromCRI: false", 36, "refused"),
            ("KubeletCgroupDriverFromCRI: false", 99, "refused"),
            ("KubeletCgroupDriverFromCRI: true", 36, "right"),
            // it may be gone by then, or not
            ("KubeletCgroupDriverFromCRI: true", 37, "unclear"),
            ("NodeSwap: false", 33, "right"),
            ("NodeSwap: false", 34, "refused"),
            ("NodeSwap: true", 21, "refused"),
            ("NodeSwap: true", 22, "right"),
            ("MemoryQoS: false", 36, "right"),
            ("SeccompDefault: true", 27, "right"),
            ("SeccompDefault: false", 27, "refused"),
            ("SeccompDefault: true", 29, "unclear"),
            ("SeccompDefault: true", 30, "refused"),
            ("SupportPodPidsLimit: true", 22, "right"),
            ("SupportPodPidsLimit: false", 22, "unclear"),
            ("DynamicKubeletConfig: true", 24, "right"),
            ("DynamicKubeletConfig: true", 26, "refused"),
            ("GitRepoVolumeDriver: true", 32, "unclear"),
            ("GitRepoVolumeDriver: true", 33, "right"),
            ("PodReadyToStartContainersCondition: false", 35, "right"),
            ("PodReadyToStartContainersCondition: false", 36, "unclear"),
            ("SidecarContainers: true", 35, "right"),
            ("SidecarContainers: true", 36, "unclear"),
        ] {
            assert_eq!(of(gates, minor), expected, "{gates} with 1.{minor}");
        }
    }

    #[test]
    fn a_refusal_says_what_and_since_when() {
        let verdict = check(&config("featureGates: {NodeSwap: false, EphemeralContainers: true}", 34), 34);
        let messages: Vec<&str> = verdict.refusals.iter().map(|r| r.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unrecognized feature gate: EphemeralContainers, which 1.27 no longer has",
                "cannot set feature gate NodeSwap to false: it is locked to true since 1.34",
            ]
        );
        assert!(verdict.refusals.iter().all(|r| r.stage == Stage::FeatureGates));
    }

    #[test]
    fn defaults_groups_and_what_is_written() {
        for (gates, minor, gate, expected) in [
            ("", 20, "GracefulNodeShutdown", Some(false)),
            ("", 21, "GracefulNodeShutdown", Some(true)),
            ("", 27, "KubeletCgroupDriverFromCRI", Some(false)),
            ("", 30, "KubeletCgroupDriverFromCRI", Some(false)),
            ("", 31, "KubeletCgroupDriverFromCRI", Some(true)),
            ("KubeletCgroupDriverFromCRI: true", 28, "KubeletCgroupDriverFromCRI", Some(true)),
            ("AllAlpha: true", 28, "KubeletCgroupDriverFromCRI", Some(true)),
            (
                "AllAlpha: true, KubeletCgroupDriverFromCRI: false",
                28,
                "KubeletCgroupDriverFromCRI",
                Some(false),
            ),
            ("AllBeta: false", 31, "KubeletCgroupDriverFromCRI", Some(false)),
            ("AllBeta: false", 34, "KubeletCgroupDriverFromCRI", Some(true)),
            ("", 29, "NodeSwap", Some(false)),
            ("", 30, "NodeSwap", Some(true)),
            ("AllBeta: true", 28, "NodeSwap", Some(true)),
            ("", 30, "TopologyManager", Some(true)),
            ("", 36, "MemoryQoS", Some(false)),
            ("", 37, "MemoryQoS", None),
            ("MemoryQoS: true", 37, "MemoryQoS", Some(true)),
            ("", 36, "NoSuchGate", None),
            ("NoSuchGate: true", 36, "NoSuchGate", Some(true)),
        ] {
            let found = enabled(&config(&format!("featureGates: {{{gates}}}"), minor), minor, gate);
            assert_eq!(found.is().copied(), expected, "{gates}: {gate} with 1.{minor}");
        }
    }

    #[test]
    fn what_a_gate_depends_on_must_be_on() {
        let gates = "featureGates: {GracefulNodeShutdown: false}";
        assert_eq!(dependencies(&config(gates, 34), 34), Verdict::default());
        assert_eq!(dependencies(&config(gates, 35), 35).unclear.len(), 2);
        let refusals = dependencies(&config(gates, 36), 36).refusals;
        let messages: Vec<&str> = refusals.iter().map(|r| r.message.as_str()).collect();
        assert_eq!(
            messages,
            ["GracefulNodeShutdownBasedOnPodPriority", "WindowsGracefulNodeShutdown"].map(|gate| format!(
                "feature gate {gate} is enabled, but depends on features that are disabled: GracefulNodeShutdown"
            ))
        );
        for minor in [35, 36] {
            for gates in ["", "AllAlpha: true", "AllBeta: false", "MemoryQoS: true"] {
                let verdict = dependencies(&config(&format!("featureGates: {{{gates}}}"), minor), minor);
                assert_eq!(verdict.refusals, [], "{gates} with 1.{minor}");
            }
        }
    }
}
