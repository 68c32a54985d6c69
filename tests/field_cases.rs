//! `docs/field-cases.md` tells of each public report in `fixtures/cards.toml` whether nodevet sees
//! it: by the fixtures that name it in their `cards`, and by what is found on those.
//! `UPDATE=1 cargo test --test field_cases` writes the page anew.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Why no fixture stands for a report: the kind, and what the page says of it.
const KINDS: [(&str, &str); 7] = [
    ("live", "only a running node shows it: what its daemons answer, or what changes with time"),
    ("later", "a node shows it, and no rule looks there yet"),
    ("program", "a fault or a limit of another program or of the kernel, nothing is configured wrong"),
    ("cluster", "it is kept in the cluster, not on the node"),
    ("network", "it needs a look at other hosts"),
    ("wish", "a question, a request or news: no node is at fault"),
    ("unclear", "the report does not show what was configured"),
];

const HEAD: &str = "\
<!-- made by tests/field_cases.rs from fixtures/, do not edit -->

# Reports from the field

Real reports of nodes that went wrong, and whether nodevet sees what was behind them. A report is
*found* when a node with its configuration stands in `fixtures/` and a rule says there what was
wrong; it is *rightly silent* when the node of the report was well and a person, a guide or another
tool was mistaken. The words of the titles are ours, the links lead to the reports.

";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cards {
    card: Vec<Card>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Card {
    id: String,
    url: String,
    title: String,
    /// One of `KINDS`, where no fixture names the report.
    unseen: Option<String>,
    reason: Option<String>,
}

/// What a fixture adds: its name, and the codes of what is found on it.
struct Fixture {
    name: String,
    codes: BTreeSet<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The fixtures of each report, by its id.
fn fixtures() -> BTreeMap<String, Vec<Fixture>> {
    let mut dirs: Vec<PathBuf> =
        fs::read_dir(root().join("fixtures")).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    let mut by_card: BTreeMap<String, Vec<Fixture>> = BTreeMap::new();
    for dir in dirs.iter().filter(|dir| dir.join("case.toml").exists()) {
        let case: toml::Table = toml::from_str(&fs::read_to_string(dir.join("case.toml")).unwrap()).unwrap();
        let expected = fs::read_to_string(dir.join("expected.txt")).unwrap();
        // a quotation is indented, a finding is not
        let codes: BTreeSet<String> = expected
            .lines()
            .filter(|line| line.starts_with("NV"))
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        for card in case.get("cards").and_then(toml::Value::as_array).into_iter().flatten() {
            let name = dir.file_name().unwrap().to_string_lossy().into_owned();
            let fixture = Fixture { name, codes: codes.clone() };
            by_card.entry(card.as_str().unwrap().to_owned()).or_default().push(fixture);
        }
    }
    by_card
}

/// The page, and how many reports it says are seen: found, or rightly silent.
fn page(cards: &[Card], fixtures: &BTreeMap<String, Vec<Fixture>>) -> (String, usize) {
    let (mut found, mut silent) = (0, 0);
    let mut unseen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = String::new();
    for card in cards {
        let there = fixtures.get(&card.id).map_or(&[][..], Vec::as_slice);
        let codes: Vec<&str> = there
            .iter()
            .flat_map(|fixture| &fixture.codes)
            .map(String::as_str)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let names: Vec<String> = there.iter().map(|fixture| format!("`{}`", fixture.name)).collect();
        let (seen, by) = match &card.unseen {
            Some(kind) => {
                *unseen.entry(kind.as_str()).or_default() += 1;
                (format!("no: {kind}"), card.reason.clone().unwrap_or_default())
            }
            None if codes.is_empty() => {
                silent += 1;
                ("rightly silent".to_owned(), names.join(", "))
            }
            None => {
                found += 1;
                (codes.join(", "), names.join(", "))
            }
        };
        rows += &format!("| {} | [{}]({}) | {seen} | {by} |\n", card.id, card.title, card.url);
    }
    let mut text = HEAD.to_owned();
    text += &format!(
        "Of {} reports {found} are found, {silent} are rightly silent, {} are not seen:\n\n| not seen | reports | why |\n|---|---|---|\n",
        cards.len(),
        unseen.values().sum::<usize>(),
    );
    for (kind, why) in KINDS {
        if let Some(count) = unseen.get(kind) {
            text += &format!("| {kind} | {count} | {why} |\n");
        }
    }
    text += "\n| report | what happened | seen by | on the node, or why not |\n|---|---|---|---|\n";
    text += &rows;
    (text, found + silent)
}

#[test]
fn the_page_of_field_cases_is_true() {
    let cards: Cards =
        toml::from_str(&fs::read_to_string(root().join("fixtures/cards.toml")).unwrap()).unwrap();
    let fixtures = fixtures();
    assert!(cards.card.is_sorted_by(|a, b| a.id < b.id), "cards.toml is in the order of ids, each once");
    assert_eq!(cards.card.len(), 150);
    let ids: BTreeSet<&str> = cards.card.iter().map(|card| card.id.as_str()).collect();
    for id in fixtures.keys() {
        assert!(ids.contains(id.as_str()), "a fixture names {id}, which cards.toml has not");
    }
    for card in &cards.card {
        let (id, there) = (&card.id, fixtures.contains_key(&card.id));
        assert!(!card.title.contains(['|', '[', ']']) && card.url.starts_with("https://"), "{id}");
        assert_eq!(card.unseen.is_some(), card.reason.is_some(), "{id}: `unseen` goes with a `reason`");
        assert!(there || card.unseen.is_some(), "no fixture names {id}: say why");
        assert!(!(there && card.unseen.is_some()), "{id} has a fixture: it is not unseen");
        if let Some(kind) = &card.unseen {
            assert!(KINDS.iter().any(|(name, _)| name == kind), "{id}: no such kind: {kind}");
        }
    }
    let (made, seen) = page(&cards.card, &fixtures);
    assert!(seen >= 60, "only {seen} reports are seen");
    let path = root().join("docs/field-cases.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let is = fs::read_to_string(&path).unwrap_or_default();
    let stale = is.lines().zip(made.lines()).find(|(is, made)| is != made);
    assert!(is == made, "docs/field-cases.md is out of date (UPDATE=1 writes it anew): {stale:?}");
}
