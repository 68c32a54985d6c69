//! What is wrong with a rule file.

use super::expr::Flaw;
use crate::text::{Position, Span, position};

/// One error, at its place in the rule file; shown as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{}:{}: {message}", .position.line, .position.column)]
pub struct RuleError {
    pub path: String,
    pub position: Position,
    /// In bytes of the file's text.
    pub span: Span,
    pub message: String,
}

impl RuleError {
    pub(super) fn new(path: &str, text: &str, flaw: Flaw) -> RuleError {
        let at = position(text, flaw.span.start);
        RuleError { path: path.to_owned(), position: at, span: flaw.span, message: flaw.message }
    }
}
