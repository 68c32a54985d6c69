//! Everything that reads bytes which somebody else wrote, each with what must hold of any bytes.
//! The tests below try generated ones; `fuzz/` has a libFuzzer target for each.

use crate::fact::{Known, Value, Why};
use crate::finding::Op;
use crate::model::containerd::{self, Input, Session, generation};
use crate::model::toml::{Dialect, Item, Table, parse_document};
use crate::model::{Captured, Reader, unit, yaml};
use crate::node::meta::Meta;
use crate::rule::expr::{self, Scope};
use crate::text::{Kind, Place, SourceId, Sources, Span};
use crate::version::Version;
use crate::{collect, config, fix, mask, node, rule, suppress};
use std::cmp::Ordering;

mod boot;

pub use boot::{boot_files, crio_conf, daemon_json};

/// A reader for tests: by name, with what it does.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("boot", boot_files),
    ("buildinfo", buildinfo),
    ("config", nodevet_toml),
    ("containerd", containerd_config),
    ("cri", cri),
    ("crio", crio_conf),
    ("docker", daemon_json),
    ("edit", edit),
    ("expr", expression),
    ("mask", masked),
    ("meta", meta),
    ("mountinfo", mountinfo),
    ("rule", rule_file),
    ("suppress", comments),
    ("toml", toml),
    ("unit", unit_file),
    ("version", version),
    ("yaml", yaml_file),
];

/// One file, whatever it is called, and its text for every question.
struct One<'a> {
    path: &'a str,
    text: &'a str,
    sources: Sources,
}

impl Reader for One<'_> {
    fn file(&mut self, path: &str) -> Known<Captured> {
        if path != self.path {
            return Known::ABSENT;
        }
        let id = self.sources.add(path, Kind::File, self.text);
        Known::Is(Captured { id, text: self.text.into(), invalid_utf8: None })
    }

    fn list(&mut self, _: &str) -> Known<Vec<String>> {
        Known::ABSENT
    }

    fn is_dir(&mut self, _: &str) -> Known<bool> {
        Known::Is(false)
    }

    fn default(&mut self, name: &str, text: &'static str) -> SourceId {
        self.sources.add(name, Kind::Default, text)
    }
}

fn within(text: &str, span: Span) {
    assert!(text.get(span.start..span.end).is_some(), "{span:?} is not in {text:?}");
}

fn placed(sources: &Sources, place: Place) {
    within(&sources.get(place.source).text, place.span);
}

pub fn buildinfo(data: &[u8]) {
    if let Some(text) = node::buildinfo::read(&data) {
        assert!(text.starts_with("go") || text.starts_with("devel"), "{text:?}");
    }
}

pub fn nodevet_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match config::Config::parse(&text) {
        Ok(config) => {
            config.select.iter().chain(&config.ignore).for_each(|s| within(&text, s.span));
            config.silenced.iter().for_each(|s| within(&text, s.span));
        }
        Err(mistake) => within(&text, mistake.span),
    }
}

/// As the main file, in every generation.
pub fn containerd_config(data: &[u8]) {
    const MAIN: &str = "/etc/containerd/config.toml";
    let text = String::from_utf8_lossy(data);
    let mut one = One { path: MAIN, text: &text, sources: Sources::default() };
    let input = Input {
        main: MAIN,
        main_given: true,
        systemd_running: Known::Is(true),
        cgroup_mode: Known::Unknown(Why::Unread),
    };
    let mut session = Session::default();
    for generation in generation::possible(None) {
        let effective = containerd::effective(generation, &input, &mut one, &mut session);
        effective.problems().iter().for_each(|p| placed(&one.sources, p.place));
        assert!(effective.facts().iter().any(|f| f.name == "containerd.boots"));
    }
}

/// As the body of an answer, as an answer without its frame, and as the JSON of a capture.
pub fn cri(data: &[u8]) {
    let mut told = node::cri::decoded(data);
    told.push(String::from_utf8_lossy(data).into_owned());
    for text in told {
        let reply = |method: &str| (format!("/.nodevet/replies/cri/{method}"), text.clone());
        let node = node::Node::memory(["Version", "Status", "RuntimeConfig"].map(reply).into());
        collect::cri::spans(&node).iter().for_each(|(text, span)| within(text, *span));
    }
}

