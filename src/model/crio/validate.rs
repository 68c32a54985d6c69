//! What stops the daemon after reading: the manager's value, the default runtime, the cgroup of
//! the monitors.

use super::read::{Merged, Runtime};
use super::{Fatal, Generation};
use crate::fact::Layer;
use crate::model::Reader;
use crate::text::Place;

pub(super) fn check(
    generation: Generation,
    merged: &Merged,
    near: Place,
    reader: &mut dyn Reader,
) -> Result<(), Fatal> {
    let (manager, origin) = match merged.manager.last() {
        Some((manager, origin)) => (manager.as_str(), origin.near.unwrap_or(origin.place)),
        None => ("", near),
    };
    let known = ["systemd", "cgroupfs"].contains(&manager);
    if generation >= Generation::V119 && !known {
        let message = format!("the cgroup manager `{manager}` is neither systemd nor cgroupfs");
        return Err(Fatal { place: origin, message });
    }
    default_runtime(merged, near, reader)?;
    let said = merged.conmon.last();
    let conmon = said.map_or("", |(conmon, _)| conmon.as_str());
    let said_at = said.filter(|(_, o)| o.layer != Layer::Default).map(|(_, o)| o.place);
    let is_slice = |cgroup: &str| cgroup == "pod" || cgroup.ends_with(".slice");
    if generation < Generation::V124 {
        let place = said_at.unwrap_or(origin);
        if !is_slice(conmon) {
            let message = format!("conmon_cgroup `{conmon}` is neither `pod` nor a slice");
            return Err(Fatal { place, message });
        }
        if generation >= Generation::V119 && manager == "cgroupfs" && conmon != "pod" {
            let message = format!("with cgroupfs conmon_cgroup must be `pod`, not `{conmon}`");
            return Err(Fatal { place, message });
        }
        return Ok(());
    }
    let checked = |r: &Runtime| r.kind.as_ref().is_none_or(|(kind, _)| ["", "oci"].contains(&kind.as_str()));
    for (name, runtime) in merged.runtimes.iter().filter(|(_, runtime)| checked(runtime)) {
        let own = runtime.monitor.as_ref().map(|(monitor, place)| (monitor.as_str(), *place));
        let (monitor, place) = match own {
            _ if !conmon.is_empty() => (conmon, said_at.unwrap_or(origin)),
            Some((monitor, place)) => (monitor, place),
            None => ("", runtime.place.unwrap_or(origin)),
        };
        let monitor = match (monitor, manager) {
            ("" | "system.slice", "cgroupfs") if generation >= Generation::V133 => "",
            ("", _) => "system.slice",
            (monitor, _) => monitor,
        };
        let fits = match manager {
            "cgroupfs" => monitor == "pod" || monitor.is_empty(),
            _ => is_slice(monitor),
        };
        if !fits {
            let wanted = if manager == "cgroupfs" { "`pod`" } else { "`pod` or a slice" };
            let message =
                format!("with {manager} the monitor cgroup of `{name}` must be {wanted}, not `{monitor}`");
            return Err(Fatal { place, message });
        }
    }
    Ok(())
}

fn default_runtime(merged: &Merged, near: Place, reader: &mut dyn Reader) -> Result<(), Fatal> {
    let Some((name, origin)) = merged.default_runtime.last() else { return Ok(()) };
    let said = (origin.layer != Layer::Default).then_some(origin.place);
    let Some(runtime) = merged.runtimes.get(name) else {
        let place = said.or(merged.dropped).unwrap_or(near);
        return Err(Fatal { place, message: format!("the default runtime `{name}` has no table") });
    };
    if let Some((kind, place)) = &runtime.kind
        && !["", "oci", "vm", "pod"].contains(&kind.as_str())
    {
        let message = format!("the runtime_type `{kind}` of the default runtime is unknown");
        return Err(Fatal { place: *place, message });
    }
    if let Some((path, place)) = &runtime.path
        && let Some((dir, file)) = path.rsplit_once('/')
        && !reader.may_have(if dir.is_empty() { "/" } else { dir }, file)
    {
        let message = format!("{path}, the program of the default runtime, is not there");
        return Err(Fatal { place: *place, message });
    }
    Ok(())
}
