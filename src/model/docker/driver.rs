//! `native.cgroupdriver` among the exec-opts, the default, and what else stops the daemon.

use super::file;
use super::{Fatal, Generation, Input, Said, needs};
use crate::fact::{Known, Layer, Origin, Why};
use crate::model::json::{Item, Node};
use crate::text::{Place, SourceId, Span};

/// The text of `default:docker`.
pub(super) const DEFAULTS: &str = "\
config-file=/etc/docker/daemon.json
# on cgroup v2 with /run/systemd/system
native.cgroupdriver=systemd
# elsewhere
native.cgroupdriver=cgroupfs
# rootless, elsewhere
native.cgroupdriver=none
";

pub(super) const OPTION: &str = "native.cgroupdriver";

/// A driver, and every statement about it, weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// systemd, cgroupfs or none
    pub statements: Vec<(&'static str, Origin)>,
}

/// One entry of the exec-opts.
pub(super) struct ExecOpt {
    pub(super) text: String,
    pub(super) place: Place,
    pub(super) origin: Origin,
}

/// All exec-opts, of the file or of flags: never of both.
pub(super) fn options(said: &Said) -> Vec<ExecOpt> {
    let flags = said.given.iter().filter(|g| g.name == "exec-opt").map(|g| ExecOpt {
        text: g.value.clone(),
        place: g.place,
        origin: Origin::new(Layer::Flag, g.place),
    });
    let list = match file::last(said.entries, "exec-opts") {
        Some(Node { item: Item::Array(elements), .. }) => elements.as_slice(),
        _ => &[],
    };
    let source = said.captured.map(|c| c.id);
    let of_file = list.iter().enumerate().filter_map(|(at, element)| {
        let text = match &element.item {
            Item::Text(text) => text.clone(),
            _ => String::new(),
        };
        let place = Place { source: source?, span: element.span };
        let written = vec!["exec-opts".to_owned(), at.to_string()].into();
        Some(ExecOpt { text, place, origin: Origin { written, ..Origin::new(Layer::File, place) } })
    });
    of_file.chain(flags).collect()
}

/// Key and value, blanks around both taken away.
pub(super) fn pair(text: &str) -> Option<(String, &str)> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then(|| (key.to_lowercase(), value))
}

/// The index of the entry that decides.
pub(super) fn winner(options: &[ExecOpt], generation: Generation) -> Result<Option<usize>, Fatal> {
    if generation == Generation::V28 {
        for option in options {
            let fatal = |message| Fatal { place: option.place, message };
            match pair(&option.text) {
                None => {
                    return Err(fatal(format!(
                        "the exec-opt `{}` is not of the form key=value",
                        option.text
                    )));
                }
                Some((key, _)) if key != OPTION => {
                    return Err(fatal(format!("`{key}` is no exec-opt of docker 28")));
                }
                Some(_) => {}
            }
        }
    }
    let is_driver = |o: &ExecOpt| pair(&o.text).is_some_and(|(key, _)| key == OPTION);
    Ok(match generation {
        Generation::V28 => options.iter().rposition(is_driver),
        Generation::V20 | Generation::V23 => options.iter().position(is_driver),
    })
}

