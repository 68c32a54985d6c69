//! The tree of an expression as written, and how it is printed.

use crate::text::Span;
use std::fmt;

/// A part of an expression. Spans do not count when two are compared.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Expr>),
    Name(String),
    Field(Box<Expr>, Word),
    Index(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    /// Two or more operands.
    And(Vec<Expr>),
    /// Two or more operands.
    Or(Vec<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// Condition, then, else.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Call {
        /// `x` of `x.startsWith("a")`.
        on: Option<Box<Expr>>,
        function: Word,
        args: Vec<Expr>,
    },
}

/// An identifier with its place.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub span: Span,
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.text == other.text
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Compare {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    In,
}

impl Compare {
    pub fn sign(self) -> &'static str {
        match self {
            Compare::Equal => "==",
            Compare::Unequal => "!=",
            Compare::Less => "<",
            Compare::AtMost => "<=",
            Compare::More => ">",
            Compare::AtLeast => ">=",
            Compare::In => "in",
        }
    }
}

impl Kind {
    /// How tightly it binds when printed; operands that bind no tighter get parentheses.
    fn rank(&self) -> u8 {
        match self {
            Kind::Choose(..) => 0,
            Kind::Or(_) => 1,
            Kind::And(_) => 2,
            Kind::Compare(..) => 3,
            Kind::Not(_) => 4,
            _ => 5,
        }
    }
}

/// An operand that must bind at least as tightly as `rank`.
struct Operand<'a>(&'a Expr, u8);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.kind.rank() < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, list: &[Expr], between: &str, rank: u8) -> fmt::Result {
    for (i, item) in list.iter().enumerate() {
        write!(f, "{}{}", if i == 0 { "" } else { between }, Operand(item, rank))?;
    }
    Ok(())
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Bool(b) => write!(f, "{b}"),
            Kind::Int(i) => write!(f, "{i}"),
            Kind::Text(t) => quoted(f, t),
            Kind::List(list) => {
                f.write_str("[")?;
                joined(f, list, ", ", 0)?;
                f.write_str("]")
            }
            Kind::Name(name) => f.write_str(name),
            Kind::Field(on, word) => write!(f, "{}.{}", Operand(on, 5), word.text),
            Kind::Index(on, at) => write!(f, "{}[{at}]", Operand(on, 5)),
            Kind::Not(e) => write!(f, "!{}", Operand(e, 4)),
            Kind::And(list) => joined(f, list, " && ", 3),
            Kind::Or(list) => joined(f, list, " || ", 2),
            Kind::Compare(op, a, b) => write!(f, "{} {} {}", Operand(a, 4), op.sign(), Operand(b, 4)),
            Kind::Choose(c, a, b) => write!(f, "{} ? {} : {b}", Operand(c, 1), Operand(a, 1)),
            Kind::Call { on, function, args } => {
                if let Some(on) = on {
                    write!(f, "{}.", Operand(on, 5))?;
                }
                write!(f, "{}(", function.text)?;
                joined(f, args, ", ", 0)?;
                f.write_str(")")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
