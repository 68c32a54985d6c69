//! The files of one start, each read and parsed once: that of `--config` and the drop-ins of
//! `--config-dir`, found as Go's filepath.WalkDir finds them.

use super::decode::Ignored;
use super::effective::{Effective, Refusal};
use super::tree::{self, Loaded};
use crate::fact::{Known, Layer, Why};
use crate::model::yaml::SyntaxError;
use crate::model::{Captured, Reader};
use crate::text::{Place, Span, line_span};
use std::cell::RefCell;
use std::rc::Rc;

/// A file that a start reads.
#[derive(Debug)]
pub(super) struct File {
    pub path: String,
    /// Absent: it is not there. Unknown: it is, but could not be read.
    pub text: Known<Captured>,
    pub loaded: Option<Result<Loaded, SyntaxError>>,
    /// A directory lies there.
    pub directory: bool,
    /// What decoding brought, for versions that know the same of its fields.
    decoded: RefCell<Vec<(usize, Decoded)>>,
}

/// What a file says, without any defaults; or why it stops the kubelet.
pub(super) type Decoded = Result<Rc<(Effective, Vec<Ignored>)>, Box<Refusal>>;

/// What `--config-dir` leads to.
#[derive(Debug)]
pub(super) struct DropIns {
    /// The directory, as said and where.
    pub dir: (String, Place),
    /// In the order of merging.
    pub files: Vec<File>,
    /// What stops the walk: the path and what it is.
    pub broken: Option<(String, &'static str)>,
    /// Nothing of the directory can be seen.
    pub unseen: Option<Why>,
    /// The directory is a symbolic link, which is not followed.
    pub link: bool,
    /// Files whose names are those of a configuration, but of no drop-in, with their first line.
    pub strays: Vec<(String, Place)>,
}

impl File {
    fn read(reader: &mut dyn Reader, path: String, layer: Layer) -> File {
        let text = reader.file(&path);
        let loaded = text.is().map(|text| tree::load(text, layer));
        let directory = text.is().is_none() && matches!(reader.is_dir(&path), Known::Is(true));
        File { path, text, loaded, directory, decoded: RefCell::default() }
    }

    /// The file of `--config`.
    pub(super) fn base(reader: &mut dyn Reader, path: &str) -> File {
        File::read(reader, path.to_owned(), Layer::File)
    }

    /// Decodes the file, once for all versions that know the same of its fields.
    pub(super) fn decoded(&self, minor: u32, decode: impl FnOnce() -> Decoded) -> Decoded {
        let class = match &self.loaded {
            Some(Ok(loaded)) => loaded.newer.iter().filter(|since| **since > minor).count(),
            _ => 0,
        };
        let known = self.decoded.borrow().iter().find(|(of, _)| *of == class).map(|(_, found)| found.clone());
        known.unwrap_or_else(|| {
            let found = decode();
            self.decoded.borrow_mut().push((class, found.clone()));
            found
        })
    }

    /// The place of a span of this file.
    pub(super) fn at(&self, span: Span) -> Option<Place> {
        self.text.is().map(|text| Place { source: text.id, span })
    }
}

/// Directories nested deeper than this are not walked.
const DEPTH: usize = 16;

/// Walks the directory of `--config-dir`.
pub(super) fn drop_ins(reader: &mut dyn Reader, said: &str, place: Place) -> DropIns {
    let dir = if said.starts_with('/') { said.to_owned() } else { format!("/{said}") };
    let mut found = DropIns {
        dir: (said.to_owned(), place),
        files: Vec::new(),
        broken: None,
        unseen: None,
        link: false,
        strays: Vec::new(),
    };
    let bare = dir.trim_end_matches('/');
    let bare = if bare.is_empty() { "/" } else { bare };
    // a slash at the end makes the walk begin behind a link
    let link = !dir.ends_with('/') && reader.link(bare).is().is_some();
    let mut paths = Vec::new();
    match reader.is_dir(bare) {
        Known::Is(true) if !link => walk(reader, bare, &mut paths, DEPTH, &mut found),
        Known::Is(_) if bare.ends_with(".conf") => paths.push(bare.to_owned()),
        Known::Is(true) => found.link = true,
        Known::Is(false) => {}
        Known::Absent(_) if link => {}
        Known::Absent(_) => found.broken = Some((bare.to_owned(), "is not there")),
        Known::Unknown(why) => found.unseen = Some(why),
    }
    for path in paths {
        if let Known::Is(true) = reader.is_dir(&path) {
            found.broken = Some((path, "is a directory"));
            break;
        }
        found.files.push(File::read(reader, path, Layer::DropIn));
    }
    found
}

fn walk(reader: &mut dyn Reader, dir: &str, paths: &mut Vec<String>, depth: usize, found: &mut DropIns) {
    let names = match reader.list(dir) {
        Known::Is(names) => names,
        Known::Absent(_) => return,
        Known::Unknown(why) => {
            found.unseen.get_or_insert(why);
            return;
        }
    };
    for name in names {
        let path = format!("{}/{name}", dir.trim_end_matches('/'));
        let link = reader.link(&path).is().is_some();
        match reader.is_dir(&path) {
            Known::Is(true) if !link && depth > 0 => walk(reader, &path, paths, depth - 1, found),
            Known::Is(true) if !link => {
                let why = Why::Unreadable(path, "nested too deeply".into());
                found.unseen.get_or_insert(why);
            }
            _ if name.ends_with(".conf") => paths.push(path),
            _ if looks_like_configuration(&name) => {
                if let Known::Is(text) = reader.file(&path) {
                    let first = Place { source: text.id, span: line_span(&text.text, 1) };
                    found.strays.push((path, first));
                }
            }
            _ => {}
        }
    }
}

/// Backups of editors and packages are meant to be passed over, these are not.
fn looks_like_configuration(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".yaml", ".yml", ".json", ".conf"].iter().any(|end| name.ends_with(end))
}
