//! The documented defaults of a generation: texts of a regular form (one `key = value` a line below
//! indented headers), read section by section as they are asked for.

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
    sections: Vec<(Vec<&'static str>, Span, Span)>,
    plugins: BTreeMap<String, Option<Shared>>,
}

impl Defaults {
    pub(super) fn new(source: SourceId, text: &'static str) -> Defaults {
        let mut sections: Vec<(Vec<&'static str>, Span, Span)> =
            vec![(Vec::new(), Span::new(0, 0), Span::new(0, text.len()))];
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            if let Some(inside) = trimmed.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                let start = at + line.len() - line.trim_start().len() + 1;
                if let Some(last) = sections.last_mut() {
                    last.2.end = at;
                }
                let body = Span::new(at + line.len(), text.len());
                sections.push((segments(inside), Span::new(start, start + inside.len()), body));
            }
            at += line.len();
        }
        Defaults { source, text, sections, plugins: BTreeMap::new() }
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

    /// (plugin, key) for all keys and tables directly below a plugin.
    pub(super) fn fields(&self) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        for (path, _, body) in self.sections.iter().filter(|(p, ..)| p.len() >= 2 && p[0] == "plugins") {
            match path.len() {
                2 => {
                    let lines = self.text[body.start..body.end].lines();
                    let keys = lines.filter_map(|l| l.split_once(" = ")).map(|(k, _)| k.trim());
                    fields.extend(keys.map(|k| (path[1], k)));
                }
                3 => fields.push((path[1], path[2])),
                _ => {}
            }
        }
        fields
    }

    /// The default table of a plugin.
    pub(super) fn plugin(&mut self, id: &str) -> Option<Shared> {
        if let Some(known) = self.plugins.get(id) {
            return known.clone();
        }
        let known = self.knows(id).then(|| self.read(&["plugins", id]));
        self.plugins.insert(id.to_owned(), known.clone());
        known
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
        tree.set(&Rc::from(*name), Rc::new(Val { data: Data::Table(inner), at, beaten: Vec::new() }));
    }

    fn lines(&self, body: Span) -> Vec<(Rc<str>, Shared)> {
        let mut entries = Vec::new();
        let mut at = body.start;
        for line in self.text[body.start..body.end].split_inclusive('\n') {
            if let Some((key, value)) = line.split_once(" = ") {
                let key = key.trim();
                if !key.starts_with('#') {
                    let start = at + line.len() - value.len();
                    let value = value.trim_end();
                    let span = Span::new(start, start + value.len());
                    let at = At::new(Place { source: self.source, span });
                    let val = Val { data: scalar(value, &at), at, beaten: Vec::new() };
                    entries.push((Rc::from(key.trim_matches(['"', '\''])), Rc::new(val)));
                }
            }
            at += line.len();
        }
        entries
    }
}

fn scalar(text: &str, at: &At) -> Data {
    let quoted = |t: &str| {
        let q = t.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        t[1..].strip_suffix(q).map(str::to_owned)
    };
    match text {
        "true" => return Data::Bool(true),
        "false" => return Data::Bool(false),
        _ => {}
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let items = inside.split(", ").filter_map(quoted);
        return Data::Array(
            items
                .map(|t| Rc::new(Val { data: Data::Text(Rc::from(t)), at: at.clone(), beaten: Vec::new() }))
                .collect(),
        );
    }
    match (quoted(text), text.parse::<i64>(), text.parse::<f64>()) {
        (Some(t), ..) => Data::Text(Rc::from(t)),
        (None, Ok(i), _) => Data::Int(i),
        (None, _, Ok(f)) => Data::Float(f),
        _ => Data::Text(Rc::from(text)),
    }
}

fn segments(header: &'static str) -> Vec<&'static str> {
    let mut parts = Vec::new();
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
            let plugin = defaults.plugin(cri).unwrap();
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
