//! The cgroups that are to be there before the kubelet starts, and whether they are.

use super::facts::cell;
use crate::fact::{Fact, Known, Origin, Row, Statements, Value};
use crate::model::Reader;
use crate::model::kubelet::cgroup_names::{Named, cgroupfs, systemd};
use crate::model::kubelet::effective::Effective;

const TREE: &str = "/sys/fs/cgroup";

/// Hierarchies of v1 in each of which the kubelet looks.
const V1: [&str; 3] = ["cpu", "cpuset", "memory"];

/// A setting, how it is read, and the words of enforceNodeAllocatable that make it count.
const FIELDS: [(&str, Named, &[&str]); 3] = [
    ("cgroupRoot", Named::Root, &[]),
    ("kubeReservedCgroup", Named::Reserved, &["kube-reserved", "kube-reserved-compressible"]),
    ("systemReservedCgroup", Named::Reserved, &["system-reserved", "system-reserved-compressible"]),
];

pub(super) fn wanted(reader: &mut dyn Reader, config: &Known<Effective>, v2: &Known<bool>) -> Fact {
    let rows = config.as_ref().and_then(|config| rows(reader, config, v2));
    Fact::rows("kubelet.wanted_cgroups", rows)
}

fn rows(reader: &mut dyn Reader, config: &Effective, v2: &Known<bool>) -> Known<Vec<Row>> {
    let enforced = match config.list(&["enforceNodeAllocatable"]) {
        Known::Is(enforced) => enforced,
        Known::Absent(_) => Vec::new(),
        Known::Unknown(why) => return Known::Unknown(why),
    };
    let mut rows = Vec::new();
    for (field, named, words) in FIELDS {
        let counts = words.is_empty() || words.iter().any(|word| enforced.iter().any(|e| e == word));
        let (Known::Is(written), Some(origin)) = (config.text(&[field]), config.origin(&[field])) else {
            continue;
        };
        if !counts || written.trim_matches('/').is_empty() {
            continue;
        }
        rows.push(row(reader, field, &written, named, v2, origin));
    }
    Known::Is(rows)
}

fn row(
    reader: &mut dyn Reader,
    field: &str,
    written: &str,
    named: Named,
    v2: &Known<bool>,
    at: &Origin,
) -> Row {
    let (as_slice, literal) = (systemd(written, named), cgroupfs(written));
    let mut found =
        |path: &str| -> Statements { there(reader, path, v2).and_then(|there| cell(Value::Bool(there), at)) };
    let (slice_found, literal_found) = (found(&as_slice), found(&literal));
    vec![
        ("field", cell(Value::text(field), at)),
        ("written", cell(Value::text(written), at)),
        ("systemd_path", cell(Value::text(as_slice), at)),
        ("cgroupfs_path", cell(Value::text(literal), at)),
        ("systemd_found", slice_found),
        ("cgroupfs_found", literal_found),
    ]
}

fn there(reader: &mut dyn Reader, path: &str, v2: &Known<bool>) -> Known<bool> {
    let tops: Vec<String> = match v2 {
        Known::Is(true) => vec![TREE.to_owned()],
        Known::Is(false) => V1.iter().map(|name| format!("{TREE}/{name}")).collect(),
        other => return other.clone(),
    };
    for top in tops {
        match reader.is_dir(&format!("{top}{path}")) {
            Known::Is(true) => {}
            // a hierarchy that is not mounted is another matter
            Known::Is(false) | Known::Absent(_) if reader.is_dir(&top) != Known::Is(true) => {}
            Known::Is(false) | Known::Absent(_) => return Known::Is(false),
            Known::Unknown(why) => return Known::Unknown(why),
        }
    }
    Known::Is(true)
}
