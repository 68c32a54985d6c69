//! Which cgroup the kubelet looks for under a name in its configuration.
//! Upstream: pkg/kubelet/cm/cgroup_manager_linux.go, opencontainers/cgroups systemd.ExpandSlice;
//! measured on 1.28.15, 1.31.14, 1.34.9 and 1.36.3.

use super::behaves_as;
use crate::model::containerd::paths;

/// A name that makes the kubelet panic: why, in the words that its trace has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panics(pub String);

/// How a setting is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// `cgroupRoot`: a path of the tree under either driver. Under systemd each part becomes a slice,
    /// and a name that is one already gets a second suffix.
    Root,
    /// `kubeReservedCgroup`, `systemReservedCgroup`: under systemd only the last part of the path
    /// counts, as the name of a slice.
    Reserved,
}

/// The path, below the root of the hierarchy, of the cgroup that a setting names.
pub fn looked_for(written: &str, named: Named, driver: &str) -> Result<String, Panics> {
    if named == Named::Root {
        // the cgroup of all pods is named before anything is looked for
        kubepods(written, driver)?;
    }
    match named {
        Named::Reserved if behaves_as(driver) == "systemd" => path(&of_slice(written), driver),
        _ => path(&of_path(written), driver),
    }
}

/// The cgroup of all pods below `cgroupRoot`.
pub fn kubepods(root: &str, driver: &str) -> Result<String, Panics> {
    let mut parts = of_path(root);
    parts.push("kubepods".into());
    path(&parts, driver)
}

/// What the driver cgroupfs looks for.
pub fn cgroupfs(written: &str) -> String {
    clean(&of_path(written))
}

/// What the driver systemd looks for; of a name that makes it panic, what was meant.
pub fn systemd(written: &str, named: Named) -> String {
    looked_for(written, named, "systemd").unwrap_or_else(|_| {
        let parts = if named == Named::Root { of_path(written) } else { of_slice(written) };
        let meant: Vec<String> = parts.into_iter().filter(|p| !p.is_empty() && p != "/").collect();
        path(&meant, "systemd").unwrap_or_else(|_| "/".into())
    })
}

/// The parts of a slice's name, which is the last part of a path.
fn of_slice(written: &str) -> Vec<String> {
    let base = base(written);
    let slice = base.strip_suffix(".slice").unwrap_or(base);
    slice.split('-').map(|part| part.replace('_', "-")).collect()
}

/// The parts of a path of the tree; none for the root.
fn of_path(written: &str) -> Vec<String> {
    let path = written.strip_prefix('/').unwrap_or(written);
    if path.is_empty() {
        return Vec::new();
    }
    path.split('/').map(str::to_owned).collect()
}

