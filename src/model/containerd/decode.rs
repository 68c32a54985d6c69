//! From a written table to a Go struct: which spelling of a key counts, what a type mismatch does,
//! what stays of the default.

use super::generation::Keys;
use super::schema::Kind;
use super::tree::{Data, Shared, Tree, Val};
use std::rc::Rc;

/// A value of the wrong type; the daemon does not start, or the handler's pods fail.
#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    pub(super) at: Shared,
    pub(super) message: String,
}

/// How a decoder fills a struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    pub(super) keys: Keys,
    /// Keys come in byte order, scalars before tables (the table went through a Go map before);
    /// as written otherwise.
    pub(super) sorted: bool,
}

impl Decoder {
    /// For the sections of plugins.
    pub(super) fn of_plugins(keys: Keys) -> Decoder {
        Decoder { keys, sorted: keys == Keys::LastOfAnyCase }
    }
}

type Decoded = Result<Shared, Mismatch>;

impl Decoder {
    /// `said` decoded over `base`, the value that the field has already.
    pub(super) fn decode(&self, name: &str, kind: &Kind, base: Option<&Shared>, said: &Shared) -> Decoded {
        let lenient = self.keys == Keys::AnyCase;
        let value = match (kind, &said.data) {
            (Kind::Any, _) | (Kind::Bool, Data::Bool(_)) | (Kind::Text, Data::Text(_)) => said.clone(),
            (Kind::Int, Data::Int(_)) | (Kind::Float, Data::Float(_)) => said.clone(),
            (Kind::Float, Data::Int(_)) if !lenient => said.clone(),
            (Kind::Uint, Data::Int(i)) if u32::try_from(*i).is_ok() => said.clone(),
            (Kind::Uint, Data::Int(_)) => {
                return mismatch(name, said, "does not fit in 32 bits without a sign");
            }
            (Kind::Duration, Data::Text(t)) if duration(t) => said.clone(),
            (Kind::Duration, Data::Text(_)) => return mismatch(name, said, "is not a duration"),
            // 1.x reads a number as text, which then lacks its unit; 2.x takes nanoseconds
            (Kind::Duration, Data::Int(i)) if *i == 0 || self.keys == Keys::LastOfAnyCase => said.clone(),
            (Kind::Texts, Data::Array(items)) => {
                if let Some(bad) = items.iter().find(|i| i.text().is_none()) {
                    return mismatch(name, bad, &format!("holds {} where texts belong", bad.kind()));
                }
                said.clone()
            }
            (Kind::Struct(fields), Data::Table(tree)) => {
                let fields = fields.iter().map(|(name, kind)| (&**name, kind));
                return self.fill(fields, base, said, tree);
            }
            (Kind::Fixed(fields), Data::Table(tree)) => {
                let fields = fields.iter().map(|(name, kind)| (*name, kind));
                return self.fill(fields, base, said, tree);
            }
            (Kind::Map(inner), Data::Table(tree)) => return self.map(inner, base, said, tree),
            (Kind::MapOf(inner), Data::Table(tree)) => return self.map(inner, base, said, tree),
            (Kind::Free, Data::Table(tree)) => return Ok(self.free(base, said, tree)),
            // 1.4 keeps `options` unread until a pod starts, and skips what is no table where a map belongs
            (Kind::Free, _) if lenient => said.clone(),
            (Kind::Map(_) | Kind::MapOf(_), _) if lenient => {
                return Ok(base.cloned().unwrap_or_else(|| said.with(Data::Table(Tree::default()))));
            }
            _ => return mismatch(name, said, &format!("is {}, not {}", said.kind(), wanted(kind))),
        };
        Ok(base.map_or_else(|| value.clone(), |old| value.over(old)))
    }

