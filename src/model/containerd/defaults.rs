//! The documented defaults of a generation: texts of a regular form (one `key = value` a line below
//! indented headers). The compiler finds their lines; values are made when a plugin is asked for.

use super::schema::{self, Kind};
use super::tree::{At, Data, Shared, Tree, Val};
use crate::text::{Place, SourceId, Span};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// A default text and its lines.
#[derive(Debug)]
pub(super) struct Text {
    /// `2.1`
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) lines: &'static [Line],
}

/// A line that says something, by offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The key without quotes; the inside of a header.
    name: (u16, u16),
    /// Nothing for a header.
    value: (u16, u16),
}

/// A text with its lines, found while this is compiled.
macro_rules! text {
    ($name:literal) => {{
        const TEXT: &str = include_str!(concat!("defaults/", $name, ".toml"));
        static LINES: [Line; count(TEXT)] = lines(TEXT);
        Text { name: $name, text: TEXT, lines: &LINES }
    }};
}

pub(super) static V1_4: Text = text!("1.4");
pub(super) static V1_5: Text = text!("1.5");
pub(super) static V1_6: Text = text!("1.6");
pub(super) static V1_7: Text = text!("1.7");
pub(super) static V2_0: Text = text!("2.0");
pub(super) static V2_1: Text = text!("2.1");
pub(super) static V2_2: Text = text!("2.2");
pub(super) static V2_3: Text = text!("2.3");

/// How many lines say something.
const fn count(text: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        let end = line_end(text.as_bytes(), at);
        if line(text.as_bytes(), at, end).is_some() {
            count += 1;
        }
        at = end + 1;
    }
    count
}

const fn lines<const N: usize>(text: &str) -> [Line; N] {
    assert!(text.len() < u16::MAX as usize);
    let mut lines = [Line { name: (0, 0), value: (0, 0) }; N];
    let (mut at, mut next) = (0, 0);
    while at < text.len() {
        let end = line_end(text.as_bytes(), at);
        if let Some(line) = line(text.as_bytes(), at, end) {
            lines[next] = line;
            next += 1;
        }
        at = end + 1;
    }
    lines
}

const fn line_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    at
}

const fn line(text: &[u8], start: usize, end: usize) -> Option<Line> {
    let (start, end) = trim(text, start, end);
    if start == end || text[start] == b'#' {
        return None;
    }
    if text[start] == b'[' && text[end - 1] == b']' {
        return Some(Line { name: (start as u16 + 1, end as u16 - 1), value: (0, 0) });
    }
    let mut equals = start;
    while equals < end && text[equals] != b'=' {
        equals += 1;
    }
    if equals == end {
        return None;
    }
    let (mut first, mut last) = trim(text, start, equals);
    if matches!(text[first], b'"' | b'\'') {
        (first, last) = (first + 1, last - 1);
    }
    Some(Line { name: (first as u16, last as u16), value: (equals as u16 + 2, end as u16) })
}

const fn trim(text: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && text[start].is_ascii_whitespace() {
        start += 1;
    }
    while start < end && text[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    (start, end)
}

impl Line {
    fn is_header(self) -> bool {
        self.value.1 == 0
    }
}

fn span((start, end): (u16, u16)) -> Span {
    Span::new(start.into(), end.into())
}

impl Text {
    fn slice(&self, span: (u16, u16)) -> &'static str {
        self.text.get(usize::from(span.0)..usize::from(span.1)).unwrap_or_default()
    }
}

/// A default text as a source.
#[derive(Debug)]
pub(super) struct Defaults {
    source: SourceId,
    text: &'static Text,
    plugins: Vec<Plugin>,
}

/// The sections of a plugin, which stand one after the other.
#[derive(Debug)]
pub(super) struct Plugin {
    pub(super) id: &'static str,
    /// Its first line is its own header.
    lines: Range<usize>,
    table: OnceCell<Shared>,
    kind: OnceCell<Rc<Kind>>,
    fields: OnceCell<Vec<&'static str>>,
}

impl Defaults {
    pub(super) fn new(source: SourceId, text: &'static Text) -> Defaults {
        let mut plugins: Vec<Plugin> = Vec::with_capacity(32);
        for (index, line) in text.lines.iter().enumerate().filter(|(_, line)| line.is_header()) {
            let mut path = segments(text.slice(line.name));
            let id = path.next().filter(|first| *first == "plugins").and_then(|_| path.next());
            match (plugins.last_mut(), id) {
                (Some(last), Some(id)) if last.id == id => continue,
                (Some(last), _) if last.lines.end == text.lines.len() => last.lines.end = index,
                _ => {}
            }
            plugins.extend(id.map(|id| Plugin {
                id,
                lines: index..text.lines.len(),
                table: OnceCell::new(),
                kind: OnceCell::new(),
                fields: OnceCell::new(),
            }));
        }
        Defaults { source, text, plugins }
    }

