use super::*;
use crate::text::{Kind, Sources, words};

fn args(line: &str) -> (Vec<Argument>, Sources) {
    let mut sources = Sources::default();
    let source = sources.add("argv:1", Kind::Argv, line);
    (words(line).map(|(span, word)| Argument::of(word, source, span.start)).collect(), sources)
}

/// `name=value @ place` of each use, or `error @ place`.
fn read(line: &str, minor: u32) -> String {
    let (args, sources) = args(line);
    show(parse(&args, minor).map(|line| line.settings), &sources)
}

fn show(settings: Result<Vec<Setting>, Refused>, sources: &Sources) -> String {
    let value = |setting: &Setting| match &setting.value {
        Parsed::Bool(on) => on.to_string(),
        Parsed::Int(n) => n.to_string(),
        Parsed::Text(text) => text.clone(),
        Parsed::List(items) => {
            let item = |i: &Item| format!("{}@{}", i.text, sources.slice(i.place));
            format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(" "))
        }
        Parsed::Map(entries) => {
            let entry = |e: &Entry| format!("{}={}@{}", e.key, e.value, sources.slice(e.place));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
    };
    match settings {
        Ok(settings) => {
            let one = |s: &Setting| format!("{}={} @ {}", s.flag.name, value(s), sources.slice(s.place));
            settings.iter().map(one).collect::<Vec<_>>().join("; ")
        }
        Err(refused) => format!("{} @ {}", refused.message, sources.slice(refused.place)),
    }
}

#[test]
fn flags_are_read_as_pflag_does() {
    for (line, expected) in [
        ("--cgroup-driver=systemd", "cgroup-driver=systemd @ systemd"),
        ("--cgroup_driver systemd", "cgroup-driver=systemd @ systemd"),
        ("--cgroup-driver=", "cgroup-driver= @ "),
        ("--cgroup-driver --config=/a", "cgroup-driver=--config=/a @ --config=/a"),
        ("--fail-swap-on --config /a", "fail-swap-on=true @ --fail-swap-on; config=/a @ /a"),
        ("--fail-swap-on=f", "fail-swap-on=false @ f"),
        ("--fail-swap-on false", "unknown command false @ false"),
        ("-v 5", "v=5 @ 5"),
        ("-v5", "v=5 @ 5"),
        ("-v=5", "v=5 @ 5"),
        ("--v=5", "v=5 @ 5"),
        ("-hv5", "help=true @ h; v=5 @ 5"),
        ("--version=raw", "version=raw @ raw"),
        ("--version", "version=true @ --version"),
        ("--config=/a -- ", "config=/a @ /a"),
        ("-- --config=/a", "unknown command --config=/a @ --config=/a"),
        ("run --config=/a", "unknown command run @ run"),
        ("run --x", "unknown flag: --x @ --x"),
        ("-", "unknown command - @ -"),
        ("-test.v=true --config=/a", "config=/a @ /a"),
        ("--no-such=1", "unknown flag: --no-such @ --no-such"),
        ("-cgroup-driver=systemd", "unknown shorthand flag: 'c' in -cgroup-driver=systemd @ -c"),
        ("-hx", "unknown shorthand flag: 'x' in -x @ -hx"),
        ("-é", "unknown shorthand flag: 'Ã' in -é @ -é"),
        ("--config", "flag needs an argument: --config @ --config"),
        ("-v", "flag needs an argument: 'v' in -v @ -v"),
        ("---config=/a", "bad flag syntax: ---config=/a @ ---config=/a"),
        ("--=a", "bad flag syntax: --=a @ --=a"),
        ("--max-pods=0x10 --sync-frequency=90s", "max-pods=16 @ 0x10; sync-frequency=1m30s @ 90s"),
        ("--cluster-dns=10.0.0.1,\"a,b\"", "cluster-dns=[10.0.0.1@10.0.0.1 a,b@\"a,b\"] @ 10.0.0.1,\"a,b\""),
        (
            "--system-reserved=cpu=1,memory=2Gi",
            "system-reserved={cpu=1@cpu=1 memory=2Gi@memory=2Gi} @ cpu=1,memory=2Gi",
        ),
        ("--eviction-hard a<5%,b<1Gi", "eviction-hard={a=5%@a<5% b=1Gi@b<1Gi} @ a<5%,b<1Gi"),
        ("--healthz-bind-address= --healthz-port=0", "healthz-port=0 @ 0"),
        (
            "--register-with-taints=a=b:NoSchedule",
            "register-with-taints=[a=b:NoSchedule@a=b:NoSchedule] @ a=b:NoSchedule",
        ),
    ] {
        assert_eq!(read(line, 31), expected, "{line}");
    }
}

