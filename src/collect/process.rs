//! The daemons that run: program, arguments, start. From /proc, also a captured one.

use super::ctx::Ctx;
use crate::fact::{Known, Why};
use crate::model::unit::{Argument, Woven};
use crate::text::{Kind, Place, SourceId, Span};

/// Names under which the daemons run, and the programs that hold a kubelet or start a containerd.
const NAMES: [&str; 12] = [
    "kubelet",
    "containerd",
    "dockerd",
    "crio",
    "cri-dockerd",
    "k3s",
    "k3s-server",
    "k3s-agent",
    "rke2",
    "k0s",
    "kubelite",
    "hyperkube",
];

/// A running daemon.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Its name as the kernel shows it.
    pub(crate) name: String,
    /// The program file; unknown to others than root.
    pub(crate) exe: Known<String>,
    /// The program file was exchanged since it started.
    pub(crate) replaced: bool,
    /// Its arguments, in the text `argv:PID`, one a line.
    pub(crate) argv: SourceId,
    pub(crate) arguments: Vec<Argument>,
    /// When it started, in seconds since the epoch.
    pub(crate) started: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// A kubelet of its own; its arguments are the kubelet's.
    pub(crate) kubelet: Option<Process>,
    /// A program that holds or starts a kubelet (k3s, k0s, MicroK8s' kubelite); its arguments are
    /// its own.
    pub(crate) holder: Option<Process>,
    pub(crate) containerds: Vec<Process>,
    /// dockerd, CRI-O and others.
    pub(crate) others: Vec<Process>,
}

impl Process {
    /// The last value of a flag; names with their dashes.
    pub(crate) fn flag(&self, names: &[&str]) -> Option<(String, Place)> {
        crate::model::unit::flag(&self.arguments, names)
    }
}

/// Looks for daemons of this node: those of root, outside containers with their own process ids.
pub(crate) fn scan(ctx: &mut Ctx) -> Known<Processes> {
    let boot = boot_time(ctx);
    let candidates = match ctx.node.processes(|name| NAMES.contains(&name)) {
        Known::Is(candidates) => candidates,
        Known::Absent(note) => return Known::Absent(note),
        Known::Unknown(why) => return Known::Unknown(why),
    };
    let mut found = Processes::default();
    for (pid, name) in candidates {
        let process = match look(ctx, pid, name, boot) {
            Known::Is(process) => process,
            Known::Absent(_) => continue,
            // whether it is one of ours cannot be told
            Known::Unknown(why) => return Known::Unknown(why),
        };
        match process.name.as_str() {
            "kubelet" | "hyperkube" if found.kubelet.is_none() => found.kubelet = Some(process),
            "containerd" => found.containerds.push(process),
            "k3s" | "k3s-server" | "k3s-agent" | "rke2" | "k0s" | "kubelite" if found.holder.is_none() => {
                found.holder = Some(process);
            }
            _ => found.others.push(process),
        }
    }
    Known::Is(found)
}

fn look(ctx: &mut Ctx, pid: u32, name: String, boot: Option<i64>) -> Known<Process> {
    let dir = format!("/proc/{pid}");
    if ctx.node.is_live() && ctx.node.stat(&dir).is().is_none_or(|stat| stat.uid != 0) {
        return Known::ABSENT;
    }
    // in a container: it has another number there
    let status = ctx.node.read(&format!("{dir}/status"));
    if let Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) = status {
        return Known::Unknown(why);
    }
    let numbers = status.is().and_then(|s| s.text.lines().find_map(|l| l.strip_prefix("NSpid:")));
    if numbers.is_some_and(|n| n.split_whitespace().count() > 1) {
        return Known::ABSENT;
    }
    // a process that ends meanwhile, or that has no arguments any more, is none
    let raw = match ctx.node.read(&format!("{dir}/cmdline")) {
        Known::Is(raw) if !raw.text.is_empty() => raw.text,
        Known::Is(_) | Known::Absent(_) => return Known::ABSENT,
        Known::Unknown(why) => return Known::Unknown(why),
    };
    let words: Vec<&str> = raw.strip_suffix('\0').unwrap_or(&raw).split('\0').collect();
    let text: String = words.iter().map(|w| format!("{w}\n")).collect();
    let argv = ctx.sources.add(format!("argv:{pid}"), Kind::Argv, text);
    let mut at = 0;
    let arguments = words
        .iter()
        .map(|word| {
            let place = Place { source: argv, span: Span::new(at, at + word.len()) };
            let value = Woven::of(word, argv, at);
            at += word.len() + 1;
            Argument { value, place, variable: None }
        })
        .collect();
    let exe = ctx.node.link(&format!("{dir}/exe"));
    let replaced = exe.is().is_some_and(|exe| exe.ends_with(" (deleted)"));
    let exe = exe.map(|exe| exe.trim_end_matches(" (deleted)").to_owned());
    let stat = ctx.node.read(&format!("{dir}/stat"));
    let started = stat
        .is()
        .and_then(|s| start_time(&s.text))
        .zip(boot)
        .and_then(|(ticks, boot)| boot.checked_add(ticks / 100));
    Known::Is(Process { pid, name, exe, replaced, argv, arguments, started })
}

/// Seconds since the epoch.
fn boot_time(ctx: &Ctx) -> Option<i64> {
    let stat = ctx.node.read("/proc/stat");
    stat.is()?.text.lines().find_map(|l| l.strip_prefix("btime "))?.trim().parse().ok()
}

/// Field 22 of /proc/PID/stat, in hundredths of a second since boot.
fn start_time(stat: &str) -> Option<i64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;

    fn node() -> Node {
        let files = [
            ("/proc/stat", "cpu 1\nbtime 1000\n"),
            ("/proc/1/comm", "systemd\n"),
            ("/proc/7/comm", "containerd\n"),
            ("/proc/7/cmdline", "/usr/bin/containerd\0--config=/a b\0"),
            ("/proc/7/stat", "7 (con) tainerd) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4200 20"),
            ("/proc/9/comm", "containerd\n"),
            ("/proc/9/cmdline", "containerd\0"),
            ("/proc/9/status", "Name:\tcontainerd\nNSpid:\t9\t4\n"),
            ("/proc/8/comm", "k3s-agent\n"),
            ("/proc/8/cmdline", "k3s agent\0"),
        ];
        Node::memory(files.map(|(path, text)| (path.to_owned(), text.to_owned())).into())
    }

    #[test]
    fn daemons_are_found_with_their_arguments() {
        let (node, options) = (node(), Options::default());
        let mut ctx = Ctx::new(&node, &options);
        let Known::Is(found) = scan(&mut ctx) else { panic!("no /proc") };
        assert!(found.kubelet.is_none(), "the arguments of k3s are not a kubelet's");
        assert_eq!(found.holder.unwrap().name, "k3s-agent");
        let pids: Vec<u32> = found.containerds.iter().map(|p| p.pid).collect();
        assert_eq!(pids, [7], "the one in a container is not this node's");
        let containerd = &found.containerds[0];
        assert_eq!(containerd.started, Some(1042));
        let (value, place) = containerd.flag(&["--config", "-c"]).unwrap();
        assert_eq!((value.as_str(), ctx.sources.slice(place)), ("/a b", "/a b"));
        assert!(!node.take_record().paths.contains_key("/proc/1/comm"));
    }

    #[test]
    fn without_proc_nothing_is_known() {
        let (node, options) = (Node::memory([("/etc/x".into(), "".into())].into()), Options::default());
        assert!(scan(&mut Ctx::new(&node, &options)).is_unknown());
    }
}
