use super::*;
use crate::fact::Why;
use crate::finding::Label;
use crate::text::{Kind, Place, Span};

fn finding(code: &str, severity: Severity, place: Place) -> Verdict {
    let finding = Finding {
        code: code.into(),
        name: "a-rule".into(),
        severity,
        confidence: Confidence::Likely,
        certainty: String::new(),
        message: "said".into(),
        labels: vec![Label { place, text: String::new() }],
        fixes: vec![],
        facts: vec![],
    };
    verdict(code, Outcome::Finding(Box::new(finding)))
}

fn verdict(code: &str, outcome: Outcome) -> Verdict {
    Verdict { code: code.into(), name: "a-rule".into(), outcome, read: vec!["host.init".into()] }
}

fn unknown(code: &str) -> Verdict {
    verdict(
        code,
        Outcome::Unknown(vec![Missing { fact: "host.init".into(), why: Why::Denied("/proc".into()) }]),
    )
}

#[test]
fn the_gravest_come_first_and_the_same_once() {
    let mut sources = Sources::default();
    let (b, a) = (sources.add("/b", Kind::File, "xy"), sources.add("/a", Kind::File, "xy"));
    let at = |source, start| Place { source, span: Span::new(start, start + 1) };
    let verdicts = vec![
        finding("NV102", Severity::Warning, at(a, 0)),
        finding("NV103", Severity::Error, at(b, 1)),
        finding("NV103", Severity::Error, at(b, 0)),
        finding("NV103", Severity::Error, at(a, 1)),
        finding("NV103", Severity::Error, at(b, 0)),
        finding("NV101", Severity::Note, at(a, 0)),
    ];
    let mut report = Report::new(&sources, verdicts, vec![]);
    let order: Vec<_> = report.findings.iter().map(|f| (f.code.as_str(), f.labels[0].place)).collect();
    assert_eq!(
        order,
        [
            ("NV103", at(a, 1)),
            ("NV103", at(b, 0)),
            ("NV103", at(b, 1)),
            ("NV102", at(a, 0)),
            ("NV101", at(a, 0))
        ]
    );
    report.min_severity = Some(Severity::Warning);
    assert_eq!((report.counts().errors, report.counts().notes, report.counts().hidden), (3, 0, 1));
}

#[test]
fn rules_are_counted_not_rows() {
    let sources = Sources::default();
    let (pass, not) = (Outcome::Pass, Outcome::NotApplicable);
    let verdicts = vec![
        verdict("NV101", not.clone()),
        verdict("NV101", pass.clone()),
        verdict("NV102", not.clone()),
        verdict("NV103", pass),
        unknown("NV103"),
        unknown("NV103"),
    ];
    let report = Report::new(&sources, verdicts, vec![]);
    let counts = report.counts();
    assert_eq!((counts.passed, counts.not_applicable, counts.unknown), (1, 1, 1));
    assert_eq!(report.unknown[0].facts.len(), 1);
    assert_eq!(report.unknown[0].resolve(), "run as root");
}

#[test]
fn the_exit_code_follows_fail_on() {
    let mut sources = Sources::default();
    let source = sources.add("/a", Kind::File, "x");
    let place = Place { source, span: Span::new(0, 1) };
    let code = |verdicts: Vec<Verdict>, fail_on| Report::new(&sources, verdicts, vec![]).exit_code(fail_on);
    let warning = || vec![finding("NV101", Severity::Warning, place), unknown("NV102")];
    assert_eq!(code(warning(), FailOn::Error), 0);
    assert_eq!(code(warning(), FailOn::Warning), 1);
    assert_eq!(code(warning(), FailOn::Never), 0);
    let some_unknown = || vec![verdict("NV101", Outcome::Pass), unknown("NV102")];
    assert_eq!((code(some_unknown(), FailOn::Note), code(some_unknown(), FailOn::Unknown)), (0, 1));
    assert_eq!(code(vec![unknown("NV102")], FailOn::Never), 2);
    assert_eq!(code(vec![unknown("NV102"), finding("NV901", Severity::Note, place)], FailOn::Error), 2);
    assert_eq!(code(vec![verdict("NV101", Outcome::NotApplicable)], FailOn::Unknown), 0);
    assert_eq!(code(vec![], FailOn::Unknown), 0);
}

#[test]
fn an_unknown_format_finds_its_neighbour() {
    assert_eq!(Format::named("jsn").unwrap_err().to_string(), "no format `jsn`: did you mean `json`?");
    assert_eq!(Format::named("x").unwrap_err().to_string(), "no format `x`: there are text, short, json");
    assert!(Format::names().all(|name| Format::named(name).is_ok_and(|f| f.name() == name)));
}
