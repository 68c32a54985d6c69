//! Which statement is in force: layers in order of precedence, two moments, worlds of an unknown version.

use crate::fact::{
    Decl, Fact, Known, Layer, Moment, Origin, Problem, Row, Said, Statements, Type, Value, What, Why,
};
use crate::names::{self, FactId};
use crate::text::{Place, Sources};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// Everything collectors brought. The only input of resolving.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    pub sources: Sources,
    /// Facts that depend on no version.
    pub facts: Vec<Fact>,
    /// One variant per generation of containerd still possible (exactly one when its version is known).
    pub containerd: Vec<Variant>,
    /// The same for the kubelet.
    pub kubelet: Vec<Variant>,
    pub problems: Vec<Problem>,
    /// What models made on the way. Nothing reads it: it goes with the look, since handing back
    /// thousands of small pieces takes time.
    pub kept: Vec<Rc<dyn fmt::Debug>>,
}

/// What one generation of a daemon makes of the same texts.
#[derive(Clone, Debug)]
pub struct Variant {
    /// As shown: `containerd 2.0-2.2`.
    pub name: String,
    pub facts: Vec<Fact>,
}

/// A value in force, who decided, what was overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// For a table: the list of its first column.
    pub value: Known<Value>,
    pub by: Option<Origin>,
    pub overridden: Vec<Said>,
    /// For a list: its elements, each with its own origin.
    pub elements: Vec<Said>,
    /// For a table: cells in the order of the declared columns.
    pub rows: Vec<Cells>,
}

/// One row, shared by all tables that have it.
pub type Cells = Arc<Vec<InForce>>;

impl InForce {
    pub fn bare(value: Known<Value>) -> InForce {
        InForce { value, by: None, overridden: Vec::new(), elements: Vec::new(), rows: Vec::new() }
    }
}

/// Which moment is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As it runs: live statements count.
    Now,
    /// As it will start next: live statements of a daemon are dropped.
    NextStart,
}

/// All facts of one world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(Vec<Arc<InForce>>);

impl Snapshot {
    /// Nothing is known yet.
    pub fn unread() -> Snapshot {
        let unread = Arc::new(InForce::bare(Known::Unknown(Why::Unread)));
        Snapshot(vec![unread; names::COUNT])
    }

    pub fn get(&self, id: FactId) -> &InForce {
        &self.0[id.index()]
    }

    /// The fact of a declared name; an undeclared one is *unread*.
    pub fn named(&self, name: &str) -> &InForce {
        static UNREAD: InForce = InForce {
            value: Known::Unknown(Why::Unread),
            by: None,
            overridden: Vec::new(),
            elements: Vec::new(),
            rows: Vec::new(),
        };
        names::find(name).map_or(&UNREAD, |id| self.get(id))
    }

    pub fn set(&mut self, id: FactId, in_force: InForce) {
        self.0[id.index()] = Arc::new(in_force);
    }

    /// Whether a fact was resolved once for this snapshot and another one: then it is the same, with
    /// all that led to it.
    pub fn alike(&self, other: &Snapshot, id: FactId) -> bool {
        Arc::ptr_eq(&self.0[id.index()], &other.0[id.index()])
    }

    /// Lays facts over this snapshot.
    pub fn with(&self, facts: &[Fact], when: When) -> Snapshot {
        self.under(&Resolved::new(when).lay(facts))
    }

    fn under(&self, laid: &[(FactId, Arc<InForce>)]) -> Snapshot {
        let mut next = self.clone();
        for (id, fact) in laid {
            next.0[id.index()] = Arc::clone(fact);
        }
        next
    }
}

