//! From the JSON of a file to fields: types are checked, unknown fields dropped and told.

use super::duration;
use super::effective::{Effective, Path};
use super::schema::{FIELDS, Field, Kind, PATHS};
use super::tree::{Json, Tree};
use crate::fact::{Layer, Said, Value};
use crate::model::containerd::paths;
use crate::model::yaml::SyntaxError;
use crate::text::Place;

/// How keys find their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// The decoder of Kubernetes: exactly as the file spells them.
    Exact,
    /// Go's encoding/json: exactly, else whatever the case.
    Folded,
    /// The same, over the names of the internal object.
    Internal,
}

/// A key that was read and dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    pub path: Path,
    pub place: Place,
    pub reason: Reason,
    /// It stands in a drop-in.
    pub drop_in: bool,
}

/// Why a key counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No field of this version has the name.
    UnknownField,
    /// It differs in case from this field.
    WrongCase(&'static str),
    /// Written again further down.
    Repeated,
    /// In a document behind the first.
    LaterDocument,
    /// 1.28 takes false, 0 and the like of a drop-in for unset.
    ZeroValue,
    /// 1.29 to 1.31 know this field of a drop-in by its internal name only, another name than the file's.
    InternalName(&'static str),
}

/// A value of the wrong type, which stops the kubelet; the place is the value's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrongType {
    pub place: Place,
    pub message: String,
}

impl From<WrongType> for SyntaxError {
    fn from(wrong: WrongType) -> SyntaxError {
        SyntaxError { span: wrong.place.span, message: wrong.message }
    }
}

/// Decodes into a configuration that may already say something.
pub(super) struct Decoder<'a> {
    pub keys: Keys,
    /// Minor version of 1.x.
    pub minor: u32,
    pub into: &'a mut Effective,
    pub ignored: &'a mut Vec<Ignored>,
}

