//! From `a.b` or `a["b"]` as written to a declared fact or a column.

use super::Flaw;
use super::ast::{Expr, Kind};
use super::check::Scope;
use super::term::Ref;
use crate::fact::Type;
use crate::names;
use crate::text::Span;

/// The words of `a.b["c"]`; `None` for anything else.
fn words(expr: &Expr) -> Option<Vec<(String, Span)>> {
    match &expr.kind {
        Kind::Name(name) => Some(vec![(name.clone(), expr.span)]),
        Kind::Field(on, word) => {
            let mut list = words(on)?;
            list.push((word.text.clone(), word.span));
            Some(list)
        }
        Kind::Index(on, at) => {
            let Kind::Text(text) = &at.kind else { return None };
            let mut list = words(on)?;
            list.push((text.clone(), at.span));
            Some(list)
        }
        _ => None,
    }
}

/// What a path stands for; `None` when the expression is no path at all.
pub(super) fn resolve(expr: &Expr, scope: &Scope) -> Option<Result<Ref, Flaw>> {
    let words = words(expr)?;
    let names: Vec<&str> = words.iter().map(|(w, _)| w.as_str()).collect();
    Some(find(&names, scope).map_err(|(message, from)| {
        let start = words.get(from).map_or(expr.span.start, |(_, span)| span.start);
        Flaw::new(Span::new(start, expr.span.end), message)
    }))
}

/// Resolves a dotted name, as labels, fixes and messages write it.
pub(crate) fn dotted(name: &str, scope: &Scope) -> Result<Ref, String> {
    let words: Vec<&str> = name.split('.').collect();
    find(&words, scope).map_err(|(message, _)| message)
}

/// The error carries the index of the word at which it begins.
fn find(words: &[&str], scope: &Scope) -> Result<Ref, (String, usize)> {
    let whole = words.join(".");
    if let Some((table, row, columns)) = scope.row().filter(|(_, row, _)| words.first() == Some(row)) {
        let known = || columns.iter().map(|c| c.name);
        return match words {
            [_, column] => match names::column(table, column) {
                Some((index, _)) => Ok(Ref::Cell(u16::try_from(index).unwrap_or(u16::MAX))),
                None => Err((unknown(column, &format!("`{row}` has no column"), known()), 1)),
            },
            [_] => Err((format!("`{row}` is a row; name a column: {}", list(known())), 0)),
            _ => Err((format!("`{row}.{}` has no fields", words[1]), 2)),
        };
    }
    for length in (1..=words.len()).rev() {
        let Some(id) = names::find(&words[..length].join(".")) else { continue };
        if length == words.len() {
            return Ok(Ref::Fact(id));
        }
        let name = id.decl().name;
        return Err(match &id.decl().ty {
            Type::Table { row, .. } => (
                format!("`{name}` is a table: say each = \"{name}\", then `{row}.{}`", words[length]),
                length,
            ),
            _ => (format!("`{name}` has no fields"), length),
        });
    }
    if let Some((table, row)) = other_row(words[0]) {
        return Err((format!("`{row}` is a row of `{table}`: say each = \"{table}\""), 0));
    }
    let columns: Vec<String> = scope.row().map_or(Vec::new(), |(_, row, columns)| {
        columns.iter().map(|c| format!("{row}.{}", c.name)).collect()
    });
    let facts = names::all().map(|id| id.decl().name);
    Err((unknown(&whole, "no fact", facts.chain(columns.iter().map(String::as_str))), 0))
}

fn other_row(word: &str) -> Option<(&'static str, &'static str)> {
    names::all().find_map(|id| match &id.decl().ty {
        Type::Table { row, .. } if *row == word => Some((id.decl().name, *row)),
        _ => None,
    })
}

fn unknown<'a>(name: &str, what: &str, known: impl Iterator<Item = &'a str>) -> String {
    match names::nearest(name, known) {
        Some(near) => format!("{what} `{name}`; did you mean `{near}`?"),
        None => format!("{what} `{name}`"),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
