//! Rule files to rules.

use super::check::{Home, check, identity};
use super::error::RuleError;
use super::file::{RuleFile, read};
use super::law::Rule;
use super::raw::parse;

/// A file that holds.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub path: String,
    pub code: String,
    pub name: String,
    /// `None`: it was removed, or the program makes its findings without a law.
    pub rule: Option<Rule>,
    pub file: RuleFile,
    pub text: String,
}

/// Loads one file; all its errors come at once, in the order of their places.
pub fn load(path: &str, text: &str, home: Home) -> Result<Loaded, Vec<RuleError>> {
    let mut flaws = Vec::new();
    let (code, name) = identity(path, home, &mut flaws);
    let named = flaws.len();
    let raw = parse(text, &mut flaws);
    // what follows from a syntax error is not an error of its own
    let syntax = flaws.len() > named;
    let file = if syntax { RuleFile::default() } else { read(raw, &mut flaws) };
    let rule = if syntax { None } else { check(&file, (code.clone(), name.clone()), home, &mut flaws) };
    if flaws.is_empty() {
        return Ok(Loaded { path: path.to_owned(), code, name, rule, file, text: text.to_owned() });
    }
    flaws.sort_by_key(|flaw| flaw.span);
    flaws.dedup();
    Err(flaws.into_iter().map(|flaw| RuleError::new(path, text, flaw)).collect())
}

/// Loads several, given as path and text; a code or a name is used once.
pub fn load_all<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    home: Home,
) -> (Vec<Loaded>, Vec<RuleError>) {
    let (mut loaded, mut errors) = (Vec::<Loaded>::new(), Vec::new());
    for (path, text) in files {
        match load(path, text, home) {
            Ok(new) => match loaded.iter().find(|old| old.code == new.code || old.name == new.name) {
                Some(old) => {
                    let message = format!("`{} {}` is taken by {}", old.code, old.name, old.path);
                    errors.push(RuleError::new(
                        path,
                        text,
                        super::expr::Flaw::new(Default::default(), message),
                    ));
                }
                None => loaded.push(new),
            },
            Err(more) => errors.extend(more),
        }
    }
    (loaded, errors)
}

#[cfg(test)]
mod tests;
