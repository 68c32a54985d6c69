//! Lines of a unit file: comments, continuation, sections, assignments.

use super::words::{self, Woven};
use super::{Setting, Unit};
use crate::fact::Layer;
use crate::text::{Place, SourceId, Span};

pub(super) const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Adds what one file says.
pub(super) fn read(unit: &mut Unit, source: SourceId, text: &str, layer: Layer) {
    let mut section: Option<String> = None;
    let mut pending: Option<Woven> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let body = if start == 0 { body.strip_prefix('\u{feff}').unwrap_or(body) } else { body };
        let inner = body.trim_start_matches(BLANK);
        // also between the lines of one assignment
        if inner.starts_with(['#', ';']) {
            continue;
        }
        let offset = start + line.trim_end_matches(['\n', '\r']).len() - inner.len();
        let mut logical = pending.take().unwrap_or_default();
        // an odd number of backslashes at the end: the last one stands for a blank
        if (inner.len() - inner.trim_end_matches('\\').len()) % 2 == 1 {
            logical.push_str(&inner[..inner.len() - 1], source, offset);
            logical.push(' ', source, offset + inner.len() - 1);
            pending = Some(logical);
            continue;
        }
        logical.push_str(inner, source, offset);
        assignment(unit, &mut section, logical, layer, source, offset);
    }
    if let Some(logical) = pending {
        assignment(unit, &mut section, logical, layer, source, text.len());
    }
}

fn assignment(
    unit: &mut Unit,
    section: &mut Option<String>,
    line: Woven,
    layer: Layer,
    source: SourceId,
    offset: usize,
) {
    let line = line.trimmed();
    let text = line.text();
    if text.is_empty() {
        return;
    }
    let here = line.place(0..text.len()).unwrap_or(Place { source, span: Span::new(offset, offset) });
    if let Some(inner) = text.strip_prefix('[') {
        match inner.strip_suffix(']') {
            Some(name) => *section = Some(name.to_owned()),
            None => unit.problems.push((here, format!("not a section header: {text}"))),
        }
        return;
    }
    let Some(equals) = text.find('=') else {
        unit.problems.push((here, format!("no `=` in this line: {text}")));
        return;
    };
    let Some(section) = section else {
        unit.problems.push((here, format!("an assignment before any section: {text}")));
        return;
    };
    let value = line.slice(equals + 1..text.len()).trimmed();
    let after = line.place(equals..equals + 1).map_or(here.span.end, |p| p.span.end);
    let empty = Place { source, span: Span::new(after, after) };
    let setting = Setting {
        section: section.clone(),
        name: text[..equals].trim_matches(BLANK).to_owned(),
        place: value.place(0..value.text().len()).unwrap_or(empty),
        value,
        layer,
    };
    if setting.section == "Service"
        && setting.name.starts_with("Exec")
        && let Err(message) = words::commands(&setting)
    {
        unit.problems.push((setting.place, format!("{}: {message}", setting.name)));
    }
    unit.settings.push(setting);
}
