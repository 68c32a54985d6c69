//! What is read and parsed once for all generations of one configuration.

use super::defaults::Defaults;
use super::generation::Generation;
use super::tree::{self, Shared};
use crate::fact::Known;
use crate::model::toml::{self, Dialect, SyntaxError};
use crate::model::{Captured, Reader};
use crate::text::SourceId;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A document, with what only some builds of the library accept.
type Parsed = Rc<Result<(Shared, Vec<SyntaxError>), SyntaxError>>;

/// Answers of the reader and parsed documents, kept between generations.
#[derive(Debug, Default)]
pub struct Session {
    files: BTreeMap<String, Known<Captured>>,
    lists: BTreeMap<String, Known<Vec<String>>>,
    dirs: BTreeMap<String, Known<bool>>,
    /// By the dialect; none: the same in every dialect.
    documents: Vec<(SourceId, Option<Dialect>, Parsed)>,
    defaults: Vec<(&'static str, Defaults)>,
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

    pub(super) fn defaults(&mut self, generation: &Generation) -> &mut Defaults {
        let (name, text) = generation.defaults;
        let index = self.session.defaults.iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
            let source = self.reader.default(&generation.default_source(), text);
            self.session.defaults.push((name, Defaults::new(source, text)));
            self.session.defaults.len() - 1
        });
        &mut self.session.defaults[index].1
    }
}