/// What was resolved so far: what several generations say alike is resolved once, and shared.
struct Resolved<'a> {
    when: When,
    /// By the number of the fact.
    known: Vec<Vec<(&'a What, Arc<InForce>)>>,
    /// The names of the last variant, in its order.
    last: Vec<(&'static str, Option<FactId>)>,
    /// By their addresses, which stay while the facts are borrowed.
    rows: BTreeMap<*const Row, Cells>,
}

impl<'a> Resolved<'a> {
    fn new(when: When) -> Resolved<'a> {
        Resolved { when, known: vec![Vec::new(); names::COUNT], last: Vec::new(), rows: BTreeMap::new() }
    }

    /// What is in force of the facts of a collector.
    fn lay(&mut self, facts: &'a [Fact]) -> Vec<(FactId, Arc<InForce>)> {
        let mut laid = Vec::with_capacity(facts.len());
        for (index, fact) in facts.iter().enumerate() {
            // variants say their facts in one order
            let id = match self.last.get(index) {
                Some((name, id)) if std::ptr::eq(*name, fact.name) => *id,
                _ => names::find(fact.name),
            };
            match self.last.get_mut(index) {
                Some(last) => *last = (fact.name, id),
                None => self.last.push((fact.name, id)),
            }
            let (Some(id), what) = (id, &fact.what) else { continue };
            let found = self.known[id.index()].iter().rev().find(|(other, _)| *other == what);
            let in_force = match found {
                Some((_, in_force)) => Arc::clone(in_force),
                None => {
                    let in_force = Arc::new(self.in_force(id, what));
                    self.known[id.index()].push((what, Arc::clone(&in_force)));
                    in_force
                }
            };
            laid.push((id, in_force));
        }
        laid
    }

    /// What is in force of one fact at one moment.
    fn in_force(&mut self, id: FactId, what: &What) -> InForce {
        let drop_live = self.when == When::NextStart && id.decl().moment == Moment::Restart;
        match what {
            What::One(said) => one(said, drop_live),
            What::Each(said) => each(said),
            What::Rows(rows) => known(rows, |rows| self.table(id, rows, drop_live)),
        }
    }

    fn table(&mut self, id: FactId, rows: &[Arc<Row>], drop_live: bool) -> InForce {
        let Type::Table { columns, .. } = &id.decl().ty else { return InForce::bare(Known::ABSENT) };
        let cells = rows.iter().map(|row| {
            let cells = self.rows.entry(Arc::as_ptr(row));
            Arc::clone(cells.or_insert_with(|| Arc::new(cells_of(columns, row, drop_live))))
        });
        let rows: Vec<Cells> = cells.collect();
        let first = rows.iter().filter_map(|r| r.first().and_then(|c| c.value.is().cloned())).collect();
        InForce { rows, ..InForce::bare(Known::Is(Value::List(first))) }
    }
}

/// What is in force in a row, column by column.
fn cells_of(columns: &[Decl], row: &Row, drop_live: bool) -> Vec<InForce> {
    let cell = |name: &str| row.iter().find(|(column, _)| *column == name);
    let list = |ty: &Type| matches!(ty, Type::List(_));
    columns
        .iter()
        .map(|c| match cell(c.name) {
            Some((_, said)) if list(&c.ty) => each(said),
            Some((_, said)) => one(said, drop_live),
            None => InForce::bare(Known::ABSENT),
        })
        .collect()
}

/// One combination of generations that is still possible.
#[derive(Clone, Debug)]
pub struct World {
    pub containerd: usize,
    pub kubelet: usize,
    pub facts: Snapshot,
}

/// All worlds of one moment. `merged` holds what they agree on; the rest is unknown there.
#[derive(Clone, Debug)]
pub struct Worlds {
    pub containerd: Vec<String>,
    pub kubelet: Vec<String>,
    pub worlds: Vec<World>,
    pub merged: Snapshot,
}

impl Worlds {
    /// What is shown of a world: its generations.
    pub fn name(&self, world: &World) -> String {
        let known = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        match (self.containerd.len() > 1, self.kubelet.len() > 1) {
            (true, true) => format!(
                "{} with {}",
                known(&self.containerd, world.containerd),
                known(&self.kubelet, world.kubelet)
            ),
            (false, true) => known(&self.kubelet, world.kubelet),
            _ => known(&self.containerd, world.containerd),
        }
    }
}

