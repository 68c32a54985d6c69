//! Every flag of the kubelet from 1.20 on, with the versions that have it. Facts of upstream: the
//! sets of flags printed by the kubelet 1.28.15, 1.31.14, 1.34.9 and 1.36.3; cmd/kubelet/app/options
//! and pkg/kubelet/config/flags.go; the change logs of 1.21 to 1.27 for what went away before.

mod config;
mod library;
mod own;

use super::{Flag, FlagKind};

/// The flags, in three groups.
pub(super) const TABLES: [&[Flag]; 3] = [own::FLAGS, config::FLAGS, library::FLAGS];

/// The first version that the table tells apart.
const FIRST: u32 = 20;

impl Flag {
    pub(super) const fn new(name: &'static str, kind: FlagKind) -> Flag {
        Flag { name, short: None, kind, sets: &[], since: None, until: None, deprecated: false }
    }

    pub(super) const fn sets(self, sets: &'static [&'static str]) -> Flag {
        Flag { sets, ..self }
    }

    pub(super) const fn short(self, short: char) -> Flag {
        Flag { short: Some(short), ..self }
    }

    pub(super) const fn since(self, minor: u32) -> Flag {
        Flag { since: Some(minor), ..self }
    }

    pub(super) const fn until(self, minor: u32) -> Flag {
        Flag { until: Some(minor), ..self }
    }

    /// Still taken, with a warning.
    pub(super) const fn old(self) -> Flag {
        Flag { deprecated: true, ..self }
    }

    /// Whether the kubelet 1.`minor` has it; versions before 1.20 count as 1.20.
    pub fn is_in(&self, minor: u32) -> bool {
        let minor = minor.max(FIRST);
        self.since.is_none_or(|since| since <= minor) && self.until.is_none_or(|until| minor < until)
    }
}

/// All flags of all versions.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// The flag of a name; underscores count as dashes. Of any version.
pub fn find(name: &str) -> Option<&'static Flag> {
    let name = name.replace('_', "-");
    all().find(|flag| flag.name == name)
}

/// The flag behind one dash.
pub(super) fn find_short(short: char) -> Option<&'static Flag> {
    all().find(|flag| flag.short == Some(short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_given_once_and_with_dashes() {
        let names: BTreeSet<&str> = all().map(|flag| flag.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.iter().all(|name| !name.contains('_') && !name.is_empty()));
        let fields: Vec<_> = all().filter(|flag| !flag.sets.is_empty()).map(|flag| flag.sets).collect();
        let once: BTreeSet<_> = fields.iter().collect();
        assert_eq!(fields.len(), once.len(), "two flags for one field");
        assert!(all().all(|flag| flag.since.zip(flag.until).is_none_or(|(since, until)| since < until)));
    }

    /// What the printed sets of flags of four kubelets differ in.
    #[test]
    fn versions_differ_in_what_was_measured() {
        let set = |minor| all().filter(|f| f.is_in(minor)).map(|f| f.name).collect::<BTreeSet<_>>();
        let lost = |from, to| set(from).difference(&set(to)).copied().collect::<Vec<_>>();
        // built without cloud providers, the one of 1.28 could not show azure-container-registry-config
        assert_eq!(lost(28, 31), ["azure-container-registry-config", "keep-terminated-pod-volumes"]);
        assert_eq!(lost(31, 34), ["cloud-config", "register-schedulable"]);
        assert_eq!(lost(34, 36), ["pod-infra-container-image"]);
        assert_eq!(
            lost(31, 28),
            ["fail-cgroupv1", "log-text-info-buffer-size", "log-text-split-stream"],
            "flags that 1.31 gained"
        );
        assert!(lost(34, 31).is_empty() && lost(36, 34).is_empty());
        assert_eq!(set(19), set(20));
    }

    #[test]
    fn a_flag_is_found_by_either_spelling() {
        assert_eq!(find("cgroup_driver").map(|f| f.sets), Some(&["cgroupDriver"][..]));
        assert_eq!(find("storage-driver_db").map(|f| f.name), Some("storage-driver-db"));
        assert!(find("cgroupdriver").is_none() && find("").is_none());
        assert_eq!(find_short('v').map(|f| f.name), Some("v"));
    }
}
