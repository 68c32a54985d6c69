//! Which files are read, and in which order: crio.conf, then everything below crio.conf.d in the
//! order of Go's filepath.Walk, whatever it is called.

use super::read::Merged;
use super::{DIR, Fatal, File, Generation, Input, MAIN, default, told};
use crate::fact::{Known, Layer, Origin, Why};
use crate::model::{Captured, Reader};
use crate::text::{Place, SourceId, line_span};

/// A directory that nvidia-ctk 1.18.0 to 1.19.0 wrote to; CRI-O does not know it.
const UNREAD_DIR: &str = "/etc/crio/conf.d";

/// The most files and the deepest directory that are looked at.
const MOST: usize = 500;
const DEEPEST: usize = 16;

/// Endings of files that an editor or a package manager puts aside.
const ASIDE: [&str; 14] = [
    "~",
    ".bak",
    ".backup",
    ".orig",
    ".old",
    ".save",
    ".rej",
    ".swp",
    ".disabled",
    ".dpkg-old",
    ".dpkg-dist",
    ".dpkg-new",
    ".rpmsave",
    ".rpmnew",
];

/// Why reading ended early.
pub(super) enum Stop {
    Fatal(Fatal),
    Unread(Why),
}

pub(super) fn read(
    generation: Generation,
    input: &Input,
    source: SourceId,
    reader: &mut dyn Reader,
    merged: &mut Merged,
) -> Result<(), Stop> {
    unread(reader, merged);
    let (path, origin) = named(input, source, &["--config", "-c"], "CONTAINER_CONFIG", "config", MAIN);
    if !path.is_empty() {
        main(generation, &path, &origin, reader, merged)?;
    }
    let names = ["--config-dir", "-d"];
    let (dir, origin) = named(input, source, &names, "CONTAINER_CONFIG_DIR", "config-dir", DIR);
    if dir.is_empty() {
        return Ok(());
    }
    walk(generation, &dir, &origin, 0, reader, merged)
}

fn named(
    input: &Input,
    source: SourceId,
    flags: &[&str],
    variable: &str,
    key: &str,
    path: &str,
) -> (String, Origin) {
    told(input, flags, variable).pop().unwrap_or_else(|| default(source, key, path))
}

fn main(
    generation: Generation,
    path: &str,
    origin: &Origin,
    reader: &mut dyn Reader,
    merged: &mut Merged,
) -> Result<(), Stop> {
    let fatal = |message| Stop::Fatal(Fatal { place: origin.place, message });
    if reader.is_dir(path) == Known::Is(true) {
        return Err(fatal(format!("{path} is a directory")));
    }
    match reader.file(path) {
        Known::Is(captured) => one(generation, path, &captured, true, merged),
        Known::Absent(_) if origin.layer == Layer::Default => Ok(()),
        Known::Absent(_) => Err(fatal(format!("{path} is not there"))),
        Known::Unknown(why) => Err(Stop::Unread(why)),
    }
}

/// What is below a path, in the order of names; the path itself where it is no directory.
fn walk(
    generation: Generation,
    path: &str,
    origin: &Origin,
    depth: usize,
    reader: &mut dyn Reader,
    merged: &mut Merged,
) -> Result<(), Stop> {
    let fatal = |message| Stop::Fatal(Fatal { place: origin.place, message });
    if depth > DEEPEST || merged.files.len() > MOST {
        let met = "more files than anybody would put there".to_owned();
        return Err(Stop::Unread(Why::Unreadable(path.to_owned(), met)));
    }
    // a link to a directory is not followed, and then read as if it were a file
    let linked = match reader.link(path) {
        Known::Is(_) => true,
        Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => false,
        Known::Unknown(why) => return Err(Stop::Unread(why)),
    };
    match reader.is_dir(path) {
        Known::Is(true) if linked => {
            return Err(fatal(format!("{path} is a link to a directory, which is read as a file")));
        }
        Known::Is(true) => {
            let names = match reader.list(path) {
                Known::Is(names) => names,
                Known::Absent(_) => return Ok(()),
                Known::Unknown(why) => return Err(Stop::Unread(why)),
            };
            for name in names {
                walk(generation, &format!("{path}/{name}"), origin, depth + 1, reader, merged)?;
            }
            return Ok(());
        }
        Known::Is(false) | Known::Absent(_) => {}
        Known::Unknown(why) => return Err(Stop::Unread(why)),
    }
    match reader.file(path) {
        Known::Is(captured) => one(generation, path, &captured, false, merged),
        // of the directory itself nothing need be there
        Known::Absent(_) if depth == 0 => Ok(()),
        Known::Absent(_) => Err(fatal(format!("{path} leads nowhere"))),
        Known::Unknown(why) => Err(Stop::Unread(why)),
    }
}

fn one(
    generation: Generation,
    path: &str,
    captured: &Captured,
    is_main: bool,
    merged: &mut Merged,
) -> Result<(), Stop> {
    let mut file = found(path, captured);
    (file.is_main, file.reached) = (is_main, true);
    file.stray = file.stray && !is_main;
    merged.files.push(file);
    merged.add(generation, captured, is_main).map_err(Stop::Fatal)
}

fn found(path: &str, captured: &Captured) -> File {
    let name = path.rsplit('/').next().unwrap_or_default();
    File {
        path: path.to_owned(),
        place: Place { source: captured.id, span: line_span(&captured.text, 1) },
        is_main: false,
        reached: false,
        stray: name.starts_with('.') || ASIDE.iter().any(|ending| name.ends_with(ending)),
        has_settings: captured.text.contains("crio.runtime") || captured.text.contains("[crio"),
    }
}

/// Files where CRI-O does not look, though they are meant for it.
fn unread(reader: &mut dyn Reader, merged: &mut Merged) {
    let Known::Is(names) = reader.list(UNREAD_DIR) else { return };
    for name in names.into_iter().take(MOST) {
        let path = format!("{UNREAD_DIR}/{name}");
        if let Known::Is(captured) = reader.file(&path) {
            merged.files.push(found(&path, &captured));
        }
    }
}
