//! How a daemon is started: its arguments and its environment, as a process that runs shows them
//! or as its unit says.

use super::ctx::Ctx;
use super::process::Process;
use crate::fact::{Known, Layer, Origin, Why};
use crate::model::unit::{self, Argument, Environment};
use crate::text::{Kind, Place, Span};

/// Scripts that start a kubelet where systemd does not.
const SCRIPTS: [&str; 4] =
    ["/etc/init.d/kubelet", "/etc/rc.d/init.d/kubelet", "/etc/sv/kubelet/run", "/etc/service/kubelet/run"];

#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// With the program's own name; variables replaced.
    pub(crate) arguments: Vec<Argument>,
    environment: Told,
    /// `WorkingDirectory=` of its unit.
    directory: Option<String>,
}

#[derive(Clone, Debug)]
enum Told {
    Unit(Environment),
    /// The process of this number, whose environment is read when it is asked for.
    Process(u32),
}

/// The two starts of a kubelet.
pub(crate) struct Kubelet {
    /// Absent when none runs.
    pub(crate) running: Known<Command>,
    /// Absent when nothing would start one; unknown where a shell script does.
    pub(crate) next: Known<Command>,
}

pub(crate) fn kubelet(ctx: &mut Ctx, process: &Known<&Process>) -> Kubelet {
    let next = match (of_unit(ctx, "kubelet.service"), other_init(ctx)) {
        (Known::Absent(note), _) => script(ctx).map_or(Known::Absent(note), Known::Unknown),
        (unit, true) => script(ctx).map_or(unit, Known::Unknown),
        (unit, false) => unit,
    };
    let next = next.and_then(|mut command| match kubelet_in(&command.arguments) {
        Some(at) => {
            command.arguments.drain(..at);
            Known::Is(command)
        }
        None => {
            let program = command.arguments.first().map_or("", Argument::text);
            Known::Unknown(Why::NotRunning(format!("kubelet, which {program} starts in its own way")))
        }
    });
    let directory = next.is().and_then(|unit| unit.directory.clone());
    let running = process.clone().map(|process| {
        let mut command = Command {
            arguments: process.arguments.clone(),
            environment: Told::Process(process.pid),
            directory,
        };
        command.arguments.drain(..kubelet_in(&command.arguments).unwrap_or(0));
        command
    });
    Kubelet { running, next }
}

/// Where the kubelet stands in a command line: at its head, or behind a program that starts it
/// (`kubenswrapper /usr/bin/kubelet …`, `hyperkube kubelet …`). None behind a script or a shell.
fn kubelet_in(arguments: &[Argument]) -> Option<usize> {
    let base = |word: &Argument| word.text().rsplit('/').next().unwrap_or_default().to_owned();
    let head = base(arguments.first()?);
    if head.starts_with("kubelet") && !head.ends_with(".sh") {
        return Some(0);
    }
    let shell = head.ends_with("sh");
    arguments.iter().position(|word| base(word) == "kubelet").filter(|_| !shell)
}

/// What a unit would start.
pub(crate) fn of_unit(ctx: &mut Ctx, name: &str) -> Known<Command> {
    unit::load(ctx, name).and_then(|unit| {
        for (place, message) in &unit.problems {
            ctx.problem(*place, message.clone());
        }
        unit.starts(ctx).map(|arguments| {
            let environment = Told::Unit(unit.environment(ctx));
            Command { arguments, environment, directory: working_directory(&unit) }
        })
    })
}

fn working_directory(unit: &unit::Unit) -> Option<String> {
    let path = unit.property("Service", "WorkingDirectory")?.value.text();
    let path = path.strip_prefix('-').unwrap_or(path);
    Some(if path == "~" { "/root".to_owned() } else { path.to_owned() })
}

/// Whether something else than systemd is known to start daemons.
fn other_init(ctx: &Ctx) -> bool {
    let inits = ["openrc", "sysvinit", "busybox", "s6"];
    ctx.known("host.init").is().and_then(|init| init.as_text()).is_some_and(|init| inits.contains(&init))
}

/// What a script gives its daemon only its shell knows.
fn script(ctx: &Ctx) -> Option<Why> {
    let path = SCRIPTS.iter().find(|path| ctx.node.stat(path).is().is_some())?;
    Some(Why::NotRunning(format!("kubelet, which the shell script {path} starts")))
}

impl Command {
    /// The arguments without the program's own name.
    pub(crate) fn words(&self) -> &[Argument] {
        self.arguments.get(1..).unwrap_or_default()
    }

    /// Where relative paths of its arguments begin: units are started in the root directory where
    /// they say nothing else.
    pub(crate) fn directory(&self, ctx: &Ctx) -> String {
        let own = match &self.environment {
            Told::Process(pid) => ctx.node.link(&format!("/proc/{pid}/cwd")).is().cloned(),
            Told::Unit(_) => None,
        };
        own.or_else(|| self.directory.clone()).unwrap_or_else(|| "/".to_owned())
    }

    /// What the daemon finds in a variable of its environment.
    pub(crate) fn variable(&self, ctx: &mut Ctx, name: &str) -> Known<(String, Origin)> {
        match &self.environment {
            Told::Unit(environment) => match (environment.get(name), environment.unread.first()) {
                // an unread file may say it again
                (_, Some((_, why))) => Known::Unknown(why.clone()),
                (Some(said), None) => {
                    Known::Is((said.value.text().to_owned(), Origin::new(said.layer, said.place)))
                }
                (None, None) => Known::ABSENT,
            },
            Told::Process(pid) => of_environ(ctx, &format!("/proc/{pid}/environ"), name),
        }
    }
}

/// Only the line asked for is captured: the rest is no business of a report.
fn of_environ(ctx: &mut Ctx, path: &str, name: &str) -> Known<(String, Origin)> {
    let text = match ctx.node.read(path) {
        Known::Is(text) => text.text,
        Known::Absent(_) => return Known::Unknown(Why::NotRunning(path.to_owned())),
        Known::Unknown(why) => return Known::Unknown(why),
    };
    // of a name said twice, Go takes the first
    let value = text.split('\0').find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let Some(value) = value else { return Known::ABSENT };
    let source = ctx.sources.add(path, Kind::Entry, format!("{name}={value}\n"));
    let start = name.len() + 1;
    let place = Place { source, span: Span::new(start, start + value.len()) };
    Known::Is((value.to_owned(), Origin::new(Layer::Runtime, place)))
}

#[cfg(test)]
mod tests;
