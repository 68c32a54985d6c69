//! The rules inside the binary.

use super::blob::{Blob, Removed};
use super::law::Rule;

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rules.postcard"));

/// File name and text of each, in the order of codes.
static TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

fn decode() -> Blob {
    postcard::from_bytes(BLOB).unwrap_or_default()
}

/// All built-in rules, in the order of codes; decoded anew at each call.
pub fn builtin() -> Vec<Rule> {
    decode().rules
}

/// Codes that were given up, with the reason.
pub fn removed() -> Vec<Removed> {
    decode().removed
}

/// The rule files as written: file name and text, in the order of codes.
pub fn texts() -> &'static [(&'static str, &'static str)] {
    TEXTS
}
