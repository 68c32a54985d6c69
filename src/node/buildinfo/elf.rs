//! ELF files, 32 and 64 bits, little-endian, as far as Go's linker writes them.

use super::image::Image;

pub(super) const MAGIC: &[u8] = b"\xff Go buildinf:";
/// The most that is taken of one text, in bytes.
const TEXT: u64 = 1 << 20;
/// How far into the data segment the header may lie, in bytes.
const SEARCH: u64 = 1 << 20;

/// An ELF file, little-endian.
pub(super) struct Elf<'a> {
    file: &'a dyn Image,
    wide: bool,
    /// Loaded segments: address, offset, size in the file, writable.
    segments: Vec<(u64, u64, u64, bool)>,
}

impl Elf<'_> {
    pub(super) fn open(file: &dyn Image) -> Option<Elf<'_>> {
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
    pub(super) fn header(&self) -> Option<u64> {
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

    pub(super) fn section(&self, wanted: &str) -> Option<(u64, u64)> {
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
    pub(super) fn counted(&self, at: u64) -> Option<(Vec<u8>, u64)> {
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
    pub(super) fn string(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        let header = bytes(self.file, self.offset(address)?, size * 2)?;
        let (data, length) = header.split_at(size as usize);
        bytes(self.file, self.offset(number(data))?, number(length))
    }

    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|s| address.checked_sub(s.0).is_some_and(|n| n < s.2))?;
        segment.1.checked_add(address - segment.0)
    }
}

pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Exactly so many bytes.
pub(super) fn bytes(file: &dyn Image, offset: u64, length: u64) -> Option<Vec<u8>> {
    if length > TEXT {
        return None;
    }
    some(file, offset, length).filter(|data| data.len() as u64 == length)
}

/// At most so many bytes.
pub(super) fn some(file: &dyn Image, offset: u64, length: u64) -> Option<Vec<u8>> {
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
