//! `/etc/nodevet.toml`: text in, [`Config`] out. Reading the file is the caller's.

use crate::finding::{Confidence, Severity};
use crate::names;
use crate::text::Span;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;
use std::time::Duration;
use toml::Spanned;

pub mod date;
pub mod select;

/// What makes the exit code 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    #[default]
    Error,
    Warning,
    Note,
    /// Any finding, and any rule that could not be judged.
    Unknown,
    Never,
}

/// What the file says; nothing said is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub select: Vec<Selector>,
    /// Of rules that are not judged at all.
    pub ignore: Vec<Selector>,
    /// `[[ignore]]`: findings that are known and kept silent.
    pub silenced: Vec<Silenced>,
    pub fail_on: Option<FailOn>,
    /// Files or directories with more rules.
    pub rules: Vec<String>,
    pub min_severity: Option<Severity>,
    pub min_confidence: Option<Confidence>,
    pub timeout: Option<Duration>,
}

/// Code, prefix or name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    pub rule: String,
    pub span: Span,
}

/// One `[[ignore]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silenced {
    /// Code, prefix or name.
    pub rule: String,
    pub reason: Option<String>,
    /// As written.
    pub until: Option<String>,
    /// The last second in which it silences.
    pub until_second: Option<i64>,
    /// Of `rule`'s value, in the text.
    pub span: Span,
}

