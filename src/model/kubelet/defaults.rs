//! The documented defaults, as the files that would say them.
//! Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go, cmd/kubelet/app/options/options.go
//! (applyLegacyDefaults), pkg/kubelet/eviction/defaults_linux.go; measured on 1.28.15 to 1.36.3.

mod rows;

use super::effective::Effective;
use super::fields::compare;
use super::schema::find;
use crate::fact::{Known, Layer, Origin, Said, Value};
use crate::model::Reader;
use crate::text::{Place, Span};
use rows::{Plain, ROWS};
use std::ops::Range;
use std::sync::Arc;

/// The texts, with the minor versions that they are of.
const TEXTS: [(&str, &str, Range<u32>); 5] = [
    ("default:kubelet", include_str!("defaults.yaml"), 0..u32::MAX),
    ("default:kubelet-1.35", "failCgroupV1: true\n", 35..u32::MAX),
    (
        "default:kubelet-1.29",
        "evictionHard:\n  memory.available: 100Mi\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\n  \
         imagefs.available: 15%\n",
        0..30,
    ),
    (FLAGS, include_str!("flag-defaults.yaml"), 0..u32::MAX),
    ("default:kubelet-1.23", "containerRuntimeEndpoint: unix:///var/run/dockershim.sock\n", 0..24),
];

/// The text of what holds without a file of `--config`.
const FLAGS: &str = "default:kubelet-flags";

/// A default, as a statement.
#[derive(Debug, PartialEq, Eq)]
struct Default {
    path: &'static [&'static str],
    said: [Said; 1],
    /// Minor versions.
    of: Range<u32>,
    /// Only without a file.
    flags: bool,
}

/// All defaults, by field; of one field the first that holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table(Vec<Default>);

impl Table {
    /// `near` is what labels of a default point at where the field is not written.
    pub(super) fn new(reader: &mut dyn Reader, near: Option<Place>) -> Arc<Table> {
        let mut table = Vec::with_capacity(ROWS.len());
        let mut sources = TEXTS.iter().map(|(name, text, _)| reader.default(name, text));
        let sources: [_; TEXTS.len()] = std::array::from_fn(|_| sources.next());
        let mut at = [0; TEXTS.len()];
        for (index, path, value) in ROWS {
            let (name, text, of) = &TEXTS[*index];
            let (Some(source), Some(span)) = (sources[*index], span(text, at[*index], path)) else {
                continue;
            };
            at[*index] = span.end;
            let value = match value {
                Plain::Bool(is) => Value::Bool(*is),
                Plain::Int(number) => Value::Int(*number),
                Plain::Text(text) => Value::text(*text),
                Plain::Pods => Value::List(vec![Value::text("pods")]),
            };
            // the endpoint was a flag before it was a field
            let since = match find(path) {
                Some((_, since)) if path[0] != "containerRuntimeEndpoint" => since,
                _ => 0,
            };
            // 1.29 and before have thresholds of their own
            let since = if *index == 0 && path[0] == "evictionHard" { 30 } else { since };
            let origin = Origin { near, ..Origin::new(Layer::Default, Place { source, span }) };
            let of = of.start.max(since)..of.end;
            table.push(Default { path, said: [Said { value, origin }], of, flags: *name == FLAGS });
        }
        // stable: what is more special comes before the text of all versions
        table.reverse();
        table.sort_by(|a, b| compare(a.path, b.path));
        Arc::new(Table(table))
    }
}

/// Where a text says the value of a field, sought from an offset on.
fn span(text: &str, from: usize, path: &[&str]) -> Option<Span> {
    let name = path.last()?;
    let begins = |at: &usize| text[..*at].ends_with(['\n', ' ', '{']) || *at == 0;
    let ends = |at: usize| text[at + name.len()..].starts_with(": ");
    let mut names = text[from..].match_indices(name).map(|(at, _)| from + at);
    let at = names.find(|at| begins(at) && ends(*at))? + name.len() + 2;
    let length = text[at..].find(['\n', ',', '}']).unwrap_or(text.len() - at);
    Some(Span::new(at, at + length))
}

/// What a configuration falls back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Defaults {
    table: Arc<Table>,
    minor: u32,
    /// There is no file: the flags have less careful defaults.
    flags: bool,
    /// The thresholds of eviction, which loading the file lays.
    eviction: bool,
}

impl Defaults {
    pub(super) fn get(&self, path: &[impl AsRef<str>]) -> Option<&[Said]> {
        let from = self.table.0.partition_point(|default| compare(default.path, path).is_lt());
        let mut same = self.table.0[from..].iter().take_while(|default| compare(default.path, path).is_eq());
        same.find(|default| self.holds(default)).map(|default| default.said.as_slice())
    }

    /// All that hold, in the order of their fields.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static [&'static str], &Said)> {
        let mut last: Option<&[&str]> = None;
        self.table.0.iter().filter(|default| self.holds(default)).filter_map(move |default| {
            let again = last.replace(default.path) == Some(default.path);
            (!again).then_some((default.path, &default.said[0]))
        })
    }

    /// The defaults of a map's keys.
    pub(super) fn below(&self, path: &[&str]) -> Vec<(&'static str, &Said)> {
        let from = self.table.0.partition_point(|default| compare(default.path, path).is_lt());
        let inside = self.table.0[from..].iter().take_while(|default| default.path.starts_with(path));
        let keys = inside.filter(|default| self.holds(default)).filter_map(|default| {
            let [key] = default.path.get(path.len()..)? else { return None };
            Some((*key, &default.said[0]))
        });
        keys.collect()
    }

    fn holds(&self, default: &Default) -> bool {
        default.of.contains(&self.minor)
            && (self.flags || !default.flags)
            && (self.eviction || default.path[0] != "evictionHard")
    }
}