/// An edit of a TOML file keeps it TOML, and a second one like it changes nothing.
pub fn edit(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let path = || ["plugins", "io.containerd.cri.v1.runtime", "x"].map(str::to_owned).to_vec();
    let ops = [
        Op::Set(path(), Value::Bool(true)),
        Op::Remove(path()),
        Op::RemoveElement(vec!["disabled_plugins".into()], Value::text("cri")),
        Op::Move { from: vec!["plugins".into(), "cri".into()], to: path() },
    ];
    for op in &ops {
        let Ok(edited) = fix::toml::apply(&text, &[op]) else { continue };
        let parsed = edited.parse::<toml::Table>();
        assert!(parsed.is_ok(), "{op:?} makes {edited:?} of {text:?}");
        if let Op::Set(path, value) = op {
            let parsed = parsed.unwrap_or_default();
            let set = path.iter().skip(1).fold(parsed.get(&path[0]), |at, name| at?.get(name));
            assert_eq!(set.and_then(toml::Value::as_bool), value.as_bool(), "{edited:?} of {text:?}");
            assert_eq!(fix::toml::apply(&edited, &[op]).as_ref(), Ok(&edited), "of {text:?}");
        }
    }
}

pub fn expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for flaw in expr::condition(&text, &Scope::default()).err().into_iter().flatten() {
        within(&text, flaw.span);
    }
}

/// Nothing moves.
pub fn masked(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for path in ["/etc/containerd/config.toml", "/proc/1/cmdline"] {
        let masked = mask::mask(path, &text);
        let shape = |text: &str| text.split('\n').map(|l| l.chars().count()).collect::<Vec<_>>();
        assert_eq!(shape(&masked), shape(&text), "{text:?}");
    }
}

pub fn meta(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (_, bad) = Meta::parse(&text);
    let lines = text.lines().count();
    assert!(bad.iter().all(|(number, _)| (1..=lines).contains(number)));
    let path = node::meta::reply_path(&text);
    assert!(path.starts_with("/.nodevet/replies/") && !path.contains("/../"), "{path}");
}

pub fn mountinfo(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    collect::cgroup::spans(&text).iter().for_each(|span| within(&text, *span));
}

pub fn rule_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for home in [rule::Home::BuiltIn, rule::Home::User] {
        let errors = rule::load("XY1-x.toml", &text, home).err();
        errors.iter().flatten().for_each(|e| within(&text, e.span));
    }
}

pub fn comments(data: &[u8]) {
    let mut sources = Sources::default();
    sources.add("/x", Kind::File, &*String::from_utf8_lossy(data));
    suppress::comments(&sources).iter().for_each(|place| placed(&sources, *place));
}

/// Whatever one dialect makes of it, the spans are its own.
pub fn toml(data: &[u8]) {
    fn walk(text: &str, table: &Table) {
        for (key, node) in &table.entries {
            within(text, key.span);
            value(text, node);
        }
    }
    fn value(text: &str, node: &crate::model::toml::Node) {
        within(text, node.span);
        match &node.item {
            Item::Table(table) => walk(text, table),
            Item::Array(items) => items.iter().for_each(|n| value(text, n)),
            _ => {}
        }
    }
    let text = String::from_utf8_lossy(data);
    for dialect in [Dialect::BurntSushi, Dialect::GoTomlV1, Dialect::GoTomlV2] {
        match parse_document(&text, dialect, None) {
            Ok(document) => walk(&text, &document.root),
            Err(error) => within(&text, error.span),
        }
    }
}

/// As a unit that names itself as its environment file.
pub fn unit_file(data: &[u8]) {
    const UNIT: &str = "/etc/systemd/system/kubelet.service";
    let text = format!("[Service]\nEnvironmentFile={UNIT}\n{}", String::from_utf8_lossy(data));
    let mut one = One { path: UNIT, text: &text, sources: Sources::default() };
    let Known::Is(unit) = unit::load(&mut one, "kubelet.service") else { return };
    let environment = unit.environment(&mut one);
    for argument in unit.command_line(&environment) {
        placed(&one.sources, argument.place);
    }
    unit.settings.iter().for_each(|s| placed(&one.sources, s.place));
    unit.problems.iter().for_each(|(place, _)| placed(&one.sources, *place));
}

/// Comparing is consistent: a point is itself, and order turns round.
pub fn version(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (left, right) = text.split_once('\n').unwrap_or((&text, "1.2.3"));
    let (Some(a), Some(b)) = (Version::parse(left), Version::parse(right)) else { return };
    assert!(matches!(a.compare(&a), None | Some(Ordering::Equal)), "{a}");
    if let (Some(there), Some(back)) = (a.compare(&b), b.compare(&a)) {
        assert_eq!(there, back.reverse(), "{a} {b}");
    }
    if let (Some(at_least), Some(order)) = (a.at_least(&b), a.compare(&b)) {
        assert_eq!(at_least, order != Ordering::Less, "{a} {b}");
    }
}

pub fn yaml_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match yaml::first_document(&text) {
        Ok(Some(document)) => within(&text, document.root.span),
        Ok(None) => {}
        Err(error) => within(&text, error.span),
    }
}

#[cfg(test)]
mod tests;
