//! Collectors: what the node says, turned into facts that remember where it was said. They cannot
//! fail: what could not be read is an unknown fact, what is malformed a problem at its place.

mod agree;
mod boot;
pub(crate) mod cgroup;
mod command;
mod containerd;
pub(crate) mod cri;
mod crio;
mod ctx;
mod docker;
mod host;
mod kernel;
mod kubelet;
mod number;
mod process;
mod static_pods;
mod systemd;
mod version;

use crate::fact::{Fact, Known, Layer, Origin, Said, Statements, Value, What, Why};
use crate::model::kubelet::flags;
use crate::model::kubelet::merge::DROP_IN_VARIABLE;
use crate::model::unit::{self, Argument, Environment};
use crate::node::Node;
use crate::node::live::Ask;
use crate::resolve::{Collected, Variant};
use crate::version::Version;
use containerd::Told;
use ctx::Ctx;
use process::{Process, Processes};
use std::collections::BTreeMap;
use version::{Packages, evidence};

/// What the operator said on the command line about the node.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--assume NAME=VERSION`: a daemon or systemd. Checked by the command line.
    pub assume: BTreeMap<String, String>,
    /// `--containerd-config FILE`, a node path.
    pub containerd_config: Option<String>,
    /// `--now` or SOURCE_DATE_EPOCH, in seconds since the epoch.
    pub now: Option<i64>,
}

/// Where runtimes listen; the kubelet's own endpoint is asked first.
const SOCKETS: [&str; 5] = [
    "/run/containerd/containerd.sock",
    "/run/k3s/containerd/containerd.sock",
    "/run/k0s/containerd.sock",
    "/var/snap/microk8s/common/run/containerd.sock",
    "/run/crio/crio.sock",
];

/// Looks at a node. Never fails.
pub fn collect(node: &Node, options: &Options) -> Collected {
    let mut ctx = Ctx::new(node, options);
    host::collect(&mut ctx);
    cgroup::collect(&mut ctx);
    kernel::collect(&mut ctx);
    boot::collect(&mut ctx);
    let packages = Packages::read(&mut ctx);
    let processes = process::scan(&mut ctx);

    // the kubelet first: it names the socket
    let process = processes.as_ref().and_then(|p| p.kubelet.as_ref().map_or(Known::ABSENT, Known::Is));
    let started = command::kubelet(&mut ctx, &process);
    let holder = processes.is().and_then(|p| p.holder.as_ref());
    let exes = programs(process.is().copied().or(holder), started.next.is().map(|unit| &unit.arguments));
    let said = evidence(&mut ctx, &packages, "kubelet", None, &exes);
    let running = kubelet_command(&mut ctx, started.running);
    let told = kubelet_command(&mut ctx, started.next);
    let kubelet = kubelet::collect(&mut ctx, running, told, parsed(&said).as_ref());
    ctx.say(Fact::one("kubelet.version", said));

    let endpoint = endpoint(&kubelet);
    let asked = endpoint.as_deref().map(socket).filter(|s| s.starts_with('/')).map(str::to_owned);
    let others = SOCKETS.iter().map(|s| (*s).to_owned()).filter(|s| Some(s) != asked.as_ref());
    let sockets = asked.iter().cloned().chain(others).collect();
    let replies = node.probe(&Ask { units: systemd::asked(), cri: sockets });
    systemd::collect(&mut ctx, &replies, &packages);
    let cri = cri::running(&mut ctx, &replies);

    let unit = command_line(&mut ctx, "containerd.service");
    let process = processes
        .as_ref()
        .and_then(|p| behind(&p.containerds, endpoint.as_deref()).map_or(Known::ABSENT, Known::Is));
    containerd::process(&mut ctx, &process);
    let exes = programs(process.is().copied(), unit.is());
    let version = evidence(&mut ctx, &packages, "containerd", cri.version.clone(), &exes);
    let daemon = containerd::Daemon {
        told: told_main(&process, &unit),
        endpoint,
        installed: process.is().is_some() || unit.is().is_some(),
        version,
        live: cri.live,
        live_handlers: cri.live_handlers,
    };
    let containerd = containerd::collect(&mut ctx, daemon);
    other_runtimes(&mut ctx, &packages, &processes, &kubelet);
    static_pods::collect(&mut ctx, &said_by_all(&kubelet, "kubelet.static_pod_path"));
    ctx.finish(containerd, kubelet)
}

