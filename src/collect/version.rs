//! Which version a daemon has, by the best evidence there is: what the operator says, the
//! daemon's own answer, the package database, the program's build information, and last what
//! the program prints.

use super::ctx::Ctx;
use crate::fact::{Known, Layer, Origin, Said, Statements, Value, Why};
use crate::text::{Kind, Place, SourceId, Span};
use crate::version::Version;
use std::collections::BTreeMap;

const STATUS: &str = "/var/lib/dpkg/status";
const STATUS_DIR: &str = "/var/lib/dpkg/status.d";

/// Packages that hold a daemon.
const PACKAGES: &[(&str, &[&str])] = &[
    ("containerd", &["containerd.io", "containerd", "moby-containerd"]),
    ("kubelet", &["kubelet"]),
    ("systemd", &["systemd"]),
    ("docker", &["docker-ce", "docker.io", "moby-engine"]),
    ("cri-dockerd", &["cri-dockerd"]),
    ("crio", &["cri-o", "cri-o-runc"]),
];

/// Where a daemon's program lies when neither a process nor a unit names it.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "containerd",
        &["/usr/bin/containerd", "/usr/local/bin/containerd", "/opt/bin/containerd", "/bin/containerd"],
    ),
    ("kubelet", &["/usr/bin/kubelet", "/usr/local/bin/kubelet", "/opt/bin/kubelet", "/usr/local/bin/k3s"]),
    ("systemd", &["/usr/lib/systemd/systemd", "/lib/systemd/systemd"]),
    ("docker", &["/usr/bin/dockerd", "/usr/sbin/dockerd", "/usr/local/bin/dockerd"]),
    ("cri-dockerd", &["/usr/bin/cri-dockerd", "/usr/local/bin/cri-dockerd"]),
    ("crio", &["/usr/bin/crio", "/usr/local/bin/crio"]),
];

/// Go modules that a daemon is built from, and the variables its version is linked into.
const MODULES: &[(&str, &[&str], &[&str])] = &[
    (
        "containerd",
        &["github.com/containerd/containerd/v2", "github.com/containerd/containerd"],
        &[
            "github.com/containerd/containerd/v2/version.Version=",
            "github.com/containerd/containerd/version.Version=",
        ],
    ),
    ("kubelet", &["k8s.io/kubernetes"], &["k8s.io/component-base/version.gitVersion="]),
    ("docker", &["github.com/docker/docker"], &["github.com/docker/docker/dockerversion.Version="]),
    (
        "cri-dockerd",
        &["github.com/Mirantis/cri-dockerd"],
        &["github.com/Mirantis/cri-dockerd/cmd/version.Version="],
    ),
    ("crio", &["github.com/cri-o/cri-o"], &["github.com/cri-o/cri-o/internal/version.Version="]),
];

/// What the package database says of the packages that matter.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    /// By package: its stanza as a text of its own, and the version in it.
    installed: BTreeMap<String, (SourceId, Span)>,
    unread: Option<Why>,
}

impl Packages {
    /// Reads dpkg's database, once for all daemons.
    pub(crate) fn read(ctx: &mut Ctx) -> Packages {
        let wanted = |name: &str| PACKAGES.iter().any(|(_, names)| names.contains(&name));
        let mut packages = Packages::default();
        let accept = |line: &str| line.strip_prefix("Package:").is_some_and(|name| wanted(name.trim()));
        match ctx.node.stanzas(STATUS, accept) {
            Known::Is(text) => text.text.split("\n\n").for_each(|s| packages.add(ctx, s, true)),
            Known::Absent(_) => {}
            Known::Unknown(why) => packages.miss(ctx, STATUS, why),
        }
        // images built without dpkg keep one file a package
        match ctx.node.list(STATUS_DIR) {
            Known::Is(entries) => {
                for entry in entries.into_iter().filter(|e| wanted(&e.name)) {
                    let path = format!("{STATUS_DIR}/{}", entry.name);
                    match ctx.node.read(&path) {
                        Known::Is(text) => packages.add(ctx, &text.text, false),
                        Known::Absent(_) => {}
                        Known::Unknown(why) => packages.miss(ctx, &path, why),
                    }
                }
            }
            Known::Absent(_) => {}
            Known::Unknown(why) => packages.miss(ctx, STATUS_DIR, why),
        }
        packages
    }

    fn miss(&mut self, ctx: &mut Ctx, path: &str, why: Why) {
        ctx.could_not_read(path, &why);
        self.unread.get_or_insert(why);
    }

