//! The cgroup tree: which hierarchy is mounted, which controllers it has, what lives at its top.

mod mounts;

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Origin, Said, Statements, Value, Why};
use crate::model::Captured;
use crate::node::FileKind;
use crate::text::{Kind, Place, SourceId, Span, words};
use mounts::{Mode, TOP, Table};
use std::borrow::Cow;

/// How many directories below a kubepods are searched for a process.
const BOUND: usize = 2000;
const CGROUP2: i64 = 0x6367_7270;
const TMPFS: i64 = 0x0102_1994;

/// Names and columns that need the tree.
const TREE: [&str; 7] = [
    "cgroup.controllers",
    "cgroup.subtree_control",
    "cgroup.kubepods_subtree_control",
    "cgroup.top",
    "cgroup.misplaced",
    "cgroup.kubepods_populated",
    "cgroup.kubepods_slice_populated",
];

pub(crate) fn collect(ctx: &mut Ctx) {
    match mount_table(ctx) {
        Ok((id, table)) => {
            let line = match table.mode {
                Mode::None => table.top,
                Mode::Hybrid | Mode::V2 => {
                    table.hierarchies.iter().find(|h| h.v2).map_or(table.top, |h| h.line)
                }
                Mode::V1 => table.hierarchies.first().map_or(table.top, |h| h.line),
            };
            let mode = Value::text(table.mode.name());
            ctx.say(Fact::is("cgroup.mode", mode, Ctx::observed(id, line)));
            tree(ctx, id, &table);
        }
        Err(why) => {
            let mode = by_file_system(ctx).map_or(Known::Unknown(why.clone()), |said| Known::Is(vec![said]));
            let v2 = mode.is().is_some_and(|said| said.iter().any(|s| s.value.as_text() == Some("v2")));
            ctx.say(Fact::one("cgroup.mode", mode));
            if v2 {
                return files_of_v2(ctx, Known::Is(TOP.to_owned()));
            }
            unknown(ctx, &why);
        }
    }
}

fn unknown(ctx: &mut Ctx, why: &Why) {
    for name in TREE {
        let why = Why::Needs("cgroup.mode", Box::new(why.clone()));
        ctx.say(fact_of(name, Known::Unknown(why)));
    }
}

/// Lists have elements with an origin each, the others one value.
fn fact_of(name: &'static str, said: Statements) -> Fact {
    if name.ends_with("populated") { Fact::one(name, said) } else { Fact::each(name, said) }
}

/// The mount table of process 1; our own where that one is not ours to read.
fn mount_table(ctx: &mut Ctx) -> Result<(SourceId, Table), Why> {
    let first = "/proc/1/mountinfo";
    let path = match ctx.node.read(first) {
        Known::Is(text) if !text.text.is_empty() => first,
        // on a host mounted below a directory our own table is that of a container
        Known::Unknown(why) if ctx.node.is_live() && !ctx.node.runs_programs() => return Err(why),
        _ => "/proc/self/mountinfo",
    };
    let text = match ctx.read(path) {
        Known::Is(text) => text,
        Known::Absent(_) => return Err(Why::NotRunning(format!("{path} is not there"))),
        Known::Unknown(why) => return Err(why),
    };
    match mounts::parse(&text.text) {
        Ok(table) => {
            confirm(ctx, path, &table)?;
            Ok((text.id, table))
        }
        Err((span, message)) => {
            let place = Place { source: text.id, span };
            ctx.problem(place, message.clone());
            Err(Why::Malformed(place, message))
        }
    }
}

/// The file system at the top must be what the table says, else we see another tree than process 1.
fn confirm(ctx: &Ctx, path: &str, table: &Table) -> Result<(), Why> {
    match ctx.node.magic(TOP) {
        Known::Is(magic) if (magic == CGROUP2) != (table.mode == Mode::V2) => Err(Why::Strange(format!(
            "{path} shows cgroup {}, the file system of {TOP} is 0x{magic:x}",
            table.mode.name()
        ))),
        _ => Ok(()),
    }
}

