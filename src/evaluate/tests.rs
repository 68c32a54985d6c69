use super::evaluate;
use crate::fact::{Known, Layer, Origin, Said, Value, Why};
use crate::finding::{Confidence, Finding, Intent, Missing, Outcome, Severity};
use crate::names;
use crate::resolve::{InForce, Snapshot, World, Worlds};
use crate::rule::{Home, Rule, load};
use crate::text::{Kind, Place, Sources, Span};
use std::sync::Arc;

const SAMPLE: &str = r#"
summary = "s"
severity = [{ when = 'cgroup.mode == "v1"', is = "warning" }, { is = "error" }]
each = "containerd.runtimes"
given = 'runtime.usable'
expect = 'runtime.systemd_cgroup'
message = "`${runtime.name}` on ${cgroup.mode}"
[[label]]
fact = "runtime.systemd_cgroup"
text = "here"
[[label]]
fact = "host.init"
text = "init"
[[fix]]
title = "set it for ${runtime.name}"
set = "runtime.systemd_cgroup"
to = true
safety = "safe"
[[example]]
name = "a"
expect = "finding"
[[example]]
name = "b"
expect = "pass"
"#;

fn rule(text: &str) -> Rule {
    load("AB101-a-rule.toml", text, Home::User).unwrap().rule.unwrap()
}

fn said(value: Value, layer: Layer, place: Place) -> InForce {
    InForce { by: Some(Origin::new(layer, place)), ..InForce::bare(Known::Is(value)) }
}

struct Bench {
    sources: Sources,
    here: Place,
    default: Place,
}

impl Bench {
    fn new() -> Bench {
        let mut sources = Sources::default();
        let file = sources.add("/etc/containerd/config.toml", Kind::File, "one\ntwo\n");
        let default = sources.add("default:containerd-2.1", Kind::Default, "SystemdCgroup = false");
        let at = |source, start| Place { source, span: Span::new(start, start + 3) };
        Bench { here: at(file, 4), default: at(default, 0), sources }
    }

    fn row(&self, name: &str, driver: InForce) -> Vec<InForce> {
        let columns = |column: &str| match column {
            "name" => said(Value::text(name), Layer::File, self.here),
            "usable" => said(Value::Bool(true), Layer::File, self.here),
            "systemd_cgroup" => driver.clone(),
            _ => InForce::bare(Known::ABSENT),
        };
        let table = names::find("containerd.runtimes").unwrap();
        let crate::fact::Type::Table { columns: declared, .. } = &table.decl().ty else { panic!() };
        declared.iter().map(|c| columns(c.name)).collect()
    }

    fn world(&self, containerd: usize, kubelet: usize, rows: Vec<Vec<InForce>>) -> World {
        let mut facts = Snapshot::unread();
        let set = |facts: &mut Snapshot, name: &str, value| facts.set(names::find(name).unwrap(), value);
        set(&mut facts, "cgroup.mode", InForce::bare(Known::Is(Value::text("v2"))));
        let value = Known::Is(Value::List(Vec::new()));
        let rows = rows.into_iter().map(Arc::new).collect();
        set(&mut facts, "containerd.runtimes", InForce { rows, ..InForce::bare(value) });
        World { containerd, kubelet, facts }
    }
}

fn worlds(worlds: Vec<World>) -> Worlds {
    let names = |of: &str, n: usize| (0..n).map(|i| format!("{of} {i}")).collect();
    Worlds {
        containerd: names("containerd", worlds.iter().map(|w| w.containerd + 1).max().unwrap()),
        kubelet: names("kubelet", worlds.iter().map(|w| w.kubelet + 1).max().unwrap()),
        merged: worlds[0].facts.clone(),
        worlds,
    }
}

fn outcomes(rule: Rule, worlds: &Worlds, sources: &Sources) -> Vec<Outcome> {
    evaluate(&[rule], worlds, worlds, sources).into_iter().map(|v| v.outcome).collect()
}