    fn add(&mut self, ctx: &mut Ctx, stanza: &str, needs_status: bool) {
        let stanza = stanza.trim_matches('\n');
        let field = |name: &str| {
            let mut at = 0;
            for line in stanza.split_inclusive('\n') {
                let start = at;
                at += line.len();
                if let Some(value) = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) {
                    let start = start + line.len() - value.trim_start().len();
                    return Some((value.trim(), Span::new(start, start + value.trim().len())));
                }
            }
            None
        };
        let (Some((name, _)), Some((_, span))) = (field("Package"), field("Version")) else { return };
        // `hold ok installed` is installed too
        let installed = field("Status").is_some_and(|(status, _)| status.ends_with(" ok installed"));
        if installed || !needs_status {
            let id = ctx.sources.add(format!("package:{name}"), Kind::Package, stanza);
            self.installed.insert(name.to_owned(), (id, span));
        }
    }
}

/// What is known of a daemon's version, weakest first.
/// `cri` is the runtime's own answer, `exes` its program as a process or unit names it, likeliest
/// first. Absent when there is neither program nor package; unknown when there is one and its
/// version cannot be told.
pub(crate) fn evidence(
    ctx: &mut Ctx,
    packages: &Packages,
    daemon: &'static str,
    cri: Option<Said>,
    exes: &[String],
) -> Statements {
    let known = exes.iter().cloned().chain(of(PROGRAMS, daemon).iter().map(|p| (*p).to_owned()));
    let mut unseen = packages.unread.clone();
    let exe = known.into_iter().find(|p| match ctx.node.stat(p) {
        Known::Is(_) => true,
        Known::Unknown(why @ (Why::Denied(_) | Why::Unreadable(..))) => {
            unseen.get_or_insert(why);
            false
        }
        _ => false,
    });
    let mut said: Vec<Said> = Vec::new();
    if exe.as_deref().is_none_or(packaged) {
        said.extend(of(PACKAGES, daemon).iter().find_map(|name| from_package(ctx, packages, name)));
    }
    if said.is_empty()
        && let Some(exe) = &exe
    {
        said.extend(from_build(ctx, daemon, exe));
    }
    said.extend(cri);
    said.extend(ctx.assumed(daemon));
    if said.is_empty()
        && let Some(exe) = &exe
    {
        said.extend(from_output(ctx, daemon, exe));
    }
    match (said.is_empty(), &exe, unseen) {
        (false, _, _) => Known::Is(said),
        (true, None, None) => Known::ABSENT,
        (true, None, Some(why)) => Known::Unknown(why),
        (true, Some(_), _) => Known::Unknown(Why::NeedsVersion { of: daemon, worlds: Vec::new() }),
    }
}

fn of<'a>(table: &'a [(&str, &'a [&'a str])], daemon: &str) -> &'a [&'a str] {
    table.iter().find(|(name, _)| *name == daemon).map_or(&[], |(_, list)| list)
}

/// Packages put programs here and nowhere else.
fn packaged(exe: &str) -> bool {
    let below = |dir: &str| exe.starts_with(dir);
    ["/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/libexec/", "/bin/", "/sbin/", "/lib/"]
        .into_iter()
        .any(below)
}

fn from_package(ctx: &Ctx, packages: &Packages, name: &str) -> Option<Said> {
    let (id, span) = *packages.installed.get(name)?;
    let place = Place { source: id, span };
    statement(ctx.sources.slice(place), place)
}

fn statement(version: &str, place: Place) -> Option<Said> {
    Version::parse(version)?;
    Some(Said { value: Value::text(version), origin: Origin::new(Layer::File, place) })
}

fn from_build(ctx: &mut Ctx, daemon: &str, exe: &str) -> Option<Said> {
    let Known::Is(text) = ctx.node.build_info(exe) else { return None };
    let span = built(&text, daemon)?;
    let id = ctx.sources.add(format!("binary:{exe}"), Kind::Package, text.clone());
    statement(&text[span.start..span.end], Place { source: id, span })
}

/// The version in the lines of build information.
fn built(text: &str, daemon: &str) -> Option<Span> {
    let (_, modules, variables) = MODULES.iter().find(|(name, _, _)| *name == daemon)?;
    for variable in *variables {
        if let Some(at) = text.find(variable) {
            let start = at + variable.len();
            let end = text[start..].find([' ', '"', '\'', '\n', '\t']).map_or(text.len(), |i| start + i);
            if end > start {
                return Some(Span::new(start, end));
            }
        }
    }
    let mut lines: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line.trim_end().split('\t').collect()));
        at += line.len();
    }
    for module in *modules {
        for (i, (at, fields)) in lines.iter().enumerate() {
            let ["", "mod" | "dep", path, ..] = fields.as_slice() else { continue };
            if path != module {
                continue;
            }
            let (at, fields) = match lines.get(i + 1) {
                Some((at, fields)) if fields.get(1) == Some(&"=>") => (at, fields),
                _ => (at, fields),
            };
            // a module built from a checkout has no version of its own
            let version = fields.get(3).filter(|v| v.starts_with('v') && !v.starts_with("v0.0.0-"))?;
            let start = at + fields[..3].iter().map(|f| f.len() + 1).sum::<usize>();
            return Some(Span::new(start, start + version.len()));
        }
    }
    None
}

