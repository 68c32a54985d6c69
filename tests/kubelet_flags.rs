//! The kubelet's command line: what real kubelets took and refused, and reading of any words.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::model::kubelet::flags::{Cause, Parsed, Setting, all, check_labels, parse, value};
use nodevet::model::unit::Argument;
use nodevet::text::{Kind, Place, Sources};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Words, one a line of a captured text.
fn words(words: &[String]) -> (Vec<Argument>, Sources) {
    let mut sources = Sources::default();
    let text: String = words.iter().map(|word| format!("{word}\n")).collect();
    let source = sources.add("argv:1", Kind::Argv, text);
    let mut at = 0;
    let args = words.iter().map(|word| {
        let argument = Argument::of(word, source, at);
        at += word.len() + 1;
        argument
    });
    (args.collect(), sources)
}

/// One line for each command line of fixtures/kubelet/flags.jsonl: `true`, or what the kubelet said.
#[test]
fn real_kubelets_take_and_refuse_the_same() {
    let (mut taken, mut refused) = (0, BTreeSet::new());
    for line in include_str!("../fixtures/kubelet/flags.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let name = case["case"].as_str().unwrap();
        let args: Vec<String> = serde_json::from_value(case["args"].clone()).unwrap();
        let (args, sources) = words(&args);
        for (version, said) in case["kubelets"].as_object().unwrap() {
            let minor: u32 = version.split('.').nth(1).unwrap().parse().unwrap();
            match (parse(&args, minor), said.as_str()) {
                (Ok(_), None) => taken += 1,
                (Err(error), Some(said)) => {
                    assert_eq!(error.message, said, "{name} in {version}");
                    let shown = sources.slice(error.place);
                    assert!(!shown.is_empty() && said.contains(shown), "{name}: {shown}");
                    refused.insert(name.to_owned());
                }
                (told, said) => panic!("{name} in {version}: {told:?}, not {said:?}"),
            }
        }
    }
    assert!(taken > 100 && refused.len() >= 8, "{taken} taken, {refused:?} refused");
}

/// Only a fork lets a node give itself a role: upstream's kubelet refuses it after reading the line.
#[test]
fn a_node_does_not_give_itself_a_role() {
    let (args, _) = words(&["--node-labels=node-role.kubernetes.io/worker=".to_owned()]);
    let line = parse(&args, 36).unwrap();
    assert!(check_labels(&line.settings).is_err());
}

fn places(settings: &[Setting]) -> Vec<Place> {
    let inner = |setting: &Setting| match &setting.value {
        Parsed::List(items) => items.iter().map(|item| item.place).collect(),
        Parsed::Map(entries) => entries.iter().map(|entry| entry.place).collect(),
        _ => Vec::new(),
    };
    settings.iter().flat_map(|s| inner(s).into_iter().chain([s.place])).collect()
}

fn fits(sources: &Sources, place: Place) -> bool {
    sources.get(place.source).text.get(place.span.start..place.span.end).is_some()
}

/// Pieces that matter, in any order.
fn soup() -> impl Strategy<Value = String> {
    let names: Vec<String> = all().map(|flag| format!("--{}", flag.name)).collect();
    let piece = prop_oneof![
        "\\PC{0,4}",
        prop::sample::select(names),
        prop::sample::select(vec![
            "--",
            "-",
            "=",
            ",",
            "<",
            ":",
            "\"",
            "'",
            "_",
            "v",
            "-v",
            "h",
            "test.",
            "true",
            "raw",
            "0",
            "1",
            "0x",
            "9999999999999999999",
            "1m",
            "s",
            ".",
            "memory",
            "a",
            "Gi",
            "NoSchedule",
            "kubernetes.io/",
            "é",
            "\n",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_words_are_read(line in prop::collection::vec(soup(), 0..8), minor in 18u32..40) {
        let (args, sources) = words(&line);
        match parse(&args, minor) {
            Ok(line) => {
                for place in places(&line.settings).into_iter().chain(places(&line.in_force())) {
                    prop_assert!(fits(&sources, place), "{place:?}");
                }
                prop_assert!(line.settings.iter().all(|setting| setting.flag.is_in(minor)));
                if let Err(refused) = check_labels(&line.settings) {
                    prop_assert!(fits(&sources, refused.place), "{refused:?}");
                }
            }
            Err(refused) => prop_assert!(fits(&sources, refused.place), "{refused:?}"),
        }
        let _ = value(&args, "config");
    }

    /// Of a flag that does not add up the last use counts, wherever it stands.
    #[test]
    fn the_last_use_counts(values in prop::collection::vec("[a-z/=,-]{0,6}", 1..5), apart in any::<bool>()) {
        let line: Vec<String> = match apart {
            true => values.iter().flat_map(|v| ["--cgroup_root".to_owned(), v.clone()]).collect(),
            false => values.iter().map(|v| format!("--cgroup-root={v}")).collect(),
        };
        let (args, sources) = words(&line);
        let line = parse(&args, 31).unwrap();
        let in_force = line.in_force();
        prop_assert_eq!(in_force.len(), 1);
        let last = values.last().unwrap();
        prop_assert_eq!(&in_force[0].value, &Parsed::Text(last.clone()));
        prop_assert_eq!(sources.slice(in_force[0].place), last);
        prop_assert_eq!(line.uses("cgroup-root").count(), values.len());
        prop_assert_eq!(value(&args, "cgroup-root").map(|(text, _)| text), Some(last.clone()));
    }

    /// A name that no version has is refused, and never by a panic.
    #[test]
    fn strange_names_are_unknown(name in "[a-z-]{1,20}", minor in 20u32..40) {
        prop_assume!(all().all(|flag| flag.name != name) && !name.starts_with('-'));
        let (args, _) = words(&[format!("--{name}=1")]);
        let refused = parse(&args, minor).unwrap_err();
        prop_assert_eq!(refused.message, format!("unknown flag: --{name}"));
        let unknown = matches!(refused.cause, Cause::Unknown { .. });
        prop_assert!(unknown);
    }
}
