//! A whole node: a real init system as process 1, a real bus, a real containerd; only the kubelet is a stand-in.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, thread};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::answer::Answer;
use crate::lab::{Suite, nodevet, output, scratch, script};

const KUBELET: &str = "/usr/bin/kubelet";

/// Below it a kubelet does not ask the runtime for its driver.
const OLD_KUBELET: &str = "1.30.4";
const NEW_KUBELET: &str = "1.34.2";

struct Scene {
    name: &'static str,
    pid1: &'static str,
    /// Whether systemd may start the system bus.
    bus: bool,
    systemd_cgroup: bool,
    kubelet: &'static str,
    kubelet_driver: &'static str,
    /// `node.verdict`; none where only the findings count.
    verdict: Option<&'static str>,
    /// Codes of the driver rules (NV1…) that must be found; none may be where this is empty.
    found: &'static [&'static str],
}

const SCENES: [Scene; 6] = [
    Scene {
        name: "mismatch",
        pid1: "systemd",
        bus: true,
        systemd_cgroup: false,
        kubelet: OLD_KUBELET,
        kubelet_driver: "systemd",
        verdict: Some("mismatch"),
        found: &["NV101"],
    },
    Scene {
        name: "agreement",
        pid1: "systemd",
        bus: true,
        systemd_cgroup: true,
        kubelet: OLD_KUBELET,
        kubelet_driver: "systemd",
        verdict: Some("agree"),
        found: &[],
    },
    Scene {
        name: "kubelet-may-follow",
        pid1: "systemd",
        bus: true,
        systemd_cgroup: false,
        kubelet: NEW_KUBELET,
        kubelet_driver: "systemd",
        verdict: None,
        found: &["NV102"],
    },
    Scene {
        name: "mismatch-without-bus",
        pid1: "systemd",
        bus: false,
        systemd_cgroup: false,
        kubelet: OLD_KUBELET,
        kubelet_driver: "systemd",
        verdict: Some("mismatch"),
        found: &["NV101"],
    },
    Scene {
        name: "busybox",
        pid1: "busybox",
        bus: false,
        systemd_cgroup: false,
        kubelet: OLD_KUBELET,
        kubelet_driver: "cgroupfs",
        verdict: Some("agree"),
        found: &[],
    },
    Scene {
        name: "busybox-with-systemd-driver",
        pid1: "busybox",
        bus: false,
        systemd_cgroup: true,
        kubelet: OLD_KUBELET,
        kubelet_driver: "systemd",
        verdict: None,
        found: &["NV1"],
    },
];

pub(crate) fn trials(suites: &[Arc<Suite>]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for suite in suites {
        for scene in &SCENES {
            let suite = suite.clone();
            trials.push(Trial::test(format!("{}/{}", suite.name, scene.name), move || {
                scene.play(&suite).map_err(Into::into)
            }));
        }
    }
    trials
}

/// The kubelet of the scenes is this very program under another name: it has the path, the command line and
/// the version of one, and does nothing.
pub(crate) fn is_stand_in() -> bool {
    env::args_os().next().is_some_and(|name| Path::new(&name).file_name() == Path::new(KUBELET).file_name())
}

pub(crate) fn stand_in() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("--version") {
        let version = fs::read_to_string(format!("{KUBELET}.version")).unwrap();
        println!("Kubernetes v{version}");
        return ExitCode::SUCCESS;
    }
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

