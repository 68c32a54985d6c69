//! Generated texts: plain documents mean the same in every dialect, every span says again what was
//! read there, and broken ones are survived.

use nodevet::model::toml::{Dialect, Item, Key, Node, Table, parse, parse_document, plain};
use nodevet::text::Span;
use proptest::prelude::*;

use crate::DIALECTS;

#[derive(Clone, Debug)]
enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String, u8),
    Ints(Vec<i64>),
    Texts(Vec<String>),
    Inline(Vec<(Name, Value)>),
    Inlines(Vec<Vec<(Name, Value)>>),
}

#[derive(Clone, Debug)]
struct Name(String, u8);

impl Name {
    fn write(&self) -> String {
        let bare =
            !self.0.is_empty() && self.0.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        match self.1 {
            0 if bare => self.0.clone(),
            1 => format!("'{}'", self.0),
            _ => format!("\"{}\"", self.0),
        }
    }
}

fn quote(text: &str, style: u8) -> String {
    let plain = !text.contains(|c: char| c.is_control() || c == '\'');
    match style {
        0 if plain => format!("'{text}'"),
        1 if plain => format!("'''\n{text}'''"),
        2 => format!("\"\"\"\n{}\"\"\"", escape(text)),
        _ => format!("\"{}\"", escape(text)),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

impl Value {
    fn write(&self) -> String {
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
        match self {
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Float(f) => format!("{f:?}").replace("e", "e+").replace("e+-", "e-"),
            Value::Text(text, style) => quote(text, *style),
            Value::Ints(ns) => {
                format!("[\n  {} # all\n]", ns.iter().map(i64::to_string).collect::<Vec<_>>().join(",\n"))
            }
            Value::Texts(texts) => list(texts.iter().map(|t| quote(t, 3)).collect()),
            Value::Inline(pairs) => inline(pairs),
            Value::Inlines(tables) => list(tables.iter().map(|pairs| inline(pairs)).collect()),
        }
    }
}

fn inline(pairs: &[(Name, Value)]) -> String {
    let pairs: Vec<_> =
        unique(pairs).iter().map(|(name, value)| format!("{} = {}", name.write(), value.write())).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn unique(pairs: &[(Name, Value)]) -> Vec<(Name, Value)> {
    let mut kept: Vec<(Name, Value)> = Vec::new();
    for pair in pairs {
        if kept.iter().all(|(name, _)| name.0 != pair.0.0) {
            kept.push(pair.clone());
        }
    }
    kept
}

fn name() -> impl Strategy<Value = Name> {
    let text = prop_oneof![3 => "[a-c]", 2 => "[a-z0-9_-]{1,6}", 1 => "[a-z. /é:]{0,6}"];
    (text, 0..3u8).prop_map(|(text, style)| Name(text, style))
}

fn value() -> impl Strategy<Value = Value> {
    let text = || prop_oneof!["[ -~é]{0,8}", "[ -~\n\t]{0,8}"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-1e9..1e9f64).prop_map(Value::Float),
        (text(), 0..4u8).prop_map(|(text, style)| Value::Text(text, style)),
        prop::collection::vec(-9..9i64, 0..4).prop_map(Value::Ints),
        prop::collection::vec(text(), 0..4).prop_map(Value::Texts),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let pairs = || prop::collection::vec((name(), inner.clone()), 0..3);
        // newlines are not for every library inside an inline table
        let flat = |pairs: Vec<(Name, Value)>| {
            pairs.into_iter().filter(|(_, value)| !value.write().contains('\n')).collect::<Vec<_>>()
        };
        prop_oneof![
            pairs().prop_map(move |p| Value::Inline(flat(p))),
            prop::collection::vec(pairs(), 1..3)
                .prop_map(move |tables| Value::Inlines(tables.into_iter().map(flat).collect())),
        ]
    })
}

/// A document that all three libraries accept.
fn document() -> impl Strategy<Value = String> {
    let body = || prop::collection::vec((name(), value()), 0..4);
    let table = (prop::collection::vec(name(), 1..4), body(), any::<bool>());
    (body(), prop::collection::vec(table, 0..5), 0..3u8).prop_map(|(root, tables, decor)| {
        let mut text = String::new();
        let pair = |name: &Name, value: &Value| match decor {
            0 => format!("{} = {}\n", name.write(), value.write()),
            1 => format!("  {}= {} # x\n\n", name.write(), value.write()),
            _ => format!("{}\t=\t{}\n", name.write(), value.write()),
        };
        for (name, value) in unique(&root) {
            text.push_str(&pair(&name, &value));
        }
        for (number, (path, body, array)) in tables.iter().enumerate() {
            // the number keeps paths from meeting
            let path: Vec<_> =
                std::iter::once(format!("t_{number}")).chain(path.iter().map(Name::write)).collect();
            let path = path.join(".");
            text.push_str(&if *array { format!("[[{path}]]\n") } else { format!("[{path}]\n") });
            for (name, value) in unique(body) {
                text.push_str(&pair(&name, &value));
            }
        }
        text
    })
}

fn same(ours: &Item, theirs: &toml::Value) -> bool {
    match (ours, theirs) {
        (Item::Bool(a), toml::Value::Boolean(b)) => a == b,
        (Item::Int(a), toml::Value::Integer(b)) => a == b,
        (Item::Float(a), toml::Value::Float(b)) => a == b,
        (Item::Text(a), toml::Value::String(b)) => a == b,
        (Item::Array(a), toml::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.item, b))
        }
        (Item::Table(a), toml::Value::Table(b)) => same_table(a, b),
        _ => false,
    }
}

