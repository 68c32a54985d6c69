//! What the Go linker wrote into a program: toolchain, module versions, build settings. Read as
//! data, a few ranges of a large file, so it works for a dead root as well.

use super::{Node, Tree};
use crate::fact::{Known, Why};
use std::fmt::Write;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

const MAGIC: &[u8] = b"\xff Go buildinf:";
/// The most that is taken of one text, in bytes.
const TEXT: u64 = 1 << 20;
/// How far into the data segment the header may lie, in bytes.
const SEARCH: u64 = 1 << 20;

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

/// An ELF file, little-endian.
struct Elf<'a> {
    file: &'a File,
    wide: bool,
    /// Loaded segments: address, offset, size in the file, writable.
    segments: Vec<(u64, u64, u64, bool)>,
}

fn read(file: &File) -> Option<String> {
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

impl Elf<'_> {
    fn open(file: &File) -> Option<Elf<'_>> {
        let head = bytes(file, 0, 64).or_else(|| bytes(file, 0, 52))?;
        if !head.starts_with(b"\x7fELF") || head[5] != 1 {
            return None;
        }
        let wide = head[4] == 2;
        let (offset, size, count) = match wide {
            true if head.len() == 64 => (number(&head[32..40]), number(&head[54..56]), number(&head[56..58])),
            true => return None,
            false => (number(&head[28..32]), number(&head[42..44]), number(&head[44..46])),
        };
        if size < if wide { 56 } else { 32 } || count > 512 {
            return None;
        }
        let table = bytes(file, offset, size.checked_mul(count)?)?;
        let mut segments = Vec::new();
        for row in table.chunks_exact(size as usize) {
            const LOAD: u64 = 1;
            let field = |at: usize, length: usize| number(&row[at..at + length]);
            let (flags, offset, address, length) = match wide {
                true => (field(4, 4), field(8, 8), field(16, 8), field(32, 8)),
                false => (field(24, 4), field(4, 4), field(8, 4), field(16, 4)),
            };
            if field(0, 4) == LOAD {
                segments.push((address, offset, length, flags & 2 != 0));
            }
        }
        Some(Elf { file, wide, segments })
    }

    /// Where the header of the build information lies: in its own section, else at the beginning
    /// of the data.
    fn header(&self) -> Option<u64> {
        let found = |offset: u64, length: u64| {
            let data = some(self.file, offset, length.min(SEARCH))?;
            (0..data.len()).step_by(16).find(|i| data[*i..].starts_with(MAGIC)).map(|i| offset + i as u64)
        };
        let section = self.section(".go.buildinfo").and_then(|(offset, length)| found(offset, length));
        section.or_else(|| {
            let data = self.segments.iter().find(|s| s.3)?;
            found(data.1, data.2)
        })
    }

    fn section(&self, wanted: &str) -> Option<(u64, u64)> {
        let head = bytes(self.file, 0, if self.wide { 64 } else { 52 })?;
        let (offset, size, count, names) = match self.wide {
            true => {
                (number(&head[40..48]), number(&head[58..60]), number(&head[60..62]), number(&head[62..64]))
            }
            false => {
                (number(&head[32..36]), number(&head[46..48]), number(&head[48..50]), number(&head[50..52]))
            }
        };
        if size < if self.wide { 64 } else { 40 } || names >= count {
            return None;
        }
        let table = bytes(self.file, offset, size.checked_mul(count)?)?;
        let row = |i: u64| -> (u64, u64, u64) {
            let row = &table[(i * size) as usize..];
            match self.wide {
                true => (number(&row[0..4]), number(&row[24..32]), number(&row[32..40])),
                false => (number(&row[0..4]), number(&row[16..20]), number(&row[20..24])),
            }
        };
        let (_, start, length) = row(names);
        let texts = bytes(self.file, start, length.min(TEXT))?;
        (0..count).map(row).find_map(|(name, offset, length)| {
            let text = texts.get(usize::try_from(name).ok()?..)?;
            (text.starts_with(wanted.as_bytes()) && text.get(wanted.len()) == Some(&0))
                .then_some((offset, length))
        })
    }

    /// A text after its length as a varint, and where it ends.
    fn counted(&self, at: u64) -> Option<(Vec<u8>, u64)> {
        let head = some(self.file, at, 10)?;
        let (mut length, mut used) = (0u64, 0u64);
        for byte in &head {
            length |= u64::from(byte & 0x7f).checked_shl(7 * used as u32)?;
            used += 1;
            if byte & 0x80 == 0 {
                let start = at.checked_add(used)?;
                return Some((bytes(self.file, start, length)?, start.checked_add(length)?));
            }
        }
        None
    }

    /// A Go string by the address of its header.
    fn string(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        let header = bytes(self.file, self.offset(address)?, size * 2)?;
        let (data, length) = header.split_at(size as usize);
        bytes(self.file, self.offset(number(data))?, number(length))
    }

    fn offset(&self, address: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|s| address.checked_sub(s.0).is_some_and(|n| n < s.2))?;
        segment.1.checked_add(address - segment.0)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Exactly so many bytes.
