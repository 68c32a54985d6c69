//! Where examples of rules run: a node made of their files, collected and resolved for real.

use crate::collect::{Options, collect};
use crate::derive::derive;
use crate::fact::Type;
use crate::finding::{Finding, Fix};
use crate::fix;
use crate::look::Look;
use crate::node::Node;
use crate::resolve::Snapshot;
use crate::rule::examples::{Facts, Harness, Scene};
use std::collections::BTreeMap;

pub struct Bench;

impl Harness for Bench {
    fn collect(&self, files: &BTreeMap<String, String>, facts: &Facts) -> Scene {
        let look = look(files, facts);
        Scene { now: look.now, next: look.next, sources: look.collected.sources }
    }

    fn fixed(
        &self,
        files: &BTreeMap<String, String>,
        facts: &Facts,
        _finding: &Finding,
        fix: &Fix,
    ) -> Result<BTreeMap<String, String>, String> {
        let look = look(files, facts);
        let intent = fix.intent.as_ref().ok_or("the fix has no edit")?;
        let fix = Fix { edits: look.home(fix, intent)?, ..fix.clone() };
        let sources = &look.collected.sources;
        let mut after = files.clone();
        for (source, text) in fix::apply(sources, &[&fix])? {
            after.insert(sources.get(source).name.clone(), text);
        }
        Ok(after)
    }
}

/// A version among the facts counts as assumed; all of them beat what the files say.
fn look(files: &BTreeMap<String, String>, facts: &Facts) -> Look {
    let mut options = Options::default();
    for (id, fact) in facts {
        let daemon =
            id.decl().name.strip_suffix(".version").filter(|_| matches!(id.decl().ty, Type::Version));
        if let (Some(daemon), Some(version)) = (daemon, fact.value.is().and_then(|v| v.as_text())) {
            options.assume.insert(daemon.to_owned(), version.to_owned());
        }
    }
    let lay = |snapshot: &mut Snapshot| facts.iter().for_each(|(id, fact)| snapshot.set(*id, fact.clone()));
    Look::of(collect(&Node::memory(files.clone()), &options), |snapshot| {
        lay(snapshot);
        derive(snapshot);
    })
}
