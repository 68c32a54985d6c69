//! Three-valued evaluation. Cannot fail: what does not fit is absent.

use super::ast::Compare;
use super::term::{Ref, Term, TextTest};
use crate::fact::{Known, Value, Why};
use crate::finding::Missing;
use crate::version::Version;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Where values come from.
pub trait Facts {
    fn value(&self, at: Ref) -> &Known<Value>;
    /// The full name, for what is missing.
    fn name(&self, at: Ref) -> String;
}

/// What comes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Out<'a> {
    Is(Cow<'a, Value>),
    Absent,
    /// Each missing fact once.
    Unknown(Vec<Missing>),
}

impl Out<'_> {
    fn bool(b: bool) -> Out<'static> {
        Out::Is(Cow::Owned(Value::Bool(b)))
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Out::Is(v) if **v == Value::Bool(true))
    }

    pub fn is_false(&self) -> bool {
        matches!(self, Out::Is(v) if **v == Value::Bool(false))
    }
}

pub fn evaluate<'a>(term: &'a Term, facts: &'a dyn Facts) -> Out<'a> {
    match term {
        Term::Value(value) => Out::Is(Cow::Borrowed(value)),
        Term::Ref(at) => match facts.value(*at) {
            Known::Is(value) => Out::Is(Cow::Borrowed(value)),
            Known::Absent(_) => Out::Absent,
            Known::Unknown(why) => unknown(facts, *at, why),
        },
        Term::Has(at) => match facts.value(*at) {
            Known::Is(_) => Out::bool(true),
            Known::Absent(_) => Out::bool(false),
            Known::Unknown(why) => unknown(facts, *at, why),
        },
        Term::List(items) => list(items, facts),
        Term::Not(inner) => match evaluate(inner, facts) {
            Out::Is(value) => value.as_bool().map_or(Out::Absent, |b| Out::bool(!b)),
            other => other,
        },
        Term::And(all) => junction(all, false, facts),
        Term::Or(any) => junction(any, true, facts),
        Term::Compare(op, a, b) => {
            both(evaluate(a, facts), evaluate(b, facts), |a, b| Out::bool(compare(*op, a, b)))
        }
        Term::Versions(op, a, b) => {
            both(evaluate(a, facts), evaluate(b, facts), |x, y| versions(*op, (a, x), (b, y), facts))
        }
        Term::Choose(condition, yes, no) => match evaluate(condition, facts) {
            Out::Is(v) if *v == Value::Bool(true) => evaluate(yes, facts),
            Out::Is(_) => evaluate(no, facts),
            other => other,
        },
        Term::Index(on, at) => both(evaluate(on, facts), evaluate(at, facts), |on, at| match (on, at) {
            (Value::List(items), Value::Int(at)) => {
                let item = usize::try_from(*at).ok().and_then(|at| items.get(at));
                item.map_or(Out::Absent, |v| Out::Is(Cow::Owned(v.clone())))
            }
            _ => Out::Absent,
        }),
        Term::Size(inner) => one(evaluate(inner, facts), |value| {
            let size = match value {
                Value::List(items) => items.len(),
                Value::Text(text) => text.chars().count(),
                _ => return Out::Absent,
            };
            Out::Is(Cow::Owned(Value::Int(i64::try_from(size).unwrap_or(i64::MAX))))
        }),
        Term::Text(test, a, b) => both(evaluate(a, facts), evaluate(b, facts), |a, b| {
            let (Some(a), Some(b)) = (a.as_text(), b.as_text()) else { return Out::Absent };
            Out::bool(match test {
                TextTest::StartsWith => a.starts_with(b),
                TextTest::EndsWith => a.ends_with(b),
                TextTest::Contains => a.contains(b),
            })
        }),
        Term::Matches(on, pattern) => one(evaluate(on, facts), |value| {
            value.as_text().map_or(Out::Absent, |text| Out::bool(pattern.found_in(text)))
        }),
    }
}

fn unknown<'a>(facts: &dyn Facts, at: Ref, why: &Why) -> Out<'a> {
    Out::Unknown(vec![Missing { fact: facts.name(at), why: why.clone() }])
}

/// Adds what is not yet there.
pub(crate) fn join(into: &mut Vec<Missing>, more: Vec<Missing>) {
    for missing in more {
        if !into.contains(&missing) {
            into.push(missing);
        }
    }
}

