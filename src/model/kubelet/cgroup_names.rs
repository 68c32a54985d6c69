//! Which cgroup the kubelet looks for under a name in its configuration.
//! Upstream: pkg/kubelet/cm/cgroup_manager_linux.go, opencontainers/cgroups systemd.ExpandSlice;
//! measured on 1.28.15, 1.31.14, 1.34.9 and 1.36.3.

use super::behaves_as;

/// A name that makes the kubelet panic: why, in the words that its trace has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panics(pub String);

/// The path, below the root of the hierarchy, of the cgroup that `cgroupRoot` names. It is read as a
/// path of the tree under every driver: under systemd each part becomes a slice, and a name that is
/// one already gets a second suffix.
pub fn root(written: &str, driver: &str) -> Result<String, Panics> {
    // the node's allocatable cgroup is named before anything is looked for
    kubepods(written, driver)?;
    named(&of_path(written), driver)
}

/// The cgroup of all pods below `cgroupRoot`.
pub fn kubepods(root: &str, driver: &str) -> Result<String, Panics> {
    let mut parts = of_path(root);
    parts.push("kubepods".into());
    named(&parts, driver)
}

/// The same for `kubeReservedCgroup` and `systemReservedCgroup`: under systemd only the last part of
/// the path counts, as the name of a slice.
pub fn reserved(written: &str, driver: &str) -> Result<String, Panics> {
    if behaves_as(driver) == "cgroupfs" {
        return named(&of_path(written), driver);
    }
    let base = base(written);
    let slice = base.strip_suffix(".slice").unwrap_or(base);
    let parts: Vec<String> = slice.split('-').map(|part| part.replace('_', "-")).collect();
    named(&parts, driver)
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

fn named(parts: &[String], driver: &str) -> Result<String, Panics> {
    if behaves_as(driver) == "cgroupfs" {
        return Ok(super::super::containerd::paths::join("/", &parts.join("/")));
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
            assert_eq!(told(root(written, "cgroupfs")), cgroupfs, "{written}");
            assert_eq!(told(root(written, "systemd")), systemd, "{written}");
            // only one word means systemd
            assert_eq!(told(root(written, "Systemd")), cgroupfs, "{written}");
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
            assert_eq!(told(reserved(written, "cgroupfs")), cgroupfs, "{written}");
            assert_eq!(told(reserved(written, "systemd")), systemd, "{written}");
        }
    }

    proptest! {
        #[test]
        fn any_name_gives_a_path_or_a_panic(written in "[-_./a-z]{0,12}", systemd in any::<bool>()) {
            let driver = if systemd { "systemd" } else { "cgroupfs" };
            for path in [root(&written, driver), reserved(&written, driver)].into_iter().flatten() {
                prop_assert!(path.starts_with('/'), "{}", path);
                prop_assert!(!path.contains("//"), "{}", path);
            }
        }
    }
}