fn from_output(ctx: &mut Ctx, daemon: &str, exe: &str) -> Option<Said> {
    let name = exe.rsplit('/').next().unwrap_or("");
    // k3s and RKE2 carry the version of their kubelet
    if name != daemon
        && !(daemon == "docker" && name == "dockerd")
        && !(daemon == "kubelet" && matches!(name, "k3s" | "rke2"))
    {
        return None;
    }
    let Known::Is(text) = ctx.node.version_of(exe) else { return None };
    let span = printed(&text)?;
    let id = ctx.sources.add(format!("binary:{exe}"), Kind::Package, text.clone());
    statement(&text[span.start..span.end], Place { source: id, span })
}

/// The first word of the first line that is a version.
fn printed(text: &str) -> Option<Span> {
    let line = text.lines().next()?;
    let word = line.split_whitespace().find(|w| {
        let digits = w.strip_prefix('v').unwrap_or(w);
        digits.starts_with(|c: char| c.is_ascii_digit()) && Version::parse(w).is_some()
    })?;
    let start = line.find(word)?;
    Some(Span::new(start, start + word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Options;
    use crate::node::Node;

    fn look(files: &[(&str, &str)], daemon: &'static str, assume: Option<&str>) -> Vec<(String, String)> {
        let node = Node::memory(files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect());
        let mut options = Options::default();
        options.assume.extend(assume.map(|v| (daemon.to_owned(), v.to_owned())));
        let mut ctx = Ctx::new(&node, &options);
        let packages = Packages::read(&mut ctx);
        match evidence(&mut ctx, &packages, daemon, None, &[]) {
            Known::Is(said) => said
                .iter()
                .map(|s| {
                    (
                        ctx.sources.get(s.origin.place.source).name.clone(),
                        ctx.sources.slice(s.origin.place).to_owned(),
                    )
                })
                .collect(),
            other => vec![(format!("{other:?}"), String::new())],
        }
    }

    fn pair(source: &str, version: &str) -> (String, String) {
        (source.to_owned(), version.to_owned())
    }

    const DPKG: &str = "Package: bash\nStatus: install ok installed\nVersion: 5\n\nPackage: containerd\nStatus: deinstall ok config-files\nVersion: 1.6.20~ds1-1\n\nPackage: kubelet\nStatus: hold ok installed\nVersion: 1.34.2-1.1\n";

    #[test]
    fn only_what_is_installed_counts() {
        let files = [(STATUS, DPKG)];
        assert_eq!(look(&files, "kubelet", None), [pair("package:kubelet", "1.34.2-1.1")]);
        assert_eq!(look(&files, "containerd", None)[0].0, "Absent(\"\")");
    }

    #[test]
    fn what_is_assumed_comes_last_and_is_strongest() {
        let said = look(&[(STATUS, DPKG)], "kubelet", Some("1.35"));
        assert_eq!(said, [pair("package:kubelet", "1.34.2-1.1"), pair("assume:kubelet", "1.35")]);
    }

    #[test]
    fn a_program_outside_packages_is_asked_itself() {
        let build = "go1.24.4\n\tpath\tgithub.com/k3s-io/k3s\n\tmod\tgithub.com/k3s-io/k3s\t(devel)\t\n\tdep\tk8s.io/kubernetes\tv1.34.2\n\t=>\tgithub.com/k3s-io/kubernetes\tv1.34.2-k3s1\th1:x\n";
        let files = [
            (STATUS, DPKG),
            ("/usr/local/bin/kubelet", "elf"),
            ("/.nodevet/replies/binary/usr%2Flocal%2Fbin%2Fkubelet", build),
        ];
        assert_eq!(look(&files, "kubelet", None), [pair("binary:/usr/local/bin/kubelet", "v1.34.2-k3s1")]);
        let files = [
            ("/usr/local/bin/containerd", "elf"),
            (
                "/.nodevet/replies/exec/usr%2Flocal%2Fbin%2Fcontainerd",
                "containerd github.com/containerd/containerd/v2 v2.1.5 abc\n",
            ),
        ];
        assert_eq!(look(&files, "containerd", None), [pair("binary:/usr/local/bin/containerd", "v2.1.5")]);
    }

    #[test]
    fn linked_versions_beat_modules() {
        let text = "go1.22\n\tmod\tgithub.com/containerd/containerd\tv1.7.0\th1:x\n\tbuild\t-ldflags=\"-X github.com/containerd/containerd/version.Version=1.7.24 -w\"\n";
        let span = built(text, "containerd").unwrap();
        assert_eq!(&text[span.start..span.end], "1.7.24");
        assert_eq!(built("go1.22\n\tmod\tgithub.com/containerd/containerd\t(devel)\t\n", "containerd"), None);
    }
}
