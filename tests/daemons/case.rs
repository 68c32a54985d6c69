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
    files: PathBuf,
    /// The file given as `--config`; none where the default place is meant.
    pub(crate) main: Option<String>,
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for home in HOMES {
        let before = cases.len();
        let entries = fs::read_dir(project(home)).unwrap_or_else(|e| panic!("{home}: {e}"));
        let mut directories: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        directories.sort();
        cases.extend(directories.into_iter().filter(|path| path.is_dir()).map(Case::at));
        assert!(cases.len() > before, "{home} holds no case");
    }
    cases
}

impl Case {
    fn at(files: PathBuf) -> Case {
        let name = files.file_name().unwrap().to_string_lossy().into_owned();
        let main = main(&files).then(|| format!("{PLACE}/config.toml"));
        Case { name, files, main }
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
        for entry in fs::read_dir(&self.files)? {
            let from = entry?.path();
            match from.file_name().and_then(|name| name.to_str()) {
                Some("ETC_CONTAINERD") => copy(&from, &etc)?,
                Some("expected.json") | None => {}
                Some(name) => copy(&from, &place.join(name))?,
            }
        }
        Ok(())
    }
}

/// Whether `--config` is given: a recorded case says so, of another the files tell.
fn main(files: &Path) -> bool {
    let Ok(recorded) = fs::read(files.join("expected.json")) else {
        return !files.join("ETC_CONTAINERD").exists();
    };
    let recorded: serde_json::Value = serde_json::from_slice(&recorded).unwrap();
    recorded["main"].as_str().is_some_and(|main| !main.is_empty())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::write(to, replace(&fs::read(from)?, b"@DIR@", PLACE.as_bytes()))
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