/// What statfs(2) says where no mount table can be read.
fn by_file_system(ctx: &mut Ctx) -> Option<Said> {
    let magic = *ctx.node.magic(TOP).is()?;
    let unified = ctx.node.magic(&format!("{TOP}/unified"));
    let mode = match magic {
        CGROUP2 => Mode::V2,
        TMPFS if unified.is() == Some(&CGROUP2) => Mode::Hybrid,
        TMPFS if ctx.node.is_dir(&format!("{TOP}/memory")).is() == Some(&true) => Mode::V1,
        _ => return None,
    };
    let text = format!("file system 0x{magic:x}");
    let span = Span::new(0, text.len());
    let id = ctx.sources.add(TOP, Kind::Entry, text);
    Some(Said { value: Value::text(mode.name()), origin: Ctx::observed(id, span) })
}

fn tree(ctx: &mut Ctx, id: SourceId, table: &Table) {
    match table.mode {
        Mode::V2 => {
            let root = nested(ctx, "", TOP, table).map(|below| format!("{TOP}{below}"));
            files_of_v2(ctx, root);
        }
        Mode::V1 | Mode::Hybrid => {
            let controllers = table
                .hierarchies
                .iter()
                .flat_map(|h| &h.controllers)
                .filter(|(name, _)| !name.starts_with("name="))
                .map(|(name, span)| Said {
                    value: Value::text(name.as_str()),
                    origin: Ctx::observed(id, *span),
                })
                .collect();
            ctx.say(Fact::each("cgroup.controllers", Known::Is(controllers)));
            let only_v2 = || Known::Absent(Cow::Borrowed("only cgroup v2 has it"));
            ctx.say(Fact::each("cgroup.subtree_control", only_v2()));
            ctx.say(Fact::each("cgroup.kubepods_subtree_control", only_v2()));
            let home = ["memory", "name=systemd", "pids", "cpu"]
                .into_iter()
                .find_map(|name| Some((name, table.v1(name)?)))
                .or_else(|| table.hierarchies.first().map(|h| ("", h)));
            if let Some((name, home)) = home {
                let dir = nested(ctx, name, &home.path, table).map(|below| format!("{}{below}", home.path));
                top(ctx, &dir);
            }
        }
        Mode::None => {
            for name in TREE {
                ctx.say(fact_of(name, Known::Absent(Cow::Borrowed("no cgroup hierarchy is mounted"))));
            }
        }
    }
}

/// Where the tree of process 1 begins below the mount: empty, or the directory of a nested init.
/// Unknown when only a part below process 1 can be seen.
fn nested(ctx: &Ctx, hierarchy: &str, mount: &str, table: &Table) -> Known<String> {
    let text = match ctx.node.read("/proc/1/cgroup") {
        Known::Is(text) => text,
        Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) => return Known::Unknown(why),
        _ => return Known::Is(String::new()),
    };
    let path = text.text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, names, path) = (fields.next()?, fields.next()?, fields.next()?);
        (names == hierarchy || names.split(',').any(|n| n == hierarchy)).then_some(path)
    });
    let path = path.unwrap_or("/");
    if path.starts_with("/..") {
        let whole = !ctx.node.runs_programs() || table.hierarchies.iter().any(|h| h.root.starts_with("/.."));
        return if whole {
            Known::Is(String::new())
        } else {
            Known::Unknown(Why::Unreadable(
                TOP.into(),
                format!("shows no more than a part: process 1 is at {path}"),
            ))
        };
    }
    // systemd keeps itself in init.scope of its own root; a nested one has a longer path
    match path.strip_suffix("/init.scope") {
        Some(root) if ctx.node.is_dir(&format!("{mount}{root}")).is() == Some(&true) => {
            Known::Is(root.to_owned())
        }
        _ => Known::Is(String::new()),
    }
}

fn files_of_v2(ctx: &mut Ctx, root: Known<String>) {
    let list = |ctx: &mut Ctx, path: Known<String>| -> Statements {
        path.and_then(|path| ctx.read(&path)).map(|text| each_word(&text))
    };
    for (name, file) in
        [("cgroup.controllers", "cgroup.controllers"), ("cgroup.subtree_control", "cgroup.subtree_control")]
    {
        let said = list(ctx, root.clone().map(|root| format!("{root}/{file}")));
        ctx.say(Fact::each(name, said));
    }
    let [slice, plain] = top(ctx, &root);
    let handed = root.and_then(|root| {
        let dir = match (&slice, &plain) {
            (Some(true), _) => "kubepods.slice",
            (_, Some(true)) => "kubepods",
            (Some(false), _) => "kubepods.slice",
            (None, Some(false)) => "kubepods",
            (None, None) => return Known::Absent(Cow::Borrowed("there is no kubepods cgroup")),
        };
        list(ctx, Known::Is(format!("{root}/{dir}/cgroup.subtree_control")))
    });
    ctx.say(Fact::each("cgroup.kubepods_subtree_control", handed));
}

