//! Statements by field, in the order of the fields' names.

use super::effective::Path;
use crate::fact::Said;
use std::cmp::Ordering;

/// A map that is asked with borrowed names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(Path, Vec<Said>)>);

impl Fields {
    pub(super) fn get(&self, path: &[impl AsRef<str>]) -> Option<&Vec<Said>> {
        self.at(path).ok().map(|at| &self.0[at].1)
    }

    pub(super) fn get_mut(&mut self, path: &[impl AsRef<str>]) -> Option<&mut Vec<Said>> {
        self.at(path).ok().map(|at| &mut self.0[at].1)
    }

    /// The statements about a field; none yet for one that is new.
    pub(super) fn entry(&mut self, path: &[impl AsRef<str>]) -> &mut Vec<Said> {
        let at = self.at(path).unwrap_or_else(|at| {
            let path = path.iter().map(|name| name.as_ref().to_owned()).collect();
            self.0.insert(at, (path, Vec::new()));
            at
        });
        &mut self.0[at].1
    }

    /// What is said of the keys of a map.
    pub(super) fn below(&self, path: &[impl AsRef<str>]) -> Vec<(&str, &[Said])> {
        let from = self.at(path).unwrap_or_else(|at| at);
        let inside = |at: &Path| at.len() >= path.len() && compare(&at[..path.len()], path).is_eq();
        let below = self.0[from..].iter().take_while(|(at, _)| inside(at));
        let keys = below.filter_map(|(at, said)| match at.get(path.len()..)? {
            [key] => Some((key.as_str(), said.as_slice())),
            _ => None,
        });
        keys.collect()
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Path) -> bool) {
        self.0.retain(|(path, _)| keep(path));
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Path, &mut Vec<Said>)> {
        self.0.iter_mut().map(|(path, said)| (&*path, said))
    }

    fn at(&self, path: &[impl AsRef<str>]) -> Result<usize, usize> {
        self.0.binary_search_by(|(at, _)| compare(at, path))
    }
}

impl IntoIterator for Fields {
    type Item = (Path, Vec<Said>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The order of paths, name by name.
pub(super) fn compare(one: &[impl AsRef<str>], other: &[impl AsRef<str>]) -> Ordering {
    for (one, other) in one.iter().zip(other) {
        match one.as_ref().cmp(other.as_ref()) {
            Ordering::Equal => {}
            order => return order,
        }
    }
    one.len().cmp(&other.len())
}
