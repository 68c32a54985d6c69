//! Everything in a file that looks like a cgroup driver setting, and whether it is one.

use crate::fact::{Known, Layer, Origin, Row, Said, Value};
use crate::model::Captured;
use crate::model::toml::{Item, Table};
use crate::text::Place;

/// Names of other programs' driver settings, and of CRI-O's own in other spellings, without
/// punctuation and in lower case.
const LOOKS_ALIKE: [&str; 4] = ["cgroupmanager", "cgroupdriver", "nativecgroupdriver", "systemdcgroup"];

/// Adds a row for each: key, value, effective, because.
pub(super) fn look_alikes(file: &Captured, table: &Table, path: &mut Vec<String>, rows: &mut Vec<Row>) {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    for (key, node) in &table.entries {
        path.push(key.name.clone());
        let alike = LOOKS_ALIKE.contains(&letters(&key.name).as_str())
            || letters(&path.concat()).ends_with("nativecgroupdriver");
        match &node.item {
            Item::Table(inner) => look_alikes(file, inner, path, rows),
            Item::Text(_) | Item::Bool(_) if alike => {
                let place = Place { source: file.id, span: node.span };
                let value = file.text.get(node.span.start..node.span.end).unwrap_or_default();
                rows.push(setting(path, value, place));
            }
            _ => {}
        }
        path.pop();
    }
}

fn setting(path: &[String], value: &str, place: Place) -> Row {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let because = match parts.as_slice() {
        [crio, runtime, key] if is(crio, "crio") && is(runtime, "runtime") && is(key, "cgroup_manager") => {
            None
        }
        [.., key] if is(key, "cgroup_manager") => Some("CRI-O reads it in [crio.runtime] only"),
        _ => Some("CRI-O calls it cgroup_manager"),
    };
    let cell = |value: Value| {
        let written = path.to_vec().into();
        Known::Is(vec![Said { value, origin: Origin { written, ..Origin::new(Layer::File, place) } }])
    };
    vec![
        ("key", cell(Value::text(parts.join(".")))),
        ("value", cell(Value::text(value.trim_matches(['"', '\''])))),
        ("effective", cell(Value::Bool(because.is_none()))),
        ("because", because.map_or(Known::ABSENT, |because| cell(Value::text(because)))),
    ]
}
