//! A configuration as the JSON that the kubelet makes of a file, each value with its place.

use super::decode::alike;
use super::schema::FIELDS;
use crate::fact::{Layer, Origin, Said, Value};
use crate::model::Captured;
use crate::model::yaml::{Document, Item, Node, Scalar, SyntaxError, first_document};
use crate::text::{Place, SourceId, Span, line_span};
use std::collections::BTreeMap;

/// How many nodes a document may have once its anchors are written out.
const NODES: usize = 200_000;
/// How deep they may nest: an anchor may hold itself.
const DEPTH: usize = 250;

/// A value of the JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub json: Json,
    pub origin: Origin,
    /// Where its key stands.
    pub key: Place,
    /// What merging laid it over, weakest first.
    pub over: Vec<Said>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// Not an integer, or one that no field can hold.
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    Map(BTreeMap<String, Tree>),
}

/// The first document of a file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub root: Tree,
    /// Keys that are written again, with the place of the one that does not count.
    pub repeated: Vec<(Vec<String>, Place)>,
    /// Where a second document begins, which nobody reads.
    pub rest: Option<Place>,
    /// The first versions of the fields, written in whatever case, that not all versions have.
    pub newer: Vec<u32>,
}

impl Json {
    /// As Go's decoder calls it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::Float(_) => "a number",
            Json::Text(_) => "a text",
            Json::List(_) => "a list",
            Json::Map(_) => "a map",
        }
    }
}

impl Tree {
    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        if let Json::Map(entries) = &self.json { entries.get(key) } else { None }
    }

    /// The value as facts hold it; a map or a null is its JSON.
    pub(super) fn value(&self) -> Value {
        match &self.json {
            Json::Bool(is) => Value::Bool(*is),
            Json::Int(number) => Value::Int(*number),
            Json::Float(number) => Value::text(number.to_string()),
            Json::Text(text) => Value::text(text.as_str()),
            Json::List(items) => Value::List(items.iter().map(Tree::value).collect()),
            Json::Null | Json::Map(_) => Value::text(self.to_json()),
        }
    }

    fn to_json(&self) -> String {
        let join = |parts: Vec<String>| parts.join(",");
        match &self.json {
            Json::Null => "null".into(),
            Json::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Json::List(items) => format!("[{}]", join(items.iter().map(Tree::to_json).collect())),
            Json::Map(entries) => {
                let entry = |(key, tree): (&String, &Tree)| {
                    format!("{}:{}", serde_json::Value::from(key.as_str()), tree.to_json())
                };
                format!("{{{}}}", join(entries.iter().map(entry).collect()))
            }
            _ => self.value().to_string(),
        }
    }

    /// Lays a JSON merge patch (RFC 7386) over this value: maps merge, null takes a key away, all
    /// else replaces.
    pub(super) fn patch(&mut self, patch: Tree) {
        match (&mut self.json, patch.json) {
            (Json::Map(entries), Json::Map(new)) => {
                for (key, tree) in new {
                    if tree.json == Json::Null {
                        entries.remove(&key);
                    } else if let Some(old) = entries.get_mut(&key) {
                        old.patch(tree);
                    } else {
                        entries.insert(key, tree.pruned());
                    }
                }
            }
            (_, json) => {
                let mut over = std::mem::take(&mut self.over);
                if self.origin.layer != Layer::Default {
                    over.push(Said { value: self.value(), origin: self.origin.clone() });
                }
                *self = Tree { json, over, ..patch }.pruned();
            }
        }
    }

    /// Without the nulls that take away what is not there.
    fn pruned(mut self) -> Tree {
        if let Json::Map(entries) = self.json {
            let kept = entries.into_iter().filter(|(_, tree)| tree.json != Json::Null);
            self.json = Json::Map(kept.map(|(key, tree)| (key, tree.pruned())).collect());
        }
        self
    }
}

/// Reads the first document of a file. An error is a text that is neither YAML nor JSON, at its place.
pub(super) fn load(file: &Captured, layer: Layer) -> Result<Loaded, SyntaxError> {
    let text = &*file.text;
    let first = line_span(text, 1);
    if text.is_empty() {
        return Err(SyntaxError { span: first, message: "the file is empty".into() });
    }
    // by content, not by name
    let json = text.trim_start().starts_with('{');
    if json {
        check_json(text)?;
    } else if let Some(at) = file.invalid_utf8 {
        let span = Span::new(at, at + '\u{fffd}'.len_utf8());
        return Err(SyntaxError { span, message: "not UTF-8".into() });
    }
    let Some(document) = first_document(text)? else {
        return Err(SyntaxError { span: first, message: "no document is in it".into() });
    };
    let mut reader = Reader {
        document: &document,
        source: file.id,
        layer,
        json,
        left: NODES,
        depth: 0,
        repeated: Vec::new(),
    };
    let root = reader.tree(&document.root, document.root.span, &mut Vec::new())?;
    let repeated = reader.repeated;
    let rest = if json { None } else { rest(file, document.root.span.end) };
    let newer = match &root.json {
        Json::Map(entries) => entries.keys().filter_map(|key| since(key)).collect(),
        _ => Vec::new(),
    };
    Ok(Loaded { root, repeated, rest, newer })
}

