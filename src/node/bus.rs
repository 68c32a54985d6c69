//! systemd's word on itself and its units, over the system bus, as `Name=Value` lines in the
//! manner of `systemctl show` (times as `@SECONDS`).

use super::live::{BUS, Found, Socket};
use crate::fact::{Known, Why};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use zbus::{Connection, Variant};

const SYSTEMD: &str = "org.freedesktop.systemd1";
const ROOT: &str = "/org/freedesktop/systemd1";

/// How a property is written.
#[derive(Clone, Copy)]
enum Form {
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

const MANAGER: &[(&str, Form)] = &[
    ("Version", Plain),
    ("Features", Plain),
    ("Virtualization", Plain),
    ("Architecture", Plain),
    ("Tainted", Plain),
    ("SystemState", Plain),
    ("DefaultTasksMax", Limit),
    ("ControlGroup", Plain),
];

const UNIT: &[(&str, Form)] = &[
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

const SERVICE: &[(&str, Form)] = &[
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
enum Prop {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Text(String),
    List(Vec<Prop>),
}

type Props = HashMap<String, Prop>;

/// Fills in the answers. May be dropped at any await.
pub(super) async fn ask(socket: &Socket, units: &[String], found: &Found) {
    let connection = match connect(socket).await {
        Ok(connection) => connection,
        Err(why) => {
            let mut found = found.borrow_mut();
            for name in std::iter::once("manager").chain(units.iter().map(String::as_str)) {
                found.insert(format!("dbus:{name}"), Known::Unknown(why.clone()));
            }
            return;
        }
    };
    let manager = async {
        let answer = match all(&connection, ROOT, "org.freedesktop.systemd1.Manager").await {
            Ok(props) => Known::Is(show(&[(MANAGER, &props)])),
            Err(e) => Known::Unknown(why(e)),
        };
        found.borrow_mut().insert("dbus:manager".to_owned(), answer);
    };
    tokio::join!(manager, ask_units(&connection, units, found));
}

async fn connect(socket: &Socket) -> Result<Connection, Why> {
    let stream = socket.connect().await?;
    let stream = stream.into_std().map_err(|e| Why::Unreadable(BUS.to_owned(), e.to_string()))?;
    zbus::connection::Builder::unix_stream(stream).build().await.map_err(why)
}

async fn ask_units(connection: &Connection, units: &[String], found: &Found) {
    let there = loaded(connection, units).await;
    for (i, unit) in units.iter().enumerate() {
        let answer = match &there {
            Some(there) if !there[i] => Known::ABSENT,
            _ => match properties(connection, unit).await {
                Ok(answer) => answer,
                Err(e) => Known::Unknown(why(e)),
            },
        };
        found.borrow_mut().insert(format!("dbus:{unit}"), answer);
    }
}

/// Which of the units exist, in one call; `None` where systemd (before 230) has no such call.
async fn loaded(connection: &Connection, units: &[String]) -> Option<Vec<bool>> {
    use zbus::OwnedObjectPath as Path;
    type Row = (String, String, String, String, String, String, Path, u32, String, Path);
    let manager = Some("org.freedesktop.systemd1.Manager");
    let reply =
        connection.call_method(Some(SYSTEMD), ROOT, manager, "ListUnitsByNames", &(units,)).await.ok()?;
    let rows: Vec<Row> = reply.body().deserialize().ok()?;
    // in the order asked; an alias answers under another name
    (rows.len() == units.len()).then(|| rows.iter().map(|row| row.2 != "not-found").collect())
}

async fn properties(connection: &Connection, unit: &str) -> zbus::Result<Known<Arc<str>>> {
    // asking for the object of a unit loads it; one that does not exist loads as not-found
    let path = format!("{ROOT}/unit/{}", label(unit));
    let service = async {
        match unit.ends_with(".service") {
            true => all(connection, &path, "org.freedesktop.systemd1.Service").await,
            false => Ok(Props::new()),
        }
    };
    let (props, service) = tokio::join!(all(connection, &path, "org.freedesktop.systemd1.Unit"), service);
    let props = props?;
    if props.get("LoadState") == Some(&Prop::Text("not-found".to_owned())) {
        return Ok(Known::ABSENT);
    }
    Ok(Known::Is(show(&[(UNIT, &props), (SERVICE, &service?)])))
}

async fn all(connection: &Connection, path: &str, interface: &str) -> zbus::Result<Props> {
    let properties = Some("org.freedesktop.DBus.Properties");
    let reply = connection.call_method(Some(SYSTEMD), path, properties, "GetAll", &(interface,)).await?;
    let body = reply.body();
    let values: HashMap<&str, Variant<'_>> = body.deserialize()?;
    let wanted = |name: &str| [MANAGER, UNIT, SERVICE].iter().any(|t| t.iter().any(|(n, _)| *n == name));
    Ok(values
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| ((*name).to_owned(), prop(value)))
        .collect())
}

/// A unit name as one element of an object path: what is not a letter or digit as `_HEX`.
fn label(unit: &str) -> String {
    unit.bytes().enumerate().fold(String::new(), |mut label, (i, b)| {
        if b.is_ascii_alphabetic() || (i > 0 && b.is_ascii_digit()) {
            label.push(char::from(b));
        } else {
            let _ = write!(label, "_{b:02x}");
        }
        label
    })
}

fn prop(value: &Variant<'_>) -> Prop {
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

fn show(tables: &[(&[(&str, Form)], &Props)]) -> Arc<str> {
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
fn written(value: &Prop, form: Form) -> Vec<String> {
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

fn plain(value: &Prop) -> String {
    match value {
        Prop::Bool(b) => (if *b { "yes" } else { "no" }).to_owned(),
        Prop::Signed(n) => n.to_string(),
        Prop::Unsigned(n) => n.to_string(),
        Prop::Text(text) => text.clone(),
        Prop::List(list) => joined(list, str::to_owned),
    }
}

fn joined(words: &[Prop], written: impl Fn(&str) -> String) -> String {
    words.iter().map(|w| written(&plain(w))).collect::<Vec<_>>().join(" ")
}

fn file(entry: &Prop) -> String {
    match entry {
        Prop::List(fields) => match fields.as_slice() {
            [path, optional] => format!("{} (ignore_errors={})", plain(path), plain(optional)),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// The arguments, as they could be typed.
fn command(entry: &Prop) -> String {
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
fn quoted(word: &str) -> String {
    let bare = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\');
    if !word.is_empty() && word.chars().all(bare) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn why(error: zbus::Error) -> Why {
    use zbus::Error as E;
    use zbus::fdo::Error as F;
    match &error {
        E::FDO(fdo) => match fdo.as_ref() {
            F::AccessDenied(_) | F::AuthFailed(_) => Why::Denied(BUS.to_owned()),
            F::NoReply(_) | F::Timeout(_) | F::TimedOut(_) => Why::Timeout(BUS.to_owned()),
            F::ServiceUnknown(_) | F::NameHasNoOwner(_) | F::SpawnChildExited(_) => {
                Why::NotRunning("systemd on the system bus".to_owned())
            }
            _ => Why::Strange(error.to_string()),
        },
        E::Handshake(text) if text.contains("REJECTED") => Why::Denied(BUS.to_owned()),
        E::InputOutput(e) if e.kind() == std::io::ErrorKind::PermissionDenied => Why::Denied(BUS.to_owned()),
        _ => Why::Strange(format!("{BUS}: {error}")),
    }
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
        let unit = dump(include_str!("../../fixtures/replies/bookworm/containerd.Unit.json"));
        let service = dump(include_str!("../../fixtures/replies/bookworm/containerd.Service.json"));
        let expected = include_str!("../../fixtures/replies/bookworm/containerd.service");
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

    #[test]
    fn object_paths_name_the_unit() {
        assert_eq!(label("containerd.service"), "containerd_2eservice");
        assert_eq!(label("k3s-agent.service"), "k3s_2dagent_2eservice");
    }
}
