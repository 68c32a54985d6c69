//! A rule file exactly as it is written.

use super::expr::Flaw;
use super::law::At;
use super::raw::{Fields, Raw, RawKind, Text};
use crate::finding::{Safety, Severity};
use crate::text::Span;
use std::collections::BTreeMap;

/// All that a file says; checked against nothing but its shape.
#[derive(Clone, Debug, Default)]
pub struct RuleFile {
    pub summary: Option<Text>,
    /// Why the rule is no more; then nothing else but the summary is needed.
    pub removed: Option<Text>,
    /// The part of the program that makes the findings itself; then there is no law.
    pub made_by: Option<Text>,
    pub severity: Vec<CaseFile>,
    pub at: At,
    pub each: Option<Text>,
    pub given: Option<Text>,
    pub expect: Option<Text>,
    pub message: Option<Text>,
    pub explain: Option<Text>,
    pub links: Vec<Text>,
    pub labels: Vec<LabelFile>,
    pub fixes: Vec<FixFile>,
    pub examples: Vec<ExampleFile>,
}

#[derive(Clone, Debug)]
pub struct CaseFile {
    pub when: Option<Text>,
    pub is: Severity,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct LabelFile {
    pub fact: Option<Text>,
    pub show: Vec<Text>,
    pub text: Option<Text>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct FixFile {
    pub title: Option<Text>,
    pub when: Option<Text>,
    pub set: Option<Text>,
    pub remove: Option<Text>,
    pub moved: Option<Text>,
    pub to: Option<Raw>,
    pub element: Option<Raw>,
    pub safety: Option<Safety>,
    pub reason: Option<Text>,
    pub after: Vec<Text>,
    pub span: Span,
}

/// What an example says that the rule must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Finding,
    Pass,
    NotApplicable,
    Unknown,
}

const EXPECTED: [(&str, Expected); 4] = [
    ("finding", Expected::Finding),
    ("pass", Expected::Pass),
    ("not-applicable", Expected::NotApplicable),
    ("unknown", Expected::Unknown),
];

impl Expected {
    pub fn name(self) -> &'static str {
        EXPECTED.iter().find(|(_, e)| *e == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Debug)]
pub struct ExampleFile {
    pub name: String,
    pub expect: Option<Expected>,
    pub severity: Option<Severity>,
    /// How many findings; one if it does not say.
    pub count: Option<usize>,
    /// As written: `[example.facts]`, nested as TOML nests dotted keys.
    pub facts: Vec<(Text, Raw)>,
    pub unread: Vec<Text>,
    /// Texts of files by their node path.
    pub files: BTreeMap<String, String>,
    /// Texts after the fix.
    pub fixed: BTreeMap<String, String>,
    pub span: Span,
}

const TOP: [&str; 14] = [
    "summary", "severity", "at", "each", "given", "expect", "message", "explain", "links", "label", "fix",
    "example", "removed", "made_by",
];
const LABEL: [&str; 3] = ["fact", "text", "show"];
const FIX: [&str; 10] =
    ["title", "when", "set", "remove", "move", "to", "element", "safety", "reason", "after"];
const EXAMPLE: [&str; 8] = ["name", "expect", "severity", "count", "facts", "unread", "files", "fixed"];
const SEVERITIES: [&str; 3] = ["error", "warning", "note"];

/// Reads a document; all that is wrong with its shape is added to the flaws.
pub(super) fn read(raw: Raw, flaws: &mut Vec<Flaw>) -> RuleFile {
    let mut top = Fields::new(raw, "a rule", &TOP, flaws);
    let mut file = RuleFile {
        removed: top.text("removed"),
        made_by: top.text("made_by"),
        summary: top.text("summary"),
        at: match top.choice("at", &["now", "next-start"]) {
            Some(1) => At::NextStart,
            _ => At::Now,
        },
        each: top.text("each"),
        given: top.text("given"),
        expect: top.text("expect"),
        message: top.text("message"),
        explain: top.text("explain"),
        links: top.texts("links"),
        ..RuleFile::default()
    };
    let severity = top.take("severity");
    let (labels, fixes, examples) = (top.list("label"), top.list("fix"), top.list("example"));
    file.severity = severity.map(|raw| cases(raw, flaws)).unwrap_or_default();
    file.labels = labels.into_iter().map(|raw| label(raw, flaws)).collect();
    file.fixes = fixes.into_iter().map(|raw| fix(raw, flaws)).collect();
    file.examples = examples.into_iter().map(|raw| example(raw, flaws)).collect();
    file
}

fn severity(at: Option<usize>) -> Option<Severity> {
    at.map(|at| [Severity::Error, Severity::Warning, Severity::Note][at])
}

fn cases(raw: Raw, flaws: &mut Vec<Flaw>) -> Vec<CaseFile> {
    let span = raw.span;
    match raw.kind {
        RawKind::List(items) => {
            let mut cases = Vec::new();
            for item in items {
                let span = item.span;
                let mut fields = Fields::new(item, "a case of the severity", &["when", "is"], flaws);
                let (when, is) = (fields.text("when"), fields.choice("is", &SEVERITIES));
                match severity(is) {
                    Some(is) => cases.push(CaseFile { when, is, span }),
                    None => fields.flaw(span, "a case of the severity says what it `is`"),
                }
            }
            cases
        }
        RawKind::Text(text) => {
            if let Some(message) = super::expr::check::stranger(&text.text, &SEVERITIES, Some("severity")) {
                flaws.push(Flaw::new(span, message));
            }
            let at = SEVERITIES.iter().position(|s| *s == text.text);
            severity(at).map(|is| CaseFile { when: None, is, span }).into_iter().collect()
        }
        kind => {
            let message = format!("`severity` is text or a list of cases, this is {}", kind.describe());
            flaws.push(Flaw::new(span, message));
            Vec::new()
        }
    }
}

fn label(raw: Raw, flaws: &mut Vec<Flaw>) -> LabelFile {
    let mut fields = Fields::new(raw, "a label", &LABEL, flaws);
    LabelFile {
        span: fields.span,
        fact: fields.required("fact", "a label"),
        show: fields.texts("show"),
        text: fields.required("text", "a label"),
    }
}

fn fix(raw: Raw, flaws: &mut Vec<Flaw>) -> FixFile {
    let mut fields = Fields::new(raw, "a fix", &FIX, flaws);
    let safety = fields.choice("safety", &["manual", "unsafe", "safe"]);
    FixFile {
        span: fields.span,
        title: fields.required("title", "a fix"),
        when: fields.text("when"),
        set: fields.text("set"),
        remove: fields.text("remove"),
        moved: fields.text("move"),
        to: fields.take("to"),
        element: fields.take("element"),
        safety: safety.map(|at| [Safety::Manual, Safety::Unsafe, Safety::Safe][at]),
        reason: fields.text("reason"),
        after: fields.texts("after"),
    }
}

fn example(raw: Raw, flaws: &mut Vec<Flaw>) -> ExampleFile {
    let mut fields = Fields::new(raw, "an example", &EXAMPLE, flaws);
    let expect = fields.choice("expect", &EXPECTED.map(|(name, _)| name));
    ExampleFile {
        span: fields.span,
        name: fields.required("name", "an example").map(|t| t.text).unwrap_or_default(),
        expect: expect.map(|at| EXPECTED[at].1),
        severity: severity(fields.choice("severity", &SEVERITIES)),
        count: fields.count("count"),
        facts: fields.map("facts"),
        unread: fields.texts("unread"),
        files: files(&mut fields, "files"),
        fixed: files(&mut fields, "fixed"),
    }
}

fn files(fields: &mut Fields<'_>, key: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (path, raw) in fields.map(key) {
        match raw.kind {
            RawKind::Text(text) if path.text.starts_with('/') => {
                files.insert(path.text, text.text);
            }
            RawKind::Text(_) => fields.flaw(path.span, "a file is named by its absolute path"),
            kind => fields.flaw(raw.span, format!("a file is text, this is {}", kind.describe())),
        }
    }
    files
}