fn since(key: &str) -> Option<u32> {
    FIELDS.iter().find(|field| field.since > 0 && alike(field.name, key)).map(|field| field.since)
}

/// Where another document begins behind the first.
fn rest(file: &Captured, from: usize) -> Option<Place> {
    let text = &*file.text;
    let mut at = from;
    let mut begun = false;
    for line in text.get(from..)?.split_inclusive('\n') {
        let begins = at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
        if begun && !line.trim().is_empty() && !line.starts_with('#') && !line.starts_with("---") {
            return Some(Place { source: file.id, span: Span::new(at, at + line.trim_end().len()) });
        }
        begun |= begins && line.trim_end().split([' ', '\t']).next() == Some("---");
        at += line.len();
    }
    None
}

struct Reader<'a> {
    document: &'a Document,
    source: SourceId,
    layer: Layer,
    json: bool,
    left: usize,
    depth: usize,
    repeated: Vec<(Vec<String>, Place)>,
}

impl Reader<'_> {
    fn tree(&mut self, node: &Node, key: Span, path: &mut Vec<String>) -> Result<Tree, SyntaxError> {
        // the place is where the name stands, the value that of its anchor
        let target = self.document.resolve(node);
        self.count(node)?;
        if self.depth >= DEPTH {
            return Err(SyntaxError { span: node.span, message: "nested too deeply".into() });
        }
        self.depth += 1;
        let json = match &target.item {
            Item::Map(entries) => {
                let mut map = BTreeMap::new();
                self.entries(entries, path, &mut map, true)?;
                Json::Map(map)
            }
            Item::List(items) => {
                let items = items.iter().map(|item| self.tree(item, item.span, &mut path.clone()));
                Json::List(items.collect::<Result<_, _>>()?)
            }
            Item::Alias(_) => {
                let message = "an anchor that holds itself".into();
                return Err(SyntaxError { span: node.span, message });
            }
            Item::Scalar { text, .. } => match target.scalar() {
                Some(Scalar::Null) => Json::Null,
                Some(Scalar::Bool(is)) => Json::Bool(is),
                Some(Scalar::Number) => number(text, self.json),
                _ => Json::Text(text.clone()),
            },
        };
        self.depth -= 1;
        let place = |span| Place { source: self.source, span };
        let origin = Origin { written: path.clone().into(), ..Origin::new(self.layer, place(node.span)) };
        Ok(Tree { json, origin, key: place(key), over: Vec::new() })
    }

    /// Entries of a map; those of a map that is merged in do not replace others.
    fn entries(
        &mut self,
        entries: &[(Node, Node)],
        path: &mut Vec<String>,
        map: &mut BTreeMap<String, Tree>,
        own: bool,
    ) -> Result<(), SyntaxError> {
        let mut merged = Vec::new();
        for (key, value) in entries {
            let Some(name) = self.key(key) else {
                return Err(SyntaxError { span: key.span, message: "a key that is not a text".into() });
            };
            if name == "<<" && !self.json {
                merged.push(value);
                continue;
            }
            if !own && map.contains_key(&name) {
                continue;
            }
            path.push(name.clone());
            let tree = self.tree(value, key.span, path)?;
            if let Some(earlier) = map.insert(name, tree) {
                self.repeated.push((path.clone(), earlier.key));
            }
            path.pop();
        }
        for value in merged {
            let target = self.document.resolve(value);
            let maps: Vec<&Node> = match &target.item {
                Item::List(maps) => maps.iter().map(|map| self.document.resolve(map)).collect(),
                _ => vec![target],
            };
            for merged in maps {
                let Item::Map(entries) = &merged.item else {
                    let message = "<< takes a map or a list of maps".into();
                    return Err(SyntaxError { span: value.span, message });
                };
                self.count(value)?;
                self.entries(entries, path, map, false)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, node: &Node) -> Result<(), SyntaxError> {
        let span = node.span;
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(SyntaxError { span, message: "too much is written below anchors".into() })?;
        Ok(())
    }

    fn key(&self, key: &Node) -> Option<String> {
        let target = self.document.resolve(key);
        let Item::Scalar { text, .. } = &target.item else { return None };
        Some(match target.scalar() {
            Some(Scalar::Bool(is)) => is.to_string(),
            Some(Scalar::Null) => "null".into(),
            _ => text.clone(),
        })
    }
}

fn number(text: &str, json: bool) -> Json {
    let digits = text.replace('_', "");
    let (negative, unsigned) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let based = [("0x", 16), ("0b", 2), ("0o", 8)]
        .iter()
        .find_map(|(prefix, base)| i64::from_str_radix(unsigned.strip_prefix(prefix)?, *base).ok());
    // YAML 1.1: a leading zero means octal
    let octal = (!json && unsigned.len() > 1 && unsigned.starts_with('0'))
        .then(|| i64::from_str_radix(unsigned, 8).ok())
        .flatten();
    let integer = based.or(octal).or_else(|| unsigned.parse().ok());
    if let Some(integer) = integer.filter(|i| *i >= 0) {
        return Json::Int(if negative { -integer } else { integer });
    }
    let float: f64 = digits.parse().unwrap_or(f64::NAN);
    // written out as JSON an integral number has no point
    if !json && float.fract() == 0.0 && float.abs() < 1e15 {
        Json::Int(float as i64)
    } else {
        Json::Float(float)
    }
}

fn check_json(text: &str) -> Result<(), SyntaxError> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(|_| ()).map_err(|e| {
        let line = line_span(text, e.line());
        // the column counts bytes, from 1
        let at = (line.start + e.column().saturating_sub(1)).min(line.end);
        let at = (line.start..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(line.start);
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        SyntaxError { span: if at < line.end { Span::new(at, line.end) } else { line }, message }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Kind, Sources};

    fn read(text: &str) -> Result<Loaded, SyntaxError> {
        let id = Sources::default().add("/c", Kind::File, text);
        load(&Captured { id, text: text.into(), invalid_utf8: None }, Layer::File)
    }

    fn json(text: &str) -> String {
        read(text).unwrap().root.to_json()
    }

    #[test]
    fn a_file_becomes_the_json_that_go_makes_of_it() {
        for (text, expected) in [
            (
                "a: yes\nb: 'yes'\nc: 0x10\nd: 1e3\ne: 010\nf: ~\ng: 1.5\n",
                "{\"a\":true,\"b\":\"yes\",\"c\":16,\"d\":1000,\"e\":8,\"f\":null,\"g\":1.5}",
            ),
            ("x: &x {k: 1, l: 2}\nz: {<<: *x, l: 3}\n", "{\"x\":{\"k\":1,\"l\":2},\"z\":{\"k\":1,\"l\":3}}"),
            ("{\"a\": 1.0, \"b\": [1, {\"c\": \"d\"}]}", "{\"a\":1,\"b\":[1,{\"c\":\"d\"}]}"),
            ("a: 1\na: 2\n", "{\"a\":2}"),
            ("yes: 1\n", "{\"true\":1}"),
        ] {
            assert_eq!(json(text), expected, "{text}");
        }
        assert_eq!(read("{\"a\": 1.0}").unwrap().root.get("a").unwrap().json, Json::Float(1.0));
    }

    #[test]
    fn what_nobody_reads_has_a_place() {
        let text = "a: 1\na: 2\n---\n# c\nkind: B\n";
        let loaded = read(text).unwrap();
        let at = |place: Place| &text[place.span.start..place.span.end];
        assert_eq!(
            loaded.repeated.iter().map(|(p, at)| (p.join("."), at.span.start)).collect::<Vec<_>>(),
            [("a".into(), 0)]
        );
        assert_eq!(loaded.rest.map(at), Some("kind: B"));
        for text in ["---\na: 1\n", "a: 1\n---\n", "a: 1\n...\n", "a: |\n  x\n  ---\nb: 1\n"] {
            assert_eq!(read(text).unwrap().rest, None, "{text}");
        }
    }

    #[test]
    fn a_patch_merges_as_rfc_7386_says() {
        for (base, patch, expected) in [
            ("a: {b: 1, c: 2}", "a: {b: null, d: 3}", "{\"a\":{\"c\":2,\"d\":3}}"),
            ("a: [1, 2]", "a: [3]", "{\"a\":[3]}"),
            ("a: 1", "b: {c: null, d: {e: null}}", "{\"a\":1,\"b\":{\"d\":{}}}"),
            ("a: 1", "a: {b: 2}", "{\"a\":{\"b\":2}}"),
        ] {
            let mut root = read(base).unwrap().root;
            root.patch(read(patch).unwrap().root);
            assert_eq!(root.to_json(), expected, "{base} {patch}");
        }
    }

    #[test]
    fn anchors_do_not_grow_without_bound() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..9 {
            let of = format!("*a{}", i - 1);
            text += &format!("a{i}: &a{i} [{}]\n", [of.as_str(); 10].join(", "));
        }
        assert!(read(&text).is_err());
        assert!(read("a: &a [*a]\n").is_err());
    }
}