/// What is wrong with the file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Mistake {
    pub message: String,
    pub span: Span,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    select: Vec<Spanned<String>>,
    #[serde(default)]
    ignore: Vec<Spanned<Ignore>>,
    fail_on: Option<FailOn>,
    #[serde(default)]
    rules: Vec<String>,
    min_severity: Option<Severity>,
    min_confidence: Option<Floor>,
    timeout: Option<Spanned<Timeout>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Floor {
    Possible,
    Likely,
    Certain,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Timeout {
    Seconds(u64),
    Text(String),
}

/// TOML cannot hold both a list `ignore` and tables `[[ignore]]`, so the list takes either.
enum Ignore {
    Selector(String),
    Entry(Entry),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: Spanned<String>,
    reason: Option<String>,
    until: Option<Spanned<Until>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Until {
    Date(toml::value::Datetime),
    Text(String),
}

impl<'de> Deserialize<'de> for Ignore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Ignore;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule (code, prefix or name) or a table with `rule`, `reason`, `until`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Ignore, E> {
                Ok(Ignore::Selector(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Ignore, A::Error> {
                Entry::deserialize(MapAccessDeserializer::new(map)).map(Ignore::Entry)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Config {
    /// Errors name the key nearest to an unknown one.
    pub fn parse(text: &str) -> Result<Config, Mistake> {
        let file: File = toml::from_str(text).map_err(|e| Mistake {
            message: explain(e.message()),
            span: e.span().map_or(Span::default(), |s| Span::new(s.start, s.end)),
        })?;
        let mut config = Config {
            select: file
                .select
                .into_iter()
                .map(|s| Selector { span: span(&s), rule: s.into_inner() })
                .collect(),
            fail_on: file.fail_on,
            rules: file.rules,
            min_severity: file.min_severity,
            min_confidence: file.min_confidence.map(|f| match f {
                Floor::Possible => Confidence::Possible,
                Floor::Likely => Confidence::Likely,
                Floor::Certain => Confidence::Certain,
            }),
            ..Config::default()
        };
        if let Some(timeout) = file.timeout {
            let span = span(&timeout);
            config.timeout = Some(match timeout.into_inner() {
                Timeout::Seconds(seconds) => Duration::from_secs(seconds),
                Timeout::Text(text) => date::duration(&text).ok_or_else(|| Mistake {
                    message: format!("`{text}` is not a duration: write 5s, 500ms or 2m"),
                    span,
                })?,
            });
        }
        for ignore in file.ignore {
            let span = span(&ignore);
            match ignore.into_inner() {
                Ignore::Selector(rule) => config.ignore.push(Selector { rule, span }),
                Ignore::Entry(entry) => config.silenced.push(entry.check()?),
            }
        }
        Ok(config)
    }
}

impl Entry {
    fn check(self) -> Result<Silenced, Mistake> {
        let until = self.until.map(|u| (span(&u), u.into_inner()));
        let until = until.map(|(span, until)| match until {
            Until::Date(date) => (span, date.to_string()),
            Until::Text(text) => (span, text),
        });
        let until_second = match &until {
            None => None,
            Some((span, text)) => Some(date::last_second(text).ok_or_else(|| Mistake {
                message: format!("`{text}` is not a date: write 2027-03-01"),
                span: *span,
            })?),
        };
        Ok(Silenced {
            span: span(&self.rule),
            rule: self.rule.into_inner(),
            reason: self.reason.filter(|r| !r.trim().is_empty()),
            until: until.map(|(_, text)| text),
            until_second,
        })
    }
}

fn span<T>(spanned: &Spanned<T>) -> Span {
    Span::new(spanned.span().start, spanned.span().end)
}

/// Says in our words what serde says of a key or word that does not exist, with the nearest valid one.
fn explain(message: &str) -> String {
    let what = match message {
        m if m.starts_with("unknown field") => "key",
        m if m.starts_with("unknown variant") => "value",
        _ => return message.to_owned(),
    };
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((wrong, valid)) = words.split_first() else { return message.to_owned() };
    match names::nearest(wrong, valid.iter().copied()) {
        Some(near) => format!("unknown {what} `{wrong}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{wrong}`; there are {}", valid.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "select = ['NV1']\nfail_on = 'warning'\nrules = ['/etc/r']\nmin_severity = 'note'\n\
                    min_confidence = 'likely'\ntimeout = '500ms'\n[[ignore]]\nrule = 'NV205'\nreason = 'known'\n\
                    until = 2027-03-01\n";
        let config = Config::parse(text).unwrap();
        let silenced = &config.silenced[0];
        assert_eq!(&text[silenced.span.start..silenced.span.end], "'NV205'");
        assert_eq!(silenced.until.as_deref(), Some("2027-03-01"));
        assert_eq!(silenced.until_second, date::instant("2027-03-01T23:59:59Z"));
        assert_eq!(
            (config.fail_on, config.timeout),
            (Some(FailOn::Warning), Some(Duration::from_millis(500)))
        );
        assert_eq!(config.min_confidence, Some(Confidence::Likely));
        assert_eq!(&text[config.select[0].span.start..config.select[0].span.end], "'NV1'");
        let ignore = Config::parse("ignore = ['NV2', {rule = 'NV3'}]\ntimeout = 3").unwrap().ignore;
        assert_eq!(ignore, [Selector { rule: "NV2".into(), span: Span::new(10, 15) }]);
        assert_eq!(Config::parse("").unwrap(), Config::default());
    }

    #[test]
    fn mistakes_stand_where_they_were_made() {
        for (text, at, says) in [
            ("selct = []", "selct", "did you mean `select`?"),
            ("[[ignore]]\nrule = 'NV1'\nreson = 'x'", "reson", "did you mean `reason`?"),
            ("[[ignore]]\nrule = 'NV1'\nuntil = 'soon'", "'soon'", "is not a date"),
            ("[[ignore]]\nrule = 'NV1'\nuntil = 07:30:00", "07:30:00", "is not a date"),
            ("timeout = '5 years'", "'5 years'", "is not a duration"),
            ("fail_on = 'eror'", "'eror'", "did you mean `error`?"),
            ("ignore = [3]", "3", "expected a rule"),
            ("a = [", "", ""),
        ] {
            let mistake = Config::parse(text).unwrap_err();
            assert!(mistake.message.contains(says), "{text}: {mistake}");
            if !at.is_empty() {
                assert_eq!(&text[mistake.span.start..mistake.span.end], at, "{mistake}");
            }
        }
    }
}
