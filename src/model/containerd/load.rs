//! Which files are read, in which order: breadth first from the main file through `imports`.

use super::Input;
use super::generation::{Generation, Pipeline};
use super::paths;
use super::schema::{self, Kind};
use super::session::World;
use super::tree::Shared;
use crate::fact::{Known, Why};
use crate::model::toml::Dialect;
use crate::text::{Place, SourceId, Span};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// What stops the daemon.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) message: String,
    pub(super) place: Option<Place>,
    /// The text is not TOML for this daemon's parser.
    pub(super) syntax: bool,
}

/// What containerd makes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    Fatal,
    Ignored,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) source: SourceId,
    pub(super) text: Arc<str>,
    pub(super) effect: Effect,
    /// As written; nothing where the text is malformed.
    pub(super) document: Option<Shared>,
    /// As decoded into the daemon's struct; nothing where that fails.
    pub(super) top: Option<Shared>,
    /// What only some builds of the daemon accept.
    pub(super) unsure: Option<(Place, String)>,
}

impl File {
    /// The `version` it says, 0 if none.
    pub(super) fn version(&self) -> i64 {
        self.version_value().and_then(|v| v.int()).unwrap_or(0)
    }

    pub(super) fn version_value(&self) -> Option<&Shared> {
        self.top.as_ref().and_then(|t| t.get("version"))
    }
}

/// An entry of `imports`.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// The file that says it.
    pub(super) by: String,
    pub(super) pattern: Shared,
    pub(super) reaches: Known<Vec<String>>,
    pub(super) missing: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    /// In the order of loading.
    pub(super) files: Vec<File>,
    pub(super) imports: Vec<Import>,
    pub(super) stop: Option<Stop>,
    /// Files that could not be read, and what asks for them.
    pub(super) unread: Vec<(String, Option<Place>, Why)>,
    /// An input that could not be read or listed.
    pub(super) hidden: Option<Why>,
    /// Loading ended early and validation is skipped (1.4, a missing import).
    pub(super) cut_short: bool,
}

impl Load {
    /// Whether the same files were found, with the same effect.
    pub(super) fn same(&self, other: &Load) -> bool {
        let files = |l: &Load| l.files.iter().map(|f| (f.source, f.effect)).collect::<Vec<_>>();
        let imports = |l: &Load| l.imports.iter().map(|i| (i.reaches.clone(), i.missing)).collect::<Vec<_>>();
        self.hidden == other.hidden
            && self.cut_short == other.cut_short
            && files(self) == files(other)
            && imports(self) == imports(other)
    }
}

impl Load {
    /// Whether these files were loaded, decoded alike.
    pub(super) fn same_texts(&self, tops: &[Option<Shared>]) -> bool {
        let same = |(file, top): (&File, &Option<Shared>)| match (&file.top, top) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.files.len() == tops.len() && self.files.iter().zip(tops).all(same)
    }
}

pub(super) fn load(generation: &Generation, input: &Input, world: &mut World) -> Load {
    let mut load = Load::default();
    let schema = match generation.parser {
        Dialect::GoTomlV1 => schema::FILE_OF_TABLES,
        _ => schema::FILE,
    };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut pending: VecDeque<(String, Option<Place>)> = VecDeque::new();
    pending.push_back((input.main.to_owned(), None));
    let mut root_version = 0;
    while let Some((path, asked)) = pending.pop_front() {
        if seen.contains(&path) {
            continue;
        }
        let answer = world.file(&path);
        if answer.is().is_none() && world.is_dir(&path) == Known::Is(true) {
            load.stop = Some(Stop { message: format!("{path} is a directory"), place: asked, syntax: false });
            return load;
        }
        let captured = match answer {
            Known::Is(captured) => captured,
            Known::Absent(_) => {
                if absent(generation, input, asked, &path, &mut load) {
                    let rest = pending.into_iter().map(|(p, _)| p).filter(|p| !seen.contains(p));
                    ignore(rest.collect(), world, &mut load);
                    return load;
                }
                return load;
            }
            Known::Unknown(why) => {
                load.unread.push((path.clone(), asked, why.clone()));
                load.hidden.get_or_insert(why);
                seen.insert(path);
                continue;
            }
        };
        let mut file = File {
            path: path.clone(),
            source: captured.id,
            text: captured.text.clone(),
            effect: Effect::Read,
            document: None,
            top: None,
            unsure: None,
        };
        if let Err(stop) = open(generation, schema, &captured, &mut file, world, &mut root_version) {
            file.effect = Effect::Fatal;
            load.files.push(file);
            load.stop = Some(stop);
            return load;
        }
        let imports = file.top.as_ref().and_then(|t| t.get("imports")).cloned();
        load.files.push(file);
        seen.insert(path.clone());
        for pattern in imports.iter().flat_map(|i| i.array()) {
            let import = match resolve(generation, &path, pattern, world) {
                Ok(import) => import,
                Err(stop) => {
                    if let Some(last) = load.files.last_mut() {
                        last.effect = Effect::Fatal;
                    }
                    load.stop = Some(stop);
                    return load;
                }
            };
            match &import.reaches {
                Known::Is(paths) => {
                    pending.extend(paths.iter().map(|p| (p.clone(), Some(pattern.at.place))));
                }
                Known::Unknown(why) => {
                    load.hidden.get_or_insert(why.clone());
                }
                Known::Absent(_) => {}
            }
            load.imports.push(import);
        }
    }
    load
}