    fn fill<'k>(
        &self,
        fields: impl Iterator<Item = (&'k str, &'k Kind)>,
        base: Option<&Shared>,
        said: &Shared,
        tree: &Tree,
    ) -> Decoded {
        let mut filled = base.and_then(|b| b.table()).cloned().unwrap_or_default();
        let order = self.order(tree);
        if order.is_empty() {
            return Ok(said.with(Data::Table(filled)));
        }
        for (index, (field, kind)) in fields.enumerate() {
            let mut apply = |value: &Shared| {
                // mostly the fields are those of the default, in its order
                let at = match filled.entries.get(index) {
                    Some((name, _)) if **name == *field => Some(index),
                    _ => filled.entries.iter().position(|(name, _)| **name == *field),
                };
                let old = at.and_then(|at| filled.entries.get(at)).map(|(_, old)| old);
                let new = self.decode(field, kind, old, value)?;
                match at.and_then(|at| filled.entries.get_mut(at)) {
                    Some((_, old)) => *old = new,
                    None => filled.entries.push((Rc::from(field), new)),
                }
                Ok(())
            };
            if self.keys == Keys::LastOfAnyCase {
                for (_, value) in order.iter().filter(|(k, _)| k.eq_ignore_ascii_case(field)) {
                    apply(value)?;
                }
            } else if let Some(value) = self.one(field, &order) {
                apply(value)?;
            }
        }
        Ok(said.with(Data::Table(filled)))
    }

    /// The one value that goes into a field.
    fn one<'t>(&self, field: &str, order: &[&'t (Rc<str>, Shared)]) -> Option<&'t Shared> {
        let rank = |key: &str| -> Option<u8> {
            if key == field {
                return Some(0);
            }
            if !key.eq_ignore_ascii_case(field) {
                return None;
            }
            let upper = |b: u8| b.is_ascii_uppercase();
            match self.keys {
                Keys::AnyCase | Keys::LastOfAnyCase => Some(1),
                Keys::FourSpellings if !key.bytes().any(upper) => Some(1),
                Keys::FourSpellings if !key.bytes().any(|b| b.is_ascii_lowercase()) => Some(2),
                Keys::FourSpellings => {
                    let rest = key.get(1..) == field.get(1..);
                    (rest && !key.starts_with(|c: char| c.is_ascii_uppercase())).then_some(3)
                }
            }
        };
        let ranked = order.iter().filter_map(|(k, v)| rank(k).map(|r| (r, v)));
        ranked.min_by_key(|(r, _)| *r).map(|(_, v)| v)
    }

    fn map(&self, inner: &Kind, base: Option<&Shared>, said: &Shared, tree: &Tree) -> Decoded {
        let old = base.and_then(|b| b.table());
        // go-toml v1 starts with a new map; the others keep the entries that are there,
        // and only go-toml v2 decodes into them
        let mut filled = match self.keys {
            Keys::FourSpellings => Tree::default(),
            _ => old.cloned().unwrap_or_default(),
        };
        for (name, value) in &tree.entries {
            let into = match self.keys {
                Keys::LastOfAnyCase => old.and_then(|o| o.get(name)),
                _ => None,
            };
            let new = self.decode(name, inner, into, value)?;
            filled.put(name, with_beaten(new, old.and_then(|o| o.get(name)), into.is_some()));
        }
        Ok(said.with(Data::Table(filled)))
    }

    /// A map of anything: go-toml v2 adds to what is there, the others replace it.
    fn free(&self, base: Option<&Shared>, said: &Shared, tree: &Tree) -> Shared {
        let Some(old) = base.and_then(|b| b.table()) else { return said.clone() };
        if self.keys != Keys::LastOfAnyCase {
            return shadow(said, base);
        }
        let mut all = old.clone();
        for (name, value) in &tree.entries {
            let new = old.get(name).map_or_else(|| value.clone(), |o| value.over(o));
            all.put(name, new);
        }
        said.with(Data::Table(all))
    }

    fn order<'t>(&self, tree: &'t Tree) -> Vec<&'t (Rc<str>, Shared)> {
        let mut order: Vec<_> = tree.entries.iter().collect();
        if self.sorted {
            order.sort_by(|a, b| (a.1.table().is_some(), &a.0).cmp(&(b.1.table().is_some(), &b.0)));
        }
        order
    }
}

/// A statement that started from zero still overrode the one that was there.
fn with_beaten(new: Shared, old: Option<&Shared>, merged: bool) -> Shared {
    if merged { new } else { shadow(&new, old) }
}

/// `new` in place of `old`, of which nothing stays; equal paths remember what they replaced.
pub(super) fn shadow(new: &Shared, old: Option<&Shared>) -> Shared {
    let Some(old) = old else { return new.clone() };
    match (&new.data, &old.data) {
        (Data::Table(n), Data::Table(o)) => {
            let entries = n.entries.iter().map(|(k, v)| (k.clone(), shadow(v, o.get(k)))).collect();
            new.with(Data::Table(Tree { entries }))
        }
        (Data::Table(_), _) => new.clone(),
        _ => new.over(old),
    }
}

fn mismatch<T>(name: &str, at: &Rc<Val>, message: &str) -> Result<T, Mismatch> {
    Err(Mismatch { at: at.clone(), message: format!("`{name}` {message}") })
}

fn wanted(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "true or false",
        Kind::Int | Kind::Uint => "an integer",
        Kind::Float => "a number",
        Kind::Text => "a string",
        Kind::Duration => "a duration",
        Kind::Texts => "a list of strings",
        Kind::Any => "anything",
        Kind::Free | Kind::Struct(_) | Kind::Fixed(_) | Kind::Map(_) | Kind::MapOf(_) => "a table",
    }
}

/// What Go's `time.ParseDuration` takes: `1h30m`, `-1.5s`, `0`.
pub(super) fn duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let numeric = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        if !numeric || !matches!(unit, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h") {
            return false;
        }
        rest = next;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for good in ["0", "4h0m0s", "-1.5h", "100ms", ".5s", "5m0s"] {
            assert!(duration(good), "{good}");
        }
        for bad in ["", "forever", "5", "1d", "s", "1..5s", "- 1s"] {
            assert!(!duration(bad), "{bad}");
        }
    }
}
