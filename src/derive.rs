//! Facts computed from facts: the driver that the kubelet ends up with, and whether init system,
//! runtime and kubelet agree. Pure; called once per world and moment.

use crate::fact::{Known, Origin, Said, Value, Why};
use crate::names;
use crate::resolve::{InForce, Snapshot};
use crate::version::Version;
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

/// A runtime behind the kubelet's endpoint: the facts that tell of it.
struct Runtime {
    boots: &'static str,
    driver: &'static str,
    /// Who answers RuntimeConfig since which version; containerd's answer is a fact of its own.
    answers: Option<(&'static str, &'static str, &'static str)>,
}

const CONTAINERD: Runtime =
    Runtime { boots: "containerd.boots", driver: "containerd.cgroup_driver", answers: None };
const CRIO: Runtime = Runtime {
    boots: "crio.boots",
    driver: "crio.cgroup_driver",
    answers: Some(("crio", "crio.version", "1.28")),
};
const DOCKER: Runtime = Runtime {
    boots: "docker.boots",
    driver: "docker.cgroup_driver",
    answers: Some(("cri-dockerd", "docker.cri_version", "0.3.0")),
};

fn runtime(facts: &Snapshot) -> &'static Runtime {
    match facts.named("cri.other_runtime").value.is().and_then(Value::as_text) {
        Some("crio") => &CRIO,
        Some("docker") => &DOCKER,
        _ => &CONTAINERD,
    }
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
    let runtime = runtime(facts);
    if let Some(answers) = runtime.answers {
        return other_driver(facts, runtime, answers, configured);
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
        Known::Is(driver) => answered(driver, reported, configured),
        // an answer without a driver leaves the kubelet its own
        Known::Absent(_) => configured.clone(),
        Known::Unknown(why) => needs("containerd.reported_driver", why),
    }
}

/// The runtime's answer over the kubelet's own configuration.
fn answered(driver: &Value, reported: &InForce, configured: &InForce) -> InForce {
    let mut overridden = configured.overridden.clone();
    if let (Known::Is(value), Some(origin)) = (&configured.value, &configured.by) {
        overridden.insert(0, Said { value: value.clone(), origin: origin.clone() });
    }
    InForce { by: reported.by.clone(), overridden, ..InForce::bare(Known::Is(driver.clone())) }
}

/// What CRI-O or cri-dockerd answers: the driver that it runs with, from the version on that answers
/// at all. Before, the kubelet keeps its own.
fn other_driver(
    facts: &Snapshot,
    runtime: &Runtime,
    (daemon, version, since): (&'static str, &'static str, &str),
    configured: &InForce,
) -> InForce {
    let answers = match &facts.named(version).value {
        Known::Is(value) => value.as_text().and_then(Version::parse).and_then(|v| v.since(since)),
        _ => None,
    };
    let driver = facts.named(runtime.driver);
    match (answers, &driver.value) {
        (Some(false), _) => configured.clone(),
        // asked or not, it comes to the same
        (None, value) if *value == configured.value && value.is().is_some() => configured.clone(),
        (None, _) => needs(version, &Why::NeedsVersion { of: daemon, worlds: Vec::new() }),
        (Some(true), Known::Is(value)) if value.as_text() == Some("none") => InForce::bare(Known::Absent(
            Cow::Borrowed("cri-dockerd answers with an error for a rootless dockerd"),
        )),
        (Some(true), Known::Is(value)) => answered(value, driver, configured),
        (Some(true), Known::Absent(_)) => {
            InForce::bare(Known::Absent(Cow::Borrowed("the runtime that it asks does not answer")))
        }
        (Some(true), Known::Unknown(why)) => needs(runtime.driver, why),
    }
}

/// The first of these that holds:
/// 1. `no-runtime`: the runtime behind the kubelet's endpoint (without one, containerd) is not here;
/// 2. `runtime-dead`: it does not start, its CRI service does not come up, or pods of the
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
    let of = runtime(facts);
    let boots = facts.named(of.boots);
    match &boots.value {
        Known::Absent(_) => {
            return decided("no-runtime", facts.named("kubelet.runtime_endpoint").by.as_ref());
        }
        Known::Unknown(why) => return needs(of.boots, why),
        Known::Is(Value::Bool(true)) => {}
        Known::Is(_) => return decided("runtime-dead", boots.by.as_ref()),
    }
    if of.answers.is_none()
        && let Some(dead) = cri_dead(facts, boots).or_else(|| default_unusable(facts))
    {
        return dead;
    }
    let runtime = facts.named(of.driver);
    if runtime.value.is().and_then(Value::as_text) == Some("none") {
        return needs(of.driver, &Why::Strange("dockerd is rootless".into()));
    }
    let kubelet = facts.named("kubelet.cgroup_driver");
    if let (Known::Is(r), Known::Is(k)) = (&runtime.value, &kubelet.value)
        && r != k
    {
        return decided("mismatch", weaker(runtime, kubelet));
    }
    if let Known::Unknown(why) = &runtime.value {
        return needs(of.driver, why);
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

/// `runtime-dead`, or unknown, when containerd's CRI service does not come up.
fn cri_dead(facts: &Snapshot, boots: &InForce) -> Option<InForce> {
    let cri = facts.named("containerd.cri_enabled");
    match &cri.value {
        Known::Is(Value::Bool(true)) => None,
        Known::Unknown(why) => Some(needs("containerd.cri_enabled", why)),
        _ => Some(decided("runtime-dead", cri.by.as_ref().or(boots.by.as_ref()))),
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
