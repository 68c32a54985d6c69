//! Properties of systemd as `Name=Value` lines: which of them, and how each is written.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use zbus::Variant;

/// How a property is written.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Text, number, yes/no, or words between blanks.
    Plain,
    /// Microseconds since the epoch.
    Time,
    /// A number whose highest value means no limit.
    Limit,
    /// Words, quoted where needed.
    Words,
    /// `a(sasbttttuii)`.
    Exec,
    /// `a(sb)`: paths that may be missing.
    Files,
}
use Form::{Exec, Files, Limit, Plain, Time, Words};

pub(super) const MANAGER: &[(&str, Form)] = &[
    ("Version", Plain),
    ("Features", Plain),
    ("Virtualization", Plain),
    ("Architecture", Plain),
    ("Tainted", Plain),
    ("SystemState", Plain),
    ("DefaultTasksMax", Limit),
    ("ControlGroup", Plain),
];

pub(super) const UNIT: &[(&str, Form)] = &[
    ("Id", Plain),
    ("LoadState", Plain),
    ("ActiveState", Plain),
    ("SubState", Plain),
    ("FragmentPath", Plain),
    ("DropInPaths", Words),
    ("UnitFileState", Plain),
    ("NeedDaemonReload", Plain),
    ("ActiveEnterTimestamp", Time),
    ("After", Plain),
    ("Before", Plain),
];

pub(super) const SERVICE: &[(&str, Form)] = &[
    ("Type", Plain),
    ("Restart", Plain),
    ("Result", Plain),
    ("NRestarts", Plain),
    ("MainPID", Plain),
    ("ExecMainStartTimestamp", Time),
    ("ExecStart", Exec),
    ("EnvironmentFiles", Files),
    ("Environment", Words),
    ("Slice", Plain),
    ("ControlGroup", Plain),
    ("Delegate", Plain),
    ("DelegateControllers", Plain),
    ("KillMode", Plain),
    ("TasksMax", Limit),
    ("LimitNOFILE", Limit),
    ("OOMScoreAdjust", Plain),
];

/// A property's value, freed of the wire.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Prop {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Text(String),
    List(Vec<Prop>),
}

pub(super) type Props = HashMap<String, Prop>;

pub(super) fn prop(value: &Variant<'_>) -> Prop {
    match value {
        Variant::Bool(b) => Prop::Bool(*b),
        Variant::U8(n) => Prop::Unsigned((*n).into()),
        Variant::U16(n) => Prop::Unsigned((*n).into()),
        Variant::U32(n) => Prop::Unsigned((*n).into()),
        Variant::U64(n) => Prop::Unsigned(*n),
        Variant::I16(n) => Prop::Signed((*n).into()),
        Variant::I32(n) => Prop::Signed((*n).into()),
        Variant::I64(n) => Prop::Signed(*n),
        Variant::Str(text) => Prop::Text(text.as_str().to_owned()),
        Variant::ObjectPath(path) => Prop::Text(path.as_str().to_owned()),
        Variant::Array(array) => Prop::List(array.inner().iter().map(prop).collect()),
        Variant::Structure(fields) => Prop::List(fields.fields().iter().map(prop).collect()),
        Variant::Variant(inner) => prop(inner),
        _ => Prop::Text(String::new()),
    }
}

pub(super) fn show(tables: &[(&[(&str, Form)], &Props)]) -> Arc<str> {
    let mut text = String::new();
    for (names, props) in tables {
        for (name, form) in *names {
            let Some(value) = props.get(*name) else { continue };
            for value in written(value, *form) {
                // a line is a line: what a value breaks is shown escaped
                let _ = writeln!(text, "{name}={}", value.replace('\n', "\\n"));
            }
        }
    }
    text.into()
}

