//! The built-in rules in the form in which they travel inside the binary.

use super::law::Rule;
use serde::{Deserialize, Serialize};

/// Written by the build script, read at each start.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Blob {
    pub rules: Vec<Rule>,
    pub made: Vec<Made>,
    pub removed: Vec<Removed>,
}

/// A rule without a law: the program makes its findings itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    pub code: String,
    pub name: String,
}

/// A code that was given up; never used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    pub code: String,
    pub name: String,
    pub why: String,
}
