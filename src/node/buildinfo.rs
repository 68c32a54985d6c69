//! What the Go linker wrote into a program: toolchain, module versions, build settings. Read as
//! data, a few ranges of a large file, so it works for a dead root as well.

mod elf;
mod image;

use super::{Node, Tree};
use crate::fact::{Known, Why};
use elf::{Elf, bytes, number};
use image::Image;
use std::fmt::Write;
use std::sync::Arc;

impl Node {
    /// Build information of a Go program, in the lines of `go version -m`. Absent for other files.
    pub fn build_info(&self, path: &str) -> Known<Arc<str>> {
        let question = format!("binary:{path}");
        if !self.is_live() {
            let kept = self.replay(&question);
            if !matches!(kept, Known::Unknown(Why::NotRunning(_))) {
                return kept;
            }
        }
        let answer = match &self.tree {
            Tree::Disk(disk) => match disk.file(path) {
                Ok(Some(file)) => match read(&file) {
                    Some(text) => Known::Is(text.into()),
                    None => Known::Absent("not a Go program, or without build information".into()),
                },
                Ok(None) => Known::ABSENT,
                Err(e) => self.failed(path, e),
            },
            Tree::Memory(_) => self.missing(path),
        };
        self.remember_reply(&question, &answer);
        answer
    }
}

pub(crate) fn read(file: &dyn Image) -> Option<String> {
    let elf = Elf::open(file)?;
    let start = elf.header()?;
    let header = bytes(file, start, 32)?;
    let (go, modules) = if header[15] & 2 != 0 {
        let (go, next) = elf.counted(start + 32)?;
        (go, elf.counted(next).map(|(text, _)| text).unwrap_or_default())
    } else {
        // before Go 1.18: addresses of two string headers
        let size = u64::from(header[14]);
        if header[15] & 1 != 0 || !matches!(size, 4 | 8) {
            return None;
        }
        let at = |i: usize| number(&header[i..i + size as usize]);
        (elf.string(at(16), size)?, elf.string(at(16 + size as usize), size).unwrap_or_default())
    };
    let go = String::from_utf8(go).ok().filter(|text| text.starts_with("go") || text.starts_with("devel"))?;
    let mut text = format!("{go}\n");
    // sixteen bytes of a mark on either side
    if let Some(inner) = modules.len().checked_sub(16).and_then(|end| modules.get(16..end)) {
        for line in String::from_utf8_lossy(inner).lines() {
            let _ = writeln!(text, "\t{line}");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests;
