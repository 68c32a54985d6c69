//! The host itself: its clock, what process 1 is, its kernel.

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Layer, Origin, Said, Value, Why};
use crate::text::{Kind, Place, Span, words};

pub(crate) fn collect(ctx: &mut Ctx) {
    now(ctx);
    init(ctx);
    systemd_running(ctx);
    kernel(ctx);
    cmdline(ctx);
}

fn now(ctx: &mut Ctx) {
    let (name, layer, seconds) = match ctx.options.now {
        Some(seconds) => ("assume:now", Layer::Assumed, Known::Is(seconds)),
        None => ("clock", Layer::Runtime, ctx.node.now()),
    };
    let said = seconds.map(|seconds| {
        let text = seconds.to_string();
        let span = Span::new(0, text.len());
        let kind = if layer == Layer::Assumed { Kind::Assumed } else { Kind::Entry };
        let source = ctx.sources.add(name, kind, text);
        vec![Said { value: Value::Int(seconds), origin: Origin::new(layer, Place { source, span }) }]
    });
    ctx.say(Fact::one("host.now", said));
}

/// What can be seen of process 1.
#[derive(Default)]
struct First {
    comm: Option<String>,
    /// Target of /proc/1/exe; only root may see it.
    exe: Option<String>,
    /// Arguments, separated by spaces.
    cmdline: Option<String>,
    contained: bool,
}

fn init(ctx: &mut Ctx) {
    let comm = ctx.read("/proc/1/comm");
    let place = comm.is().map(|t| Place { source: t.id, span: Span::new(0, t.text.trim_end().len()) });
    let named = comm.is().map(|t| t.text.trim_end().to_owned()).filter(|c| !c.is_empty());
    let first = First {
        exe: ctx.node.link("/proc/1/exe").is().map(|e| e.trim_end_matches(" (deleted)").to_owned()),
        cmdline: ctx.node.read("/proc/1/cmdline").is().map(|t| t.text.replace('\0', " ").trim().to_owned()),
        contained: contained(ctx),
        comm: named,
    };
    let systemd = ctx.node.is_dir("/run/systemd/system");
    let [openrc, s6] = ["/run/openrc", "/run/s6"].map(|dir| ctx.node.is_dir(dir));
    let unseen = [&systemd, &openrc, &s6].into_iter().find_map(|found| match found {
        Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) => Some(why.clone()),
        _ => None,
    });
    let [openrc, s6] = [openrc, s6].map(|there| there.is() == Some(&true));
    // an init may call itself `init`; with systemd's directory there it is systemd
    let judged = match (&first.comm, &systemd) {
        (None, Known::Is(true)) => Some("systemd"),
        (None, _) if openrc => Some("openrc"),
        (None, _) if s6 => Some("s6"),
        (None, _) => None,
        (Some(comm), Known::Is(true)) if comm == "init" && !first.exe_is("init") => Some("systemd"),
        (Some(comm), _) => Some(classify(ctx, comm, &first, openrc)),
    };
    // the name alone tells of systemd; of the others, what /run shows decides too
    let judged = judged.filter(|init| unseen.is_none() || *init == "systemd");
    let mark = match judged {
        Some("openrc") if openrc => Some("/run/openrc"),
        Some("s6") if first.comm.is_none() => Some("/run/s6"),
        Some("systemd") if first.comm.is_none() => Some("/run/systemd/system"),
        _ => None,
    };
    let place = mark.map(|dir| directory(ctx, dir)).or(place);
    let said = match (judged, place) {
        (Some(init), Some(place)) => {
            Known::Is(vec![Said { value: Value::text(init), origin: Origin::new(Layer::Runtime, place) }])
        }
        _ => Known::Unknown(match (comm, systemd) {
            _ if unseen.is_some() => unseen.unwrap_or(Why::Unread),
            (Known::Unknown(why), _) | (_, Known::Unknown(why)) => why,
            // a /proc mounted with hidepid= shows no process of another user
            _ if ctx.node.is_live() => Why::Denied("/proc/1".into()),
            _ => Why::NotRunning("process 1 is not in /proc".into()),
        }),
    };
    ctx.say(Fact::one("host.init", said));
}

