//! systemd and the units that matter to a node: from the bus where it answers, else from the
//! unit files.

use super::ctx::Ctx;
use super::version::{self, Packages};
use crate::fact::{Fact, Known, Layer, Origin, Row, Said, Statements, Value, Why};
use crate::model::unit::{self, Unit};
use crate::node::live::{BUS, Replies};
use crate::text::{Kind, Place, SourceId, Span};
use std::sync::Arc;

/// Units that start a kubelet or a container runtime, with the daemon they start.
const UNITS: [(&str, &str); 14] = [
    ("kubelet.service", "kubelet"),
    ("containerd.service", "containerd"),
    ("k3s.service", "kubelet"),
    ("k3s-agent.service", "kubelet"),
    ("rke2-server.service", "kubelet"),
    ("rke2-agent.service", "kubelet"),
    ("k0scontroller.service", "kubelet"),
    ("k0sworker.service", "kubelet"),
    ("snap.microk8s.daemon-kubelite.service", "kubelet"),
    ("snap.microk8s.daemon-containerd.service", "containerd"),
    ("snap.microk8s.daemon-kubelet.service", "kubelet"),
    ("docker.service", "docker"),
    ("cri-docker.service", "cri-dockerd"),
    ("crio.service", "crio"),
];

/// What systemd does where a unit says nothing (systemd.resource-control(5), systemd.kill(5)).
const DEFAULTS: &str = "Delegate=no\nKillMode=control-group\nSlice=system.slice\n";

/// Units to ask the bus for.
pub(crate) fn asked() -> Vec<String> {
    UNITS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// `Name=Value` lines of a captured text.
struct Lines {
    id: SourceId,
    text: Arc<str>,
    layer: Layer,
}

impl Lines {
    fn of(ctx: &mut Ctx, question: &str, text: Arc<str>) -> Lines {
        Lines { id: ctx.sources.add(question, Kind::Bus, text.clone()), text, layer: Layer::Runtime }
    }

    /// The value of a property, if it is not empty.
    fn get(&self, name: &str) -> Option<(&str, Origin)> {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let start = at + name.len() + 1;
            at += line.len();
            if let Some(value) = line.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                let value = value.trim_end();
                let place = Place { source: self.id, span: Span::new(start, start + value.len()) };
                return (!value.is_empty()).then(|| (value, Origin::new(self.layer, place)));
            }
        }
        None
    }

    fn cell(&self, name: &str, read: impl Fn(&str) -> Option<Value>) -> Statements {
        let said = self.get(name).and_then(|(text, origin)| Some(Said { value: read(text)?, origin }));
        said.map_or(Known::ABSENT, |said| Known::Is(vec![said]))
    }
}

fn text(text: &str) -> Option<Value> {
    Some(Value::text(text))
}

/// systemd's words for true and false.
fn boolean(text: &str) -> Option<Value> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Some(Value::Bool(true)),
        "0" | "no" | "n" | "false" | "f" | "off" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// `Delegate=` may also list controllers.
fn delegate(text: &str) -> Option<Value> {
    boolean(text).or(Some(Value::Bool(!text.trim().is_empty())))
}

fn number(text: &str) -> Option<Value> {
    text.trim_start_matches('@').parse().ok().map(Value::Int)
}

/// Says the facts of systemd.
pub(crate) fn collect(ctx: &mut Ctx, replies: &Replies, packages: &Packages) {
    let manager = replies.get("dbus:manager");
    if let Known::Unknown(why) = &manager {
        ctx.could_not_read("dbus:manager", why);
    }
    let lines = manager.map(|text| Lines::of(ctx, "dbus:manager", text));
    let evidence = version::evidence(ctx, packages, "systemd", None, &[]);
    let answered = lines.is().map(|lines| lines.cell("Version", text));
    ctx.say(Fact::one("host.systemd_version", merge(evidence, answered)));
    let detected = match lines {
        Known::Is(lines) => match lines.cell("Virtualization", text) {
            Known::Is(said) => Known::Is(said),
            _ => none_detected(&lines),
        },
        Known::Absent(note) => Known::Absent(note),
        Known::Unknown(why) => Known::Unknown(why),
    };
    ctx.say(Fact::one("host.virtualization", detected));
    let mut rows = Known::Is(Vec::new());
    for (name, role) in UNITS {
        rows = match (rows, row(ctx, replies, name, role)) {
            (Known::Is(mut rows), Known::Is(row)) => {
                rows.push(row);
                Known::Is(rows)
            }
            // a table without the one that could not be read would be taken for the whole
            (Known::Is(_), Known::Unknown(why)) => Known::Unknown(why),
            (rows, _) => rows,
        };
    }
    ctx.say(Fact::rows("systemd.units", rows));
}

