//! The expression language of rules: a strict subset of CEL with types, spans and three-valued
//! evaluation.
//!
//! `a.b` `a["b"]` `list[0]` · `== != < <= > >=` (one per operand: no chains) · `&& || !` · `in` ·
//! `? :` · `has(fact)` · `size(x)` · `x.startsWith(y)` `endsWith` `contains` `matches` ·
//! `version(x) >= version("1.35")` · booleans, integers, text (`'…'`, `"…"`, raw `r'…'`), lists.
//!
//! One freedom over CEL: its reserved words (`import`, `package`, …) may be names of rows.
//!
//! A name is a declared fact, or a column of the row that `each` gives. Facts have three states:
//!
//! * `has(x)`: is → true, absent → false, unknown → unknown.
//! * *Unknown* follows Kleene: `unknown && false` is false, `unknown || true` is true, all else
//!   that needs the value is unknown, and the facts that were missing are named.
//! * *Absent* behaves as an error does in CEL: `absent && false` is false, `absent || true` is
//!   true, all else that needs the value is absent. Where both meet, unknown wins. A rule whose
//!   `given` or `expect` comes out absent does not apply: what is not there cannot be judged.
//!   To judge an absence say `has(x)`.

use crate::text::Span;

pub mod ast;
pub mod check;
pub mod eval;
mod lex;
mod parse;
mod resolve_name;
pub mod term;

pub use ast::{Compare, Expr, Kind};
pub use check::{Scope, Ty, check};
pub use eval::{Facts, Out, evaluate};
pub use parse::parse;
pub(crate) use resolve_name::dotted;
pub use term::{Ref, Term};

/// What is wrong with an expression; the span is in the expression's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub span: Span,
    pub message: String,
}

impl Flaw {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Flaw {
        Flaw { span, message: message.into() }
    }
}

/// Parses and checks an expression that must be a condition.
pub fn condition(text: &str, scope: &Scope) -> Result<Term, Vec<Flaw>> {
    let expr = parse(text).map_err(|flaw| vec![flaw])?;
    let mut flaws = Vec::new();
    let (ty, term) = check(&expr, scope, &mut flaws);
    if flaws.is_empty() && ty != Ty::Bool {
        flaws.push(Flaw::new(expr.span, format!("a condition is true or false, this is {ty}")));
    }
    if flaws.is_empty() { Ok(term) } else { Err(flaws) }
}
