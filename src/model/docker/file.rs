//! daemon.json: its encoding, which keys it may have, and what it says. From moby's
//! daemon/config/config.go (getConflictFreeConfiguration, findConfigurationConflicts).

use super::flags::Takes;
use super::options::{self, Given};
use super::{Fatal, Generation};
use crate::fact::{Known, Why};
use crate::model::Captured;
use crate::model::json::{self, Item, Key, Node};
use crate::text::{Place, Span};

/// Objects that are one option, not a group of options.
const FLAT: [&str; 7] = [
    "builder",
    "cluster-store-opts",
    "default-network-opts",
    "default-ulimits",
    "features",
    "log-opts",
    "runtimes",
];

/// Keys without a flag.
const NO_FLAG: [&str; 4] = ["builder", "deprecated-key-path", "features", "proxies"];

/// The entries of the top object; none for an empty file.
pub(super) type Entries = Vec<(Key, Node)>;

/// Reads the text as a generation does.
pub(super) fn decode(file: &Captured, generation: Generation) -> Result<Known<Entries>, Fatal> {
    let fatal = |span: Span, message: String| Fatal { place: Place { source: file.id, span }, message };
    let refused = |e: json::SyntaxError| fatal(e.span, format!("invalid JSON: {}", e.message));
    let node = if generation == Generation::V20 {
        match json::first(&file.text).map_err(refused)? {
            Some((node, _)) => Some(node),
            None => return Err(fatal(Span::default(), "the file is empty".into())),
        }
    } else if let Some((text, offsets)) = utf16(&file.text) {
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Ok(Known::Unknown(Why::Strange("a UTF-16 file with more than ASCII".into())));
        }
        let there = |span: Span| Span::new(offsets[span.start], offsets[span.end]);
        let mut node = json::only(&text)
            .map_err(|e| refused(json::SyntaxError { span: there(e.span), message: e.message }))?;
        if let Some(node) = &mut node {
            moved(node, &there);
        }
        node
    } else {
        if let Some(at) = file.invalid_utf8 {
            let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
            return Err(fatal(Span::new(at, end), "the text is not UTF-8".into()));
        }
        let body = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
        let bom = file.text.len() - body.len();
        let there = |span: Span| Span::new(span.start + bom, span.end + bom);
        let mut node = json::only(body)
            .map_err(|e| refused(json::SyntaxError { span: there(e.span), message: e.message }))?;
        if let (Some(node), true) = (&mut node, bom > 0) {
            moved(node, &there);
        }
        node
    };
    match node {
        None | Some(Node { item: Item::Null, .. }) => Ok(Known::Is(Vec::new())),
        Some(Node { item: Item::Object(entries), .. }) => Ok(Known::Is(entries)),
        Some(node) => Err(fatal(node.span, format!("{} where an object belongs", node.item.kind()))),
    }
}

/// A text that was UTF-16 with a byte order mark, which lossy UTF-8 shows as two replacement
/// characters and a NUL beside each letter: the letters, and where each stands.
fn utf16(text: &str) -> Option<(String, Vec<usize>)> {
    let body = text.strip_prefix("\u{fffd}\u{fffd}").filter(|body| body.contains('\0'))?;
    let start = text.len() - body.len();
    let mut letters = String::with_capacity(body.len() / 2);
    let mut offsets = Vec::with_capacity(body.len() / 2 + 1);
    for (at, c) in body.char_indices().filter(|(_, c)| *c != '\0') {
        letters.push(c);
        offsets.extend(std::iter::repeat_n(start + at, c.len_utf8()));
    }
    offsets.push(text.len());
    Some((letters, offsets))
}

fn moved(node: &mut Node, there: &dyn Fn(Span) -> Span) {
    node.span = there(node.span);
    match &mut node.item {
        Item::Array(elements) => elements.iter_mut().for_each(|e| moved(e, there)),
        Item::Object(entries) => entries.iter_mut().for_each(|(key, value)| {
            key.span = there(key.span);
            moved(value, there);
        }),
        _ => {}
    }
}

/// Keys as dockerd compares them with its flags: those of an object that is no option of its own
/// stand for it, whatever it is called.
pub(super) fn flattened(entries: &Entries) -> impl Iterator<Item = (&Key, &Node)> {
    entries.iter().flat_map(|(key, node)| match &node.item {
        Item::Object(inner) if !FLAT.contains(&key.name.as_str()) => {
            inner.iter().map(|(key, node)| (key, node)).collect::<Vec<_>>()
        }
        _ => vec![(key, node)],
    })
}

/// What stops the daemon in the keys: unknown ones, those that a flag gives too, and wrong types.
pub(super) fn check(file: &Captured, entries: &Entries, given: &[Given]) -> Result<(), Fatal> {
    let fatal = |span: Span, message: String| Fatal { place: Place { source: file.id, span }, message };
    let skipped = |key: &Key| NO_FLAG.contains(&key.name.as_str());
    if let Some((key, _)) = flattened(entries).find(|(key, _)| !skipped(key) && !options::is_key(&key.name)) {
        return Err(fatal(key.span, format!("`{}` is no option of dockerd", key.name)));
    }
    for flag in given {
        let key = options::key(flag.name);
        if key != "runtimes"
            && let Some((key, _)) = flattened(entries).find(|(k, _)| k.name == key)
        {
            let message = format!("`{}` is given by the flag --{} too", key.name, flag.name);
            return Err(fatal(key.span, message));
        }
    }
    for (key, node) in entries {
        let wrong = match (options::find(&key.name), &node.item, key.name.as_str()) {
            (_, Item::Null, _) => false,
            (Some((_, Takes::Nothing)), item, _) => !matches!(item, Item::Bool(_)),
            (_, item, "cgroup-parent" | "default-runtime" | "default-cgroupns-mode") => {
                !matches!(item, Item::Text(_))
            }
            (_, Item::Array(elements), "exec-opts") => {
                let text = |e: &Node| matches!(e.item, Item::Text(_) | Item::Null);
                if let Some(element) = elements.iter().find(|e| !text(e)) {
                    return Err(fatal(element.span, wrong_type(&key.name, &element.item)));
                }
                false
            }
            (_, _, "exec-opts") => true,
            (_, item, "runtimes") => !matches!(item, Item::Object(_)),
            _ => false,
        };
        if wrong {
            return Err(fatal(node.span, wrong_type(&key.name, &node.item)));
        }
    }
    Ok(())
}

fn wrong_type(key: &str, item: &Item) -> String {
    format!("{} does not fit `{key}`", item.kind())
}

/// The last entry of a key at the top.
pub(super) fn last<'a>(entries: &'a Entries, name: &str) -> Option<&'a Node> {
    entries.iter().rev().find(|(key, _)| key.name == name).map(|(_, node)| node)
}

/// A string at the top; empty counts as not said.
pub(super) fn text<'a>(entries: &'a Entries, name: &str) -> Option<(&'a str, Span)> {
    match last(entries, name) {
        Some(Node { item: Item::Text(text), span }) if !text.is_empty() => Some((text, *span)),
        _ => None,
    }
}
