//! The expression language: errors at their columns, three-valued answers, and the same answers
//! as the `cel` crate.

#![allow(clippy::unwrap_used)]

#[path = "expr/arbitrary.rs"]
mod arbitrary;
#[path = "expr/differential.rs"]
mod differential;
#[path = "expr/world.rs"]
mod world;

use arbitrary::{any_expr, condition};
use nodevet::fact::Why;
use nodevet::rule::expr::{self, Out, Scope};
use proptest::prelude::*;
use world::{Node, State, answer, scope};

/// Expression, column from 1, part of the message.
const ERRORS: &[(&str, usize, &str)] = &[
    ("", 1, "a value belongs before the end"),
    ("cgroup.mode = \"v1\"", 13, "write `==` to compare"),
    ("cgroup.mode == \"v1", 16, "no end"),
    ("cgroup.mode == \"v3\"", 16, "`v3` is not a value of `cgroup.mode` (v1, hybrid, v2, none)"),
    ("\"v3\" == cgroup.mode", 1, "`v3` is not a value"),
    ("cgroup.mode in [\"v1\", \"v3\"]", 23, "`v3` is not a value"),
    ("kubelet.cgroup_driver == \"systmd\"", 26, "did you mean `systemd`?"),
    ("(containerd.boots ? \"v1\" : \"v3\") == cgroup.mode", 28, "`v3` is not a value"),
    ("has(containerd.cgroop_driver)", 5, "did you mean `containerd.cgroup_driver`?"),
    ("containerd.boots && nonsense.entirely", 21, "no fact `nonsense.entirely`"),
    ("cgroup.mode", 1, "a condition is true or false, this is one of v1"),
    ("cgroup.mode.x == \"v1\"", 13, "`cgroup.mode` has no fields"),
    ("containerd.plugin_keys.name == \"a\"", 24, "say each = \"containerd.plugin_keys\", then `key.name`"),
    ("key.name == \"a\"", 1, "`key` is a row of `containerd.plugin_keys`"),
    ("runtime.tipe == \"a\"", 9, "did you mean `type`?"),
    ("runtime == \"a\"", 1, "`runtime` is a row; name a column"),
    ("kernel.ip_forward == \"1\"", 1, "the left side is an integer, the right side text"),
    ("cgroup.mode < \"v2\"", 1, "text has no order here"),
    ("containerd.boots < true", 1, "`<` takes integers or versions"),
    ("containerd.version >= \"2.0\"", 1, "versions are compared as version(x)"),
    ("version(containerd.version) >= \"2.0\"", 1, "versions are compared as version(x)"),
    ("version(containerd.version) >= version(\"two\")", 40, "`two` is not a version"),
    ("version(kernel.ip_forward) > version(\"1\")", 9, "version() takes a version or text"),
    ("1 < kernel.ip_forward < 3", 23, "comparisons do not chain"),
    ("containerd.boots & true", 18, "write `&&` for and"),
    ("containerd.boots and true", 18, "write `&&` for and"),
    ("not containerd.boots", 1, "write `!` for not"),
    ("kernel.ip_forward + 1 == 2", 19, "there is no arithmetic here"),
    ("kernel.ip_forward == 1.5", 22, "there are no fractions here"),
    ("kernel.ip_forward == 99999999999999999999", 22, "not an integer of 64 bits"),
    ("kernel.ip_forward == null", 22, "there is no null here"),
    ("(containerd.boots", 1, "no `)` closes this"),
    ("containerd.boots)", 17, "the expression ends before `)`"),
    ("cgroup.top[\"a\"] == \"a\"", 12, "`cgroup.top` has no fields"),
    ("cgroup.mode[0] == \"a\"", 1, "only lists have elements"),
    ("\"a\" in cgroup.mode", 8, "`in` takes a list"),
    ("1 in cgroup.top", 1, "this is an integer, the list holds text"),
    ("size(containerd.boots) == 1", 6, "size() takes a list or text"),
    ("len(cgroup.top) == 1", 1, "no function `len`"),
    ("sizes(cgroup.top) == 1", 1, "did you mean `size`?"),
    ("cgroup.mode.startswith(\"v\")", 13, "did you mean `startsWith`?"),
    ("startsWith(cgroup.mode, \"v\")", 1, "write x.startsWith(…)"),
    ("cgroup.mode.matches(\"(\")", 21, "not a regular expression"),
    ("cgroup.mode.matches(cgroup.mode)", 21, "takes its pattern as a literal"),
    ("has(1)", 5, "has() takes the name of a fact"),
    ("has(cgroup.mode, cgroup.top)", 1, "takes one argument, here are 2"),
    ("containerd.boots || 1 == \"a\" || 2", 21, "the left side is an integer"),
    ("'é' in cgroup.top && $x", 22, "`$`"),
    ("cgroup.mode == kubelet.cgroup_driver", 1, "never equal"),
];

#[test]
fn errors_stand_at_their_columns() {
    for (text, column, message) in ERRORS {
        let flaws = expr::condition(text, &scope()).expect_err(text);
        let at = |flaw: &expr::Flaw| text[..flaw.span.start].chars().count() + 1;
        let found = flaws.iter().any(|f| at(f) == *column && f.message.contains(message));
        assert!(found, "{text}: expected {column}: {message}; got {flaws:?}");
    }
}

#[test]
fn all_errors_come_at_once() {
    let flaws = expr::condition("has(a.b) && cgroup.mode == \"v3\" || 1 == true", &scope()).unwrap_err();
    assert_eq!(flaws.len(), 3, "{flaws:?}");
}

