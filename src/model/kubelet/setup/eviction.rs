//! Thresholds of eviction.

use super::resources::is_quantity;
use super::{Maker, SetupStage, is_written, text_of};

const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];

impl Maker<'_> {
    pub(super) fn eviction(&mut self) {
        for field in ["evictionHard", "evictionSoft", "evictionMinimumReclaim"] {
            for (signal, said) in self.entries(field) {
                // later versions know signals of a filesystem of its own for containers
                if signal.starts_with("containerfs.") || !is_written(&said) {
                    continue;
                }
                let amount = text_of(&said.value);
                let wrong = if !SIGNALS.contains(&signal.as_str()) {
                    format!("unknown eviction signal {signal:?} ({field})")
                } else if !is_threshold(&amount) {
                    format!("{field} {signal}: {amount:?} is neither a quantity nor a percentage up to 100%")
                } else {
                    continue;
                };
                self.trouble(SetupStage::ContainerManager, field, wrong, said.origin);
            }
        }
        let graces = self.entries("evictionSoftGracePeriod");
        for (signal, said) in self.entries("evictionSoft") {
            if graces.iter().all(|(key, _)| *key != signal) {
                let message = format!(
                    "grace period must be specified for the soft eviction threshold {signal} \
                     (evictionSoftGracePeriod)"
                );
                self.trouble(SetupStage::ContainerManager, "evictionSoft", message, said.origin);
            }
        }
    }
}

fn is_threshold(text: &str) -> bool {
    match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().is_ok_and(|percent| (0.0..=100.0).contains(&percent)),
        None => is_quantity(text) && !text.starts_with('-'),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::validate::Host;
    use super::super::super::validate::testing::config;
    use super::super::node_setup;
    use crate::fact::Known;

    #[test]
    fn thresholds_name_a_signal_and_an_amount() {
        for (fields, expected) in [
            ("evictionHard: {memory.available: 5%, nodefs.available: 1Gi}", None),
            (
                "evictionHard: {memory.avail: 5%}",
                Some("unknown eviction signal \"memory.avail\" (evictionHard)"),
            ),
            ("evictionHard: {memory.available: 101%}", Some("\"101%\" is neither a quantity")),
            ("evictionHard: {memory.available: 1GB}", Some("\"1GB\" is neither a quantity")),
            ("evictionSoft: {memory.available: 1Gi}", Some("grace period must be specified")),
            ("evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 1m}", None),
        ] {
            let host = Host { cgroup_v2: Known::Is(true), swap: Known::Is(false) };
            let setup = node_setup(&config(fields, 36), "systemd", 36, &host);
            let told: Vec<&str> = setup.troubles.iter().map(|t| t.message.as_str()).collect();
            match expected {
                None => assert!(told.is_empty(), "{fields}: {told:?}"),
                Some(part) => assert!(told.len() == 1 && told[0].contains(part), "{fields}: {told:?}"),
            }
        }
    }
}
