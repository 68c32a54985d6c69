//! `nodevet facts --format json`, described by `nodevet schema facts`.

use super::Facts;
use crate::fact::{Known, Origin, Said, Type};
use crate::report::json::{hide, place, value, write};
use crate::resolve::{Cells, InForce};
use crate::text::Sources;
use serde_json::{Map, Value as Json, json};
use std::io;

pub(super) fn print(facts: &Facts<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut all = Map::new();
    for id in facts.chosen {
        let decl = id.decl();
        let mut fact = in_force(facts.sources, facts.worlds.merged.get(*id), &decl.ty);
        let worlds = facts.differing(*id);
        if !worlds.is_empty() {
            let worlds = worlds.into_iter().map(|(name, there)| {
                let mut world = Map::new();
                world.insert("world".into(), name.into());
                world.extend(in_force(facts.sources, there, &decl.ty));
                Json::Object(world)
            });
            fact.insert("worlds".into(), worlds.collect());
        }
        all.insert(decl.name.into(), Json::Object(fact));
    }
    write(&hide(json!({"schema": "nodevet/facts/1", "facts": all})), out)
}

fn in_force(sources: &Sources, fact: &InForce, ty: &Type) -> Map<String, Json> {
    let mut map = Map::new();
    let (state, said, why) = match &fact.value {
        Known::Is(is) => ("is", value(is), Json::Null),
        Known::Absent(note) if note.is_empty() => ("absent", Json::Null, Json::Null),
        Known::Absent(note) => ("absent", Json::Null, note.as_ref().into()),
        Known::Unknown(why) => ("unknown", Json::Null, why.to_string().into()),
    };
    map.insert("state".into(), state.into());
    map.insert("value".into(), said);
    map.insert("why".into(), why);
    if let Known::Unknown(why) = &fact.value {
        map.insert("resolve".into(), why.remedy().into());
    }
    map.insert("origin".into(), fact.by.as_ref().map_or(Json::Null, |by| origin(sources, by)));
    map.insert("overridden".into(), fact.overridden.iter().map(|s| statement(sources, s)).collect());
    match ty {
        Type::List(_) => {
            map.insert("elements".into(), fact.elements.iter().map(|s| element(sources, s)).collect());
        }
        Type::Table { columns, .. } => {
            let row = |row: &Cells| {
                let cell = |(c, cell)| (c, cell);
                let cells = columns.iter().zip(&**row).map(cell);
                cells
                    .map(|(c, cell)| (c.name.to_owned(), Json::Object(in_force(sources, cell, &c.ty))))
                    .collect()
            };
            map.insert("rows".into(), fact.rows.iter().map(|r| Json::Object(row(r))).collect());
        }
        _ => {}
    }
    map
}

fn origin(sources: &Sources, origin: &Origin) -> Json {
    let mut map = Map::new();
    map.insert("layer".into(), origin.layer.name().into());
    map.extend(place(sources, origin.place));
    if !origin.written.is_empty() {
        map.insert("written".into(), origin.written.to_vec().into());
    }
    Json::Object(map)
}

fn statement(sources: &Sources, said: &Said) -> Json {
    json!({"value": value(&said.value), "origin": origin(sources, &said.origin)})
}

/// An element has the keys of a cell: it is, and overrides nothing.
fn element(sources: &Sources, said: &Said) -> Json {
    json!({
        "state": "is",
        "value": value(&said.value),
        "why": null,
        "origin": origin(sources, &said.origin),
        "overridden": [],
    })
}
