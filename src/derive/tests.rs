use super::*;
use crate::fact::{Fact, Layer};
use crate::resolve::When;
use crate::text::{Kind, Place, Sources, Span};

/// `?` is unknown, `-` absent; anything else the value. The place tells who said it.
fn world(values: &[(&'static str, &str)]) -> (Snapshot, Sources) {
    let mut sources = Sources::default();
    let facts: Vec<Fact> = values
        .iter()
        .map(|(name, value)| {
            let source = sources.add(*name, Kind::File, *value);
            let place = Place { source, span: Span::new(0, value.len()) };
            let value = match *value {
                "?" => return Fact::one(name, Known::Unknown(Why::Unread)),
                "-" => return Fact::one(name, Known::ABSENT),
                "true" | "false" => Value::Bool(*value == "true"),
                text => Value::text(text),
            };
            Fact::is(name, value, Origin::new(Layer::File, place))
        })
        .collect();
    let mut facts = Snapshot::unread().with(&facts, When::Now);
    derive(&mut facts);
    (facts, sources)
}

fn shown(facts: &Snapshot, name: &str) -> String {
    match &facts.named(name).value {
        Known::Is(value) => value.to_string(),
        Known::Absent(_) => "-".into(),
        Known::Unknown(_) => "?".into(),
    }
}

#[test]
fn the_runtime_is_asked_where_it_answers() {
    // follows, boots, cri, reported, configured → in force
    for (follows, boots, cri, reported, configured, driver) in [
        ("false", "true", "true", "cgroupfs", "systemd", "systemd"),
        ("false", "?", "?", "?", "systemd", "systemd"),
        ("true", "true", "true", "cgroupfs", "systemd", "cgroupfs"),
        ("true", "true", "true", "systemd", "?", "systemd"),
        ("true", "true", "true", "unimplemented", "systemd", "systemd"),
        ("true", "true", "true", "unimplemented", "?", "?"),
        ("true", "true", "true", "?", "systemd", "?"),
        ("true", "true", "false", "cgroupfs", "systemd", "-"),
        ("true", "false", "-", "-", "systemd", "-"),
        ("true", "-", "-", "-", "systemd", "-"),
        ("true", "?", "?", "?", "systemd", "?"),
        ("?", "true", "true", "cgroupfs", "systemd", "?"),
        ("-", "true", "true", "cgroupfs", "-", "-"),
        ("false", "true", "true", "cgroupfs", "-", "-"),
    ] {
        let (facts, _) = world(&[
            ("kubelet.follows_runtime", follows),
            ("kubelet.configured_driver", configured),
            ("kubelet.runtime_endpoint", "unix:///run/containerd/containerd.sock"),
            ("containerd.boots", boots),
            ("containerd.cri_enabled", cri),
            ("containerd.reported_driver", reported),
        ]);
        let case = format!("{follows} {boots} {cri} {reported} {configured}");
        assert_eq!(shown(&facts, "kubelet.cgroup_driver"), driver, "{case}");
    }
}

#[test]
fn what_was_overridden_stays_visible() {
    let (facts, sources) = world(&[
        ("kubelet.follows_runtime", "true"),
        ("kubelet.configured_driver", "systemd"),
        ("containerd.boots", "true"),
        ("containerd.cri_enabled", "true"),
        ("containerd.reported_driver", "cgroupfs"),
    ]);
    let driver = facts.named("kubelet.cgroup_driver");
    let by = driver.by.as_ref().map(|o| sources.get(o.place.source).name.as_str());
    assert_eq!(by, Some("containerd.reported_driver"));
    assert_eq!(driver.overridden.len(), 1);
    assert_eq!(driver.overridden[0].value, Value::text("systemd"));
}

#[test]
fn the_verdict_is_the_first_that_holds() {
    // init, boots, cri, runtime's driver, kubelet's driver → verdict
    for (init, boots, cri, runtime, kubelet, verdict) in [
        ("systemd", "true", "true", "systemd", "systemd", "agree"),
        ("openrc", "true", "true", "cgroupfs", "cgroupfs", "agree"),
        ("container", "true", "true", "cgroupfs", "cgroupfs", "agree"),
        ("systemd", "true", "true", "cgroupfs", "cgroupfs", "two-managers"),
        ("systemd", "true", "true", "cgroupfs", "-", "two-managers"),
        ("systemd", "true", "true", "cgroupfs", "?", "?"),
        ("openrc", "true", "true", "systemd", "?", "mismatch"),
        ("openrc", "true", "true", "cgroupfs", "?", "?"),
        ("systemd", "true", "true", "systemd", "cgroupfs", "mismatch"),
        ("systemd", "true", "true", "cgroupfs", "systemd", "mismatch"),
        ("?", "true", "true", "cgroupfs", "systemd", "mismatch"),
        ("sysvinit", "true", "true", "systemd", "systemd", "mismatch"),
        ("busybox", "true", "true", "systemd", "-", "mismatch"),
        ("container", "true", "true", "systemd", "systemd", "?"),
        ("?", "true", "true", "systemd", "systemd", "?"),
        ("systemd", "true", "true", "?", "systemd", "?"),
        ("systemd", "true", "true", "systemd", "?", "?"),
        ("systemd", "true", "true", "systemd", "-", "no-kubelet"),
        ("s6", "true", "true", "cgroupfs", "-", "no-kubelet"),
        ("systemd", "false", "-", "-", "systemd", "runtime-dead"),
        ("systemd", "true", "false", "cgroupfs", "systemd", "runtime-dead"),
        ("systemd", "true", "?", "cgroupfs", "systemd", "?"),
        ("systemd", "?", "?", "?", "systemd", "?"),
        ("systemd", "-", "-", "-", "systemd", "no-runtime"),
        ("?", "-", "-", "-", "-", "no-runtime"),
        // kata by default: the kubelet's driver alone
        ("systemd", "true", "true", "-", "systemd", "agree"),
        ("systemd", "true", "true", "-", "cgroupfs", "two-managers"),
        ("openrc", "true", "true", "-", "systemd", "mismatch"),
    ] {
        let (facts, _) = world(&[
            ("host.init", init),
            ("kubelet.follows_runtime", "false"),
            ("kubelet.configured_driver", kubelet),
            ("containerd.boots", boots),
            ("containerd.cri_enabled", cri),
            ("containerd.cgroup_driver", runtime),
        ]);
        let case = format!("{init} {boots} {cri} {runtime} {kubelet}");
        assert_eq!(shown(&facts, "node.verdict"), verdict, "{case}");
        let has_place = facts.named("node.verdict").by.is_some();
        assert!(has_place || ["?", "no-runtime"].contains(&verdict), "{case} has no origin");
    }
}

#[test]
fn another_runtime_is_asked_in_its_own_way() {
    // runtime, its version, boots, its driver, kubelet's own → kubelet's in force, verdict
    for (runtime, version, boots, driver, configured, in_force, verdict) in [
        ("crio", "1.34.1", "true", "systemd", "cgroupfs", "systemd", "agree"),
        ("crio", "1.34.1", "true", "cgroupfs", "systemd", "cgroupfs", "two-managers"),
        ("crio", "1.27.8", "true", "systemd", "cgroupfs", "cgroupfs", "mismatch"),
        ("crio", "?", "true", "systemd", "cgroupfs", "?", "?"),
        ("crio", "?", "true", "systemd", "systemd", "systemd", "agree"),
        ("crio", "1.34.1", "false", "-", "systemd", "-", "runtime-dead"),
        ("crio", "1.34.1", "-", "-", "systemd", "-", "no-runtime"),
        ("docker", "0.4.3", "true", "cgroupfs", "systemd", "cgroupfs", "two-managers"),
        ("docker", "0.2.6", "true", "cgroupfs", "systemd", "systemd", "mismatch"),
        ("docker", "0.4.3", "true", "none", "systemd", "-", "?"),
        ("docker", "0.4.3", "true", "?", "systemd", "?", "?"),
    ] {
        let of = |crio, docker| if runtime == "crio" { crio } else { docker };
        let (facts, _) = world(&[
            ("cri.other_runtime", runtime),
            ("host.init", "systemd"),
            ("kubelet.follows_runtime", "true"),
            ("kubelet.configured_driver", configured),
            ("containerd.boots", "true"),
            ("containerd.cri_enabled", "true"),
            ("containerd.cgroup_driver", "cgroupfs"),
            ("containerd.reported_driver", "cgroupfs"),
            (of("crio.version", "docker.cri_version"), version),
            (of("crio.boots", "docker.boots"), boots),
            (of("crio.cgroup_driver", "docker.cgroup_driver"), driver),
        ]);
        let met = (shown(&facts, "kubelet.cgroup_driver"), shown(&facts, "node.verdict"));
        assert_eq!(met, (in_force.into(), verdict.into()), "{runtime} {version} {driver} {configured}");
    }
}

#[test]
fn a_default_handler_without_pods_is_a_dead_runtime() {
    let said = |value| {
        let place = Place { source: Sources::default().add("/c", Kind::File, "x"), span: Span::new(0, 1) };
        Known::Is(vec![Said { value, origin: Origin::new(Layer::File, place) }])
    };
    for (usable, verdict) in [(false, "runtime-dead"), (true, "no-kubelet")] {
        let row = vec![
            ("name", said(Value::text("runc"))),
            ("usable", said(Value::Bool(usable))),
            ("is_default", said(Value::Bool(true))),
        ];
        let mut facts = world(&[
            ("host.init", "systemd"),
            ("kubelet.follows_runtime", "-"),
            ("containerd.boots", "true"),
            ("containerd.cri_enabled", "true"),
            ("containerd.cgroup_driver", if usable { "systemd" } else { "-" }),
        ])
        .0
        .with(&[Fact::rows("containerd.runtimes", Known::Is(vec![row]))], When::Now);
        derive(&mut facts);
        assert_eq!(shown(&facts, "node.verdict"), verdict);
    }
}
