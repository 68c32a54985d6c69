//! Words of a setting, each byte of which knows where it was written: quotes, escapes, command
//! prefixes, variables.

use super::environment::Environment;
use super::lines::BLANK;
use super::{Command, Setting};
use crate::text::{Place, SourceId, Span};
use std::ops::Range;

/// A text put together from pieces of captured texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Woven {
    text: String,
    pieces: Vec<Piece>,
}

/// A part of a woven text that stands in a captured text as it is; it ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Where it begins in the woven text.
    at: usize,
    source: SourceId,
    /// Where it begins in the captured text.
    offset: usize,
    /// Bytes written behind it that belong to it: the rest of an escape, or a variable whose value
    /// comes next.
    more: usize,
}

impl Woven {
    /// A span of one captured text.
    pub fn of(text: &str, source: SourceId, offset: usize) -> Woven {
        let mut woven = Woven::default();
        woven.push_str(text, source, offset);
        woven
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn push(&mut self, c: char, source: SourceId, offset: usize) {
        self.push_str(c.encode_utf8(&mut [0; 4]), source, offset);
    }

    pub(super) fn push_str(&mut self, text: &str, source: SourceId, offset: usize) {
        if text.is_empty() {
            return;
        }
        let at = self.text.len();
        let goes_on = self
            .pieces
            .last()
            .is_some_and(|p| p.source == source && p.more == 0 && p.offset + (at - p.at) == offset);
        if !goes_on {
            self.pieces.push(Piece { at, source, offset, more: 0 });
        }
        self.text.push_str(text);
    }

    /// What is written between what was pushed last and the end of a place belongs to it.
    fn reach(&mut self, place: Option<Place>) {
        let length = self.text.len();
        if let (Some(last), Some(place)) = (self.pieces.last_mut(), place)
            && last.source == place.source
        {
            last.more = place.span.end.saturating_sub(last.offset + (length - last.at));
        }
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        self.pieces.iter().rev().find(|p| p.at <= at)
    }

    /// The pieces within a range: each with the range that it covers, and whether to its end.
    fn within(&self, range: Range<usize>) -> impl Iterator<Item = (&Piece, Range<usize>, bool)> {
        self.pieces.iter().enumerate().filter_map(move |(i, piece)| {
            let end = self.pieces.get(i + 1).map_or(self.text.len(), |next| next.at);
            let part = piece.at.max(range.start)..end.min(range.end);
            (part.start < part.end).then(|| (piece, part.clone(), part.end == end))
        })
    }

    /// Where a range was written: from its first byte to the last one of the same captured text.
    pub fn place(&self, range: Range<usize>) -> Option<Place> {
        let first = self.piece(range.start)?;
        let start = first.offset + (range.start - first.at);
        let ends = self.within(range).filter(|(piece, ..)| piece.source == first.source);
        let end = ends
            .map(|(piece, part, whole)| {
                piece.offset + (part.end - piece.at) + if whole { piece.more } else { 0 }
            })
            .fold(start, usize::max);
        Some(Place { source: first.source, span: Span::new(start, end) })
    }

    pub(super) fn slice(&self, range: Range<usize>) -> Woven {
        let mut part = Woven::default();
        part.append_range(self, range);
        part
    }

    pub(super) fn trimmed(&self) -> Woven {
        let start = self.text.len() - self.text.trim_start_matches(BLANK).len();
        let end = self.text.trim_end_matches(BLANK).len();
        self.slice(start..end.max(start))
    }

    fn append(&mut self, other: &Woven) {
        self.append_range(other, 0..other.text.len());
    }

    fn append_range(&mut self, other: &Woven, range: Range<usize>) {
        for (piece, part, whole) in other.within(range) {
            self.push_str(&other.text[part.clone()], piece.source, piece.offset + (part.start - piece.at));
            if let Some(last) = self.pieces.last_mut().filter(|_| whole) {
                last.more = piece.more;
            }
        }
    }
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub value: Woven,
    /// The word as written, quotes and all.
    pub place: Place,
    /// The variable that it comes from, where a variable was split into words.
    pub variable: Option<String>,
}

impl Argument {
    /// A word of a captured text, written plainly.
    pub fn of(text: &str, source: SourceId, offset: usize) -> Argument {
        let place = Place { source, span: Span::new(offset, offset + text.len()) };
        Argument { value: Woven::of(text, source, offset), place, variable: None }
    }

