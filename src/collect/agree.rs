//! What several generations of a daemon make of the same texts, as one set of facts: what they
//! agree on, and where they differ, that the version decides.

use super::ctx::Ctx;
use crate::fact::{Fact, Known, Layer, Origin, Said, Value, What, Why};
use crate::text::{Kind, Place};

/// One fact for each name, out of those of all worlds; the worlds say the same names in the same
/// order.
pub(super) fn agree(of: &'static str, worlds: Vec<(&'static str, Vec<Fact>)>) -> Vec<Fact> {
    let Some((_, first)) = worlds.first() else { return Vec::new() };
    let facts = first.iter().enumerate().map(|(at, fact)| {
        let others = || worlds.iter().filter_map(|(name, facts)| Some((*name, &facts.get(at)?.what)));
        if others().all(|(_, what)| same(what, &fact.what)) {
            return fact.clone();
        }
        let said = others().map(|(name, what)| match what {
            What::One(Known::Is(said)) => match said.iter().max_by_key(|s| s.origin.layer) {
                Some(strongest) => format!("{name}: {}", strongest.value),
                None => name.to_owned(),
            },
            What::One(Known::Absent(_)) => format!("{name}: absent"),
            _ => name.to_owned(),
        });
        let why = Why::NeedsVersion { of, worlds: said.collect() };
        Fact {
            name: fact.name,
            what: match fact.what {
                What::One(_) => What::One(Known::Unknown(why)),
                What::Each(_) => What::Each(Known::Unknown(why)),
                What::Rows(_) => What::Rows(Known::Unknown(why)),
            },
        }
    });
    facts.collect()
}

/// The same value in force, wherever it comes from.
fn same(a: &What, b: &What) -> bool {
    let value = |said: &Vec<Said>| said.iter().max_by_key(|s| s.origin.layer).map(|s| s.value.clone());
    match (a, b) {
        (What::One(Known::Is(a)), What::One(Known::Is(b))) => value(a) == value(b),
        (What::One(Known::Absent(_)), What::One(Known::Absent(_))) => true,
        (a, b) => a == b,
    }
}

/// Whether a daemon starts, and what stops it. `stopped` is known when all was read; `near` is
/// where a start without an error is shown.
pub(super) fn boots(
    ctx: &Ctx,
    names: [&'static str; 2],
    stopped: Known<Option<(Place, String)>>,
    near: Place,
) -> [Fact; 2] {
    let layer = |place: Place| match ctx.sources.get(place.source).kind {
        Kind::Default => Layer::Default,
        Kind::Argv => Layer::Flag,
        _ => Layer::File,
    };
    let origin = |place| Origin::new(layer(place), place);
    let (boots, error) = match stopped {
        Known::Is(None) => (Known::Is((true, near)), Known::Absent("it starts".into())),
        Known::Is(Some((place, message))) => (Known::Is((false, place)), Known::Is((message, place))),
        Known::Absent(note) => (Known::Absent(note.clone()), Known::Absent(note)),
        Known::Unknown(why) => (Known::Unknown(why.clone()), Known::Unknown(why)),
    };
    let said = |value, place| vec![Said { value, origin: origin(place) }];
    [
        Fact::one(names[0], boots.map(|(boots, place)| said(Value::Bool(boots), place))),
        Fact::one(names[1], error.map(|(message, place)| said(Value::text(message), place))),
    ]
}
