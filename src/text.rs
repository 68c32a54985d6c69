//! Captured texts. Everything that is ever shown is a span of one of them: a file, a listing,
//! a bus or CRI reply, a command line, a documented default.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which captured text; an index into [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A half-open range of bytes, `start..end`, in one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }
}

/// A span in a captured text: where a value was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub source: SourceId,
    pub span: Span,
}

/// What kind of text it is. Only [`Kind::File`] may be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A file of the node; its name is the absolute node path.
    File,
    /// A pseudo file below /proc, /sys, /run or /dev; its name is the absolute node path.
    Entry,
    /// The entries of a directory, one a line, sorted; its name is the directory's node path.
    Listing,
    /// `dbus:UNIT`: properties as `Name=Value` lines.
    Bus,
    /// `cri:METHOD`: the answer, as JSON.
    Cri,
    /// `argv:PID`: the arguments of a process, one a line.
    Argv,
    /// `default:DAEMON-VERSION`: a documented default.
    Default,
    /// `package:NAME`, `binary:PATH`: evidence of a version.
    Package,
    /// `assume:NAME`: said on the command line of nodevet.
    Assumed,
}

/// One captured text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As shown to people and in machine output (architecture: names of sources).
    pub name: String,
    pub text: Arc<str>,
    pub kind: Kind,
}

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// All texts captured in one run. A text is added once and never changes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    all: Vec<Source>,
    /// By name, those that have it.
    named: BTreeMap<String, Vec<u32>>,
    /// Where the lines of each begin; found when one is asked for.
    lines: Vec<OnceCell<Vec<usize>>>,
}

impl Sources {
    /// Adds a text, or finds the equal one that is already there (same name, kind and text).
    pub fn add(&mut self, name: impl Into<String>, kind: Kind, text: impl Into<Arc<str>>) -> SourceId {
        let source = Source { name: name.into(), text: text.into(), kind };
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let namesakes = match self.named.get_mut(&source.name) {
            Some(ids) => ids,
            None => self.named.entry(source.name.clone()).or_default(),
        };
        if let Some(known) = namesakes.iter().find(|id| self.all[**id as usize] == source) {
            return SourceId(*known);
        }
        namesakes.push(next);
        self.all.push(source);
        self.lines.push(OnceCell::new());
        SourceId(next)
    }

    pub fn get(&self, id: SourceId) -> &Source {
        &self.all[id.0 as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.all.iter().enumerate().map(|(i, s)| (SourceId(i as u32), s))
    }

    /// The text of a place; empty if the span does not fit the text.
    pub fn slice(&self, place: Place) -> &str {
        self.get(place.source).text.get(place.span.start..place.span.end).unwrap_or("")
    }

    /// Where a place begins.
    pub fn position(&self, place: Place) -> Position {
        let text = &*self.get(place.source).text;
        let breaks = || text.match_indices('\n').map(|(at, _)| at + 1);
        let starts =
            self.lines[place.source.0 as usize].get_or_init(|| [0].into_iter().chain(breaks()).collect());
        let offset = whole(text, place.span.start);
        let line = starts.partition_point(|start| *start <= offset);
        Position { line, column: text[starts[line - 1]..offset].chars().count() + 1 }
    }
}

/// Line and column of a byte offset; an offset past the end counts as the end.
pub fn position(text: &str, offset: usize) -> Position {
    let before = &text[..whole(text, offset)];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    Position { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
}

/// The offset, within the text and at a character's beginning.
fn whole(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The span of line `line` (from 1), without its line end; empty at the end when there is no such line.
pub fn line_span(text: &str, line: usize) -> Span {
    let mut start = 0;
    for _ in 1..line {
        match text[start..].find('\n') {
            Some(i) => start += i + 1,
            None => return Span::new(text.len(), text.len()),
        }
    }
    let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    Span::new(start, end - usize::from(text[start..end].ends_with('\r')))
}

/// The words of a text (separated by white space), each with its span.
pub fn words(text: &str) -> impl Iterator<Item = (Span, &str)> {
    text.split_whitespace().map(|word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        (Span::new(start, start + word.len()), word)
    })
}

/// The lines of a text without their ends, each with its span.
pub fn lines(text: &str) -> impl Iterator<Item = (Span, &str)> {
    text.lines().map(|line| {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        (Span::new(start, start + line.len()), line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "a = 1\nbé = 2\n";
        assert_eq!(position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(position(text, text.find('=').unwrap()), Position { line: 1, column: 3 });
        let second = text.rfind('2').unwrap();
        assert_eq!(position(text, second), Position { line: 2, column: 6 });
        assert_eq!(position(text, 999), Position { line: 3, column: 1 });
    }

    #[test]
    fn lines_lose_their_ends() {
        let text = "one\r\ntwo\nthree";
        let lines: Vec<_> = (1..=4).map(|n| line_span(text, n)).map(|s| &text[s.start..s.end]).collect();
        assert_eq!(lines, ["one", "two", "three", ""]);
    }

    #[test]
    fn words_and_lines_know_where_they_stand() {
        let text = " é  b\r\nc\n";
        for (span, part) in words(text).chain(lines(text)) {
            assert_eq!(&text[span.start..span.end], part);
        }
        assert_eq!(words(text).count(), 3);
        assert_eq!(lines(text).count(), 2);
    }

    #[test]
    fn the_same_text_is_kept_once() {
        let mut sources = Sources::default();
        let a = sources.add("/a", Kind::File, "x");
        assert_eq!(a, sources.add("/a", Kind::File, "x"));
        assert_ne!(a, sources.add("/b", Kind::File, "x"));
    }
}
