//! What stops the kubelet after its configuration was accepted and the runtime was asked, as far as
//! the configuration tells it: stages 12 and 13 of a start.
//! Upstream: cmd/kubelet/app/server.go (run), pkg/kubelet/cm (NewContainerManager, setupNode,
//! enforceNodeAllocatableCgroups), pkg/kubelet/eviction/helpers.go.

mod eviction;
mod resources;

use super::cgroup_names::{Named, Panics, looked_for};
use super::effective::Effective;
use super::gates;
use super::validate::{Host, Verdict};
use crate::fact::{Known, Layer, Origin, Said, Value, Why};

/// Where the start ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetupStage {
    /// While the container manager is made; the process ends with `failed to run Kubelet`, or a panic.
    ContainerManager,
    /// After the runtime was seen up; the process ends with `Failed to start ContainerManager`.
    NodeSetup,
}

impl SetupStage {
    pub fn name(self) -> &'static str {
        match self {
            SetupStage::ContainerManager => "container-manager",
            SetupStage::NodeSetup => "node-setup",
        }
    }
}

/// One thing that stops it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub stage: SetupStage,
    /// The setting that an operator would change.
    pub field: &'static str,
    pub message: String,
    pub origin: Origin,
}

/// What the configuration and the host come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// In the order of a start.
    pub troubles: Vec<Trouble>,
    /// Cgroups that must be there, which only the tree can tell.
    pub wanted: Vec<Wanted>,
    /// Checks that could not be made, as in [`Verdict`].
    pub unclear: Vec<(String, Why)>,
}

/// A cgroup that must exist, or the kubelet stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub stage: SetupStage,
    /// The field that names it.
    pub field: &'static str,
    pub written: String,
    /// The path looked for, in the v2 tree or each hierarchy of v1.
    pub path: String,
    pub origin: Origin,
}

/// What comes after acceptance. `driver` is the one in force.
pub fn node_setup(config: &Effective, driver: &str, minor: u32, host: &Host) -> Setup {
    let mut maker =
        Maker { config, driver, minor, host, setup: Setup::default(), verdict: Verdict::default() };
    maker.reserved_resources();
    maker.eviction();
    maker.cgroup_root();
    maker.limited_swap();
    maker.swap();
    maker.system_cgroups();
    maker.reserved_cgroups();
    let mut setup = maker.setup;
    setup.troubles.sort_by_key(|trouble| trouble.stage);
    setup.unclear = maker.verdict.unclear;
    setup
}

struct Maker<'a> {
    config: &'a Effective,
    driver: &'a str,
    minor: u32,
    host: &'a Host,
    setup: Setup,
    verdict: Verdict,
}

