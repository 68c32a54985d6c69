//! Snippets: the lines of a captured text that labels point to, made safe to print and drawn by miette.
//!
//! miette sees only these few lines, never the captured text: what it would count, clip or
//! print raw (columns in bytes, lone carriage returns, escape sequences) is settled here.

use super::style::{Style, push_clean};
use crate::finding::{Label, Severity};
use crate::mask::mask;
use crate::text::{SourceId, Sources, Span};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceCode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

const TAB: usize = 4;

/// A label on one line: the line's number (from 1), bytes within that line.
#[derive(Clone)]
struct Mark {
    index: usize,
    source: SourceId,
    line: usize,
    column: usize,
    /// The line's own bytes in the text, without its end.
    of_line: Span,
    start: usize,
    end: usize,
    text: String,
}

/// Lines `first..` of one text, clean, with labels as bytes of `text`.
#[derive(Debug)]
struct Snippet {
    name: String,
    text: String,
    first: usize,
    labels: Vec<LabeledSpan>,
}

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        _: &miette::SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name.clone(),
            self.text.as_bytes(),
            (0, self.text.len()).into(),
            self.first - 1,
            0,
            self.text.lines().count(),
        )))
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Snippet {}

impl Diagnostic for Snippet {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// The captured texts, without their secrets.
pub(super) struct Pages<'a> {
    pub(super) sources: &'a Sources,
    /// The lines of texts that hold secrets; none for the others.
    masked: RefCell<BTreeMap<SourceId, Option<Rc<[String]>>>>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(sources: &'a Sources) -> Pages<'a> {
        Pages { sources, masked: RefCell::default() }
    }

    /// The lines of a text, where masking changed any.
    fn masked(&self, id: SourceId) -> Option<Rc<[String]>> {
        let mut known = self.masked.borrow_mut();
        let found = known.entry(id).or_insert_with(|| {
            let source = self.sources.get(id);
            let masked = mask(&source.name, &source.text);
            (*masked != *source.text).then(|| masked.split('\n').map(str::to_owned).collect())
        });
        found.clone()
    }
}

/// Where the character of a line stands in the same line with its secrets masked.
fn moved(line: &str, masked: &str, at: usize) -> usize {
    let characters = line[..at].chars().count();
    masked.char_indices().nth(characters).map_or(masked.len(), |(at, _)| at)
}

/// All labels, drawn: the one with the primary label first, one snippet a stretch of lines.
pub(super) fn draw(pages: &Pages<'_>, labels: &[Label], severity: Severity, style: &Style) -> String {
    let sources = pages.sources;
    let room = style.width.saturating_sub(12).max(20);
    let mut groups: Vec<Vec<Mark>> = Vec::new();
    let mut marks = marks(sources, labels);
    marks.sort_by_key(|m| (m.source, m.line, m.start, m.index));
    for mark in marks {
        let long = is_longer(line_of(sources, &mark), room, style);
        match groups.last_mut().and_then(|g| g.last().map(|m| (m.source, m.line)).zip(Some(g))) {
            Some(((source, line), group))
                if source == mark.source && mark.line <= line + 2 && (!long || mark.line != line) =>
            {
                group.push(mark);
            }
            _ => groups.push(vec![mark]),
        }
    }
    groups.sort_by_key(|group| group.iter().map(|m| m.index).min());
    groups.iter().map(|group| render(pages, group, severity, style, room)).collect()
}

/// One mark a place; what several labels say of the same place is joined.
fn marks(sources: &Sources, labels: &[Label]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let text = &sources.get(label.place.source).text;
        let at = sources.position(label.place);
        let mut start = label.place.span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let begin = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let mut end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        if text[begin..end].ends_with('\r') {
            end -= 1;
        }
        let start = start.min(end);
        let mut stop = label.place.span.end.clamp(start, end);
        while !text.is_char_boundary(stop) {
            stop += 1;
        }
        let mark = Mark {
            index,
            source: label.place.source,
            line: at.line,
            column: at.column,
            of_line: Span::new(begin, end),
            start: start - begin,
            end: stop - begin,
            text: label.text.clone(),
        };
        let same = |m: &&mut Mark| {
            (m.source, m.line, m.start, m.end) == (mark.source, mark.line, mark.start, mark.end)
        };
        match marks.iter_mut().find(same) {
            Some(known) if known.text.contains(&mark.text) => {}
            Some(known) if known.text.is_empty() => known.text = mark.text,
            Some(known) => known.text = format!("{}; {}", known.text, mark.text),
            None => marks.push(mark),
        }
    }
    marks
}

