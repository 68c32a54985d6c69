use super::*;
use crate::text::Span;

const RULES: [RuleName<'static>; 4] = [
    RuleName { code: "NV101", name: "cgroup-driver-mismatch" },
    RuleName { code: "NV102", name: "cgroupfs-on-systemd-host" },
    UNUSED,
    UNEXPLAINED,
];

/// A finding at every `HERE` of the text, the label being that word.
fn finding(code: &str, sources: &Sources, at: SourceId) -> Verdict {
    let start = sources.get(at).text.find("HERE").unwrap();
    let place = Place { source: at, span: Span::new(start, start + 4) };
    let name = RULES.iter().find(|r| r.code == code).unwrap().name;
    let finding = Finding {
        code: code.into(),
        name: name.into(),
        severity: Severity::Error,
        confidence: Confidence::Certain,
        certainty: String::new(),
        message: String::new(),
        labels: vec![Label { place, text: String::new() }],
        fixes: vec![],
        facts: vec![],
    };
    verdict(code, Outcome::Finding(Box::new(finding)))
}

fn verdict(code: &str, outcome: Outcome) -> Verdict {
    let name = RULES.iter().find(|r| r.code == code).unwrap().name;
    Verdict { code: code.into(), name: name.into(), outcome, read: vec![] }
}

/// Codes kept with their messages, and codes suppressed with their reasons.
fn run(text: &str, config: &str, other: Vec<Verdict>, now: i64) -> (Vec<String>, Vec<String>) {
    let mut sources = Sources::default();
    let file = sources.add("/f", Kind::File, text);
    let config_id = sources.add("/etc/nodevet.toml", Kind::File, config);
    let parsed = crate::config::Config::parse(config).unwrap();
    let mut verdicts = other;
    if text.contains("HERE") {
        verdicts.push(finding("NV101", &sources, file));
    }
    let selection = Selection::default();
    let means = Means {
        config: Some((config_id, &parsed.silenced)),
        rules: &RULES,
        selection: &selection,
        now: Some(now),
    };
    let (kept, suppressed) = apply(verdicts, &sources, &means);
    let kept = kept.iter().filter_map(|v| match &v.outcome {
        Outcome::Finding(f) => Some(format!("{} {}", f.code, f.message).trim().to_owned()),
        _ => None,
    });
    let gone = suppressed.iter().map(|s| {
        format!("{} {} {:?} {:?}", s.finding.code, s.by.name(), s.reason.as_deref(), s.until.as_deref())
    });
    (kept.collect(), gone.collect())
}

#[test]
fn a_comment_beside_or_above_silences() {
    for text in [
        "a = HERE # nodevet: ignore NV101 known",
        "# nodevet: ignore NV101 known\na = HERE",
        "# nodevet: ignore cgroup-driver-mismatch known\r\n# and more\r\na = HERE\r\n",
        "# HERE nodevet\n# nodevet: ignore NV101 known\nHERE",
    ] {
        let (kept, gone) = run(text, "", vec![], 0);
        if text.starts_with("# HERE") {
            assert_eq!((kept.len(), gone.len()), (2, 0), "{text}: the label is above the comment");
        } else {
            assert_eq!((kept, gone), (vec![], vec!["NV101 inline Some(\"known\") None".into()]), "{text}");
        }
    }
}

#[test]
fn a_comment_without_reason_works_and_is_noted() {
    let (kept, gone) = run("a = HERE # nodevet: ignore NV101", "", vec![], 0);
    assert_eq!(kept, ["NV902 NV101 is silenced without a reason"]);
    assert_eq!(gone.len(), 1);
}

#[test]
fn what_silences_nothing_is_told_only_when_the_rule_was_judged() {
    let text = "a = 1 # nodevet: ignore NV102 known";
    let unused = "NV901 NV102 finds nothing here: the comment that silences it is not needed";
    assert_eq!(run(text, "", vec![verdict("NV102", Outcome::Pass)], 0).0, [unused]);
    assert_eq!(run(text, "", vec![verdict("NV102", Outcome::Unknown(vec![]))], 0).0, [""; 0]);
    assert_eq!(run(text, "", vec![], 0).0, [""; 0]);
    let (kept, _) = run("a = 1 # nodevet: ignore NV110 known", "", vec![], 0);
    assert_eq!(kept, ["NV901 no rule `NV110`; did you mean `NV101`?"]);
    let (kept, _) = run("a = 1 # nodevet: ignore NV1 known", "", vec![], 0);
    assert_eq!(kept, ["NV901 `NV1` is not a whole code: a comment names each rule it silences"]);
}

#[test]
fn the_configuration_silences_until_its_day_is_over() {
    let config = "[[ignore]]\nrule = 'NV101'\nreason = 'planned'\nuntil = 1970-01-02\n";
    assert_eq!(
        run("HERE", config, vec![], 2 * 86_400 - 1),
        (vec![], vec!["NV101 config Some(\"planned\") Some(\"1970-01-02\")".into()])
    );
    let (kept, gone) = run("HERE", config, vec![], 2 * 86_400);
    assert_eq!(kept, ["NV101", "NV901 the silence of NV101 expired: it was given until 1970-01-02"]);
    assert_eq!(gone, [""; 0]);
}

#[test]
fn entries_of_the_configuration_take_prefixes_and_are_quiet_where_nothing_applies() {
    let config = "[[ignore]]\nrule = 'NV1'\nreason = 'lab'\n";
    assert_eq!(run("HERE", config, vec![], 0).1.len(), 1);
    assert_eq!(run("", config, vec![verdict("NV102", Outcome::NotApplicable)], 0).0, [""; 0]);
    assert_eq!(run("", config, vec![verdict("NV102", Outcome::Pass)], 0).0.len(), 1);
}

#[test]
fn the_rules_about_silences_are_those_of_their_files() {
    let listed = crate::rule::list();
    for rule in [UNUSED, UNEXPLAINED] {
        let file = listed.iter().find(|l| l.code == rule.code).unwrap();
        assert_eq!((file.name.as_str(), file.severities.as_slice()), (rule.name, &[Severity::Note][..]));
    }
}

#[test]
fn silences_that_are_in_order_pass() {
    let outcome = |text: &str, select: &str| {
        let mut sources = Sources::default();
        let file = sources.add("/f", Kind::File, text);
        let verdicts = if text.contains("HERE") { vec![finding("NV101", &sources, file)] } else { vec![] };
        let selection = Selection::new(&[select.to_owned()], &[], &RULES).unwrap();
        let means = Means { config: None, rules: &RULES, selection: &selection, now: None };
        let (kept, _) = apply(verdicts, &sources, &means);
        kept.into_iter().map(|v| (v.code, v.outcome)).collect::<Vec<_>>()
    };
    let known = "HERE # nodevet: ignore NV101 known";
    assert_eq!(outcome(known, "NV901"), [("NV901".into(), Outcome::Pass)]);
    assert_eq!(outcome(known, "NV9").len(), 2);
    assert_eq!(outcome("a = 1", "NV902"), [("NV902".into(), Outcome::NotApplicable)]);
    assert_eq!(outcome("a = 1", "NV101"), []);
}
