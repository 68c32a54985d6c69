//! A tree of files on this machine: `/`, or a directory that stands for it. Every path, symbolic
//! links included, is resolved inside that directory. Nothing blocks: what is not a regular file
//! or a directory is never opened for reading.

use super::{Entry, FileKind, LIMIT, Stat};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, open, openat2, readlinkat};
use nix::sys::stat::{FileStat, Mode, fstat, fstatat};
use nix::sys::statfs::fstatfs;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The most entries that are taken of a directory.
pub(super) const ENTRIES: usize = 65_536;
/// What listing a directory with more of them gives.
pub(super) const TOO_MANY: Errno = Errno::E2BIG;

pub(super) struct Disk {
    dir: PathBuf,
    /// `None` for `/`: the kernel's own resolution is what daemons use too.
    root: Option<OwnedFd>,
    /// The kernel resolves inside the root (5.6 and later, and no seccomp filter in between).
    in_kernel: bool,
}

/// What was met at a path.
pub(super) enum Met {
    Bytes(Vec<u8>, Stat),
    /// There, but not a regular file, or larger than [`LIMIT`].
    Not(Stat, String),
}

impl Disk {
    pub(super) fn open(dir: &Path) -> Result<Disk, Errno> {
        if dir == Path::new("/") {
            return Ok(Disk { dir: dir.into(), root: None, in_kernel: true });
        }
        let root = open(dir, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let how =
            OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_IN_ROOT);
        let in_kernel = openat2(&root, ".", how).is_ok();
        Ok(Disk { dir: dir.into(), root: Some(root), in_kernel })
    }

