//! Verdicts and findings: what evaluation says, before anything is shown or fixed.

use crate::fact::{Value, Why};
use crate::text::{Place, SourceId};

/// What to do about it: page, ticket, ignore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Computed from the layers of the facts that were read, never declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A default without a known version, or a severity that could not be decided.
    Possible,
    /// Rests on a documented default of a known version.
    Likely,
    /// Everything was observed or is written in a file.
    Certain,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Possible => "possible",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// A span to show, with what it means. The first label of a finding is the primary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub place: Place,
    pub text: String,
}

/// Ordered: `fix.safety >= asked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    Manual,
    Unsafe,
    Safe,
}

impl Safety {
    pub fn name(self) -> &'static str {
        match self {
            Safety::Manual => "manual",
            Safety::Unsafe => "unsafe",
            Safety::Safe => "safe",
        }
    }
}

/// What a rule wants changed, said by fact; the model lowers it to edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Set a fact (or a column of one row, by index) to a value.
    Set { fact: String, row: Option<usize>, value: Value },
    /// Take away what says the fact: a key, or one element of a list.
    Remove { fact: String, row: Option<usize>, element: Option<Value> },
    /// Move what says the fact to another written path of the same file.
    Move { fact: String, row: Option<usize>, to: Vec<String> },
}

/// A change of one text: a path, never offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub source: SourceId,
    pub op: Op,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Set(Vec<String>, Value),
    Remove(Vec<String>),
    /// Take one element out of the array at a path.
    RemoveElement(Vec<String>, Value),
    Move {
        from: Vec<String>,
        to: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub safety: Safety,
    /// Why it is not safe, or why the model refuses to say where to write.
    pub reason: Option<String>,
    pub intent: Option<Intent>,
    /// The row of the intent, known again in another world: its first cell, and how many rows with
    /// the same one stand before it.
    pub row: Option<(Value, usize)>,
    /// Filled in by lowering; empty for a manual fix.
    pub edits: Vec<Edit>,
    /// Commands for the operator, afterwards.
    pub after: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: String,
    pub name: String,
    pub severity: Severity,
    pub confidence: Confidence,
    /// Why the confidence is what it is, one clause.
    pub certainty: String,
    pub message: String,
    /// Primary first; empty only when no fact read has a place.
    pub labels: Vec<Label>,
    pub fixes: Vec<Fix>,
    /// Facts that decided, with their values: the fingerprint is made of these, not of lines.
    pub facts: Vec<(String, String)>,
}

impl Finding {
    /// The same for the same trouble, wherever it moves in a file: 64-bit FNV-1a of the code, the
    /// facts that decided and their values, in sixteen hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let facts = self.facts.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for part in std::iter::once(self.code.as_str()).chain(facts) {
            for byte in part.bytes().chain([0xff]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }
}

/// A fact that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub fact: String,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finding(Box<Finding>),
    Pass,
    NotApplicable,
    /// Never a pass: what was missing.
    Unknown(Vec<Missing>),
}

/// What one rule says (once, or once for each row of its table).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub code: String,
    pub name: String,
    pub outcome: Outcome,
    /// Names of the facts that were read, for `-v`.
    pub read: Vec<String>,
}
