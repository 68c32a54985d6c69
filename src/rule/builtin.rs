//! The rules inside the binary.

use super::blob::Blob;
use super::check::Home;
use super::error::RuleError;
use super::expr::Flaw;
use super::law::Rule;
use super::load::{Loaded, load_all};

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rules.postcard"));

/// File name and text of each, in the order of codes.
static TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Rules, and what has a code without a law; decoded anew at each call.
pub fn decode() -> Blob {
    postcard::from_bytes(BLOB).unwrap_or_default()
}

/// All built-in rules, in the order of codes; decoded anew at each call.
pub fn builtin() -> Vec<Rule> {
    decode().rules
}

/// The rule files as written: file name and text, in the order of codes.
pub fn texts() -> &'static [(&'static str, &'static str)] {
    TEXTS
}

/// Loads users' rule files, given as path and text; a name of a built-in rule is taken.
pub fn load_users(files: &[(String, String)]) -> (Vec<Loaded>, Vec<RuleError>) {
    let (loaded, mut errors) = load_all(files.iter().map(|(p, t)| (p.as_str(), t.as_str())), Home::User);
    for rule in &loaded {
        let end = format!("-{}.toml", rule.name);
        if let Some((taken, _)) =
            TEXTS.iter().find(|(file, _)| file.split_once(&end).is_some_and(|(code, _)| !code.contains('-')))
        {
            let message =
                format!("`{}` is taken by the built-in {}", rule.name, taken.trim_end_matches(".toml"));
            errors.push(RuleError::new(&rule.path, &rule.text, Flaw::new(Default::default(), message)));
        }
    }
    (loaded, errors)
}