/// Whether the two moments differ: something that a restart may change was said live.
pub fn moments_differ(collected: &Collected) -> bool {
    let variants = collected.containerd.iter().chain(&collected.kubelet).flat_map(|v| &v.facts);
    let live = |said: &Statements| {
        said.is().is_some_and(|said| said.iter().any(|s| s.origin.layer == Layer::Runtime))
    };
    collected.facts.iter().chain(variants).any(|fact| {
        let restart = names::find(fact.name).is_some_and(|id| id.decl().moment == Moment::Restart);
        restart
            && match &fact.what {
                What::One(said) => live(said),
                What::Each(_) => false,
                What::Rows(rows) => {
                    rows.is().is_some_and(|rows| rows.iter().any(|row| row.iter().any(|(_, s)| live(s))))
                }
            }
    })
}

/// Resolves what was collected for one moment; `derive` adds the facts computed from facts, per world.
pub fn resolve(collected: &Collected, when: When, derive: impl Fn(&mut Snapshot)) -> Worlds {
    let base = Snapshot::unread().with(&collected.facts, when);
    let empty = [Variant { name: String::new(), facts: Vec::new() }];
    let (cs, ks) = (or(&collected.containerd, &empty), or(&collected.kubelet, &empty));
    let mut resolved = Resolved::new(when);
    let kubelets: Vec<_> = ks.iter().map(|kubelet| resolved.lay(&kubelet.facts)).collect();
    let mut worlds = Vec::with_capacity(cs.len() * ks.len());
    for (c, containerd) in cs.iter().enumerate() {
        let with_containerd = base.under(&resolved.lay(&containerd.facts));
        for (k, kubelet) in kubelets.iter().enumerate() {
            let given = with_containerd.under(kubelet);
            let mut facts = given.clone();
            derive(&mut facts);
            share(&mut facts, &given, &worlds);
            worlds.push(World { containerd: c, kubelet: k, facts });
        }
    }
    let merged = merge(&worlds, cs, ks);
    let names = |side: &[Variant]| side.iter().map(|v| v.name.clone()).collect();
    Worlds { containerd: names(cs), kubelet: names(ks), worlds, merged }
}

/// What was derived alike in another world is one.
fn share(facts: &mut Snapshot, given: &Snapshot, worlds: &[World]) {
    for (index, (own, given)) in facts.0.iter_mut().zip(&given.0).enumerate() {
        if Arc::ptr_eq(own, given) {
            continue;
        }
        let mut others = worlds.iter().rev().map(|world| &world.facts.0[index]);
        if let Some(other) = others.find(|other| *other == own) {
            *own = Arc::clone(other);
        }
    }
}

/// The variants of a daemon, or in their place the empty one.
fn or<'a>(variants: &'a [Variant], empty: &'a [Variant]) -> &'a [Variant] {
    if variants.is_empty() { empty } else { variants }
}

/// What all worlds agree on; a fact in which they differ is unknown and names them.
fn merge(worlds: &[World], cs: &[Variant], ks: &[Variant]) -> Snapshot {
    let mut merged = worlds[0].facts.clone();
    for id in names::all() {
        let first = worlds[0].facts.get(id);
        if worlds.iter().any(|w| !std::ptr::eq(w.facts.get(id), first) && !same(w.facts.get(id), first)) {
            let (on_containerd, on_kubelet) = names::depends(id);
            let of = if on_containerd && cs.len() > 1 { "containerd" } else { "kubelet" };
            // what depends on one daemon is the same whatever the other one is
            let told = |w: &&World| {
                (on_containerd || w.containerd == worlds[0].containerd || !on_kubelet)
                    && (on_kubelet || w.kubelet == worlds[0].kubelet || !on_containerd)
            };
            let answers = worlds.iter().filter(told).map(|w| {
                let name = if of == "containerd" { &cs[w.containerd].name } else { &ks[w.kubelet].name };
                let answer = match &w.facts.get(id).value {
                    Known::Is(_) if matches!(id.decl().ty, Type::Version | Type::Table { .. }) => {
                        String::new()
                    }
                    Known::Is(value) => value.to_string(),
                    Known::Absent(_) => "absent".into(),
                    Known::Unknown(_) => "unknown".into(),
                };
                (name.as_str(), answer)
            });
            let said = ranges(of, answers);
            merged.set(id, InForce::bare(Known::Unknown(Why::NeedsVersion { of, worlds: said })));
        }
    }
    merged
}

