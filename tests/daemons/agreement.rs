//! For every configuration: the daemon's own dump, a real start of it, and nodevet say the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial};

use crate::answer::Answer;
use crate::case::{self, Case};
use crate::dump::{Driver, Dump};
use crate::generate;
use crate::lab::{Suite, output, scratch, script};

const PROGRAMS: [&str; 2] = ["/usr/bin/containerd", "/usr/bin/ctr"];

/// A directory with nothing in it but a containerd, where one case at a time is tried.
struct Room {
    suite: Arc<Suite>,
    /// What the daemon sees as its root.
    daemon: PathBuf,
    /// The same case for nodevet, without the programs and mount points that the daemon needs.
    nodevet: PathBuf,
}

/// What the daemon did with a configuration.
struct Truth {
    /// None where `config dump` fails.
    dump: Option<Dump>,
    /// Its plugins with their states, or why it does not start.
    start: Result<String, String>,
}

pub(crate) fn trials(suites: &[Arc<Suite>]) -> Vec<Trial> {
    let rooms: Vec<_> = suites.iter().map(|suite| Arc::new(Mutex::new(Room::new(suite)))).collect();
    let mut trials = Vec::new();
    for case in case::all().into_iter().chain(generate::cases()).map(Arc::new) {
        for room in &rooms {
            let version = room.lock().unwrap().suite.containerd.clone();
            let (case, room) = (case.clone(), room.clone());
            trials.push(Trial::test(format!("containerd-{version}/{}", case.name), move || {
                // A trial that failed leaves nothing behind which the next would see.
                let room = room.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let differences = room.compare(&case)?;
                if differences.is_empty() {
                    return Ok(());
                }
                Err(Failed::from(format!("{}\n{}", differences.join("\n"), case.shown())))
            }));
        }
    }
    trials
}

impl Room {
    fn new(suite: &Arc<Suite>) -> Room {
        let daemon = scratch(&format!("{}-daemon", suite.name));
        let mut files: Vec<PathBuf> = PROGRAMS.iter().map(PathBuf::from).collect();
        files.extend(PROGRAMS.iter().flat_map(|program| suite.libraries(program).unwrap()));
        for file in files {
            let inside = file.strip_prefix("/").unwrap();
            fs::create_dir_all(daemon.join(inside).parent().unwrap()).unwrap();
            fs::copy(suite.resolved(&file).unwrap(), daemon.join(inside)).unwrap();
        }
        Room { suite: suite.clone(), daemon, nodevet: scratch(&format!("{}-nodevet", suite.name)) }
    }

    fn compare(&self, case: &Case) -> Result<Vec<String>, String> {
        for root in [&self.daemon, &self.nodevet] {
            case.place(root).map_err(|e| e.to_string())?;
        }
        let truth = Truth::of(&self.daemon, case, self.suite.generation())?;
        let mut arguments = vec!["--assume".to_owned(), format!("containerd={}", self.suite.containerd)];
        if let Some(main) = &case.main {
            arguments.extend(["--containerd-config".to_owned(), main.clone()]);
        }
        Ok(truth.differences(&Answer::of(&self.nodevet, &arguments)?))
    }
}

impl Truth {
    fn of(root: &Path, case: &Case, generation: (u32, u32)) -> Result<Truth, String> {
        let flags = case.main.iter().flat_map(|main| ["--config", main]);
        let start = output(Command::new(script("start")).arg(root).args(flags.clone()))?;
        let start = if start.status.success() {
            Ok(String::from_utf8_lossy(&start.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&start.stderr).into_owned())
        };
        let dump =
            output(Command::new("chroot").arg(root).arg(PROGRAMS[0]).args(flags).args(["config", "dump"]))?;
        let dump = if dump.status.success() {
            Some(Dump::parse(&String::from_utf8_lossy(&dump.stdout), generation)?)
        } else {
            None
        };
        Ok(Truth { dump, start })
    }

    fn differences(&self, answer: &Answer) -> Vec<String> {
        let mut found = Vec::new();
        let boots = answer.truth("containerd.boots");
        if boots != Some(self.start.is_ok()) {
            let log = self.start.as_ref().err().map(|log| format!(": {log}")).unwrap_or_default();
            found.push(format!("boots: real {}, nodevet {boots:?}{log}", self.start.is_ok()));
        }
        let (Ok(plugins), true) = (&self.start, boots == Some(true)) else { return found };

        let cri = plugin_ok(plugins, "io.containerd.grpc.v1", "cri");
        differ(&mut found, "cri_enabled", &Some(cri), &answer.truth("containerd.cri_enabled"));
        if let Some(dump) = &self.dump {
            differ(
                &mut found,
                "disabled_plugins",
                &dump.disabled_plugins,
                &answer.list("containerd.disabled_plugins"),
            );
            if cri {
                dump.differences(answer, &mut found);
            }
        }
        found
    }
}

impl Dump {
    fn differences(&self, answer: &Answer, found: &mut Vec<String>) {
        let text = |name| answer.text(name);
        differ(
            found,
            "default_runtime",
            &self.default_runtime.as_deref(),
            &text("containerd.default_runtime"),
        );
        differ(found, "sandbox_image", &self.sandbox_image.as_deref(), &text("containerd.sandbox_image"));
        for handler in &self.handlers {
            let name = &handler.name;
            let Some(row) = answer.row("containerd.runtimes", name) else {
                found.push(format!("runtimes: `{name}` is missing"));
                continue;
            };
            differ(
                found,
                &format!("{name}.type"),
                &handler.ty.as_str(),
                &row.text("type").unwrap_or_default(),
            );
            let (driver, usable) = (row.truth("systemd_cgroup"), row.truth("usable"));
            match handler.driver {
                Driver::Systemd(real) => {
                    differ(found, &format!("{name}.systemd_cgroup"), &Some(real), &driver);
                }
                Driver::Broken => differ(found, &format!("{name}.usable"), &Some(false), &usable),
                Driver::NotShown => {}
            }
        }
        for row in answer.rows("containerd.runtimes") {
            let name = row.text("name").unwrap_or_default();
            // These two come from old keys, when CRI starts.
            let made_at_start = ["default", "untrusted"].contains(&name);
            if !made_at_start && !self.handlers.iter().any(|handler| handler.name == name) {
                found.push(format!("runtimes: `{name}` is not there for containerd"));
            }
        }
    }
}

fn differ<T: PartialEq + std::fmt::Debug>(found: &mut Vec<String>, what: &str, real: &T, nodevet: &T) {
    if real != nodevet {
        found.push(format!("{what}: real {real:?}, nodevet {nodevet:?}"));
    }
}

/// Whether a line of `ctr plugins ls` (type, id, platforms, state) says `ok`.
fn plugin_ok(plugins: &str, ty: &str, id: &str) -> bool {
    plugins.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [t, i, .., "ok"] if t == ty && i == id)
    })
}
