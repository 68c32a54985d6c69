//! What makes the kubelet refuse its configuration after it was decoded and merged, per version.
//! Upstream: pkg/kubelet/apis/config/validation, read for 1.21, 1.24, 1.28, 1.33 and 1.36; where the
//! version in which a check came was not read, the check is unclear between those.

mod host;
mod images;
mod logs;
mod memory;
mod numbers;
mod reserved;
mod shutdown;
mod taints;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod topology;

use super::effective::{Effective, Refusal, Stage};
use super::{duration, gates};
use crate::fact::{Known, Layer, Origin, Said, Value, Why};

/// What is known of the host, as far as a check depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// statfs of /sys/fs/cgroup tells cgroup2; a hybrid tree is v1.
    pub cgroup_v2: Known<bool>,
    /// /proc/swaps lists something.
    pub swap: Known<bool>,
}

/// What checks come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is refused, in upstream's order.
    pub refusals: Vec<Refusal>,
    /// Checks that could not be made: of which field or gate, and why. They refuse nothing, but it
    /// is not known either that the configuration is accepted.
    pub unclear: Vec<(String, Why)>,
}

impl Verdict {
    pub(super) fn unclear(&mut self, what: &str, why: Why) {
        if self.unclear.iter().all(|(said, _)| said != what) {
            self.unclear.push((what.to_owned(), why));
        }
    }

    fn and(&mut self, other: Verdict) {
        self.refusals.extend(other.refusals);
        other.unclear.into_iter().for_each(|(what, why)| self.unclear(&what, why));
    }
}

/// Gates and values as a start checks them; `minors` are the versions that it may be, of which the
/// first tells. What not all of them refuse is unclear.
pub fn judge(config: &Effective, minors: &[u32], host: &Host) -> Verdict {
    let of = |minor: &u32| {
        let mut verdict = gates::check(config, *minor);
        if verdict.refusals.is_empty() {
            verdict.and(validate(config, *minor, host));
        }
        verdict
    };
    let mut all = minors.iter().map(of);
    let Some(mut verdict) = all.next() else { return Verdict::default() };
    let others: Vec<Verdict> = all.collect();
    // a version told of one thing may refuse another first: the place decides
    let refuses = |verdict: &Verdict, at: &Refusal| {
        verdict.refusals.iter().any(|refusal| refusal.origin.place == at.origin.place)
    };
    let first = std::mem::take(&mut verdict.refusals);
    let (common, some): (Vec<_>, Vec<_>) =
        first.into_iter().partition(|refusal| others.iter().all(|other| refuses(other, refusal)));
    verdict.refusals = common;
    let of_others = others.iter().flat_map(|other| &other.refusals);
    let more: Vec<&Refusal> = of_others.filter(|refusal| !refuses(&verdict, refusal)).collect();
    for refusal in some.iter().chain(more) {
        verdict.unclear(&refusal.message, Why::NeedsVersion { of: "kubelet", worlds: Vec::new() });
    }
    for (what, why) in others.into_iter().flat_map(|other| other.unclear) {
        verdict.unclear(&what, why);
    }
    verdict
}

/// Checks a whole configuration as it is after merging, flags and defaults. Gates that are refused
/// themselves are [`gates::check`]'s, which comes first.
pub fn validate(config: &Effective, minor: u32, host: &Host) -> Verdict {
    let mut checks = Checks::new(config, minor, host);
    checks.verdict.and(gates::dependencies(config, minor));
    checks.node_lease();
    checks.qos_of_all();
    checks.system_cgroups();
    checks.events_and_health();
    checks.cfs_period();
    checks.image_collection();
    checks.dra_period();
    checks.numbers();
    checks.image_pulls();
    checks.server_certificate();
    checks.run_once();
    checks.taints();
    checks.topology();
    checks.graceful_shutdown();
    checks.swap_behavior();
    checks.crash_loop();
    checks.enforced();
    checks.hairpin();
    checks.pull_credentials();
    checks.reserved_cpus();
    checks.reserved_memory();
    checks.cgroup_version();
    checks.hidden_metrics();
    checks.logging();
    checks.tracing();
    checks.throttling();
    checks.endpoint();
    checks.log_query();
    checks.container_logs();
    checks.pod_logs();
    checks.verdict
}

