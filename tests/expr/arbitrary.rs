//! Generated expressions: any tree, and conditions that type-check over the facts of [`Node`].
//!
//! [`Node`]: super::world::Node

use super::world::{BOOLS, INTS, LISTS, TEXTS, word};
use nodevet::rule::expr::ast::{Compare, Expr, Kind, Word};
use nodevet::text::Span;
use proptest::prelude::*;

type Any = BoxedStrategy<Expr>;

fn expr(kind: Kind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn named(text: &str) -> Word {
    Word { text: text.to_owned(), span: Span::default() }
}

fn fact(name: &str) -> Expr {
    let (space, field) = name.split_once('.').unwrap();
    expr(Kind::Field(boxed(expr(Kind::Name(space.to_owned()))), named(field)))
}

fn one_of(names: &'static [&'static str]) -> Any {
    proptest::sample::select(names).prop_map(fact).boxed()
}

fn compare(op: impl Strategy<Value = Compare> + 'static, a: Any, b: Any) -> Any {
    (op, a, b).prop_map(|(op, a, b)| expr(Kind::Compare(op, boxed(a), boxed(b)))).boxed()
}

fn call(on: Option<Expr>, function: &str, arg: Expr) -> Expr {
    expr(Kind::Call { on: on.map(boxed), function: named(function), args: vec![arg] })
}

const EQUALITY: [Compare; 2] = [Compare::Equal, Compare::Unequal];
const ORDER: [Compare; 6] =
    [Compare::Equal, Compare::Unequal, Compare::Less, Compare::AtMost, Compare::More, Compare::AtLeast];

fn choose(condition: Any, a: Any, b: Any) -> Any {
    (condition, a, b).prop_map(|(c, a, b)| expr(Kind::Choose(boxed(c), boxed(a), boxed(b)))).boxed()
}

fn int(depth: u32) -> Any {
    let leaf = prop_oneof![one_of(&INTS), (-3..4_i64).prop_map(|i| expr(Kind::Int(i)))].boxed();
    if depth == 0 {
        return leaf;
    }
    let sized = prop_oneof![list(depth - 1), text(depth - 1)].prop_map(|e| call(None, "size", e));
    prop_oneof![3 => leaf, 1 => sized, 1 => choose(truth(depth - 1), int(depth - 1), int(depth - 1))].boxed()
}

fn text(depth: u32) -> Any {
    let literal = word().prop_map(|t| expr(Kind::Text(t)));
    let leaf = prop_oneof![one_of(&TEXTS), literal].boxed();
    if depth == 0 {
        return leaf;
    }
    let at = (list(depth - 1), int(depth - 1)).prop_map(|(l, i)| expr(Kind::Index(boxed(l), boxed(i))));
    prop_oneof![3 => leaf, 1 => at, 1 => choose(truth(depth - 1), text(depth - 1), text(depth - 1))].boxed()
}

fn list(depth: u32) -> Any {
    let written = proptest::collection::vec(text(depth.saturating_sub(1).min(1)), 0..3);
    prop_oneof![one_of(&LISTS), written.prop_map(|items| expr(Kind::List(items)))].boxed()
}

fn mode() -> Any {
    let literal = proptest::sample::select(vec!["v1", "v2"]).prop_map(|t| expr(Kind::Text(t.to_owned())));
    compare(proptest::sample::select(&EQUALITY[..]), Just(fact("cgroup.mode")).boxed(), literal.boxed())
}

fn truth(depth: u32) -> Any {
    let has = prop_oneof![one_of(&BOOLS), one_of(&INTS), one_of(&TEXTS), one_of(&LISTS)]
        .prop_map(|e| call(None, "has", e));
    let leaf = prop_oneof![
        4 => one_of(&BOOLS),
        2 => has,
        1 => mode(),
        1 => any::<bool>().prop_map(|b| expr(Kind::Bool(b))),
    ]
    .boxed();
    if depth == 0 {
        return leaf;
    }
    let deeper = || truth(depth - 1);
    let test = proptest::sample::select(vec!["startsWith", "endsWith", "contains"]);
    let test = (text(depth - 1), test, text(depth - 1)).prop_map(|(on, f, arg)| call(Some(on), f, arg));
    let pattern = proptest::sample::select(vec!["^k", "e$", "a|b", "o.s", "^$"]);
    let matches = (text(depth - 1), pattern)
        .prop_map(|(on, p)| call(Some(on), "matches", expr(Kind::Text(p.to_owned()))));
    prop_oneof![
        2 => leaf,
        3 => proptest::collection::vec(deeper(), 2..4).prop_map(|v| expr(Kind::And(v))),
        3 => proptest::collection::vec(deeper(), 2..4).prop_map(|v| expr(Kind::Or(v))),
        2 => deeper().prop_map(|e| expr(Kind::Not(boxed(e)))),
        1 => choose(deeper(), deeper(), deeper()),
        2 => compare(proptest::sample::select(&ORDER[..]), int(depth - 1), int(depth - 1)),
        2 => compare(proptest::sample::select(&EQUALITY[..]), text(depth - 1), text(depth - 1)),
        1 => compare(proptest::sample::select(&EQUALITY[..]), deeper(), deeper()),
        1 => compare(proptest::sample::select(&EQUALITY[..]), list(depth - 1), list(depth - 1)),
        2 => compare(Just(Compare::In), text(depth - 1), list(depth - 1)),
        1 => test,
        1 => matches,
    ]
    .boxed()
}

/// A condition that type-checks. `version()` is left out: `cel` has no such function, and a
/// version known in part has no counterpart there.
pub(crate) fn condition() -> impl Strategy<Value = Expr> {
    truth(3)
}

/// Any tree that can be written, whether it means something or not.
pub(crate) fn any_expr() -> impl Strategy<Value = Expr> {
    let name = "[a-z_][a-z0-9_]{0,5}".prop_filter("a word of the language", |w| {
        !["in", "true", "false", "null", "and", "or", "not"].contains(&w.as_str())
    });
    let leaf = prop_oneof![
        any::<bool>().prop_map(Kind::Bool),
        any::<i64>().prop_map(Kind::Int),
        any::<String>().prop_map(Kind::Text),
        name.clone().prop_map(Kind::Name),
    ]
    .prop_map(expr);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let pair = || (inner.clone(), inner.clone());
        let many = |from| proptest::collection::vec(inner.clone(), from..4);
        let op = proptest::sample::select(vec![
            Compare::Equal,
            Compare::Unequal,
            Compare::Less,
            Compare::AtMost,
            Compare::More,
            Compare::AtLeast,
            Compare::In,
        ]);
        prop_oneof![
            many(0).prop_map(Kind::List),
            many(2).prop_map(Kind::And),
            many(2).prop_map(Kind::Or),
            inner.clone().prop_map(|e| Kind::Not(boxed(e))),
            pair().prop_map(|(a, b)| Kind::Index(boxed(a), boxed(b))),
            (inner.clone(), name.clone()).prop_map(|(e, n)| Kind::Field(boxed(e), named(&n))),
            (op, pair()).prop_map(|(op, (a, b))| Kind::Compare(op, boxed(a), boxed(b))),
            (inner.clone(), pair()).prop_map(|(c, (a, b))| Kind::Choose(boxed(c), boxed(a), boxed(b))),
            (proptest::option::of(inner.clone()), name.clone(), many(0))
                .prop_map(|(on, n, args)| Kind::Call { on: on.map(boxed), function: named(&n), args }),
        ]
        .prop_map(expr)
    })
}
