//! Types. Every name must be declared, both sides of a comparison must fit, and a literal that is
//! compared with a closed set must be a member of it.

use super::Flaw;
use super::ast::{Compare, Expr, Kind};
use super::resolve_name::resolve;
use super::term::{Ref, Term};
use crate::fact::{Decl, Type, Value};
use crate::names::{self, FactId};
use crate::version::Version;
use std::fmt;

mod calls;

/// Which names are in scope: all facts, and the row of the table of `each`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    pub each: Option<FactId>,
}

impl Scope {
    /// The table, what its rows are called, and their columns.
    pub(crate) fn row(&self) -> Option<(FactId, &'static str, &'static [Decl])> {
        match &self.each?.decl().ty {
            Type::Table { row, columns } => Some((self.each?, row, columns)),
            _ => None,
        }
    }
}

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Bool,
    Int,
    Text,
    OneOf(&'static [&'static str]),
    /// A fact that holds a version, not yet wrapped in `version()`.
    Version,
    /// `version(…)`.
    Point,
    List(Box<Ty>),
    /// Fits everything: the element of `[]`, and whatever was refused already.
    Any,
}

impl Ty {
    /// A table counts as the list of its first column.
    pub(crate) fn of(ty: &Type) -> Ty {
        match ty {
            Type::Bool => Ty::Bool,
            Type::Int => Ty::Int,
            Type::Text => Ty::Text,
            Type::OneOf(set) => Ty::OneOf(set),
            Type::Version => Ty::Version,
            Type::List(inner) => Ty::List(Box::new(Ty::of(inner))),
            Type::Table { columns, .. } => {
                Ty::List(Box::new(columns.first().map_or(Ty::Text, |c| Ty::of(&c.ty))))
            }
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Ty::Text | Ty::OneOf(_) | Ty::Any)
    }

    fn fits(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Any, _) | (_, Ty::Any) => true,
            (Ty::List(a), Ty::List(b)) => a.fits(b),
            (a, b) => a == b || (a.is_text() && b.is_text()),
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Bool => f.write_str("true or false"),
            Ty::Int => f.write_str("an integer"),
            Ty::Text => f.write_str("text"),
            Ty::OneOf(set) => write!(f, "one of {}", set.join(", ")),
            Ty::Version | Ty::Point => f.write_str("a version"),
            Ty::List(inner) if **inner == Ty::Any => f.write_str("a list"),
            Ty::List(inner) => write!(f, "a list of {inner}"),
            Ty::Any => f.write_str("anything"),
        }
    }
}