impl Scene {
    fn play(&self, suite: &Suite) -> Result<(), String> {
        let share = scratch(&format!("{}-{}", suite.name, self.name));
        self.furnish(suite, &share).map_err(|e| format!("{}: {e}", share.display()))?;
        let cgroup = cgroup_mode(suite);
        let mut boot = Command::new(script("boot"));
        boot.args(["--pid1", self.pid1, "--cgroup", cgroup]).arg(&suite.tree).arg(&share);
        let boot = output(&mut boot)?;
        if !boot.status.success() {
            return Err(format!("boot: {}: {}", boot.status, String::from_utf8_lossy(&boot.stderr)));
        }
        let record = Record(share);
        let mut wrong = Vec::new();
        self.judge_facts(&record.facts("facts")?, suite, cgroup, &mut wrong);
        self.judge_findings(&record, &mut wrong)?;
        self.judge_capture(&record, &mut wrong)?;
        self.judge_hindered(&record, &mut wrong)?;
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    fn furnish(&self, suite: &Suite, share: &Path) -> std::io::Result<()> {
        let root = share.join("root");
        let put = |path: &str, text: &str| {
            let path = root.join(&path[1..]);
            fs::create_dir_all(path.parent().unwrap())?;
            fs::write(path, text)
        };
        put("/etc/containerd/config.toml", &containerd_config(suite, self.systemd_cgroup))?;
        put(
            "/var/lib/kubelet/config.yaml",
            &format!(
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n\
                 containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\ncgroupDriver: {}\n",
                self.kubelet_driver
            ),
        )?;
        put(
            "/etc/systemd/system/kubelet.service",
            &format!(
                "[Unit]\nAfter=containerd.service\n[Service]\n\
                 ExecStart={KUBELET} --config=/var/lib/kubelet/config.yaml\n"
            ),
        )?;
        let wants = root.join("etc/systemd/system/multi-user.target.wants");
        fs::create_dir_all(&wants)?;
        symlink("../kubelet.service", wants.join("kubelet.service"))?;
        if !self.bus {
            for unit in ["dbus.service", "dbus.socket"] {
                symlink("/dev/null", wants.with_file_name(unit))?;
            }
        }
        put(&format!("{KUBELET}.version"), self.kubelet)?;
        fs::copy(env::current_exe()?, root.join(&KUBELET[1..]))?;
        fs::copy(nodevet(), share.join("nodevet"))?;
        fs::write(share.join("run"), include_str!("record.sh"))
    }

    fn judge_facts(&self, facts: &Answer, suite: &Suite, cgroup: &str, wrong: &mut Vec<String>) {
        let mut expect = |name: &str, value: Option<&str>| {
            let said = facts.text(name);
            if said != value {
                wrong.push(format!("{name}: expected {value:?}, nodevet says {said:?}"));
            }
        };
        expect("host.init", Some(self.pid1));
        expect("cgroup.mode", Some(if cgroup == "legacy" { "v1" } else { cgroup }));
        expect("containerd.default_runtime", Some("runc"));
        expect("containerd.cgroup_driver", Some(driver(self.systemd_cgroup)));
        let asked = suite.generation() >= (2, 0);
        let reported = if asked { driver(self.systemd_cgroup) } else { "unimplemented" };
        expect("containerd.reported_driver", Some(reported));
        if let Some(verdict) = self.verdict {
            expect("node.verdict", Some(verdict));
        }
        let mut begins = |name: &str, with: &str| {
            let said = facts.text(name).unwrap_or_default();
            if !said.trim_start_matches('v').starts_with(with) {
                wrong.push(format!("{name}: expected {with}…, nodevet says {said:?}"));
            }
        };
        begins("containerd.version", &suite.containerd);
        begins("kubelet.version", self.kubelet);
        if self.pid1 == "systemd" {
            begins("host.systemd_version", &suite.systemd);
        }
        if facts.source("containerd.version") != "cri:Version" {
            wrong.push(format!("containerd.version is from {}", facts.source("containerd.version")));
        }
    }

    fn judge_findings(&self, record: &Record, wrong: &mut Vec<String>) -> Result<(), String> {
        let check = record.json("check")?;
        let drivers: Vec<&Value> =
            findings(&check).iter().filter(|finding| code(finding).starts_with("NV1")).collect();
        for wanted in self.found {
            if !drivers.iter().any(|finding| code(finding).starts_with(wanted)) {
                wrong.push(format!("{wanted} is not found"));
            }
        }
        for finding in drivers {
            if self.found.is_empty() {
                wrong.push(format!("{}: {} is found", code(finding), finding["message"]));
            }
            if code(finding) == "NV101" && !points_to_setting(finding, record) {
                wrong.push(format!("NV101 does not point to SystemdCgroup: {}", finding["labels"]));
            }
        }
        let exit = record.text("check.code")?;
        let errors = findings(&check).iter().any(|finding| finding["severity"] == "error");
        if exit.trim() != if errors { "1" } else { "0" } {
            wrong.push(format!("check ends with {}: {}", exit.trim(), record.text("check.err")?));
        }
        Ok(())
    }

    fn judge_capture(&self, record: &Record, wrong: &mut Vec<String>) -> Result<(), String> {
        let (live, replayed) = (record.json("check")?, record.json("check-captured")?);
        for part in ["findings", "unknown"] {
            if live[part] != replayed[part] {
                wrong.push(format!(
                    "the capture has other {part}: {} live, {} replayed",
                    live[part], replayed[part]
                ));
            }
        }
        let (live, replayed) = (record.facts("facts")?, record.facts("facts-captured")?);
        for name in
            ["host.init", "cgroup.mode", "containerd.version", "containerd.reported_driver", "node.verdict"]
        {
            if live.value(name) != replayed.value(name) {
                let (live, replayed) = (live.value(name), replayed.value(name));
                wrong.push(format!("{name}: {live:?} live, {replayed:?} replayed"));
            }
        }
        Ok(())
    }

    /// Asked by a user without rights, and while containerd hangs.
    fn judge_hindered(&self, record: &Record, wrong: &mut Vec<String>) -> Result<(), String> {
        for question in ["facts-nobody", "facts-hung"] {
            let facts = record.facts(question)?;
            if facts.text("host.init") != Some(self.pid1) {
                wrong.push(format!("{question}: host.init is {:?}", facts.value("host.init")));
            }
            if facts.source("containerd.version").starts_with("cri:") {
                wrong.push(format!("{question}: containerd cannot have answered"));
            }
        }
        Ok(())
    }
}

/// What `record.sh` left behind.
struct Record(PathBuf);

impl Record {
    fn text(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.0.join(file)).map_err(|e| format!("{file}: {e}"))
    }

