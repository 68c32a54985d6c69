//! What is known to go wrong with tools like this one, and what surprises about the daemons: each has
//! its nodes among the fixtures, or a reason here.
//!
//! Traps, in which a healthy node is taken for a broken one: 1 the driver of a kubelet that asks its
//! runtime, 2 cgroupfs on both sides, 3 systemd_cgroup of the plugin, 4 a key that is absent here and
//! said elsewhere, 5 an older form under a newer daemon, 6 runtimes that are no runc, 7 a default that
//! is not called runc, 8 no systemd, 9 the view from a container, 10 a node that is a container,
//! 11 rootless, 12 files that another program writes, 13 failCgroupV1 on purpose, 14 the kernel's
//! command line against the mount, 15 controllers that v2 has no more or that may be missing,
//! 16 another pause image, 17 swap on purpose, 18 any form of the kubelet's configuration, 19 what
//! config dump prints, 20 two containerds, 21 a containerd that has no CRI, 22 old words in the log,
//! 23 kubepods that is not there, 24 drivers mixed on purpose, 25 flags that begin alike, 26 one
//! message for three causes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A fixture as far as it matters here.
pub(crate) struct Shown {
    pub name: String,
    pub root: PathBuf,
    pub traps: BTreeSet<u32>,
    /// `kubelet 4` to the rule that finds it and a piece of the line it points at.
    pub shows: BTreeMap<String, String>,
    pub expected: String,
}

const TRAPS: u32 = 26;
const SURPRISES: [(&str, u32); 2] = [("kubelet", 18), ("containerd", 17)];

/// Traps that files do not show.
const NOT_IN_FILES: [(u32, &str); 2] =
    [(22, "lines of a log"), (24, "no trap but a mismatch: it is silenced with a reason")];

/// Surprises that nothing is found of.
const SILENT: [(&str, &str); 2] = [
    ("kubelet 15", "RuntimeConfig is called three times on success too: no setting, and nothing to mend"),
    ("kubelet 16", "/configz may show a driver that is not in force: it is never asked"),
];

/// What is missing, one line each.
pub(crate) fn gaps(nodes: &[Shown]) -> Vec<String> {
    let mut gaps = Vec::new();
    let found = |name: &str| nodes.iter().any(|n| n.name == name && !n.expected.is_empty());
    for trap in 1..=TRAPS {
        let pair =
            |node: &&Shown| node.name.strip_prefix("ok-").is_some_and(found) && node.expected.is_empty();
        let silent = nodes.iter().filter(|node| node.traps.contains(&trap)).any(|node| pair(&node));
        let excused = NOT_IN_FILES.iter().any(|(number, _)| *number == trap);
        if silent == excused {
            gaps.push(format!("trap {trap}: a silent node with a twin: {silent}, excused: {excused}"));
        }
    }
    for node in nodes {
        if !node.name.starts_with("ok-") && !node.traps.is_empty() {
            gaps.push(format!("{}: a trap is silent, this is none", node.name));
        }
        gaps.extend(node.traps.iter().filter(|t| **t == 0 || **t > TRAPS).map(|t| format!("no trap {t}")));
        for (surprise, finding) in &node.shows {
            if !known(surprise) {
                gaps.push(format!("{}: no surprise `{surprise}`", node.name));
            }
            if let Err(why) = points_there(node, finding) {
                gaps.push(format!("{}: {surprise}: {why}", node.name));
            }
        }
    }
    for (daemon, count) in SURPRISES {
        for number in 1..=count {
            let surprise = format!("{daemon} {number}");
            let shown = nodes.iter().any(|node| node.shows.contains_key(&surprise));
            let excused = SILENT.iter().any(|(name, _)| *name == surprise);
            if shown == excused {
                gaps.push(format!("surprise {surprise}: shown: {shown}, excused: {excused}"));
            }
        }
    }
    gaps
}

fn known(surprise: &str) -> bool {
    let of = |(daemon, count): &(&str, u32)| {
        let number = surprise.strip_prefix(daemon).and_then(|n| n.trim_start().parse::<u32>().ok());
        number.is_some_and(|number| (1..=*count).contains(&number))
    };
    SURPRISES.iter().any(of)
}

/// Whether a finding of the rule points at a line with the piece in it. A place that is no file of the
/// node (a default, a package) has no line: there the piece is empty.
fn points_there(node: &Shown, finding: &str) -> Result<(), String> {
    let (code, piece) = finding.split_once(' ').unwrap_or((finding, ""));
    let places: Vec<&str> =
        node.expected.lines().filter_map(|line| line.strip_prefix(code)?.split_whitespace().nth(1)).collect();
    let at = |place: &&str| {
        let mut parts = place.rsplitn(3, ':');
        let (_, line, source) = (parts.next(), parts.next(), parts.next());
        let (Some(line), Some(source)) = (line.and_then(|l| l.parse::<usize>().ok()), source) else {
            return false;
        };
        match text(node, source) {
            Some(text) => !piece.is_empty() && text.lines().nth(line - 1).is_some_and(|l| l.contains(piece)),
            None => piece.is_empty(),
        }
    };
    if places.iter().any(at) {
        return Ok(());
    }
    Err(format!("no {code} at a line with `{piece}`, but at {places:?}"))
}

/// A file of the node, or the names in a directory.
#[allow(clippy::disallowed_methods)]
fn text(node: &Shown, source: &str) -> Option<String> {
    let path = node.root.join(source.strip_prefix('/')?);
    if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?;
        let mut names: Vec<String> =
            entries.filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        return Some(names.join("\n"));
    }
    std::fs::read_to_string(path).ok()
}