/// The bus' own statements before what is assumed.
fn merge(evidence: Statements, answered: Option<Statements>) -> Statements {
    match (evidence, answered) {
        (Known::Is(mut said), Some(Known::Is(live))) => {
            said.extend(live);
            Known::Is(said)
        }
        (_, Some(Known::Is(live))) => Known::Is(live),
        (evidence, _) => evidence,
    }
}

/// An empty `Virtualization=` is systemd's word for a bare machine.
fn none_detected(lines: &Lines) -> Statements {
    match lines.text.find("Virtualization=") {
        Some(at) => {
            let place = Place { source: lines.id, span: Span::new(at, at + "Virtualization=".len()) };
            let origin = Origin::new(lines.layer, place);
            Known::Is(vec![Said { value: Value::text("none"), origin }])
        }
        None => Known::ABSENT,
    }
}

fn row(ctx: &mut Ctx, replies: &Replies, name: &'static str, role: &'static str) -> Known<Row> {
    let question = format!("dbus:{name}");
    match replies.get(&question) {
        Known::Is(text) => {
            let lines = Lines::of(ctx, &question, text);
            let mut row = from_bus(&lines, name, role);
            let unit = unit::load(ctx, name);
            row.push(("environment_missing", environment_missing(ctx, &unit)));
            Known::Is(row)
        }
        Known::Absent(note) => Known::Absent(note),
        Known::Unknown(why) => match unit::load(ctx, name) {
            Known::Is(unit) => {
                let mut row = from_files(ctx, &unit, role, why);
                row.push(("environment_missing", environment_missing(ctx, &Known::Is(unit))));
                Known::Is(row)
            }
            Known::Absent(note) => Known::Absent(note),
            Known::Unknown(why) => Known::Unknown(why),
        },
    }
}

/// Environment files without which the unit does not start, and that are not there.
fn environment_missing(ctx: &mut Ctx, unit: &Known<Unit>) -> Statements {
    unit.as_ref().map(|unit| {
        let missing = unit.environment(ctx).missing.into_iter();
        let said = |(place, path): (Place, String)| Said {
            value: Value::text(path),
            origin: Origin::new(Layer::File, place),
        };
        missing.map(said).collect()
    })
}

fn from_bus(lines: &Lines, name: &str, role: &str) -> Row {
    let origin =
        lines.get("Id").map_or_else(|| Ctx::observed(lines.id, Span::default()), |(_, origin)| origin);
    let own = |value: &str| Known::Is(vec![Said { value: Value::text(value), origin: origin.clone() }]);
    vec![
        ("name", own(name)),
        ("role", own(role)),
        ("load_state", lines.cell("LoadState", text)),
        ("active_state", lines.cell("ActiveState", text)),
        ("fragment", lines.cell("FragmentPath", text)),
        ("exec_start", lines.cell("ExecStart", text)),
        ("delegate", lines.cell("Delegate", boolean)),
        ("kill_mode", lines.cell("KillMode", text)),
        ("slice", lines.cell("Slice", text)),
        ("tasks_max", lines.cell("TasksMax", text)),
        ("limit_nofile", lines.cell("LimitNOFILE", text)),
        ("oom_score_adjust", lines.cell("OOMScoreAdjust", number)),
        ("need_daemon_reload", lines.cell("NeedDaemonReload", boolean)),
        ("restarts", lines.cell("NRestarts", number)),
        ("started", lines.cell("ExecMainStartTimestamp", number)),
    ]
}

