//! What the next boot sets: sysctls, swap, options of the kernel's command line.

use super::ctx::Ctx;
use super::number::{network_setting, number};
use crate::fact::{Fact, Known, Layer, Origin, Row, Said, Statements, Value, What, Why};
use crate::model::swap::{self, Swap};
use crate::model::sysctl::{self, Setting};
use crate::text::{Place, Span, lines, words};

/// Sysctls that matter to a node, with the value that the kubelet sets or, with
/// protectKernelDefaults, insists on (kubernetes component-helpers/node/util/sysctl).
const SYSCTLS: [(&str, Option<i64>); 10] = [
    ("vm.overcommit_memory", Some(1)),
    ("vm.panic_on_oom", Some(0)),
    ("kernel.panic", Some(10)),
    ("kernel.panic_on_oops", Some(1)),
    ("kernel.keys.root_maxkeys", Some(1_000_000)),
    ("kernel.keys.root_maxbytes", Some(25_000_000)),
    ("net.ipv4.ip_forward", None),
    ("net.bridge.bridge-nf-call-iptables", None),
    ("fs.inotify.max_user_instances", None),
    ("fs.inotify.max_user_watches", None),
];

/// The firmware of a Raspberry Pi takes the command line from the first of these; before Debian 12
/// that was the second.
const CMDLINES: [&str; 2] = ["/boot/firmware/cmdline.txt", "/boot/cmdline.txt"];

/// Beginnings of the words that decide about cgroups.
const OPTIONS: [&str; 4] =
    ["cgroup_", "systemd.unified_cgroup_", "systemd.legacy_systemd_cgroup_", "swapaccount="];

pub(crate) fn collect(ctx: &mut Ctx) {
    sysctls(ctx);
    swaps(ctx);
    options(ctx);
}

fn systemd(ctx: &Ctx) -> bool {
    match ctx.known("host.init") {
        Known::Is(init) => init.as_text() == Some("systemd"),
        // an image: most have it
        _ => {
            ctx.node.stat("/usr/lib/systemd/systemd").is().is_some()
                || ctx.node.stat("/lib/systemd/systemd").is().is_some()
        }
    }
}

fn sysctls(ctx: &mut Ctx) {
    let plain = (!systemd(ctx)).then_some("/etc/sysctl.conf");
    let boot = sysctl::settings(ctx, plain);
    let rows: Vec<Row> = SYSCTLS.iter().map(|(name, wanted)| row(ctx, name, *wanted, &boot)).collect();
    ctx.say(Fact::rows("kernel.sysctls", Known::Is(rows)));
}

fn row(ctx: &mut Ctx, name: &'static str, wanted: Option<i64>, boot: &Known<Vec<Setting>>) -> Row {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    let value = if name.starts_with("net.") { network_setting(ctx, &path) } else { number(ctx, &path) };
    let at_boot: Statements = match boot {
        Known::Is(settings) => match settings.iter().rfind(|s| s.name == name) {
            Some(Setting { value, place, .. }) => value.parse().map_or(Known::ABSENT, |value| {
                let layer = Layer::File;
                Known::Is(vec![Said { value: Value::Int(value), origin: Origin::new(layer, *place) }])
            }),
            None => Known::ABSENT,
        },
        Known::Absent(note) => Known::Absent(note.clone()),
        Known::Unknown(why) => Known::Unknown(why.clone()),
    };
    let place = |said: &Statements| said.is().and_then(|s| s.first()).map(|s| s.origin.clone());
    let origin = place(&value).or(place(&at_boot)).unwrap_or_else(|| {
        let source = ctx.sources.add(path.as_str(), crate::text::Kind::Entry, "");
        Ctx::observed(source, Span::default())
    });
    let cell = |value: Value| Known::Is(vec![Said { value, origin: origin.clone() }]);
    vec![
        ("name", cell(Value::text(name))),
        ("value", value),
        ("at_boot", at_boot),
        ("kubelet_wants", wanted.map_or(Known::ABSENT, |wanted| cell(Value::Int(wanted)))),
    ]
}

fn cmdline(ctx: &Ctx) -> Known<Vec<String>> {
    match ctx.fact("host.cmdline") {
        Some(What::Each(said)) => {
            let text = |s: &Said| s.value.as_text().map(str::to_owned);
            said.as_ref().map(|said| said.iter().filter_map(text).collect())
        }
        _ => Known::Unknown(Why::Unread),
    }
}

fn swaps(ctx: &mut Ctx) {
    let words = cmdline(ctx).is().cloned().unwrap_or_default();
    let systemd = systemd(ctx);
    let rows = swap::at_boot(ctx, systemd, &words).map(|found| {
        let row = |Swap { what, by, place, at_boot }: Swap| -> Row {
            let origin = Origin::new(Layer::File, place);
            let cell = |value: Value| Known::Is(vec![Said { value, origin: origin.clone() }]);
            vec![
                ("what", cell(Value::text(what))),
                ("by", cell(Value::text(by))),
                ("at_boot", cell(Value::Bool(at_boot))),
            ]
        };
        found.into_iter().map(row).collect()
    });
    ctx.say(Fact::rows("kernel.configured_swaps", rows));
}

/// Options about cgroups in the files of a Raspberry Pi's firmware.
fn options(ctx: &mut Ctx) {
    let booted = cmdline(ctx);
    let mut rows = Vec::new();
    let mut counts: Option<&str> = None;
    for path in CMDLINES {
        let text = match ctx.read(path) {
            Known::Is(text) => text,
            Known::Absent(_) => continue,
            Known::Unknown(why) => return ctx.say(Fact::rows("boot.options", Known::Unknown(why))),
        };
        let first = *counts.get_or_insert(path);
        for (at, (line, said)) in lines(&text.text).filter(|(_, l)| !l.trim().is_empty()).enumerate() {
            for (span, word) in words(said).filter(|(_, w)| OPTIONS.iter().any(|o| w.starts_with(o))) {
                let place = Span::new(line.start + span.start, line.start + span.end);
                let because = match &booted {
                    _ if first != path => Known::Is(Some(format!("the firmware reads {first}"))),
                    _ if at > 0 => Known::Is(Some("the firmware reads the first line only".to_owned())),
                    Known::Is(words) if words.iter().any(|w| w == word) => Known::Is(None),
                    Known::Is(_) => Known::Is(Some("the node has not been booted since".to_owned())),
                    Known::Absent(_) => Known::Unknown(Why::NotRunning("/proc/cmdline".into())),
                    Known::Unknown(why) => Known::Unknown(why.clone()),
                };
                rows.push(option(word, path, Place { source: text.id, span: place }, because));
            }
        }
    }
    ctx.say(Fact::rows("boot.options", Known::Is(rows)));
}

fn option(word: &str, path: &str, place: Place, because: Known<Option<String>>) -> Row {
    let origin = Origin::new(Layer::File, place);
    let said = |value: Value| vec![Said { value, origin: origin.clone() }];
    let effective = because.as_ref().map(|because| said(Value::Bool(because.is_none())));
    vec![
        ("word", Known::Is(said(Value::text(word)))),
        ("path", Known::Is(said(Value::text(path)))),
        ("effective", effective),
        (
            "because",
            because.and_then(|because| because.map_or(Known::ABSENT, |b| Known::Is(said(Value::text(b))))),
        ),
    ]
}
