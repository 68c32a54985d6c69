//! nodevet: does this node's container runtime, kubelet, init system and cgroup hierarchy agree?
//!
//! Data flows one way: collect → resolve → evaluate → report or fix.

pub mod collect;
pub mod derive;
pub mod fact;
pub mod finding;
pub mod model;
pub mod names;
pub mod node;
pub mod resolve;
pub mod text;
pub mod version;
