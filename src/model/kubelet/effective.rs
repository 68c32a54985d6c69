//! A whole KubeletConfiguration as it is in force: for each field what was said of it, in order.

use super::defaults::Defaults;
use super::fields::Fields;
use crate::fact::{Known, Origin, Said, Value, Why};
use crate::text::Place;
use std::collections::BTreeMap;

/// The names of a field, outermost first, as the v1beta1 file spells them; for a map its key is the last.
pub type Path = Vec<String>;

/// What is in force, and what it overrode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// Statements, weakest first: the last is in force.
    pub(super) said: Fields,
    /// What holds where nothing is said; none before a source that could not be read.
    pub(super) defaults: Option<Defaults>,
    /// A source that could not be read: what nothing after it says is not known.
    pub(super) covered: Option<Why>,
    /// Maps that are written, were they empty: where their keys stand.
    pub(super) maps: BTreeMap<Path, Place>,
    /// Elements of lists, of those in force.
    pub(super) elements: BTreeMap<Path, Vec<Said>>,
    /// Where a field is written that then says nothing (`null`): labels of its default point there.
    pub(super) near: BTreeMap<Path, Place>,
}

impl Effective {
    /// The source that could not be read, if there is one.
    pub fn covered(&self) -> Option<&Why> {
        self.covered.as_ref()
    }

    /// The elements of a list, each with its place.
    pub fn elements(&self, path: &[&str]) -> Known<Vec<Said>> {
        let Known::Is(said) = self.statements(path) else {
            return self.statements(path).map(<[Said]>::to_vec);
        };
        let Some(last) = said.last() else { return Known::ABSENT };
        let key: Path = path.iter().map(|name| (*name).to_owned()).collect();
        match (&last.value, self.elements.get(&key)) {
            (Value::List(items), Some(elements)) if elements.len() == items.len() => {
                Known::Is(elements.clone())
            }
            (Value::List(items), _) => {
                let one = |value: &Value| Said { value: value.clone(), origin: last.origin.clone() };
                Known::Is(items.iter().map(one).collect())
            }
            _ => Known::Is(said.to_vec()),
        }
    }

    /// Writes out all defaults, as what drop-ins are laid over holds them.
    pub(super) fn with_defaults(mut self) -> Effective {
        if let Some(defaults) = self.defaults.take() {
            for (path, default) in defaults.all() {
                let said = self.said.entry(path);
                if said.is_empty() {
                    said.push(default.clone());
                }
            }
        }
        self
    }

    /// All statements about a field, weakest first.
    pub fn statements(&self, path: &[&str]) -> Known<&[Said]> {
        match (self.find(path), &self.covered) {
            (Some(said), _) if !said.is_empty() => Known::Is(said),
            (_, Some(why)) => Known::Unknown(why.clone()),
            _ => Known::ABSENT,
        }
    }

    /// The value in force; absent when it is the zero value and said nowhere.
    pub fn value(&self, path: &[&str]) -> Known<&Value> {
        match self.statements(path) {
            Known::Is(said) => said.last().map_or(Known::ABSENT, |last| Known::Is(&last.value)),
            Known::Absent(note) => Known::Absent(note),
            Known::Unknown(why) => Known::Unknown(why),
        }
    }

    /// A boolean; the zero value when nothing says it.
    pub fn bool(&self, path: &[&str]) -> Known<bool> {
        self.or_zero(path, |value| value.as_bool().unwrap_or_default())
    }

    /// A number; the zero value when nothing says it.
    pub fn int(&self, path: &[&str]) -> Known<i64> {
        self.or_zero(path, |value| value.as_int().unwrap_or_default())
    }

    /// A text; empty when nothing says it.
    pub fn text(&self, path: &[&str]) -> Known<String> {
        self.or_zero(path, |value| value.as_text().unwrap_or_default().to_owned())
    }

    /// The texts of a list; empty when nothing says it.
    pub fn list(&self, path: &[&str]) -> Known<Vec<String>> {
        self.or_zero(path, |value| match value {
            Value::List(items) => items.iter().map(Value::to_string).collect(),
            other => vec![other.to_string()],
        })
    }

    /// The entries of a map with what was said of each, by key. Maps are never part covered: of one
    /// that an unread source may have set nothing is known.
    pub fn entries(&self, path: &[&str]) -> Known<Vec<(&str, &Said)>> {
        if let Some(why) = &self.covered {
            return Known::Unknown(why.clone());
        }
        let said = self.said.below(path).into_iter().filter_map(|(key, said)| Some((key, said.last()?)));
        let mut found: Vec<(&str, &Said)> = said.collect();
        for (key, said) in self.defaults.iter().flat_map(|defaults| defaults.below(path)) {
            if let Err(place) = found.binary_search_by(|(known, _)| (*known).cmp(key)) {
                found.insert(place, (key, said));
            }
        }
        Known::Is(found)
    }

    /// Where the value in force was said.
    pub fn origin(&self, path: &[&str]) -> Option<&Origin> {
        Some(&self.find(path)?.last()?.origin)
    }

    fn find(&self, path: &[&str]) -> Option<&[Said]> {
        let said = self.said.get(path).map(Vec::as_slice).filter(|said| !said.is_empty());
        said.or_else(|| self.defaults.as_ref()?.get(path))
    }

    fn or_zero<T: Default>(&self, path: &[&str], read: impl FnOnce(&Value) -> T) -> Known<T> {
        match self.value(path) {
            Known::Is(value) => Known::Is(read(value)),
            Known::Absent(_) => Known::Is(T::default()),
            Known::Unknown(why) => Known::Unknown(why),
        }
    }
}

/// How far a start gets: the stages of upstream's cmd/kubelet/app/server.go up to the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Flags,
    ConfigLoad,
    DropIn,
    FeatureGates,
    Validate,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Flags => "flags",
            Stage::ConfigLoad => "config-load",
            Stage::DropIn => "drop-in",
            Stage::FeatureGates => "feature-gates",
            Stage::Validate => "validate",
        }
    }
}

/// Something that stops the kubelet before it asks the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub stage: Stage,
    /// What is true, with the values.
    pub message: String,
    pub origin: Origin,
    /// A file that is named is not there.
    pub missing: bool,
}