/// Type and checked form. Flaws are added to the list; after one the term is of no use.
pub fn check(expr: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> (Ty, Term) {
    match &expr.kind {
        Kind::Bool(b) => (Ty::Bool, Term::Value(Value::Bool(*b))),
        Kind::Int(i) => (Ty::Int, Term::Value(Value::Int(*i))),
        Kind::Text(t) => (Ty::Text, Term::Value(Value::text(t.as_str()))),
        Kind::List(items) => list(items, scope, flaws),
        Kind::Not(inner) => (Ty::Bool, Term::Not(Box::new(truth(inner, scope, flaws)))),
        Kind::And(all) => (Ty::Bool, Term::And(all.iter().map(|e| truth(e, scope, flaws)).collect())),
        Kind::Or(any) => (Ty::Bool, Term::Or(any.iter().map(|e| truth(e, scope, flaws)).collect())),
        Kind::Compare(Compare::In, item, among) => within(item, among, scope, flaws),
        Kind::Compare(op, a, b) => compare(expr, *op, (a, b), scope, flaws),
        Kind::Choose(c, a, b) => {
            let condition = truth(c, scope, flaws);
            let ((ty_a, yes), (ty_b, no)) = (check(a, scope, flaws), check(b, scope, flaws));
            if !ty_a.fits(&ty_b) || ty_a == Ty::Point || ty_b == Ty::Point {
                let message = format!("both answers must be of one type: this is {ty_a}, the other {ty_b}");
                flaws.push(Flaw::new(a.span, message));
            }
            let ty = if ty_a == ty_b || ty_b == Ty::Any {
                ty_a
            } else if ty_a == Ty::Any {
                ty_b
            } else {
                Ty::Text
            };
            (ty, Term::Choose(Box::new(condition), Box::new(yes), Box::new(no)))
        }
        Kind::Call { on, function, args } => calls::call(expr, on.as_deref(), function, args, scope, flaws),
        Kind::Name(_) | Kind::Field(..) | Kind::Index(..) => path(expr, scope, flaws),
    }
}

const REFUSED: (Ty, Term) = (Ty::Any, Term::Value(Value::Bool(false)));

fn path(expr: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> (Ty, Term) {
    match resolve(expr, scope) {
        Some(Ok(at)) => {
            let ty = at.decl(scope.each).map_or(Ty::Any, |decl| Ty::of(&decl.ty));
            (ty, Term::Ref(at))
        }
        Some(Err(flaw)) => {
            flaws.push(flaw);
            REFUSED
        }
        None => match &expr.kind {
            Kind::Index(on, at) => {
                let ((on_ty, on_term), (at_ty, at_term)) = (check(on, scope, flaws), check(at, scope, flaws));
                if !at_ty.fits(&Ty::Int) {
                    flaws.push(Flaw::new(
                        at.span,
                        format!("a list is indexed by an integer, this is {at_ty}"),
                    ));
                }
                match on_ty {
                    Ty::List(inner) => (*inner, Term::Index(Box::new(on_term), Box::new(at_term))),
                    Ty::Any => REFUSED,
                    ty => {
                        flaws.push(Flaw::new(on.span, format!("only lists have elements, this is {ty}")));
                        REFUSED
                    }
                }
            }
            _ => {
                flaws.push(Flaw::new(expr.span, "only facts and rows have fields"));
                REFUSED
            }
        },
    }
}

fn truth(expr: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> Term {
    let (ty, term) = check(expr, scope, flaws);
    if !ty.fits(&Ty::Bool) {
        flaws.push(Flaw::new(expr.span, format!("`&&`, `||`, `!` and `?` take true or false, this is {ty}")));
    }
    term
}

fn list(items: &[Expr], scope: &Scope, flaws: &mut Vec<Flaw>) -> (Ty, Term) {
    let mut inner = Ty::Any;
    let mut terms = Vec::with_capacity(items.len());
    for item in items {
        let (ty, term) = check(item, scope, flaws);
        if !inner.fits(&ty) || ty == Ty::Point {
            flaws.push(Flaw::new(
                item.span,
                format!("elements of a list are of one type: this is {ty}, before it {inner}"),
            ));
        }
        inner = if inner == Ty::Any || inner == ty { ty } else { Ty::Text };
        terms.push(term);
    }
    let values: Option<Vec<Value>> =
        terms.iter().map(|t| if let Term::Value(v) = t { Some(v.clone()) } else { None }).collect();
    let term = values.map_or(Term::List(terms), |values| Term::Value(Value::List(values)));
    (Ty::List(Box::new(inner)), term)
}

fn within(item: &Expr, among: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> (Ty, Term) {
    let ((ty, term), (list_ty, list_term)) = (check(item, scope, flaws), check(among, scope, flaws));
    match &list_ty {
        Ty::List(inner) if **inner == Ty::Version || ty == Ty::Point || ty == Ty::Version => {
            flaws.push(Flaw::new(item.span, "versions are compared with `==` or `>=`, not with `in`"));
        }
        Ty::List(inner) if !inner.fits(&ty) => {
            let message = format!("this is {ty}, the list holds {inner}");
            flaws.push(Flaw::new(item.span, message));
        }
        Ty::List(inner) => {
            members(among, &ty, name_of(item, scope), flaws);
            members(item, inner, name_of(among, scope), flaws);
        }
        Ty::Any => {}
        other => flaws.push(Flaw::new(among.span, format!("`in` takes a list, this is {other}"))),
    }
    (Ty::Bool, Term::Compare(Compare::In, Box::new(term), Box::new(list_term)))
}

fn compare(
    expr: &Expr,
    op: Compare,
    (left, right): (&Expr, &Expr),
    scope: &Scope,
    flaws: &mut Vec<Flaw>,
) -> (Ty, Term) {
    let before = flaws.len();
    let ((a, a_term), (b, b_term)) = (check(left, scope, flaws), check(right, scope, flaws));
    let equality = matches!(op, Compare::Equal | Compare::Unequal);
    let (a_box, b_box) = (Box::new(a_term), Box::new(b_term));
    if (a == Ty::Point && b == Ty::Point) || (a == Ty::Any || b == Ty::Any) && flaws.len() > before {
        return (Ty::Bool, Term::Versions(op, a_box, b_box));
    }
    let versions = [&a, &b].into_iter().any(|ty| matches!(ty, Ty::Version | Ty::Point));
    let message = if versions {
        Some((
            expr.span,
            "versions are compared as version(x) and version(\"1.35\"), on both sides".to_owned(),
        ))
    } else if !a.fits(&b) {
        Some((expr.span, format!("the left side is {a}, the right side {b}")))
    } else if !equality && a != Ty::Int && a.is_text() {
        Some((expr.span, "text has no order here; compare versions with version(…)".to_owned()))
    } else if !equality && a != Ty::Int {
        Some((expr.span, format!("`{}` takes integers or versions, this is {a}", op.sign())))
    } else {
        None
    };
    match message {
        Some((span, message)) => flaws.push(Flaw::new(span, message)),
        None => {
            members(left, &b, name_of(right, scope), flaws);
            members(right, &a, name_of(left, scope), flaws);
            if let (Ty::OneOf(x), Ty::OneOf(y)) = (&a, &b)
                && !x.iter().any(|member| y.contains(member))
            {
                flaws.push(Flaw::new(expr.span, format!("never equal: {a} and {b}")));
            }
        }
    }
    (Ty::Bool, Term::Compare(op, a_box, b_box))
}

/// The name of a fact or column, if the expression is one.
fn name_of(expr: &Expr, scope: &Scope) -> Option<String> {
    resolve(expr, scope)?.ok().map(|_| expr.to_string())
}

/// Every literal in an expression that meets a closed set must be a member of it.
fn members(expr: &Expr, domain: &Ty, of: Option<String>, flaws: &mut Vec<Flaw>) {
    let set = match domain {
        Ty::OneOf(set) => set,
        Ty::List(inner) => return members(expr, inner, of, flaws),
        _ => return,
    };
    match &expr.kind {
        Kind::Text(text) => {
            if let Some(message) = stranger(text, set, of.as_deref()) {
                flaws.push(Flaw::new(expr.span, message));
            }
        }
        Kind::List(items) => items.iter().for_each(|item| members(item, domain, of.clone(), flaws)),
        Kind::Choose(_, a, b) => [a, b].iter().for_each(|e| members(e, domain, of.clone(), flaws)),
        _ => {}
    }
}

/// What to say of a text that is not in a closed set.
pub(crate) fn stranger(text: &str, set: &[&'static str], of: Option<&str>) -> Option<String> {
    if set.contains(&text) {
        return None;
    }
    let what = of.map_or_else(|| "possible here".to_owned(), |name| format!("a value of `{name}`"));
    let near = names::nearest(text, set.iter().copied());
    let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    Some(format!("`{text}` is not {what} ({}){hint}", set.join(", ")))
}

/// The literal of a `version("…")`, if it is one and well formed.
fn version_literal(expr: &Expr, flaws: &mut Vec<Flaw>) {
    if let Kind::Text(text) = &expr.kind
        && Version::parse(text).is_none()
    {
        flaws.push(Flaw::new(expr.span, format!("`{text}` is not a version")));
    }
}

/// The fact or column that `has(…)` asks for.
fn asked(expr: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<Ref> {
    match resolve(expr, scope) {
        Some(Ok(at)) => Some(at),
        Some(Err(flaw)) => {
            flaws.push(flaw);
            None
        }
        None => {
            flaws.push(Flaw::new(expr.span, "has() takes the name of a fact or a column"));
            None
        }
    }
}
