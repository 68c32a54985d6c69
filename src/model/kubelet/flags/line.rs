//! A whole command line.

use super::walk::{Event, Walk};
use super::{Cause, Entry, Flag, FlagKind, Parsed, Refused, Setting, value};
use crate::model::unit::Argument;

/// A command line that the kubelet takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Every use of a flag, in order.
    pub settings: Vec<Setting>,
}

/// Reads the arguments (without the program's own name) as the kubelet 1.`minor` does; the first
/// thing wrong ends it.
pub fn parse(args: &[Argument], minor: u32) -> Result<Line, Refused> {
    let mut settings = Vec::new();
    let mut first_word = None;
    for event in Walk::new(args, Some(minor)) {
        match event? {
            Event::Use(used) => {
                let value = value::read(&used, minor)?;
                let setting = |value| Setting { flag: used.flag, value, place: used.place() };
                settings.extend(value.map(setting));
            }
            Event::Word(word) => {
                first_word.get_or_insert(word);
            }
        }
    }
    match first_word {
        Some(word) => Err(Refused {
            place: word.part(0..word.text().len()),
            message: format!("unknown command {}", word.text()),
            cause: Cause::Word,
        }),
        None => Ok(Line { settings }),
    }
}

/// What can be told of a command line that the kubelet refuses: everything that is right in it.
pub(in crate::model::kubelet) fn parse_right(args: &[Argument], minor: u32) -> Line {
    let uses = Walk::new(args, None).filter_map(|event| match event {
        Ok(Event::Use(used)) => Some(used),
        _ => None,
    });
    let settings = uses.filter_map(|used| {
        let value = value::read(&used, minor).ok()??;
        Some(Setting { flag: used.flag, value, place: used.place() })
    });
    Line { settings: settings.collect() }
}

impl Line {
    /// All uses of a flag, in order.
    pub fn uses<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a Setting> {
        self.settings.iter().filter(move |setting| setting.flag.name == name)
    }

    /// The last use of a flag: what counts, unless its uses add up.
    pub fn last(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().rfind(|setting| setting.flag.name == name)
    }

    /// The text of a flag, where it is said and not empty.
    pub fn text(&self, name: &str) -> Option<(&str, &Setting)> {
        let setting = self.last(name)?;
        match &setting.value {
            Parsed::Text(text) if !text.is_empty() => Some((text, setting)),
            _ => None,
        }
    }

    /// The flag that makes the kubelet print something and end: `--help` before `--version`.
    pub fn prints(&self) -> Option<&'static Flag> {
        ["help", "version"].into_iter().find_map(|name| {
            let setting = self.last(name)?;
            let asks = match &setting.value {
                Parsed::Bool(on) => *on,
                Parsed::Text(text) => text == "raw",
                _ => false,
            };
            asks.then_some(setting.flag)
        })
    }

    /// What all uses of each flag come to, in the order in which flags are first used: the last use,
    /// or all together where uses add up. A map holds each key once (headers: as often as said); its
    /// place is that of the last use.
    pub fn in_force(&self) -> Vec<Setting> {
        let mut found: Vec<Setting> = Vec::new();
        for setting in &self.settings {
            let Some(former) = found.iter_mut().find(|former| former.flag == setting.flag) else {
                let mut first = setting.clone();
                if let Parsed::Map(entries) = &mut first.value {
                    let said = std::mem::take(entries);
                    add(entries, said, setting.flag.kind);
                }
                found.push(first);
                continue;
            };
            former.place = setting.place;
            match (&mut former.value, setting.value.clone()) {
                (Parsed::List(items), Parsed::List(more)) if setting.flag.kind.adds() => items.extend(more),
                (Parsed::Map(entries), Parsed::Map(more)) => add(entries, more, setting.flag.kind),
                (former, value) => *former = value,
            }
        }
        found
    }
}

fn add(entries: &mut Vec<Entry>, more: Vec<Entry>, kind: FlagKind) {
    for entry in more {
        // lists of pairs keep them all
        if !matches!(kind, FlagKind::Headers | FlagKind::Vmodule) {
            entries.retain(|former| former.key != entry.key);
        }
        entries.push(entry);
    }
}
