//! Properties of containerd's model: no configuration makes it panic, every place lies in its text,
//! and the answer does not depend on what was asked before.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod memory;

use memory::Memory;
use nodevet::fact::{Decl, Fact, Known, Layer, Statements, Type, Value, What, Why};
use nodevet::model::containerd::{Effective, Input, Session, effective, generation, worlds};
use nodevet::names;
use nodevet::text::Kind;
use proptest::prelude::*;

const MAIN: &str = "/etc/containerd/config.toml";

fn ask(g: &'static generation::Generation, memory: &mut Memory, session: &mut Session) -> Effective {
    effective(g, &input(), memory, session)
}

fn input() -> Input<'static> {
    Input {
        main: MAIN,
        main_given: true,
        systemd_running: Known::Is(true),
        cgroup_mode: Known::Unknown(Why::Unread),
    }
}

fn statements(facts: &[Fact]) -> Vec<&Statements> {
    facts
        .iter()
        .flat_map(|f| match &f.what {
            What::One(said) | What::Each(said) => vec![said],
            What::Rows(Known::Is(rows)) => rows.iter().flat_map(|row| &**row).map(|(_, said)| said).collect(),
            What::Rows(_) => Vec::new(),
        })
        .collect()
}

/// Whether a value is of a declared type; an element for a list.
fn fits(ty: &Type, value: &Value) -> bool {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::Int, Value::Int(_)) | (Type::Text, Value::Text(_)) => true,
        (Type::OneOf(set), Value::Text(t)) => set.contains(&&**t),
        (Type::List(inner), value) => fits(inner, value),
        _ => false,
    }
}

/// Names and values that nobody declared.
fn undeclared(facts: &[Fact]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |decl: &Decl, said: &Statements| {
        for s in said.is().into_iter().flatten().filter(|s| !fits(&decl.ty, &s.value)) {
            wrong.push(format!("{} = {:?}", decl.name, s.value));
        }
    };
    for fact in facts {
        let Some(id) = names::find(fact.name) else { return vec![fact.name.to_owned()] };
        match &fact.what {
            What::One(said) | What::Each(said) => check(id.decl(), said),
            What::Rows(Known::Is(rows)) => {
                for (column, said) in rows.iter().flat_map(|row| &**row) {
                    match names::column(id, column) {
                        Some((_, decl)) => check(decl, said),
                        None => return vec![format!("{}.{column}", fact.name)],
                    }
                }
            }
            What::Rows(_) => {}
        }
    }
    wrong
}

fn one<'a>(facts: &'a [Fact], name: &str) -> Option<&'a Statements> {
    facts.iter().find(|f| f.name == name).and_then(|f| match &f.what {
        What::One(said) => Some(said),
        _ => None,
    })
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("1".to_owned()),
        Just("-1".to_owned()),
        Just("2.5".to_owned()),
        Just("''".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("['x']".to_owned()),
        Just("[1, 'x']".to_owned()),
        Just("{ a = 1, SystemdCgroup = true }".to_owned()),
        Just("'runc'".to_owned()),
        Just("'io.containerd.runc.v2'".to_owned()),
        Just("'io.containerd.runtime.v1.linux'".to_owned()),
        Just("'io.containerd.kata.v2'".to_owned()),
        Just("2001-01-01".to_owned()),
        "'[a-z.]{0,8}'",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("SystemdCgroup".to_owned()),
        Just("systemdCgroup".to_owned()),
        Just("SystemdCGroup".to_owned()),
        Just("systemd_cgroup".to_owned()),
        Just("BinaryName".to_owned()),
        Just("runtime_type".to_owned()),
        Just("Runtime_Type".to_owned()),
        Just("options".to_owned()),
        Just("sandbox_image".to_owned()),
        Just("default_runtime_name".to_owned()),
        Just("runtimes".to_owned()),
        Just("containerd".to_owned()),
        Just("pinned_images".to_owned()),
        Just("sandbox_mode".to_owned()),
        Just("bin_dir".to_owned()),
        "[a-z_]{1,6}",
    ]
}

fn header() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just("cri"),
        Just("'io.containerd.grpc.v1.cri'"),
        Just("\"io.containerd.cri.v1.runtime\""),
        Just("'io.containerd.cri.v1.images'"),
        Just("'io.containerd.gc.v1.scheduler'"),
        Just("x"),
    ];
    let tail = prop_oneof![
        Just(""),
        Just(".containerd"),
        Just(".cni"),
        Just(".pinned_images"),
        Just(".registry.mirrors.'docker.io'"),
        Just(".containerd.default_runtime"),
        Just(".containerd.default_runtime.options"),
        Just(".containerd.runtimes"),
        Just(".containerd.runtimes.runc"),
        Just(".containerd.runtimes.runc.options"),
        Just(".containerd.runtimes.crun"),
        Just(".containerd.runtimes.crun.options"),
    ];
    let plugins = prop_oneof![9 => Just("plugins"), 1 => Just("Plugins")];
    (plugins, id, tail).prop_map(|(p, id, tail)| format!("[{p}.{id}{tail}]\n"))
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (key(), value()).prop_map(|(k, v)| format!("{k} = {v}\n")),
        4 => header(),
        1 => "[ -~]{0,12}\n",
    ]
}