/// A path of a field.
type Field<'a> = &'a [&'a str];

/// The checks of one configuration in one version.
struct Checks<'a> {
    config: &'a Effective,
    minor: u32,
    host: &'a Host,
    verdict: Verdict,
}

impl<'a> Checks<'a> {
    fn new(config: &'a Effective, minor: u32, host: &'a Host) -> Checks<'a> {
        Checks { config, minor, host, verdict: Verdict::default() }
    }

    /// A value, `zero` when nothing says it; `None` when it is not known or not of the type.
    fn read<T>(&mut self, field: Field<'_>, zero: T, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let why = match self.config.value(field) {
            Known::Absent(_) => return Some(zero),
            Known::Is(value) => match read(value) {
                Some(value) => return Some(value),
                None => Why::Strange(format!("{}: {value}", field.join("."))),
            },
            Known::Unknown(why) => why,
        };
        self.verdict.unclear(&field.join("."), why);
        None
    }

    fn int(&mut self, field: Field<'_>) -> Option<i64> {
        self.read(field, 0, Value::as_int)
    }

    fn bool(&mut self, field: Field<'_>) -> Option<bool> {
        self.read(field, false, Value::as_bool)
    }

    fn text(&mut self, field: Field<'_>) -> Option<String> {
        self.read(field, String::new(), |value| value.as_text().map(str::to_owned))
    }

    /// A duration in nanoseconds.
    fn duration(&mut self, field: Field<'_>) -> Option<i64> {
        self.read(field, 0, |value| value.as_text().and_then(duration::parse))
    }

    /// The elements of a list, each with its place.
    fn list(&mut self, field: Field<'_>) -> Option<Vec<Said>> {
        match self.config.elements(field) {
            Known::Is(elements) => Some(elements),
            Known::Absent(_) => Some(Vec::new()),
            Known::Unknown(why) => {
                self.verdict.unclear(&field.join("."), why);
                None
            }
        }
    }

    /// Whether something is said of a field; the defaults count as nothing.
    fn is_set(&mut self, field: Field<'_>) -> bool {
        match self.config.statements(field) {
            Known::Is(said) => said.last().is_some_and(|said| said.origin.layer != Layer::Default),
            Known::Absent(_) => false,
            Known::Unknown(why) => {
                self.verdict.unclear(&field.join("."), why);
                false
            }
        }
    }

    /// Whether a gate is on. To be asked only where the answer counts.
    fn gate(&mut self, name: &str) -> Option<bool> {
        match gates::enabled(self.config, self.minor, name) {
            Known::Is(on) => Some(on),
            Known::Absent(_) => Some(false),
            Known::Unknown(why) => {
                self.verdict.unclear(&format!("featureGates.{name}"), why);
                None
            }
        }
    }

    /// Refuses fields, the one that an operator would change first; one of a default is named only
    /// when all are. What nobody says, not even a default, is not refused.
    fn refuse(&mut self, fields: &[Field<'_>], message: String) {
        let origins: Vec<&Origin> = fields.iter().filter_map(|field| self.config.origin(field)).collect();
        let written = origins.iter().find(|origin| origin.layer != Layer::Default);
        if let Some(origin) = written.or(origins.first()) {
            let origin = (*origin).clone();
            self.refuse_at(origin, message);
        }
    }

    fn refuse_at(&mut self, origin: Origin, message: String) {
        self.verdict.refusals.push(Refusal { stage: Stage::Validate, message, origin, missing: false });
    }

    /// Refuses a field in the versions from `since` on. Of those in `unread` it was not read whether
    /// they check it.
    fn refuse_since(&mut self, since: u32, unread: u32, field: Field<'_>, message: String) {
        if self.minor >= since {
            self.refuse(&[field], message);
        } else if self.minor >= unread && self.config.origin(field).is_some() {
            self.verdict.unclear(&field.join("."), Why::Strange(message));
        }
    }
}
