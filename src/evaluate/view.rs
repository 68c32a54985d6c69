//! What a rule sees: the facts of one world, and one row of its table.

use crate::fact::{Known, Value};
use crate::names::FactId;
use crate::resolve::{InForce, Snapshot};
use crate::rule::expr::{Facts, Ref};

pub(super) struct View<'a> {
    pub(super) facts: &'a Snapshot,
    pub(super) each: Option<FactId>,
    /// Its index and its cells.
    pub(super) row: Option<(usize, &'a [InForce])>,
}

impl View<'_> {
    pub(super) fn in_force(&self, at: Ref) -> Option<&InForce> {
        match at {
            Ref::Fact(id) => Some(self.facts.get(id)),
            Ref::Cell(column) => self.row.and_then(|(_, cells)| cells.get(usize::from(column))),
        }
    }
}

impl Facts for View<'_> {
    fn value(&self, at: Ref) -> &Known<Value> {
        static ABSENT: Known<Value> = Known::ABSENT;
        self.in_force(at).map_or(&ABSENT, |in_force| &in_force.value)
    }

    fn name(&self, at: Ref) -> String {
        at.name(self.each)
    }
}