/// What each generation of a daemon answers; neighbours that answer alike are told by first and last.
fn ranges<'a>(of: &str, answers: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut by_name: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, answer) in answers {
        match by_name.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) if all.contains(&answer) => {}
            Some((_, all)) => all.push(answer),
            None => by_name.push((name, vec![answer])),
        }
    }
    let mut runs: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (name, mut answers) in by_name {
        answers.sort();
        match runs.last_mut() {
            // tables have no answer that could be shown
            Some((_, last, same)) if *same == answers && answers != [""] => *last = name,
            _ => runs.push((name, name, answers)),
        }
    }
    let run = |(first, last, answers): (&str, &str, Vec<String>)| {
        let answer = answers.join(" or ");
        let name = match first == last {
            true => first.to_owned(),
            false => format!("{first} to {}", last.trim_start_matches(of).trim_start()),
        };
        if answer.is_empty() { name } else { format!("{name}: {answer}") }
    };
    runs.into_iter().map(run).collect()
}

/// The same values, wherever they come from.
fn same(a: &InForce, b: &InForce) -> bool {
    let cells = |a: &Cells, b: &Cells| {
        Arc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| same(a, b)))
    };
    a.value == b.value && a.rows.len() == b.rows.len() && a.rows.iter().zip(&b.rows).all(|(a, b)| cells(a, b))
}

/// What is made of a thing that is known; what is absent or unknown stays so.
fn known<T>(thing: &Known<T>, make: impl FnOnce(&T) -> InForce) -> InForce {
    match thing {
        Known::Is(thing) => make(thing),
        Known::Absent(note) => InForce::bare(Known::Absent(note.clone())),
        Known::Unknown(why) => InForce::bare(Known::Unknown(why.clone())),
    }
}

/// The strongest statement; of equals, the last.
fn one(said: &Statements, drop_live: bool) -> InForce {
    known(said, |said| match said.as_slice() {
        [only] => InForce { by: Some(only.origin.clone()), ..InForce::bare(Known::Is(only.value.clone())) },
        _ => strongest(said.clone(), drop_live),
    })
}

fn live(said: &Said) -> bool {
    said.origin.layer == Layer::Runtime
}

fn strongest(mut said: Vec<Said>, drop_live: bool) -> InForce {
    // what only the running daemon tells is the best guess for its next start too
    if drop_live && !said.iter().all(live) {
        said.retain(|s| !live(s));
    }
    said.sort_by_key(|s| s.origin.layer);
    match said.pop() {
        Some(mut winner) => InForce {
            by: Some({
                if live(&winner) && winner.origin.near.is_none() {
                    winner.origin.near = written(&said, &winner.value);
                }
                winner.origin
            }),
            overridden: said.into_iter().rev().collect(),
            ..InForce::bare(Known::Is(winner.value))
        },
        None => InForce::bare(Known::ABSENT),
    }
}

/// Where the value that a daemon answers is written, so that people are shown the line to change.
fn written(said: &[Said], value: &Value) -> Option<Place> {
    let strongest = said.last().filter(|s| s.value == *value)?;
    let default = strongest.origin.layer == Layer::Default;
    strongest.origin.near.or((!default).then_some(strongest.origin.place))
}

fn each(said: &Statements) -> InForce {
    known(said, |said| InForce {
        by: said.last().map(|s| s.origin.clone()),
        elements: said.clone(),
        ..InForce::bare(Known::Is(Value::List(said.iter().map(|s| s.value.clone()).collect())))
    })
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_that_answer_alike_are_one_range() {
        let answers = [
            ("daemon before 2", "a"),
            ("daemon 2", "a"),
            ("daemon 3", "b"),
            ("daemon 3", "a"),
            ("daemon 4", "b"),
        ];
        let said = ranges("daemon", answers.into_iter().map(|(name, answer)| (name, answer.to_owned())));
        assert_eq!(said, ["daemon before 2 to 2: a", "daemon 3: a or b", "daemon 4: b"]);
        // a table has no answer to show
        let tables = [("daemon 1", String::new()), ("daemon 2", String::new())];
        assert_eq!(ranges("daemon", tables.into_iter()), ["daemon 1", "daemon 2"]);
    }
}
