use super::*;
use crate::collect::{Options, process};
use crate::model::kubelet::flags::{Parsed, parse};
use crate::node::Node;

/// As kubeadm's packages write them.
const UNIT: &str = "[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n";
const DROPIN: &str = r#"[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"#;
const UNIT_PATH: &str = "/usr/lib/systemd/system/kubelet.service";
const DROPIN_PATH: &str = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf";
const FLAGS: &str = "/var/lib/kubelet/kubeadm-flags.env";

fn node(files: &[(&str, &str)]) -> Node {
    Node::memory(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

fn kubeadm<'a>(more: &[(&'a str, &'a str)]) -> Node {
    node(&[&[(UNIT_PATH, UNIT), (DROPIN_PATH, DROPIN)], more].concat())
}

/// What the next kubelet 1.34 is told: `name=value @ file: text at the place`.
fn told(node: &Node) -> Vec<String> {
    let options = Options::default();
    let mut ctx = Ctx::new(node, &options);
    let Known::Is(command) = kubelet(&mut ctx, &Known::ABSENT).next else { panic!("nothing starts") };
    let show = |place: Place| {
        let file = ctx.sources.get(place.source).name.rsplit('/').next().unwrap();
        format!("{file}: {}", ctx.sources.slice(place))
    };
    let line = match parse(command.words(), 34) {
        Ok(line) => line,
        Err(refused) => return vec![format!("{} @ {}", refused.message, show(refused.place))],
    };
    let entries = |value: &Parsed| match value {
        Parsed::Text(text) => text.clone(),
        Parsed::Map(entries) => {
            let entry = |e: &crate::model::kubelet::flags::Entry| format!("{}@{}", e.key, show(e.place));
            entries.iter().map(entry).collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    };
    line.settings
        .iter()
        .map(|s| format!("{}={} @ {}", s.flag.name, entries(&s.value), show(s.place)))
        .collect()
}

#[test]
fn a_flag_is_shown_where_kubeadm_wrote_it() {
    // written by `kubeadm init phase kubelet-start`
    let env = "KUBELET_KUBEADM_ARGS=\"--hostname-override=othername --cgroup-driver=cgroupfs --v=2\"\n";
    let extra = "KUBELET_EXTRA_ARGS=--node-ip 10.0.0.1\n";
    assert_eq!(
        told(&kubeadm(&[(FLAGS, env), ("/etc/default/kubelet", extra)])),
        [
            "bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf @ 10-kubeadm.conf: /etc/kubernetes/bootstrap-kubelet.conf",
            "kubeconfig=/etc/kubernetes/kubelet.conf @ 10-kubeadm.conf: /etc/kubernetes/kubelet.conf",
            "config=/var/lib/kubelet/config.yaml @ 10-kubeadm.conf: /var/lib/kubelet/config.yaml",
            "hostname-override=othername @ kubeadm-flags.env: othername",
            "cgroup-driver=cgroupfs @ kubeadm-flags.env: cgroupfs",
            "v=Int(2) @ kubeadm-flags.env: 2",
            "node-ip=10.0.0.1 @ kubelet: 10.0.0.1",
        ]
    );
    let later = "KUBELET_KUBEADM_ARGS=--cgroup-driver=systemd\n";
    let both = told(&kubeadm(&[(FLAGS, env), ("/etc/default/kubelet", later)]));
    assert_eq!(
        both[3..],
        ["cgroup-driver=systemd @ kubelet: systemd"],
        "the later file says the variable again"
    );
    assert_eq!(told(&kubeadm(&[])).len(), 3, "both files may be away");
}

#[test]
fn quotes_and_escapes_keep_their_places() {
    let env = "KUBELET_KUBEADM_ARGS=\"--node-labels=a=b,\\\"c=d\\\" '--eviction-hard=memory.available<5%,x<1' --cgroup-root=/a\\\\ b\"\n";
    assert_eq!(
        told(&kubeadm(&[(FLAGS, env)]))[3..],
        [
            // the quotes of the variable are taken off once more where it falls into words
            "node-labels=a@kubeadm-flags.env: a=b c@kubeadm-flags.env: c=d @ kubeadm-flags.env: a=b,\\\"c=d",
            "eviction-hard=memory.available@kubeadm-flags.env: memory.available<5% x@kubeadm-flags.env: x<1 \
             @ kubeadm-flags.env: memory.available<5%,x<1",
            "cgroup-root=/a b @ kubeadm-flags.env: /a\\\\ b",
        ]
    );
    let refused =
        told(&kubeadm(&[(FLAGS, "KUBELET_KUBEADM_ARGS=\"--v=2 --feature-gates=A=true,B=\\\"x\\\"\"\n")]));
    assert!(refused[0].ends_with("@ kubeadm-flags.env: B=\\\"x"), "{refused:?}");
    let removed = told(&kubeadm(&[(FLAGS, "KUBELET_KUBEADM_ARGS=\"--v=2 --no-such-flag=1\"\n")]));
    assert_eq!(removed, ["unknown flag: --no-such-flag @ kubeadm-flags.env: --no-such-flag"]);
}

#[test]
fn a_value_of_two_sources_is_shown_where_each_part_is() {
    let unit = "[Service]\nEnvironmentFile=/etc/kubelet.env\nExecStart=/usr/bin/kubelet --node-ip=${IP} \
                --system-reserved=cpu=${CPU},memory=1Gi --cgroup-root=/${NAME} \"--hostname-override=\\x61b\\x63\"\n";
    let env = "IP='10.0.0.1'\nCPU=2\nNAME=\"x\"\n";
    let node = node(&[("/etc/systemd/system/kubelet.service", unit), ("/etc/kubelet.env", env)]);
    assert_eq!(
        told(&node),
        [
            "node-ip=10.0.0.1 @ kubelet.env: 10.0.0.1",
            "system-reserved=cpu@kubelet.service: cpu=${CPU} memory@kubelet.service: memory=1Gi @ kubelet.service: cpu=${CPU},memory=1Gi",
            "cgroup-root=/x @ kubelet.service: /${NAME}",
            "hostname-override=abc @ kubelet.service: \\x61b\\x63",
        ]
    );
}

#[test]
fn the_environment_reaches_the_kubelet() {
    let name = "KUBELET_CONFIG_DROPIN_DIR_ALPHA";
    let ask = |files: &[(&str, &str)]| {
        let (node, options) = (node(files), Options::default());
        let mut ctx = Ctx::new(&node, &options);
        let processes = process::scan(&mut ctx);
        let process = processes.as_ref().and_then(|p| p.kubelet.as_ref().map_or(Known::ABSENT, Known::Is));
        let started = kubelet(&mut ctx, &process);
        [started.running, started.next].map(|command| {
            command.and_then(|command| command.variable(&mut ctx, name)).map(|(value, origin)| {
                let place = origin.place;
                let source = ctx.sources.get(place.source);
                assert!(!source.text.contains("TOKEN"), "only what was asked for is kept");
                format!("{value}: {} in {}", ctx.sources.slice(place), source.name)
            })
        })
    };
    let unit = |said: &str| format!("[Service]\n{said}\nExecStart=/usr/bin/kubelet\n");
    let path = "/etc/systemd/system/kubelet.service";
    let [running, next] = ask(&[
        ("/proc/7/comm", "kubelet\n"),
        ("/proc/7/cmdline", "/k\0--v=2\0"),
        (
            "/proc/7/environ",
            "TOKEN=x\0KUBELET_CONFIG_DROPIN_DIR_ALPHA=a=b\0KUBELET_CONFIG_DROPIN_DIR_ALPHA=c\0",
        ),
        (path, &unit("Environment=KUBELET_CONFIG_DROPIN_DIR_ALPHA='yes'")),
    ]);
    assert_eq!(running, Known::Is("a=b: a=b in /proc/7/environ".into()));
    assert_eq!(next, Known::Is(format!("yes: yes in {path}")));
    let [_, next] = ask(&[(path, &unit("Environment=A=b"))]);
    assert_eq!(next, Known::ABSENT);
    let [_, next] = ask(&[(path, &unit(&format!("Environment={name}=1\nUnsetEnvironment={name}")))]);
    assert_eq!(next, Known::ABSENT);
    let [running, next] = ask(&[
        ("/proc/7/comm", "kubelet\n"),
        ("/proc/7/cmdline", "/k\0"),
        (path, &unit("EnvironmentFile=-/e/*")),
    ]);
    assert!(running.is_unknown() && next.is_unknown(), "neither is seen");
}

#[test]
fn a_shell_script_is_not_read() {
    let ask = |files: &[(&str, &str)]| {
        let (node, options) = (node(files), Options::default());
        let mut ctx = Ctx::new(&node, &options);
        crate::collect::host::collect(&mut ctx);
        kubelet(&mut ctx, &Known::ABSENT).next.map(|command| command.words().len())
    };
    let script = ("/etc/init.d/kubelet", "#!/sbin/openrc-run\ncommand_args=\"$KUBELET_EXTRA_ARGS\"\n");
    let conf = ("/etc/conf.d/kubelet", "KUBELET_EXTRA_ARGS=--cgroup-driver=cgroupfs\n");
    let unit = ("/etc/systemd/system/kubelet.service", "[Service]\nExecStart=/usr/bin/kubelet --v=2\n");
    let openrc = [("/proc/1/comm", "init\n"), ("/run/openrc/softlevel", "default\n")];
    let Known::Unknown(why) = ask(&[script, conf]) else { panic!("a script was read") };
    assert_eq!(why.to_string(), "not running: kubelet, which the shell script /etc/init.d/kubelet starts");
    assert!(ask(&[openrc[0], openrc[1], script, unit]).is_unknown(), "OpenRC does not read the unit");
    assert_eq!(ask(&[openrc[0], openrc[1], unit]), Known::Is(1), "there is nothing better");
    assert_eq!(ask(&[script, unit]), Known::Is(1));
    assert_eq!(ask(&[conf]), Known::ABSENT);
}

/// Facts of the whole program: `value @ file: text at the place`.
fn fact(node: &Node, name: &str) -> String {
    let collected = crate::collect::collect(node, &Options::default());
    let fact = collected.kubelet.last().unwrap().facts.iter().find(|fact| fact.name == name).unwrap();
    let crate::fact::What::One(Known::Is(said)) = &fact.what else { panic!("{:?}", fact.what) };
    let said = said.iter().max_by_key(|said| said.origin.layer).unwrap();
    let place = said.origin.place;
    let file = collected.sources.get(place.source).name.rsplit('/').next().unwrap();
    format!("{} @ {file}: {}", said.value, collected.sources.slice(place))
}

#[test]
fn a_fact_stands_at_the_token_that_says_it() {
    let config = (
        "/var/lib/kubelet/config.yaml",
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
    );
    let written = "KUBELET_KUBEADM_ARGS=\"--hostname-override=othername --cgroup-driver=cgroupfs --v=2\"\n";
    let node = kubeadm(&[config, (FLAGS, written)]);
    assert_eq!(fact(&node, "kubelet.configured_driver"), "cgroupfs @ kubeadm-flags.env: cgroupfs");
    let quoted =
        "KUBELET_KUBEADM_ARGS=\"--v=2 '--cgroup-driver=systemd' \\\"--pod-manifest-path=/etc/a b\\\"\"\n";
    let node = kubeadm(&[config, (FLAGS, quoted)]);
    assert_eq!(fact(&node, "kubelet.configured_driver"), "systemd @ kubeadm-flags.env: systemd");
    assert_eq!(fact(&node, "kubelet.static_pod_path"), "/etc/a b @ kubeadm-flags.env: /etc/a b");
    let unit = "[Service]\nEnvironmentFile=/etc/kubelet.env\n\
                ExecStart=/usr/bin/kubelet --cgroup-driver=${DRIVER} --pod-manifest-path=${DIR}/manifests\n";
    let env = ("/etc/kubelet.env", "DRIVER='systemd'\nDIR=/etc/kubernetes\n");
    let node = self::node(&[("/etc/systemd/system/kubelet.service", unit), env]);
    assert_eq!(fact(&node, "kubelet.configured_driver"), "systemd @ kubelet.env: systemd");
    assert_eq!(
        fact(&node, "kubelet.static_pod_path"),
        "/etc/kubernetes/manifests @ kubelet.env: /etc/kubernetes",
        "the first part of a value that is put together"
    );
}

#[test]
fn drop_ins_of_1_28_want_a_variable_of_the_unit() {
    let accepted = |more: &str| {
        let unit = format!("[Service]\n{more}\nExecStart=/usr/bin/kubelet --config-dir=/etc/kubelet.d\n");
        let head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
        let files = [("/etc/systemd/system/kubelet.service", unit.as_str()), ("/etc/kubelet.d/1.conf", head)];
        let options =
            Options { assume: [("kubelet".to_owned(), "1.28.15".to_owned())].into(), ..Options::default() };
        let collected = crate::collect::collect(&node(&files), &options);
        let facts = &collected.kubelet.last().unwrap().facts;
        let crate::fact::What::One(said) = &facts.iter().find(|f| f.name == "kubelet.accepted").unwrap().what
        else {
            panic!("not a plain fact")
        };
        said.clone().map(|said| said.last().and_then(|said| said.value.as_bool()))
    };
    assert_eq!(accepted("Environment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=1"), Known::Is(Some(true)));
    assert_eq!(
        accepted("Environment=KUBELET_CONFIG_DROPIN_DIR_ALPHA="),
        Known::Is(Some(true)),
        "it is there"
    );
    assert_eq!(accepted("Environment=OTHER=1"), Known::Is(Some(false)));
}

#[test]
fn the_kubelet_may_stand_behind_another_program() {
    let words = |line: &str| {
        let unit = format!("[Service]\nExecStart={line}\n");
        let (node, options) = (node(&[("/etc/systemd/system/kubelet.service", &unit)]), Options::default());
        let next = kubelet(&mut Ctx::new(&node, &options), &Known::ABSENT).next;
        next.map(|command| {
            command.arguments.iter().map(|a| a.text().to_owned()).collect::<Vec<_>>().join(" ")
        })
    };
    for (line, expected) in [
        ("/usr/bin/kubelet --v=2", "/usr/bin/kubelet --v=2"),
        ("/opt/kubelet-1.34 --v=2", "/opt/kubelet-1.34 --v=2"),
        ("/usr/local/bin/kubenswrapper /usr/bin/kubelet --v=2", "/usr/bin/kubelet --v=2"),
        ("/usr/bin/nice -n -5 /usr/bin/kubelet --v=2", "/usr/bin/kubelet --v=2"),
        ("/hyperkube kubelet --v=2", "kubelet --v=2"),
    ] {
        assert_eq!(words(line), Known::Is(expected.to_owned()));
    }
    for line in
        ["/bin/bash -c 'exec kubelet --v=2'", "/bin/sh /opt/kubelet", "/opt/kubelet.sh --v=2", "/opt/start"]
    {
        assert!(words(line).is_unknown(), "{line}");
    }
}

#[test]
fn relative_paths_begin_where_the_unit_says() {
    let begins = |line: &str| {
        let unit = format!("[Service]\n{line}\nExecStart=/usr/bin/kubelet --config=kubelet.json\n");
        let (node, options) = (node(&[(UNIT_PATH, &unit)]), Options::default());
        let mut ctx = Ctx::new(&node, &options);
        let Known::Is(command) = kubelet(&mut ctx, &Known::ABSENT).next else { panic!("nothing starts") };
        command.directory(&ctx)
    };
    assert_eq!(begins("WorkingDirectory=/etc/kubernetes"), "/etc/kubernetes");
    assert_eq!(begins("WorkingDirectory=-/var/lib/kubelet"), "/var/lib/kubelet");
    assert_eq!(begins("WorkingDirectory=~"), "/root");
    assert_eq!(begins("WorkingDirectory=/etc\nWorkingDirectory="), "/");
    assert_eq!(begins(""), "/");
}