/// Go's path.Base.
fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (trimmed.is_empty(), path.is_empty()) {
        (true, true) => ".",
        (true, false) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

fn clean(parts: &[String]) -> String {
    paths::join("/", parts.join("/").trim_start_matches('/'))
}

fn path(parts: &[String], driver: &str) -> Result<String, Panics> {
    if behaves_as(driver) == "cgroupfs" {
        return Ok(clean(parts));
    }
    if parts.is_empty() || parts == [String::new()] {
        return Ok("/".into());
    }
    let escaped: Vec<String> = parts.iter().map(|part| part.replace('-', "_")).collect();
    slice(&format!("{}.slice", escaped.join("-")))
}

/// Where systemd keeps a slice: each part of its name is one more slice above it.
fn slice(name: &str) -> Result<String, Panics> {
    let invalid = || Panics(format!("invalid slice name: {name}"));
    let bare = name.strip_suffix(".slice").filter(|bare| !bare.is_empty()).ok_or_else(invalid)?;
    if bare == "-" {
        return Ok("/".into());
    }
    let mut path = String::new();
    let mut above = String::new();
    for part in bare.split('-') {
        if part.is_empty() || part.contains('/') {
            return Err(invalid());
        }
        path.push_str(&format!("/{above}{part}.slice"));
        above.push_str(part);
        above.push('-');
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(found: Result<String, Panics>) -> String {
        found.unwrap_or_else(|panics| format!("panic: {panics}"))
    }

    #[test]
    fn a_root_is_a_path_of_the_tree_under_both_drivers() {
        for (written, cgroupfs, systemd) in [
            ("", "/", "/"),
            ("/", "/", "/"),
            ("/foo", "/foo", "/foo.slice"),
            ("foo", "/foo", "/foo.slice"),
            ("/foo.slice", "/foo.slice", "/foo.slice.slice"),
            ("/a-x/b", "/a-x/b", "/a_x.slice/a_x-b.slice"),
            ("/nope", "/nope", "/nope.slice"),
            ("/foo/", "/foo", "panic: invalid slice name: foo--kubepods.slice"),
            ("//foo", "/foo", "panic: invalid slice name: -foo-kubepods.slice"),
            ("/kubepods/burstable", "/kubepods/burstable", "/kubepods.slice/kubepods-burstable.slice"),
        ] {
            assert_eq!(told(looked_for(written, Named::Root, "cgroupfs")), cgroupfs, "{written}");
            assert_eq!(told(looked_for(written, Named::Root, "systemd")), systemd, "{written}");
            // only one word means systemd
            assert_eq!(told(looked_for(written, Named::Root, "Systemd")), cgroupfs, "{written}");
        }
        assert_eq!(told(kubepods("", "systemd")), "/kubepods.slice");
        assert_eq!(told(kubepods("", "bogus")), "/kubepods");
        assert_eq!(told(kubepods("/foo", "systemd")), "/foo.slice/foo-kubepods.slice");
    }

    #[test]
    fn the_last_part_of_a_reserved_cgroup_is_a_slice_under_systemd() {
        for (written, cgroupfs, systemd) in [
            ("/system.slice", "/system.slice", "/system.slice"),
            ("/kube.slice", "/kube.slice", "/kube.slice"),
            ("kuber", "/kuber", "/kuber.slice"),
            ("/kube-reserved", "/kube-reserved", "/kube.slice/kube-reserved.slice"),
            ("/kube-reserved.slice", "/kube-reserved.slice", "/kube.slice/kube-reserved.slice"),
            ("/a/b.slice", "/a/b.slice", "/b.slice"),
            ("/a_b", "/a_b", "/a_b.slice"),
            ("/kube.slice/", "/kube.slice", "/kube.slice"),
            ("/", "/", "panic: invalid slice name: /.slice"),
            ("-.slice", "/-.slice", "/"),
            ("/kube-.slice", "/kube-.slice", "panic: invalid slice name: kube-.slice"),
        ] {
            assert_eq!(told(looked_for(written, Named::Reserved, "cgroupfs")), cgroupfs, "{written}");
            assert_eq!(told(looked_for(written, Named::Reserved, "systemd")), systemd, "{written}");
        }
    }

    #[test]
    fn a_name_that_panics_is_shown_as_it_was_meant() {
        assert_eq!(systemd("/foo/", Named::Root), "/foo.slice");
        assert_eq!(systemd("/foo", Named::Root), "/foo.slice");
        assert_eq!(systemd("/kube-.slice", Named::Reserved), "/kube.slice");
        assert_eq!(systemd("/", Named::Reserved), "/");
        assert_eq!(cgroupfs("foo.slice/"), "/foo.slice");
    }

    proptest! {
        #[test]
        fn any_name_gives_a_path_or_a_panic(written in "[-_./a-z]{0,12}", slices in any::<bool>()) {
            let driver = if slices { "systemd" } else { "cgroupfs" };
            let both = [Named::Root, Named::Reserved];
            let exact = both.map(|named| looked_for(&written, named, driver).unwrap_or_else(|_| "/".into()));
            let meant = both.map(|named| systemd(&written, named));
            for path in exact.into_iter().chain(meant).chain([cgroupfs(&written)]) {
                prop_assert!(path.starts_with('/'), "{}", path);
                prop_assert!(!path.contains("//"), "{}", path);
            }
        }
    }
}
