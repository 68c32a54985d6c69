//! systemReserved and kubeReserved.

use super::{Maker, SetupStage, is_written, text_of};

const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

impl Maker<'_> {
    pub(super) fn reserved_resources(&mut self) {
        for field in ["kubeReserved", "systemReserved"] {
            for (resource, said) in self.entries(field) {
                let amount = text_of(&said.value);
                let wrong = if !RESERVABLE.contains(&resource.as_str()) {
                    format!("cannot reserve {resource:?} ({field}), only {}", RESERVABLE.join(", "))
                } else if amount.starts_with('-') {
                    format!("{field} {resource} cannot be negative: {amount}")
                } else if !is_quantity(&amount) {
                    format!("{field} {resource} {amount:?} is not a quantity")
                } else {
                    continue;
                };
                if is_written(&said) {
                    self.trouble(SetupStage::ContainerManager, field, wrong, said.origin);
                }
            }
        }
    }
}

/// A number with a suffix of Kubernetes: `100m`, `1Gi`, `1e3`.
pub(super) fn is_quantity(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let digits = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
    let exponent = suffix.strip_prefix(['e', 'E']).is_some_and(|rest| {
        let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
    });
    let known = matches!(
        suffix,
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"
    );
    digits && (known || exponent)
}

#[cfg(test)]
mod tests {
    use super::super::super::validate::Host;
    use super::super::super::validate::testing::config;
    use super::super::node_setup;
    use super::*;
    use crate::fact::Known;

    #[test]
    fn quantities() {
        for good in ["1", "100m", "1.5Gi", "1e3", "2E", ".5", "1k"] {
            assert!(is_quantity(good), "{good}");
        }
        for bad in ["", "Gi", "1GB", "1K", "1 Gi", "1.2.3", "1e", "ten"] {
            assert!(!is_quantity(bad), "{bad}");
        }
    }

    #[test]
    fn a_reservation_names_a_resource_and_a_quantity() {
        let host = Host { cgroup_v2: Known::Is(true), swap: Known::Is(false) };
        let fields =
            "systemReserved: {cpu: 100m, memory: 1GB, gpu: '1'}\nkubeReserved: {cpu: '-1', pid: '100'}";
        let setup = node_setup(&config(fields, 36), "systemd", 36, &host);
        let told: Vec<&str> = setup.troubles.iter().map(|t| t.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "kubeReserved cpu cannot be negative: -1",
                "cannot reserve \"gpu\" (systemReserved), only cpu, memory, ephemeral-storage, pid",
                "systemReserved memory \"1GB\" is not a quantity",
            ]
        );
    }
}