    pub(super) fn source(&self) -> SourceId {
        self.source
    }

    /// All plugins that have defaults, that is: exist and take configuration.
    pub(super) fn plugins(&self) -> &[Plugin] {
        &self.plugins
    }

    pub(super) fn plugin(&self, id: &str) -> Option<&Plugin> {
        self.plugins.iter().find(|plugin| plugin.id == id)
    }

    fn lines(&self, plugin: &Plugin) -> &'static [Line] {
        self.text.lines.get(plugin.lines.clone()).unwrap_or_default()
    }

    /// The default table of a plugin.
    pub(super) fn table(&self, plugin: &Plugin) -> Shared {
        plugin.table.get_or_init(|| self.read(plugin)).clone()
    }

    /// The schema of a plugin.
    pub(super) fn kind(&self, plugin: &Plugin) -> Rc<Kind> {
        plugin.kind.get_or_init(|| Rc::new(schema::of_plugin(&self.table(plugin)))).clone()
    }

    /// What is written of a plugin: two defaults that print the same have the same schema.
    pub(super) fn written(&self, plugin: &Plugin) -> &'static str {
        let lines = self.lines(plugin);
        let end = |line: &Line| line.name.1.max(line.value.1);
        lines.first().zip(lines.last()).map_or("", |(first, last)| self.text.slice((first.name.0, end(last))))
    }

    /// All keys and tables directly below a plugin.
    pub(super) fn fields<'p>(&self, plugin: &'p Plugin) -> &'p [&'static str] {
        plugin.fields.get_or_init(|| {
            let mut fields = Vec::with_capacity(24);
            let mut own = true;
            for line in self.lines(plugin) {
                let name = self.text.slice(line.name);
                if line.is_header() {
                    let mut below = segments(name).skip(2);
                    let first = below.next();
                    own = first.is_none();
                    fields.extend(first.filter(|_| below.next().is_none()));
                } else if own {
                    fields.push(name);
                }
            }
            fields
        })
    }

    /// The inside of the longest written header that begins `path`.
    pub(super) fn header(&self, path: &[&str]) -> Place {
        let headers = self.text.lines.iter().filter(|line| line.is_header());
        let length = |line: &&Line| {
            let mut parts = 0;
            for part in segments(self.text.slice(line.name)) {
                if path.get(parts) != Some(&part) {
                    return 0;
                }
                parts += 1;
            }
            parts
        };
        let best = headers.max_by_key(length).filter(|line| length(line) > 0);
        Place { source: self.source, span: best.map(|line| span(line.name)).unwrap_or_default() }
    }

    fn read(&self, plugin: &Plugin) -> Shared {
        let mut open: Vec<Table> = vec![Table { name: "", tree: Tree::default(), header: Span::default() }];
        for line in self.lines(plugin) {
            if line.is_header() {
                self.open(&mut open, *line);
            } else if let Some(table) = open.last_mut() {
                table.tree.entries.push(self.entry(*line));
            }
        }
        self.close(&mut open, 1);
        let root = open.pop().map(|table| table.tree).unwrap_or_default();
        let header = self.lines(plugin).first().map(|line| span(line.name)).unwrap_or_default();
        let at = At::new(Place { source: self.source, span: header });
        Rc::new(Val { data: Data::Table(root), at, beaten: Vec::new() })
    }

    /// Begins a table; those around it are where the last header below them is.
    fn open(&self, open: &mut Vec<Table>, line: Line) {
        let mut depth = 0;
        for name in segments(self.text.slice(line.name)).skip(2) {
            depth += 1;
            if open.get(depth).is_none_or(|table| table.name != name) {
                self.close(open, depth);
                let known = open.last_mut().and_then(|table| table.tree.remove(name));
                let tree = known.and_then(|v| v.table().cloned()).unwrap_or_default();
                open.push(Table { name, tree, header: Span::default() });
            }
        }
        self.close(open, depth + 1);
        open.iter_mut().for_each(|table| table.header = span(line.name));
    }

    /// Ends tables until so many are open.
    fn close(&self, open: &mut Vec<Table>, left: usize) {
        while open.len() > left
            && let Some(table) = open.pop()
            && let Some(parent) = open.last_mut()
        {
            let at = At::new(Place { source: self.source, span: table.header });
            let value = Rc::new(Val { data: Data::Table(table.tree), at, beaten: Vec::new() });
            parent.tree.entries.push((Rc::from(table.name), value));
        }
    }

    fn entry(&self, line: Line) -> (Rc<str>, Shared) {
        let at = At::new(Place { source: self.source, span: span(line.value) });
        let data = scalar(self.text.slice(line.value), &at);
        (Rc::from(self.text.slice(line.name)), Rc::new(Val { data, at, beaten: Vec::new() }))
    }
}