    fn json(&self, question: &str) -> Result<Value, String> {
        serde_json::from_str(&self.text(&format!("{question}.out"))?).map_err(|e| {
            format!("{question}: {e}: {}", self.text(&format!("{question}.err")).unwrap_or_default())
        })
    }

    fn facts(&self, question: &str) -> Result<Answer, String> {
        Answer::new(self.json(question)?)
    }
}

fn findings(check: &Value) -> &[Value] {
    check["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn code(finding: &Value) -> &str {
    finding["code"].as_str().unwrap_or_default()
}

fn points_to_setting(finding: &Value, record: &Record) -> bool {
    let config = record.text("root/etc/containerd/config.toml").unwrap_or_default();
    let line = config.lines().position(|line| line.contains("SystemdCgroup")).map(|index| index + 1);
    finding["labels"].as_array().into_iter().flatten().any(|label| {
        label["source"] == "/etc/containerd/config.toml"
            && label["line"].as_u64() == line.map(|line| line as u64)
    })
}

fn containerd_config(suite: &Suite, systemd_cgroup: bool) -> String {
    let (version, plugin) = if suite.generation() >= (2, 0) {
        (3, "io.containerd.cri.v1.runtime")
    } else {
        (2, "io.containerd.grpc.v1.cri")
    };
    let runc = format!("[plugins.\"{plugin}\".containerd.runtimes.runc");
    format!(
        "version = {version}\n\n{runc}]\n  runtime_type = \"io.containerd.runc.v2\"\n\
         {runc}.options]\n  SystemdCgroup = {systemd_cgroup}\n"
    )
}

fn driver(systemd: bool) -> &'static str {
    if systemd { "systemd" } else { "cgroupfs" }
}

/// Each suite has the hierarchy of its time, as far as this host's mounts allow: a host with v2 alone has no other,
/// and systemd from 258 on refuses v1.
fn cgroup_mode(suite: &Suite) -> &'static str {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let v1 = mounts.lines().any(|line| line.split_whitespace().nth(2) == Some("cgroup"));
    match suite.name.as_str() {
        "bullseye" | "bookworm" if v1 => "hybrid",
        "trixie" if v1 => "legacy",
        _ => "v2",
    }
}
