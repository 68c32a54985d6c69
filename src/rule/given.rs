//! The facts of an example: values put in directly.

use super::expr::Flaw;
use super::expr::check::stranger;
use super::file::ExampleFile;
use super::raw::{Raw, RawKind, Text};
use crate::fact::{Decl, Type, Value};
use crate::names::{self, FactId};
use crate::version::Version;

/// A value of an example.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Value(Value),
    /// Cells in the order of the declared columns; what is not mentioned is absent.
    Rows(Vec<Vec<Option<Value>>>),
    /// Named in `unread`.
    Unread,
}

/// All facts that an example mentions, in the order written.
pub(super) fn given(example: &ExampleFile, flaws: &mut Vec<Flaw>) -> Vec<(FactId, Given)> {
    let mut facts = Vec::new();
    for (key, raw) in &example.facts {
        walk(&key.text, key, raw, &mut facts, flaws);
    }
    for name in &example.unread {
        match names::find(&name.text) {
            Some(id) => facts.push((id, Given::Unread)),
            None => flaws.push(Flaw::new(name.span, unknown(&name.text))),
        }
    }
    facts
}

fn unknown(name: &str) -> String {
    let near = names::nearest(name, names::all().map(|id| id.decl().name));
    let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    format!("no fact `{name}`{hint}")
}

/// `kubelet.version = …` is a table in a table for TOML.
fn walk(name: &str, key: &Text, raw: &Raw, facts: &mut Vec<(FactId, Given)>, flaws: &mut Vec<Flaw>) {
    match (names::find(name), &raw.kind) {
        (Some(id), _) => {
            if let Some(given) = value(id.decl(), name, raw, flaws) {
                facts.push((id, given));
            }
        }
        (None, RawKind::Table(entries)) => {
            for (key, raw) in entries {
                walk(&format!("{name}.{}", key.text), key, raw, facts, flaws);
            }
        }
        (None, _) => flaws.push(Flaw::new(key.span, unknown(name))),
    }
}

fn value(decl: &Decl, name: &str, raw: &Raw, flaws: &mut Vec<Flaw>) -> Option<Given> {
    let Type::Table { columns, .. } = &decl.ty else {
        return scalar(&decl.ty, name, raw, flaws).map(Given::Value);
    };
    let RawKind::List(items) = &raw.kind else {
        flaws.push(Flaw::new(
            raw.span,
            format!("`{name}` is a list of rows, this is {}", raw.kind.describe()),
        ));
        return None;
    };
    let rows = items.iter().filter_map(|item| row(columns, name, item, flaws)).collect();
    Some(Given::Rows(rows))
}

fn row(columns: &[Decl], table: &str, raw: &Raw, flaws: &mut Vec<Flaw>) -> Option<Vec<Option<Value>>> {
    let RawKind::Table(entries) = &raw.kind else {
        flaws.push(Flaw::new(
            raw.span,
            format!("a row of `{table}` is a table, this is {}", raw.kind.describe()),
        ));
        return None;
    };
    let mut cells = vec![None; columns.len()];
    for (key, raw) in entries {
        match columns.iter().position(|c| c.name == key.text) {
            Some(at) => cells[at] = scalar(&columns[at].ty, &key.text, raw, flaws),
            None => {
                let near = names::nearest(&key.text, columns.iter().map(|c| c.name));
                let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
                flaws.push(Flaw::new(key.span, format!("`{table}` has no column `{}`{hint}", key.text)));
            }
        }
    }
    Some(cells)
}

fn scalar(ty: &Type, name: &str, raw: &Raw, flaws: &mut Vec<Flaw>) -> Option<Value> {
    match (&raw.kind, ty) {
        (RawKind::Bool(b), Type::Bool) => return Some(Value::Bool(*b)),
        (RawKind::Int(i), Type::Int) => return Some(Value::Int(*i)),
        (RawKind::Text(text), Type::Text | Type::OneOf(_) | Type::Version) => {
            if let Type::OneOf(set) = ty
                && let Some(message) = stranger(&text.text, set, Some(name))
            {
                flaws.push(Flaw::new(raw.span, message));
            } else if matches!(ty, Type::Version) && Version::parse(&text.text).is_none() {
                flaws.push(Flaw::new(raw.span, format!("`{}` is not a version", text.text)));
            }
            return Some(Value::text(text.text.as_str()));
        }
        (RawKind::List(items), Type::List(inner)) => {
            return items
                .iter()
                .map(|i| scalar(inner, name, i, flaws))
                .collect::<Option<_>>()
                .map(Value::List);
        }
        _ => {}
    }
    flaws.push(Flaw::new(raw.span, format!("`{name}` is not {}", raw.kind.describe())));
    None
}
