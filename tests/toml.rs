//! TOML in three dialects: what each accepts and refuses, and where it points.

#![allow(clippy::unwrap_used)]

#[path = "toml/generated.rs"]
mod generated;

use nodevet::model::toml::{Dialect, Item, parse, parse_document};
use nodevet::text::{Span, position};

const DIALECTS: [Dialect; 3] = [Dialect::BurntSushi, Dialect::GoTomlV1, Dialect::GoTomlV2];

/// Text, then whether 1.4, 1.5 to 1.7, and 2.x read it: `o` accepted, `x` refused,
/// `?` accepted by newer builds of the library only.
const TABLE: &[(&str, &str)] = &[
    ("", "ooo"),
    ("# only a comment", "ooo"),
    ("a = 1", "ooo"),
    ("a = 1\r\nb = 2\r\n", "ooo"),
    ("\u{feff}a = 1\n", "xox"),
    ("a = 1\rb = 2\r", "oox"),
    ("# a\u{1}b\na = 1\n", "oox"),
    ("# a\0b\na = 1\n", "xox"),
    ("a = 1\n\0", "xxx"),
    ("a = \"x\0\"\n", "xxx"),
    // keys
    ("a.b = 1\n", "xoo"),
    ("a . b = 1\n", "xoo"),
    ("\"a.b\" = 1\n", "ooo"),
    ("'a' = 1\n", "ooo"),
    ("\"\" = 1\n", "ooo"),
    ("[\"a.b\".'c']\n", "ooo"),
    ("1-_x = 1\n", "ooo"),
    ("é = 1\n", "xxx"),
    ("\"é\" = 1\n", "ooo"),
    ("\"\"\"a\"\"\" = 1\n", "oxx"),
    ("a: 1\n", "xxx"),
    ("a 1\n", "xxx"),
    ("a\n", "xxx"),
    ("= 1\n", "xxx"),
    ("[]\n", "xxx"),
    ("[a\n", "xxx"),
    ("[a.]\n", "xxx"),
    ("[a]b\n", "xxx"),
    ("[a] b = 1\n", "xox"),
    ("[ a . b ]\n", "ooo"),
    ("[\"a\\\\b\"]\n", "ooo"),
    ("[\"a]b\"]\n", "oxo"),
    ("{ \"a\": 1 }\n", "xxx"),
    ("<<<<<<< HEAD\n", "xxx"),
    // twice
    ("a = 1\na = 2\n", "xxx"),
    ("[a]\n[a]\n", "xxx"),
    ("[a]\n['a']\n", "xox"),
    ("[a]\n[ a ]\n", "xox"),
    ("[a.b]\n[a]\n", "ooo"),
    ("[a]\n[a.b]\n[b]\n[a.c]\n", "ooo"),
    ("[a.b]\n[a]\nb = 1\n", "xxx"),
    ("[a.b.c]\n[a]\nb = 1\n", "oxx"),
    ("a = 1\n[a]\n", "xxx"),
    ("a = 1\n[a.b]\n", "xxx"),
    ("a = []\n[a]\n", "xxx"),
    ("[[a]]\n[[a]]\n", "ooo"),
    ("[[a]]\n[a]\n", "xxx"),
    ("[[a]]\n[a.b]\n[[a]]\n[a.b]\n", "ooo"),
    ("[a]\n[[a]]\n", "xxx"),
    ("[a.b]\n[[a]]\n", "xxx"),
    ("a = []\n[[a]]\n", "xxx"),
    ("a = [{ b = 1 }]\n[[a]]\n", "xox"),
    // dotted keys and headers
    ("a.b = 1\n[a]\n", "xox"),
    ("a.b = 1\n[a.c]\n", "xoo"),
    ("a.b.c = 1\n[a.b]\n", "xox"),
    ("[a]\nb.c = 1\n[a.b]\n", "xox"),
    ("[a]\nb.c = 1\n[a.b.d]\n", "xoo"),
    ("[a.b]\n[a]\nb.c = 1\n", "xox"),
    ("a.b = 1\na.b.c = 2\n", "xxx"),
    ("a = 1\na.b = 2\n", "xxx"),
    ("a.b = 1\na.c = 2\n", "xoo"),
    // inline tables
    ("a = { b = 1, c = { d = 2 } }\n", "ooo"),
    ("a = {}\n", "ooo"),
    ("a = { b.c = 1 }\n", "xoo"),
    ("a = { b = 1 }\n[a]\n", "xxx"),
    ("a = { b = 1 }\n[a.c]\n", "oxx"),
    ("a = { b = { c = 1 } }\n[a.b.d]\n", "oxx"),
    ("a = { b.c = 1 }\n[a.b]\n", "xox"),
    ("a = { b = 1 }\na.c = 2\n", "xxx"),
    ("a = { b = 1, b = 2 }\n", "oox"),
    ("a = { b = 1, }\n", "ox?"),
    ("a = {\n b = 1 }\n", "xo?"),
    ("a = { b = 1\n}\n", "xo?"),
    ("a = { b = 1,\n c = 2 }\n", "xo?"),
    ("a = { b = 1\n, c = 2 }\n", "xx?"),
    ("a = { # x\n b = 1 }\n", "xo?"),
    ("a = { b\n = 1 }\n", "xxx"),
    ("a = { b = 1 c = 2 }\n", "xxx"),
    ("a = { , }\n", "xxx"),
    ("a = {{ .B }}\n", "xxx"),
    ("a = { b = 1\n", "xxx"),
    // arrays
    ("a = [1, 2,]\n", "ooo"),
    ("a = [\n 1, # x\n 2\n]\n", "ooo"),
    ("a = [[1], [\"x\"]]\n", "ooo"),
    ("a = [1, \"x\"]\n", "xoo"),
    ("a = [1, 1.5]\n", "xoo"),
    ("a = [1, [2]]\n", "xoo"),
    ("a = [{ b = 1 }, 2]\n", "xoo"),
    ("a = [{ b = 1 }, { c = \"x\" }]\n", "ooo"),
    ("a = [1 2]\n", "xxx"),
    ("a = [1,, 2]\n", "xxx"),
    ("a = [, 1]\n", "xxx"),
    ("a = [1\n", "xxx"),
    // values
    ("a =\n", "xxx"),
    ("a = # x\n", "xxx"),
    ("a = true\nb = false\n", "ooo"),
    ("a = True\n", "xxx"),
    ("a = yes\n", "xxx"),
    ("a = true yes\n", "xxx"),
    ("a = 1 b = 2\n", "xxx"),
    ("a = = 1\n", "xxx"),
    ("a = -0\nb = +5\n", "ooo"),
    ("a = 1_000\n", "ooo"),
    ("a = 1__0\n", "xxx"),
    ("a = 1_\n", "xxx"),
    ("a = 07\n", "oox"),
    ("a = 007\n", "oxx"),
    ("a = 0x1F\nb = 0o17\nc = 0b101\n", "xoo"),
    ("a = 0X1F\n", "xxx"),
    ("a = 0x\n", "xxx"),
    ("a = 9223372036854775807\n", "ooo"),
    ("a = 9223372036854775808\n", "xxx"),
    ("a = -9223372036854775808\n", "ooo"),
    ("a = 1.5\nb = 1e3\nc = -2.5E-3\n", "ooo"),
    ("a = 5.\n", "xxx"),
    ("a = .5\n", "xxx"),
    ("a = 03.5\n", "oox"),
    ("a = 1e999\n", "xxx"),
    ("a = inf\nb = -nan\n", "xoo"),
    ("a = 1979-05-27T07:32:00Z\n", "ooo"),
    ("a = 1979-05-27T07:32:00.5-07:00\n", "ooo"),
    ("a = 1979-05-27 07:32:00\n", "xoo"),
    ("a = 1979-05-27t07:32:00z\n", "xxo"),
    ("a = 07:32:00\n", "xoo"),
    ("a = 07:32\n", "xx?"),
    ("a = 1979-02-30\n", "xxx"),
    ("a = 1979-13-01\n", "xxx"),
    // strings
    (r#"a = "\b\t\n\f\r\"\\\u00e9\U0001F600""#, "ooo"),
    (r#"a = "\/""#, "xox"),
    (r#"a = "\e""#, "xxo"),
    (r#"a = "\x41""#, "xx?"),
    (r#"a = "\q""#, "xxx"),
    (r#"a = "\u12""#, "xxx"),
    (r#"a = "\ud800""#, "xox"),
    (r#"a = "b\  c""#, "xox"),
    (r"a = '\q'", "ooo"),
    ("a = \"x\n", "xxx"),
    ("a = 'x\n", "xxx"),
    ("a = \"x", "xxx"),
    ("a = \"tab\there\"\n", "ooo"),
    ("a = \"\u{1}\"\n", "oxx"),
    ("a = '\u{1}'\n", "oox"),
    ("a = '\u{7f}'\n", "oox"),
    ("a = \"\"\"x\ny\"\"\"\n", "ooo"),
    ("a = '''x\ny'''\n", "ooo"),
    ("a = \"\"\"x\\\n  y\"\"\"\n", "ooo"),
    ("a = \"\"\"x\\  \n  y\"\"\"\n", "xoo"),
    ("a = \"\"\"\"x\"\"\"\n", "ooo"),
    ("a = \"\"\"x\"\"\"\"\n", "xxo"),
    ("a = '''x''''\n", "xxo"),
    ("a = \"\"\"x\\\"\"\"\"\n", "ooo"),
    ("a = \"\"\"x\n", "xxx"),
];

#[test]
fn each_library_accepts_its_own() {
    let mut wrong = Vec::new();
    for (text, expected) in TABLE {
        let found: String = DIALECTS
            .iter()
            .map(|dialect| match parse_document(text, *dialect, None) {
                Ok(document) if document.unsure.is_empty() => 'o',
                Ok(_) => '?',
                Err(_) => 'x',
            })
            .collect();
        if found != *expected {
            wrong.push(format!("{text:?}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Text, dialect, and line and column of the refusal.
#[test]
fn refusals_point_at_the_place() {
    let (v1, v2, old) = (Dialect::GoTomlV1, Dialect::GoTomlV2, Dialect::BurntSushi);
    let table: &[(&str, Dialect, usize, usize)] = &[
        ("a = 1\nb = True\n", v2, 2, 5),
        ("a = 1\nb = True\n", v1, 2, 5),
        ("a =\n# x\n", v2, 1, 4),
        ("a =\n# x\n", v1, 3, 1),
        ("  EOF\n", v2, 1, 6),
        ("  EOF\n", v1, 1, 3),
        ("  a: 1\n", v2, 1, 4),
        ("  a: 1\n", v1, 1, 3),
        ("a b\n", v1, 1, 3),
        ("[a\n", v2, 1, 3),
        ("[a\n", v1, 1, 2),
        ("a = \"x\n", v2, 1, 7),
        ("a = \"x\n", v1, 1, 6),
        ("[a]\n [a]\n", v2, 2, 3),
        ("a = 1\n\n  a = 2", old, 3, 3),
        ("a.b = 1\na.b = 1", v1, 2, 1),
        ("a.b = 1\na.b = 1", v2, 2, 3),
        ("b = { a = 1, }\n", v1, 1, 12),
        ("a = [\n 1 2 ]\n", v2, 2, 4),
        ("a = [1,\n", v2, 1, 5),
        ("x = 1 # é\ry", v2, 1, 10),
    ];
    for (text, dialect, line, column) in table {
        let error = parse(text, *dialect, None).unwrap_err();
        let found = position(text, error.span.start);
        assert_eq!((found.line, found.column), (*line, *column), "{text:?} {dialect:?}: {error:?}");
        assert!(error.message.starts_with(|c: char| !c.is_uppercase()) && !error.message.ends_with('.'));
    }
}

#[test]
fn what_is_not_utf8_is_refused_by_go_toml_v2_only() {
    let text = "# caf\u{fffd}\na = 1\n";
    assert!(parse(text, Dialect::BurntSushi, Some(5)).is_ok());
    assert!(parse(text, Dialect::GoTomlV1, Some(5)).is_ok());
    assert_eq!(parse(text, Dialect::GoTomlV2, Some(5)).unwrap_err().span, Span::new(5, 8));
    assert!(parse(text, Dialect::GoTomlV2, None).is_ok());
    let earlier = parse("a\n# \u{fffd}\n", Dialect::GoTomlV2, Some(4)).unwrap_err();
    assert_eq!(earlier.span.start, 1);
}

#[test]
fn values_that_differ_by_dialect() {
    let value = |text: &str, dialect| parse(text, dialect, None).unwrap().entries.pop().unwrap().1.item;
    let text = |s: &str| Item::Text(s.to_owned());
    assert_eq!(value("a = \"\"\"\r\nx\"\"\"", Dialect::BurntSushi), text("\r\nx"));
    assert_eq!(value("a = \"\"\"\r\nx\"\"\"", Dialect::GoTomlV2), text("x"));
    assert_eq!(value("a = 010", Dialect::BurntSushi), Item::Int(10));
    assert_eq!(value("a = 0o10", Dialect::GoTomlV1), Item::Int(8));
    assert_eq!(value("a = \"\\ud800\"", Dialect::GoTomlV1), text("\u{fffd}"));
    assert_eq!(value("a = '''\n x'y'''''", Dialect::GoTomlV2), text(" x'y''"));
    // the last one wins in both older libraries
    for dialect in [Dialect::BurntSushi, Dialect::GoTomlV1] {
        let Item::Table(table) = value("a = { b = 1, b = 2 }", dialect) else { panic!() };
        assert_eq!(table.entries.len(), 1);
        assert_eq!(table.get("b").unwrap().item, Item::Int(2));
    }
    // go-toml v1 takes a header's quoted name as written
    let table = parse("[\"a\\tb\"]", Dialect::GoTomlV1, None).unwrap();
    assert_eq!(table.entries[0].0.name, "a\\tb");
    // BurntSushi/toml loses the value
    let table = parse("[a.b.c]\n[a]\nb = 1\n", Dialect::BurntSushi, None).unwrap();
    let Item::Table(a) = &table.get("a").unwrap().item else { panic!() };
    assert!(matches!(a.get("b").unwrap().item, Item::Table(_)));
}

#[test]
fn spans_of_headers() {
    let text = "[plugins.'x y'.z]\na = {b = [ 1 ]}\n[plugins]\n[[l.m]]\n[[l.m]]\n";
    let slice = |span: Span| &text[span.start..span.end];
    for dialect in DIALECTS {
        let root = parse(text, dialect, None).unwrap();
        let plugins = root.get("plugins").unwrap();
        assert_eq!(slice(plugins.span), "plugins");
        let Item::Table(plugins) = &plugins.item else { panic!() };
        assert_eq!(plugins.header.map(|h| position(text, h.start).line), Some(3));
        let (key, implied) = &plugins.entries[0];
        assert_eq!((slice(key.span), slice(implied.span), key.name.as_str()), ("'x y'", "'x y'", "x y"));
        let Item::Table(implied) = &implied.item else { panic!() };
        assert_eq!(implied.header, None);
        let z = implied.get("z").unwrap();
        assert_eq!(slice(z.span), "plugins.'x y'.z");
        let Item::Table(z) = &z.item else { panic!() };
        assert_eq!(slice(z.get("a").unwrap().span), "{b = [ 1 ]}");
        let Item::Table(l) = &root.get("l").unwrap().item else { panic!() };
        let Item::Array(m) = &l.get("m").unwrap().item else { panic!() };
        assert_eq!(m.iter().map(|n| position(text, n.span.start).line).collect::<Vec<_>>(), [4, 5]);
    }
}

#[test]
fn depth_and_size_are_bounded() {
    for dialect in DIALECTS {
        for text in [
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}{}", "[".repeat(10_000), "]".repeat(10_000)),
            format!("a = {}", "{ a = ".repeat(100_000)),
            format!("[{}b]", "a.".repeat(100_000)),
            format!("[[{}b]]", "a.".repeat(100_000)),
        ] {
            assert!(parse(&text, dialect, None).is_err());
        }
        assert!(parse(&format!("a = {}{}", "[".repeat(200), "]".repeat(200)), dialect, None).is_ok());
        let many: String = (0..5_000).map(|n| format!("k{n} = {n}\n[t{n}.u]\n")).collect();
        assert_eq!(parse(&many, dialect, None).unwrap().entries.len(), 5_001);
        let elements = "[[a]]\n[a.b]\n".repeat(5_000);
        assert!(parse(&elements, dialect, None).is_ok());
    }
    let dotted = format!("{}b = 1", "a.".repeat(100_000));
    assert!(parse(&dotted, Dialect::GoTomlV2, None).is_err());
    let mixed = format!("{}1{}", format!("{}a = {{ ", "b.".repeat(100)).repeat(100), "}".repeat(100));
    assert!(parse(&mixed, Dialect::GoTomlV2, None).is_err());
}
