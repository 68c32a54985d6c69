//! registerWithTaints.

use super::{Checks, Field};
use serde_json::{Map, Value};

const TAINTS: Field<'static> = &["registerWithTaints"];

impl Checks<'_> {
    pub(super) fn taints(&mut self) {
        if self.minor < 23 || !self.is_set(TAINTS) {
            return;
        }
        for said in self.list(TAINTS).unwrap_or_default() {
            let shown = said.value.to_string();
            // those of a flag are in its own form, and were checked with it
            let Ok(Value::Object(taint)) = serde_json::from_str(&shown) else { continue };
            if !is_taint(&taint) {
                self.refuse_at(said.origin.clone(), format!("invalid taint: {shown}"));
            }
            if taint.get("timeAdded").is_some_and(|time| !time.is_null()) {
                let message = "a taint of registerWithTaints must not have timeAdded";
                self.refuse_at(said.origin.clone(), message.to_owned());
            }
        }
    }
}

fn is_taint(taint: &Map<String, Value>) -> bool {
    let text = |key: &str| taint.get(key).and_then(Value::as_str).unwrap_or_default();
    let key = text("key");
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_subdomain)
        && !name.is_empty()
        && is_name(name)
        && is_name(text("value"))
        && matches!(text("effect"), "" | "NoSchedule" | "PreferNoSchedule" | "NoExecute")
}

/// A label's value, which may be empty.
fn is_name(text: &str) -> bool {
    text.len() <= 63
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && ends_well(text)
}

fn is_subdomain(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && ends_well(label)
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn ends_well(text: &str) -> bool {
    let good = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    good(text.as_bytes().first()) && good(text.as_bytes().last())
}
