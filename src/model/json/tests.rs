use super::*;

#[test]
fn values_stand_at_their_spans() {
    let text = "{\"a\": [1, -2.5e3, \"x\\u00e9\\ud83d\\ude00\"], \"b\": null}\n";
    let Some(Node { item: Item::Object(entries), span }) = only(text).unwrap() else { panic!() };
    assert_eq!(span, Span::new(0, text.len() - 1));
    let (key, list) = &entries[0];
    assert_eq!((&key.name[..], &text[key.span.start..key.span.end]), ("a", "\"a\""));
    let Item::Array(elements) = &list.item else { panic!() };
    let written: Vec<&str> = elements.iter().map(|e| &text[e.span.start..e.span.end]).collect();
    assert_eq!(written, ["1", "-2.5e3", "\"x\\u00e9\\ud83d\\ude00\""]);
    assert_eq!(elements[2].item, Item::Text("xé😀".into()));
    assert_eq!(entries[1].1.item, Item::Null);
}

#[test]
fn what_go_refuses_is_refused_where_it_stands() {
    for (text, at) in [
        ("{\"a\": 1,}", "}"),
        ("[1,]", "]"),
        ("{'a': 1}", "'"),
        ("// x\n{}", "/"),
        ("{} {}", "{"),
        ("[01]", "1"),
        ("[1.]", "]"),
        ("[\"\\x\"]", "x"),
        ("[nul]", "n"),
        ("{\"a\" 1}", "1"),
        ("{\"a\": [1", "1"),
    ] {
        let error = only(text).unwrap_err();
        assert_eq!(&text[error.span.start..error.span.end], at, "{text}: {}", error.message);
    }
    assert_eq!(only(" \n\t"), Ok(None));
    assert!(only(&"[".repeat(100_000)).is_err());
}

#[test]
fn a_stream_ends_after_its_first_value() {
    let (node, end) = first("{} rest").unwrap().unwrap();
    assert_eq!((node.item, end), (Item::Object(Vec::new()), 2));
}
