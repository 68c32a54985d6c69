use super::{Facts, Fault, Harness, Scene, nothing, run};
use crate::fact::{Known, Layer, Origin, Value};
use crate::finding::{Finding, Fix};
use crate::names;
use crate::resolve::InForce;
use crate::rule::{Home, load};
use crate::text::{Kind, Place, Sources, Span};
use std::collections::BTreeMap;

const RULE: &str = r#"
summary = "s"
severity = "error"
expect = 'kubelet.configured_driver == "systemd"'
message = "it is ${kubelet.configured_driver}"
[[label]]
fact = "kubelet.configured_driver"
text = "here"
[[fix]]
title = "t"
set = "kubelet.configured_driver"
to = "systemd"
safety = "safe"
[[example]]
name = "in a file"
expect = "finding"
[example.files]
"/f" = '''
one
cgroupfs # here
'''
[example.fixed]
"/f" = '''
one
systemd # here
'''
[[example]]
name = "direct"
expect = "pass"
[example.facts]
kubelet.configured_driver = "systemd"
[[example]]
name = "absent"
expect = "not-applicable"
[[example]]
name = "unread"
expect = "unknown"
unread = ["kubelet.configured_driver"]
"#;

/// Says `cgroupfs` where that word stands, and replaces it.
struct Fake;

impl Harness for Fake {
    fn collect(&self, files: &BTreeMap<String, String>, _facts: &Facts) -> Scene {
        let mut sources = Sources::default();
        let mut now = nothing();
        for (path, text) in files {
            let source = sources.add(path.as_str(), Kind::File, text.as_str());
            let Some(at) = text.find("cgroupfs") else { continue };
            let place = Place { source, span: Span::new(at, at + 8) };
            let by = Some(Origin::new(Layer::File, place));
            let value = InForce { by, ..InForce::bare(Known::Is(Value::text("cgroupfs"))) };
            now.worlds[0].facts.set(names::find("kubelet.configured_driver").unwrap(), value);
        }
        Scene { next: now.clone(), now, sources }
    }

    fn fixed(
        &self,
        files: &BTreeMap<String, String>,
        _facts: &Facts,
        finding: &Finding,
        fix: &Fix,
    ) -> Result<BTreeMap<String, String>, String> {
        assert_eq!((finding.message.as_str(), fix.title.as_str()), ("it is cgroupfs", "t"));
        Ok(files.iter().map(|(path, text)| (path.clone(), text.replace("cgroupfs", "systemd"))).collect())
    }
}

fn failures(text: &str, harness: Option<&dyn Harness>) -> Vec<(Fault, String)> {
    let loaded = load("AB101-x.toml", text, Home::User).unwrap();
    run(&loaded, harness).failures.into_iter().map(|f| (f.fault, f.to_string())).collect()
}

#[test]
fn good_examples_hold_and_need_a_harness_for_files() {
    let loaded = load("AB101-x.toml", RULE, Home::User).unwrap();
    let outcomes = run(&loaded, Some(&Fake));
    assert_eq!((outcomes.held, outcomes.failures, outcomes.not_run), (4, vec![], vec![]));
    let outcomes = run(&loaded, None);
    assert_eq!((outcomes.held, outcomes.not_run), (3, vec!["in a file".to_owned()]));
}

#[test]
fn failures_are_noisy_missing_or_wrong() {
    for (from, to, fault, message) in [
        (
            "driver = \"systemd\"\n[[ex",
            "driver = \"cgroupfs\"\n[[ex",
            Fault::Noisy,
            "AB101-x.toml:27: noisy: direct: it is cgroupfs",
        ),
        (
            "cgroupfs # here",
            "nothing",
            Fault::Missing,
            "AB101-x.toml:14: missing: in a file: 0 of 1 findings; answers: not-applicable",
        ),
        ("one\ncgroupfs", "one # here\ncgroupfs", Fault::Wrong, "label at /f:2, expected /f:1"),
        (
            "systemd # here",
            "Systemd # here",
            Fault::Wrong,
            "/f after the fix, line 2: \"systemd # here\", expected \"Systemd # here\"",
        ),
        (
            "name = \"in a file\"",
            "severity = \"note\"\nname = \"in a file\"",
            Fault::Wrong,
            "severity error, expected note",
        ),
        ("name = \"in a file\"", "count = 2\nname = \"in a file\"", Fault::Missing, "1 of 2 findings"),
        (
            "expect = \"not-applicable\"",
            "expect = \"pass\"",
            Fault::Wrong,
            "absent: expected pass, answers: not-applicable",
        ),
        (
            "expect = \"unknown\"",
            "expect = \"pass\"",
            Fault::Wrong,
            "unknown (kubelet.configured_driver: not read)",
        ),
    ] {
        let text = RULE.replacen(from, to, 1);
        assert_ne!(text, RULE, "{from}");
        let failures = failures(&text, Some(&Fake));
        assert_eq!(failures.len(), 1, "{to}: {failures:?}");
        assert_eq!(failures[0].0, fault, "{failures:?}");
        assert!(failures[0].1.contains(message), "expected {message}, got {}", failures[0].1);
    }
}
