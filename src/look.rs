//! One look at a node: collected once, resolved for both moments.

use crate::collect::{Options, collect};
use crate::derive::derive;
use crate::finding::{Edit, Intent};
use crate::node::Node;
use crate::resolve::{Collected, Snapshot, When, Worlds, resolve};

pub struct Look {
    pub collected: Collected,
    /// As it runs.
    pub now: Worlds,
    /// As it will start next.
    pub next: Worlds,
}

impl Look {
    pub fn at(node: &Node, options: &Options) -> Look {
        Look::of(collect(node, options), derive)
    }

    pub fn of(collected: Collected, derive: impl Fn(&mut Snapshot)) -> Look {
        let now = resolve(&collected, When::Now, &derive);
        let next = resolve(&collected, When::NextStart, &derive);
        Look { collected, now, next }
    }

    /// Where a fix would write.
    pub fn home(&self, intent: &Intent) -> Result<Vec<Edit>, String> {
        let (Intent::Set { fact, .. } | Intent::Remove { fact, .. } | Intent::Move { fact, .. }) = intent;
        Err(format!("nothing here edits what says {fact}: change it by hand"))
    }
}
