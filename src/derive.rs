//! Facts computed from facts: the driver that the kubelet ends up with, and whether init system,
//! runtime and kubelet agree. Pure; called once per world and moment.

use crate::fact::{Known, Origin, Said, Value, Why};
use crate::names;
use crate::resolve::{InForce, Snapshot};
use std::borrow::Cow;

pub fn derive(facts: &mut Snapshot) {
    let driver = kubelet_driver(facts);
    set(facts, "kubelet.cgroup_driver", driver);
    let verdict = verdict(facts);
    set(facts, "node.verdict", verdict);
}

fn set(facts: &mut Snapshot, name: &str, value: InForce) {
    if let Some(id) = names::find(name) {
        facts.set(id, value);
    }
}

fn needs(name: &'static str, why: &Why) -> InForce {
    let why = match why {
        // the innermost name is the one to look at
        Why::Needs(..) => why.clone(),
        why => Why::Needs(name, Box::new(why.clone())),
    };
    InForce::bare(Known::Unknown(why))
}

fn decided(value: &str, by: Option<&Origin>) -> InForce {
    InForce { by: by.cloned(), ..InForce::bare(Known::Is(Value::text(value))) }
}

/// The runtime that the endpoint names, when that is not containerd.
fn other_runtime(facts: &Snapshot) -> Option<String> {
    let endpoint = facts.named("kubelet.runtime_endpoint").value.is()?.as_text()?;
    let others = ["crio", "cri-dockerd", "dockershim"];
    others.iter().any(|name| endpoint.contains(name)).then(|| endpoint.to_owned())
}

/// The driver in force: what the runtime answers where the kubelet asks it and gets an answer,
/// else what its own configuration says. Absent without a kubelet, and where it asks and the
/// runtime does not come up: then the kubelet does not either.
fn kubelet_driver(facts: &Snapshot) -> InForce {
    let configured = facts.named("kubelet.configured_driver");
    match facts.named("kubelet.follows_runtime").value {
        Known::Is(Value::Bool(true)) => {}
        Known::Is(_) => return configured.clone(),
        Known::Absent(ref note) => return InForce::bare(Known::Absent(note.clone())),
        Known::Unknown(ref why) => return needs("kubelet.follows_runtime", why),
    }
    if let Some(endpoint) = other_runtime(facts) {
        let why = Why::Strange(format!("the kubelet asks {endpoint}, which is not containerd"));
        return needs("kubelet.runtime_endpoint", &why);
    }
    let reported = facts.named("containerd.reported_driver");
    for name in ["containerd.boots", "containerd.cri_enabled"] {
        match &facts.named(name).value {
            Known::Is(Value::Bool(true)) => {}
            Known::Unknown(why) => return needs(name, why),
            _ => {
                return InForce::bare(Known::Absent(Cow::Borrowed(
                    "the runtime that it asks does not answer",
                )));
            }
        }
    }
    match &reported.value {
        Known::Is(driver) if driver.as_text() == Some("unimplemented") => configured.clone(),
        Known::Is(driver) => {
            let mut overridden = configured.overridden.clone();
            if let (Known::Is(value), Some(origin)) = (&configured.value, &configured.by) {
                overridden.insert(0, Said { value: value.clone(), origin: origin.clone() });
            }
            InForce { by: reported.by.clone(), overridden, ..InForce::bare(Known::Is(driver.clone())) }
        }
        // an answer without a driver leaves the kubelet its own
        Known::Absent(_) => configured.clone(),
        Known::Unknown(why) => needs("containerd.reported_driver", why),
    }
}