/// The first line of a unit file that says anything; of an empty one (or a link to /dev/null) its
/// entry in the directory.
fn first_line(ctx: &mut Ctx, unit: &Unit, fragment: &str) -> Place {
    if let Some(source) = unit.settings.first().map(|s| s.place.source) {
        let text = &ctx.sources.get(source).text;
        let start = text.len() - text.trim_start().len();
        let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        return Place { source, span: Span::new(start, end) };
    }
    let (dir, name) = fragment.rsplit_once('/').unwrap_or(("", fragment));
    let source = ctx.sources.add(dir, Kind::Listing, name);
    Place { source, span: Span::new(0, name.len()) }
}

/// The header below which a setting of the service would stand.
fn section(ctx: &Ctx, unit: &Unit, first: Place) -> Place {
    let header = "[Service]";
    let text = &ctx.sources.get(first.source).text;
    let at = text.match_indices(header).map(|(at, _)| at).find(|at| *at == 0 || text[..*at].ends_with('\n'));
    match at {
        Some(at) if !unit.masked => Place { span: Span::new(at, at + header.len()), ..first },
        _ => first,
    }
}

fn from_files(ctx: &mut Ctx, unit: &Unit, role: &str, no_bus: Why) -> Row {
    let fragment = unit.fragment.clone().unwrap_or_default();
    let whole = Origin::new(Layer::File, first_line(ctx, unit, &fragment));
    let section = section(ctx, unit, whole.place);
    let live = match no_bus {
        // systemd runs, its bus does not
        Why::NotRunning(what) if what == BUS => Known::Unknown(Why::NotRunning(what)),
        Why::NotRunning(_) => Known::Absent("no systemd answers".into()),
        why => Known::Unknown(why),
    };
    let own = |value: &str| Known::Is(vec![Said { value: Value::text(value), origin: whole.clone() }]);
    let defaults = ctx.sources.add("default:systemd", Kind::Default, DEFAULTS);
    let defaults = Lines { id: defaults, text: DEFAULTS.into(), layer: Layer::Default };
    let said = |name: &str, read: &dyn Fn(&str) -> Option<Value>| {
        // a drop-in that could not be read may say anything
        if let Some((_, why)) = unit.unread.first() {
            return Known::Unknown(why.clone());
        }
        let statements = unit.list("Service", name).into_iter();
        let mut said: Vec<Said> = defaults.cell(name, read).is().cloned().unwrap_or_default();
        said.iter_mut().for_each(|said| said.origin.near = Some(section));
        said.extend(statements.filter_map(|s| {
            let origin = Origin { written: vec![name.to_owned()].into(), ..Origin::new(s.layer, s.place) };
            Some(Said { value: read(s.value.text())?, origin })
        }));
        if said.is_empty() { Known::ABSENT } else { Known::Is(said) }
    };
    // variables stay: the bus does not replace them either
    let command = unit.exec_start().pop().map_or(Known::ABSENT, |command| {
        let words: Vec<&str> = command.argv.iter().map(|a| a.text()).collect();
        let setting = unit.property("Service", "ExecStart");
        let layer = setting.map_or(Layer::File, |s| s.layer);
        let place = setting.map_or(command.path.place, |s| s.place);
        Known::Is(vec![Said { value: Value::text(words.join(" ")), origin: Origin::new(layer, place) }])
    });
    let command = match unit.unread.first() {
        Some((_, why)) => Known::Unknown(why.clone()),
        None => command,
    };
    vec![
        ("name", own(&unit.name)),
        ("role", own(role)),
        ("load_state", own(if unit.masked { "masked" } else { "loaded" })),
        ("active_state", live.clone()),
        ("fragment", own(&fragment)),
        ("exec_start", command),
        ("delegate", said("Delegate", &delegate)),
        ("kill_mode", said("KillMode", &text)),
        ("slice", said("Slice", &text)),
        ("tasks_max", said("TasksMax", &text)),
        ("limit_nofile", said("LimitNOFILE", &text)),
        ("oom_score_adjust", said("OOMScoreAdjust", &number)),
        ("need_daemon_reload", live.clone()),
        ("restarts", live.clone()),
        ("started", live),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;
    use crate::node::live::Ask;

    /// The cells of the first unit, as `column=value (layer: text)`.
    fn look(files: &[(&str, &str)]) -> Vec<String> {
        let node = Node::memory(files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect());
        let options = Options::default();
        let mut ctx = Ctx::new(&node, &options);
        let replies = node.probe(&Ask { units: asked(), cri: Vec::new() });
        let packages = Packages::read(&mut ctx);
        let rows: Vec<Row> = UNITS
            .iter()
            .filter_map(|(name, role)| row(&mut ctx, &replies, name, role).is().cloned())
            .collect();
        collect(&mut ctx, &replies, &packages);
        assert_eq!(rows.len(), 1, "only units that exist are rows");
        let cell = |(column, said): &(&str, Statements)| match said {
            Known::Is(said) if said.is_empty() => format!("{column} empty"),
            Known::Is(said) => {
                let said = said.iter().max_by_key(|s| s.origin.layer).unwrap();
                let text = ctx.sources.slice(said.origin.place);
                format!("{column}={} ({}: {text})", said.value, said.origin.layer.name())
            }
            Known::Absent(_) => format!("{column} absent"),
            Known::Unknown(_) => format!("{column} unknown"),
        };
        rows[0].iter().map(cell).collect()
    }

    #[test]
    fn a_unit_on_the_bus() {
        let reply = include_str!("../../fixtures/replies/bookworm/containerd.service");
        let cells = look(&[("/.nodevet/replies/dbus/containerd.service", reply)]);
        let id = "runtime: containerd.service";
        assert_eq!(
            cells,
            [
                format!("name=containerd.service ({id})"),
                format!("role=containerd ({id})"),
                "load_state=loaded (runtime: loaded)".into(),
                "active_state=active (runtime: active)".into(),
                "fragment=/lib/systemd/system/containerd.service (runtime: /lib/systemd/system/containerd.service)".into(),
                "exec_start=/usr/bin/containerd (runtime: /usr/bin/containerd)".into(),
                "delegate=true (runtime: yes)".into(),
                "kill_mode=process (runtime: process)".into(),
                "slice=system.slice (runtime: system.slice)".into(),
                "tasks_max=infinity (runtime: infinity)".into(),
                "limit_nofile=infinity (runtime: infinity)".into(),
                "oom_score_adjust=-999 (runtime: -999)".into(),
                "need_daemon_reload=false (runtime: no)".into(),
                "restarts=0 (runtime: 0)".into(),
                "started=1796077737 (runtime: @1796077737)".into(),
                "environment_missing absent".into(),
            ]
        );
    }

    #[test]
    fn a_unit_in_files() {
        let unit = "[Service]\nExecStart=/usr/bin/kubelet $ARGS\nDelegate=cpu memory\n";
        let dropin = "[Service]\nSlice=runtime.slice\n";
        let cells = look(&[
            ("/usr/lib/systemd/system/kubelet.service", unit),
            ("/etc/systemd/system/kubelet.service.d/10-slice.conf", dropin),
        ]);
        assert_eq!(
            cells[4..10],
            [
                "fragment=/usr/lib/systemd/system/kubelet.service (file: [Service])",
                "exec_start=/usr/bin/kubelet $ARGS (vendor: /usr/bin/kubelet $ARGS)",
                "delegate=true (vendor: cpu memory)",
                "kill_mode=control-group (default: control-group)",
                "slice=runtime.slice (drop-in: runtime.slice)",
                "tasks_max absent",
            ]
        );
        assert_eq!(cells[3], "active_state absent");
        let masked = look(&[("/etc/systemd/system/kubelet.service", "")]);
        assert_eq!(masked[2], "load_state=masked (file: kubelet.service)");
    }
}
