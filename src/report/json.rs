//! `nodevet check --format json`: one document, described by `nodevet schema check`.

use super::{Quiet, Report, Style};
use crate::fact::Value;
use crate::finding::{Edit, Finding, Fix, Label, Op};
use crate::mask;
use crate::text::{Place, Sources, Span};
use serde_json::{Map, Value as Json, json};
use std::io;

/// Raised when a key changes its meaning or goes away, not when one is added.
pub(super) const ID: &str = "nodevet/check/1";

pub(super) fn print(report: &Report<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write(&hide(document(report)), out)
}

fn document(report: &Report<'_>) -> Json {
    let counts = report.counts();
    let sources = report.sources;
    let quiet = |rules: &[Quiet]| -> Json {
        rules.iter().map(|r| json!({"code": r.code, "name": r.name, "facts": r.read})).collect()
    };
    json!({
        "schema": ID,
        "summary": {
            "errors": counts.errors,
            "warnings": counts.warnings,
            "notes": counts.notes,
            "unknown": counts.unknown,
            "suppressed": counts.suppressed,
            "passed": counts.passed,
            "not_applicable": counts.not_applicable,
            "hidden": counts.hidden,
            "kubernetes": report.kubernetes,
        },
        "node": report.node,
        "findings": report.shown().map(|f| finding(sources, f)).collect::<Json>(),
        "unknown": report.unknown.iter().map(|u| json!({
            "code": u.code,
            "name": u.name,
            "facts": u.facts.iter().map(|f| json!({"name": f.fact, "why": f.why.to_string()})).collect::<Json>(),
            "resolve": u.resolve(),
        })).collect::<Json>(),
        "suppressed": report.suppressed.iter().map(|s| {
            let at = sources.position(s.place);
            json!({
                "code": s.finding.code,
                "name": s.finding.name,
                "by": s.by.name(),
                "reason": s.reason,
                "until": s.until,
                "source": sources.get(s.place.source).name,
                "line": at.line,
                "finding": finding(sources, &s.finding),
            })
        }).collect::<Json>(),
        "passed": quiet(&report.passed),
        "not_applicable": quiet(&report.not_applicable),
        "notes": report.notes,
    })
}

fn finding(sources: &Sources, f: &Finding) -> Json {
    json!({
        "code": f.code,
        "name": f.name,
        "severity": f.severity.name(),
        "confidence": f.confidence.name(),
        "certainty": f.certainty,
        "message": f.message,
        "fingerprint": f.fingerprint(),
        "labels": f.labels.iter().enumerate().map(|(i, l)| label(sources, l, i == 0)).collect::<Json>(),
        "fixes": f.fixes.iter().map(|fix| self::fix(sources, fix)).collect::<Json>(),
        "facts": f.facts.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Json>(),
        "help": format!("nodevet explain {}", f.code),
    })
}

fn label(sources: &Sources, label: &Label, primary: bool) -> Json {
    let mut json = place(sources, label.place);
    json.insert("text".into(), label.text.clone().into());
    json.insert("primary".into(), primary.into());
    Json::Object(json)
}

/// Source, line and column of the beginning and, exclusive, of the end.
pub(super) fn place(sources: &Sources, place: Place) -> Map<String, Json> {
    let source = sources.get(place.source);
    let end = Place { span: Span::new(place.span.end, place.span.end), ..place };
    let (start, end) = (sources.position(place), sources.position(end));
    let mut map = Map::new();
    map.insert("source".into(), source.name.clone().into());
    map.insert("line".into(), start.line.into());
    map.insert("column".into(), start.column.into());
    map.insert("end_line".into(), end.line.into());
    map.insert("end_column".into(), end.column.into());
    map
}

fn fix(sources: &Sources, fix: &Fix) -> Json {
    json!({
        "title": fix.title,
        "safety": fix.safety.name(),
        "reason": fix.reason,
        "edits": fix.edits.iter().map(|e| edit(sources, e)).collect::<Json>(),
        "after": fix.after,
    })
}

fn edit(sources: &Sources, edit: &Edit) -> Json {
    let (op, path, value) = match &edit.op {
        Op::Set(path, value) => ("set", path, self::value(value)),
        Op::Remove(path) => ("remove", path, Json::Null),
        Op::RemoveElement(path, value) => ("remove-element", path, self::value(value)),
        Op::Move { from, to } => ("move", from, Json::from(to.clone())),
    };
    json!({"source": sources.get(edit.source).name, "path": path, "op": op, "value": value})
}

pub(super) fn value(value: &Value) -> Json {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Text(t) => (&**t).into(),
        Value::List(list) => list.iter().map(self::value).collect(),
    }
}

/// A document without secrets.
pub(super) fn hide(document: Json) -> Json {
    match document {
        Json::String(text) => mask::hidden(&text).into_owned().into(),
        Json::Array(items) => items.into_iter().map(hide).collect(),
        Json::Object(map) => map.into_iter().map(|(name, value)| (name, hide(value))).collect(),
        other => other,
    }
}

/// Writes a document. What a terminal would obey is written as `\u…`, which means the same.
pub(super) fn write(document: &Json, out: &mut dyn io::Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::other)?;
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c != '\n' && super::style::is_unsafe(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe.push('\n');
    out.write_all(safe.as_bytes())
}
