//! Configurations to try: a directory each, with a `config.toml` and what it imports.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::lab::project;

/// Where the directories lie. Every one of these must hold cases.
const HOMES: [&str; 2] = ["fixtures/daemons", "fixtures/corpus/containerd"];

/// Where a case stands in the system that tries it; `@DIR@` in its files means this place.
const PLACE: &str = "/case";

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) on_disk: bool,
    /// Path below the case's place (or below /etc/containerd, where it begins with `ETC_CONTAINERD/`) and text.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// The file given as `--config`; none where the default place is meant.
    pub(crate) main: Option<String>,
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for home in HOMES {
        let before = cases.len();
        let mut directories = entries(&project(home)).unwrap_or_else(|e| panic!("{home}: {e}"));
        directories.sort();
        cases.extend(directories.into_iter().filter(|path| path.is_dir()).map(|path| Case::at(&path)));
        assert!(cases.len() > before, "{home} holds no case");
    }
    cases
}

impl Case {
    fn at(directory: &Path) -> Case {
        let mut files = Vec::new();
        collect(directory, directory, &mut files).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
        let name = directory.file_name().unwrap().to_string_lossy().into_owned();
        Case { name, on_disk: true, files, main: main(directory).then(main_place) }
    }

    /// Puts the case, and no other, into the system at `root`.
    pub(crate) fn place(&self, root: &Path) -> io::Result<()> {
        let etc = root.join("etc/containerd");
        let place = root.join(&PLACE[1..]);
        for old in [&etc, &place] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
            fs::create_dir_all(old)?;
        }
        for (path, text) in &self.files {
            let to = match path.strip_prefix("ETC_CONTAINERD") {
                Ok(below) => etc.join(below),
                Err(_) => place.join(path),
            };
            fs::create_dir_all(to.parent().unwrap())?;
            fs::write(to, replace(text, b"@DIR@", PLACE.as_bytes()))?;
        }
        Ok(())
    }

    /// The texts of a case that lies nowhere.
    pub(crate) fn shown(&self) -> String {
        if self.on_disk {
            return String::new();
        }
        let texts = self
            .files
            .iter()
            .map(|(path, text)| format!("--- {}\n{}", path.display(), String::from_utf8_lossy(text)));
        texts.collect()
    }
}

/// The usual `--config`.
pub(crate) fn main_place() -> String {
    format!("{PLACE}/config.toml")
}

/// Whether `--config` is given: a recorded case says so, of another the files tell.
fn main(directory: &Path) -> bool {
    let Ok(recorded) = fs::read(directory.join("expected.json")) else {
        return !directory.join("ETC_CONTAINERD").exists();
    };
    let recorded: serde_json::Value = serde_json::from_slice(&recorded).unwrap();
    recorded["main"].as_str().is_some_and(|main| !main.is_empty())
}

fn collect(top: &Path, directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> io::Result<()> {
    for path in entries(directory)? {
        if path.is_dir() {
            collect(top, &path, files)?;
        } else if path != top.join("expected.json") {
            files.push((path.strip_prefix(top).unwrap().to_owned(), fs::read(&path)?));
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

/// On bytes, since some cases are not UTF-8.
fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}