fn same_table(ours: &Table, theirs: &toml::Table) -> bool {
    let equal =
        |(key, node): &(Key, Node)| theirs.get(&key.name).is_some_and(|value| same(&node.item, value));
    ours.entries.len() == theirs.len() && ours.entries.iter().all(equal)
}

/// The item with all spans set to nothing.
fn bare(item: &Item) -> Item {
    match item {
        Item::Array(nodes) => Item::Array(nodes.iter().map(bare_node).collect()),
        Item::Table(table) => {
            let entries = table.entries.iter().map(|(key, node)| {
                let key = Key { name: key.name.clone(), span: Span::default() };
                (key, bare_node(node))
            });
            Item::Table(Table { entries: entries.collect(), header: None })
        }
        leaf => leaf.clone(),
    }
}

fn bare_node(node: &Node) -> Node {
    Node { span: Span::default(), item: bare(&node.item) }
}

/// Every span says again what was read there.
fn spans_hold(text: &str, table: &Table, dialect: Dialect) {
    for (key, node) in &table.entries {
        let written = &text[key.span.start..key.span.end];
        let again = parse(&format!("{written} = 1"), dialect, None).unwrap();
        assert_eq!(again.entries[0].0.name, key.name);
        let written = &text[node.span.start..node.span.end];
        match &node.item {
            Item::Table(inner) if !written.starts_with('{') => {
                let header = inner.header.unwrap_or(node.span);
                assert!(text[header.start..header.end].ends_with(&text[key.span.start..key.span.end]));
                spans_hold(text, inner, dialect);
            }
            Item::Array(nodes) if !written.starts_with('[') => {
                for node in nodes {
                    let Item::Table(inner) = &node.item else { panic!("{node:?}") };
                    spans_hold(text, inner, dialect);
                }
            }
            item => {
                let again = parse(&format!("v = {written}"), dialect, None).unwrap();
                assert_eq!(bare(&again.entries[0].1.item), bare(item));
                if let Item::Table(inner) = item {
                    spans_hold(text, inner, dialect);
                }
            }
        }
    }
}

/// What an accepted or refused text must keep in any case.
fn sound(text: &str, invalid: Option<usize>) {
    plain_is_shared(text);
    for dialect in DIALECTS {
        match parse_document(text, dialect, invalid) {
            Ok(document) => {
                let mut nodes: Vec<&Node> = document.root.entries.iter().map(|(_, node)| node).collect();
                while let Some(node) = nodes.pop() {
                    assert!(text.get(node.span.start..node.span.end).is_some(), "{dialect:?} {node:?}");
                    match &node.item {
                        Item::Table(table) => {
                            for (key, node) in &table.entries {
                                assert!(
                                    text.get(key.span.start..key.span.end).is_some(),
                                    "{dialect:?} {key:?}"
                                );
                                nodes.push(node);
                            }
                        }
                        Item::Array(inner) => nodes.extend(inner),
                        _ => {}
                    }
                }
                for error in document.unsure {
                    assert!(text.get(error.span.start..error.span.end).is_some(), "{dialect:?} {error:?}");
                }
            }
            Err(error) => {
                assert!(text.get(error.span.start..error.span.end).is_some(), "{dialect:?} {error:?}");
                assert!(!error.message.is_empty());
            }
        }
    }
}