/// The driver in force; or what stops the daemon before it has one.
pub(super) fn decide(
    said: &Said,
    generation: Generation,
    input: &Input,
    default: SourceId,
    near: Place,
) -> Result<Known<Driver>, Fatal> {
    let options = options(said);
    let asked = winner(&options, generation)?.map(|at| &options[at]);
    let asked = asked.and_then(|o| pair(&o.text).map(|(_, value)| (value.to_owned(), o)));
    let asked = match asked {
        None => None,
        Some((value, option)) => match value.as_str() {
            "systemd" => Some(("systemd", option)),
            "cgroupfs" => Some(("cgroupfs", option)),
            "none" => {
                let message = format!("{OPTION} `none` is Docker's own and cannot be asked for");
                return Err(Fatal { place: option.place, message });
            }
            other => {
                let message = format!("{OPTION} `{other}` is neither systemd nor cgroupfs");
                return Err(Fatal { place: option.place, message });
            }
        },
    };
    if let Some((mode, place)) = said.text("default-cgroupns-mode")
        && !["host", "private"].contains(&mode.as_str())
    {
        let message = format!("default-cgroupns-mode `{mode}` is neither host nor private");
        return Err(Fatal { place, message });
    }
    runtime(said, generation)?;
    let v2 = match &input.cgroup_mode {
        Known::Is(mode) => Known::Is(mode == "v2"),
        Known::Absent(_) => needs("cgroup.mode", &Why::Unread),
        Known::Unknown(why) => needs("cgroup.mode", why),
    };
    let rootless = said.rootless();
    if let (true, Some(("systemd", option)), Known::Is(false)) = (rootless, asked, &v2) {
        let message = "a rootless daemon has the systemd driver on cgroup v2 only".to_owned();
        return Err(Fatal { place: option.place, message });
    }
    let fallback = match (&v2, &input.systemd_running) {
        (Known::Is(true), Known::Is(true)) => Known::Is("systemd"),
        (Known::Is(false), _) | (_, Known::Is(false) | Known::Absent(_)) => {
            Known::Is(if rootless { "none" } else { "cgroupfs" })
        }
        (Known::Unknown(why), _) => Known::Unknown(why.clone()),
        (_, Known::Unknown(why)) => needs("host.systemd_running", why),
        (Known::Absent(_), _) => needs("cgroup.mode", &Why::Unread),
    };
    let mut statements = Vec::new();
    if let Known::Is(driver) = &fallback {
        let at = DEFAULTS.find(&format!("={driver}\n")).unwrap_or(0) + 1;
        let place = Place { source: default, span: Span::new(at, at + driver.len()) };
        let origin = Origin { near: Some(near), ..Origin::new(Layer::Default, place) };
        statements.push((*driver, origin));
    }
    match (asked, fallback) {
        // the value of a rootless daemon that asks for cgroupfs
        (Some(("cgroupfs", option)), _) if rootless => statements.push(("none", option.origin.clone())),
        (Some((driver, option)), _) => statements.push((driver, option.origin.clone())),
        (None, Known::Unknown(why)) => return Ok(Known::Unknown(why)),
        (None, _) => {}
    }
    if statements.last().is_some_and(|(driver, _)| *driver == "systemd")
        && let Some((parent, place)) = said.text("cgroup-parent")
        && (parent.len() <= ".slice".len() || !parent.ends_with(".slice"))
    {
        let message = format!("the cgroup-parent `{parent}` is no slice, as the systemd driver needs it");
        return Err(Fatal { place, message });
    }
    Ok(Known::Is(Driver { statements }))
}

/// The default runtime must be one that exists, and runc is Docker's own.
fn runtime(said: &Said, generation: Generation) -> Result<(), Fatal> {
    let mut known: Vec<String> = vec!["runc".into(), "io.containerd.runc.v2".into()];
    if let (Some(Node { item: Item::Object(runtimes), .. }), Some(file)) =
        (file::last(said.entries, "runtimes"), said.captured)
    {
        for (key, _) in runtimes {
            if key.name == "runc" {
                let place = Place { source: file.id, span: key.span };
                return Err(Fatal { place, message: "the runtime `runc` cannot be defined anew".into() });
            }
            known.push(key.name.clone());
        }
    }
    let added = said.given.iter().filter(|g| g.name == "add-runtime");
    known.extend(added.filter_map(|g| g.value.split_once('=').map(|(name, _)| name.to_owned())));
    // from 23.0 the name of a shim, or its path, is a runtime too
    let shim =
        |name: &str| generation != Generation::V20 && (name.starts_with("io.") || name.starts_with('/'));
    match said.text("default-runtime") {
        Some((name, place))
            if !known.contains(&name) && !shim(&name) && name != "io.containerd.runtime.v1.linux" =>
        {
            Err(Fatal { place, message: format!("the default runtime `{name}` is not among the runtimes") })
        }
        _ => Ok(()),
    }
}
