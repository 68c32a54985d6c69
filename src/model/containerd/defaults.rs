//! The documented defaults of a generation: texts of a regular form (one `key = value` a line below
//! indented headers), read section by section as they are asked for.

use super::schema::{self, Kind};
use super::tree::{At, Data, Shared, Tree, Val};
use crate::text::{Place, SourceId, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One default text. Sections are found at once, values are read when a plugin is asked for.
#[derive(Debug)]
pub(super) struct Defaults {
    source: SourceId,
    text: &'static str,
    /// Path of each header, with the span of its inside and of its body.
    sections: Vec<Section>,
    plugins: BTreeMap<&'static str, (Shared, Kind)>,
    /// (plugin, key) for all keys and tables directly below a plugin.
    fields: Rc<[(&'static str, &'static str)]>,
}

impl Defaults {
    pub(super) fn new(source: SourceId, text: &'static str) -> Defaults {
        let mut sections: Vec<Section> = vec![(Vec::new(), Span::new(0, 0), Span::new(0, text.len()))];
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let header = line.trim_ascii_start().strip_prefix('[');
            if let Some(inside) = header.and_then(|h| h.trim_ascii_end().strip_suffix(']')) {
                let start = at + line.len() - line.trim_ascii_start().len() + 1;
                if let Some(last) = sections.last_mut() {
                    last.2.end = at;
                }
                let body = Span::new(at + line.len(), text.len());
                sections.push((segments(inside), Span::new(start, start + inside.len()), body));
            }
            at += line.len();
        }
        let fields = fields(text, &sections);
        Defaults { source, text, sections, plugins: BTreeMap::new(), fields }
    }

    pub(super) fn source(&self) -> SourceId {
        self.source
    }

    /// Whether a plugin of this id has defaults, that is: exists and takes configuration.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.sections.iter().any(|(path, ..)| path.len() == 2 && path[0] == "plugins" && path[1] == id)
    }

    /// The ids of all plugins that have defaults.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.sections.iter().filter(|(p, ..)| p.len() == 2 && p[0] == "plugins").map(|(p, ..)| p[1])
    }

    /// (plugin, key) for all keys and tables directly below a plugin, plugin by plugin.
    pub(super) fn fields(&self) -> Rc<[(&'static str, &'static str)]> {
        self.fields.clone()
    }

    /// The default table of a plugin, with its schema.
    pub(super) fn plugin(&mut self, id: &'static str) -> Option<(Shared, Kind)> {
        if !self.plugins.contains_key(id) {
            if !self.knows(id) {
                return None;
            }
            let table = self.read(&["plugins", id]);
            let kind = schema::of_plugin(&table);
            self.plugins.insert(id, (table, kind));
        }
        self.plugins.get(id).cloned()
    }

    /// The inside of the longest written header that begins `path`.
    pub(super) fn header(&self, path: &[&str]) -> Place {
        let best = self
            .sections
            .iter()
            .filter(|(p, ..)| p.len() <= path.len() && p[..] == path[..p.len()])
            .max_by_key(|(p, ..)| p.len());
        Place { source: self.source, span: best.map(|(_, span, _)| *span).unwrap_or_default() }
    }

    fn read(&self, prefix: &[&str]) -> Shared {
        let mut root = Tree::default();
        for (path, header, body) in &self.sections {
            if path.len() >= prefix.len() && path[..prefix.len()] == *prefix {
                self.put(&mut root, &path[prefix.len()..], *header, *body);
            }
        }
        let at = At::new(self.header(prefix));
        Rc::new(Val { data: Data::Table(root), at, beaten: Vec::new() })
    }

    fn put(&self, tree: &mut Tree, path: &[&str], header: Span, body: Span) {
        let Some((name, rest)) = path.split_first() else {
            tree.entries.extend(self.lines(body));
            return;
        };
        let mut inner = tree.remove(name).and_then(|v| v.table().cloned()).unwrap_or_default();
        self.put(&mut inner, rest, header, body);
        let at = At::new(Place { source: self.source, span: header });
        tree.set(name, Rc::new(Val { data: Data::Table(inner), at, beaten: Vec::new() }));
    }

    fn lines(&self, body: Span) -> impl Iterator<Item = (Rc<str>, Shared)> {
        let mut next = body.start;
        self.text[body.start..body.end].split_inclusive('\n').filter_map(move |line| {
            let start = next;
            next += line.len();
            let (key, value) = key_and_value(line)?;
            let span = Span::new(start + value, start + line.trim_ascii_end().len());
            let at = At::new(Place { source: self.source, span });
            let data = scalar(self.text.get(span.start..span.end)?, &at);
            let key = key.trim_matches(['"', '\'']);
            Some((Rc::from(key), Rc::new(Val { data, at, beaten: Vec::new() })))
        })
    }
}

/// The key of a line, and where its value begins.
fn key_and_value(line: &str) -> Option<(&str, usize)> {
    let equals = line.bytes().position(|b| b == b'=')?;
    let key = line[..equals].trim_ascii();
    if key.starts_with('#') { None } else { Some((key, equals + 2)) }
}

type Section = (Vec<&'static str>, Span, Span);

fn fields(text: &'static str, sections: &[Section]) -> Rc<[(&'static str, &'static str)]> {
    let mut fields = Vec::with_capacity(256);
    for (path, _, body) in sections.iter().filter(|(p, ..)| p.len() >= 2 && p[0] == "plugins") {
        match path.len() {
            2 => {
                let lines = text[body.start..body.end].lines();
                fields.extend(lines.filter_map(key_and_value).map(|(key, _)| (path[1], key)));
            }
            3 => fields.push((path[1], path[2])),
            _ => {}
        }
    }
    fields.into()
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

fn segments(header: &'static str) -> Vec<&'static str> {
    let mut parts = Vec::with_capacity(6);
    let mut rest = header;
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (part, after) = match quote {
            Some(q) => rest[1..].split_once(q).unwrap_or((&rest[1..], "")),
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        parts.push(part);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    parts
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
            let id = sources.add(g.default_source(), Kind::Default, g.defaults.1);
            let mut defaults = Defaults::new(id, g.defaults.1);
            let cri = if g.is_v1() { "io.containerd.grpc.v1.cri" } else { "io.containerd.cri.v1.runtime" };
            let (plugin, _) = defaults.plugin(cri).unwrap();
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
}
