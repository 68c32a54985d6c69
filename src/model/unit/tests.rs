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
        let below = |p: &String| Some(p.strip_prefix(dir)?.strip_prefix('/')?.split('/').next()?.to_owned());
        let names: std::collections::BTreeSet<String> =
            self.files.keys().chain(self.links.keys()).filter_map(below).collect();
        Known::Is(names.into_iter().collect())
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
        ("/etc/systemd/system/kubelet.service.d/10-y.conf", "[Service]\nSlice=ten.slice\nKillMode=process\n"),
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
