//! Functions: `has`, `size`, `version`, and the tests on text.

use super::super::ast::{Expr, Kind, Word};
use super::super::term::{Pattern, Term, TextTest};
use super::{Flaw, REFUSED, Scope, Ty, asked, check, version_literal};
use crate::names;

const FUNCTIONS: [&str; 3] = ["has", "size", "version"];
const METHODS: [&str; 4] = ["startsWith", "endsWith", "contains", "matches"];

pub(super) fn call(
    expr: &Expr,
    on: Option<&Expr>,
    function: &Word,
    args: &[Expr],
    scope: &Scope,
    flaws: &mut Vec<Flaw>,
) -> (Ty, Term) {
    let name = function.text.as_str();
    let known = if on.is_some() { METHODS.contains(&name) } else { FUNCTIONS.contains(&name) };
    if !known {
        flaws.push(Flaw::new(function.span, unknown(name, on.is_some())));
        return REFUSED;
    }
    let [arg] = args else {
        let message = format!("{name}() takes one argument, here are {}", args.len());
        flaws.push(Flaw::new(expr.span, message));
        return REFUSED;
    };
    match (on, name) {
        (None, "has") => (Ty::Bool, asked(arg, scope, flaws).map_or(REFUSED.1, Term::Has)),
        (None, "size") => {
            let (ty, term) = check(arg, scope, flaws);
            if !matches!(ty, Ty::List(_)) && !ty.is_text() {
                flaws.push(Flaw::new(arg.span, format!("size() takes a list or text, this is {ty}")));
            }
            (Ty::Int, Term::Size(Box::new(term)))
        }
        (None, _) => {
            version_literal(arg, flaws);
            let (ty, term) = check(arg, scope, flaws);
            if ty != Ty::Version && !ty.is_text() {
                flaws.push(Flaw::new(arg.span, format!("version() takes a version or text, this is {ty}")));
            }
            (Ty::Point, term)
        }
        (Some(on), _) => text_test(on, name, arg, scope, flaws),
    }
}

fn text_test(on: &Expr, name: &str, arg: &Expr, scope: &Scope, flaws: &mut Vec<Flaw>) -> (Ty, Term) {
    let (on_ty, on_term) = check(on, scope, flaws);
    let (arg_ty, arg_term) = check(arg, scope, flaws);
    for (ty, expr) in [(&on_ty, on), (&arg_ty, arg)] {
        if *ty == Ty::Version {
            flaws.push(Flaw::new(expr.span, "a version is compared with version(…), not as text"));
        } else if !ty.is_text() {
            flaws.push(Flaw::new(expr.span, format!("{name}() takes text, this is {ty}")));
        }
    }
    let test = match name {
        "startsWith" => TextTest::StartsWith,
        "endsWith" => TextTest::EndsWith,
        "contains" => TextTest::Contains,
        _ => return (Ty::Bool, matches(on_term, arg, flaws)),
    };
    (Ty::Bool, Term::Text(test, Box::new(on_term), Box::new(arg_term)))
}

fn matches(on: Term, arg: &Expr, flaws: &mut Vec<Flaw>) -> Term {
    let Kind::Text(text) = &arg.kind else {
        flaws.push(Flaw::new(arg.span, "matches() takes its pattern as a literal"));
        return REFUSED.1;
    };
    match Pattern::new(text) {
        Ok(pattern) => Term::Matches(Box::new(on), pattern),
        Err(message) => {
            flaws.push(Flaw::new(arg.span, format!("not a regular expression: {message}")));
            REFUSED.1
        }
    }
}

fn unknown(name: &str, method: bool) -> String {
    let (known, other) = if method { (&METHODS[..], &FUNCTIONS[..]) } else { (&FUNCTIONS[..], &METHODS[..]) };
    if other.contains(&name) {
        return if method { format!("write {name}(x)") } else { format!("write x.{name}(…)") };
    }
    match names::nearest(name, known.iter().copied()) {
        Some(near) => format!("no function `{name}`; did you mean `{near}`?"),
        None => format!("no function `{name}`; there are {}", known.join(", ")),
    }
}
