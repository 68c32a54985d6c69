//! JSON Schemas of the machine output, as printed by `nodevet schema`.

use crate::names;

const SCHEMAS: [(&str, &str); 2] =
    [("check", include_str!("schema/check.json")), ("facts", include_str!("schema/facts.json"))];

/// A document that has no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no schema `{name}`{}: there are check and facts", .nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default())]
pub struct NoSuchSchema {
    pub name: String,
    pub nearest: Option<&'static str>,
}

/// The schema of one document.
pub fn schema(name: &str) -> Result<&'static str, NoSuchSchema> {
    SCHEMAS.iter().find(|s| s.0 == name).map(|s| s.1).ok_or_else(|| NoSuchSchema {
        name: name.to_owned(),
        nearest: names::nearest(name, SCHEMAS.iter().map(|s| s.0)),
    })
}

pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|s| s.0)
}
