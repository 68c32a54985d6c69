use super::super::check::Home;
use super::{load, load_all};

const GOOD: &str = r#"
summary = "the kubelet and containerd disagree"
severity = "error"
given = 'has(kubelet.cgroup_driver)'
expect = 'kubelet.cgroup_driver == containerd.cgroup_driver'
message = "the kubelet uses ${kubelet.cgroup_driver}"
[[label]]
fact = "kubelet.cgroup_driver"
text = "${kubelet.cgroup_driver}"
[[fix]]
title = "follow"
set = "containerd.cgroup_driver"
to = "systemd"
safety = "unsafe"
reason = "pods stay"
[[example]]
name = "differ"
expect = "finding"
[example.facts]
kubelet.cgroup_driver = "systemd"
containerd.cgroup_driver = "cgroupfs"
[[example]]
name = "agree"
expect = "pass"
[example.facts]
kubelet.cgroup_driver = "systemd"
containerd.cgroup_driver = "systemd"
"#;

fn errors(text: &str) -> Vec<String> {
    let errors = load("rules.d/AB101-some-name.toml", text, Home::User).expect_err(text);
    errors.iter().map(ToString::to_string).collect()
}

/// What is replaced in the good rule, by what, and the error.
const WRONG: &[(&str, &str, &str)] = &[
    ("summary =", "sumary =", "2:1: unknown key `sumary` in a rule; did you mean `summary`? known: summary,"),
    (
        "\"error\"",
        "\"eror\"",
        "3:12: `eror` is not a value of `severity` (error, warning, note); did you mean `error`?",
    ),
    ("\"error\"", "[{ is = \"error\" }, { is = \"note\" }]", "3:13: only the last case"),
    ("\"error\"", "[{ is = \"error\", when = 'has(a.b)' }]", "3:41: no fact `a.b`"),
    (
        "has(kubelet.cgroup_driver)",
        "has(kubelet.cgroop_driver)",
        "4:14: no fact `kubelet.cgroop_driver`; did you mean",
    ),
    ("'has(kubelet.cgroup_driver)'", "'''\nhas(nix.da)'''", "5:5: no fact `nix.da`"),
    ("'has(kubelet.cgroup_driver)'", "\"\\u0068as(a.b)\"", "4:9: write an expression between '…'"),
    ("'has(kubelet.cgroup_driver)'", "'kubelet.version'", "4:10: a condition is true or false"),
    ("uses ${kubelet", "uses ${kublet", "6:31: no fact `kublet.cgroup_driver`; did you mean"),
    ("uses ${kubelet.cgroup_driver}", "uses ${kubelet", "6:29: no `}` closes this"),
    (
        "fact = \"kubelet.cgroup_driver\"",
        "fact = \"host.init\"",
        "8:8: the first label names a fact that `expect` reads",
    ),
    (
        "fact = \"kubelet.cgroup_driver\"",
        "fact = \"host.init\"\nshow = [\"a\"]",
        "9:9: `show` picks elements",
    ),
    (
        "set = \"containerd.cgroup_driver\"",
        "set = \"host.init\"",
        "12:7: nothing says where `host.init` is written",
    ),
    ("to = \"systemd\"", "to = \"systmd\"", "13:6: `systmd` is not a value of `containerd.cgroup_driver`"),
    ("to = \"systemd\"", "to = true", "13:6: `containerd.cgroup_driver` does not take true or false"),
    ("to = \"systemd\"\n", "", "10:1: `set` and `move` need `to`"),
    ("set = ", "remove = \"containerd.cgroup_driver\"\nset = ", "a fix does one of"),
    ("safety = \"unsafe\"\n", "", "10:1: a fix says its `safety`"),
    ("reason = \"pods stay\"\n", "", "10:1: a fix that is not safe gives a `reason`"),
    ("\"unsafe\"", "\"manual\"", "10:1: a manual fix changes nothing itself"),
    ("expect = \"finding\"", "expect = \"find\"", "18:10: `find` is not a value of `expect`"),
    ("expect = \"finding\"", "expect = \"unknown\"", "1:1: no [[example]] expects a finding"),
    ("expect = \"pass\"", "expect = \"finding\"", "1:1: no [[example]] expects `pass`"),
    (
        "containerd.cgroup_driver = \"cgroupfs\"",
        "containerd.cgroup_drivr = \"cgroupfs\"",
        "21:12: no fact `containerd.cgroup_drivr`; did",
    ),
    (
        "containerd.cgroup_driver = \"cgroupfs\"",
        "containerd.cgroup_driver = \"nix\"",
        "21:28: `nix` is not a value",
    ),
    (
        "containerd.cgroup_driver = \"cgroupfs\"",
        "containerd.cgroup_driver = 1",
        "21:28: `containerd.cgroup_driver` is not an integer",
    ),
    (
        "containerd.cgroup_driver = \"cgroupfs\"",
        "containerd.version = \"two\"",
        "21:22: `two` is not a version",
    ),
    (
        "containerd.cgroup_driver = \"cgroupfs\"",
        "containerd.runtimes = [{ nme = \"a\" }]",
        "21:26: `containerd.runtimes` has no column `nme`; did you mean `name`?",
    ),
    (
        "given =",
        "each = \"containerd.runtime\"\ngiven =",
        "4:8: no fact `containerd.runtime`; did you mean `containerd.runtimes`?",
    ),
    ("given =", "each = \"host.init\"\ngiven =", "4:8: `host.init` is not a table"),
    ("given =", "links = [\"http://x\"]\ngiven =", "4:10: a link begins with https://"),
    ("given =", "at = \"later\"\ngiven =", "4:6: `later` is not a value of `at` (now, next-start)"),
    ("given =", "given =\ngiven =", "4:"),
];

