//! Texts that all three libraries read alike, read line by line: headers, and keys with short
//! values on one line. Much cheaper than the general way, and once for all libraries.

use super::{Document, Item, Key, Node, Table};
use crate::text::Span;

/// Larger tables are left to the general way, which has an index for them.
const ENTRIES: usize = 64;

/// A longer path than any daemon has.
const PARTS: usize = 16;

/// The document, if the text is as plain as that: printable ASCII, nothing said twice, no escapes,
/// no dotted keys outside of headers, no inline tables and no arrays but of texts. Nothing where
/// the libraries might differ, or refuse.
pub fn read(text: &str) -> Option<Document> {
    // without a branch, so that many bytes are looked at together
    let printable = |all: bool, b: u8| all & matches!(b, b' '..=b'~' | b'\t' | b'\n');
    if !text.bytes().fold(true, printable) {
        return None;
    }
    let mut root = Table::default();
    let mut current = Vec::with_capacity(PARTS);
    let mut start = 0;
    while start < text.len() {
        let length = text.get(start..)?.find('\n');
        let mut cursor = Cursor { text, at: start, end: length.map_or(text.len(), |length| start + length) };
        start = cursor.end + 1;
        cursor.blanks();
        match cursor.peek() {
            None => {}
            Some(b'#') => continue,
            Some(b'[') => open(&mut root, &mut current, &mut cursor)?,
            Some(_) => assign(&mut root, &current, &mut cursor)?,
        }
        cursor.blanks();
        if !matches!(cursor.peek(), None | Some(b'#')) {
            return None;
        }
    }
    Some(Document { root, unsure: Vec::new() })
}

/// `[a.b."c"]`
fn open(root: &mut Table, current: &mut Vec<usize>, cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.at += 1;
    let inside = cursor.at;
    let mut parts = Vec::with_capacity(PARTS);
    loop {
        parts.push(cursor.key()?);
        match cursor.next()? {
            b'.' if parts.len() < PARTS => {}
            b']' => break,
            _ => return None,
        }
    }
    let inside = Span::new(inside, cursor.at - 1);
    current.clear();
    let mut table = root;
    let last = parts.len() - 1;
    for (depth, key) in parts.into_iter().enumerate() {
        let index = match table.entries.iter().position(|(k, _)| k.name == key.name) {
            Some(index) => index,
            None => {
                let span = if depth == last { inside } else { key.span };
                add(table, key, Node { span, item: Item::Table(Table::default()) })?;
                table.entries.len() - 1
            }
        };
        current.push(index);
        let (_, node) = table.entries.get_mut(index)?;
        if depth == last {
            node.span = inside;
        }
        let Item::Table(inner) = &mut node.item else { return None };
        table = inner;
    }
    // a second header of the same name is not plain
    let first = table.header.replace(inside).is_none();
    first.then_some(())
}

/// `key = value`
fn assign(root: &mut Table, current: &[usize], cursor: &mut Cursor<'_>) -> Option<()> {
    let key = cursor.key()?;
    cursor.blanks();
    if cursor.next()? != b'=' {
        return None;
    }
    cursor.blanks();
    let value = cursor.value()?;
    let mut table = root;
    for index in current {
        let Item::Table(inner) = &mut table.entries.get_mut(*index)?.1.item else { return None };
        table = inner;
    }
    if table.entries.iter().any(|(k, _)| k.name == key.name) {
        return None;
    }
    add(table, key, value)
}

fn add(table: &mut Table, key: Key, node: Node) -> Option<()> {
    table.entries.push((key, node));
    (table.entries.len() <= ENTRIES).then_some(())
}