fn top() -> impl Strategy<Value = String> {
    prop_oneof![
        (0i64..6).prop_map(|v| format!("version = {v}\n")),
        Just("version = -3\n".to_owned()),
        Just("imports = ['conf.d/*.toml', './b.toml', '/x/*/[', '/nope']\n".to_owned()),
        Just("imports = ['conf.d/*.toml']\n".to_owned()),
        Just("imports = ['config.toml', '/etc/containerd/conf.d/../b.toml']\n".to_owned()),
        Just("disabled_plugins = ['cri', 'io.containerd.grpc.v1.cri']\n".to_owned()),
        Just("required_plugins = ['io.containerd.cri.v1.images']\n".to_owned()),
        Just(String::new()),
    ]
}

fn file() -> impl Strategy<Value = String> {
    (prop::collection::vec(top(), 0..3), prop::collection::vec(line(), 0..10))
        .prop_map(|(top, lines)| format!("{}{}", top.concat(), lines.concat()))
}

fn node() -> impl Strategy<Value = Memory> {
    let some = |p: f64| prop::option::weighted(p, prop::option::weighted(0.9, file()));
    (some(0.97), some(0.6), some(0.6)).prop_map(|(main, dropin, b)| {
        let named = [(MAIN, main), ("/etc/containerd/conf.d/a.toml", dropin), ("/etc/containerd/b.toml", b)];
        let bytes = |text: Option<String>| text.map(String::into_bytes);
        let files = named.into_iter().filter_map(|(p, t)| t.map(|t| (p.to_owned(), bytes(t)))).collect();
        Memory { files, ..Memory::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_whole_and_stand_somewhere(mut memory in node()) {
        let mut session = Session::default();
        for g in generation::all() {
            let effective = ask(g, &mut memory, &mut session);
            let facts = effective.facts();
            prop_assert_eq!(undeclared(&facts), Vec::<String>::new());
            for said in statements(&facts) {
                for s in said.is().into_iter().flatten() {
                    let source = memory.sources.get(s.origin.place.source);
                    let span = s.origin.place.span;
                    prop_assert!(source.text.get(span.start..span.end).is_some(), "{} {span:?}", source.name);
                    prop_assert_eq!(source.kind == Kind::Default, s.origin.layer == Layer::Default);
                }
            }
            for problem in effective.problems() {
                prop_assert!(memory.sources.get(problem.place.source).kind == Kind::File);
            }
            let is = |name: &str, want: bool| {
                let said = one(&facts, name).and_then(|s| s.is()).and_then(|s| s.last());
                said.is_some_and(|s| s.value == Value::Bool(want))
            };
            let absent = |name: &str| matches!(one(&facts, name), Some(Known::Absent(_)));
            if is("containerd.boots", false) {
                prop_assert!(absent("containerd.cgroup_driver") && absent("containerd.cri_enabled"));
                prop_assert!(!absent("containerd.boot_error"));
            }
            if is("containerd.cri_enabled", false) {
                prop_assert!(absent("containerd.reported_driver") && !absent("containerd.cri_error"));
            }
            // a file that could not be read never turns into a default
            let hidden = memory.files.get(MAIN).is_some_and(Option::is_none);
            if hidden {
                prop_assert!(one(&facts, "containerd.boots").is_some_and(Known::is_unknown));
                prop_assert!(one(&facts, "containerd.cgroup_driver").is_some_and(Known::is_unknown));
            }
        }
    }

    #[test]
    fn no_order_of_questions_changes_an_answer(mut memory in node()) {
        let mut shared = Session::default();
        let backwards: Vec<_> =
            generation::all().iter().rev().map(|g| ask(g, &mut memory, &mut shared).facts()).collect();
        for (g, known) in generation::all().iter().zip(backwards.iter().rev()) {
            let alone = ask(g, &mut memory, &mut Session::default()).facts();
            prop_assert_eq!(&alone, known, "{}", g.name);
        }
        // generations that are taken together say the same
        let input = input();
        let joined = worlds(None, &input, &mut memory, &mut Session::default());
        prop_assert!(joined.len() <= backwards.len());
        let told: Vec<_> = joined.iter().map(|(_, e)| e.facts()).collect();
        for known in &backwards {
            prop_assert!(told.contains(known));
        }
    }
}
