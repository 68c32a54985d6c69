use super::elf::MAGIC;
use super::*;
use std::fs::File;
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
