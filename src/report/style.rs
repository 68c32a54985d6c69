//! How text output is drawn: colours, characters, width. Decided in one place, from plain parameters.

use crate::mask;

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// How much of the report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// `-q`: findings only.
    Findings,
    #[default]
    Normal,
    /// `-v`: also what passed and what did not apply, with the facts read.
    Verbose,
}

/// Everything the look depends on: flags, environment, the output stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    pub color: ColorChoice,
    pub no_color: Option<&'a str>,
    pub clicolor_force: Option<&'a str>,
    pub term: Option<&'a str>,
    pub lc_all: Option<&'a str>,
    pub lc_ctype: Option<&'a str>,
    pub lang: Option<&'a str>,
    pub is_tty: bool,
    /// Columns of the terminal, where there is one.
    pub width: Option<usize>,
}

/// The decided look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Line drawing and non-ASCII text; otherwise everything is ASCII.
    pub unicode: bool,
    pub width: usize,
    pub detail: Detail,
}

impl Style {
    /// No colour, no drawing beyond ASCII, 100 columns.
    pub const PLAIN: Style = Style { color: false, unicode: false, width: 100, detail: Detail::Normal };

    /// `--color` beats `NO_COLOR` beats `CLICOLOR_FORCE` beats the terminal;
    /// the first of `LC_ALL`, `LC_CTYPE`, `LANG` that says something names the character set.
    pub fn decide(s: Surroundings<'_>) -> Style {
        let set = |value: Option<&str>| value.is_some_and(|v| !v.is_empty());
        let color = match s.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set(s.no_color) => false,
            ColorChoice::Auto if set(s.clicolor_force) && s.clicolor_force != Some("0") => true,
            ColorChoice::Auto => s.is_tty && s.term != Some("dumb"),
        };
        let locale = [s.lc_all, s.lc_ctype, s.lang].into_iter().flatten().find(|v| !v.is_empty());
        let charset = locale.unwrap_or("C").to_ascii_lowercase().replace('-', "");
        let width = s.width.filter(|w| *w > 0).unwrap_or(100);
        Style { color, unicode: charset.contains("utf8"), width: width.max(40), detail: Detail::Normal }
    }

    pub(super) fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", ink.code())
    }

    /// A message made safe and without secrets; in ASCII, common signs get their plain spelling.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = &*mask::hidden(text);
        if self.unicode || text.is_ascii() {
            return clean(text, self.unicode);
        }
        let mut plain = String::with_capacity(text.len());
        for c in text.chars() {
            match SIGNS.iter().find(|s| s.0 == c) {
                Some((_, ascii)) => plain.push_str(ascii),
                None => plain.push(c),
            }
        }
        clean(&plain, false)
    }

    pub(super) fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}

const SIGNS: [(char, &str); 8] =
    [('…', "..."), ('≥', ">="), ('≤', "<="), ('≠', "!="), ('→', "->"), ('–', "-"), ('’', "'"), ('×', "x")];

#[derive(Clone, Copy)]
pub(super) enum Ink {
    Error,
    Warning,
    Note,
    Bold,
    Dim,
    Good,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Ink::Error => "1;31",
            Ink::Warning => "1;33",
            Ink::Note => "1;36",
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Good => "32",
        }
    }
}

/// Text of a node made safe for a terminal: control, invisible and direction-changing characters
/// (and all but ASCII, when asked) become `\u{…}`.
pub(super) fn clean(text: &str, unicode: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push_clean(&mut out, c, unicode);
    }
    out
}

pub(super) fn push_clean(out: &mut String, c: char, unicode: bool) {
    match c {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if is_unsafe(c) || !unicode && !c.is_ascii() => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Characters that a terminal obeys or hides.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Words of `text` in lines of at most `width` columns; lines after the first are indented.
/// `used` is what already stands on the first line.
pub(super) fn wrap(text: &str, used: usize, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = used;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let length = word.chars().count();
        if out.is_empty() {
            column += length;
        } else if column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent + length;
        } else {
            out.push(' ');
            column += 1 + length;
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_flag_then_environment_then_terminal() {
        let color = |s: Surroundings<'_>| Style::decide(s).color;
        let tty = Surroundings { is_tty: true, ..Default::default() };
        assert!(color(tty));
        assert!(!color(Surroundings { is_tty: false, ..tty }));
        assert!(!color(Surroundings { term: Some("dumb"), ..tty }));
        assert!(!color(Surroundings { no_color: Some("1"), ..tty }));
        assert!(color(Surroundings { no_color: Some(""), ..tty }));
        assert!(color(Surroundings { clicolor_force: Some("1"), is_tty: false, ..tty }));
        assert!(!color(Surroundings { clicolor_force: Some("1"), no_color: Some("1"), ..tty }));
        assert!(color(Surroundings { color: ColorChoice::Always, no_color: Some("1"), ..tty }));
        assert!(!color(Surroundings { color: ColorChoice::Never, ..tty }));
    }

    #[test]
    fn the_first_locale_variable_that_says_something_decides() {
        let unicode =
            |lc_all, lang| Style::decide(Surroundings { lc_all, lang, ..Default::default() }).unicode;
        assert!(unicode(None, Some("C.UTF-8")));
        assert!(unicode(Some(""), Some("de_DE.utf8")));
        assert!(!unicode(Some("C"), Some("en_US.UTF-8")));
        assert!(!unicode(None, None));
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean("a\x1b[31mé\u{202e}\u{9b}", true), "a\\u{1b}[31mé\\u{202e}\\u{9b}");
        assert_eq!(clean("é\tb\r\n", false), "\\u{e9}\\tb\\r\\n");
        assert_eq!(Style::PLAIN.clean("é ≥ 2 …"), "\\u{e9} >= 2 ...");
    }

    #[test]
    fn words_wrap_at_the_width() {
        assert_eq!(wrap("one two three", 4, 2, 10), "one\n  two\n  three");
        assert_eq!(wrap("one two", 0, 2, 10), "one two");
    }
}