fn line_of<'a>(sources: &'a Sources, mark: &Mark) -> &'a str {
    &sources.get(mark.source).text[mark.of_line.start..mark.of_line.end]
}

/// Columns a character takes as printed (wide ones count as one).
fn columns(c: char, style: &Style) -> usize {
    if c == '\t' {
        return TAB;
    }
    let mut shown = String::new();
    push_clean(&mut shown, c, style.unicode);
    shown.chars().count()
}

/// How many bytes of these characters fit into `room` columns.
fn fitting(chars: impl Iterator<Item = char>, room: usize, style: &Style) -> usize {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += columns(*c, style);
            used <= room
        })
        .map(char::len_utf8)
        .sum()
}

fn is_longer(line: &str, room: usize, style: &Style) -> bool {
    fitting(line.chars(), room, style) < line.len()
}

fn render(pages: &Pages<'_>, group: &[Mark], severity: Severity, style: &Style, room: usize) -> String {
    let Some(lead) = group.iter().min_by_key(|m| m.index) else { return String::new() };
    let (source, masked) = (pages.sources.get(lead.source), pages.masked(lead.source));
    let (first, last) = (group[0].line, group[group.len() - 1].line);
    let mut snippet = Snippet {
        name: format!("{}:{}:{}", style.clean(&source.name), lead.line, lead.column),
        text: String::new(),
        first,
        labels: Vec::new(),
    };
    let mut order = Vec::new();
    let mut offset = group[0].of_line.start;
    for number in first..=last {
        let rest = &source.text[offset.min(source.text.len())..];
        let line = rest.split('\n').next().unwrap_or("");
        offset += line.len() + 1;
        let here: Vec<&Mark> = group.iter().filter(|m| m.line == number).collect();
        if number > first {
            snippet.text.push('\n');
        }
        let base = snippet.text.len();
        let hidden = masked.as_ref().and_then(|lines| lines.get(number - 1)).map_or(line, String::as_str);
        let place = |at: usize| if masked.is_some() { moved(line, hidden, at) } else { at };
        let spans: Vec<(usize, usize)> = here.iter().map(|m| (place(m.start), place(m.end))).collect();
        let (text, spans) = draw_line(hidden.strip_suffix('\r').unwrap_or(hidden), &spans, style, room);
        snippet.text.push_str(&text);
        for (mark, (start, end)) in here.iter().zip(spans) {
            let label = (!mark.text.is_empty()).then(|| style.clean(&mark.text));
            snippet.labels.push(LabeledSpan::new(label, base + start, end - start));
            order.push(mark.index);
        }
    }
    let mut theme = match (style.color, style.unicode) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::ascii(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let main = match severity {
        Severity::Error => theme.styles.error,
        Severity::Warning => theme.styles.warning,
        Severity::Note => theme.styles.advice,
    };
    let other = theme.styles.help;
    theme.styles.highlights = order.iter().map(|i| if *i == 0 { main } else { other }).collect();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_context_lines(0)
        .without_primary_span_start()
        .without_syntax_highlighting()
        .with_width(style.width);
    let mut drawn = String::new();
    if handler.render_report(&mut drawn, &snippet).is_err() {
        return String::new();
    }
    // The first line is miette's own message line, which is empty here.
    let body = drawn.split_once('\n').map_or("", |(_, body)| body);
    body.lines().fold(String::new(), |out, line| out + line.trim_end() + "\n")
}

/// A line as printed, and where the given bytes of it went. A line longer than `room` is cut around
/// the first span.
fn draw_line(
    line: &str,
    spans: &[(usize, usize)],
    style: &Style,
    room: usize,
) -> (String, Vec<(usize, usize)>) {
    let (mut from, mut to) = (0, line.len());
    if is_longer(line, room, style) {
        let room = room - 2 * style.ellipsis().len().min(3);
        let start = spans.first().map_or(0, |s| s.0);
        let back = |at: usize, room: usize| at - fitting(line[..at].chars().rev(), room, style);
        from = if back(start, room / 2) == 0 { 0 } else { back(start, room / 3) };
        to = from + fitting(line[from..].chars(), room, style);
        if to == line.len() {
            from = back(to, room);
        }
    }
    let mut out = String::new();
    if from > 0 {
        out.push_str(style.ellipsis());
    }
    let mut column = out.chars().count();
    let mut placed: Vec<(usize, usize)> = spans.iter().map(|_| (out.len(), out.len())).collect();
    let place = |placed: &mut Vec<(usize, usize)>, at: usize, out: &str| {
        for ((start, end), place) in spans.iter().zip(placed) {
            if at <= *start {
                place.0 = out.len();
            }
            if at <= *end {
                place.1 = out.len();
            }
        }
    };
    for (i, c) in line[from..to].char_indices() {
        place(&mut placed, from + i, &out);
        let before = out.chars().count();
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB - column % TAB)),
            c => push_clean(&mut out, c, style.unicode),
        }
        column += out.chars().count() - before;
    }
    place(&mut placed, to, &out);
    if to < line.len() {
        out.push_str(style.ellipsis());
    }
    // miette draws nothing under the end of a line, and no line at all where there is no character.
    if placed.iter().any(|(start, _)| *start >= out.len()) || out.is_empty() {
        out.push(' ');
    }
    (out, placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style =
        Style { color: false, unicode: true, width: 100, detail: super::super::Detail::Normal };

    fn marked(line: &str, start: usize, end: usize, room: usize) -> (String, String) {
        let (text, spans) = draw_line(line, &[(start, end)], &STYLE, room);
        let marked = text[spans[0].0..spans[0].1].to_owned();
        (text, marked)
    }

    #[test]
    fn spans_follow_what_cleaning_moves() {
        let line = "\ta\x1b = \"é\" # x";
        let start = line.find('é').unwrap();
        assert_eq!(marked(line, start, start + 2, 90), ("    a\\u{1b} = \"é\" # x".into(), "é".into()));
        assert_eq!(marked("\x1b", 0, 1, 90).1, "\\u{1b}");
    }

    #[test]
    fn a_long_line_is_cut_around_its_label() {
        let line = format!("{}HERE{}", "é".repeat(5_000), "b".repeat(5_000));
        let (text, mark) = marked(&line, 10_000, 10_004, 40);
        assert_eq!(mark, "HERE");
        assert!(text.chars().count() <= 40, "{text}");
        assert!(text.starts_with("…é") && text.ends_with("b…"), "{text}");
        let (text, mark) = marked(&line, line.len() - 1, line.len(), 40);
        assert_eq!(mark, "b");
        assert!(text.starts_with('…') && !text.ends_with('…'), "{text}");
    }

    #[test]
    fn the_end_of_a_text_can_be_pointed_at() {
        assert_eq!(draw_line("", &[(0, 0)], &STYLE, 40), (" ".into(), vec![(0, 0)]));
        assert_eq!(draw_line("ab", &[(2, 2)], &STYLE, 40), ("ab ".into(), vec![(2, 2)]));
    }
}
