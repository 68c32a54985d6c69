//! The one room that writes. A file is whole, old or new, whatever happens in between.

#![allow(clippy::disallowed_methods, reason = "what is refused elsewhere belongs here")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Replaces a file, or makes it, in one step: same-directory temporary file, synced, renamed.
/// A new file gets the given permission bits (before umask).
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let dir = parent(path);
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let temporary = dir.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(dir)?.sync_all()
    })();
    if written.is_err() {
        // the old file is untouched; what is left of the new one goes
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Makes a directory that did not exist before, with all its files, in one step.
pub fn tree(dir: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let dir = if dir.is_absolute() { dir.to_owned() } else { std::env::current_dir()?.join(dir) };
    if dir.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let name = dir.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let temporary = parent(&dir).join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = (|| {
        fs::create_dir(&temporary)?;
        for (path, bytes) in files {
            let file = inside(&temporary, path);
            fs::create_dir_all(parent(&file))?;
            // a capture may hold what only root could read
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
            file.write_all(bytes)?;
        }
        // rename(2) takes no place but that of an empty directory
        fs::rename(&temporary, &dir)
    })();
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A node path below a directory; `..` and empty parts are dropped.
fn inside(dir: &Path, path: &str) -> PathBuf {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != "." && *part != "..")
        .fold(dir.to_owned(), |d, p| d.join(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        replace(&path, b"one", 0o644).unwrap();
        replace(&path, b"two", 0o644).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("no/such"), b"x", 0o644).is_err());
    }

    #[test]
    fn a_tree_never_mixes_with_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("capture");
        tree(&target, &[("/etc/x".into(), b"1".to_vec()), ("/../../y".into(), b"2".to_vec())]).unwrap();
        assert_eq!(fs::read(target.join("y")).unwrap(), b"2");
        assert_eq!(tree(&target, &[]).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(target.join("etc/x")).unwrap(), b"1");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
