//! One look at a node: collected once, resolved for both moments.

use crate::collect::{collect, Options};
use crate::derive::derive;
use crate::node::Node;
use crate::resolve::{resolve, Collected, When, Worlds};

pub struct Look {
    pub collected: Collected,
    /// As it runs.
    pub now: Worlds,
    /// As it will start next.
    pub next: Worlds,
}

impl Look {
    pub fn at(node: &Node, options: &Options) -> Look {
        Look::of(collect(node, options))
    }

    pub fn of(collected: Collected) -> Look {
        let now = resolve(&collected, When::Now, derive);
        let next = resolve(&collected, When::NextStart, derive);
        Look { collected, now, next }
    }
}
