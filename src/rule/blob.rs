//! The built-in rules in the form in which they travel inside the binary.

use super::law::Rule;
use serde::{Deserialize, Serialize};

/// Written by the build script, read at each start.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Blob {
    pub rules: Vec<Rule>,
    pub removed: Vec<Removed>,
}

/// A code that was given up; never used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    pub code: String,
    pub name: String,
    pub why: String,
}