impl Decoder<'_> {
    /// All fields of a file.
    pub(super) fn file(&mut self, root: &Tree) -> Result<(), WrongType> {
        self.object(FIELDS, root, &mut Vec::new())
    }

    fn object(&mut self, fields: &'static [Field], tree: &Tree, path: &mut Path) -> Result<(), WrongType> {
        let entries = match &tree.json {
            Json::Map(entries) => entries,
            // Go leaves a struct as it is
            Json::Null => return Ok(()),
            _ => return Err(wrong(path, tree, "a map")),
        };
        for (key, value) in entries {
            if path.is_empty() && matches!(key.as_str(), "apiVersion" | "kind") {
                continue;
            }
            match self.find(fields, key) {
                Some(field) => {
                    path.push(field.name.to_owned());
                    self.field(field, value, path)?;
                    path.pop();
                }
                None => {
                    let like = |field: &&Field| field.since <= self.minor && alike(field.name, key);
                    let reason = match fields.iter().find(like) {
                        Some(field) => Reason::WrongCase(field.name),
                        None => Reason::UnknownField,
                    };
                    let internal = |field: &&Field| self.keys == Keys::Internal && field.name == key;
                    let reason = match fields.iter().find(internal) {
                        Some(field) => Reason::InternalName(field.go),
                        None => reason,
                    };
                    let path = path.iter().chain([key]).cloned().collect();
                    let drop_in = value.origin.layer == Layer::DropIn;
                    // defaults and merged values come by twice
                    if value.origin.layer != Layer::Default {
                        self.ignored.push(Ignored { path, place: value.key, reason, drop_in });
                    }
                }
            }
        }
        Ok(())
    }

    fn find(&self, fields: &'static [Field], key: &str) -> Option<&'static Field> {
        let name = |field: &Field| if self.keys == Keys::Internal { field.go } else { field.name };
        let has = |field: &&Field| field.since <= self.minor;
        let exact = fields.iter().filter(has).find(|field| name(field) == key);
        match self.keys {
            Keys::Exact => exact,
            _ => exact.or_else(|| fields.iter().filter(has).find(|field| alike(name(field), key))),
        }
    }

    fn field(&mut self, field: &'static Field, tree: &Tree, path: &mut Path) -> Result<(), WrongType> {
        let value = match (field.kind, &tree.json) {
            (Kind::Struct(fields), _) => return self.object(fields, tree, path),
            (Kind::TextMap | Kind::BoolMap | Kind::TextsMap, json) => {
                return self.map(field, json, tree, path);
            }
            (Kind::Duration, Json::Null) if !field.pointer => {
                return Err(WrongType {
                    place: tree.origin.place,
                    message: format!("{} is null, which is not a duration", path.join(".")),
                });
            }
            // nothing is said, a pointer or a list falls back to nothing
            (_, Json::Null) => {
                if self.keys == Keys::Exact {
                    self.into.near.insert(path.clone(), tree.origin.place);
                }
                return Ok(());
            }
            (Kind::Bool, Json::Bool(is)) => Value::Bool(*is),
            (Kind::Int32, Json::Int(number)) if i32::try_from(*number).is_ok() => Value::Int(*number),
            (Kind::Int64, Json::Int(number)) => Value::Int(*number),
            (Kind::Float, Json::Int(_) | Json::Float(_)) => tree.value(),
            (Kind::Text, Json::Text(text)) => Value::text(text.as_str()),
            (Kind::Duration, Json::Text(text)) => match duration::parse(text) {
                Some(nanoseconds) => Value::text(duration::print(nanoseconds)),
                None => {
                    return Err(WrongType {
                        place: tree.origin.place,
                        message: format!("{} is {text:?}, which is not a duration", path.join(".")),
                    });
                }
            },
            (Kind::Texts, Json::List(items)) => {
                for item in items {
                    if !matches!(item.json, Json::Text(_) | Json::Null) {
                        return Err(wrong(path, item, "a list of texts"));
                    }
                }
                let said = |item: &Tree| Said { value: item.value(), origin: item.origin.clone() };
                self.into.elements.insert(path.clone(), items.iter().map(said).collect());
                tree.value()
            }
            (Kind::Ints, Json::List(items)) => {
                if let Some(item) = items.iter().find(|i| !matches!(i.json, Json::Int(_))) {
                    return Err(wrong(path, item, "a list of numbers"));
                }
                tree.value()
            }
            (Kind::Any, _) => tree.value(),
            (kind, _) => return Err(wrong(path, tree, kind.name())),
        };
        self.say(path, tree, value);
        Ok(())
    }

    fn map(&mut self, field: &Field, json: &Json, tree: &Tree, path: &mut Path) -> Result<(), WrongType> {
        let entries = match json {
            Json::Map(entries) => entries,
            Json::Null => {
                if self.keys == Keys::Exact {
                    self.into.near.insert(path.clone(), tree.origin.place);
                }
                return Ok(());
            }
            _ => return Err(wrong(path, tree, "a map")),
        };
        self.into.maps.insert(path.clone(), tree.key);
        for (key, entry) in entries {
            let value = match (field.kind, &entry.json) {
                (Kind::TextMap, Json::Text(text)) => Value::text(text.as_str()),
                (Kind::TextMap, Json::Null) => Value::text(""),
                (Kind::BoolMap, Json::Bool(is)) => Value::Bool(*is),
                (Kind::BoolMap, Json::Null) => Value::Bool(false),
                (Kind::TextsMap, Json::List(_) | Json::Null) => entry.value(),
                (kind, _) => {
                    path.push(key.clone());
                    return Err(wrong(path, entry, kind.name()));
                }
            };
            path.push(key.clone());
            self.say(path, entry, value);
            path.pop();
        }
        Ok(())
    }

    fn say(&mut self, path: &Path, tree: &Tree, value: Value) {
        let said = Said { value, origin: tree.origin.clone() };
        let statements = self.into.said.entry(path);
        if statements.is_empty() {
            statements.clone_from(&tree.over);
        }
        if statements.last() == Some(&said) {
            return;
        }
        // a drop-in's key of another case comes before the file's own, which wins
        while let Some(lost) = statements.pop_if(|last| last.origin.layer > said.origin.layer) {
            if let Some((field, _)) = super::schema::find(path) {
                self.ignored.push(Ignored {
                    path: lost.origin.written.to_vec(),
                    place: lost.origin.place,
                    reason: Reason::WrongCase(field.name),
                    drop_in: true,
                });
            }
        }
        statements.push(said);
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Bool => "a boolean",
            Kind::Int32 => "an integer of 32 bits",
            Kind::Int64 => "an integer of 64 bits",
            Kind::Float => "a number",
            Kind::Text | Kind::TextMap => "a text",
            Kind::Duration => "a duration in quotes",
            Kind::Ints => "a list of numbers",
            Kind::Texts | Kind::TextsMap => "a list of texts",
            Kind::BoolMap => "a boolean",
            Kind::Struct(_) | Kind::Any => "a map",
        }
    }
}

fn wrong(path: &Path, tree: &Tree, wanted: &str) -> WrongType {
    let met = match &tree.json {
        Json::Bool(_) | Json::Int(_) | Json::Float(_) => {
            format!("{} {}", tree.json.type_name(), tree.value())
        }
        json => json.type_name().to_owned(),
    };
    WrongType { place: tree.origin.place, message: format!("{} is {met}, not {wanted}", path.join(".")) }
}

/// Whether two keys are one to Go's encoding/json: two letters outside ASCII fold into it.
pub(super) fn alike(name: &str, key: &str) -> bool {
    let fold = |c: char| match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    match key.is_ascii() {
        true => name.eq_ignore_ascii_case(key),
        false => name.chars().map(fold).eq(key.chars().map(fold)),
    }
}

/// Relative paths of a file count from its directory.
pub(super) fn absolute_paths(config: &mut Effective, dir: &str, layer: Layer) {
    for names in PATHS {
        let path: Path = names.iter().map(|name| (*name).to_owned()).collect();
        if let Some(said) = config.said.get_mut(&path).and_then(|said| said.last_mut())
            && said.origin.layer == layer
            && let Value::Text(text) = &said.value
            && !text.is_empty()
            && !text.starts_with('/')
        {
            said.value = Value::text(paths::join(dir, text));
        }
    }
}