impl First {
    /// The base name of its program, as far as that can be seen.
    fn exe_is(&self, name: &str) -> bool {
        self.exe.as_deref().is_some_and(|exe| base(exe) == name)
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn classify(ctx: &Ctx, comm: &str, first: &First, openrc: bool) -> &'static str {
    let words: Vec<&str> = first.cmdline.as_deref().unwrap_or("").split(' ').collect();
    let program = first.exe.as_deref().or(words.first().copied()).map(base).unwrap_or(comm);
    if comm == "systemd" || program == "systemd" {
        return "systemd";
    }
    let calls_itself_init = comm == "init" || comm == "linuxrc";
    let busybox = || {
        program == "busybox"
            || matches!(ctx.node.link("/sbin/init"), Known::Is(to) if base(&to) == "busybox")
            || matches!(ctx.node.link("/bin/init"), Known::Is(to) if base(&to) == "busybox")
    };
    match comm {
        "openrc-init" => "openrc",
        // OpenRC is usually started by busybox's or sysvinit's init
        _ if openrc && (calls_itself_init || program == "busybox") => "openrc",
        "s6-svscan" | "s6-linux-init" | "s6-init" => "s6",
        "busybox" if words.contains(&"init") => "busybox",
        _ if calls_itself_init && busybox() => "busybox",
        // sysvinit writes its runlevel into its command line
        "init" if words.get(1).is_some_and(|w| w.starts_with('[')) => "sysvinit",
        "init"
            if matches!(first.exe.as_deref(), None | Some("/sbin/init" | "/usr/sbin/init"))
                && matches!(words.first(), Some(&("/sbin/init" | "/usr/sbin/init" | "init")))
                && ctx.node.stat("/etc/inittab").is().is_some() =>
        {
            "sysvinit"
        }
        _ if first.contained => "container",
        _ => "other",
    }
}

/// Whether we look from inside a container.
fn contained(ctx: &Ctx) -> bool {
    let there = |path: &str| ctx.node.stat(path).is().is_some();
    if there("/.dockerenv") || there("/run/.containerenv") {
        return true;
    }
    let environ = ctx.node.read("/proc/1/environ");
    let told = |v: &str| v.starts_with("container=") || v.starts_with("KUBERNETES_");
    if environ.is().is_some_and(|t| t.text.split('\0').any(told)) {
        return true;
    }
    // the first PID namespace of a kernel always has this number
    let pids = ["/proc/1/ns/pid", "/proc/self/ns/pid"].map(|path| ctx.node.link(path).is().cloned());
    if let Some(link) = pids.into_iter().flatten().next() {
        return link != "pid:[4026531836]";
    }
    let mine = ctx.node.read("/proc/1/cgroup");
    let marks = ["docker", "kubepods", "containerd", "crio-", "libpod", "lxc"];
    mine.is().is_some_and(|t| marks.iter().any(|mark| t.text.contains(mark)))
}

/// A directory as evidence: its path.
fn directory(ctx: &mut Ctx, dir: &str) -> Place {
    let source = match ctx.list(dir) {
        Known::Is((id, _)) => id,
        _ => ctx.sources.add(dir, Kind::Listing, ""),
    };
    Place { source, span: Span::default() }
}

fn systemd_running(ctx: &mut Ctx) {
    let dir = "/run/systemd/system";
    let said = ctx.node.is_dir(dir).map(|there| {
        let place = if there {
            directory(ctx, dir)
        } else {
            Place { source: ctx.sources.add(dir, Kind::Listing, ""), span: Span::default() }
        };
        vec![Said { value: Value::Bool(there), origin: Origin::new(Layer::Runtime, place) }]
    });
    ctx.say(Fact::one("host.systemd_running", said));
}

fn kernel(ctx: &mut Ctx) {
    let release = ctx.read("/proc/sys/kernel/osrelease").and_then(|t| match words(&t.text).next() {
        Some((span, word)) => Known::Is((t.id, span, word.to_owned())),
        None => Known::ABSENT,
    });
    let release = match release {
        Known::Is(release) => Known::Is(release),
        // `Linux version 6.1.0-50-amd64 (…`
        _ => ctx.read("/proc/version").and_then(|t| match words(&t.text).nth(2) {
            Some((span, word)) if t.text.starts_with("Linux version ") => {
                Known::Is((t.id, span, word.to_owned()))
            }
            _ => Known::ABSENT,
        }),
    };
    let said = release
        .map(|(id, span, word)| vec![Said { value: Value::text(word), origin: Ctx::observed(id, span) }]);
    ctx.say(Fact::one("host.kernel", said));
}

fn cmdline(ctx: &mut Ctx) {
    let said = ctx.read("/proc/cmdline").map(|t| {
        quoted_words(&t.text)
            .into_iter()
            .map(|span| Said {
                value: Value::text(&t.text[span.start..span.end]),
                origin: Ctx::observed(t.id, span),
            })
            .collect()
    });
    ctx.say(Fact::each("host.cmdline", said));
}

/// Words as the kernel splits its command line: double quotes protect white space.
fn quoted_words(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = None;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && !quoted {
            found.extend(start.take().map(|from| Span::new(from, at)));
            continue;
        }
        quoted ^= c == '"';
        start.get_or_insert(at);
    }
    found.extend(start.map(|from| Span::new(from, text.trim_end().len())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;
    use crate::resolve::{Snapshot, When};

    fn look(files: &[(&str, &str)]) -> Snapshot {
        let node = Node::memory(files.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect());
        let options = Options { now: Some(7), ..Options::default() };
        let mut ctx = Ctx::new(&node, &options);
        collect(&mut ctx);
        Snapshot::unread().with(&ctx.facts, When::Now)
    }

    fn init_of(files: &[(&str, &str)]) -> String {
        match &look(files).named("host.init").value {
            Known::Is(value) => value.to_string(),
            Known::Absent(_) => "absent".into(),
            Known::Unknown(_) => "unknown".into(),
        }
    }

    #[test]
    fn process_one_is_told_by_what_it_shows() {
        let comm = "/proc/1/comm";
        let line = "/proc/1/cmdline";
        let systemd = ("/run/systemd/system/.x", "");
        for (files, init) in [
            (&[(comm, "systemd\n"), systemd][..], "systemd"),
            (&[systemd], "systemd"),
            (&[(comm, "systemd\n")], "systemd"),
            (&[(comm, "init\n"), systemd], "systemd"),
            (&[(comm, "sleep\n"), systemd, ("/.dockerenv", "")], "container"),
            (&[(comm, "init\n"), (line, "init [2]\0"), ("/run/utmp", "")], "sysvinit"),
            (&[(comm, "init\n"), (line, "/sbin/init\0"), ("/etc/inittab", "")], "sysvinit"),
            (&[(comm, "init\n"), (line, "/init\0")], "other"),
            (&[(comm, "init\n"), ("/run/openrc/softlevel", "default")], "openrc"),
            (&[("/run/openrc/softlevel", "default")], "openrc"),
            (&[(comm, "busybox\n"), (line, "/bin/busybox\0init\0")], "busybox"),
            (&[(comm, "busybox\n"), (line, "busybox\0sh\0"), ("/.dockerenv", "")], "container"),
            (&[(comm, "s6-svscan\n")], "s6"),
            (&[(comm, "machined\n")], "other"),
            (&[(comm, "bash\n"), ("/proc/1/environ", "A=b\0container=podman\0")], "container"),
            (&[("/etc/os-release", "")], "unknown"),
            (&[("/run/utmp", "")], "unknown"),
            (&[("/proc/cmdline", "")], "unknown"),
        ] {
            assert_eq!(init_of(files), init, "{files:?}");
        }
    }

    #[test]
    fn without_run_nothing_is_said_of_systemd() {
        assert!(look(&[("/proc/1/comm", "systemd")]).named("host.systemd_running").value.is_unknown());
        let looked = look(&[("/run/x", "")]);
        assert_eq!(looked.named("host.systemd_running").value, Known::Is(Value::Bool(false)));
    }

    #[test]
    fn kernel_release_and_words() {
        let facts = look(&[
            ("/proc/version", "Linux version 6.1.0-50-amd64 (x) #1\n"),
            ("/proc/cmdline", "quiet  a=\"b c\" d\n"),
        ]);
        assert_eq!(
            facts.named("host.kernel").value.is().map(Value::to_string),
            Some("6.1.0-50-amd64".into())
        );
        let words = facts.named("host.cmdline").elements.iter().map(|s| s.value.to_string());
        assert_eq!(words.collect::<Vec<_>>(), ["quiet", "a=\"b c\"", "d"]);
        assert_eq!(facts.named("host.now").value, Known::Is(Value::Int(7)));
    }
}