fn only(outcomes: Vec<Outcome>) -> Finding {
    match <[Outcome; 1]>::try_from(outcomes) {
        Ok([Outcome::Finding(finding)]) => *finding,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_finding_of_one_row_is_written_and_certain() {
    let bench = Bench::new();
    let good = bench.row("runc", said(Value::Bool(true), Layer::File, bench.here));
    let bad = bench.row("crun", said(Value::Bool(false), Layer::File, bench.here));
    let worlds = worlds(vec![bench.world(0, 0, vec![good, bad])]);
    let mut outcomes = outcomes(rule(SAMPLE), &worlds, &bench.sources);
    let finding = only(outcomes.split_off(1));
    assert_eq!(outcomes, [Outcome::Pass]);
    assert_eq!(finding.message, "`crun` on v2");
    assert_eq!((finding.severity, finding.confidence), (Severity::Error, Confidence::Certain));
    assert_eq!(finding.labels.len(), 1, "host.init is unknown: no label");
    assert_eq!(finding.labels[0].place, bench.here);
    assert_eq!(finding.fixes[0].title, "set it for crun");
    let intent = Intent::Set {
        fact: "containerd.runtimes.systemd_cgroup".into(),
        row: Some(1),
        value: Value::Bool(true),
    };
    assert_eq!(finding.fixes[0].intent, Some(intent));
    let facts: Vec<_> = finding.facts.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(
        facts,
        [
            ("containerd.runtimes.name", "crun"),
            ("containerd.runtimes.usable", "true"),
            ("containerd.runtimes.systemd_cgroup", "false"),
        ]
    );
}

#[test]
fn a_default_is_likely_and_shown_beside_its_nearest_place() {
    let bench = Bench::new();
    let mut driver = said(Value::Bool(false), Layer::Default, bench.default);
    driver.by.as_mut().unwrap().near = Some(bench.here);
    let row = bench.row("runc", driver);
    let one = worlds(vec![bench.world(0, 0, vec![row.clone()])]);
    let finding = only(outcomes(rule(SAMPLE), &one, &bench.sources));
    assert_eq!(finding.confidence, Confidence::Likely);
    assert_eq!(finding.certainty, "rests on a documented default: containerd.runtimes.systemd_cgroup");
    assert_eq!(finding.labels[0].place, bench.here);
    assert_eq!(
        (finding.labels[1].place, &*finding.labels[1].text),
        (bench.default, "the default of containerd-2.1")
    );

    let two = worlds(vec![bench.world(0, 0, vec![row.clone()]), bench.world(1, 0, vec![row.clone()])]);
    assert_eq!(only(outcomes(rule(SAMPLE), &two, &bench.sources)).confidence, Confidence::Possible);
    // the kubelet's version has no say in it
    let two = worlds(vec![bench.world(0, 0, vec![row.clone()]), bench.world(0, 1, vec![row])]);
    assert_eq!(only(outcomes(rule(SAMPLE), &two, &bench.sources)).confidence, Confidence::Likely);
}

#[test]
fn worlds_that_disagree_name_those_that_break() {
    let bench = Bench::new();
    let row = |driver: bool| vec![bench.row("runc", said(Value::Bool(driver), Layer::File, bench.here))];
    let mixed = worlds(vec![
        bench.world(0, 0, row(true)),
        bench.world(1, 0, row(false)),
        bench.world(2, 0, Vec::new()),
    ]);
    let outcomes_of = outcomes(rule(SAMPLE), &mixed, &bench.sources);
    let [Outcome::Unknown(missing)] = outcomes_of.as_slice() else { panic!("{outcomes_of:?}") };
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].fact, "containerd.version");
    let why = Why::NeedsVersion { of: "containerd", worlds: vec!["containerd 1".into()] };
    assert_eq!(missing[0].why, why);

    let none = worlds(vec![bench.world(0, 0, row(true)), bench.world(1, 0, Vec::new())]);
    assert_eq!(outcomes(rule(SAMPLE), &none, &bench.sources), [Outcome::Pass]);
}