/// What was found out of a daemon before its files are read.
struct Daemon {
    version: Statements,
    /// Of the process, else of the unit; absent when there is neither.
    arguments: Known<Vec<Argument>>,
    /// As the unit says it.
    environment: Environment,
}

/// Docker and CRI-O, and which of them the kubelet asks.
fn other_runtimes(ctx: &mut Ctx, packages: &Packages, processes: &Known<Processes>, kubelet: &[Variant]) {
    ctx.say(Fact::one("cri.other_runtime", other_runtime(kubelet)));
    let docker = other(ctx, packages, processes, ("docker", "dockerd", "docker.service"));
    docker::collect(ctx, &docker);
    let cri_dockerd = evidence(ctx, packages, "cri-dockerd", None, &[]);
    ctx.say(Fact::one("docker.cri_version", cri_dockerd));
    let crio = other(ctx, packages, processes, ("crio", "crio", "crio.service"));
    crio::collect(ctx, &crio);
}

/// Looks for a daemon by its name here, its process and its unit.
fn other(
    ctx: &mut Ctx,
    packages: &Packages,
    processes: &Known<Processes>,
    (name, process, unit): (&'static str, &str, &str),
) -> Daemon {
    let loaded = unit::load(ctx, unit);
    let environment = loaded.is().map(|unit| unit.environment(ctx)).unwrap_or_default();
    let line = loaded.and_then(|unit| unit.starts(ctx));
    let running = processes
        .as_ref()
        .and_then(|found| found.others.iter().find(|p| p.name == process).map_or(Known::ABSENT, Known::Is));
    let exes = programs(running.is().copied(), line.is());
    let version = evidence(ctx, packages, name, None, &exes);
    let arguments = match (running, line) {
        (Known::Is(process), _) => Known::Is(process.arguments.clone()),
        (_, Known::Is(line)) => Known::Is(line),
        // a dead tree has no processes
        (Known::Unknown(Why::NotRunning(_)) | Known::Absent(_), Known::Absent(note)) => Known::Absent(note),
        (_, Known::Unknown(why)) | (Known::Unknown(why), _) => Known::Unknown(why),
    };
    Daemon { version, arguments, environment }
}

/// The runtime behind the kubelet's endpoint, where that is not containerd's.
fn other_runtime(kubelet: &[Variant]) -> Statements {
    let Some(said) = endpoint_said(kubelet) else { return Known::ABSENT };
    let others = [("crio", "crio"), ("cri-dockerd", "docker"), ("dockershim", "docker")];
    let endpoint = said.value.as_text().unwrap_or_default();
    let found = others.iter().find(|(mark, _)| endpoint.contains(mark));
    found.map_or(Known::ABSENT, |(_, name)| Known::Is(vec![Said { value: Value::text(*name), ..said }]))
}

/// What a start of the kubelet tells it. Its environment is looked at only where a directory of
/// drop-ins is named: nothing else of it counts.
fn kubelet_command(ctx: &mut Ctx, command: Known<command::Command>) -> Known<kubelet::Command> {
    command.map(|command| {
        let args = command.words().to_vec();
        let variable = match flags::value(&args, "config-dir") {
            Some(_) => command.variable(ctx, DROP_IN_VARIABLE).map(|_| true),
            None => Known::ABSENT,
        };
        let relative = ["config", "config-dir"]
            .into_iter()
            .filter_map(|name| flags::value(&args, name))
            .any(|(path, _)| !path.is_empty() && !path.starts_with('/'));
        let directory = if relative { command.directory(ctx) } else { "/".to_owned() };
        kubelet::Command { args, variable, directory }
    })
}

/// The command line that a unit would start, variables replaced.
fn command_line(ctx: &mut Ctx, name: &str) -> Known<Vec<Argument>> {
    command::of_unit(ctx, name).map(|command| command.arguments)
}

/// Where a daemon's program may be: as it runs, then as its unit says.
fn programs(process: Option<&Process>, unit: Option<&Vec<Argument>>) -> Vec<String> {
    let running = process.and_then(|p| p.exe.is().cloned());
    running.into_iter().chain(unit.and_then(|u| u.first()).map(|a| a.text().to_owned())).collect()
}

/// The path in an endpoint.
fn socket(endpoint: &str) -> &str {
    endpoint.strip_prefix("unix://").unwrap_or(endpoint)
}

/// Of several containerds, the one that listens where the kubelet asks.
fn behind<'a>(running: &'a [Process], endpoint: Option<&str>) -> Option<&'a Process> {
    let socket = endpoint.map(socket);
    let listens = |p: &&Process| {
        let address = p.flag(&["--address", "-a"]).map_or_else(|| SOCKETS[0].to_owned(), |(path, _)| path);
        socket.is_none_or(|socket| socket.trim_start_matches("/var") == address.trim_start_matches("/var"))
    };
    running.iter().find(listens).or_else(|| running.first())
}