/// `&&` (decided by false) and `||` (decided by true).
fn junction<'a>(operands: &'a [Term], decides: bool, facts: &'a dyn Facts) -> Out<'a> {
    let (mut missing, mut absent) = (Vec::new(), false);
    for operand in operands {
        match evaluate(operand, facts) {
            Out::Is(value) if value.as_bool() == Some(decides) => return Out::bool(decides),
            Out::Is(_) => {}
            Out::Absent => absent = true,
            Out::Unknown(more) => join(&mut missing, more),
        }
    }
    match (missing.is_empty(), absent) {
        (false, _) => Out::Unknown(missing),
        (true, true) => Out::Absent,
        (true, false) => Out::bool(!decides),
    }
}

fn one<'a>(value: Out<'a>, then: impl FnOnce(&Value) -> Out<'a>) -> Out<'a> {
    match value {
        Out::Is(value) => then(&value),
        other => other,
    }
}

fn both<'a>(a: Out<'a>, b: Out<'a>, then: impl FnOnce(&Value, &Value) -> Out<'a>) -> Out<'a> {
    match (a, b) {
        (Out::Is(a), Out::Is(b)) => then(&a, &b),
        (Out::Unknown(mut missing), Out::Unknown(more)) => {
            join(&mut missing, more);
            Out::Unknown(missing)
        }
        (Out::Unknown(missing), _) | (_, Out::Unknown(missing)) => Out::Unknown(missing),
        _ => Out::Absent,
    }
}

fn list<'a>(items: &'a [Term], facts: &'a dyn Facts) -> Out<'a> {
    let (mut values, mut missing, mut absent) = (Vec::new(), Vec::new(), false);
    for item in items {
        match evaluate(item, facts) {
            Out::Is(value) => values.push(value.into_owned()),
            Out::Absent => absent = true,
            Out::Unknown(more) => join(&mut missing, more),
        }
    }
    match (missing.is_empty(), absent) {
        (false, _) => Out::Unknown(missing),
        (true, true) => Out::Absent,
        (true, false) => Out::Is(Cow::Owned(Value::List(values))),
    }
}

fn holds(op: Compare, order: Ordering) -> bool {
    match op {
        Compare::Equal => order == Ordering::Equal,
        Compare::Unequal => order != Ordering::Equal,
        Compare::Less => order == Ordering::Less,
        Compare::AtMost => order != Ordering::Greater,
        Compare::More => order == Ordering::Greater,
        Compare::AtLeast => order != Ordering::Less,
        Compare::In => false,
    }
}

fn compare(op: Compare, a: &Value, b: &Value) -> bool {
    match (op, b) {
        (Compare::In, Value::List(items)) => items.contains(a),
        _ => holds(op, a.cmp(b)),
    }
}

fn flipped(op: Compare) -> Compare {
    match op {
        Compare::Less => Compare::More,
        Compare::AtMost => Compare::AtLeast,
        Compare::More => Compare::Less,
        Compare::AtLeast => Compare::AtMost,
        same => same,
    }
}

/// A version known in part (`2.1`) may lie on both sides of a point: then the answer is unknown.
/// A literal is a point: what it leaves out is zero.
fn versions<'a>(op: Compare, a: (&Term, &Value), b: (&Term, &Value), facts: &dyn Facts) -> Out<'a> {
    let (op, ours, point) = if matches!(a.0, Term::Value(_)) { (flipped(op), b, a) } else { (op, a, b) };
    let parsed = |side: (&Term, &Value)| side.1.as_text().and_then(Version::parse);
    let strange = |side: (&Term, &Value)| {
        let why = Why::Strange(side.1.to_string());
        Out::Unknown(vec![Missing { fact: named(side.0, facts), why }])
    };
    let Some(version) = parsed(ours) else { return strange(ours) };
    let Some(at) = parsed(point) else { return strange(point) };
    let answer = match op {
        Compare::AtLeast => version.at_least(&at),
        Compare::Less => version.before(&at),
        op => version.compare(&at).map(|order| holds(op, order)),
    };
    answer.map_or_else(
        || {
            let fact = named(ours.0, facts);
            let Some(of) = daemon(&fact) else { return strange(ours) };
            Out::Unknown(vec![Missing { fact, why: Why::NeedsVersion { of, worlds: Vec::new() } }])
        },
        Out::bool,
    )
}

/// The first name that a term reads.
fn named(term: &Term, facts: &dyn Facts) -> String {
    let mut reads = Vec::new();
    term.reads(&mut reads);
    reads.first().map(|at| facts.name(*at)).unwrap_or_default()
}

/// Whose version it is, as `--assume` calls it.
fn daemon(fact: &str) -> Option<&'static str> {
    match fact {
        "containerd.version" => Some("containerd"),
        "kubelet.version" => Some("kubelet"),
        "host.systemd_version" => Some("systemd"),
        _ => None,
    }
}