/// The first of these that holds:
/// 1. `no-runtime`: no containerd on this node (and the kubelet is not told to use another runtime);
/// 2. `runtime-dead`: containerd does not start, its CRI service does not come up, or pods of the
///    default handler cannot be created;
/// 3. `mismatch`: runtime and kubelet use different drivers, or the systemd driver is used on a
///    host that systemd does not run;
/// 4. `two-managers`: cgroupfs in use on a host that systemd runs;
/// 5. `kubelet-dead`: the kubelet refuses its flags or its files;
/// 6. `no-kubelet`: no kubelet, or one that has not been configured yet;
/// 7. `agree`.
///
/// Unknown when an input is unknown that could still decide.
fn verdict(facts: &Snapshot) -> InForce {
    if let Some(endpoint) = other_runtime(facts) {
        let why = Why::Strange(format!("the kubelet uses {endpoint}, which is not containerd"));
        return needs("kubelet.runtime_endpoint", &why);
    }
    let boots = facts.named("containerd.boots");
    match &boots.value {
        Known::Absent(_) => {
            return decided("no-runtime", facts.named("kubelet.runtime_endpoint").by.as_ref());
        }
        Known::Unknown(why) => return needs("containerd.boots", why),
        Known::Is(Value::Bool(true)) => {}
        Known::Is(_) => return decided("runtime-dead", boots.by.as_ref()),
    }
    let cri = facts.named("containerd.cri_enabled");
    match &cri.value {
        Known::Is(Value::Bool(true)) => {}
        Known::Unknown(why) => return needs("containerd.cri_enabled", why),
        _ => return decided("runtime-dead", cri.by.as_ref().or(boots.by.as_ref())),
    }
    if let Some(dead) = default_unusable(facts) {
        return dead;
    }
    let runtime = facts.named("containerd.cgroup_driver");
    let kubelet = facts.named("kubelet.cgroup_driver");
    if let (Known::Is(r), Known::Is(k)) = (&runtime.value, &kubelet.value)
        && r != k
    {
        return decided("mismatch", weaker(runtime, kubelet));
    }
    if let Known::Unknown(why) = &runtime.value {
        return needs("containerd.cgroup_driver", why);
    }
    let on_systemd = facts.named("host.init").value.is().and_then(Value::as_text) == Some("systemd");
    if let (true, Known::Unknown(why)) = (on_systemd, &kubelet.value) {
        // it may use another driver than the runtime
        return needs("kubelet.cgroup_driver", why);
    }
    // a default handler of another family (kata, gVisor) has no driver: the kubelet's own counts
    let subject = if runtime.value.is().is_some() { runtime } else { kubelet };
    if let Some(with_init) = against_init(facts, subject) {
        return with_init;
    }
    if let Some(dead) = refused(facts) {
        return dead;
    }
    let by = subject.by.as_ref().or(boots.by.as_ref());
    match &kubelet.value {
        Known::Unknown(why) => needs("kubelet.cgroup_driver", why),
        Known::Absent(_) => decided("no-kubelet", by),
        Known::Is(_) => decided("agree", weaker(runtime, kubelet)),
    }
}

/// `runtime-dead` when pods of the default handler cannot be created.
fn default_unusable(facts: &Snapshot) -> Option<InForce> {
    let table = names::find("containerd.runtimes")?;
    let column = |name| names::column(table, name).map(|(index, _)| index);
    let (default, usable) = (column("is_default")?, column("usable")?);
    let rows = &facts.get(table).rows;
    let row = rows.iter().find(|row| row[default].value == Known::Is(Value::Bool(true)))?;
    let unusable = row[usable].value == Known::Is(Value::Bool(false));
    unusable.then(|| decided("runtime-dead", row[usable].by.as_ref().or(row[0].by.as_ref())))
}

/// `kubelet-dead` when the kubelet refuses something that is there.
fn refused(facts: &Snapshot) -> Option<InForce> {
    let accepted = facts.named("kubelet.accepted");
    if accepted.value != Known::Is(Value::Bool(false)) {
        return None;
    }
    let table = names::find("kubelet.refusals")?;
    let (missing, _) = names::column(table, "missing")?;
    let joined = facts.get(table).rows.iter().any(|row| row[missing].value != Known::Is(Value::Bool(true)));
    joined.then(|| decided("kubelet-dead", accepted.by.as_ref()))
}

/// A verdict from driver and init system alone, if they give one.
fn against_init(facts: &Snapshot, subject: &InForce) -> Option<InForce> {
    let driver = subject.value.is()?.as_text()?;
    let by = subject.by.as_ref();
    let init = match &facts.named("host.init").value {
        Known::Is(init) => init.as_text().unwrap_or_default(),
        Known::Unknown(why) => return Some(needs("host.init", why)),
        Known::Absent(_) => return Some(needs("host.init", &Why::Unread)),
    };
    match (init, driver) {
        ("systemd", "cgroupfs") => Some(decided("two-managers", by)),
        // what runs outside of the container is not seen
        ("container", "systemd") => {
            let why = Why::Strange("looked at from inside a container".into());
            Some(needs("host.init", &why))
        }
        ("systemd", _) | (_, "cgroupfs") => None,
        _ => Some(decided("mismatch", by)),
    }
}

/// Of two values the origin that is less certain; of equals the runtime's.
fn weaker<'a>(runtime: &'a InForce, kubelet: &'a InForce) -> Option<&'a Origin> {
    match (&runtime.by, &kubelet.by) {
        (Some(r), Some(k)) if k.layer < r.layer => Some(k),
        (None, k) => k.as_ref(),
        (r, _) => r.as_ref(),
    }
}

#[cfg(test)]
mod tests;
