//! The kubelet's command line, as pflag reads it: `--name=value` or `--name value`, underscores
//! count as dashes, of a repeated flag the last counts.

use crate::text::{Place, Span};

/// An argument with its place.
pub type Arg = (String, Place);

/// The value of a flag that takes one.
pub fn value(args: &[Arg], name: &str) -> Option<Arg> {
    values(args, name).pop()
}

/// All values of a flag, in order: flags that hold maps add up.
pub fn values(args: &[Arg], name: &str) -> Vec<Arg> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some((text, place)) = rest.next() {
        if text == "--" {
            break;
        }
        let Some(flag) = text.strip_prefix("--") else { continue };
        let (flag, inline) = flag.split_once('=').map_or((flag, None), |(f, v)| (f, Some(v)));
        if flag.replace('_', "-") != name {
            continue;
        }
        match inline {
            Some(value) => found.push((value.to_owned(), tail(text, *place, value.len()))),
            None => found.extend(rest.next().cloned()),
        }
    }
    found
}

/// The last bytes of an argument; all of it where its text was quoted or put together.
fn tail(text: &str, place: Place, length: usize) -> Place {
    let Span { start, end } = place.span;
    if end - start == text.len() { Place { span: Span::new(end - length, end), ..place } } else { place }
}

/// The settings of `--feature-gates` for one gate and the gates that stand for a group.
pub fn gates(args: &[Arg]) -> Vec<(String, bool, Place)> {
    let mut found = Vec::new();
    for (text, place) in values(args, "feature-gates") {
        let exact = place.span.end - place.span.start == text.len();
        let mut at = place.span.start;
        for part in text.split(',') {
            let span = if exact { Span::new(at, at + part.len()) } else { place.span };
            at += part.len() + 1;
            if let Some((name, value)) = part.split_once('=')
                && let Some(value) = go_bool(value.trim())
            {
                found.push((name.trim().to_owned(), value, Place { span, ..place }));
            }
        }
    }
    found
}

/// Go's strconv.ParseBool.
fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Kind, Sources, words};

    fn args(line: &str) -> (Vec<Arg>, Sources) {
        let mut sources = Sources::default();
        let source = sources.add("argv:1", Kind::Argv, line);
        (words(line).map(|(span, word)| (word.to_owned(), Place { source, span })).collect(), sources)
    }

    #[test]
    fn flags_are_read_as_pflag_does() {
        let (line, sources) = args(
            "/usr/bin/kubelet --config /a --cgroup_driver=cgroupfs --cgroup-driver=systemd --config= -v=5",
        );
        let (driver, place) = value(&line, "cgroup-driver").unwrap();
        assert_eq!((driver.as_str(), sources.slice(place)), ("systemd", "systemd"));
        assert_eq!(values(&line, "cgroup-driver").len(), 2);
        assert_eq!(value(&line, "config").unwrap().0, "");
        assert_eq!(value(&line, "config-dir"), None);
        let (line, _) = args("kubelet -- --config=/a");
        assert_eq!(value(&line, "config"), None);
    }

    #[test]
    fn gates_have_a_place_each() {
        let (line, sources) = args("kubelet --feature-gates=A=true,B=f --feature-gates C=1,D=maybe");
        let gates = gates(&line);
        let shown: Vec<_> = gates.iter().map(|(n, v, p)| (n.as_str(), *v, sources.slice(*p))).collect();
        assert_eq!(shown, [("A", true, "A=true"), ("B", false, "B=f"), ("C", true, "C=1")]);
    }
}
