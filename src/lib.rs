//! nodevet: does this node's container runtime, kubelet, init system and cgroup hierarchy agree?
//!
//! Data flows one way: collect → resolve → evaluate → report or fix.

pub mod evaluate;
pub mod fact;
pub mod finding;
pub mod model;
pub mod names;
pub mod resolve;
pub mod rule;
pub mod text;
pub mod version;
