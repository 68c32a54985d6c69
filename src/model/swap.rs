//! Which swap the next boot switches on: rows of fstab, swap units, the zram generator, and
//! services that make a swap file. Facts of fstab(5), systemd.swap(5), systemd-fstab-generator(8)
//! and zram-generator.conf(5).

use super::{Reader, unit};
use crate::fact::{Known, Why};
use crate::text::{Place, Span, lines, words};

const FSTAB: &str = "/etc/fstab";

/// Where units that are switched on are linked.
const WANTED: [&str; 6] = [
    "/etc/systemd/system/swap.target.wants",
    "/etc/systemd/system/multi-user.target.wants",
    "/etc/systemd/system/local-fs.target.wants",
    "/etc/systemd/system/sysinit.target.wants",
    "/usr/lib/systemd/system/swap.target.wants",
    "/lib/systemd/system/swap.target.wants",
];

/// Services that make swap and switch it on.
const SERVICES: [&str; 3] = ["dphys-swapfile.service", "zramswap.service", "armbian-zram-config.service"];

const GENERATORS: [&str; 3] = [
    "/usr/lib/systemd/system-generators",
    "/lib/systemd/system-generators",
    "/usr/local/lib/systemd/system-generators",
];

const ZRAM: [&str; 4] = [
    "/etc/systemd/zram-generator.conf",
    "/run/systemd/zram-generator.conf",
    "/usr/local/lib/systemd/zram-generator.conf",
    "/usr/lib/systemd/zram-generator.conf",
];

/// Swap that is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// Device, file, or the service that makes it.
    pub what: String,
    /// fstab, unit, zram-generator or service
    pub by: &'static str,
    pub place: Place,
    /// Whether it is switched on at boot, or something keeps it off.
    pub at_boot: bool,
}

/// All of it. `systemd`: systemd runs the host, else only fstab counts.
pub fn at_boot(reader: &mut dyn Reader, systemd: bool, cmdline: &[String]) -> Known<Vec<Swap>> {
    // systemd.swap=0 and a masked swap.target keep all swap off
    let off = systemd
        && (cmdline
            .iter()
            .any(|w| ["systemd.swap=0", "systemd.swap=no", "systemd.swap=off"].contains(&&**w))
            || masked(reader, "swap.target"));
    let mut found = Vec::new();
    if let Err(why) = fstab(reader, systemd, &mut found) {
        return Known::Unknown(why);
    }
    if systemd && let Err(why) = units(reader, &mut found).and_then(|()| zram(reader, &mut found)) {
        return Known::Unknown(why);
    }
    found.iter_mut().for_each(|swap| swap.at_boot &= !off);
    Known::Is(found)
}

/// What is absent, and what a dead tree lacks, is nothing.
fn there<T>(found: Known<T>) -> Result<Option<T>, Why> {
    match found {
        Known::Is(found) => Ok(Some(found)),
        Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => Ok(None),
        Known::Unknown(why) => Err(why),
    }
}

fn masked(reader: &mut dyn Reader, name: &str) -> bool {
    unit::load(reader, name).is().is_some_and(|unit| unit.masked)
}

fn fstab(reader: &mut dyn Reader, systemd: bool, found: &mut Vec<Swap>) -> Result<(), Why> {
    let Some(captured) = there(reader.file(FSTAB))? else { return Ok(()) };
    for (span, line) in lines(&captured.text) {
        let fields: Vec<(Span, &str)> = words(line).collect();
        let [(first, what), _, (_, "swap"), rest @ ..] = fields.as_slice() else { continue };
        if what.starts_with('#') {
            continue;
        }
        let options = rest.first().map_or("", |(_, options)| options);
        let noauto = options.split(',').any(|option| option == "noauto");
        let end = rest.first().map_or(first.end, |(span, _)| span.end);
        let kept_off = systemd && masked(reader, &format!("{}.swap", escaped(&device(what))));
        found.push(Swap {
            what: (*what).to_owned(),
            by: "fstab",
            place: Place { source: captured.id, span: Span::new(span.start + first.start, span.start + end) },
            at_boot: !noauto && !kept_off,
        });
    }
    Ok(())
}

/// The path of a device that fstab names by a tag.
fn device(what: &str) -> String {
    let tags =
        [("UUID=", "uuid"), ("LABEL=", "label"), ("PARTUUID=", "partuuid"), ("PARTLABEL=", "partlabel")];
    for (tag, dir) in tags {
        if let Some(name) = what.strip_prefix(tag) {
            return format!("/dev/disk/by-{dir}/{}", name.trim_matches('"'));
        }
    }
    what.to_owned()
}

/// A path as the name of a unit (systemd-escape --path).
fn escaped(path: &str) -> String {
    let path = path.trim_matches('/');
    let mut name = String::new();
    for (at, b) in path.bytes().enumerate() {
        match b {
            b'/' => name.push('-'),
            b'.' if at == 0 => name.push_str("\\x2e"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' | b'.' => name.push(char::from(b)),
            _ => name.push_str(&format!("\\x{b:02x}")),
        }
    }
    name
}

fn units(reader: &mut dyn Reader, found: &mut Vec<Swap>) -> Result<(), Why> {
    let mut seen: Vec<String> = Vec::new();
    for dir in WANTED {
        for name in there(reader.list(dir))?.unwrap_or_default() {
            let service = SERVICES.contains(&name.as_str());
            if !(service || name.ends_with(".swap")) || seen.contains(&name) {
                continue;
            }
            let Some(unit) = there(unit::load(reader, &name))? else { continue };
            let what = unit.property("Swap", "What");
            let first = unit.settings.first().map(|s| s.place);
            let Some(place) = what.map(|w| w.place).or(first) else { continue };
            let what = what.map_or(name.clone(), |w| w.value.text().to_owned());
            let by = if service { "service" } else { "unit" };
            found.push(Swap { what, by, place, at_boot: !unit.masked });
            seen.push(name);
        }
    }
    Ok(())
}

fn zram(reader: &mut dyn Reader, found: &mut Vec<Swap>) -> Result<(), Why> {
    let installed = GENERATORS.into_iter().any(|dir| reader.may_have(dir, "zram-generator"));
    if !installed {
        return Ok(());
    }
    for path in ZRAM {
        // the first file shadows the others, an empty one too
        let Some(captured) = there(reader.file(path))? else { continue };
        let mut device: Option<(String, Span)> = None;
        let mut swap = true;
        let mut close = |device: &mut Option<(String, Span)>, swap: bool| {
            if let Some((name, span)) = device.take().filter(|_| swap) {
                let place = Place { source: captured.id, span };
                found.push(Swap { what: format!("/dev/{name}"), by: "zram-generator", place, at_boot: true });
            }
        };
        for (span, line) in lines(&captured.text) {
            let said = line.trim();
            if let Some(name) = said.strip_prefix('[').and_then(|s| s.strip_suffix(']')) {
                close(&mut device, swap);
                swap = true;
                device = name.starts_with("zram").then(|| (name.to_owned(), span));
            } else if let Some((key, value)) = said.split_once('=') {
                let (key, value) = (key.trim(), value.trim());
                swap &= !(key == "mount-point" || (key == "zram-size" && value == "0"));
                swap &= !(key == "fs-type" && value != "swap");
            }
        }
        close(&mut device, swap);
        return Ok(());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_names_of_units() {
        assert_eq!(escaped("/swap.img"), "swap.img");
        assert_eq!(escaped(&device("UUID=12-ab")), "dev-disk-by\\x2duuid-12\\x2dab");
        assert_eq!(escaped("/.swap file"), "\\x2eswap\\x20file");
    }
}
