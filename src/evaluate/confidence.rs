//! How sure a finding is: from the layers of the facts that were read.

use super::Context;
use super::view::View;
use crate::fact::{Known, Layer};
use crate::finding::{Confidence, Missing};
use crate::names::{self, FactId};
use crate::resolve::Worlds;
use crate::rule::expr::Ref;

/// The weakest layer that speaks in a fact.
fn layer(view: &View<'_>, at: Ref) -> Option<Layer> {
    let in_force = view.in_force(at).filter(|f| matches!(f.value, Known::Is(_)))?;
    let elements = in_force.elements.iter().map(|said| said.origin.layer);
    elements.chain(in_force.by.as_ref().map(|origin| origin.layer)).min()
}

/// Confidence, and why, in one clause.
pub(super) fn of(context: &Context<'_>, view: &View<'_>, undecided: &[Missing]) -> (Confidence, String) {
    if let Some(missing) = undecided.first() {
        let why = format!("the severity depends on {}, which is unknown", missing.fact);
        return (Confidence::Possible, why);
    }
    let each = context.rule.each;
    let layers: Vec<(Ref, Option<Layer>)> = context.reads.iter().map(|at| (*at, layer(view, *at))).collect();
    let of_layer = |wanted: Layer| layers.iter().filter(move |(_, l)| *l == Some(wanted)).map(|(at, _)| *at);
    let defaults: Vec<Ref> = of_layer(Layer::Default).collect();
    let named = defaults.iter().map(|at| at.name(each)).collect::<Vec<_>>().join(", ");
    if defaults.iter().any(|at| of_unknown_version(*at, each, context.worlds)) {
        return (
            Confidence::Possible,
            format!("rests on a documented default of an unknown version: {named}"),
        );
    }
    if !defaults.is_empty() {
        return (Confidence::Likely, format!("rests on a documented default: {named}"));
    }
    let how = if of_layer(Layer::Assumed).next().is_some() {
        "every value is written, observed or assumed on the command line"
    } else {
        "every value is written in a file or was observed"
    };
    (Confidence::Certain, how.to_owned())
}

/// Whether a fact depends on a version of which several generations are possible.
fn of_unknown_version(at: Ref, each: Option<FactId>, worlds: &Worlds) -> bool {
    let fact = if let Ref::Fact(id) = at { Some(id) } else { each };
    let (containerd, kubelet) = fact.map_or((false, false), names::depends);
    (containerd && worlds.containerd.len() > 1) || (kubelet && worlds.kubelet.len() > 1)
}
