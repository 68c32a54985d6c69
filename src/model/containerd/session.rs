//! What is read and parsed once for all generations of one configuration.

use super::decode::{Decoder, Mismatch};
use super::defaults::{Defaults, Plugin};
use super::generation::{Generation, Keys};
use super::keys::Rows;
use super::load::{Load, Stop};
use super::merge::{self, Merged};
use super::schema::Kind;
use super::tree::{self, Shared, Val};
use crate::fact::Known;
use crate::model::toml::{self, Dialect, SyntaxError};
use crate::model::{Captured, Reader};
use crate::text::SourceId;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A document, with what only some builds of the library accept.
type Parsed = Rc<Result<(Shared, Vec<SyntaxError>), SyntaxError>>;

/// What decoding a section over a schema brought.
type Checked = (Keys, Option<Mismatch>);

/// Answers of the reader and parsed documents, kept between generations.
#[derive(Debug, Default)]
pub struct Session {
    files: BTreeMap<String, Known<Captured>>,
    lists: BTreeMap<String, Known<Vec<String>>>,
    dirs: BTreeMap<String, Known<bool>>,
    /// By the dialect; none: the same in every dialect.
    documents: Vec<(SourceId, Option<Dialect>, Parsed)>,
    defaults: Vec<(&'static str, Rc<Defaults>)>,
    /// By the id and the text of the defaults.
    kinds: BTreeMap<(&'static str, &'static str), Rc<Kind>>,
    /// By the addresses of the schema and the section, which are kept.
    checked: BTreeMap<(*const Kind, *const Val), Vec<Checked>>,
    kept: Vec<(Rc<Kind>, Shared)>,
    tops: Vec<(Keys, &'static Kind, Shared, Top)>,
    merged: Vec<Merger>,
    rows: Rc<Rows>,
}

/// A file as it was decoded.
type Top = Result<Shared, Mismatch>;

/// Files that were merged.
#[derive(Debug)]
struct Merger {
    like: &'static Generation,
    tops: Vec<Option<Shared>>,
    merged: Rc<Merged>,
    stop: Option<Stop>,
}

/// A session with the reader it asks.
pub(super) struct World<'a> {
    pub(super) session: &'a mut Session,
    pub(super) reader: &'a mut dyn Reader,
}

impl World<'_> {
    pub(super) fn file(&mut self, path: &str) -> Known<Captured> {
        if let Some(known) = self.session.files.get(path) {
            return known.clone();
        }
        let answer = self.reader.file(path);
        self.session.files.insert(path.to_owned(), answer.clone());
        answer
    }

    pub(super) fn list(&mut self, dir: &str) -> Known<Vec<String>> {
        if let Some(known) = self.session.lists.get(dir) {
            return known.clone();
        }
        let answer = self.reader.list(dir);
        self.session.lists.insert(dir.to_owned(), answer.clone());
        answer
    }

    pub(super) fn is_dir(&mut self, path: &str) -> Known<bool> {
        if let Some(known) = self.session.dirs.get(path) {
            return known.clone();
        }
        let answer = self.reader.is_dir(path);
        self.session.dirs.insert(path.to_owned(), answer.clone());
        answer
    }

    /// Whether a file is there, with its text where that is wanted; secrets are never opened.
    pub(super) fn presence(&mut self, path: &str, text: bool) -> Known<std::sync::Arc<str>> {
        if text {
            return self.file(path).map(|f| f.text);
        }
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        self.list(super::paths::dir(path)).and_then(|names| match names.contains(&name) {
            true => Known::Is("".into()),
            false => Known::ABSENT,
        })
    }

    pub(super) fn document(&mut self, file: &Captured, dialect: Dialect) -> Parsed {
        let fits = |of: Option<Dialect>| of.is_none_or(|of| of == dialect);
        let known = self.session.documents.iter().find(|(s, d, _)| *s == file.id && fits(*d));
        if let Some((_, _, parsed)) = known {
            return parsed.clone();
        }
        // what all dialects read alike is read once
        let plain = if file.invalid_utf8.is_none() { toml::plain(&file.text) } else { None };
        let of = if plain.is_none() { Some(dialect) } else { None };
        let parsed =
            plain.map_or_else(|| toml::parse_document(&file.text, dialect, file.invalid_utf8), Result::Ok);
        let parsed = parsed.map(|document| (tree::from_document(file.id, &document.root), document.unsure));
        let parsed = Rc::new(parsed);
        self.session.documents.push((file.id, of, parsed.clone()));
        parsed
    }

    pub(super) fn defaults(&mut self, generation: &Generation) -> Rc<Defaults> {
        let text = generation.defaults;
        let known = self.session.defaults.iter().find(|(name, _)| *name == text.name);
        if let Some((_, defaults)) = known {
            return defaults.clone();
        }
        let source = self.reader.default(&generation.default_source(), text.text);
        let defaults = Rc::new(Defaults::new(source, text));
        self.session.defaults.push((text.name, defaults.clone()));
        defaults
    }

    /// The schema of a plugin; the same for all defaults that print the same.
    pub(super) fn kind(&mut self, defaults: &Defaults, plugin: &Plugin) -> Rc<Kind> {
        let key = (plugin.id, defaults.written(plugin));
        self.session.kinds.entry(key).or_insert_with(|| defaults.kind(plugin)).clone()
    }

    /// What keeps a plugin's section from being decoded.
    pub(super) fn mismatch(
        &mut self,
        keys: Keys,
        id: &str,
        kind: &Rc<Kind>,
        said: &Shared,
    ) -> Option<Mismatch> {
        let spots = (Rc::as_ptr(kind), Rc::as_ptr(said));
        let checked = &mut self.session.checked;
        if let Some((_, answer)) = checked.get(&spots).into_iter().flatten().find(|(k, _)| *k == keys) {
            return answer.clone();
        }
        let decoder = Decoder::of_plugins(keys);
        let answer = decoder.decode(id, kind, None, said).err();
        self.session.kept.push((kind.clone(), said.clone()));
        checked.entry(spots).or_default().push((keys, answer.clone()));
        answer
    }

    /// The file itself, decoded into the daemon's struct.
    pub(super) fn top(&mut self, keys: Keys, schema: &'static Kind, document: &Shared) -> Top {
        let known = self
            .session
            .tops
            .iter()
            .find(|(k, s, d, _)| *k == keys && std::ptr::eq(*s, schema) && Rc::ptr_eq(d, document));
        if let Some((.., top)) = known {
            return top.clone();
        }
        let decoder = Decoder { keys, sorted: false };
        let top = decoder.decode("", schema, None, document);
        self.session.tops.push((keys, schema, document.clone(), top.clone()));
        top
    }

    /// What was loaded, as one configuration.
    pub(super) fn merged(
        &mut self,
        generation: &'static Generation,
        load: &Load,
    ) -> (Rc<Merged>, Option<Stop>) {
        let alike = |known: &&Merger| known.like.merges_like(generation) && load.same_texts(&known.tops);
        if let Some(known) = self.session.merged.iter().find(alike) {
            return (known.merged.clone(), known.stop.clone());
        }
        let (merged, stop) = merge::merge(generation, load);
        let (merged, tops) = (Rc::new(merged), load.files.iter().map(|f| f.top.clone()).collect());
        let like = generation;
        self.session.merged.push(Merger { like, tops, merged: merged.clone(), stop: stop.clone() });
        (merged, stop)
    }

    pub(super) fn rows(&self) -> Rc<Rows> {
        self.session.rows.clone()
    }
}
