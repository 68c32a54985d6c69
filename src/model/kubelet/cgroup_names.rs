//! Where the kubelet looks for the cgroups that its configuration names, which are to be there before
//! it starts. Upstream: pkg/kubelet/cm/cgroup_manager_linux.go, node_container_manager_linux.go.

/// How a setting is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// `cgroupRoot`: a path of cgroupfs under either driver.
    Root,
    /// `kubeReservedCgroup`, `systemReservedCgroup`: under systemd only the last component counts,
    /// and its dashes part slices.
    Reserved,
}

/// The path below the root of the hierarchy under the driver cgroupfs.
pub fn cgroupfs(written: &str) -> String {
    format!("/{}", written.trim_matches('/'))
}

/// The same under the driver systemd.
pub fn systemd(written: &str, named: Named) -> String {
    let parts: Vec<String> = match named {
        Named::Root => {
            let parts = written.split('/').filter(|part| !part.is_empty());
            parts.map(|part| part.replace('-', "_")).collect()
        }
        Named::Reserved => {
            let last = written.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
            let last = last.strip_suffix(".slice").unwrap_or(last);
            last.split('-').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
    };
    let mut path = String::new();
    for end in 1..=parts.len() {
        path += &format!("/{}.slice", parts[..end].join("-"));
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_that_kubelets_looked_for() {
        for (written, found) in [
            ("/foo", "/foo.slice"),
            ("/foo.slice", "/foo.slice.slice"),
            ("/a-x/b", "/a_x.slice/a_x-b.slice"),
            ("/", "/"),
        ] {
            assert_eq!(systemd(written, Named::Root), found, "{written}");
        }
        for (written, found) in [
            ("/system.slice", "/system.slice"),
            ("/kube-reserved", "/kube.slice/kube-reserved.slice"),
            ("/a/b.slice", "/b.slice"),
            ("system", "/system.slice"),
        ] {
            assert_eq!(systemd(written, Named::Reserved), found, "{written}");
        }
        assert_eq!(cgroupfs("foo.slice/"), "/foo.slice");
    }
}
