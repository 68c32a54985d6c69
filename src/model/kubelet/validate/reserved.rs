//! What is kept for the system: enforcement, its cgroups, CPUs and memory.

use super::{Checks, Field};
use crate::fact::{Said, Why};
use std::collections::BTreeSet;

const ENFORCED: Field<'static> = &["enforceNodeAllocatable"];
const PER_QOS: Field<'static> = &["cgroupsPerQOS"];
const SYSTEM: Field<'static> = &["systemReservedCgroup"];
const KUBE: Field<'static> = &["kubeReservedCgroup"];
const CPUS: Field<'static> = &["reservedSystemCPUs"];
const MEMORY: Field<'static> = &["reservedMemory"];

impl Checks<'_> {
    /// Up to 1.30 any enforcement needs cgroups for the classes.
    pub(super) fn qos_of_all(&mut self) {
        if self.minor > 30 || self.bool(PER_QOS) != Some(false) || self.config.origin(PER_QOS).is_none() {
            return;
        }
        let Some(enforced) = self.list(ENFORCED) else { return };
        if !enforced.is_empty() {
            let message = format!(
                "enforceNodeAllocatable ({}) is not supported unless cgroupsPerQOS is true",
                texts(&enforced).join(", ")
            );
            self.refuse(&[PER_QOS, ENFORCED], message);
        }
    }

    pub(super) fn system_cgroups(&mut self) {
        let field: Field<'_> = &["systemCgroups"];
        if let (Some(system), Some(root)) = (self.text(field), self.text(&["cgroupRoot"]))
            && !system.is_empty()
            && root.is_empty()
        {
            let message = format!("systemCgroups {system} was specified and cgroupRoot was not specified");
            self.refuse(&[field], message);
        }
    }

    pub(super) fn enforced(&mut self) {
        let Some(enforced) = self.list(ENFORCED) else { return };
        let names = texts(&enforced);
        if self.minor >= 32 {
            for name in ["system-reserved", "kube-reserved"] {
                let narrower = format!("{name}-compressible");
                if let Some(said) = enforced.iter().find(|said| said.value.as_text() == Some(&narrower))
                    && names.iter().any(|other| other == name)
                {
                    let message = format!(
                        "{name} and {narrower} cannot be specified together in enforceNodeAllocatable"
                    );
                    self.refuse_at(said.origin.clone(), message);
                }
            }
        }
        let mut seen = BTreeSet::new();
        for (said, name) in enforced.iter().zip(&names) {
            if !seen.insert(name) && self.minor >= 31 {
                let message = format!("{name} stands twice in enforceNodeAllocatable");
                match self.minor {
                    ..33 => self.verdict.unclear(ENFORCED[0], Why::Strange(message)),
                    33.. => self.refuse_at(said.origin.clone(), message),
                }
                continue;
            }
            self.enforcement(said, name, names.len());
        }
    }

    fn enforcement(&mut self, said: &Said, name: &str, count: usize) {
        let narrower = self.minor >= 32;
        match name {
            "pods" => {}
            "system-reserved" => self.cgroup_of(SYSTEM, said, name),
            "kube-reserved" => self.cgroup_of(KUBE, said, name),
            "system-reserved-compressible" if narrower => self.cgroup_of(SYSTEM, said, name),
            "kube-reserved-compressible" if narrower => self.cgroup_of(KUBE, said, name),
            "none" => {
                if count > 1 {
                    let message = "enforceNodeAllocatable must not list anything besides none";
                    self.refuse_at(said.origin.clone(), message.to_owned());
                }
                return;
            }
            _ => {
                let options = if narrower {
                    "pods, system-reserved, system-reserved-compressible, kube-reserved, \
                     kube-reserved-compressible or none"
                } else {
                    "pods, system-reserved, kube-reserved or none"
                };
                let message = format!(
                    "option {name:?} specified for enforceNodeAllocatable, valid options are {options}"
                );
                self.refuse_at(said.origin.clone(), message);
                return;
            }
        }
        if self.minor >= 31 && self.bool(PER_QOS) == Some(false) && self.config.origin(PER_QOS).is_some() {
            let message =
                format!("cgroupsPerQOS must be true when {name:?} is contained in enforceNodeAllocatable");
            self.refuse(&[PER_QOS, ENFORCED], message);
        }
    }

    fn cgroup_of(&mut self, cgroup: Field<'_>, said: &Said, name: &str) {
        if self.text(cgroup).is_some_and(|text| text.is_empty()) {
            let message = format!("{} must be specified when {name} is in enforceNodeAllocatable", cgroup[0]);
            self.refuse_at(said.origin.clone(), message);
        }
    }

    pub(super) fn reserved_cpus(&mut self) {
        let Some(cpus) = self.text(CPUS).filter(|cpus| !cpus.is_empty()) else { return };
        for cgroup in [SYSTEM, KUBE] {
            if self.text(cgroup).is_some_and(|text| !text.is_empty()) {
                let message = format!("reservedSystemCPUs ({cpus}) cannot be used with {}", cgroup[0]);
                self.refuse(&[CPUS], message);
                break;
            }
        }
        if !is_cpuset(&cpus) {
            self.refuse(&[CPUS], format!("reservedSystemCPUs {cpus:?} is not a list of CPUs like 0-3,8"));
        }
    }

    pub(super) fn reserved_memory(&mut self) {
        if self.minor < 22 || !self.is_set(MEMORY) {
            return;
        }
        let Some(items) = self.list(MEMORY) else { return };
        let mut seen = BTreeSet::new();
        for said in items {
            let item = said.value.as_text().and_then(|text| serde_json::from_str(text).ok());
            let Some(serde_json::Value::Object(item)) = item else {
                // those of a flag are in its own form, and were checked with it
                continue;
            };
            let node = item.get("numaNode").and_then(serde_json::Value::as_i64).unwrap_or_default();
            let limits = item.get("limits").and_then(serde_json::Value::as_object);
            for (resource, quantity) in limits.into_iter().flatten() {
                let amount = match quantity {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let wrong = if resource != "memory" && !resource.starts_with("hugepages-") {
                    Some("only memory and hugepages-SIZE are accepted")
                } else if amount.trim_start_matches(['0', '.']).chars().all(char::is_alphabetic) {
                    Some("must not be zero")
                } else if !seen.insert((node, resource.clone())) {
                    Some("is there twice")
                } else {
                    None
                };
                if let Some(wrong) = wrong {
                    let message =
                        format!("reservedMemory {resource} ({amount}) of NUMA node {node}: {wrong}");
                    self.refuse_at(said.origin.clone(), message);
                }
            }
        }
    }
}

fn texts(list: &[Said]) -> Vec<String> {
    list.iter().map(|said| said.value.to_string()).collect()
}

/// `0-3,8`: upstream's cpuset.Parse.
fn is_cpuset(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    text.split(',').all(|part| match part.split_once('-') {
        None => number(part).is_some(),
        Some((from, to)) => matches!((number(from), number(to)), (Some(from), Some(to)) if from <= to),
    })
}