/// `t` and `f` are true and false, `u` is unknown, `a` absent.
const ANSWERS: &[(&str, char)] = &[
    ("U && F", 'f'),
    ("F && U", 'f'),
    ("U && T", 'u'),
    ("U || T", 't'),
    ("T || U", 't'),
    ("U || F", 'u'),
    ("!U", 'u'),
    ("U == U", 'u'),
    ("A && F", 'f'),
    ("A || T", 't'),
    ("A && T", 'a'),
    ("!A", 'a'),
    ("A == T", 'a'),
    ("A && U", 'u'),
    ("U || A", 'u'),
    ("has(T)", 't'),
    ("has(A)", 'f'),
    ("has(U)", 'u'),
    ("has(A) && A", 'f'),
    ("has(U) && U || F", 'u'),
    ("U ? T : T", 'u'),
    ("T ? T : U", 't'),
    ("cgroup.top[0] == \"kubepods\"", 't'),
    ("cgroup.top[7] == \"kubepods\"", 'a'),
    ("size(cgroup.top) == 2", 't'),
    ("\"kubepods\" in cgroup.top", 't'),
    ("\"runc\" in containerd.runtimes && size(containerd.runtimes) == 1", 't'),
    ("\"kube\" in cgroup.top", 'f'),
    ("cgroup.top == [\"kubepods\", \"system.slice\"]", 't'),
    ("cgroup[\"top\"][1].endsWith(r'.slice')", 't'),
    ("cgroup.top[1].matches(r'^sys\\w+\\.slice$')", 't'),
    // 2.1 stands for all of 2.1.x
    ("version(containerd.version) >= version(\"2.1\")", 't'),
    ("version(\"2.1.0\") <= version(containerd.version)", 't'),
    ("version(containerd.version) >= version(\"2.1.5\")", 'u'),
    ("version(\"2.1.5\") > version(containerd.version)", 'u'),
    ("version(containerd.version) < version(\"2.1\")", 'f'),
    ("version(containerd.version) < version(\"2.2\") // why", 't'),
    ("version(\"1.10\") > version(\"1.9\")", 't'),
];

#[test]
fn answers_are_three_valued() {
    let node = Node::example();
    for (text, expected) in ANSWERS {
        let text = ["T", "F", "U", "A"]
            .iter()
            .zip([
                "cgroup.kubepods_populated",
                "containerd.boots",
                "kubelet.follows_runtime",
                "runtime.usable",
            ])
            .fold((*text).to_owned(), |text, (letter, fact)| {
                text.split(' ').map(|w| w.replace(letter, fact)).collect::<Vec<_>>().join(" ")
            });
        let term = expr::condition(&text, &scope()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(answer(&term, &node), *expected, "{text}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let node = Node::example();
    let scope = scope();
    let missing = |text: &str| match expr::evaluate(&expr::condition(text, &scope).unwrap(), &node) {
        Out::Unknown(missing) => missing.into_iter().map(|m| (m.fact, m.why)).collect::<Vec<_>>(),
        other => panic!("{text}: {other:?}"),
    };
    let unread = ("kubelet.follows_runtime".to_owned(), Why::Unread);
    assert_eq!(missing("kubelet.follows_runtime && !kubelet.follows_runtime"), [unread]);
    let version = Why::NeedsVersion { of: "containerd", worlds: Vec::new() };
    let expected = [("containerd.version".to_owned(), version)];
    assert_eq!(missing("version(containerd.version) == version('2.1.3')"), expected);
}

#[test]
fn very_long_and_very_deep_texts_are_refused_or_read() {
    for text in ["(".repeat(100_000), "!".repeat(100_000), "[".repeat(100_000), "a.b?".repeat(50_000)] {
        assert!(expr::parse(&text).is_err());
    }
    assert!(expr::parse(&format!("a{}", ".b".repeat(100_000))).is_err());
    assert!(expr::parse(&vec!["a.b"; 10_000].join(" && ")).is_ok());
}

proptest! {
    #[test]
    fn parsing_never_panics(text in any::<String>()) {
        let _ = expr::condition(&text, &scope());
    }

    #[test]
    fn parsing_soup_never_panics(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "cgroup", ".", "mode", "==", "\"v1\"", "(", ")", "[", "]", "!", "&&", "||", "?", ":", "in", "has",
                "version", "size", "-", "1", "'", "r'", "\\", ",", "runtime", "=", " ", "é", "//", "\n",
            ]),
            0..40,
        )
    ) {
        let text = words.concat();
        if let Err(flaws) = expr::condition(&text, &scope()) {
            for flaw in flaws {
                prop_assert!(text.get(flaw.span.start..flaw.span.end).is_some(), "{flaw:?}");
            }
        }
    }

    #[test]
    fn what_is_printed_parses_to_the_same(expr in any_expr()) {
        let text = expr.to_string();
        prop_assert_eq!(expr::parse(&text).map_err(|e| format!("{text}: {e:?}")).unwrap(), expr);
    }

    /// What is decided in spite of unknown facts stays so, whatever they turn out to be.
    #[test]
    fn unknown_is_sound(expr in condition(), node in world::node(), other in world::node()) {
        let term = expr::condition(&expr.to_string(), &scope()).unwrap();
        let known = answer(&term, &node);
        if known != 'u' {
            prop_assert_eq!(answer(&term, &node.filled_from(&other)), known, "{}", expr);
        }
    }

    #[test]
    fn the_same_answer_as_cel(expr in condition(), node in world::node()) {
        differential::compare(&expr, &node)?;
    }
}

#[test]
fn a_scope_without_rows_has_none() {
    let flaws = expr::condition("runtime.usable", &Scope::default()).unwrap_err();
    assert!(flaws[0].message.contains("say each = \"containerd.runtimes\""), "{flaws:?}");
    assert!(matches!(State::default(), State::Absent));
}
