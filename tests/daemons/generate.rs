//! Configurations that nobody wrote: valid statements and common mistakes, put together by chance. The same number
//! makes the same case on every machine.

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::case::{Case, main_place};

/// How many; `NODEVET_GENERATED` asks for more, or for those from A to B as `A-B`.
const COUNT: u64 = 60;

const GRPC: &str = "io.containerd.grpc.v1.cri";
const RUNTIME: &str = "io.containerd.cri.v1.runtime";
const IMAGES: &str = "io.containerd.cri.v1.images";

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let asked = env::var("NODEVET_GENERATED").unwrap_or_else(|_| COUNT.to_string());
    let (from, to) = asked.split_once('-').unwrap_or(("0", &asked));
    let number =
        |text: &str| -> u64 { text.parse().unwrap_or_else(|e| panic!("NODEVET_GENERATED: {text}: {e}")) };
    (number(from)..number(to)).map(case)
}

fn case(number: u64) -> Case {
    let mut dice = Dice(number << 32);
    let mut files = Vec::new();
    let imports = dice.one(&[
        "",
        "",
        "",
        "[\"a.toml\"]",
        "[\"@DIR@/a.toml\", \"b.toml\"]",
        "[\"@DIR@/conf.d/*.toml\"]",
        "[\"conf.d/*.toml\"]",
    ]);
    files.push(("config.toml", file(&mut dice, imports)));
    if imports.contains("a.toml") {
        let back = dice.one(&["", "", "[\"config.toml\"]", "[\"b.toml\"]"]);
        files.push(("a.toml", file(&mut dice, back)));
        files.push(("b.toml", file(&mut dice, "")));
    }
    if imports.contains("conf.d") {
        files.push(("conf.d/10-first.toml", file(&mut dice, "")));
        if dice.chance(50) {
            files.push(("conf.d/20-second.toml", file(&mut dice, "")));
        }
    }
    let files = files.into_iter().map(|(path, text)| (PathBuf::from(path), text.into_bytes())).collect();
    Case { name: format!("generated-{number:04}"), on_disk: false, files, main: Some(main_place()) }
}

fn file(dice: &mut Dice, imports: &str) -> String {
    let version = dice.one(&["", "", "1", "2", "2", "2", "2", "3", "3", "3", "4"]);
    let mut text = String::new();
    if !version.is_empty() {
        let _ = writeln!(text, "version = {version}");
    }
    if !imports.is_empty() {
        let _ = writeln!(text, "imports = {imports}");
    }
    let native = "io.containerd.snapshotter.v1.native";
    for (list, ids) in [
        ("disabled_plugins", &["cri", GRPC, RUNTIME, IMAGES, native][..]),
        ("required_plugins", &["cri", GRPC, RUNTIME, native][..]),
    ] {
        if dice.chance(6) {
            let _ = writeln!(text, "{list} = [\"{}\"]", dice.one(ids));
        }
    }
    // Most files use the id that goes with their version; some mix.
    let fitting = match version {
        "" | "1" => "cri",
        "2" => GRPC,
        _ => RUNTIME,
    };
    let plugin = if dice.chance(15) { dice.one(&["cri", GRPC, RUNTIME]) } else { fitting };
    let plugin = match (plugin, dice.chance(50)) {
        ("cri", _) => "plugins.cri".to_owned(),
        (id, true) => format!("plugins.\"{id}\""),
        (id, false) => format!("plugins.'{id}'"),
    };
    cri(dice, &plugin, fitting, &mut text);
    if dice.chance(5) {
        text = text.replace('\n', "\r\n");
    }
    if dice.chance(2) {
        text.insert(0, '\u{feff}');
    }
    text
}

fn cri(dice: &mut Dice, plugin: &str, fitting: &str, text: &mut String) {
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if dice.chance(60) {
        line(format!("[{plugin}]"));
        if dice.chance(40) {
            line(format!("sandbox_image = \"registry.example/pause:{}\"", dice.below(9)));
        }
        for switch in ["systemd_cgroup = true", "systemd_cgroup = false", "disable_apparmor = true"] {
            if dice.chance(4) {
                line(switch.to_owned());
            }
        }
    }
    if fitting == RUNTIME && dice.chance(40) {
        line(format!("[plugins.'{IMAGES}'.pinned_images]"));
        line(format!("sandbox = 'registry.example/pinned:{}'", dice.below(9)));
    }
    if dice.chance(50) {
        line(format!("[{plugin}.containerd]"));
        if dice.chance(60) {
            line(format!("default_runtime_name = \"{}\"", dice.one(&["runc", "runc", "crun", "kata", ""])));
        }
        if dice.chance(10) {
            line("snapshotter = \"native\"".to_owned());
        }
    }
    for old in ["default_runtime", "untrusted_workload_runtime"] {
        if dice.chance(5) {
            line(format!("[{plugin}.containerd.{old}]"));
            runtime(dice, &format!("{plugin}.containerd.{old}"), &mut line);
        }
    }
    for name in ["runc", "crun", "kata"] {
        if dice.chance(45) {
            let table = format!("{plugin}.containerd.runtimes.{name}");
            line(format!("[{table}]"));
            runtime(dice, &table, &mut line);
        }
    }
}

/// The keys of a handler, and its options in one of three ways to write them.
fn runtime(dice: &mut Dice, table: &str, line: &mut impl FnMut(String)) {
    let ty = dice.one(&[
        "io.containerd.runc.v2",
        "io.containerd.runc.v2",
        "io.containerd.runc.v2",
        "io.containerd.runc.v2",
        "io.containerd.runc.v1",
        "io.containerd.runtime.v1.linux",
        "io.containerd.kata.v2",
        "",
    ]);
    if !ty.is_empty() {
        line(format!("runtime_type = \"{ty}\""));
    }
    if dice.chance(3) {
        line("runtime_engine = \"/usr/bin/crun\"".to_owned());
    }
    if dice.chance(5) {
        line("privileged_without_host_devices = true".to_owned());
    }
    let mut options = Vec::new();
    if dice.chance(70) {
        let key = if dice.chance(80) {
            "SystemdCgroup"
        } else {
            dice.one(&["systemdCgroup", "systemdcgroup", "SYSTEMDCGROUP", "SystemdCGroup", "systemd_cgroup"])
        };
        options.push(format!(
            "{key} = {}",
            dice.one(&["true", "true", "true", "false", "false", "\"true\"", "1"])
        ));
    }
    if dice.chance(30) {
        options.push("BinaryName = \"/usr/bin/crun\"".to_owned());
    }
    if options.is_empty() && dice.chance(60) {
        return;
    }
    match dice.below(4) {
        0 => line(format!("options = {{ {} }}", options.join(", "))),
        1 if !options.is_empty() => options.iter().for_each(|option| line(format!("options.{option}"))),
        _ => {
            line(format!("[{table}.options]"));
            options.into_iter().for_each(line);
        }
    }
}

/// A small generator of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}
