//! What is printed of findings, byte for byte: `tests/snapshots/report/*.txt`. `UPDATE=1` rewrites them.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use nodevet::config::Config;
use nodevet::config::select::{RuleName, Selection};
use nodevet::fact::{Fact, Known, Layer, Origin, Said, Value, Why};
use nodevet::finding::{
    Confidence, Edit, Finding, Fix, Label, Missing, Op, Outcome, Safety, Severity, Verdict,
};
use nodevet::report::facts::{Facts, select};
use nodevet::report::schema::schema;
use nodevet::report::{Detail, Format, Report, Style, trouble};
use nodevet::resolve::{Collected, Variant, When, resolve};
use nodevet::suppress::{Means, apply};
use nodevet::text::{Kind, Place, SourceId, Sources, Span};
use serde_json::Value as Json;

const FANCY: Style = Style { color: false, unicode: true, width: 100, detail: Detail::Normal };

const CONTAINERD: &str = "version = 3\r\n# é: größer\r\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\r\n\t\"é\" = 1; SystemdCgroup = false # \u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\r\n";
const KUBELET: &str = "kind: KubeletConfiguration\ncgroupDriver: systemd\n";

fn snapshot(name: &str, got: &str) {
    let path = format!("{}/tests/snapshots/report/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == expected, "{name} differs from {path}; got:\n{got}");
}

/// The place of the first `needle`.
fn at(sources: &Sources, source: SourceId, needle: &str) -> Place {
    let start = sources.get(source).text.find(needle).unwrap();
    Place { source, span: Span::new(start, start + needle.len()) }
}

fn label(place: Place, text: &str) -> Label {
    Label { place, text: text.into() }
}

fn finding(code: &str, name: &str, severity: Severity, message: &str, labels: Vec<Label>) -> Finding {
    Finding {
        code: code.into(),
        name: name.into(),
        severity,
        confidence: Confidence::Certain,
        certainty: "both values are written in files and no later layer overrides them".into(),
        message: message.into(),
        labels,
        fixes: vec![],
        facts: vec![("containerd.cgroup_driver".into(), "cgroupfs".into())],
    }
}

fn verdict(code: &str, name: &str, outcome: Outcome) -> Verdict {
    Verdict { code: code.into(), name: name.into(), outcome, read: vec!["host.init".into()] }
}

fn found(finding: Finding) -> Verdict {
    verdict(&finding.code.clone(), &finding.name.clone(), Outcome::Finding(Box::new(finding)))
}

/// Two files, one finding; a second one with a default; an unknown rule; one that passed.
fn node() -> (Sources, Vec<Verdict>) {
    let mut sources = Sources::default();
    let containerd = sources.add("/etc/containerd/config.toml", Kind::File, CONTAINERD);
    let kubelet = sources.add("/var/lib/kubelet/config.yaml", Kind::File, KUBELET);
    let default =
        sources.add("default:containerd-2.1", Kind::Default, "sandbox = 'registry.k8s.io/pause:3.10'\n");
    let mut mismatch = finding(
        "NV101",
        "cgroup-driver-mismatch",
        Severity::Error,
        "the kubelet uses the systemd cgroup driver, containerd uses cgroupfs",
        vec![
            label(at(&sources, containerd, "false"), "runc containers are placed by containerd itself"),
            label(at(&sources, kubelet, "systemd"), "pod cgroups are requested from systemd"),
        ],
    );
    mismatch.fixes = vec![
        Fix {
            title: "drain the node, then set both by hand".into(),
            safety: Safety::Manual,
            reason: None,
            row: None,
            intent: None,
            edits: vec![],
            after: vec![],
        },
        Fix {
            title: "make containerd follow the kubelet".into(),
            safety: Safety::Unsafe,
            reason: Some("running pods keep the old cgroup paths until the node is drained".into()),
            row: None,
            intent: None,
            edits: vec![Edit {
                source: containerd,
                op: Op::Set(
                    ["plugins", "io.containerd.cri.v1.runtime", "SystemdCgroup"].map(str::to_owned).to_vec(),
                    Value::Bool(true),
                ),
            }],
            after: vec!["kubectl drain $NODE".into(), "systemctl restart containerd kubelet".into()],
        },
    ];
    let mut pause = finding(
        "NV310",
        "sandbox-image-outdated",
        Severity::Warning,
        "containerd 2.1 starts pods with registry.k8s.io/pause:3.10, kubeadm 1.35 pulls 3.11",
        vec![
            label(at(&sources, containerd, "[plugins"), "nothing is said in this table"),
            label(at(&sources, default, "'registry.k8s.io/pause:3.10'"), "the default"),
        ],
    );
    pause.confidence = Confidence::Likely;
    pause.certainty = "assumed: the default of containerd 2.1".into();
    let missing = |fact: &str, why| Missing { fact: fact.into(), why };
    let denied = Why::Denied("/var/lib/kubelet/config.yaml".into());
    let version =
        Why::NeedsVersion { of: "kubelet", worlds: vec!["1.30: false".into(), "1.34: true".into()] };
    let verdicts = vec![
        verdict(
            "NV205",
            "kubepods-missing",
            Outcome::Unknown(vec![missing("kubelet.cgroup_driver", denied.clone())]),
        ),
        found(pause),
        found(mismatch),
        verdict("NV402", "swap-on", Outcome::Unknown(vec![missing("kubelet.cgroup_driver", denied)])),
        verdict(
            "NV403",
            "driver-from-cri",
            Outcome::Unknown(vec![missing("kubelet.cgroup_driver", version)]),
        ),
        verdict("NV201", "two-kubepods-trees", Outcome::Pass),
        verdict("NV202", "no-controllers", Outcome::NotApplicable),
    ];
    (sources, verdicts)
}

fn printed(report: &Report<'_>, format: &str, style: &Style) -> String {
    let mut out = Vec::new();
    Format::named(format).unwrap().print(report, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_finding_in_two_files_is_one() {
    let (sources, verdicts) = node();
    let mut report = Report::new(&sources, verdicts, vec![]);
    report.node = vec!["containerd 2.1.9, kubelet 1.34.2, systemd 257, cgroup v2".into()];
    snapshot("two-files", &printed(&report, "text", &FANCY));
    snapshot("two-files-ascii", &printed(&report, "text", &Style { unicode: false, ..FANCY }));
    snapshot("two-files-color", &printed(&report, "text", &Style { color: true, ..FANCY }));
    snapshot(
        "two-files-quiet-narrow",
        &printed(&report, "text", &Style { width: 60, detail: Detail::Findings, ..FANCY }),
    );
    snapshot("two-files-verbose", &printed(&report, "text", &Style { detail: Detail::Verbose, ..FANCY }));
    snapshot("two-files-short", &printed(&report, "short", &FANCY));
    snapshot("two-files-json", &printed(&report, "json", &FANCY));
}

#[test]
fn nothing_a_terminal_obeys_gets_out() {
    let (sources, mut verdicts) = node();
    let evil = at(&sources, sources.iter().next().unwrap().0, "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}");
    let text = "value \u{1b}[2J\u{85}\n\u{2066}";
    verdicts.push(found(finding("NV999", "evil", Severity::Note, text, vec![label(evil, text)])));
    verdicts.push(verdict(
        "NV998",
        "evil",
        Outcome::Unknown(vec![Missing { fact: "x".into(), why: Why::Denied(text.into()) }]),
    ));
    let mut report = Report::new(&sources, verdicts, vec![]);
    report.notes = vec![text.into()];
    let bad = |c: &char| c.is_control() && *c != '\n' || ['\u{202e}', '\u{2066}'].contains(c);
    for format in Format::names() {
        for style in [FANCY, Style { unicode: false, ..FANCY }] {
            let out = printed(&report, format, &style);
            assert_eq!(out.chars().find(bad), None, "{format}: {out}");
            assert!(style.unicode || format == "json" || out.is_ascii(), "{format}: {out}");
        }
    }
    let json: Json = serde_json::from_str(&printed(&report, "json", &FANCY)).unwrap();
    assert_eq!(json["notes"][0], text, "the value itself is kept");
    snapshot("evil", &printed(&report, "text", &FANCY));
}

#[test]
fn odd_places_are_drawn() {
    let mut sources = Sources::default();
    let empty = sources.add("/empty", Kind::File, "");
    let end = sources.add("/end", Kind::File, "a = \n");
    let long = format!(
        "{{\"pad\":\"{}\",\"cgroupDriver\":\"cgroupfs\",\"x\":\"{}\"}}",
        "é".repeat(4000),
        "y".repeat(4000)
    );
    let huge = sources.add("/huge.json", Kind::File, long);
    let lines = sources.add("/lines", Kind::File, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    let wide = sources.add("/wide", Kind::File, "\t名前 = \"値\"\t# e\u{301}\n");
    let span = |source, start, end| Place { source, span: Span::new(start, end) };
    let labels = vec![
        label(span(end, 5, 5), "expected a value"),
        label(span(empty, 0, 0), "empty"),
        label(at(&sources, huge, "cgroupfs"), "here"),
        label(at(&sources, huge, "\"x\""), "far from the end"),
        label(at(&sources, huge, "pad"), "far away"),
        label(at(&sources, lines, "two\nthree"), "over two lines"),
        label(at(&sources, lines, "four"), ""),
        label(at(&sources, lines, "seven"), "the last"),
        label(at(&sources, lines, "seven"), "again"),
        label(at(&sources, wide, "値"), "wide"),
        label(span(end, 900, 901), "past the end"),
    ];
    let report = Report::new(
        &sources,
        vec![found(finding("NV904", "odd", Severity::Note, "odd places", labels))],
        vec![],
    );
    snapshot("odd-places", &printed(&report, "text", &FANCY));
    snapshot("odd-places-ascii", &printed(&report, "text", &Style { unicode: false, width: 60, ..FANCY }));
    check("check", &printed(&report, "json", &FANCY));
}

#[test]
fn endings_say_what_is_true() {
    let sources = Sources::default();
    let pass = || verdict("NV101", "cgroup-driver-mismatch", Outcome::Pass);
    let not = || verdict("NV102", "cgroupfs-on-systemd-host", Outcome::NotApplicable);
    let mut all = printed(&Report::new(&sources, vec![pass(), not()], vec![]), "text", &FANCY);
    let mut none = Report::new(&sources, vec![not()], vec![]);
    none.kubernetes = false;
    all += &printed(&none, "text", &FANCY);
    let why = Why::NotRunning("containerd".into());
    let unknown =
        verdict("NV103", "x", Outcome::Unknown(vec![Missing { fact: "containerd.version".into(), why }]));
    all += &printed(&Report::new(&sources, vec![pass(), unknown], vec![]), "text", &FANCY);
    snapshot("endings", &all);
}

/// Counts lines and columns anew, from the text alone.
fn slice_at(text: &str, line: u64, column: u64, end_line: u64, end_column: u64) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    assert_eq!(line, end_line);
    let (from, to) = (column as usize - 1, end_column as usize - 1);
    lines[line as usize - 1].chars().skip(from).take(to - from).collect()
}

#[test]
fn lines_and_columns_are_where_the_text_stands() {
    let (sources, verdicts) = node();
    let report = Report::new(&sources, verdicts, vec![]);
    let json: Json = serde_json::from_str(&printed(&report, "json", &FANCY)).unwrap();
    let mut seen = Vec::new();
    for finding in json["findings"].as_array().unwrap() {
        for l in finding["labels"].as_array().unwrap() {
            let (_, source) = sources.iter().find(|(_, s)| s.name == l["source"]).unwrap();
            let n = |key: &str| l[key].as_u64().unwrap();
            seen.push(slice_at(&source.text, n("line"), n("column"), n("end_line"), n("end_column")));
            let place = format!("{}:{}:{}", source.name, n("line"), n("column"));
            assert!(printed(&report, "text", &FANCY).contains(&format!("[{place}]")), "{place}");
        }
        let (first, code) = (&finding["labels"][0], finding["code"].as_str().unwrap());
        let short =
            format!("{}:{}:{}: {code} ", first["source"].as_str().unwrap(), first["line"], first["column"]);
        assert!(printed(&report, "short", &FANCY).contains(&short), "{short}");
    }
    assert_eq!(seen, ["false", "systemd", "[plugins", "'registry.k8s.io/pause:3.10'"]);
}

/// Checks a document against its schema, then that the schema refuses an unknown key in every object.
fn check(name: &str, document: &str) {
    let schema: Json = serde_json::from_str(schema(name).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document: Json = serde_json::from_str(document).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    let mut pointers = Vec::new();
    objects(&document, String::new(), &mut pointers);
    for pointer in pointers {
        let mut changed = document.clone();
        let object = changed.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
        object.insert("Surplus".into(), Json::Null);
        assert!(!validator.is_valid(&changed), "{name}: an unknown key at `{pointer}` is accepted");
    }
}

fn objects(json: &Json, at: String, out: &mut Vec<String>) {
    match json {
        Json::Object(map) => {
            map.iter().for_each(|(key, value)| objects(value, format!("{at}/{key}"), out));
            out.push(at);
        }
        Json::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| objects(value, format!("{at}/{i}"), out));
        }
        _ => {}
    }
}

const RULES: [RuleName<'static>; 3] = [
    RuleName { code: "NV101", name: "cgroup-driver-mismatch" },
    RuleName { code: "NV901", name: "unused-suppression" },
    RuleName { code: "NV310", name: "sandbox-image-outdated" },
];

#[test]
fn suppressed_findings_stay_in_the_document() {
    let (mut sources, verdicts) = node();
    let text = "[[ignore]]\nrule = 'NV310'\nreason = 'registry mirror'\nuntil = 2027-03-01\n[[ignore]]\nrule = 'NV111'\n";
    let config = Config::parse(text).unwrap();
    let id = sources.add("/etc/nodevet.toml", Kind::File, text);
    let selection = Selection::default();
    let means =
        Means { config: Some((id, &config.silenced)), rules: &RULES, selection: &selection, now: Some(0) };
    let (verdicts, suppressed) = apply(verdicts, &sources, &means);
    let report = Report::new(&sources, verdicts, suppressed);
    check("check", &printed(&report, "json", &FANCY));
    let json: Json = serde_json::from_str(&printed(&report, "json", &FANCY)).unwrap();
    assert_eq!(json["suppressed"][0]["code"], "NV310");
    assert_eq!(json["suppressed"][0]["until"], "2027-03-01");
    let last = &json["findings"][1];
    assert_eq!((&last["code"], &last["labels"][0]["line"]), (&"NV901".into(), &6.into()));
    snapshot("suppressed", &printed(&report, "text", &Style { detail: Detail::Verbose, ..FANCY }));
}

/// A node whose containerd may be of two generations.
fn collected() -> Collected {
    let mut collected = Collected::default();
    let file = collected.sources.add("/etc/containerd/config.toml", Kind::File, CONTAINERD);
    let default = collected.sources.add("default:containerd-2.1", Kind::Default, "SystemdCgroup = true\n");
    let listing = collected.sources.add("/sys/fs/cgroup", Kind::Listing, "kubepods\nkubepods.slice\n");
    let said = |value: Value, layer, needle: &str, source| Said {
        value,
        origin: Origin::new(layer, at(&collected.sources, source, needle)),
    };
    let cell = |value: Value, needle: &str| Known::Is(vec![said(value, Layer::File, needle, file)]);
    let driver = vec![
        said(Value::Bool(true), Layer::Default, "true", default),
        said(Value::Bool(false), Layer::File, "false", file),
    ];
    let top = vec![
        said(Value::text("kubepods"), Layer::Runtime, "kubepods", listing),
        said(Value::text("kubepods.slice"), Layer::Runtime, "kubepods.slice", listing),
    ];
    let rows = vec![vec![("name", cell(Value::text("runc"), "runc")), ("systemd_cgroup", Known::Is(driver))]];
    let one = |name, value| {
        Fact::is(name, value, Origin::new(Layer::Runtime, at(&collected.sources, listing, "kubepods")))
    };
    let facts = vec![
        Fact::each("cgroup.top", Known::Is(top)),
        one("host.now", Value::Int(1_796_083_200)),
        one("cgroup.kubepods_populated", Value::Bool(true)),
        Fact::one("host.kernel", Known::Unknown(Why::Denied("/proc/version".into()))),
        Fact::one("host.virtualization", Known::Absent("bare metal".into())),
        Fact::rows("containerd.runtimes", Known::Is(rows)),
    ];
    let variant = |name: &str, version: i64| Variant {
        name: name.into(),
        facts: vec![Fact::is(
            "containerd.config_version",
            Value::Int(version),
            Origin::new(Layer::File, at(&collected.sources, file, "3")),
        )],
    };
    let containerd = vec![variant("containerd 1.7", 2), variant("containerd 2.x", 3)];
    Collected { facts, containerd, ..collected }
}

#[test]
fn facts_say_where_they_come_from() {
    let collected = collected();
    let worlds = resolve(&collected, When::Now, |_| {});
    let names = [
        "cgroup.top",
        "host.now",
        "host.kernel",
        "host.virtualization",
        "cgroup.kubepods_populated",
        "containerd.runtimes",
        "containerd.config_version",
    ];
    let chosen = select(&names.map(str::to_owned)).unwrap();
    let facts = Facts { sources: &collected.sources, worlds: &worlds, chosen: &chosen };
    let text = |style: &Style| {
        let mut out = Vec::new();
        facts.print_text(style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    snapshot("facts", &text(&FANCY));
    snapshot("facts-verbose", &text(&Style { detail: Detail::Verbose, ..FANCY }));
    let mut out = Vec::new();
    facts.print_json(&mut out).unwrap();
    let json: Json = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["facts"]["host.now"]["value"], 1_796_083_200);
    assert_eq!(json["facts"]["containerd.runtimes"]["value"], serde_json::json!(["runc"]));
    let driver = &json["facts"]["containerd.runtimes"]["rows"][0]["systemd_cgroup"];
    assert_eq!((&driver["value"], &driver["overridden"][0]["value"]), (&false.into(), &true.into()));
    assert_eq!((&driver["origin"]["line"], &driver["origin"]["column"]), (&4.into(), &27.into()));
    assert_eq!(json["facts"]["cgroup.top"]["elements"][1]["origin"]["line"], 2);
    assert_eq!(json["facts"]["containerd.config_version"]["worlds"][1]["value"], 3);
    check("facts", &String::from_utf8(out).unwrap());
}

#[test]
fn trouble_of_the_tool_has_the_same_look() {
    let text = "select = ['NV1']\nselct = []\n";
    let mistake = Config::parse(text).unwrap_err();
    let help = "see `nodevet check --help`";
    snapshot(
        "trouble",
        &trouble("/etc/nodevet.toml", text, mistake.span, &mistake.message, Some(help), &FANCY),
    );
}

mod any_input {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_label_of_any_text_is_drawn_at_its_place(
            text in "(\\PC|[ab\t\r\n\u{1b}\u{9b}\u{202e}é値]){0,60}",
            spans in proptest::collection::vec((0usize..80, 0usize..80), 1..4),
            unicode: bool,
            width in 40usize..120,
        ) {
            let mut sources = Sources::default();
            let source = sources.add("/f", Kind::File, text);
            let labels: Vec<Label> = spans
                .into_iter()
                .map(|(start, length)| label(Place { source, span: Span::new(start, start + length) }, "here"))
                .collect();
            let first = sources.position(labels[0].place);
            let report = Report::new(&sources, vec![found(finding("NV904", "odd", Severity::Note, "odd", labels))], vec![]);
            let drawn = printed(&report, "text", &Style { unicode, width, ..FANCY });
            let place = format!("[/f:{}:{}]", first.line, first.column);
            prop_assert!(drawn.contains(&place), "{place} is not in {drawn}");
            prop_assert!(drawn.contains("here"), "{drawn}");
            prop_assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
            prop_assert!(unicode || drawn.is_ascii(), "{drawn}");
        }

        #[test]
        fn any_comment_and_any_configuration_is_taken(text in "(# ?nodevet: ?(ignore)?|NV[0-9]|,|'|\"|\\[|\\]|=|\\PC|\\n){0,30}") {
            let mut sources = Sources::default();
            let id = sources.add("/f", Kind::File, text.clone());
            let config = Config::parse(&text).unwrap_or_else(|mistake| {
                assert!(mistake.span.end <= text.len() && !mistake.message.is_empty(), "{mistake:?}");
                Config::default()
            });
            let selection = Selection::default();
            let means = Means { config: Some((id, &config.silenced)), rules: &RULES, selection: &selection, now: None };
            let (kept, _) = apply(vec![], &sources, &means);
            for verdict in kept {
                let Outcome::Finding(finding) = verdict.outcome else { continue };
                prop_assert!(!sources.slice(finding.labels[0].place).is_empty(), "{finding:?}");
            }
        }
    }
}
