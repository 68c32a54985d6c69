//! JSON as Go's encoding/json reads it, with the span of every key and value.

use crate::text::Span;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub span: Span,
    pub item: Item,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    Array(Vec<Node>),
    /// In the order written; of equal keys the last one counts.
    Object(Vec<(Key, Node)>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub name: String,
    /// With its quotes.
    pub span: Span,
}

impl Item {
    /// What Go calls this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::Null => "null",
            Item::Bool(_) => "a boolean",
            Item::Number(_) => "a number",
            Item::Text(_) => "a string",
            Item::Array(_) => "a list",
            Item::Object(_) => "an object",
        }
    }
}

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub span: Span,
    pub message: String,
}

/// The first value of a text, and where it ends; nothing where the text is blank.
pub fn first(text: &str) -> Result<Option<(Node, usize)>, SyntaxError> {
    let mut parser = Parser { text, at: 0 };
    parser.blank();
    if parser.at == text.len() {
        return Ok(None);
    }
    let node = parser.value(0)?;
    Ok(Some((node, parser.at)))
}

/// The one value of a text; nothing where the text is blank.
pub fn only(text: &str) -> Result<Option<Node>, SyntaxError> {
    let Some((node, end)) = first(text)? else { return Ok(None) };
    let mut parser = Parser { text, at: end };
    parser.blank();
    match parser.peek() {
        None => Ok(Some(node)),
        Some(c) => Err(parser.error(format!("{c:?} after the value"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Answer<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// At the next character; at the end of the text, on the last one.
    fn error(&self, message: impl Into<String>) -> SyntaxError {
        let span = match self.peek() {
            Some(c) => Span::new(self.at, self.at + c.len_utf8()),
            None => {
                let last = self.text.trim_end().char_indices().next_back();
                last.map_or(Span::default(), |(at, c)| Span::new(at, at + c.len_utf8()))
            }
        };
        SyntaxError { span, message: message.into() }
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        match self.peek() {
            Some(c) => self.error(format!("{c:?} where {wanted} belongs")),
            None => self.error(format!("the text ends where {wanted} belongs")),
        }
    }

    fn take(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }

    fn value(&mut self, depth: usize) -> Answer<Node> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.blank();
        let start = self.at;
        let item = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Item::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            _ => {
                let words = [("null", Item::Null), ("true", Item::Bool(true)), ("false", Item::Bool(false))];
                let found = words.into_iter().find(|(word, _)| self.text[start..].starts_with(word));
                let Some((word, item)) = found else { return Err(self.unexpected("a value")) };
                self.at += word.len();
                item
            }
        };
        Ok(Node { span: Span::new(start, self.at), item })
    }

    fn object(&mut self, depth: usize) -> Answer<Item> {
        self.at += 1;
        let mut entries = Vec::new();
        self.blank();
        if self.take('}') {
            return Ok(Item::Object(entries));
        }
        loop {
            self.blank();
            let start = self.at;
            if self.peek() != Some('"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let name = self.string()?;
            let key = Key { name, span: Span::new(start, self.at) };
            self.blank();
            if !self.take(':') {
                return Err(self.unexpected("a colon"));
            }
            entries.push((key, self.value(depth + 1)?));
            self.blank();
            if self.take('}') {
                return Ok(Item::Object(entries));
            }
            if !self.take(',') {
                return Err(self.unexpected("a comma or the end of the object"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Answer<Item> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blank();
        if self.take(']') {
            return Ok(Item::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.blank();
            if self.take(']') {
                return Ok(Item::Array(elements));
            }
            if !self.take(',') {
                return Err(self.unexpected("a comma or the end of the list"));
            }
        }
    }

    fn string(&mut self) -> Answer<String> {
        self.at += 1;
        let mut out = String::new();
        let mut pending: Option<u32> = None;
        loop {
            let Some(c) = self.peek() else { return Err(self.unexpected("the end of the string")) };
            if c < ' ' {
                return Err(self.error("a control character in a string"));
            }
            let unit = if c == '\\' { self.escape()? } else { u32::from(c) };
            if c != '\\' {
                self.at += c.len_utf8();
                if c == '"' {
                    out.extend(pending.map(|_| char::REPLACEMENT_CHARACTER));
                    return Ok(out);
                }
            }
            // a pair of surrogates is one character, a single one none
            match (pending.take(), unit) {
                (Some(high), 0xdc00..=0xdfff) => {
                    let code = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    continue;
                }
                (Some(_), _) => out.push(char::REPLACEMENT_CHARACTER),
                (None, _) => {}
            }
            match unit {
                0xd800..=0xdbff => pending = Some(unit),
                _ => out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
            }
        }
    }

    /// One escape: its character, or its UTF-16 unit.
    fn escape(&mut self) -> Answer<u32> {
        self.at += 1;
        let Some(c) = self.peek() else { return Err(self.unexpected("an escape")) };
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits = self.text.get(self.at + 1..self.at + 5);
                let code = digits
                    .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
                    .and_then(|d| u32::from_str_radix(d, 16).ok());
                let Some(code) = code else { return Err(self.unexpected("an escape of four digits")) };
                self.at += 5;
                return Ok(code);
            }
            _ => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        Ok(u32::from(plain))
    }

    fn number(&mut self) -> Answer<Item> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let rest = &parser.text[parser.at..];
            let count = rest.bytes().take_while(u8::is_ascii_digit).count();
            parser.at += count;
            count
        };
        self.take('-');
        if !self.take('0') && digits(self) == 0 {
            return Err(self.unexpected("a digit"));
        }
        if self.take('.') && digits(self) == 0 {
            return Err(self.unexpected("a digit"));
        }
        if self.take('e') || self.take('E') {
            let _ = self.take('+') || self.take('-');
            if digits(self) == 0 {
                return Err(self.unexpected("a digit"));
            }
        }
        Ok(Item::Number(self.text[start..self.at].to_owned()))
    }
}

#[cfg(test)]
mod tests;
