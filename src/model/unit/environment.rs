//! `Environment=` and `EnvironmentFile=`: what a service's processes find in their environment.
//! Files beat `Environment=`, later files beat earlier ones.

use super::words::{Manner, Woven, split};
use super::{Reader, Unit};
use crate::fact::{Known, Layer, Why};
use crate::text::{Place, SourceId, Span};
use std::collections::BTreeMap;

/// A variable and where it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub value: Woven,
    pub place: Place,
    /// [`Layer::Environment`] for a file; else the layer of the unit file or drop-in.
    pub layer: Layer,
}

#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, Variable>,
    /// The same name said earlier, weakest first.
    pub overridden: Vec<(String, Variable)>,
    /// Files that are not there though nothing allows that: the service does not start.
    pub missing: Vec<(Place, String)>,
    /// Files that are there and could not be read, and patterns: what they say is not known.
    pub unread: Vec<(String, Why)>,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.variables.iter().map(|(name, variable)| (name.as_str(), variable))
    }

    fn set(&mut self, name: String, variable: Variable) {
        if let Some(old) = self.variables.insert(name.clone(), variable) {
            self.overridden.push((name, old));
        }
    }
}

pub(super) fn of(unit: &Unit, reader: &mut dyn Reader) -> Environment {
    let mut environment = Environment::default();
    for setting in unit.list("Service", "Environment") {
        for word in split(&setting.value, Manner::Unit).unwrap_or_default() {
            let Some(equals) = word.text().find('=').filter(|i| is_name(&word.text()[..*i])) else {
                continue;
            };
            let variable = Variable {
                place: word.place_from(equals + 1),
                value: word.value.slice(equals + 1..word.text().len()),
                layer: setting.layer,
            };
            environment.set(word.text()[..equals].to_owned(), variable);
        }
    }
    for setting in unit.list("Service", "EnvironmentFile") {
        let said = setting.value.text();
        let (path, optional) = said.strip_prefix('-').map_or((said, false), |path| (path, true));
        if path.contains(['*', '?', '[', '%']) {
            let why = Why::Strange(format!("a pattern or specifier: {path}"));
            environment.unread.push((path.to_owned(), why));
            continue;
        }
        match reader.file(path) {
            Known::Is(captured) => {
                for (name, variable) in parse(captured.id, &captured.text) {
                    environment.set(name, variable);
                }
            }
            Known::Absent(_) if optional => {}
            Known::Absent(_) => environment.missing.push((setting.place, path.to_owned())),
            Known::Unknown(why) => environment.unread.push((path.to_owned(), why)),
        }
    }
    for setting in unit.list("Service", "UnsetEnvironment") {
        for word in split(&setting.value, Manner::Unit).unwrap_or_default() {
            // a name, or an assignment that is only unset as it is
            let (name, value) =
                word.text().split_once('=').map_or((word.text(), None), |(n, v)| (n, Some(v)));
            environment.variables.retain(|said, variable| {
                said != name || value.is_some_and(|value| value != variable.value.text())
            });
        }
    }
    environment
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    BeforeKey,
    Key,
    BeforeValue,
    Value,
    ValueEscape,
    Single,
    Double,
    DoubleEscape,
    Comment,
    CommentEscape,
}

/// An environment file, as systemd's src/basic/env-file.c reads it.
pub(super) fn parse(source: SourceId, text: &str) -> Vec<(String, Variable)> {
    use State::*;
    let mut found = Vec::new();
    let mut state = BeforeKey;
    let (mut key, mut key_start, mut value, mut start, mut end) = (String::new(), 0, Woven::default(), 0, 0);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let bom = text.len() - body.len();
    // the end of the text ends a line; a carriage return counts as a line end
    let chars = body.char_indices().map(|(i, c)| (i + bom, c)).chain([(text.len(), '\n')]);
    for (at, c) in chars {
        let new_line = matches!(c, '\n' | '\r');
        let mut done = false;
        match state {
            BeforeKey if matches!(c, '#' | ';') => state = Comment,
            BeforeKey if !c.is_ascii_whitespace() => {
                (state, key_start) = (Key, at);
            }
            BeforeKey => {}
            Key if new_line => state = BeforeKey,
            Key if c == '=' => {
                key = text[key_start..at].trim_end().to_owned();
                (state, value, start, end) = (BeforeValue, Woven::default(), at + 1, at + 1);
            }
            Key => {}
            BeforeValue if new_line => done = true,
            BeforeValue if c.is_ascii_whitespace() => {
                if value.text().is_empty() && start == at {
                    (start, end) = (at + 1, at + 1);
                }
            }
            BeforeValue if c == '\'' => (state, end) = (Single, at + 1),
            BeforeValue if c == '"' => (state, end) = (Double, at + 1),
            BeforeValue if c == '\\' => state = ValueEscape,
            BeforeValue => {
                state = Value;
                value.push(c, source, at);
                end = at + c.len_utf8();
            }
            Value if new_line => {
                let kept = value.text().trim_end_matches([' ', '\t']).len();
                value = value.slice(0..kept);
                done = true;
            }
            Value if c == '\\' => state = ValueEscape,
            Value => {
                value.push(c, source, at);
                if !c.is_ascii_whitespace() {
                    end = at + c.len_utf8();
                }
            }
            ValueEscape => {
                state = Value;
                if at == text.len() {
                    done = true;
                } else if !new_line {
                    value.push(c, source, at);
                    end = at + c.len_utf8();
                }
            }
            Single | Double | DoubleEscape if at == text.len() => done = true,
            Single if c == '\'' => (state, end) = (BeforeValue, at + 1),
            Double if c == '"' => (state, end) = (BeforeValue, at + 1),
            Double if c == '\\' => state = DoubleEscape,
            Single | Double => value.push(c, source, at),
            DoubleEscape => {
                state = Double;
                if matches!(c, '"' | '\\' | '`' | '$') {
                    value.push(c, source, at);
                } else if c != '\n' {
                    value.push('\\', source, at.saturating_sub(1));
                    value.push(c, source, at);
                }
            }
            Comment if c == '\\' => state = CommentEscape,
            Comment | CommentEscape if new_line => state = BeforeKey,
            Comment | CommentEscape => state = Comment,
        }
        if done {
            state = BeforeKey;
            if is_name(&key) {
                let place = Place { source, span: Span::new(start, end) };
                let value = std::mem::take(&mut value);
                found.push((std::mem::take(&mut key), Variable { value, place, layer: Layer::Environment }));
            }
        }
    }
    found
}