/// What a field holds when nothing is said: it then counts as unset.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(is) => !is,
        Value::Int(number) => *number == 0,
        Value::Text(text) => text.is_empty() || &**text == "0s",
        Value::List(items) => items.is_empty(),
    }
}

/// How defaults are laid.
pub(super) struct Fill {
    pub table: Arc<Table>,
    pub minor: u32,
}

impl Fill {
    /// What loading the file of `--config` lays: SetDefaults, and the thresholds of eviction unless
    /// the file gives some.
    pub(super) fn file(&self, config: &mut Effective) {
        let merged = config.value(&["mergeDefaultEvictionSettings"]);
        let merged = matches!(merged, Known::Is(Value::Bool(true)));
        let eviction = merged || !config.maps.contains_key(["evictionHard".to_owned()].as_slice());
        self.lay(config, false, eviction);
    }

    /// Without a file.
    pub(super) fn flags(&self, config: &mut Effective) {
        self.lay(config, true, false);
    }

    /// SetDefaults once more, after drop-ins: thresholds stay as they are.
    pub(super) fn again(&self, config: &mut Effective) {
        self.lay(config, false, false);
    }

    fn lay(&self, config: &mut Effective, flags: bool, eviction: bool) {
        let defaults = Defaults { table: Arc::clone(&self.table), minor: self.minor, flags, eviction };
        // a zero value that is no pointer counts as unset
        for (path, said) in config.said.iter_mut() {
            let Some(default) = defaults.get(path).and_then(<[Said]>::first) else { continue };
            let pointer = find(path).is_some_and(|(field, _)| field.pointer);
            if pointer || is_zero(&default.value) || !said.last().is_some_and(|last| is_zero(&last.value)) {
                continue;
            }
            let Some(zero) = said.pop() else { continue };
            // what stood before it stays overridden
            let layer = if said.is_empty() { Layer::Default } else { zero.origin.layer };
            said.push(near(default, zero.origin.place, layer));
        }
        let nulls: Vec<_> = config.near.iter().map(|(path, place)| (path.clone(), *place)).collect();
        for (path, place) in nulls {
            if let Some(default) = defaults.get(&path).and_then(<[Said]>::first)
                && config.said.get(&path).is_none_or(Vec::is_empty)
            {
                let said = near(default, place, Layer::Default);
                config.said.entry(&path).push(said);
            }
        }
        self.dynamic(config);
        config.defaults = Some(defaults);
    }

    /// Defaults that follow from another field.
    fn dynamic(&self, config: &mut Effective) {
        let mut follow = |from: &str, to: &str, value: fn(&Value) -> Option<Value>| {
            let Some(said) = config.said.get(&[from]).and_then(|said| said.last()) else { return };
            if let Some(value) = value(&said.value) {
                let origin = said.origin.clone();
                let field = config.said.entry(&[to]);
                if field.is_empty() {
                    field.push(Said { value, origin });
                }
            }
        };
        follow("nodeStatusUpdateFrequency", "nodeStatusReportFrequency", |often| {
            (!is_zero(often)).then(|| often.clone())
        });
        if self.minor >= 30 {
            follow("maxParallelImagePulls", "serializeImagePulls", |pulls| {
                matches!(pulls, Value::Int(2..)).then_some(Value::Bool(false))
            });
        }
    }
}

/// A default where a field is written that says nothing.
fn near(default: &Said, place: Place, layer: Layer) -> Said {
    let origin = Origin { near: Some(place), layer, ..default.origin.clone() };
    Said { value: default.value.clone(), origin }
}

#[cfg(test)]
mod tests {
    use super::super::decode::{Decoder, Keys};
    use super::super::duration;
    use super::super::schema::{Field, Kind};
    use super::super::tree;
    use super::*;
    use crate::model::Captured;
    use crate::text::{Kind as Text, Sources};

    #[test]
    fn the_rows_say_what_the_texts_say() {
        for (index, (name, text, _)) in TEXTS.iter().enumerate() {
            let id = Sources::default().add("", Text::Default, "");
            let file = Captured { id, text: (*text).into(), invalid_utf8: None };
            let loaded = tree::load(&file, Layer::File).unwrap();
            let mut config = Effective::default();
            let mut ignored = Vec::new();
            Decoder { keys: Keys::Exact, minor: u32::MAX, into: &mut config, ignored: &mut ignored }
                .file(&loaded.root)
                .unwrap();
            assert_eq!(ignored, [], "{name}");
            let mut at = 0;
            let mut rows = 0;
            for (_, path, value) in ROWS.iter().filter(|(text, ..)| *text == index) {
                let span = span(text, at, path).unwrap();
                at = span.end;
                rows += 1;
                let said = config.said.get(path).unwrap().last().unwrap();
                assert_eq!(said.origin.place.span, span, "{path:?}");
                let shown = match value {
                    Plain::Bool(is) => is.to_string(),
                    Plain::Int(number) => number.to_string(),
                    Plain::Text(text) => (*text).to_owned(),
                    Plain::Pods => "pods".to_owned(),
                };
                assert_eq!(said.value.to_string(), shown, "{path:?}");
                if let Some((Field { kind: Kind::Duration, .. }, _)) = find(path) {
                    assert_eq!(duration::parse(&shown).map(duration::print), Some(shown));
                }
            }
            assert_eq!(config.said.into_iter().count(), rows, "{name}");
        }
    }
}