    pub fn text(&self) -> &str {
        self.value.text()
    }

    /// Where a range of the text was written; of an empty text, the word.
    pub fn part(&self, range: Range<usize>) -> Place {
        if self.text().is_empty() {
            return self.place;
        }
        if range.is_empty() {
            let near = self.place_from(range.start);
            return Place { span: Span::new(near.span.start, near.span.start), ..near };
        }
        self.value.place(range).unwrap_or(self.place)
    }

    /// Where the text from an offset on was written.
    pub fn place_from(&self, offset: usize) -> Place {
        let range = offset.min(self.text().len())..self.text().len();
        match range.is_empty() {
            true => Place { span: Span::new(self.place.span.end, self.place.span.end), ..self.place },
            false => self.value.place(range).unwrap_or(self.place),
        }
    }
}

/// The last value of a flag, written `--name value` or `--name=value`; names with their dashes.
pub fn flag(arguments: &[Argument], names: &[&str]) -> Option<(String, Place)> {
    let mut found = None;
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = argument.text();
        if text == "--" {
            break;
        }
        if names.contains(&text) {
            if let Some(value) = rest.next() {
                found = Some((value.text().to_owned(), value.place_from(0)));
            }
        } else if let Some((name, value)) = text.split_once('=')
            && names.contains(&name)
        {
            found = Some((value.to_owned(), argument.place_from(name.len() + 1)));
        }
    }
    found
}

/// A word and where it ends in the text it was taken from.
struct Word {
    value: Woven,
    end: usize,
}

/// How a text falls into words.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Manner {
    /// As in a unit file: an unknown escape stays as it is, an open quote is an error.
    Unit,
    /// As the value of a variable: an open quote ends with the text, escapes lose their backslash.
    Variable,
}

/// Words of a whole text.
pub(super) fn split(text: &Woven, manner: Manner) -> Result<Vec<Argument>, String> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = next_start(text.text(), at) {
        let word = word(text, start, manner)?;
        at = word.end;
        words.extend(argument(text, start, word));
    }
    Ok(words)
}

fn argument(text: &Woven, start: usize, word: Word) -> Option<Argument> {
    let place = text.place(start..word.end)?;
    Some(Argument { value: word.value, place, variable: None })
}

fn next_start(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let start = at + rest.len() - rest.trim_start_matches(BLANK).len();
    (start < text.len()).then_some(start)
}