#[test]
fn the_good_rule_is_good() {
    let loaded = load("AB101-some-name.toml", GOOD, Home::User).unwrap();
    let rule = loaded.rule.unwrap();
    assert_eq!((rule.code.as_str(), rule.name.as_str()), ("AB101", "some-name"));
}

#[test]
fn errors_stand_at_their_line_and_column() {
    let mut failed = Vec::new();
    for (from, to, expected) in WRONG {
        assert!(GOOD.contains(from), "{from}");
        let errors = errors(&GOOD.replacen(from, to, 1));
        if !errors.iter().any(|e| e.contains(expected)) {
            failed.push(format!("{to}: expected {expected}, got {errors:#?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn all_errors_are_said_at_once_in_order() {
    let text =
        GOOD.replace("summary", "summry").replace("has(kub", "has(kxb").replace("uses ${k", "uses ${x");
    let errors = errors(&text);
    let lines: Vec<&str> = errors.iter().map(|e| e.split(':').nth(1).unwrap()).collect();
    assert_eq!(lines, ["1", "2", "4", "6"], "{errors:#?}");
}

#[test]
fn a_text_that_is_no_toml_says_nothing_else() {
    let errors = errors(&GOOD.replace("[[label]]", "[[label]\nx = = 1"));
    assert_eq!(errors.len(), 2, "{errors:#?}");
    assert!(errors[0].contains(":7:9: ") && errors[1].contains(":8:5: "), "{errors:#?}");
}

#[test]
fn the_file_name_is_the_identity() {
    for (path, home, good) in [
        ("/etc/AB101-x.toml", Home::User, true),
        ("ABCDEFGH101-x-y2.toml", Home::User, true),
        ("NVX101-x.toml", Home::User, true),
        ("NV101-x.toml", Home::User, false),
        ("AB101-x.toml", Home::BuiltIn, false),
        ("A101-x.toml", Home::User, false),
        ("AB1011-x.toml", Home::User, false),
        ("AB10-x.toml", Home::User, false),
        ("ab101-x.toml", Home::User, false),
        ("AB101.toml", Home::User, false),
        ("AB101-X.toml", Home::User, false),
        ("AB101-x--y.toml", Home::User, false),
    ] {
        assert_eq!(load(path, GOOD, home).is_ok(), good, "{path}");
    }
}

#[test]
fn codes_and_names_are_used_once() {
    let (loaded, errors) = load_all(
        [("AB101-x.toml", GOOD), ("AB101-y.toml", GOOD), ("AB102-x.toml", GOOD), ("AB103-z.toml", GOOD)],
        Home::User,
    );
    assert_eq!((loaded.len(), errors.len()), (2, 2));
    assert_eq!(errors[0].to_string(), "AB101-y.toml:1:1: `AB101 x` is taken by AB101-x.toml");
}

#[test]
fn a_built_in_edit_is_proved() {
    let errors = load("NV101-x.toml", GOOD, Home::BuiltIn).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.contains("`files` and `fixed`"));
}

#[test]
fn a_removed_rule_needs_no_law() {
    let loaded = load("NV999-gone.toml", "removed = \"it was wrong\"", Home::BuiltIn).unwrap();
    assert!(loaded.rule.is_none());
    assert!(loaded.explain().contains("removed: it was wrong"));
}

#[test]
fn what_the_program_finds_itself_has_no_law() {
    let made = "summary = \"s\"\nseverity = \"note\"\nmade_by = \"suppression\"\nexplain = \"why\"\n";
    let loaded = load("NV999-x.toml", made, Home::BuiltIn).unwrap();
    assert!(loaded.rule.is_none() && loaded.file.removed.is_none());
    assert!(loaded.explain().contains("made by   suppression\n\nwhy\n"), "{}", loaded.explain());
    let says = |text: &str, home| {
        let path = if home == Home::User { "AB999-x.toml" } else { "NV999-x.toml" };
        load(path, text, home).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(says(made, Home::User), ["AB999-x.toml:3:11: only built-in rules are `made_by` the program"]);
    let errors = says(&made.replace("supp", "sup"), Home::BuiltIn);
    assert!(errors[0].contains("did you mean `suppression`?"), "{errors:?}");
    assert_eq!(
        says(&made.replace("explain", "#"), Home::BuiltIn),
        ["NV999-x.toml:1:1: a rule has no `explain`"]
    );
    for law in ["expect = 'true'", "message = \"m\"", "[[label]]\nfact = \"host.init\"\ntext = \"t\""] {
        let errors = says(&format!("{made}{law}\n"), Home::BuiltIn);
        assert!(errors.len() == 1 && errors[0].contains("has no law"), "{law}: {errors:?}");
    }
}
