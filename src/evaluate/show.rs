//! What a finding shows: labels, fixes, and the facts that decided.

use super::view::View;
use crate::fact::{Known, Layer, Origin, Said, Type, Value};
use crate::finding::{Fix, Intent, Label};
use crate::rule::Rule;
use crate::rule::expr::{Facts, Ref, evaluate as run};
use crate::rule::law::{Action, To};
use crate::text::{Place, Sources, Span};

/// Labels at the places of their facts. A value that stands nowhere is shown at the nearest place
/// in a file, with the default as one label more; a fact that has no place at all has no label.
/// The first label is never missing while the row has a place.
pub(super) fn labels(rule: &Rule, view: &View<'_>, sources: &Sources) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for (i, spec) in rule.told.labels.iter().enumerate() {
        let Some(in_force) = view.in_force(spec.fact) else { continue };
        let text = spec.text.fill(view);
        let shown = |said: &&crate::fact::Said| {
            said.value.as_text().is_some_and(|t| spec.show.iter().any(|wanted| wanted == t))
        };
        let origins: Vec<&Origin> = if spec.show.is_empty() {
            in_force.by.iter().collect()
        } else {
            in_force.elements.iter().filter(shown).map(|said| &said.origin).collect()
        };
        if i > 0 && !matches!(in_force.value, Known::Is(_)) {
            continue;
        }
        let mut defaults = Vec::new();
        let whole = spec.show.is_empty().then(|| whole(&in_force.elements, sources)).flatten();
        for origin in origins {
            push(&mut labels, whole.or(origin.near).unwrap_or(origin.place), text.clone());
            if origin.near.is_some() && origin.layer == Layer::Default {
                let of = sources.get(origin.place.source).name.replace("default:", "");
                defaults.push((origin.place, format!("the default of {of}")));
            }
        }
        for (place, text) in defaults {
            push(&mut labels, place, text);
        }
        if i == 0 && labels.is_empty() {
            let row = view.row.and_then(|(_, cells)| cells.iter().find_map(|cell| cell.by.as_ref()));
            labels.extend(row.map(|origin| Label { place: origin.near.unwrap_or(origin.place), text }));
        }
    }
    labels
}

/// A list that is written on one line is shown as a whole; else its last element stands for it.
fn whole(elements: &[Said], sources: &Sources) -> Option<Place> {
    let (first, last) = (&elements.first()?.origin, &elements.last()?.origin);
    let line = |origin: &Origin| (origin.place.source, sources.position(origin.place).line);
    let one = first.near.is_none() && line(first) == line(last);
    let span = Span::new(first.place.span.start, last.place.span.end);
    one.then_some(Place { source: first.place.source, span })
}

/// One place carries one label.
fn push(labels: &mut Vec<Label>, place: Place, text: String) {
    if !labels.iter().any(|label| label.place == place && label.text == text) {
        labels.push(Label { place, text });
    }
}

/// Fixes whose `when` is true; edits come later.
pub(super) fn fixes(rule: &Rule, view: &View<'_>) -> Vec<Fix> {
    let row = view.row.map(|(index, _)| index);
    let again = row
        .filter(|_| rule.told.fixes.iter().any(|fix| fix.action.is_some()))
        .and_then(|index| row_again(view, index));
    let of_row = |at: Ref| if matches!(at, Ref::Cell(_)) { row } else { None };
    let value = |to: &To| match to {
        To::Value(value) => value.clone(),
        To::Text(template) => Value::text(template.fill(view)),
    };
    rule.told
        .fixes
        .iter()
        .filter(|spec| spec.when.as_ref().is_none_or(|when| run(when, view).is_true()))
        .map(|spec| Fix {
            title: spec.title.fill(view),
            safety: spec.safety,
            reason: spec.reason.as_ref().map(|reason| reason.fill(view)),
            intent: spec.action.as_ref().map(|action| match action {
                Action::Set { fact, to } => {
                    Intent::Set { fact: fact.name(rule.each), row: of_row(*fact), value: value(to) }
                }
                Action::Remove { fact, element } => Intent::Remove {
                    fact: fact.name(rule.each),
                    row: of_row(*fact),
                    element: element.as_ref().map(value),
                },
                Action::Move { fact, to } => Intent::Move {
                    fact: fact.name(rule.each),
                    row: of_row(*fact),
                    to: to.iter().map(|part| part.fill(view)).collect(),
                },
            }),
            row: again.clone(),
            edits: Vec::new(),
            after: spec.after.iter().map(|command| command.fill(view)).collect(),
        })
        .collect()
}

fn row_again(view: &View<'_>, index: usize) -> Option<(Value, usize)> {
    let rows = &view.facts.get(view.each?).rows;
    let first = |at: usize| rows.get(at)?.first()?.value.is();
    let own = first(index)?;
    let before = (0..index).filter(|at| first(*at) == Some(own)).count();
    Some((own.clone(), before))
}

/// Facts that decided, with their values. The first column says which row; versions are left out:
/// an update must not make an old finding new.
pub(super) fn facts(rule: &Rule, reads: &[Ref], view: &View<'_>) -> Vec<(String, String)> {
    let row = rule.each.map(|_| Ref::Cell(0)).filter(|at| !reads.contains(at));
    row.iter()
        .chain(reads)
        .filter(|at| !at.decl(rule.each).is_some_and(|d| matches!(d.ty, Type::Version)))
        .map(|at| {
            let value = match view.value(*at) {
                Known::Is(value) => value.to_string(),
                Known::Absent(_) => "absent".to_owned(),
                Known::Unknown(_) => "unknown".to_owned(),
            };
            (at.name(rule.each), value)
        })
        .collect()
}
