//! Settings that are accepted and stop the kubelet later.

use super::facts::cell;
use crate::fact::{Fact, Known, Value};
use crate::model::kubelet::effective::Effective;
use crate::model::kubelet::setup::{Trouble, node_setup};
use crate::model::kubelet::validate::Host;

/// What stops it on any host: what depends on one, and on the driver, has facts of its own.
pub(super) fn refusals(config: &Known<Effective>, minor: u32) -> Fact {
    let host = Host { cgroup_v2: Known::ABSENT, swap: Known::ABSENT };
    let rows = config.as_ref().and_then(|config| {
        let setup = node_setup(config, "cgroupfs", minor, &host);
        if let (true, Some((_, why))) = (setup.troubles.is_empty(), setup.unclear.into_iter().next()) {
            return Known::Unknown(why);
        }
        let row = |trouble: Trouble| {
            vec![
                ("field", cell(Value::text(trouble.field), &trouble.origin)),
                ("message", cell(Value::text(trouble.message), &trouble.origin)),
                ("stage", cell(Value::text(trouble.stage.name()), &trouble.origin)),
            ]
        };
        Known::Is(setup.troubles.into_iter().map(row).collect())
    });
    Fact::rows("kubelet.setup_refusals", rows)
}