/// A table while it is read.
struct Table {
    name: &'static str,
    tree: Tree,
    header: Span,
}

fn scalar(text: &str, at: &At) -> Data {
    match text.as_bytes() {
        [b'"' | b'\'', inside @ .., _] => Data::Text(Rc::from(&text[1..=inside.len()])),
        [b'[', ..] => {
            let quoted = text.split(['"', '\'']).skip(1).step_by(2);
            let item =
                |t: &str| Rc::new(Val { data: Data::Text(Rc::from(t)), at: at.clone(), beaten: Vec::new() });
            Data::Array(quoted.map(item).collect())
        }
        b"true" => Data::Bool(true),
        b"false" => Data::Bool(false),
        _ => match text.parse() {
            Ok(int) => Data::Int(int),
            Err(_) => Data::Float(text.parse().unwrap_or_default()),
        },
    }
}

/// The parts of a header's path.
fn segments(header: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let quote = rest.bytes().next()?;
        let (part, after) = match quote {
            b'"' | b'\'' => rest[1..].split_once(char::from(quote)).unwrap_or((&rest[1..], "")),
            _ => rest.split_at(rest.bytes().position(|b| b == b'.').unwrap_or(rest.len())),
        };
        rest = after.strip_prefix('.').unwrap_or(after);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::generation;
    use super::*;
    use crate::text::{Kind, Sources};

    #[test]
    fn every_default_text_is_understood_to_the_line() {
        for g in generation::all() {
            let mut sources = Sources::default();
            let id = sources.add(g.default_source(), Kind::Default, g.defaults.text);
            let defaults = Defaults::new(id, g.defaults);
            let cri = if g.is_v1() { "io.containerd.grpc.v1.cri" } else { "io.containerd.cri.v1.runtime" };
            let plugin = defaults.table(defaults.plugin(cri).unwrap());
            let name = plugin.dig(&["containerd", "default_runtime_name"]).unwrap();
            assert_eq!(name.text(), Some("runc"), "{}", g.name);
            assert!(matches!(sources.slice(name.at.place), "'runc'" | "\"runc\""));
            let kind = plugin.dig(&["containerd", "runtimes", "runc", "runtime_type"]).unwrap();
            assert_eq!(kind.text(), Some("io.containerd.runc.v2"));
            let options = plugin.dig(&["containerd", "runtimes", "runc", "options"]).unwrap();
            assert!(sources.slice(options.at.place).ends_with("runc.options"), "{}", g.name);
            let driver = options.get("SystemdCgroup").map(|v| v.bool());
            assert_eq!(driver, if g.name == "containerd 1.4" { None } else { Some(Some(false)) });
            assert!(defaults.plugin("io.containerd.nosuch").is_none());
        }
    }

    #[test]
    fn the_sections_of_a_plugin_stand_together() {
        for g in generation::all() {
            let mut sources = Sources::default();
            let id = sources.add(g.default_source(), Kind::Default, g.defaults.text);
            let defaults = Defaults::new(id, g.defaults);
            let mut ids: Vec<&str> = defaults.plugins().iter().map(|p| p.id).collect();
            let headers =
                g.defaults.text.lines().map(str::trim).filter(|l| l.starts_with("[plugins.")).count();
            let found = |p: &Plugin| defaults.lines(p).iter().filter(|l| l.is_header()).count();
            assert_eq!(defaults.plugins().iter().map(found).sum::<usize>(), headers, "{}", g.name);
            for plugin in defaults.plugins() {
                let own = defaults.lines(plugin).first().map(|l| segments(g.defaults.slice(l.name)).count());
                assert_eq!(own, Some(2), "{}: {}", g.name, plugin.id);
            }
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{}", g.name);
        }
    }
}
