//! Which cgroup hierarchies a mount table shows, by the mounts that can be reached.

use crate::text::{Span, lines};
use procfs::process::MountInfo;

/// The directory below which hierarchies are looked for; the kubelet and runc know no other.
pub(super) const TOP: &str = "/sys/fs/cgroup";

/// No table of a node is longer, none has more cgroup mounts, and none is nested deeper.
const MOUNTS: usize = 100_000;
const CANDIDATES: usize = 1000;
const DEPTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    V1,
    Hybrid,
    V2,
    None,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::V1 => "v1",
            Mode::Hybrid => "hybrid",
            Mode::V2 => "v2",
            Mode::None => "none",
        }
    }
}

/// One cgroup mount that can be reached.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    pub(super) v2: bool,
    pub(super) path: String,
    /// The directory of the hierarchy that is mounted, seen from our cgroup namespace.
    pub(super) root: String,
    /// The line of the table.
    pub(super) line: Span,
    /// Controllers named in the line (v1), in its order.
    pub(super) controllers: Vec<(String, Span)>,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) mode: Mode,
    pub(super) hierarchies: Vec<Hierarchy>,
    /// The line of what is mounted at, or above, [`TOP`].
    pub(super) top: Span,
}

impl Table {
    /// The first v1 hierarchy of this name (`memory`, `name=systemd`).
    pub(super) fn v1(&self, name: &str) -> Option<&Hierarchy> {
        self.hierarchies.iter().find(|h| !h.v2 && h.controllers.iter().any(|(c, _)| c == name))
    }
}

/// Reads a mountinfo text. An error is a line that is none, with what is wrong.
pub(super) fn parse(text: &str) -> Result<Table, (Span, String)> {
    let mut mounts = Vec::new();
    for (span, line) in lines(text).filter(|(_, line)| !line.is_empty()) {
        match MountInfo::from_line(line) {
            Ok(mount) => mounts.push((span, mount)),
            Err(_) => return Err((span, "not a line of mountinfo".into())),
        }
    }
    if let Some((span, _)) = mounts.get(MOUNTS) {
        return Err((*span, format!("more than {MOUNTS} mounts")));
    }
    let is_cgroup = |m: &MountInfo| matches!(m.fs_type.as_str(), "cgroup" | "cgroup2") && below(path(m), TOP);
    let wanted: Vec<usize> =
        (0..mounts.len()).filter(|i| is_cgroup(&mounts[*i].1) || below(TOP, path(&mounts[*i].1))).collect();
    if let Some(i) = wanted.get(CANDIDATES) {
        return Err((mounts[*i].0, format!("more than {CANDIDATES} mounts at or below {TOP}")));
    }
    let reached: Vec<&(Span, MountInfo)> =
        wanted.into_iter().filter(|i| reachable(&mounts, *i)).map(|i| &mounts[i]).collect();
    let hierarchies: Vec<Hierarchy> = reached
        .iter()
        .filter(|(_, m)| is_cgroup(m))
        .map(|(span, m)| Hierarchy {
            v2: m.fs_type == "cgroup2",
            path: path(m).to_owned(),
            root: m.root.clone(),
            line: *span,
            controllers: if m.fs_type == "cgroup" { controllers(text, *span) } else { Vec::new() },
        })
        .collect();
    let v1 = hierarchies.iter().any(|h| !h.v2);
    let mode = match hierarchies.iter().find(|h| h.v2) {
        Some(_) if hierarchies.iter().any(|h| h.v2 && h.path == TOP) => Mode::V2,
        Some(_) => Mode::Hybrid,
        None if v1 => Mode::V1,
        None => Mode::None,
    };
    let top = reached.iter().filter(|(_, m)| below(TOP, path(m))).max_by_key(|(_, m)| path(m).len());
    Ok(Table { mode, top: top.map_or(Span::default(), |(span, _)| *span), hierarchies })
}

fn path(mount: &MountInfo) -> &str {
    mount.mount_point.to_str().unwrap_or("")
}