#[test]
fn what_does_not_fit_is_refused_at_its_place() {
    for (line, expected) in [
        (
            "--fail-swap-on=x",
            "invalid argument \"x\" for \"--fail-swap-on\" flag: strconv.ParseBool: parsing \"x\": invalid syntax @ x",
        ),
        (
            "-v=x",
            "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid syntax @ x",
        ),
        (
            "-v=",
            "invalid argument \"=\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"=\": invalid syntax @ =",
        ),
        (
            "--feature-gates=A=true,X=maybe",
            "invalid argument \"A=true,X=maybe\" for \"--feature-gates\" flag: invalid value of X: maybe, \
             err: strconv.ParseBool: parsing \"maybe\": invalid syntax @ X=maybe",
        ),
        (
            "--sync-frequency=10",
            "invalid argument \"10\" for \"--sync-frequency\" flag: time: missing unit in duration \"10\" @ 10",
        ),
        (
            "--address=host",
            "invalid argument \"host\" for \"--address\" flag: \"host\" is not a valid IP address @ host",
        ),
        (
            "--enable-load-reader=maybe",
            "invalid argument \"maybe\" for \"--enable-load-reader\" flag: parse error @ maybe",
        ),
        // the first thing wrong counts
        (
            "--max-pods=x --no-such",
            "invalid argument \"x\" for \"--max-pods\" flag: strconv.ParseInt: parsing \"x\": invalid syntax @ x",
        ),
    ] {
        assert_eq!(read(line, 31), expected, "{line}");
    }
}

#[test]
fn versions_know_their_flags() {
    let cause = |line: &str, minor| parse(&args(line).0, minor).err().map(|refused| refused.cause);
    let flag = |name| find(name).unwrap();
    for (line, taken, refused, cause_then) in [
        ("--pod-infra-container-image=x", 34, 35, Cause::Gone(flag("pod-infra-container-image"))),
        ("--fail-cgroupv1=false", 31, 30, Cause::NotYet(flag("fail-cgroupv1"))),
        ("--container-runtime=remote", 26, 27, Cause::Gone(flag("container-runtime"))),
        ("--network-plugin=cni", 23, 24, Cause::Gone(flag("network-plugin"))),
        ("--keep-terminated-pod-volumes", 30, 31, Cause::Gone(flag("keep-terminated-pod-volumes"))),
        ("--register-schedulable=true", 33, 34, Cause::Gone(flag("register-schedulable"))),
        ("--cloud-config=", 33, 34, Cause::Gone(flag("cloud-config"))),
        ("--config-dir=/a", 28, 27, Cause::NotYet(flag("config-dir"))),
        ("--logtostderr", 25, 26, Cause::Gone(flag("logtostderr"))),
        ("--dynamic-config-dir=/a", 23, 24, Cause::Gone(flag("dynamic-config-dir"))),
    ] {
        assert_eq!(cause(line, taken), None, "{line} in 1.{taken}");
        assert_eq!(cause(line, refused), Some(cause_then), "{line} in 1.{refused}");
    }
    let nearest = |line| match cause(line, 36) {
        Some(Cause::Unknown { nearest }) => nearest,
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("--cgroupdriver=systemd"), Some("cgroup-driver"));
    assert_eq!(nearest("--fail_swapon=false"), Some("fail-swap-on"));
    assert_eq!(nearest("-cgroup-driver=systemd"), Some("cgroup-driver"));
    assert_eq!(nearest("--xyzzy"), None);
    assert_eq!(nearest("--pod-infra-containerimage=x"), None, "what is gone is not proposed");
}

