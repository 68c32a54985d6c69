//! Rules: laws over facts, written in TOML, checked when they are loaded. The build script
//! declares the same modules but those that need the built-in rules or evaluation.

pub mod blob;
pub mod check;
pub mod error;
pub mod expr;
pub mod file;
pub mod given;
pub mod late;
pub mod law;
pub mod load;
pub mod raw;
pub mod template;

pub mod examples;

mod builtin;
mod explain;

pub use builtin::{builtin, decode, load_users, texts};
pub use check::Home;
pub use error::RuleError;
pub use explain::{Listed, list};
pub use law::Rule;
pub use load::{Loaded, load, load_all};
