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
        for dir in DIRS {
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

/// A unit whose files are known, as systemd itself names them.
pub fn load_from(reader: &mut dyn Reader, name: &str, fragment: &str, dropins: &[String]) -> Known<Unit> {
    let mut unit = Unit { name: name.to_owned(), fragment: Some(fragment.to_owned()), ..Unit::default() };
    match unit.fragment(reader, fragment) {
        Known::Is(()) => {}
        Known::Absent(note) => return Known::Absent(note),
        Known::Unknown(why) => return Known::Unknown(why),
    }
    for path in dropins {
        unit.dropin(reader, path.clone());
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
        let mut folders: Vec<String> = Vec::new();
        for name in names {
            for dir in DIRS {
                folders.push(format!("{dir}/{name}.d"));
                // `a-b.service` is also changed by `a-.service.d`
                if let Some((stem, kind)) = name.rsplit_once('.') {
                    let dashes = stem.char_indices().rev().filter(|(i, c)| *c == '-' && i + 1 < stem.len());
                    folders.extend(dashes.map(|(i, _)| format!("{dir}/{}.{kind}.d", &stem[..=i])));
                }
            }
        }
        if let Some((_, kind)) = names.first().and_then(|n| n.rsplit_once('.')) {
            folders.extend(DIRS.map(|dir| format!("{dir}/{kind}.d")));
        }
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for folder in folders {
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
mod tests {
    use super::*;
    use crate::model::Captured;
    use crate::text::{Kind, SourceId, Sources};

    #[derive(Default)]
    struct Tree {
        files: BTreeMap<String, String>,
        links: BTreeMap<String, String>,
        sources: Sources,
    }

    impl Reader for Tree {
        fn file(&mut self, path: &str) -> Known<Captured> {
            match self.files.get(path) {
                Some(text) => {
                    let id = self.sources.add(path, Kind::File, text.as_str());
                    Known::Is(Captured { id, text: text.as_str().into(), invalid_utf8: None })
                }
                None => Known::ABSENT,
            }
        }

        fn list(&mut self, dir: &str) -> Known<Vec<String>> {
            let below = |p: &String| p.strip_prefix(dir)?.strip_prefix('/').map(str::to_owned);
            Known::Is(self.files.keys().filter_map(below).filter(|n| !n.contains('/')).collect())
        }

        fn is_dir(&mut self, _: &str) -> Known<bool> {
            Known::Is(false)
        }

        fn link(&mut self, path: &str) -> Known<String> {
            self.links.get(path).map_or(Known::ABSENT, |target| Known::Is(target.clone()))
        }

        fn default(&mut self, name: &str, text: &'static str) -> SourceId {
            self.sources.add(name, Kind::Default, text)
        }
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        Tree { files, ..Default::default() }
    }

    fn words(tree: &mut Tree) -> (Vec<String>, Vec<String>) {
        let Known::Is(unit) = load(tree, "kubelet.service") else { panic!("no unit") };
        let environment = unit.environment(tree);
        let arguments = unit.command_line(&environment);
        let spans = arguments.iter().map(|a| tree.sources.slice(a.place).to_owned()).collect();
        (arguments.into_iter().map(|a| a.text().to_owned()).collect(), spans)
    }

    const KUBEADM: &str = r#"# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"#;

    #[test]
    fn kubeadms_drop_in_gives_the_command_line() {
        let mut tree = tree(&[
            (
                "/usr/lib/systemd/system/kubelet.service",
                "[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n",
            ),
            ("/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf", KUBEADM),
            ("/etc/default/kubelet", "KUBELET_EXTRA_ARGS=--cgroup-driver=systemd --v=2\n"),
        ]);
        let (words, spans) = words(&mut tree);
        assert_eq!(
            words,
            [
                "/usr/bin/kubelet",
                "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
                "--kubeconfig=/etc/kubernetes/kubelet.conf",
                "--config=/var/lib/kubelet/config.yaml",
                "--cgroup-driver=systemd",
                "--v=2",
            ]
        );
        assert_eq!(words, spans, "each argument is shown where it was written");
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
        let environment = unit.environment(&mut tree);
        let arguments = unit.command_line(&environment);
        let (value, place) = flag(&arguments, &["--cgroup-driver"]).unwrap();
        assert_eq!((value.as_str(), tree.sources.slice(place)), ("systemd", "systemd"));
        assert_eq!(tree.sources.get(place.source).name, "/etc/default/kubelet");
        assert_eq!(unit.property("Service", "Restart").unwrap().layer, Layer::Vendor);
    }

    #[test]
    fn drop_ins_apply_by_name_and_etc_shadows_usr() {
        let mut tree = tree(&[
            ("/usr/lib/systemd/system/kubelet.service", "[Service]\nSlice=a.slice\n"),
            ("/usr/lib/systemd/system/kubelet.service.d/20-x.conf", "[Service]\nSlice=usr.slice\n"),
            ("/etc/systemd/system/kubelet.service.d/20-x.conf", "[Service]\nSlice=etc.slice\n"),
            (
                "/etc/systemd/system/kubelet.service.d/10-y.conf",
                "[Service]\nSlice=ten.slice\nKillMode=process\n",
            ),
            ("/run/systemd/system/service.d/30-all.conf", "[Service]\nKillMode=\n"),
        ]);
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
        let slice = unit.property("Service", "Slice").unwrap();
        assert_eq!((slice.value.text(), slice.layer), ("etc.slice", Layer::DropIn));
        assert_eq!(tree.sources.slice(slice.place), "etc.slice");
        assert!(unit.property("Service", "KillMode").is_none(), "reset by an empty assignment");
        assert_eq!(unit.dropins.len(), 3);
    }

    #[test]
    fn masked_units_and_missing_ones() {
        let mut tree = tree(&[("/usr/lib/systemd/system/kubelet.service", "[Service]\nExecStart=/x\n")]);
        tree.links.insert("/etc/systemd/system/kubelet.service".into(), "/dev/null".into());
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
        assert!(unit.masked && unit.settings.is_empty());
        assert!(matches!(load(&mut tree, "containerd.service"), Known::Absent(_)));
    }

    #[test]
    fn lines_go_on_over_comments_and_quotes_hold_words_together() {
        let text = "[Service]\nExecStart=-/bin/a \"b c\" \\\n# note\n  --x='d\\x20e' \\\n\n ${HOME} ; @/bin/f g 'h$$' \\; pre${N}post $UNSET $N\nEnvironment=N=1\\x202 \"M=a b\"\n";
        let mut tree = tree(&[("/etc/systemd/system/kubelet.service", text)]);
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
        let commands = unit.exec_start();
        assert_eq!(commands.len(), 1, "the empty line ended the assignment");
        assert!(commands[0].ignore_failure);
        let argv: Vec<&str> = commands[0].argv.iter().map(Argument::text).collect();
        assert_eq!(argv, ["/bin/a", "b c", "--x=d e"]);
        assert_eq!(tree.sources.slice(commands[0].argv[2].place), "--x='d\\x20e'");
        assert_eq!(unit.problems.len(), 1, "${{HOME}} … stands alone on a line without `=`");
    }

    #[test]
    fn variables_fall_into_words_or_stay_in_place() {
        let text = "[Service]\nEnvironment=N=1\\s2 \"M=a 'b c'\"\nExecStart=@/bin/f g 'h$$' \\; pre${N}post $UNSET $N $M x$N\n";
        let mut tree = tree(&[("/etc/systemd/system/kubelet.service", text)]);
        let (words, _) = words(&mut tree);
        assert_eq!(words, ["g", "h$", ";", "pre1 2post", "1", "2", "a", "b c", "x$N"]);
    }

    #[test]
    fn environment_files_have_their_own_quotes() {
        let text = "[Service]\nEnvironmentFile=/etc/default/k\nEnvironmentFile=/nowhere\nEnvironment=A=unit\nExecStart=/k $A $B\n";
        let env = "# c\nA=\"x \\\"y\\\" \\\n z\" 'w' \nB = a\\\n b  \nexport C=1\nD=\nno line\n";
        let mut tree = tree(&[("/etc/systemd/system/kubelet.service", text), ("/etc/default/k", env)]);
        let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
        let environment = unit.environment(&mut tree);
        let all: Vec<_> = environment.iter().map(|(n, v)| format!("{n}={}", v.value.text())).collect();
        assert_eq!(all, ["A=x \"y\"  zw", "B=a b", "D="]);
        assert_eq!(environment.overridden[0].1.value.text(), "unit");
        assert_eq!(environment.missing[0].1, "/nowhere");
        assert_eq!(tree.sources.slice(environment.get("B").unwrap().place), "a\\\n b");
    }

    #[test]
    fn what_starts_is_unknown_where_a_variable_may_come_from_an_unread_file() {
        let with = |exec: &str| format!("[Service]\nEnvironmentFile=/etc/%H\nExecStart={exec}\n");
        let starts = |exec: &str| {
            let mut tree = tree(&[("/etc/systemd/system/kubelet.service", &with(exec))]);
            let Known::Is(unit) = load(&mut tree, "kubelet.service") else { panic!("no unit") };
            unit.starts(&mut tree).map(|line| line.len())
        };
        assert!(starts("/bin/k $A").is_unknown());
        assert_eq!(starts("/bin/k a"), Known::Is(2));
        assert_eq!(starts(":/bin/k $A"), Known::Is(2));
        assert_eq!(starts(""), Known::ABSENT);
    }
}
