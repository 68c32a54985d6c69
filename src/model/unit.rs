//! systemd unit files as systemd reads them: where a unit is looked for, which drop-ins change
//! it, what its settings and its command line are. Facts of systemd.unit(5), systemd.service(5),
//! systemd.syntax(7) and systemd's src/shared/conf-parser.c, src/core/load-fragment.c.

mod environment;
mod lines;
mod words;

pub use environment::{Environment, Variable};
pub use words::{Argument, Woven, flag};

use super::Reader;
use crate::fact::{Known, Layer, Why};
use crate::text::Place;
use std::collections::BTreeMap;

/// Where the system's units are looked for; an earlier directory shadows a later one.
const DIRS: [&str; 12] = [
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
    "/etc/systemd/system.attached",
];

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub section: String,
    pub name: String,
    /// Empty where the assignment resets.
    pub value: Woven,
    /// The value; behind the `=` where it is empty.
    pub place: Place,
    pub layer: Layer,
}

/// A command of `ExecStart=` and its like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, without prefixes.
    pub path: Argument,
    /// All arguments, the zeroth too; variables are not replaced.
    pub argv: Vec<Argument>,
    /// Prefix `-`: failure is no failure.
    pub ignore_failure: bool,
    /// Prefix `:`: variables stay as they are.
    pub literal: bool,
}

/// A unit, its fragment and drop-ins merged.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    pub name: String,
    /// The unit file; none when only drop-ins are there.
    pub fragment: Option<String>,
    /// The unit file is empty or a link to /dev/null.
    pub masked: bool,
    /// In the order of application.
    pub dropins: Vec<String>,
    /// In the order read.
    pub settings: Vec<Setting>,
    /// Lines that systemd ignores, and why.
    pub problems: Vec<(Place, String)>,
    /// Files that are there and could not be read.
    pub unread: Vec<(String, Why)>,
}

/// Looks for a unit. Absent when it has no unit file.
pub fn load(reader: &mut dyn Reader, name: &str) -> Known<Unit> {
    let mut unit = Unit { name: name.to_owned(), ..Unit::default() };
    let mut names = vec![name.to_owned()];
    names.extend(template(name));
    for candidate in &names {
        for dir in DIRS.into_iter().filter(|dir| reader.may_have(dir, candidate)).collect::<Vec<_>>() {
            let path = format!("{dir}/{candidate}");
            match unit.fragment(reader, &path) {
                Known::Is(()) => {
                    unit.fragment = Some(path);
                    break;
                }
                // an image has no /run: nothing there shadows the unit at its next start
                Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => {}
                Known::Unknown(why) => return Known::Unknown(why),
            }
        }
        if unit.fragment.is_some() {
            break;
        }
    }
    if unit.fragment.is_none() {
        return Known::ABSENT;
    }
    if !unit.masked {
        for path in unit.find_dropins(reader, &names) {
            unit.dropin(reader, path);
        }
    }
    Known::Is(unit)
}

/// `foo@bar.service` is made from `foo@.service`.
fn template(name: &str) -> Option<String> {
    let (head, tail) = name.split_once('@')?;
    let (instance, kind) = tail.rsplit_once('.')?;
    (!instance.is_empty()).then(|| format!("{head}@.{kind}"))
}

impl Unit {
    /// Drop-ins in order of their file names: of the same name, the earlier directory's counts.
    fn find_dropins(&mut self, reader: &mut dyn Reader, names: &[String]) -> Vec<String> {
        let mut places: Vec<(&str, String)> = Vec::new();
        for name in names {
            let mut folders = vec![format!("{name}.d")];
            // `a-b.service` is also changed by `a-.service.d`
            if let Some((stem, kind)) = name.rsplit_once('.') {
                let dashes = stem.char_indices().rev().filter(|(i, c)| *c == '-' && i + 1 < stem.len());
                folders.extend(dashes.map(|(i, _)| format!("{}.{kind}.d", &stem[..=i])));
            }
            places.extend(DIRS.iter().flat_map(|dir| folders.iter().map(|folder| (*dir, folder.clone()))));
        }
        if let Some((_, kind)) = names.first().and_then(|n| n.rsplit_once('.')) {
            places.extend(DIRS.map(|dir| (dir, format!("{kind}.d"))));
        }
        places.retain(|(dir, folder)| reader.may_have(dir, folder));
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (dir, folder) in places {
            let folder = format!("{dir}/{folder}");
            match reader.list(&folder) {
                Known::Is(entries) => {
                    for entry in entries.into_iter().filter(|e| e.ends_with(".conf")) {
                        let path = format!("{folder}/{entry}");
                        found.entry(entry).or_insert(path);
                    }
                }
                Known::Absent(_) | Known::Unknown(Why::NotRunning(_)) => {}
                Known::Unknown(why) => self.unread.push((folder, why)),
            }
        }
        found.into_values().collect()
    }

