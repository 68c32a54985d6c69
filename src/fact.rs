//! Facts: what a node says, and where it says it. The vocabulary of the whole program;
//! depends on nothing but [`crate::text`].

use crate::text::Place;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A value in force or said. Tables have no value of their own: see [`What::Rows`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Value {
    Bool(bool),
    Int(i64),
    /// Also versions and members of closed sets; the declared [`Type`] tells.
    Text(Arc<str>),
    List(Vec<Value>),
}

impl Value {
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(t) = self { Some(t) } else { None }
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(b) = self { Some(*b) } else { None }
    }

    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(i) = self { Some(*i) } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Text(t) => f.write_str(t),
            Value::List(list) => {
                for (i, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

/// Three-valued knowledge. *Absent*: we looked, it is not there. *Unknown*: we could not look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    Is(T),
    /// With a reason where the absence follows from something else; empty otherwise.
    Absent(Cow<'static, str>),
    Unknown(Why),
}

impl<T> Known<T> {
    /// Looked for and not there.
    pub const ABSENT: Known<T> = Known::Absent(Cow::Borrowed(""));

    pub fn is(&self) -> Option<&T> {
        if let Known::Is(value) = self { Some(value) } else { None }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Known::Unknown(_))
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Known<U> {
        self.and_then(|value| Known::Is(f(value)))
    }

    pub fn and_then<U>(self, f: impl FnOnce(T) -> Known<U>) -> Known<U> {
        match self {
            Known::Is(value) => f(value),
            Known::Absent(note) => Known::Absent(note),
            Known::Unknown(why) => Known::Unknown(why),
        }
    }

    pub fn as_ref(&self) -> Known<&T> {
        match self {
            Known::Is(value) => Known::Is(value),
            Known::Absent(note) => Known::Absent(note.clone()),
            Known::Unknown(why) => Known::Unknown(why.clone()),
        }
    }
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Permission refused for this path or socket.
    Denied(String),
    /// Nothing answers: the process, bus or runtime tree (named) is not there.
    NotRunning(String),
    /// The probe (named) did not answer before its deadline.
    Timeout(String),
    /// The text could not be parsed; the place is that of the syntax error.
    Malformed(Place, String),
    /// Not a regular file, too large, a cyclic link, an input error: path and what was met.
    Unreadable(String, String),
    /// Worlds of an unknown version disagree. `of` is the daemon, `worlds` the generations that differ.
    NeedsVersion { of: &'static str, worlds: Vec<String> },
    /// Follows from another fact (named) that is unknown.
    Needs(&'static str, Box<Why>),
    /// The answer was not understood (text as met).
    Strange(String),
    /// Said so by a test or an example.
    Unread,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Denied(what) => write!(f, "permission denied: {what}"),
            Why::NotRunning(what) => write!(f, "not running: {what}"),
            Why::Timeout(what) => write!(f, "no answer in time: {what}"),
            Why::Malformed(_, message) => write!(f, "malformed: {message}"),
            Why::Unreadable(path, met) => write!(f, "{path}: {met}"),
            Why::NeedsVersion { of, worlds } if worlds.is_empty() => {
                write!(f, "the version of {of} is not known")
            }
            Why::NeedsVersion { of, worlds } => {
                write!(f, "depends on the version of {of}: {}", worlds.join(", "))
            }
            Why::Needs(fact, why) => write!(f, "needs {fact} ({why})"),
            Why::Strange(text) => write!(f, "not understood: {text}"),
            Why::Unread => f.write_str("not read"),
        }
    }
}

impl Why {
    /// What an operator can do so that it becomes known: one imperative sentence.
    pub fn remedy(&self) -> String {
        match self {
            Why::Denied(_) => "run as root".into(),
            Why::NotRunning(_) => "look at the node while it runs".into(),
            Why::Timeout(what) => format!("see why it hangs, or raise --timeout: {what}"),
            Why::Malformed(..) => "mend the file".into(),
            Why::Unreadable(path, _) => format!("make it a readable regular file: {path}"),
            Why::NeedsVersion { of, .. } => format!("name the version: --assume {of}=VERSION"),
            Why::Needs(_, why) => why.remedy(),
            Why::Strange(_) => "report the answer with `nodevet capture`".into(),
            Why::Unread => "read it".into(),
        }
    }
}

/// Who spoke, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    Default,
    Vendor,
    File,
    DropIn,
    Environment,
    Flag,
    /// Observed: the kernel's tables, a listing, a process, the bus, CRI.
    Runtime,
    /// `--assume`: beats all evidence.
    Assumed,
}

impl Layer {
    pub fn name(self) -> &'static str {
        match self {
            Layer::Default => "default",
            Layer::Vendor => "vendor",
            Layer::File => "file",
            Layer::DropIn => "drop-in",
            Layer::Environment => "environment",
            Layer::Flag => "flag",
            Layer::Runtime => "runtime",
            Layer::Assumed => "assumed",
        }
    }
}

/// The names of a written path, outermost first; shared by all who quote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written(Option<Arc<[String]>>);

impl From<Vec<String>> for Written {
    fn from(names: Vec<String>) -> Written {
        Written((!names.is_empty()).then(|| names.into()))
    }
}

impl std::ops::Deref for Written {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub layer: Layer,
    pub place: Place,
    /// The path *as written* in that text (before any migration); empty where there is none.
    pub written: Written,
    /// For a value that stands nowhere: the nearest enclosing table header written in the winning
    /// file (else its first line). Labels point there, with `place` as the second label.
    pub near: Option<Place>,
}

impl Origin {
    pub fn new(layer: Layer, place: Place) -> Origin {
        Origin { layer, place, written: Written::default(), near: None }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub value: Value,
    pub origin: Origin,
}

/// Statements about one thing, weakest first within a layer.
pub type Statements = Known<Vec<Said>>;

/// One row of a table: a cell for each column that was looked at. A missing column is absent.
pub type Row = Vec<(&'static str, Statements)>;

/// What a collector learned about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Statements that override one another.
    One(Statements),
    /// Statements that are all in force: the elements of a list, each with its own origin.
    Each(Statements),
    /// A table; generations of a daemon share the rows that they have in common.
    Rows(Known<Vec<Arc<Row>>>),
}

/// What a collector returns; the name is declared in [`crate::names`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: &'static str,
    pub what: What,
}

impl Fact {
    pub fn one(name: &'static str, said: Statements) -> Fact {
        Fact { name, what: What::One(said) }
    }

    /// A value said in one place.
    pub fn is(name: &'static str, value: Value, origin: Origin) -> Fact {
        Fact::one(name, Known::Is(vec![Said { value, origin }]))
    }

    pub fn each(name: &'static str, said: Statements) -> Fact {
        Fact { name, what: What::Each(said) }
    }

    pub fn rows(name: &'static str, rows: Known<Vec<Row>>) -> Fact {
        Fact::shared(name, rows.map(|rows| rows.into_iter().map(Arc::new).collect()))
    }

    /// Rows that others may have too.
    pub fn shared(name: &'static str, rows: Known<Vec<Arc<Row>>>) -> Fact {
        Fact { name, what: What::Rows(rows) }
    }
}

/// Something wrong with an input, at its place; becomes a finding of the 9xx group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub place: Place,
    pub message: String,
}

/// What a collector promises about a name.
#[derive(Debug)]
pub struct Decl {
    pub name: &'static str,
    pub ty: Type,
    pub doc: &'static str,
    pub moment: Moment,
    /// The fact through which this one is set, if it can be set: itself, or another for a derived fact.
    pub set_through: Option<&'static str>,
}

/// Whether a restart of its daemon may change the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Same now and after the next start (the host, the cgroup tree, a version on disk).
    Steady,
    /// What runs now may differ from what the next start will read: statements of
    /// [`Layer::Runtime`] count now and are dropped for the next start.
    Restart,
}

/// Types of facts.
#[derive(Debug)]
pub enum Type {
    Bool,
    Int,
    Text,
    OneOf(&'static [&'static str]),
    Version,
    List(&'static Type),
    Table { row: &'static str, columns: &'static [Decl] },
}
