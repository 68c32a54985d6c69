//! `NAME = value   file:line:col (layer)`, and below it what was overridden.

use super::Facts;
use crate::fact::{Decl, Known, Origin, Type, Value};
use crate::report::style::{Ink, wrap};
use crate::report::{Detail, Style};
use crate::resolve::InForce;
use crate::text::Sources;
use std::fmt::Write as _;
use std::io;

pub(super) fn print(facts: &Facts<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page { sources: facts.sources, style, text: String::new() };
    for id in facts.chosen {
        let decl = id.decl();
        page.fact(decl.name, facts.worlds.merged.get(*id), decl, 0);
        for (world, there) in facts.differing(*id) {
            page.fact(&format!("in {world}"), there, decl, 2);
        }
        if style.detail == Detail::Verbose {
            let _ = writeln!(
                page.text,
                "  {}",
                style.paint(Ink::Dim, &wrap(&style.clean(decl.doc), 2, 2, style.width))
            );
        }
    }
    out.write_all(page.text.as_bytes())
}

struct Page<'a> {
    sources: &'a Sources,
    style: &'a Style,
    text: String,
}

impl Page<'_> {
    fn line(&mut self, indent: usize, said: &str, origin: Option<&Origin>) {
        let _ = write!(self.text, "{}{said}", " ".repeat(indent));
        if let Some(origin) = origin {
            let at = self.sources.position(origin.place);
            let name = self.style.clean(&self.sources.get(origin.place.source).name);
            let from = format!("{name}:{}:{} ({})", at.line, at.column, origin.layer.name());
            let _ = write!(self.text, "   {}", self.style.paint(Ink::Dim, &from));
        }
        self.text.push('\n');
    }

    fn fact(&mut self, name: &str, fact: &InForce, decl: &Decl, indent: usize) {
        let style = *self.style;
        let name = style.paint(Ink::Bold, &style.clean(name));
        match &fact.value {
            Known::Is(_) if matches!(decl.ty, Type::Table { .. }) => {
                let rows = if fact.rows.len() == 1 { "row" } else { "rows" };
                self.line(indent, &format!("{name}: {} {rows}", fact.rows.len()), fact.by.as_ref());
                self.rows(fact, decl, indent + 2);
            }
            Known::Is(value) if fact.elements.is_empty() => {
                self.line(indent, &format!("{name} = {}", shown(value, &style)), fact.by.as_ref());
            }
            Known::Is(value) => {
                let first = &fact.elements[0].origin;
                let scattered = fact.elements.iter().any(|e| e.origin.place.source != first.place.source);
                let single = !scattered && style.detail < Detail::Verbose;
                self.line(indent, &format!("{name} = {}", shown(value, &style)), single.then_some(first));
                for element in fact.elements.iter().filter(|_| !single) {
                    self.line(indent + 2, &shown(&element.value, &style), Some(&element.origin));
                }
            }
            Known::Absent(note) => {
                let note = if note.is_empty() { String::new() } else { format!(" ({})", style.clean(note)) };
                self.line(indent, &format!("{name} is absent{note}"), fact.by.as_ref());
            }
            Known::Unknown(why) => {
                let why = style.clean(&format!("{why}; to know it: {}", why.remedy()));
                self.line(indent, &format!("{name} is unknown: {why}"), None);
            }
        }
        for said in &fact.overridden {
            let line = format!("overrides {}", shown(&said.value, &style));
            self.line(indent + 2, &line, Some(&said.origin));
        }
    }

    fn rows(&mut self, fact: &InForce, decl: &Decl, indent: usize) {
        let Type::Table { row: what, columns } = &decl.ty else { return };
        for (number, row) in fact.rows.iter().enumerate() {
            let named = row.first().and_then(|cell| cell.value.is()).map(|v| shown(v, self.style));
            let named = named.unwrap_or_else(|| (number + 1).to_string());
            self.line(indent, &self.style.paint(Ink::Dim, &format!("{what} {named}")), None);
            for (column, cell) in columns.iter().zip(&**row) {
                // What a row does not say is left out, unless there is a reason or everything is asked for.
                let silent = cell.value == Known::ABSENT && cell.overridden.is_empty();
                if !silent || self.style.detail == Detail::Verbose {
                    self.fact(column.name, cell, column, indent + 2);
                }
            }
        }
    }
}

fn shown(value: &Value, style: &Style) -> String {
    match value {
        Value::Text(text) if text.is_empty() => "\"\"".into(),
        Value::List(list) if list.is_empty() => "[]".into(),
        Value::List(list) => list.iter().map(|v| shown(v, style)).collect::<Vec<_>>().join(", "),
        value => style.clean(&value.to_string()),
    }
}
