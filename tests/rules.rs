//! Every built-in rule loads, its examples hold, and codes are never reused.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::rule::{self, Home, examples};
use proptest::prelude::*;
use std::path::Path;
use std::{env, fs};

fn loaded() -> Vec<rule::Loaded> {
    let (loaded, errors) = rule::load_all(rule::texts().iter().copied(), Home::BuiltIn);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    loaded
}

#[test]
fn the_binary_holds_every_rule_as_its_file_says() {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")).unwrap().count();
    let loaded = loaded();
    assert_eq!(loaded.len(), files);
    let from_files: Vec<rule::Rule> = loaded.iter().filter_map(|l| l.rule.clone()).collect();
    assert_eq!(rule::builtin(), from_files);
    let packed = rule::decode();
    let lawless = loaded.iter().filter(|l| l.rule.is_none()).count();
    assert_eq!(packed.removed.len() + packed.made.len(), lawless);
    let made: Vec<&str> = packed.made.iter().map(|m| m.code.as_str()).collect();
    assert_eq!(made, ["NV901", "NV902"]);
}

#[test]
fn every_example_holds() {
    let (mut held, mut failures, mut not_run) = (0, Vec::new(), 0);
    for file in loaded() {
        let outcomes = examples::run(&file, Some(&nodevet::cli::bench::Bench));
        held += outcomes.held;
        not_run += outcomes.not_run.len();
        failures.extend(outcomes.failures.iter().map(ToString::to_string));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    let all: usize = loaded().iter().map(|file| file.file.examples.len()).sum();
    assert_eq!(held + not_run, all);
    assert!(held > 0 && not_run == 0);
}

#[test]
fn codes_and_names_are_kept_for_ever() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/codes.txt");
    let now: String = rule::list()
        .iter()
        .map(|r| format!("{} {}{}\n", r.code, r.name, if r.removed.is_some() { " (removed)" } else { "" }))
        .collect();
    if env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &now).unwrap();
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(then, now, "run with UPDATE=1 if this is meant; a code is never taken away, see `removed`");
}

#[test]
fn every_rule_is_explained_by_code_and_by_name() {
    for file in loaded() {
        let listed = file.listed();
        assert!(file.answers_to(&listed.code.to_lowercase()) && file.answers_to(&listed.name));
        assert!(!file.answers_to("NV000") && !file.answers_to(""));
        let text = file.explain();
        assert!(text.starts_with(&format!("{} {}\n{}\n", listed.code, listed.name, listed.summary)));
        assert!(listed.removed.is_some() || text.contains("\nseverity  "), "{text}");
    }
}

/// Pieces that break a rule file in various ways.
const PIECES: [&str; 14] = [
    "",
    "'",
    "'''",
    "\"",
    "\\",
    "[[",
    "]",
    "= ",
    "${",
    "}",
    "é\n",
    "\n\n[[fix]]\n",
    "# x",
    "has(nix.da) && ",
];

proptest! {
    /// Whatever is done to a rule file: no panic, and each error has a place in it.
    #[test]
    fn loading_never_panics(
        file in 0..rule::texts().len(),
        from in any::<proptest::sample::Index>(),
        length in 0..40_usize,
        new in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..4),
    ) {
        let (path, text) = rule::texts()[file];
        let chars: Vec<char> = text.chars().collect();
        let from = from.index(chars.len());
        let rest = chars.get(from + length..).unwrap_or_default();
        let new = new.concat();
        let mutated: String = chars[..from].iter().copied().chain(new.chars()).chain(rest.iter().copied()).collect();
        if let Err(errors) = rule::load(path, &mutated, Home::BuiltIn) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(mutated.get(error.span.start..error.span.end).is_some(), "{error}: {:?}", error.span);
            }
        }
    }
}
