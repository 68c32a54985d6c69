//! The kubelet's command line, as each version reads it. Facts of upstream: spf13/pflag's flag.go,
//! component-base's cli/flag, cmd/kubelet/app/server.go, and kubelets that were run.

mod csv;
mod labels;
mod line;
mod number;
mod pairs;
mod quote;
mod table;
mod taints;
mod value;
mod walk;

pub use labels::check as check_labels;
pub(super) use line::parse_right;
pub use line::{Line, parse};
pub use table::{all, find};

use crate::fact::Value;
use crate::model::unit::Argument;
use crate::text::Place;
use walk::{Event, Walk};

/// One flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    pub name: &'static str,
    pub short: Option<char>,
    pub kind: FlagKind,
    /// The field of KubeletConfiguration that it sets, as v1beta1 spells it; empty when it sets none.
    pub sets: &'static [&'static str],
    /// The first version 1.x that has it; absent when that is older than the table (1.20).
    pub since: Option<u32>,
    /// The first version 1.x that lacks it; absent when 1.36 has it.
    pub until: Option<u32>,
    pub deprecated: bool,
}

/// How a flag takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKind {
    Bool,
    Text,
    Int32,
    Int64,
    Float,
    Duration,
    Ip,
    /// Comma-separated values as CSV; further uses add.
    List,
    /// `a=b,c=d`; further uses add, as in all maps below.
    Map,
    /// One `a=b`, commas and all.
    Pair,
    /// `a=true,b=false`.
    Gates,
    /// `a<b,c<d`.
    Thresholds,
    /// `a:b,a:c`; a name may have several values.
    Headers,
    /// `a=b,c`; checked apart from parsing, see [`check_labels`].
    Labels,
    /// `key=value:effect,…`; the last use counts.
    Taints,
    /// `0:memory=1Gi,hugepages-1Gi=2Gi`, one NUMA node; further uses add.
    Memory,
    /// Bytes as Kubernetes writes them, `64Ki`.
    Quantity,
    /// Verbosity of the log.
    Level,
    /// `pattern=N,…`; further uses add.
    Vmodule,
    /// A boolean, `raw`, or a version to pretend.
    Version,
    /// Kinds of Go's own flag package: they take the same and word their errors otherwise.
    GoBool,
    GoInt,
    GoDuration,
}

impl FlagKind {
    /// Whether the flag may stand without a value, and never takes the next word for one.
    pub fn alone(self) -> bool {
        matches!(self, FlagKind::Bool | FlagKind::GoBool | FlagKind::Version)
    }

    /// Whether a further use adds to what was said before; else the last one counts.
    pub fn adds(self) -> bool {
        use FlagKind::*;
        matches!(self, List | Map | Pair | Gates | Thresholds | Headers | Labels | Memory | Vmodule)
    }
}

/// One element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub text: String,
    pub place: Place,
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    /// A boolean for gates, a number for `--vmodule`, else a text.
    pub value: Value,
    /// Key and value together.
    pub place: Place,
}

/// A value as the kubelet understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    Bool(bool),
    Int(i64),
    /// Durations as Go prints them, everything else as written.
    Text(String),
    /// Taints are `key=value:effect`, reservations of memory `0:memory=1Gi,…`.
    List(Vec<Item>),
    /// In the order written. A key that is said again replaces the former value, except in headers.
    Map(Vec<Entry>),
}

/// One use of a flag, or what all its uses come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub flag: &'static Flag,
    pub value: Parsed,
    /// The value, without the name of the flag; the flag itself where a boolean stands alone.
    pub place: Place,
}

/// Why the kubelet ends before it does anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong: the flag, its value, or the entry of a map.
    pub place: Place,
    /// In the kubelet's words, without what it puts before them (`failed to parse kubelet flag`).
    pub message: String,
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No version has it; the one that is meant, if one is near.
    Unknown {
        nearest: Option<&'static str>,
    },
    /// Earlier versions have it.
    Gone(&'static Flag),
    /// Later versions have it.
    NotYet(&'static Flag),
    /// Dashes that begin no flag.
    Syntax,
    NoValue(&'static Flag),
    Value(&'static Flag),
    /// A word that belongs to no flag.
    Word,
}

/// Uses of a flag as far as the line can be understood without a version.
fn uses<'a>(args: &'a [Argument], name: &'a str) -> impl Iterator<Item = walk::Use<'a>> {
    Walk::new(args, None).filter_map(move |event| match event {
        Ok(Event::Use(used)) if used.flag.name == name => Some(used),
        _ => None,
    })
}

/// The value of a flag that takes one.
pub fn value(args: &[Argument], name: &str) -> Option<(String, Place)> {
    values(args, name).pop()
}

/// All values of a flag, in order: flags that hold maps add up.
pub fn values(args: &[Argument], name: &str) -> Vec<(String, Place)> {
    uses(args, name).map(|used| (used.text().to_owned(), used.place())).collect()
}

#[cfg(test)]
mod tests;
