//! Spans of YAML: what stands at a span, read on its own, is the value it was read as.

#![allow(clippy::unwrap_used)]

use nodevet::model::yaml::{Document, Item, Node, first_document};
use proptest::prelude::*;

/// A value as it may be written, in one line.
fn scalar() -> impl Strategy<Value = String> {
    let plain = "[a-zé☃][a-zé☃ ]{0,6}[a-z]";
    let double = "\"[a-zé☃ #:']{0,6}(\\\\\"|\\\\\\\\|\\\\n)?[a-z#]?\"";
    let single = "'[a-zé☃ #:\"\\\\]{0,6}('')?[a-z#]?'";
    prop_oneof![plain, double, single, Just("12".to_owned()), Just("true".to_owned())]
}

fn value() -> impl Strategy<Value = String> {
    let list = prop::collection::vec(scalar(), 0..3).prop_map(|items| format!("[{}]", items.join(" , ")));
    let map = prop::collection::vec(scalar(), 0..3).prop_map(|items| {
        let entries: Vec<_> = items.iter().enumerate().map(|(i, v)| format!("k{i}: {v}")).collect();
        format!("{{ {} }}", entries.join(", "))
    });
    let anchored = scalar().prop_map(|v| format!("&a {v}"));
    prop_oneof![4 => scalar(), 1 => list, 1 => map, 1 => anchored]
}

fn line() -> impl Strategy<Value = String> {
    let comment = prop_oneof![Just(""), Just(" # why é"), Just("   "), Just("\t# it's \"so\"")];
    let before = prop_oneof![Just(""), Just("# ☃ before\n"), Just("\n"), Just("nested:\n  - é\n  - x # y\n")];
    (before, value(), comment).prop_map(|(before, value, comment)| format!("{before}KEY: {value}{comment}\n"))
}

fn document() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    let head = prop_oneof![Just(""), Just("---\n"), Just("\u{feff}"), Just("# é\n---\n")];
    (prop::collection::vec(line(), 1..5), end, head).prop_map(|(lines, end, head)| {
        let mut nested = 0;
        let body: String =
            lines.iter().enumerate().map(|(i, l)| l.replace("KEY", &format!("key{i}"))).collect();
        let parts: Vec<_> = body.split("nested:").collect();
        let body = parts
            .iter()
            .map(|part| {
                nested += 1;
                format!("{}{part}", if nested > 1 { format!("nested{nested}:") } else { String::new() })
            })
            .collect::<String>();
        format!("{head}{body}").replace('\n', end)
    })
}

fn same(document: &Document, node: &Node, other: &Node) -> bool {
    match (&document.resolve(node).item, &other.item) {
        (Item::Scalar { text: a, plain: p }, Item::Scalar { text: b, plain: q }) => a == b && p == q,
        (Item::List(a), Item::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(document, a, b))
        }
        (Item::Map(a), Item::Map(b)) => {
            let pairs = || a.iter().zip(b);
            a.len() == b.len()
                && pairs().all(|((ka, va), (kb, vb))| same(document, ka, kb) && same(document, va, vb))
        }
        _ => false,
    }
}

/// Every node below the root that is written in one line.
fn each<'a>(node: &'a Node, visit: &mut impl FnMut(&'a Node)) {
    visit(node);
    match &node.item {
        Item::List(items) => items.iter().for_each(|n| each(n, visit)),
        Item::Map(entries) => entries.iter().for_each(|(k, v)| {
            each(k, visit);
            each(v, visit);
        }),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_span_is_the_value(text in document()) {
        let document = first_document(&text).unwrap().unwrap();
        let Item::Map(entries) = &document.root.item else { panic!("{text:?}") };
        prop_assert!(!entries.is_empty());
        for (_, value) in entries {
            each(value, &mut |node| {
                let written = &text[node.span.start..node.span.end];
                // a block is read with its indentation
                let line = text[..node.span.start].rsplit('\n').next().unwrap();
                let indented = format!("{}{written}", " ".repeat(line.chars().count()));
                let again = first_document(&indented).unwrap().unwrap();
                assert!(same(&document, node, &again.root), "{written:?} in {text:?}");
                assert_eq!(written.trim(), written);
            });
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-a:\\[\\]{}&*!|>'\"#%@`,? \t\r\né☃0]{0,60}") {
        if let Err(error) = first_document(&text) {
            prop_assert!(text.get(error.span.start..error.span.end).is_some());
        }
    }
}
