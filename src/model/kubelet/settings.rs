//! Flags, which lie over all files.

use super::effective::{Effective, Path, Refusal, Stage};
use super::flags::{self, Cause, FlagKind, Line, Parsed, Refused, Setting};
use crate::fact::{Layer, Origin, Said, Value};
use crate::model::unit::Argument;
use crate::text::Place;
use std::collections::BTreeMap;

/// A command line as a version reads it.
pub(super) struct CommandLine {
    pub line: Line,
    pub refusal: Option<Refusal>,
}

/// Reads a command line; of one that is refused, what is right in it.
pub(super) fn read(args: &[Argument], minor: u32) -> CommandLine {
    let (line, refused) = match flags::parse(args, minor) {
        Ok(line) => {
            let refused = flags::check_labels(&line.settings).err();
            (line, refused.map(|refused| refusal(&refused)))
        }
        Err(refused) => (flags::parse_right(args, minor), Some(refusal(&refused))),
    };
    let prints = line.prints().and_then(|flag| {
        let place = line.last(flag.name)?.place;
        let message = format!("with --{} the kubelet prints and ends", flag.name);
        Some(refuse(place, message))
    });
    CommandLine { refusal: refused.or(prints), line }
}

fn refuse(place: Place, message: String) -> Refusal {
    Refusal { stage: Stage::Flags, message, origin: Origin::new(Layer::Flag, place), missing: false }
}

fn refusal(refused: &Refused) -> Refusal {
    let more = match refused.cause {
        Cause::Unknown { nearest: Some(nearest) } => format!("; did you mean --{nearest}?"),
        Cause::Gone(flag) => flag.until.map(|until| format!(", which 1.{until} removed")).unwrap_or_default(),
        Cause::NotYet(flag) => {
            flag.since.map(|since| format!(", which came with 1.{since}")).unwrap_or_default()
        }
        _ => String::new(),
    };
    refuse(refused.place, format!("{}{more}", refused.message))
}

/// Flags that are deprecated, each where it stands.
pub(super) fn deprecated(line: &Line) -> Vec<Said> {
    let old = line.settings.iter().filter(|setting| setting.flag.deprecated);
    old.map(|setting| said(Value::text(format!("--{}", setting.flag.name)), setting.place)).collect()
}

/// Lays the flags over what the files say.
pub(super) fn over(config: &mut Effective, line: &Line) {
    for setting in line.in_force() {
        if !setting.flag.sets.is_empty() {
            let path = setting.flag.sets.iter().map(|name| (*name).to_owned()).collect();
            lay(config, path, &setting);
        }
    }
}

fn said(value: Value, place: Place) -> Said {
    Said { value, origin: Origin::new(Layer::Flag, place) }
}

fn lay(config: &mut Effective, path: Path, setting: &Setting) {
    let one = |value| said(value, setting.place);
    match &setting.value {
        Parsed::Bool(is) => push(config, path, one(Value::Bool(*is))),
        Parsed::Int(number) => push(config, path, one(Value::Int(*number))),
        Parsed::Text(text) => push(config, path, one(Value::text(text.as_str()))),
        Parsed::List(items) => {
            let elements: Vec<Said> =
                items.iter().map(|item| said(Value::text(item.text.as_str()), item.place)).collect();
            let value = Value::List(elements.iter().map(|said| said.value.clone()).collect());
            config.elements.insert(path.clone(), elements);
            push(config, path, one(value));
        }
        Parsed::Map(entries) => {
            let mut by_key: BTreeMap<&str, Vec<&flags::Entry>> = BTreeMap::new();
            for entry in entries {
                by_key.entry(&entry.key).or_default().push(entry);
            }
            // a map is replaced, gates are set one by one
            if setting.flag.kind != FlagKind::Gates {
                config.said.retain(|at| {
                    !(at.len() == path.len() + 1 && at.starts_with(&path))
                        || by_key.contains_key(at[path.len()].as_str())
                });
                config.maps.insert(path.clone(), setting.place);
            }
            for (key, entries) in by_key {
                let Some(last) = entries.last() else { continue };
                let value = match setting.flag.kind {
                    FlagKind::Headers => Value::List(entries.iter().map(|e| e.value.clone()).collect()),
                    _ => last.value.clone(),
                };
                let at = path.iter().cloned().chain([key.to_owned()]).collect();
                push(config, at, said(value, last.place));
            }
        }
    }
}

fn push(config: &mut Effective, path: Path, said: Said) {
    config.said.entry(&path).push(said);
}
