//! Fixes: what may be set, and with what.

use super::super::expr::check::stranger;
use super::super::expr::{Flaw, Ref, Scope};
use super::super::file::FixFile;
use super::super::law::{Action, FixSpec, To};
use super::super::raw::{Raw, RawKind, Text};
use super::super::template::Template;
use super::{condition, named, template};
use crate::fact::{Decl, Type, Value};
use crate::finding::Safety;
use crate::names;
use crate::text::Span;

pub(super) fn fix(written: &FixFile, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<FixSpec> {
    let title = written.title.as_ref().map(|t| template(t, scope, flaws));
    let when = written.when.as_ref().and_then(|w| condition(w, scope, flaws));
    let action = action(written, scope, flaws);
    let reason = written.reason.as_ref().map(|t| template(t, scope, flaws));
    let after = written.after.iter().map(|t| template(t, scope, flaws)).collect();
    let acts = written.set.is_some() || written.remove.is_some() || written.moved.is_some();
    let Some(safety) = written.safety else {
        flaws.push(Flaw::new(written.span, "a fix says its `safety`: safe, unsafe or manual"));
        return None;
    };
    if safety != Safety::Safe && reason.is_none() {
        flaws.push(Flaw::new(written.span, "a fix that is not safe gives a `reason`"));
    }
    match (safety, acts) {
        (Safety::Manual, true) => {
            flaws.push(Flaw::new(
                written.span,
                "a manual fix changes nothing itself: no `set`, `remove` or `move`",
            ));
        }
        (Safety::Unsafe | Safety::Safe, false) => {
            flaws.push(Flaw::new(
                written.span,
                "a fix says `set`, `remove` or `move`, or its safety is manual",
            ));
        }
        _ => {}
    }
    Some(FixSpec { title: title?, when, action, safety, reason, after })
}

fn action(written: &FixFile, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<Action> {
    let named_actions = [&written.set, &written.remove, &written.moved];
    if named_actions.iter().filter(|a| a.is_some()).count() > 1 {
        flaws.push(Flaw::new(written.span, "a fix does one of `set`, `remove` and `move`"));
    }
    if let (None, Some(element)) = (&written.remove, &written.element) {
        flaws.push(Flaw::new(element.span, "`element` belongs to `remove`"));
    }
    let takes_to = written.set.is_some() || written.moved.is_some();
    match &written.to {
        Some(to) if !takes_to => flaws.push(Flaw::new(to.span, "`to` belongs to `set` and `move`")),
        None if takes_to => flaws.push(Flaw::new(written.span, "`set` and `move` need `to`")),
        _ => {}
    }
    if let Some(set) = &written.set {
        let fact = target(set, true, scope, flaws)?;
        let to = value(written.to.as_ref()?, &fact.decl(scope.each)?.ty, set, scope, flaws)?;
        return Some(Action::Set { fact, to });
    }
    if let Some(remove) = &written.remove {
        let fact = target(remove, false, scope, flaws)?;
        let ty = &fact.decl(scope.each)?.ty;
        let element = match (&written.element, ty) {
            (None, _) => None,
            (Some(raw), Type::List(inner)) => Some(value(raw, inner, remove, scope, flaws)?),
            (Some(raw), _) => {
                flaws.push(Flaw::new(raw.span, format!("`{}` is not a list", remove.text)));
                None
            }
        };
        return Some(Action::Remove { fact, element });
    }
    let moved = written.moved.as_ref()?;
    let fact = target(moved, false, scope, flaws)?;
    let to = match &written.to.as_ref()?.kind {
        RawKind::Text(text) => path(text, scope, flaws),
        kind => {
            let span = written.to.as_ref().map_or(written.span, |t| t.span);
            flaws.push(Flaw::new(span, format!("a move goes to a dotted path, this is {}", kind.describe())));
            return None;
        }
    };
    Some(Action::Move { fact, to })
}

/// Whether some model can say where a fact is written.
fn has_home(at: Ref, decl: &Decl, scope: &Scope) -> bool {
    let name = match (at, scope.each) {
        (Ref::Cell(_), Some(table)) => table.decl().name,
        _ => decl.name,
    };
    let through = |d: &Decl| d.set_through == Some(name);
    decl.set_through.is_some() || matches!(at, Ref::Fact(_)) && names::all().any(|id| through(id.decl()))
}

/// A row stands in a file, so it can be removed and moved; to set it its home must be known.
fn target(text: &Text, set: bool, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<Ref> {
    let at = named(text, scope, flaws)?;
    let decl = at.decl(scope.each)?;
    let row = matches!(at, Ref::Cell(_));
    if matches!(decl.ty, Type::Table { .. }) || (!has_home(at, decl, scope) && (set || !row)) {
        flaws.push(Flaw::new(
            text.span,
            format!("nothing says where `{}` is written: no fix can change it", text.text),
        ));
        return None;
    }
    Some(at)
}

fn value(raw: &Raw, ty: &Type, fact: &Text, scope: &Scope, flaws: &mut Vec<Flaw>) -> Option<To> {
    let wrong = |what: &str| Flaw::new(raw.span, format!("`{}` does not take {what}", fact.text));
    match (&raw.kind, ty) {
        (RawKind::Bool(b), Type::Bool) => Some(To::Value(Value::Bool(*b))),
        (RawKind::Int(i), Type::Int) => Some(To::Value(Value::Int(*i))),
        (RawKind::Text(text), Type::Text | Type::OneOf(_) | Type::Version) => {
            let filled = template(text, scope, flaws);
            let Some(plain) = filled.plain() else { return Some(To::Text(filled)) };
            if let Type::OneOf(set) = ty
                && let Some(message) = stranger(plain, set, Some(&fact.text))
            {
                flaws.push(Flaw::new(raw.span, message));
            }
            Some(To::Value(Value::text(plain)))
        }
        (RawKind::List(items), Type::List(inner)) => {
            let mut values = Vec::new();
            for item in items {
                match value(item, inner, fact, scope, flaws)? {
                    To::Value(value) => values.push(value),
                    To::Text(_) => flaws.push(Flaw::new(item.span, "a list is written out: no `${…}` in it")),
                }
            }
            Some(To::Value(Value::List(values)))
        }
        (kind, _) => {
            flaws.push(wrong(kind.describe()));
            None
        }
    }
}

/// `plugins.'io.containerd.cri.v1.runtime'.${key.name}`: a dotted path; what is filled in stays
/// one part of it, whatever it contains.
fn path(text: &Text, scope: &Scope, flaws: &mut Vec<Flaw>) -> Vec<Template> {
    let mut parts = Vec::new();
    let (mut start, mut quote, mut slot) = (0, None, false);
    let mut cut = |from: usize, to: usize| {
        let part = &text.text[from..to];
        let quoted = part.len() > 1 && part.starts_with(['\'', '"']) && part.ends_with(&part[..1]);
        let (part, from) = if quoted { (&part[1..part.len() - 1], from + 1) } else { (part, from) };
        if part.is_empty() && !quoted {
            flaws.push(Flaw::new(text.within(Span::new(from, to)), "a part of this path is empty"));
        }
        let mut found = Vec::new();
        parts.push(Template::parse(part, scope, &mut found));
        let moved =
            |f: Flaw| Flaw::new(text.within(Span::new(f.span.start + from, f.span.end + from)), f.message);
        flaws.extend(found.into_iter().map(moved));
    };
    for (i, c) in text.text.char_indices() {
        match (c, quote) {
            ('\'' | '"', None) if !slot => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            ('{', None) => slot = true,
            ('}', None) => slot = false,
            ('.', None) if !slot => {
                cut(start, i);
                start = i + 1;
            }
            _ => {}
        }
    }
    cut(start, text.text.len());
    parts
}
