//! A configuration written out as JSON again, which drop-ins are then laid over.

use super::decode::Keys;
use super::effective::{Effective, Path};
use super::schema::{FIELDS, Field, Kind};
use super::tree::{Json, Tree};
use crate::fact::{Layer, Origin, Said, Value};
use crate::text::{Kind as Text, Place, Sources, Span};
use std::collections::BTreeMap;

/// The fields that say something, under the names of the file or of the internal object.
pub(super) fn tree(config: &Effective, keys: Keys, minor: u32) -> Tree {
    let writer = Writer { config, keys, minor };
    writer.object(FIELDS, &mut Vec::new())
}

struct Writer<'a> {
    config: &'a Effective,
    keys: Keys,
    minor: u32,
}

impl Writer<'_> {
    fn object(&self, fields: &'static [Field], path: &mut Path) -> Tree {
        let mut entries = BTreeMap::new();
        for field in fields.iter().filter(|field| field.since <= self.minor) {
            path.push(field.name.to_owned());
            let tree = match field.kind {
                Kind::Struct(inner) => Some(self.object(inner, path)),
                Kind::TextMap | Kind::BoolMap | Kind::TextsMap => self.map(path),
                kind => self.config.said.get(path).and_then(|said| {
                    let mut tree = leaf(said, Some((kind, field.pointer)))?;
                    if let (Json::List(items), Some(elements)) =
                        (&mut tree.json, self.config.elements.get(path))
                    {
                        *items = elements
                            .iter()
                            .filter_map(|said| leaf(std::slice::from_ref(said), None))
                            .collect();
                    }
                    Some(tree)
                }),
            };
            path.pop();
            let name = if self.keys == Keys::Internal { field.go } else { field.name };
            entries.extend(tree.map(|tree| (name.to_owned(), tree)));
        }
        map_of(entries)
    }

    fn map(&self, path: &Path) -> Option<Tree> {
        let below = self.config.said.below(path).into_iter();
        let entries: BTreeMap<String, Tree> =
            below.filter_map(|(key, said)| Some((key.to_owned(), leaf(said, None)?))).collect();
        let written = self.config.maps.contains_key(path);
        (written || !entries.is_empty()).then(|| map_of(entries))
    }
}

/// A value of `omitempty` is left out when it is zero.
fn leaf(said: &[Said], field: Option<(Kind, bool)>) -> Option<Tree> {
    let (last, over) = said.split_last()?;
    let json = match (field, &last.value) {
        (Some((Kind::Float, _)), Value::Text(text)) => Json::Float(text.parse().unwrap_or_default()),
        _ => json_of(&last.value),
    };
    if let Some((kind, pointer)) = field {
        let empty = match &json {
            Json::Bool(is) => !is,
            Json::Int(number) => *number == 0,
            Json::Text(text) => text.is_empty(),
            Json::List(items) => items.is_empty(),
            _ => false,
        };
        // an empty list is left out even where it is not the same as none
        let none = !pointer || matches!(json, Json::List(_));
        if empty && none && !matches!(kind, Kind::Duration) {
            return None;
        }
    }
    Some(Tree { json, origin: last.origin.clone(), key: last.origin.place, over: over.to_vec() })
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Bool(is) => Json::Bool(*is),
        Value::Int(number) => Json::Int(*number),
        Value::Text(text) => Json::Text(text.to_string()),
        Value::List(items) => Json::List(items.iter().map(|item| bare(json_of(item))).collect()),
    }
}

fn map_of(entries: BTreeMap<String, Tree>) -> Tree {
    bare(Json::Map(entries))
}

/// A tree that stands nowhere itself: only what is below it does.
fn bare(json: Json) -> Tree {
    let source = Sources::default().add("", Text::Default, "");
    let place = Place { source, span: Span::default() };
    Tree { json, origin: Origin::new(Layer::Default, place), key: place, over: Vec::new() }
}
