//! Every name that a rule, a label or a script may use, with its type. Collectors promise these;
//! nothing else exists. Pure data: the build script checks the built-in rules against it.

use crate::fact::{Decl, Moment, Type};

mod containerd;
mod host;
mod kubelet;
mod runtimes;

/// A declared fact, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct FactId(u16);

const GROUPS: [&[Decl]; 4] = [host::DECLS, containerd::DECLS, kubelet::DECLS, runtimes::DECLS];

/// All declarations, in the order of the groups.
static DECLS: [&Decl; COUNT] = in_order();

/// Places in `DECLS`, in the order of the names.
static BY_NAME: [u16; COUNT] = by_name();

const fn in_order() -> [&'static Decl; COUNT] {
    let mut all = [&GROUPS[0][0]; COUNT];
    let (mut group, mut at, mut next) = (0, 0, 0);
    while group < GROUPS.len() {
        if at == GROUPS[group].len() {
            (group, at) = (group + 1, 0);
            continue;
        }
        all[next] = &GROUPS[group][at];
        (at, next) = (at + 1, next + 1);
    }
    all
}

const fn by_name() -> [u16; COUNT] {
    let all = in_order();
    let mut sorted = [0; COUNT];
    let mut next = 0;
    while next < COUNT {
        let mut at = next;
        while at > 0 && before(all[next].name, all[sorted[at - 1] as usize].name) {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        sorted[at] = next as u16;
        next += 1;
    }
    sorted
}

const fn before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

impl FactId {
    pub fn decl(self) -> &'static Decl {
        DECLS[self.index()]
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How many facts are declared.
pub const COUNT: usize =
    host::DECLS.len() + containerd::DECLS.len() + kubelet::DECLS.len() + runtimes::DECLS.len();

/// All of them, in the order of the tables.
pub fn all() -> impl Iterator<Item = FactId> {
    (0..COUNT as u16).map(FactId)
}

/// The fact of this name.
pub fn find(name: &str) -> Option<FactId> {
    let at = BY_NAME.binary_search_by(|at| DECLS[usize::from(*at)].name.cmp(name)).ok()?;
    Some(FactId(BY_NAME[at]))
}

/// The column of a table fact, with its index.
pub fn column(table: FactId, name: &str) -> Option<(usize, &'static Decl)> {
    let Type::Table { columns, .. } = &table.decl().ty else { return None };
    columns.iter().enumerate().find(|(_, c)| c.name == name)
}

/// On which daemons' versions a fact depends, (containerd, kubelet): the worlds it may differ in.
pub fn depends(id: FactId) -> (bool, bool) {
    match id.decl().name {
        "kubelet.cgroup_driver" => (true, true),
        name if name.starts_with("node.") => (true, true),
        name => (name.starts_with("containerd."), name.starts_with("kubelet.")),
    }
}

/// The declared name nearest to a misspelt one, if any is near enough (edit distance at most a third).
pub fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    among
        .map(|known| (distance(name, known), known))
        .min()
        .filter(|(d, known)| *d * 3 <= known.len().max(name.len()))
        .map(|(_, known)| known)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(ca != *cb)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

const fn steady(name: &'static str, ty: Type, doc: &'static str) -> Decl {
    Decl { name, ty, doc, moment: Moment::Steady, set_through: None }
}

const fn restart(name: &'static str, ty: Type, doc: &'static str) -> Decl {
    Decl { name, ty, doc, moment: Moment::Restart, set_through: None }
}

impl Decl {
    const fn through(self, fact: &'static str) -> Decl {
        Decl { set_through: Some(fact), ..self }
    }
}

const DRIVER: Type = Type::OneOf(&["systemd", "cgroupfs"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for id in all() {
            assert_eq!(find(id.decl().name), Some(id), "{}", id.decl().name);
        }
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        let names = || all().map(|id| id.decl().name);
        assert_eq!(nearest("containerd.cgroop_driver", names()), Some("containerd.cgroup_driver"));
        assert_eq!(nearest("xyz", names()), None);
    }
}
