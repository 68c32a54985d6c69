//! dockerd's command line, and which keys its file may have.

use super::flags::{FLAGS, SHORT, Takes};
use crate::model::unit::Argument;
use crate::text::Place;

/// A flag that was given, with its value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// The argument that holds the value, or its part after the `=`.
    pub(super) place: Place,
}

pub(super) fn find(name: &str) -> Option<(&'static str, Takes)> {
    FLAGS.iter().find(|(flag, _)| *flag == name).copied()
}

/// The key of the file that says the same as a flag.
pub(super) fn key(flag: &'static str) -> &'static str {
    match find(flag) {
        Some((_, Takes::List(key))) => key,
        _ => flag,
    }
}

/// Whether daemon.json may have this key: a flag's name, or the name of its list.
pub(super) fn is_key(name: &str) -> bool {
    find(name).is_some() || FLAGS.iter().any(|(_, takes)| *takes == Takes::List(name_of(name)))
}

fn name_of(name: &str) -> &'static str {
    let named = FLAGS.iter().find_map(|(_, takes)| match takes {
        Takes::List(key) if *key == name => Some(*key),
        _ => None,
    });
    named.unwrap_or("")
}

/// Reads arguments as spf13/pflag does; what it does not know stops the daemon.
pub(super) fn parse(arguments: &[Argument]) -> Result<Vec<Given>, (Place, String)> {
    let mut given = Vec::new();
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let (word, place) = (argument.text(), argument.place_from(0));
        let tail = |at: usize| argument.place_from(at);
        let (name, takes, inline) = if let Some(long) = word.strip_prefix("--") {
            if long.is_empty() {
                break;
            }
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            let (name, takes) = find(name).ok_or_else(|| (place, format!("unknown flag: --{name}")))?;
            (name, takes, value.map(|v| (v.to_owned(), tail(word.len() - v.len()))))
        } else if let Some(short) = word.strip_prefix('-').filter(|s| !s.is_empty()) {
            let letter = short.chars().next().unwrap_or_default();
            let long = SHORT.iter().find(|(c, _)| *c == letter).and_then(|(_, long)| find(long));
            let (name, takes) = long.ok_or_else(|| (place, format!("unknown flag: -{letter}")))?;
            let value = short[letter.len_utf8()..].to_owned();
            let value = value.strip_prefix('=').map_or(value.clone(), str::to_owned);
            let at = word.len() - value.len();
            (name, takes, (!value.is_empty() && takes != Takes::Nothing).then(|| (value, tail(at))))
        } else {
            return Err((place, format!("`{word}` is no flag")));
        };
        let (value, place) = match (inline, takes) {
            (Some(inline), _) => inline,
            (None, Takes::Nothing) => ("true".to_owned(), place),
            (None, _) => match rest.next() {
                Some(value) => (value.text().to_owned(), value.place_from(0)),
                None => return Err((place, format!("--{name} needs a value"))),
            },
        };
        given.push(Given { name, value, place });
    }
    Ok(given)
}