/// What is left of a line.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        if self.at < self.end { self.text.as_bytes().get(self.at).copied() } else { None }
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn slice(&self, span: Span) -> Option<&str> {
        self.text.get(span.start..span.end)
    }

    /// Skips bytes that fit; the span of those.
    fn run(&mut self, fits: impl Fn(u8) -> bool) -> Span {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..self.end).unwrap_or_default();
        self.at += rest.iter().position(|b| !fits(*b)).unwrap_or(rest.len());
        Span::new(start, self.at)
    }

    /// A text between two equal quotes: its span with them, and what is between.
    fn quoted(&mut self) -> Option<(Span, Span)> {
        let start = self.at;
        let quote = self.next().filter(|b| matches!(b, b'"' | b'\''))?;
        let inside = self.run(|b| b != quote && b != b'\\' && b != b'\t');
        (self.next()? == quote).then_some((Span::new(start, self.at), inside))
    }

    fn key(&mut self) -> Option<Key> {
        let (span, name) = match self.peek()? {
            b'"' | b'\'' => self.quoted()?,
            _ => {
                let bare = self.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
                (bare, bare)
            }
        };
        let name = self.slice(name)?;
        let plain = !name.is_empty() && !name.bytes().any(|b| matches!(b, b'[' | b']' | b'"' | b'\'' | b'#'));
        plain.then(|| Key { name: name.to_owned(), span })
    }

    fn value(&mut self) -> Option<Node> {
        let start = self.at;
        let item = match self.peek()? {
            b'"' | b'\'' => return self.string(),
            b'[' => Item::Array(self.strings()?),
            b't' | b'f' => {
                let word = self.run(|b| b.is_ascii_alphabetic());
                Item::Bool(self.slice(word)?.parse().ok()?)
            }
            _ => self.number()?,
        };
        Some(Node { span: Span::new(start, self.at), item })
    }

    fn string(&mut self) -> Option<Node> {
        let (span, inside) = self.quoted()?;
        Some(Node { span, item: Item::Text(self.slice(inside)?.to_owned()) })
    }

    /// `['a', 'b']`
    fn strings(&mut self) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(items);
        }
        loop {
            self.blanks();
            items.push(self.string()?);
            self.blanks();
            match self.next()? {
                b',' => {}
                b']' => return Some(items),
                _ => return None,
            }
        }
    }

    /// `0`, `12`, `-3`, `0.5`
    fn number(&mut self) -> Option<Item> {
        let written = self.run(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.'));
        let written = self.slice(written)?;
        let unsigned = written.strip_prefix('-').unwrap_or(written);
        let digits = |t: &str| !t.is_empty() && t.len() <= 15 && t.bytes().all(|b| b.is_ascii_digit());
        let whole = |t: &str| digits(t) && (t == "0" || !t.starts_with('0'));
        match unsigned.split_once('.') {
            None if whole(unsigned) => written.parse().ok().map(Item::Int),
            Some((before, after)) if whole(before) && digits(after) => written.parse().ok().map(Item::Float),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, parse_document};
    use super::read;

    const DIALECTS: [Dialect; 3] = [Dialect::BurntSushi, Dialect::GoTomlV1, Dialect::GoTomlV2];

    #[test]
    fn plain_texts_are_read_as_each_library_reads_them() {
        for text in [
            "",
            "\n  # x\n",
            "version = 2 # y",
            "a = 'x' \n\tb = \"y#z\"\nc = -12\nd = 0.25\ne = [ 'p' , \"q\" ]\nf = []\ng = false\n",
            "[a.b.\"c.d\"]\n  x = ''\n[a.b]#z\ny = true\n[a]\n[a.'e-f'.g]\n  'q.r' = \"\"\n",
        ] {
            let plain = read(text);
            assert!(plain.is_some(), "{text}");
            for dialect in DIALECTS {
                assert_eq!(parse_document(text, dialect, None).ok(), plain, "{dialect:?}: {text}");
            }
        }
    }

    #[test]
    fn what_the_libraries_may_differ_in_is_not_plain() {
        for text in [
            "a = 1\na = 2",
            "[a]\n[a]",
            "[a.b]\n[a]\nb = 1",
            "a.b = 1",
            "a = { b = 1 }",
            "[[a]]",
            "a = 1_0",
            "a = 01",
            "a = \"\\n\"",
            "a = '''x'''",
            "a = [1, 2]",
            "a = ['x',]",
            "a = é",
            "a = 1\r\n",
            "[ a ]",
            "a = 1 b = 2",
            "[a] b = 1",
            "a",
            "a =",
            "[a",
            "= 1",
            "a = ['x'\n]",
            "a = 1979-05-27",
            "a = 'x",
            "a = true1",
            "a = [[]]",
            "a = inf",
            "\"\" = 1",
            "[a.]",
            "[]",
            "a = 1.",
            "a = +1",
            "a = 'x'y",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
