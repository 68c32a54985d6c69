//! A node for expressions: a few facts of each type, in any of the three states.

use nodevet::fact::{Known, Value, Why};
use nodevet::names;
use nodevet::rule::expr::{Facts, Out, Ref, Scope, Term, evaluate};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum State {
    Is(Value),
    #[default]
    Absent,
}

/// Facts by their written name. A namespace is known or unknown as a whole: so `cel`, which has
/// no unknown, can be told the same by leaving out the variable.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) facts: BTreeMap<&'static str, State>,
    pub(crate) unknown: Vec<&'static str>,
    known: BTreeMap<Ref, Known<Value>>,
}

pub(crate) const BOOLS: [&str; 5] = [
    "cgroup.kubepods_populated",
    "containerd.boots",
    "kubelet.follows_runtime",
    "runtime.usable",
    "runtime.systemd_cgroup",
];
pub(crate) const INTS: [&str; 2] = ["kernel.ip_forward", "containerd.config_version"];
pub(crate) const TEXTS: [&str; 3] = ["containerd.config_file", "kubelet.config_file", "runtime.type"];
pub(crate) const LISTS: [&str; 2] = ["cgroup.top", "kernel.modules"];
pub(crate) const WORDS: [&str; 6] = ["", "a", "ab", "kubepods", "kubepods.slice", "runc"];
const NAMESPACES: [&str; 5] = ["cgroup", "kernel", "containerd", "kubelet", "runtime"];

pub(crate) fn scope() -> Scope {
    Scope { each: names::find("containerd.runtimes") }
}

fn namespace(fact: &str) -> &str {
    fact.split_once('.').unwrap().0
}

fn place(fact: &str) -> Ref {
    match fact.strip_prefix("runtime.") {
        Some(column) => {
            let (at, _) = names::column(scope().each.unwrap(), column).unwrap();
            Ref::Cell(u16::try_from(at).unwrap())
        }
        None => Ref::Fact(names::find(fact).unwrap()),
    }
}

impl Node {
    pub(crate) fn new(facts: BTreeMap<&'static str, State>, unknown: Vec<&'static str>) -> Node {
        let known = facts.iter().map(|(name, state)| {
            let known = match state {
                _ if unknown.contains(&namespace(name)) => Known::Unknown(Why::Unread),
                State::Is(value) => Known::Is(value.clone()),
                State::Absent => Known::ABSENT,
            };
            (place(name), known)
        });
        Node { known: known.collect(), facts, unknown }
    }

    /// For the table of answers: true, false, unknown and absent facts, a list, a version.
    pub(crate) fn example() -> Node {
        let list = |items: &[&str]| State::Is(Value::List(items.iter().map(|t| Value::text(*t)).collect()));
        let facts = [
            ("cgroup.kubepods_populated", State::Is(Value::Bool(true))),
            ("containerd.boots", State::Is(Value::Bool(false))),
            ("kubelet.follows_runtime", State::Absent),
            ("cgroup.top", list(&["kubepods", "system.slice"])),
            ("containerd.runtimes", list(&["runc"])),
            ("containerd.version", State::Is(Value::text("2.1"))),
        ];
        Node::new(facts.into_iter().collect(), vec!["kubelet"])
    }

    /// Known facts stay; unknown namespaces take what the other node says.
    pub(crate) fn filled_from(&self, other: &Node) -> Node {
        let facts = self.facts.iter().map(|(name, state)| {
            let unknown = self.unknown.contains(&namespace(name));
            (*name, if unknown { other.facts[name].clone() } else { state.clone() })
        });
        Node::new(facts.collect(), Vec::new())
    }
}

impl Facts for Node {
    fn value(&self, at: Ref) -> &Known<Value> {
        static ABSENT: Known<Value> = Known::ABSENT;
        self.known.get(&at).unwrap_or(&ABSENT)
    }

    fn name(&self, at: Ref) -> String {
        at.name(scope().each)
    }
}

/// `t`, `f`, `a` or `u`.
pub(crate) fn answer(term: &Term, node: &Node) -> char {
    match evaluate(term, node) {
        Out::Absent => 'a',
        Out::Unknown(missing) => {
            assert!(!missing.is_empty());
            'u'
        }
        out if out.is_true() => 't',
        out if out.is_false() => 'f',
        out => panic!("{out:?}"),
    }
}

pub(crate) fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(&WORDS[..]).prop_map(str::to_owned)
}

fn state(value: impl Strategy<Value = Value>) -> impl Strategy<Value = State> {
    prop_oneof![1 => Just(State::Absent), 3 => value.prop_map(State::Is)]
}

pub(crate) fn node() -> impl Strategy<Value = Node> {
    let bools = proptest::collection::vec(state(any::<bool>().prop_map(Value::Bool)), BOOLS.len());
    let ints = proptest::collection::vec(state((-2..3_i64).prop_map(Value::Int)), INTS.len());
    let texts = proptest::collection::vec(state(word().prop_map(Value::text)), TEXTS.len());
    let list = proptest::collection::vec(word().prop_map(Value::text), 0..4).prop_map(Value::List);
    let lists = proptest::collection::vec(state(list), LISTS.len());
    let mode = state(proptest::sample::select(vec!["v1", "v2"]).prop_map(Value::text));
    let unknown = proptest::sample::subsequence(&NAMESPACES[..], 0..3);
    (bools, ints, texts, lists, mode, unknown).prop_map(|(bools, ints, texts, lists, mode, unknown)| {
        let mut facts = BTreeMap::from([("cgroup.mode", mode)]);
        facts.extend(BOOLS.into_iter().zip(bools));
        facts.extend(INTS.into_iter().zip(ints));
        facts.extend(TEXTS.into_iter().zip(texts));
        facts.extend(LISTS.into_iter().zip(lists));
        Node::new(facts, unknown)
    })
}