/// A file that is not there. True: loading ends here, quietly.
fn absent(generation: &Generation, input: &Input, asked: Option<Place>, path: &str, load: &mut Load) -> bool {
    let is_main = load.files.is_empty() && asked.is_none();
    if generation.missing_ends_loading || (is_main && !input.main_given) {
        load.cut_short = !is_main;
        return true;
    }
    let message = match is_main {
        true => format!("the configuration file {path} named by --config is not there"),
        false => format!("the imported file {path} is not there"),
    };
    if let Some(file) = load.imports.iter().find(|i| Some(i.pattern.at.place) == asked).map(|i| i.by.clone())
    {
        load.files.iter_mut().filter(|f| f.path == file).for_each(|f| f.effect = Effect::Fatal);
    }
    load.stop = Some(Stop { message, place: asked, syntax: false });
    false
}

/// Files that would have been loaded.
fn ignore(paths: Vec<String>, world: &mut World, load: &mut Load) {
    for path in paths {
        if let Known::Is(c) = world.file(&path) {
            let (source, text) = (c.id, c.text.clone());
            load.files.push(File {
                path,
                source,
                text,
                effect: Effect::Ignored,
                document: None,
                top: None,
                unsure: None,
            });
        }
    }
}

fn open(
    generation: &Generation,
    schema: &'static Kind,
    captured: &crate::model::Captured,
    file: &mut File,
    world: &mut World,
    root_version: &mut i64,
) -> Result<(), Stop> {
    let parsed = world.document(captured, generation.parser);
    let document = match &*parsed {
        Ok((document, unsure)) => {
            // the library that upstream vendors refuses it; Debian's 2.1 is built with one that does not
            if let Some(first) = unsure.first() {
                let place = Place { source: captured.id, span: first.span };
                let message = first.message.clone();
                if !generation.since("2.1") || generation.since("2.2") {
                    return Err(Stop { message, place: Some(place), syntax: true });
                }
                file.unsure = Some((place, message));
            }
            document.clone()
        }
        Err(error) => {
            let place = Place { source: captured.id, span: error.span };
            return Err(Stop { message: error.message.clone(), place: Some(place), syntax: true });
        }
    };
    file.document = Some(document.clone());
    let top = world.top(generation.keys, schema, &document).map_err(|m| Stop {
        message: m.message,
        place: Some(m.at.at.place),
        syntax: false,
    })?;
    file.top = Some(top);
    let version = file.version();
    let place = file
        .version_value()
        .map(|v| v.at.place)
        .or(Some(Place { source: file.source, span: Span::default() }));
    if *root_version == 0 {
        *root_version = version;
    }
    if generation.drop_in_check && version > *root_version {
        let message =
            format!("the drop-in has version {version}, higher than version {root_version} of the main file");
        return Err(Stop { message, place, syntax: false });
    }
    if generation.pipeline == Pipeline::MigrateThenMerge && version < 0 {
        let message = format!("version {version} makes the daemon panic");
        return Err(Stop { message, place, syntax: false });
    }
    Ok(())
}

fn resolve(generation: &Generation, by: &str, pattern: &Shared, world: &mut World) -> Result<Import, Stop> {
    let text = pattern.text().unwrap_or_default();
    let import = |reaches, missing| Import { by: by.to_owned(), pattern: pattern.clone(), reaches, missing };
    if !text.contains('*') {
        let path = paths::join(paths::dir(by), text);
        let missing = matches!(world.file(&path), Known::Absent(_));
        return Ok(import(Known::Is(vec![path]), missing));
    }
    let base = if generation.globs_from_root { "/" } else { paths::dir(by) };
    let path = paths::join(base, text);
    if !paths::well_formed(&path) {
        let message = format!("`{text}` is not a valid pattern");
        return Err(Stop { message, place: Some(pattern.at.place), syntax: false });
    }
    Ok(import(paths::glob(&path, &mut |dir| world.list(dir)), false))
}
