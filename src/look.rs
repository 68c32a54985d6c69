//! One look at a node: collected once, resolved for both moments.

use crate::collect::{Options, collect};
use crate::derive::derive;
use crate::finding::{Edit, Intent};
use crate::model::containerd::{generation, home};
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

    /// Where a fix would write: what every generation of containerd still possible agrees on.
    pub fn home(&self, intent: &Intent) -> Result<Vec<Edit>, String> {
        let (Intent::Set { fact, .. } | Intent::Remove { fact, .. } | Intent::Move { fact, .. }) = intent;
        if !fact.starts_with("containerd.") {
            return Err(format!("nothing here edits what says {fact}: change it by hand"));
        }
        let mut agreed: Option<Vec<Edit>> = None;
        for world in &self.next.worlds {
            let name = self.next.containerd.get(world.containerd).map(String::as_str).unwrap_or_default();
            let Some(generation) = generation::all().iter().find(|g| g.name == name) else { continue };
            let edits = home::home(intent, &world.facts, &self.collected.sources, generation)?;
            if agreed.as_ref().is_some_and(|a| *a != edits) {
                return Err(
                    "where to write depends on the version of containerd: --assume containerd=VERSION".into(),
                );
            }
            agreed = Some(edits);
        }
        agreed.ok_or_else(|| "the version of containerd is not known".into())
    }
}