/// The lines of one property; one for each command of `ExecStart`.
pub(super) fn written(value: &Prop, form: Form) -> Vec<String> {
    let one = match (form, value) {
        (Time, Prop::Unsigned(0)) => String::new(),
        (Time, Prop::Unsigned(n)) => format!("@{}", n / 1_000_000),
        (Limit, Prop::Unsigned(u64::MAX)) => "infinity".to_owned(),
        (Words, Prop::List(words)) => joined(words, quoted),
        (Files, Prop::List(files)) => return files.iter().map(file).collect(),
        (Exec, Prop::List(commands)) => return commands.iter().map(command).collect(),
        (_, value) => plain(value),
    };
    vec![one]
}

pub(super) fn plain(value: &Prop) -> String {
    match value {
        Prop::Bool(b) => (if *b { "yes" } else { "no" }).to_owned(),
        Prop::Signed(n) => n.to_string(),
        Prop::Unsigned(n) => n.to_string(),
        Prop::Text(text) => text.clone(),
        Prop::List(list) => joined(list, str::to_owned),
    }
}

pub(super) fn joined(words: &[Prop], written: impl Fn(&str) -> String) -> String {
    words.iter().map(|w| written(&plain(w))).collect::<Vec<_>>().join(" ")
}

pub(super) fn file(entry: &Prop) -> String {
    match entry {
        Prop::List(fields) => match fields.as_slice() {
            [path, optional] => format!("{} (ignore_errors={})", plain(path), plain(optional)),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// The arguments, as they could be typed.
pub(super) fn command(entry: &Prop) -> String {
    let Prop::List(fields) = entry else { return String::new() };
    match fields.as_slice() {
        [path, Prop::List(argv), ..] => match argv.split_first() {
            Some((_, rest)) if !rest.is_empty() => {
                format!("{} {}", quoted(&plain(path)), joined(rest, quoted))
            }
            _ => quoted(&plain(path)),
        },
        _ => String::new(),
    }
}

/// A word between double quotes when it would not stay one word without.
pub(super) fn quoted(word: &str) -> String {
    let bare = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\');
    if !word.is_empty() && word.chars().all(bare) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `busctl --json` of one value.
    fn from_json(value: &serde_json::Value) -> Prop {
        use serde_json::Value as J;
        match value {
            J::Bool(b) => Prop::Bool(*b),
            J::Number(n) => n.as_u64().map_or_else(|| Prop::Signed(n.as_i64().unwrap()), Prop::Unsigned),
            J::String(text) => Prop::Text(text.clone()),
            J::Array(list) => Prop::List(list.iter().map(from_json).collect()),
            _ => Prop::Text(String::new()),
        }
    }

    fn dump(json: &str) -> Props {
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let all = json["data"][0].as_object().unwrap();
        all.iter().map(|(name, value)| (name.clone(), from_json(&value["data"]))).collect()
    }

    #[test]
    fn properties_become_lines() {
        let unit = dump(include_str!("../../../fixtures/replies/bookworm/containerd.Unit.json"));
        let service = dump(include_str!("../../../fixtures/replies/bookworm/containerd.Service.json"));
        let expected = include_str!("../../../fixtures/replies/bookworm/containerd.service");
        assert_eq!(&*show(&[(UNIT, &unit), (SERVICE, &service)]), expected);
    }

    #[test]
    fn commands_keep_their_words() {
        let words = |argv: &[&str]| Prop::List(argv.iter().map(|w| Prop::Text((*w).to_owned())).collect());
        let exec = Prop::List(vec![Prop::Text("/bin/sh".into()), words(&["sh", "-c", "a \"b\" c", ""])]);
        let lines = written(&Prop::List(vec![exec]), Exec);
        assert_eq!(lines, ["/bin/sh -c \"a \\\"b\\\" c\" \"\""]);
        let files = Prop::List(vec![Prop::List(vec![Prop::Text("/etc/x".into()), Prop::Bool(true)])]);
        assert_eq!(written(&files, Files), ["/etc/x (ignore_errors=yes)"]);
        assert_eq!(written(&Prop::Unsigned(u64::MAX), Limit), ["infinity"]);
        assert_eq!(written(&Prop::Unsigned(1_796_077_737_985_094), Time), ["@1796077737"]);
    }
}