/// What is read once for all dialects is what each of them reads.
fn plain_is_shared(text: &str) {
    let Some(plain) = plain(text) else { return };
    for dialect in DIALECTS {
        assert_eq!(parse_document(text, dialect, None).as_ref(), Ok(&plain), "{dialect:?} {text:?}");
    }
}

/// Lines of plain and nearly plain texts.
const LINES: &str = r##"[a]
[a.b]
[a."b"]
[ 'b'.c]
['b'.c]
[a.b.c] # d
	[c]
a = 1
b = 'x'
c='y'#z
'd' = "#"
"a" = ''
e = []
e = [ ]
f = ['x', "y"]
f = ['x','y',]
g = -0
g = -1.50
h = 00.5
h = 1.0e3
i = true # no
i = trueish
  # only a comment
j
k = 'x' 'y'
l = ''''
m = ''''''
n	=	false	
o = "a'b"
p = [['x']]
q-1_R = 123456789012345
"r.s" = '"'
r.s = 1
0 = 0
- = 1
t = "\t"
u = 2020-01-01
v = 'a
[a
[]
[[a]]
[a]b = 1"##;

const PIECES: &[&str] = &[
    "a",
    "b.c",
    "'d'",
    "\"e\"",
    "[a]\n",
    "[[a]]\n",
    "[a.b]\n",
    " = ",
    "=",
    "\n",
    "\r",
    "\r\n",
    " ",
    "# x",
    "1",
    "0x1F",
    "-",
    "+",
    "_",
    ".",
    "1.5",
    "1e999",
    "true",
    "inf",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\n",
    "\\u00e9",
    "\\ud800",
    "\\x41",
    "1979-05-27",
    "07:32:00",
    "T",
    "Z",
    "\u{feff}",
    "\0",
    "\u{7f}",
    "é",
    "😀",
    "version = 2\n",
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n",
    "a = { b = 1 }\n",
    "a = [{ b = 1 }]\n",
    "a.b = 1\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_text_is_survived(text in any::<String>(), invalid in prop::option::of(0..40usize)) {
        sound(&text, invalid);
    }

    #[test]
    fn any_pieces_are_survived(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14)) {
        sound(&pieces.concat(), None);
    }

    #[test]
    fn nearly_plain_texts_are_survived(
        lines in prop::collection::vec(prop::sample::select(LINES.lines().collect::<Vec<_>>()), 0..7),
    ) {
        sound(&lines.join("\n"), None);
        prop_assert!(plain(&lines.join("\r\n")).is_none() || lines.len() < 2);
    }

    #[test]
    fn broken_documents_are_survived(
        text in document(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, prop::sample::select(PIECES)), 1..4),
    ) {
        let mut chars: Vec<char> = text.chars().collect();
        for (index, len, piece) in cuts {
            let start = index.index(chars.len() + 1);
            let end = (start + len).min(chars.len());
            chars.splice(start..end, piece.chars());
        }
        sound(&chars.into_iter().collect::<String>(), None);
    }

    #[test]
    fn all_dialects_agree_on_plain_documents(text in document()) {
        let [old, v1, v2] = DIALECTS.map(|dialect| parse_document(&text, dialect, None));
        let v2 = v2.unwrap();
        prop_assert!(v2.unsure.is_empty());
        prop_assert_eq!(old.as_ref(), Ok(&v2));
        prop_assert_eq!(v1.as_ref(), Ok(&v2));
        plain_is_shared(&text);
        for dialect in DIALECTS {
            spans_hold(&text, &v2.root, dialect);
        }
    }

    #[test]
    fn go_toml_v2_reads_what_the_specification_says(text in document()) {
        let theirs: toml::Table = text.parse().unwrap();
        let ours = parse(&text, Dialect::GoTomlV2, None).unwrap();
        prop_assert!(same_table(&ours, &theirs), "{:?}\n{:?}", ours, theirs);
    }
}