#[test]
fn uses_replace_or_add_up() {
    let (words, sources) = args(
        "--cgroup-driver=systemd --system-reserved=cpu=1,memory=1Gi --cgroup_driver=cgroupfs \
         --system-reserved=cpu=2 --cluster-dns=1.1.1.1 --cluster-dns=8.8.8.8,9.9.9.9 \
         --manifest-url-header=a:1,a:2 --register-with-taints=a:NoSchedule --register-with-taints=b:NoExecute",
    );
    let line = parse(&words, 31).unwrap();
    assert_eq!(line.last("cgroup-driver").map(|s| &s.value), Some(&Parsed::Text("cgroupfs".into())));
    assert_eq!(line.uses("cgroup-driver").count(), 2);
    assert_eq!(
        show(Ok(line.in_force()), &sources),
        "cgroup-driver=cgroupfs @ cgroupfs; \
         system-reserved={memory=1Gi@memory=1Gi cpu=2@cpu=2} @ cpu=2; \
         cluster-dns=[1.1.1.1@1.1.1.1 8.8.8.8@8.8.8.8 9.9.9.9@9.9.9.9] @ 8.8.8.8,9.9.9.9; \
         manifest-url-header={a=1@a:1 a=2@a:2} @ a:1,a:2; \
         register-with-taints=[b=:NoExecute@b:NoExecute] @ b:NoExecute"
    );
    assert_eq!(parse(&args("--config=/a --config=").0, 31).unwrap().text("config"), None);
    let prints = |text| parse(&args(text).0, 31).unwrap().prints().map(|flag| flag.name);
    assert_eq!(prints("--version --help"), Some("help"));
    assert_eq!(prints("--version=raw"), Some("version"));
    assert_eq!(prints("--version=false --version=v1.31.0"), None);
}

#[test]
fn labels_of_kubernetes_are_closed() {
    let check = |line: &str| {
        let (words, sources) = args(line);
        let refused = check_labels(&parse(&words, 31).unwrap().settings).err()?;
        Some(format!("{} @ {}", refused.message, sources.slice(refused.place)))
    };
    assert_eq!(check("--node-labels=a=b,node.kubernetes.io/x=y --node-labels=kubernetes.io/os=linux"), None);
    assert_eq!(
        check("--node-labels=node-role.kubernetes.io/worker=,k8s.io/a=b,a=b").unwrap(),
        "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: \
         [k8s.io/a node-role.kubernetes.io/worker] @ k8s.io/a=b"
    );
    assert_eq!(check("--node-labels=a=b,c=d/e").unwrap(), "invalid node labels: \"d/e\" @ c=d/e");
    assert_eq!(check("--hostname-override=k8s.io/a=b"), None);
}

#[test]
fn helpers_read_a_line_of_any_version() {
    let (line, sources) = args(
        "--config /a --fail-swap-on --cgroup_driver=cgroupfs --no-such x --cgroup-driver=systemd --config= -v=5",
    );
    let (driver, place) = value(&line, "cgroup-driver").unwrap();
    assert_eq!((driver.as_str(), sources.slice(place)), ("systemd", "systemd"));
    assert_eq!(values(&line, "cgroup-driver").len(), 2);
    assert_eq!(value(&line, "config").unwrap().0, "");
    assert_eq!(value(&line, "config-dir"), None);
    let (line, _) = args("-- --config=/a");
    assert_eq!(value(&line, "config"), None);
}
