//! Comments in the node's own files: `# nodevet: ignore NV101, NV102 reason…`.

use crate::names;
use crate::text::{Kind, Place, Sources, Span};

/// One comment that speaks to nodevet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// From `nodevet:` to the end of the line.
    pub(super) place: Place,
    /// The comment's own line, and the line it speaks of (the same, unless it stands alone).
    pub(super) lines: [usize; 2],
    /// Codes or names, each where it is written.
    pub(super) rules: Vec<(String, Place)>,
    pub(super) reason: Option<String>,
    /// Why it says nothing.
    pub(super) mistake: Option<String>,
}

/// All of them, in the order of sources and lines. Only files are asked.
pub(super) fn scan(sources: &Sources) -> Vec<Directive> {
    let mut found = Vec::new();
    for (id, source) in sources.iter().filter(|(_, s)| s.kind == Kind::File) {
        if !source.text.contains("nodevet:") {
            continue;
        }
        let lines: Vec<&str> = source.text.split('\n').collect();
        let mut offset = 0;
        for (index, line) in lines.iter().enumerate() {
            let body = line.trim_end();
            if let Some(hash) = comment(body)
                && let Some(at) = directive(&body[hash..]).map(|at| hash + at)
            {
                let alone = body[..hash].trim().is_empty();
                let below =
                    || lines[index + 1..].iter().take_while(|l| l.trim_start().starts_with('#')).count();
                let target = if alone { index + 2 + below() } else { index + 1 };
                let place = |from: usize, to: usize| Place {
                    source: id,
                    span: Span::new(offset + from, offset + to),
                };
                found.push(parse(&body[at..], place(at, body.len()), [index + 1, target]));
            }
            offset += line.len() + 1;
        }
    }
    found
}

/// Where the comment of a line begins: a `#` at its start or after a blank, outside quotes.
fn comment(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    let mut escaped = false;
    for (i, c) in line.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            // An apostrophe within a word opens nothing.
            None if (c == '"' || c == '\'') && !before.is_alphanumeric() => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return Some(i),
            None => {}
        }
        before = c;
    }
    None
}

fn directive(comment: &str) -> Option<usize> {
    let body = comment.trim_start_matches('#').trim_start();
    body.starts_with("nodevet:").then_some(comment.len() - body.len())
}

fn parse(text: &str, place: Place, lines: [usize; 2]) -> Directive {
    let mut directive = Directive { place, lines, rules: Vec::new(), reason: None, mistake: None };
    let mut rest = text.trim_start_matches("nodevet:").trim_start();
    let verb = rest.split(char::is_whitespace).next().unwrap_or("");
    rest = rest[verb.len()..].trim_start();
    if verb != "ignore" {
        let near = names::nearest(verb, ["ignore"].into_iter());
        let near = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        directive.mistake = Some(format!("`{verb}` is nothing that a comment can ask for{near}"));
        return directive;
    }
    loop {
        let end = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let start = place.span.start + text.len() - rest.len();
        if !word.is_empty() {
            let place = Place { source: place.source, span: Span::new(start, start + word.len()) };
            directive.rules.push((word.to_owned(), place));
        }
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => break,
        }
    }
    let reason = rest.trim_start_matches([':', '-', '–', '—']).trim();
    directive.reason = (!reason.is_empty()).then(|| reason.to_owned());
    if directive.rules.is_empty() {
        directive.mistake = Some("it names no rule: write `# nodevet: ignore NV101 reason`".into());
    }
    directive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Directive {
        let mut sources = Sources::default();
        sources.add("/f", Kind::File, text);
        let mut found = scan(&sources);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    }

    #[test]
    fn codes_are_separated_by_commas_and_the_rest_is_the_reason() {
        let text = "a = 1 # nodevet: ignore NV101,NV102 , NV103 it's known: see #4\r\n";
        let d = one(text);
        assert_eq!(d.rules.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), ["NV101", "NV102", "NV103"]);
        for (rule, place) in &d.rules {
            assert_eq!(&text[place.span.start..place.span.end], rule);
        }
        assert_eq!(d.reason.as_deref(), Some("it's known: see #4"));
        assert_eq!(d.lines, [1, 1]);
        assert_eq!(one("#nodevet: ignore NV101").reason, None);
        assert_eq!(one("# nodevet: ignore NV101 -- why").reason.as_deref(), Some("why"));
    }

    #[test]
    fn a_comment_of_its_own_speaks_of_the_next_line_that_is_none() {
        assert_eq!(one("x = 1\n  # nodevet: ignore NV101 why\n# more\ny = 2\n").lines, [2, 4]);
    }

    #[test]
    fn quoted_text_is_no_comment() {
        let mut sources = Sources::default();
        sources.add(
            "/f",
            Kind::File,
            "a = \"x \\\" # nodevet: ignore NV1\"\nb = ' # nodevet: ignore NV1'\nc#nodevet: x\n",
        );
        sources.add("/proc/x", Kind::Entry, "# nodevet: ignore NV101 why\n");
        assert_eq!(scan(&sources), []);
        assert_eq!(one("k: it's # nodevet: ignore NV101 why").rules[0].0, "NV101");
    }

    #[test]
    fn a_comment_that_says_nothing_is_a_mistake() {
        assert!(one("# nodevet: ignroe NV101").mistake.unwrap().contains("did you mean `ignore`?"));
        assert!(one("# nodevet: ignore").mistake.unwrap().contains("names no rule"));
    }
}