fn word(whole: &Woven, start: usize, manner: Manner) -> Result<Word, String> {
    let text = whole.text();
    let mut value = Woven::default();
    let mut quote: Option<char> = None;
    let mut at = start;
    let take = |value: &mut Woven, c: char, at: usize| {
        if let Some(place) = whole.place(at..at + 1) {
            value.push(c, place.source, place.span.start);
        }
    };
    while let Some(c) = text[at..].chars().next() {
        let here = at;
        at += c.len_utf8();
        match (c, quote) {
            ('\\', _) => {
                let Some(next) = text[at..].chars().next() else {
                    match manner {
                        Manner::Unit => take(&mut value, '\\', here),
                        Manner::Variable => {}
                    }
                    break;
                };
                match (manner, unescape(&text[at..])) {
                    (Manner::Unit, Some((real, length))) => {
                        take(&mut value, real, here);
                        at += length;
                        value.reach(whole.place(here..at));
                    }
                    (Manner::Unit, None) => {
                        take(&mut value, '\\', here);
                        take(&mut value, next, at);
                        at += next.len_utf8();
                    }
                    (Manner::Variable, _) => {
                        take(&mut value, next, at);
                        at += next.len_utf8();
                    }
                }
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            (c, None) if BLANK.contains(&c) => return Ok(Word { value, end: here }),
            (c, _) => take(&mut value, c, here),
        }
    }
    match (quote, manner) {
        (Some(open), Manner::Unit) => Err(format!("a quote {open} is not closed")),
        _ => Ok(Word { value, end: text.len() }),
    }
}

/// The character behind a backslash and how many bytes it took.
fn unescape(rest: &str) -> Option<(char, usize)> {
    let number = |start: usize, digits: usize, radix: u32| {
        let text = rest.get(start..start + digits)?;
        let all = text.chars().all(|c| c.is_digit(radix));
        let code = u32::from_str_radix(text, radix).ok().filter(|n| all && *n != 0)?;
        Some((char::from_u32(code)?, start + digits))
    };
    let plain = |c| Some((c, 1));
    match rest.chars().next()? {
        'a' => plain('\u{7}'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\u{b}'),
        's' => plain(' '),
        c @ ('\\' | '"' | '\'') => plain(c),
        'x' => number(1, 2, 16),
        'u' => number(1, 4, 16),
        'U' => number(1, 8, 16),
        '0'..='7' => number(0, 3, 8),
        _ => None,
    }
}

/// The commands of one `Exec…=` assignment.
pub(super) fn commands(setting: &Setting) -> Result<Vec<Command>, String> {
    let text = setting.value.text();
    let alone = |at: usize| text[at..].chars().next().is_none_or(|c| BLANK.contains(&c));
    let mut commands = Vec::new();
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        let first = word(&setting.value, start, Manner::Unit)?;
        at = first.end;
        let mut path = argument(&setting.value, start, first).ok_or("nothing is said")?;
        let prefix = path.text().len() - path.text().trim_start_matches(['@', '-', ':', '+', '!', '|']).len();
        let has = |c: char| path.text()[..prefix].contains(c);
        let (own_name, ignore_failure, literal) = (has('@'), has('-'), has(':'));
        path.value = path.value.slice(prefix..path.text().len());
        path.place = path.place_from(0);
        if path.text().is_empty() {
            return Err("no program is named".to_owned());
        }
        let mut argv = if own_name { Vec::new() } else { vec![path.clone()] };
        while let Some(start) = next_start(text, at) {
            if text[start..].starts_with(';') && alone(start + 1) {
                at = start + 1;
                break;
            }
            if text[start..].starts_with("\\;") && alone(start + 2) {
                at = start + 2;
                let value = setting.value.slice(start + 1..at);
                argv.extend(argument(&setting.value, start, Word { value, end: at }));
                continue;
            }
            let next = word(&setting.value, start, Manner::Unit)?;
            at = next.end;
            argv.extend(argument(&setting.value, start, next));
        }
        if argv.is_empty() {
            return Err("no name for the process after `@`".to_owned());
        }
        commands.push(Command { path, argv, ignore_failure, literal });
    }
    Ok(commands)
}

/// Variables in arguments: `$NAME` alone falls into words, `${NAME}` is replaced where it stands,
/// `$$` is a dollar.
pub(super) fn replace(argv: Vec<Argument>, environment: &Environment) -> Vec<Argument> {
    let mut out = Vec::new();
    for (i, argument) in argv.into_iter().enumerate() {
        let name = argument.text().strip_prefix('$').filter(|n| !n.starts_with(['{', '$']) && !n.is_empty());
        match name {
            Some(name) if i > 0 => {
                let Some(variable) = environment.get(name) else { continue };
                let words = split(&variable.value, Manner::Variable).unwrap_or_default();
                out.extend(words.into_iter().map(|w| Argument { variable: Some(name.to_owned()), ..w }));
            }
            _ => out.push(Argument { value: substitute(&argument.value, environment), ..argument }),
        }
    }
    out
}

fn substitute(value: &Woven, environment: &Environment) -> Woven {
    let text = value.text();
    if !text.contains('$') {
        return value.clone();
    }
    let mut out = Woven::default();
    let mut at = 0;
    while let Some(found) = text[at..].find('$').map(|i| at + i) {
        out.append(&value.slice(at..found));
        let rest = &text[found..];
        at = if rest.starts_with("$$") {
            out.append(&value.slice(found..found + 1));
            out.reach(value.place(found..found + 2));
            found + 2
        } else if let Some(end) = rest.strip_prefix("${").and_then(|r| r.find('}')) {
            // shown where it is asked for, unless nothing stands before it
            if found > at {
                out.reach(value.place(at..found + 2 + end + 1));
            }
            if let Some(variable) = environment.get(&rest[2..2 + end]) {
                out.append(&variable.value);
            }
            found + 2 + end + 1
        } else {
            out.append(&value.slice(found..found + 1));
            found + 1
        };
    }
    out.append(&value.slice(at..text.len()));
    out
}