fn bytes(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    if length > TEXT {
        return None;
    }
    some(file, offset, length).filter(|data| data.len() as u64 == length)
}

/// At most so many bytes.
fn some(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut data = vec![0; usize::try_from(length).ok()?];
    let mut have = 0;
    while have < data.len() {
        match file.read_at(&mut data[have..], offset.checked_add(have as u64)?) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    data.truncate(have);
    Some(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const START: usize = 0x200;
    const ADDRESS: u64 = 0x40_0000;
    const MARK: &str = "0123456789abcdef";

    /// An ELF file whose only segment, writable, is `data`.
    fn elf(wide: bool, data: &[u8]) -> File {
        let put = |file: &mut Vec<u8>, at: usize, value: u64, size: usize| {
            file[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        };
        let mut file = vec![0; START];
        file[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1]);
        let (start, size) = (START as u64, data.len() as u64);
        let fields: &[(usize, u64, usize)] = match wide {
            true => &[
                (32, 64, 8),
                (54, 56, 2),
                (56, 1, 2),
                (64, 1, 4),
                (68, 6, 4),
                (72, start, 8),
                (80, ADDRESS, 8),
                (96, size, 8),
            ],
            false => &[
                (28, 64, 4),
                (42, 32, 2),
                (44, 1, 2),
                (64, 1, 4),
                (68, start, 4),
                (72, ADDRESS, 4),
                (80, size, 4),
                (88, 6, 4),
            ],
        };
        for (at, value, size) in fields {
            put(&mut file, *at, *value, *size);
        }
        file.extend(data);
        let mut out = tempfile::tempfile().unwrap();
        out.write_all(&file).unwrap();
        out
    }

    fn header(pointer: u8, flags: u8) -> Vec<u8> {
        let mut data = vec![0; 16];
        data.extend(MAGIC);
        data.extend([pointer, flags]);
        data
    }

    fn inline(wide: bool, go: &str, modules: &str) -> File {
        let mut data = header(0, 2);
        data.resize(48, 0);
        for text in [go, modules] {
            data.extend([text.len() as u8 | 0x80, (text.len() >> 7) as u8]);
            data.extend(text.as_bytes());
        }
        elf(wide, &data)
    }

    #[test]
    fn texts_beside_the_header_are_read() {
        let modules = format!("{MARK}path\tx\nmod\tm\tv1.2.3\t\n{MARK}");
        for wide in [true, false] {
            let text = read(&inline(wide, "go1.24.4", &modules)).unwrap();
            assert_eq!(text, "go1.24.4\n\tpath\tx\n\tmod\tm\tv1.2.3\t\n");
        }
        assert_eq!(read(&inline(true, "go1.24.4", "")).unwrap(), "go1.24.4\n");
    }

    #[test]
    fn texts_behind_addresses_are_read() {
        for (wide, size) in [(true, 8), (false, 4)] {
            let modules = format!("{MARK}path\tx\n{MARK}");
            let mut data = header(size, 0);
            let size = usize::from(size);
            let number = |n: u64| n.to_le_bytes()[..size].to_vec();
            data.extend(number(ADDRESS + 64));
            data.extend(number(ADDRESS + 96));
            for (at, text, start) in [(64, "go1.15.15", 128), (96, &modules, 160)] {
                data.resize(at, 0);
                data.extend(number(ADDRESS + start));
                data.extend(number(text.len() as u64));
            }
            data.resize(128, 0);
            data.extend(b"go1.15.15");
            data.resize(160, 0);
            data.extend(modules.as_bytes());
            assert_eq!(read(&elf(wide, &data)).unwrap(), "go1.15.15\n\tpath\tx\n");
        }
    }

    #[test]
    fn lies_are_not_followed() {
        let mut data = header(0, 2);
        data.resize(48, 0);
        data.extend([0xff; 9]);
        assert_eq!(read(&elf(true, &data)), None);
        let mut data = header(8, 0);
        data.extend(u64::MAX.to_le_bytes());
        data.extend(u64::MAX.to_le_bytes());
        assert_eq!(read(&elf(true, &data)), None);
        assert_eq!(read(&elf(true, b"no Go here")), None);
        assert_eq!(read(&inline(true, "not a toolchain", "")), None);
    }
}