impl Maker<'_> {
    fn known<T>(&mut self, field: &str, known: Known<T>) -> Option<T> {
        match known {
            Known::Is(value) => Some(value),
            Known::Absent(_) => None,
            Known::Unknown(why) => {
                self.verdict.unclear(field, why);
                None
            }
        }
    }

    fn text(&mut self, field: &'static str) -> Option<(String, Origin)> {
        let text = self.known(field, self.config.text(&[field]))?;
        let origin = self.config.origin(&[field])?.clone();
        Some((text, origin)).filter(|(text, _)| !text.is_empty())
    }

    fn bool(&mut self, field: &'static str) -> Option<bool> {
        self.known(field, self.config.bool(&[field]))
    }

    /// The entries of a map, by key.
    fn entries(&mut self, field: &'static str) -> Vec<(String, Said)> {
        let entries = self.config.entries(&[field]);
        let found = self.known(field, entries).unwrap_or_default();
        found.into_iter().map(|(key, said)| (key.to_owned(), said.clone())).collect()
    }

    fn trouble(&mut self, stage: SetupStage, field: &'static str, message: String, origin: Origin) {
        self.setup.troubles.push(Trouble { stage, field, message, origin });
    }

    /// A cgroup that must be there.
    fn wanted(
        &mut self,
        stage: SetupStage,
        field: &'static str,
        (written, origin): (String, Origin),
        path: Result<String, Panics>,
    ) {
        match path {
            Ok(path) if path == "/" => {}
            Ok(path) => self.setup.wanted.push(Wanted { stage, field, written, path, origin }),
            Err(panics) => {
                let message = format!("{field} {written} makes the kubelet panic: {panics}");
                self.trouble(stage, field, message, origin);
            }
        }
    }

    fn cgroup_root(&mut self) {
        let Some((written, origin)) = self.text("cgroupRoot") else { return };
        let path = looked_for(&written, Named::Root, self.driver);
        // the root is looked for with the classes' cgroups only, its name is made anyway
        if path.is_err() || self.bool("cgroupsPerQOS") != Some(false) {
            self.wanted(SetupStage::ContainerManager, "cgroupRoot", (written, origin), path);
        }
    }

    fn limited_swap(&mut self) {
        let field = "memorySwap.swapBehavior";
        let path: &[&str] = &["memorySwap", "swapBehavior"];
        if self.known(field, self.config.text(path)).as_deref() != Some("LimitedSwap") || self.minor < 30 {
            return;
        }
        let on = self.known("featureGates.NodeSwap", gates::enabled(self.config, self.minor, "NodeSwap"));
        let v2 = self.host.cgroup_v2.clone();
        if on == Some(true)
            && self.known(field, v2) == Some(false)
            && let Some(origin) = self.config.origin(path)
        {
            let message = "memorySwap.swapBehavior is LimitedSwap, but it is only supported with cgroup v2";
            self.trouble(SetupStage::ContainerManager, field, message.to_owned(), origin.clone());
        }
    }

    fn swap(&mut self) {
        if self.bool("failSwapOn") != Some(true) {
            return;
        }
        let swap = self.host.swap.clone();
        if self.known("failSwapOn", swap) == Some(true)
            && let Some(origin) = self.config.origin(&["failSwapOn"])
        {
            let message = "running with swap on is not supported while failSwapOn is true";
            self.trouble(SetupStage::ContainerManager, "failSwapOn", message.to_owned(), origin.clone());
        }
    }

    fn system_cgroups(&mut self) {
        if let Some((written, origin)) = self.text("systemCgroups")
            && written == "/"
        {
            let message = "systemCgroups is /, but the system container cannot be root";
            self.trouble(SetupStage::NodeSetup, "systemCgroups", message.to_owned(), origin);
        }
    }

    fn reserved_cgroups(&mut self) {
        let enforced =
            self.known("enforceNodeAllocatable", self.config.elements(&["enforceNodeAllocatable"]));
        let enforced = enforced.unwrap_or_default();
        for (name, cgroup, resources) in [
            ("system-reserved", "systemReservedCgroup", "systemReserved"),
            ("kube-reserved", "kubeReservedCgroup", "kubeReserved"),
        ] {
            let lists = |said: &&Said| {
                let word = said.value.as_text().unwrap_or_default();
                word.strip_suffix("-compressible").unwrap_or(word) == name
            };
            let Some(listed) = enforced.iter().find(lists) else { continue };
            let origin = listed.origin.clone();
            let known = self.config.entries(&[resources]);
            if self.known(resources, known).is_some_and(|entries| entries.is_empty()) {
                let message = format!(
                    "enforceNodeAllocatable lists {}, but {resources} reserves nothing: the cgroup is not \
                     configured properly",
                    listed.value
                );
                self.trouble(SetupStage::NodeSetup, "enforceNodeAllocatable", message, origin);
            }
            if let Some(said) = self.text(cgroup) {
                let path = looked_for(&said.0, Named::Reserved, self.driver);
                self.wanted(SetupStage::NodeSetup, cgroup, said, path);
            }
        }
    }
}

/// Whether someone wrote it.
fn is_written(said: &Said) -> bool {
    said.origin.layer != Layer::Default
}

