//! nodevet: does this node's container runtime, kubelet, init system and cgroup hierarchy agree?
//!
//! Data flows one way: collect → resolve → evaluate → report or fix.

pub mod capture;
pub mod cli;
pub mod collect;
pub mod config;
pub mod derive;
pub mod evaluate;
pub mod fact;
pub mod finding;
pub mod fix;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
pub mod look;
mod mask;
pub mod model;
pub mod names;
pub mod node;
pub mod report;
pub mod resolve;
pub mod rule;
pub mod suppress;
pub mod text;
pub mod version;
pub mod write;