fn each_word(text: &Captured) -> Vec<Said> {
    words(&text.text)
        .map(|(span, word)| Said { value: Value::text(word), origin: Ctx::observed(text.id, span) })
        .collect()
}

/// Says what lies at the top, and whether pods live there. Returns, for kubepods.slice and
/// kubepods, whether it is there and populated.
fn top(ctx: &mut Ctx, dir: &Known<String>) -> [Option<bool>; 2] {
    let listing = dir.as_ref().and_then(|dir| ctx.list(dir)).map(|(id, _)| id);
    let dirs = dir.as_ref().and_then(|dir| ctx.dirs(dir));
    ctx.say(Fact::each("cgroup.top", dirs.clone()));
    // runc makes no slice of `slice:prefix:name` without systemd, but one directory of that name
    let literal = |said: &Said| said.value.as_text().is_some_and(|name| name.contains(".slice:"));
    let misplaced = dirs.clone().map(|dirs| dirs.into_iter().filter(literal).collect());
    ctx.say(Fact::each("cgroup.misplaced", misplaced));
    [("kubepods.slice", "cgroup.kubepods_slice_populated"), ("kubepods", "cgroup.kubepods_populated")].map(
        |(child, name)| {
            let there = dirs.is().and_then(|d| d.iter().find(|s| s.value.as_text() == Some(child))).cloned();
            let (is_there, said) = match (there, &listing, dir) {
                (Some(there), _, Known::Is(dir)) => {
                    (true, populated(ctx, &format!("{dir}/{child}"), &there.origin))
                }
                (None, Known::Is(id), _) => (false, {
                    let origin = Ctx::observed(*id, Span::default());
                    Known::Is(vec![Said { value: Value::Bool(false), origin }])
                }),
                (_, listing, _) => (false, listing.clone().map(|_| Vec::new())),
            };
            let value = said.is().and_then(|s| s.first()).and_then(|s| s.value.as_bool());
            ctx.say(Fact::one(name, said));
            is_there.then_some(value == Some(true))
        },
    )
}

/// Whether a process lives in a cgroup or below it.
fn populated(ctx: &mut Ctx, dir: &str, listed: &Origin) -> Statements {
    let is = |value: bool, origin: Origin| Known::Is(vec![Said { value: Value::Bool(value), origin }]);
    if let Known::Is(events) = ctx.read(&format!("{dir}/cgroup.events")) {
        let mut words = words(&events.text).skip_while(|(_, w)| *w != "populated");
        if let (Some((key, _)), Some((span, value))) = (words.next(), words.next()) {
            return is(value == "1", Ctx::observed(events.id, Span::new(key.start, span.end)));
        }
    }
    let mut todo = vec![dir.to_owned()];
    let mut missed = None;
    let mut looked = 0;
    while let Some(dir) = todo.pop() {
        looked += 1;
        if looked > BOUND {
            missed = Some(Why::Unreadable(dir, format!("more than {BOUND} cgroups")));
            break;
        }
        let procs = format!("{dir}/cgroup.procs");
        match ctx.node.read(&procs) {
            Known::Is(text) if !text.text.trim().is_empty() => {
                if let Known::Is(text) = ctx.read(&procs) {
                    let first = words(&text.text).next().map_or(Span::default(), |(span, _)| span);
                    return is(true, Ctx::observed(text.id, first));
                }
            }
            Known::Unknown(why) => missed = missed.or(Some(why)),
            _ => {}
        }
        match ctx.node.list(&dir) {
            Known::Is(entries) => {
                let dirs = entries.into_iter().filter(|e| e.kind == FileKind::Dir);
                todo.extend(dirs.rev().map(|e| format!("{dir}/{}", e.name)));
            }
            Known::Unknown(why) => missed = missed.or(Some(why)),
            Known::Absent(_) => {}
        }
    }
    match missed {
        Some(why) => Known::Unknown(why),
        None => is(false, listed.clone()),
    }
}