#[test]
fn an_undecided_severity_is_the_mildest_and_possible() {
    let bench = Bench::new();
    let row = vec![bench.row("runc", said(Value::Bool(false), Layer::File, bench.here))];
    let mut world = bench.world(0, 0, row);
    world.facts.set(names::find("cgroup.mode").unwrap(), InForce::bare(Known::Unknown(Why::Unread)));
    let finding = only(outcomes(rule(SAMPLE), &worlds(vec![world]), &bench.sources));
    assert_eq!((finding.severity, finding.confidence), (Severity::Warning, Confidence::Possible));
    assert_eq!(finding.certainty, "the severity depends on cgroup.mode, which is unknown");
}

#[test]
fn unknown_and_absent_tables_are_told_apart() {
    let bench = Bench::new();
    let table = names::find("containerd.runtimes").unwrap();
    for (value, unknown) in [(Known::ABSENT, false), (Known::Unknown(Why::Unread), true)] {
        let mut world = bench.world(0, 0, Vec::new());
        world.facts.set(table, InForce::bare(value));
        let outcomes = outcomes(rule(SAMPLE), &worlds(vec![world]), &bench.sources);
        assert_eq!(outcomes.len(), 1);
        assert_eq!(matches!(outcomes[0], Outcome::Unknown(_)), unknown);
        assert_eq!(outcomes[0] == Outcome::NotApplicable, !unknown);
    }
    assert_eq!(
        outcomes(rule(SAMPLE), &worlds(vec![bench.world(0, 0, Vec::new())]), &bench.sources),
        [Outcome::NotApplicable]
    );
}

#[test]
fn rows_that_lack_the_same_fact_say_it_once() {
    let bench = Bench::new();
    let unread = || InForce::bare(Known::Unknown(Why::Unread));
    let row = |name: &str| bench.row(name, unread());
    let world = bench.world(
        0,
        0,
        vec![row("a"), bench.row("b", said(Value::Bool(true), Layer::File, bench.here)), row("c")],
    );
    let outcomes = outcomes(rule(SAMPLE), &worlds(vec![world]), &bench.sources);
    let missing = Missing { fact: "containerd.runtimes.systemd_cgroup".into(), why: Why::Unread };
    assert_eq!(outcomes, [Outcome::Unknown(vec![missing]), Outcome::Pass]);
}

#[test]
fn elements_of_a_list_are_shown_each_at_its_place() {
    let text = SAMPLE.replace("each = \"containerd.runtimes\"\n", "");
    let start = text.find("given").unwrap();
    let end = text.find("[[example]]").unwrap();
    let law = r#"at = "next-start"
expect = '!("b" in cgroup.top)'
message = "${cgroup.top}"
[[label]]
fact = "cgroup.top"
show = ["b"]
text = "this"
"#;
    let rule = rule(&format!("{}{law}{}", &text[..start], &text[end..]));
    let bench = Bench::new();
    let at = |start| Place { source: bench.here.source, span: Span::new(start, start + 1) };
    let item =
        |text: &str, start| Said { value: Value::text(text), origin: Origin::new(Layer::Runtime, at(start)) };
    let mut next = bench.world(0, 0, Vec::new());
    let value = Known::Is(Value::List(vec![Value::text("a"), Value::text("b")]));
    let list = InForce { elements: vec![item("a", 0), item("b", 4)], ..InForce::bare(value) };
    next.facts.set(names::find("cgroup.top").unwrap(), list);
    let now = worlds(vec![bench.world(0, 0, Vec::new())]);
    let verdicts = evaluate(&[rule], &now, &worlds(vec![next]), &bench.sources);
    assert_eq!(verdicts[0].read, ["cgroup.top"]);
    let finding = only(verdicts.into_iter().map(|v| v.outcome).collect());
    assert_eq!(finding.message, "a, b");
    assert_eq!(finding.labels.iter().map(|l| l.place).collect::<Vec<_>>(), [at(4)]);
}
