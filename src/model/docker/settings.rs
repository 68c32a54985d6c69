//! Everything in file and flags that looks like a cgroup driver setting, and what came of it.

use super::driver::{self, OPTION, pair};
use super::file::flattened;
use super::{Generation, Said};
use crate::fact::{Known, Layer, Origin, Row, Value};
use crate::model::json::{Item, Node};
use crate::text::Place;

/// Row by row: key, value, effective, because.
pub(super) fn rows(said: &Said, generation: Generation) -> Vec<Row> {
    let mut rows = Vec::new();
    let options = driver::options(said);
    let winner = driver::winner(&options, generation);
    for (at, option) in options.iter().enumerate() {
        let Some((key, value)) = pair(&option.text) else {
            if option.text.trim().eq_ignore_ascii_case(OPTION) {
                rows.push(row(OPTION, &option.text, &option.origin, Some("it has no value")));
            }
            continue;
        };
        let because = match &winner {
            _ if key != OPTION && key.contains("cgroup") => Some("no exec-opt has this name"),
            _ if key != OPTION => continue,
            Ok(Some(winner)) if *winner == at => None,
            Ok(Some(_)) if generation == Generation::V28 => Some("a later entry counts"),
            Ok(Some(_)) => Some("an earlier entry counts"),
            _ => Some("the daemon does not start"),
        };
        rows.push(row(&key, value, &option.origin, because));
    }
    let Some(file) = said.captured else { return rows };
    let at_top = |key: &crate::model::json::Key| said.entries.iter().any(|(k, _)| k.span == key.span);
    for (key, node) in flattened(said.entries) {
        let because = match key.name.as_str() {
            "exec-opts" if !at_top(key) => "dockerd reads it at the top only",
            "exec-opt" => "the key of the file is `exec-opts`",
            _ => continue,
        };
        let Item::Array(elements) = &node.item else { continue };
        for element in elements {
            let Node { item: Item::Text(text), span } = element else { continue };
            let Some((option, value)) = pair(text).filter(|(key, _)| key == OPTION) else { continue };
            let origin = Origin::new(Layer::File, Place { source: file.id, span: *span });
            rows.push(row(&option, value, &origin, Some(because)));
        }
    }
    rows
}

fn row(key: &str, value: &str, origin: &Origin, because: Option<&str>) -> Row {
    let cell = |value: Value| Known::Is(vec![crate::fact::Said { value, origin: origin.clone() }]);
    vec![
        ("key", cell(Value::text(key))),
        ("value", cell(Value::text(value))),
        ("effective", cell(Value::Bool(because.is_none()))),
        ("because", because.map_or(Known::ABSENT, |because| cell(Value::text(because)))),
    ]
}