    /// Opens a node path. `O_PATH` alone never blocks and has no effect on devices.
    fn at(&self, path: &str, flags: OFlag) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlag::O_CLOEXEC | OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
        let flags =
            if flags.contains(OFlag::O_PATH) { flags & !OFlag::O_NONBLOCK & !OFlag::O_NOCTTY } else { flags };
        match &self.root {
            None => open(path, flags, Mode::empty()),
            Some(root) if self.in_kernel => {
                let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_IN_ROOT);
                let below = path.trim_start_matches('/');
                openat2(root, if below.is_empty() { "." } else { below }, how)
            }
            Some(_) => {
                let follow = !flags.contains(OFlag::O_NOFOLLOW);
                open(&self.resolve(path, follow)?, flags | OFlag::O_NOFOLLOW, Mode::empty())
            }
        }
    }

    /// Resolution inside the root for kernels that cannot: links are read one by one, `..` stops at the root.
    fn resolve(&self, path: &str, follow_last: bool) -> Result<PathBuf, Errno> {
        let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = todo.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    done.pop();
                    continue;
                }
                _ => done.push(part),
            }
            let here = self.dir.join(done.join("/"));
            if todo.iter().all(|p| p.is_empty()) && !follow_last {
                break;
            }
            if let Ok(target) = nix::fcntl::readlink(&here) {
                links += 1;
                if links > 40 {
                    return Err(Errno::ELOOP);
                }
                let target = target.to_string_lossy().into_owned();
                done.pop();
                if target.starts_with('/') {
                    done.clear();
                }
                todo.extend(target.split('/').rev().map(str::to_owned));
            }
        }
        Ok(self.dir.join(done.join("/")))
    }

    /// The bytes of a regular file.
    pub(super) fn read(&self, path: &str) -> Result<Met, Errno> {
        let stat = stat_of(&fstat(self.at(path, OFlag::O_PATH)?)?);
        if stat.kind != FileKind::File {
            let met = format!("is {}, not a file", stat.kind.name());
            return Ok(Met::Not(stat, met));
        }
        if stat.size > LIMIT {
            return Ok(Met::Not(stat, too_large()));
        }
        let file = self.at(path, OFlag::O_RDONLY)?;
        // it may have been exchanged in between: a FIFO was opened without blocking and is not read
        let stat = stat_of(&fstat(&file)?);
        if stat.kind != FileKind::File {
            let met = format!("is {}, not a file", stat.kind.name());
            return Ok(Met::Not(stat, met));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0).max(512));
        File::from(file)
            .take(LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| e.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
        if bytes.len() as u64 > LIMIT {
            return Ok(Met::Not(stat, too_large()));
        }
        Ok(Met::Bytes(bytes, stat))
    }

    /// A regular file, opened; for readers that want a few ranges of a large one.
    pub(super) fn file(&self, path: &str) -> Result<Option<File>, Errno> {
        if stat_of(&fstat(self.at(path, OFlag::O_PATH)?)?).kind != FileKind::File {
            return Ok(None);
        }
        self.at(path, OFlag::O_RDONLY).map(|fd| Some(File::from(fd)))
    }

    /// The first line of a short file; none where something else is there.
    pub(super) fn line(&self, path: &str) -> Result<Option<String>, Errno> {
        // a dead root may hold a device there, and opening one may do things
        let Some(file) = self.file(path)? else { return Ok(None) };
        let mut bytes = Vec::with_capacity(64);
        file.take(64)
            .read_to_end(&mut bytes)
            .map_err(|e| e.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
        Ok(String::from_utf8_lossy(&bytes).lines().next().map(str::to_owned))
    }

    /// Names below a directory, sorted by bytes, without `.` and `..`; an error where there are more
    /// than [`ENTRIES`].
    pub(super) fn list(&self, path: &str) -> Result<Vec<Entry>, Errno> {
        let mut dir = Dir::from_fd(self.at(path, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?)?;
        let mut found = Vec::new();
        for entry in dir.iter() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." {
                continue;
            }
            if found.len() == ENTRIES {
                return Err(TOO_MANY);
            }
            let kind = entry.file_type().map(|t| match t {
                nix::dir::Type::Directory => FileKind::Dir,
                nix::dir::Type::Symlink => FileKind::Link,
                nix::dir::Type::File => FileKind::File,
                nix::dir::Type::Fifo => FileKind::Fifo,
                nix::dir::Type::Socket => FileKind::Socket,
                nix::dir::Type::CharacterDevice | nix::dir::Type::BlockDevice => FileKind::Device,
            });
            found.push((name, kind));
        }
        let mut entries = Vec::with_capacity(found.len());
        for (name, kind) in found {
            let kind = match kind {
                Some(kind) => kind,
                None => self.lstat(&format!("{path}/{name}")).map_or(FileKind::Other, |s| s.kind),
            };
            entries.push(Entry { name, kind });
        }
        entries.sort();
        Ok(entries)
    }

    pub(super) fn stat(&self, path: &str) -> Result<Stat, Errno> {
        fstat(self.at(path, OFlag::O_PATH)?).map(|s| stat_of(&s))
    }

    pub(super) fn lstat(&self, path: &str) -> Result<Stat, Errno> {
        let fd = self.at(path, OFlag::O_PATH | OFlag::O_NOFOLLOW)?;
        fstatat(&fd, "", AtFlags::AT_EMPTY_PATH).map(|s| stat_of(&s))
    }

    pub(super) fn link(&self, path: &str) -> Result<String, Errno> {
        let target = match &self.root {
            // links below /proc (exe, root, ns) are read by path
            None => nix::fcntl::readlink(path)?,
            // of a descriptor that is no link the kernel says ENOENT, not EINVAL
            Some(_) => readlinkat(self.at(path, OFlag::O_PATH | OFlag::O_NOFOLLOW)?, "")
                .map_err(|e| if e == Errno::ENOENT { Errno::EINVAL } else { e })?,
        };
        Ok(target.to_string_lossy().into_owned())
    }

    /// Type of the file system that holds a path, as in statfs(2).
    #[expect(clippy::unnecessary_cast, reason = "its width differs between architectures")]
    pub(super) fn magic(&self, path: &str) -> Result<i64, Errno> {
        fstatfs(self.at(path, OFlag::O_PATH)?).map(|s| s.filesystem_type().0 as i64)
    }

    /// Where a node path lies for the kernel: what a socket is connected by. Through the descriptor
    /// of the resolved file, so that no link leads outside.
    pub(super) fn connectable(&self, path: &str) -> Result<(OwnedFd, PathBuf), Errno> {
        let fd = self.at(path, OFlag::O_PATH)?;
        if self.root.is_none() {
            return Ok((fd, path.into()));
        }
        let through = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        Ok((fd, through))
    }
}

fn too_large() -> String {
    format!("larger than {} MiB", LIMIT >> 20)
}

fn stat_of(s: &FileStat) -> Stat {
    let kind = match s.st_mode & 0o170_000 {
        0o100_000 => FileKind::File,
        0o040_000 => FileKind::Dir,
        0o120_000 => FileKind::Link,
        0o010_000 => FileKind::Fifo,
        0o140_000 => FileKind::Socket,
        0o020_000 | 0o060_000 => FileKind::Device,
        _ => FileKind::Other,
    };
    Stat {
        kind,
        mode: s.st_mode & 0o7777,
        uid: s.st_uid,
        gid: s.st_gid,
        size: u64::try_from(s.st_size).unwrap_or(0),
        mtime: s.st_mtime,
        ctime: s.st_ctime,
    }
}