    fn fragment(&mut self, reader: &mut dyn Reader, path: &str) -> Known<()> {
        if reader.link(path).is().is_some_and(|target| target == "/dev/null") {
            self.masked = true;
            return Known::Is(());
        }
        let vendor = ["/usr/", "/lib/"].iter().any(|dir| path.starts_with(dir));
        let layer = if vendor { Layer::Vendor } else { Layer::File };
        reader.file(path).map(|captured| {
            self.masked = captured.text.is_empty();
            lines::read(self, captured.id, &captured.text, layer);
        })
    }

    fn dropin(&mut self, reader: &mut dyn Reader, path: String) {
        if reader.link(&path).is().is_some_and(|target| target == "/dev/null") {
            return;
        }
        match reader.file(&path) {
            Known::Is(captured) => {
                lines::read(self, captured.id, &captured.text, Layer::DropIn);
                self.dropins.push(path);
            }
            Known::Absent(_) => {}
            Known::Unknown(why) => self.unread.push((path, why)),
        }
    }

    /// The assignment in force of a setting with one value; none where it was reset.
    pub fn property(&self, section: &str, name: &str) -> Option<&Setting> {
        self.all(section, name).last().filter(|s| !s.value.text().is_empty())
    }

    /// The assignments in force of a setting that adds up: those after the last empty one.
    pub fn list(&self, section: &str, name: &str) -> Vec<&Setting> {
        let mut list = Vec::new();
        for setting in self.all(section, name) {
            if setting.value.text().is_empty() {
                list.clear();
            } else {
                list.push(setting);
            }
        }
        list
    }

    fn all<'a, 'b>(
        &'a self,
        section: &'b str,
        name: &'b str,
    ) -> impl Iterator<Item = &'a Setting> + use<'a, 'b> {
        self.settings.iter().filter(move |s| s.section == section && s.name == name)
    }

    /// The commands of `ExecStart=`, as written.
    pub fn exec_start(&self) -> Vec<Command> {
        self.list("Service", "ExecStart")
            .into_iter()
            .flat_map(|s| words::commands(s).unwrap_or_default())
            .collect()
    }

    /// What the service's processes find in their environment, as far as the unit says it.
    pub fn environment(&self, reader: &mut dyn Reader) -> Environment {
        environment::of(self, reader)
    }

    /// What the unit would start: absent when it is masked or starts nothing, unknown when a file
    /// that may decide it could not be read.
    pub fn starts(&self, reader: &mut dyn Reader) -> Known<Vec<Argument>> {
        let Some(command) = self.exec_start().pop().filter(|_| !self.masked) else { return Known::ABSENT };
        if let Some((_, why)) = self.unread.first() {
            return Known::Unknown(why.clone());
        }
        let environment = self.environment(reader);
        let needs_variables = !command.literal && command.argv.iter().any(|a| a.text().contains('$'));
        match environment.unread.first() {
            Some((_, why)) if needs_variables => Known::Unknown(why.clone()),
            _ => Known::Is(self.command_line(&environment)),
        }
    }

    /// The arguments of the (last) command of `ExecStart=`, variables replaced.
    pub fn command_line(&self, environment: &Environment) -> Vec<Argument> {
        let Some(command) = self.exec_start().pop() else { return Vec::new() };
        match command.literal {
            true => command.argv,
            false => words::replace(command.argv, environment),
        }
    }
}

#[cfg(test)]
mod tests;
