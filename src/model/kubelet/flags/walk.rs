//! pflag's walk over the words: which flag each one is, and where its value stands.

use super::quote::{quoted, quoted_char};
use super::{Cause, Flag, Refused, table};
use crate::model::unit::Argument;
use crate::text::Place;
use std::ops::Range;

/// A flag with its value as written.
pub(super) struct Use<'a> {
    pub(super) flag: &'static Flag,
    /// The word that holds the value, and where in it; the flag itself where it stands alone.
    pub(super) word: &'a Argument,
    range: Range<usize>,
    alone: bool,
}

impl Use<'_> {
    pub(super) fn text(&self) -> &str {
        if self.alone { "true" } else { &self.word.text()[self.range.clone()] }
    }

    pub(super) fn place(&self) -> Place {
        self.word.part(self.range.clone())
    }

    /// The place of a part of the value.
    pub(super) fn part(&self, range: Range<usize>) -> Place {
        if self.alone {
            return self.place();
        }
        let start = self.range.start;
        self.word.part(start + range.start..start + range.end)
    }
}

pub(super) enum Event<'a> {
    Use(Use<'a>),
    /// A word that belongs to no flag.
    Word(&'a Argument),
}

/// Goes on after an error, with the next word.
pub(super) struct Walk<'a> {
    rest: std::slice::Iter<'a, Argument>,
    /// Without one every flag of any version is known.
    minor: Option<u32>,
    /// Letters behind one dash that are still to be read: the word, and where the next one is.
    letters: Option<(&'a Argument, usize)>,
    ended: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(words: &'a [Argument], minor: Option<u32>) -> Self {
        Walk { rest: words.iter(), minor, letters: None, ended: false }
    }

    fn knows(&self, flag: &Flag) -> bool {
        self.minor.is_none_or(|minor| flag.is_in(minor))
    }

    fn long(&mut self, word: &'a Argument) -> Result<Event<'a>, Refused> {
        let text = word.text();
        let refuse = |range, message, cause| Refused { place: word.part(range), message, cause };
        let rest = &text[2..];
        if rest.starts_with(['-', '=']) {
            return Err(refuse(0..text.len(), format!("bad flag syntax: {text}"), Cause::Syntax));
        }
        let (name, inline) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
        let end = 2 + name.len();
        let flag = match table::find(name) {
            Some(flag) if self.knows(flag) => flag,
            other => {
                let cause = unknown(other, name, self.minor);
                return Err(refuse(0..end, format!("unknown flag: --{name}"), cause));
            }
        };
        Ok(Event::Use(match inline {
            Some(_) => Use { flag, word, range: end + 1..text.len(), alone: false },
            None if flag.kind.alone() => Use { flag, word, range: 0..end, alone: true },
            None => self.next_word(flag).ok_or_else(|| {
                refuse(0..end, format!("flag needs an argument: {text}"), Cause::NoValue(flag))
            })?,
        }))
    }

    fn next_word(&mut self, flag: &'static Flag) -> Option<Use<'a>> {
        let word = self.rest.next()?;
        Some(Use { flag, word, range: 0..word.text().len(), alone: false })
    }

    /// The letter at an offset of a word that begins with one dash.
    fn letter(&mut self, word: &'a Argument, at: usize) -> Option<Result<Event<'a>, Refused>> {
        let text = word.text();
        let letters = &text[at..];
        // Go's own test flags are passed over
        if letters.starts_with("test.") {
            return None;
        }
        let letter = letters.chars().next()?;
        let next = at + letter.len_utf8();
        let refuse = |message, cause| Refused { place: word.part(0..next), message, cause };
        let Some(flag) = table::find_short(letter).filter(|flag| self.knows(flag)) else {
            // one letter is looked up by its first byte
            let shown = quoted_char(letters.as_bytes().first().map_or('-', |b| char::from(*b)));
            let meant = letters.split('=').next().and_then(table::find).map(|flag| flag.name);
            let message = format!("unknown shorthand flag: {shown} in -{letters}");
            return Some(Err(refuse(message, Cause::Unknown { nearest: meant })));
        };
        let value = |range| Use { flag, word, range, alone: false };
        Some(Ok(Event::Use(if letters.len() > 2 && text[next..].starts_with('=') {
            value(next + 1..text.len())
        } else if flag.kind.alone() {
            self.letters = (next < text.len()).then_some((word, next));
            Use { flag, word, range: at..next, alone: true }
        } else if next < text.len() {
            value(next..text.len())
        } else {
            match self.next_word(flag) {
                Some(used) => used,
                None => {
                    let shown = quoted_char(letter);
                    let message = format!("flag needs an argument: {shown} in -{letters}");
                    return Some(Err(refuse(message, Cause::NoValue(flag))));
                }
            }
        })))
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Event<'a>, Refused>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((word, at)) = self.letters.take()
            && let Some(event) = self.letter(word, at)
        {
            return Some(event);
        }
        loop {
            let word = self.rest.next()?;
            let text = word.text();
            if self.ended || !text.starts_with('-') || text == "-" {
                return Some(Ok(Event::Word(word)));
            }
            if text == "--" {
                self.ended = true;
            } else if text.starts_with("--") {
                return Some(self.long(word));
            } else if let Some(event) = self.letter(word, 1) {
                return Some(event);
            }
        }
    }
}

/// Why a name is not known: another version has it, or none.
fn unknown(found: Option<&'static Flag>, name: &str, minor: Option<u32>) -> Cause {
    match found {
        Some(flag) if flag.until.zip(minor).is_some_and(|(until, minor)| until <= minor) => Cause::Gone(flag),
        Some(flag) => Cause::NotYet(flag),
        None => {
            let known = table::all().filter(|flag| minor.is_none_or(|minor| flag.is_in(minor)));
            Cause::Unknown { nearest: crate::names::nearest(&name.replace('_', "-"), known.map(|f| f.name)) }
        }
    }
}

/// The error of a value that does not fit its flag.
pub(super) fn invalid(used: &Use<'_>, part: Option<Range<usize>>, error: &str) -> Refused {
    let flag = used.flag;
    let name = match flag.short {
        Some(short) => format!("-{short}, --{}", flag.name),
        None => format!("--{}", flag.name),
    };
    Refused {
        place: part.map_or_else(|| used.place(), |range| used.part(range)),
        message: format!("invalid argument {} for {} flag: {error}", quoted(used.text()), quoted(&name)),
        cause: Cause::Value(flag),
    }
}