fn told_main(process: &Known<&Process>, unit: &Known<Vec<Argument>>) -> Told {
    let names = ["--config", "-c"];
    let (found, layer) = match (process, unit) {
        (Known::Is(process), _) => (process.flag(&names), Layer::Runtime),
        (_, Known::Is(line)) => (unit::flag(line, &names), Layer::Flag),
        // a dead tree has no processes
        (Known::Unknown(Why::NotRunning(_)), Known::Absent(_)) | (Known::Absent(_), Known::Absent(_)) => {
            return Told::Nothing;
        }
        (_, Known::Unknown(why)) | (Known::Unknown(why), _) => return Told::Unknown(why.clone()),
    };
    found.map_or(Told::Default, |(path, place)| Told::File(path, Origin::new(layer, place)))
}

/// What every generation of the kubelet makes of a setting; unknown where they differ.
fn said_by_all(kubelet: &[Variant], name: &str) -> Known<Said> {
    let mut found: Option<Known<Said>> = None;
    for variant in kubelet {
        let fact = variant.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.what);
        let said = match fact {
            Some(What::One(Known::Is(said))) => {
                let said = said.iter().max_by_key(|s| s.origin.layer);
                said.map_or(Known::ABSENT, |s| Known::Is(s.clone()))
            }
            Some(What::One(Known::Absent(note))) => Known::Absent(note.clone()),
            Some(What::One(Known::Unknown(why))) => Known::Unknown(why.clone()),
            _ => Known::Unknown(Why::Unread),
        };
        let value = |said: &Known<Said>| said.is().map(|s| s.value.clone());
        match &found {
            Some(first) if value(first) != value(&said) => {
                return Known::Unknown(Why::NeedsVersion { of: "kubelet", worlds: Vec::new() });
            }
            _ => found = Some(said),
        }
    }
    found.unwrap_or(Known::ABSENT)
}

/// The endpoint that the newest generation of the kubelet that is possible uses, where one says it.
fn endpoint(kubelet: &[Variant]) -> Option<String> {
    endpoint_said(kubelet)?.value.as_text().map(str::to_owned)
}

fn endpoint_said(kubelet: &[Variant]) -> Option<Said> {
    let fact = kubelet.last()?.facts.iter().find(|fact| fact.name == "kubelet.runtime_endpoint")?;
    let What::One(said) = &fact.what else { return None };
    strongest(said)
}

/// The statement that beats the others; of equals, the last.
fn strongest(said: &Statements) -> Option<Said> {
    said.is()?.iter().max_by_key(|s| s.origin.layer).cloned()
}

fn parsed(said: &Statements) -> Option<Version> {
    strongest(said).and_then(|said| Version::parse(said.value.as_text()?))
}
