//! Texts with `${fact}` in them.

use super::expr::{Facts, Flaw, Ref, Scope};
use crate::fact::Known;
use crate::text::Span;
use serde::{Deserialize, Serialize};

/// A text with places to fill in. `$${` stands for `${`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Piece {
    Text(String),
    Slot(Ref),
}

impl Template {
    /// Flaws have spans in `text`; what is refused is left out.
    pub(super) fn parse(text: &str, scope: &Scope, flaws: &mut Vec<Flaw>) -> Template {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find("${") {
            let open = at + found;
            if text[at..open].ends_with('$') {
                pieces.push(Piece::Text(format!("{}{{", &text[at..open])));
                at = open + 2;
                continue;
            }
            if open > at {
                pieces.push(Piece::Text(text[at..open].to_owned()));
            }
            let Some(length) = text[open..].find('}') else {
                flaws.push(Flaw::new(Span::new(open, open + 2), "no `}` closes this"));
                return Template(pieces);
            };
            let name = &text[open + 2..open + length];
            match super::expr::dotted(name.trim(), scope) {
                Ok(slot) => pieces.push(Piece::Slot(slot)),
                Err(message) => flaws.push(Flaw::new(Span::new(open + 2, open + length), message)),
            }
            at = open + length + 1;
        }
        if at < text.len() {
            pieces.push(Piece::Text(text[at..].to_owned()));
        }
        Template(pieces)
    }

    /// The text, if there is nothing to fill in.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What is filled in.
    pub(super) fn slots(&self) -> impl Iterator<Item = Ref> {
        self.0.iter().filter_map(|piece| if let Piece::Slot(slot) = piece { Some(*slot) } else { None })
    }

    pub fn fill(&self, facts: &dyn Facts) -> String {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot(slot) => match facts.value(*slot) {
                    Known::Is(value) => filled.push_str(&value.to_string()),
                    Known::Absent(_) => filled.push_str("absent"),
                    Known::Unknown(_) => filled.push_str("unknown"),
                },
            }
        }
        filled
    }
}