/// Everything that a mount table is said to hold, where it stands.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let Ok(table) = mounts::parse(text).map_err(|(span, _)| span) else { return Vec::new() };
    let lines = table.hierarchies.iter().map(|h| h.line).chain([table.top]);
    lines.chain(table.hierarchies.iter().flat_map(|h| &h.controllers).map(|(_, span)| *span)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;
    use crate::resolve::{Snapshot, When};

    const V2: &str = "24 20 0:22 / /sys rw - sysfs s rw\n30 24 0:25 / /sys/fs/cgroup rw - cgroup2 c rw\n";
    const V1: &str = "30 24 0:25 / /sys/fs/cgroup ro - tmpfs t ro\n33 30 0:28 / /sys/fs/cgroup/memory rw - cgroup c rw,memory\n";

    fn look(files: &[(&str, &str)]) -> Snapshot {
        let node = Node::memory(files.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect());
        let options = Options::default();
        let mut ctx = Ctx::new(&node, &options);
        collect(&mut ctx);
        let facts = Snapshot::unread().with(&ctx.facts, When::Now);
        for name in TREE.iter().chain(&["cgroup.mode"]) {
            let value = &facts.named(name).value;
            assert_ne!(value, &Known::Unknown(Why::Unread), "{name}");
            if let (Known::Is(Value::Text(_) | Value::Bool(_)), None) = (value, &facts.named(name).by) {
                panic!("{name} has no origin");
            }
        }
        facts
    }

    fn shown(facts: &Snapshot, name: &str) -> String {
        match &facts.named(name).value {
            Known::Is(value) => value.to_string(),
            Known::Absent(_) => "absent".into(),
            Known::Unknown(_) => "unknown".into(),
        }
    }

    #[test]
    fn pods_are_found_in_both_kinds_of_tree() {
        let facts = look(&[
            ("/proc/1/mountinfo", V2),
            ("/proc/1/cgroup", "0::/init.scope\n"),
            ("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
            ("/sys/fs/cgroup/kubepods.slice/cgroup.events", "populated 1\nfrozen 0\n"),
            ("/sys/fs/cgroup/kubepods.slice/cgroup.subtree_control", "cpu\n"),
            ("/sys/fs/cgroup/kubepods/besteffort/cgroup.procs", ""),
        ]);
        assert_eq!(shown(&facts, "cgroup.controllers"), "cpu, memory");
        assert_eq!(shown(&facts, "cgroup.subtree_control"), "absent");
        assert_eq!(shown(&facts, "cgroup.top"), "kubepods, kubepods.slice");
        assert_eq!(shown(&facts, "cgroup.kubepods_slice_populated"), "true");
        assert_eq!(shown(&facts, "cgroup.kubepods_populated"), "false");
        assert_eq!(shown(&facts, "cgroup.kubepods_subtree_control"), "cpu");
        let facts = look(&[
            ("/proc/self/mountinfo", V1),
            ("/sys/fs/cgroup/memory/kubepods/burstable/pod1/cgroup.procs", "17\n18\n"),
        ]);
        assert_eq!(shown(&facts, "cgroup.mode"), "v1");
        assert_eq!(shown(&facts, "cgroup.controllers"), "memory");
        assert_eq!(shown(&facts, "cgroup.kubepods_populated"), "true");
        assert_eq!(shown(&facts, "cgroup.kubepods_slice_populated"), "false");
    }

    #[test]
    fn a_nested_init_has_its_own_top() {
        let facts = look(&[
            ("/proc/1/mountinfo", V2),
            ("/proc/1/cgroup", "0::/docker/abc/init.scope\n"),
            ("/sys/fs/cgroup/kubepods/cgroup.procs", "1\n"),
            ("/sys/fs/cgroup/docker/abc/kubepods.slice/cgroup.procs", "1\n"),
        ]);
        assert_eq!(shown(&facts, "cgroup.top"), "kubepods.slice");
    }

    #[test]
    fn without_a_mount_table_nothing_is_known() {
        for files in [&[("/etc/x", "")][..], &[("/proc/1/comm", "systemd")], &[("/proc/1/mountinfo", "?\n")]]
        {
            let facts = look(files);
            for name in TREE.iter().chain(&["cgroup.mode"]) {
                assert_eq!(shown(&facts, name), "unknown", "{name} of {files:?}");
            }
        }
    }
}