fn text_of(value: &Value) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::validate::testing::config;
    use super::*;

    fn of(fields: &str, driver: &str, minor: u32, v2: bool, swap: bool) -> Setup {
        let host = Host { cgroup_v2: Known::Is(v2), swap: Known::Is(swap) };
        node_setup(&config(fields, minor), driver, minor, &host)
    }

    fn told(setup: &Setup) -> String {
        let troubles = setup.troubles.iter().map(|t| format!("{}: {}", t.stage.name(), t.message));
        let wanted = setup.wanted.iter().map(|w| format!("{}: {} -> {}", w.stage.name(), w.field, w.path));
        troubles.chain(wanted).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_measured_starts_ended_with() {
        for (fields, driver, minor, v2, swap, expected) in [
            ("", "systemd", 36, true, false, ""),
            (
                "",
                "cgroupfs",
                28,
                false,
                true,
                "container-manager: running with swap on is not supported while failSwapOn is true",
            ),
            ("failSwapOn: false", "cgroupfs", 36, false, true, ""),
            (
                "failSwapOn: false\nmemorySwap: {swapBehavior: LimitedSwap}",
                "cgroupfs",
                34,
                false,
                true,
                "container-manager: memorySwap.swapBehavior is LimitedSwap, but it is only supported with cgroup v2",
            ),
            ("failSwapOn: false\nmemorySwap: {swapBehavior: LimitedSwap}", "cgroupfs", 34, true, true, ""),
            ("cgroupRoot: /nope", "cgroupfs", 36, false, false, "container-manager: cgroupRoot -> /nope"),
            ("cgroupRoot: /foo", "systemd", 34, false, false, "container-manager: cgroupRoot -> /foo.slice"),
            (
                "cgroupRoot: /foo.slice",
                "systemd",
                34,
                false,
                false,
                "container-manager: cgroupRoot -> /foo.slice.slice",
            ),
            (
                "cgroupRoot: /a-x/b",
                "systemd",
                34,
                false,
                false,
                "container-manager: cgroupRoot -> /a_x.slice/a_x-b.slice",
            ),
            (
                "cgroupRoot: /foo/",
                "systemd",
                34,
                false,
                false,
                "container-manager: cgroupRoot /foo/ makes the kubelet panic: invalid slice name: foo--kubepods.slice",
            ),
            ("cgroupRoot: /foo/", "cgroupfs", 34, false, false, "container-manager: cgroupRoot -> /foo"),
            ("cgroupRoot: /", "systemd", 34, false, false, ""),
            (
                "cgroupRoot: /nope\ncgroupsPerQOS: false\nenforceNodeAllocatable: []",
                "cgroupfs",
                34,
                false,
                false,
                "",
            ),
            (
                "cgroupRoot: /\nsystemCgroups: /",
                "cgroupfs",
                36,
                false,
                false,
                "node-setup: systemCgroups is /, but the system container cannot be root",
            ),
            (
                "enforceNodeAllocatable: [pods, kube-reserved]\nkubeReservedCgroup: /kube-reserved\nkubeReserved: {cpu: 100m}",
                "systemd",
                36,
                true,
                false,
                "node-setup: kubeReservedCgroup -> /kube.slice/kube-reserved.slice",
            ),
            ("kubeReservedCgroup: /kube-reserved\nkubeReserved: {cpu: 100m}", "systemd", 36, true, false, ""),
        ] {
            assert_eq!(told(&of(fields, driver, minor, v2, swap)), expected, "{fields}");
        }
    }

    #[test]
    fn an_enforced_reservation_of_nothing_stops_it() {
        let fields =
            "enforceNodeAllocatable: [system-reserved-compressible]\nsystemReservedCgroup: /system.slice";
        let told = told(&of(fields, "systemd", 36, true, false));
        assert!(
            told.starts_with("node-setup: enforceNodeAllocatable lists system-reserved-compressible, but"),
            "{told}"
        );
    }

    #[test]
    fn what_is_not_known_of_the_host_is_unclear() {
        let host = Host { cgroup_v2: Known::Unknown(Why::Unread), swap: Known::Unknown(Why::Unread) };
        let fields = "memorySwap: {swapBehavior: LimitedSwap}";
        let setup = node_setup(&config(fields, 36), "systemd", 36, &host);
        assert_eq!(setup.troubles, []);
        let fields: Vec<&str> = setup.unclear.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["memorySwap.swapBehavior", "failSwapOn"]);
    }
}