/// Whether a path is a directory or lies below it.
fn below(path: &str, dir: &str) -> bool {
    dir == "/" || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path leads to this mount: nothing is mounted over it or over a directory on the way.
fn reachable(mounts: &[(Span, MountInfo)], at: usize) -> bool {
    let covers = |over: &MountInfo, m: &MountInfo| {
        over.mnt_id != m.mnt_id
            && over.pid == m.mnt_id
            && over.mount_point == m.mount_point
            && over.pid != over.mnt_id
    };
    let mut current = &mounts[at].1;
    if mounts.iter().any(|(_, m)| covers(m, current)) {
        return false;
    }
    // the table is finite, a malformed one may go in a circle
    for _ in 0..DEPTH {
        // a sibling on a directory in between
        let beside = mounts.iter().map(|(_, m)| m).any(|m| {
            m.pid == current.pid
                && m.mnt_id != current.mnt_id
                && m.mount_point != current.mount_point
                && below(path(current), path(m))
                && m.mnt_id != m.pid
        });
        if beside {
            return false;
        }
        let Some((_, parent)) = mounts.iter().find(|(_, m)| m.mnt_id == current.pid) else { return true };
        if parent.mnt_id == current.mnt_id {
            return true;
        }
        let stacked = parent.mount_point == current.mount_point;
        if !stacked && mounts.iter().any(|(_, m)| covers(m, parent)) {
            return false;
        }
        current = parent;
    }
    true
}

/// The controllers among the options of a v1 superblock, the last field of a line.
fn controllers(text: &str, line: Span) -> Vec<(String, Span)> {
    const OPTIONS: [&str; 8] =
        ["rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "favordynmods", "none"];
    let line_text = &text[line.start..line.end];
    let from = line_text.rfind(' ').map_or(0, |i| i + 1);
    let mut at = line.start + from;
    let mut found = Vec::new();
    for word in line_text[from..].split(',') {
        let span = Span::new(at, at + word.len());
        at = span.end + 1;
        let known = OPTIONS.contains(&word) || word.starts_with("release_agent=") || word.is_empty();
        // `seclabel` and the like of other layers have no `=` either
        if !known && (word.starts_with("name=") || !word.contains('=')) && word != "seclabel" {
            found.push((word.to_owned(), span));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> Mode {
        parse(text).unwrap().mode
    }

    const SYS: &str = "24 20 0:22 / /sys rw - sysfs sysfs rw\n";

    #[test]
    fn the_top_mount_decides() {
        let v2 = "30 24 0:25 / /sys/fs/cgroup rw shared:8 - cgroup2 cgroup2 rw,nsdelegate\n";
        let tmpfs = "30 24 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n";
        let memory = "33 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let unified = "31 30 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let cilium = "90 20 0:26 / /run/cilium/cgroupv2 rw - cgroup2 none rw\n";
        let over = "70 30 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let sys_over = "71 24 0:22 / /sys rw - sysfs sysfs rw\n";
        for (table, expected) in [
            (vec![SYS, v2], Mode::V2),
            (vec![SYS, tmpfs, memory], Mode::V1),
            (vec![SYS, tmpfs, memory, cilium], Mode::V1),
            (vec![SYS, tmpfs, memory, unified], Mode::Hybrid),
            (vec![SYS, tmpfs], Mode::None),
            (vec![SYS, tmpfs, memory, over], Mode::V2),
            (vec![SYS, over, tmpfs, memory], Mode::V2),
            (vec![SYS, v2, sys_over], Mode::None),
            (vec![SYS], Mode::None),
        ] {
            let text: String = table.concat();
            assert_eq!(mode(&text), expected, "{text}");
        }
    }

    #[test]
    fn named_hierarchies_and_pairs_keep_their_spans() {
        let text = format!(
            "{SYS}31 24 0:26 / /sys/fs/cgroup/systemd rw - cgroup cg rw,xattr,release_agent=/x,name=systemd\n\
             32 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cg rw,cpu,cpuacct\n"
        );
        let table = parse(&text).unwrap();
        for h in &table.hierarchies {
            for (name, span) in &h.controllers {
                assert_eq!(&text[span.start..span.end], name);
            }
        }
        let names: Vec<_> =
            table.hierarchies.iter().flat_map(|h| &h.controllers).map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["name=systemd", "cpu", "cpuacct"]);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let text = format!("{SYS}nonsense\n");
        assert_eq!(parse(&text).unwrap_err().0, Span::new(SYS.len(), SYS.len() + 8));
    }

    #[test]
    fn a_table_in_a_circle_ends() {
        assert_eq!(mode("1 2 0:1 / /a rw - tmpfs t rw\n2 1 0:1 / /a/b rw - tmpfs t rw\n"), Mode::None);
    }
}
