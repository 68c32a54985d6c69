//! The tables of all plugins, decoded over their defaults.

use super::decode::{Decoder, Mismatch};
use super::generation::Generation;
use super::load::Stop;
use super::merge::Merged;
use super::migrate::{CRI, IMAGES, RUNTIME};
use super::session::World;
use super::tree::{At, Data, Shared, Tree, made};
use crate::text::{Place, SourceId, Span};

/// The plugins that make CRI in 2.x.
pub(super) const CRI_PARTS: &[&str] = &[CRI, RUNTIME, IMAGES];

/// CRI's configuration in force. In 1.x the three are one table.
#[derive(Clone, Debug)]
pub(super) struct Cri {
    pub(super) runtime: Shared,
    pub(super) images: Shared,
    pub(super) server: Shared,
    /// Source of the defaults.
    pub(super) defaults: SourceId,
}

impl Cri {
    pub(super) fn is_default(&self, value: &Shared) -> bool {
        value.at.place.source == self.defaults
    }
}

/// Decodes every plugin that has a table. The second part is a mismatch that stops the daemon:
/// one in a plugin that is disabled does not.
pub(super) fn decode(generation: &Generation, merged: &Merged, world: &mut World) -> (Cri, Option<Stop>) {
    let decoder = Decoder::of_plugins(generation.keys);
    let defaults = world.defaults(generation);
    let source = defaults.source();
    let mut stop = None;
    let mut cri = [None, None, None];
    for plugin in defaults.plugins() {
        let id = plugin.id;
        let said = merged.plugins.get(merged.name_of(generation, id));
        let disabled = || merged.disables(generation, id).is_some();
        let mut stops = |mismatch: Mismatch| {
            let place = Some(mismatch.at.at.place);
            stop.get_or_insert(Stop { message: mismatch.message, place, syntax: false });
        };
        let Some(part) = CRI_PARTS.iter().position(|p| *p == id) else {
            // of the others it only counts whether they can be decoded
            if let Some(said) = said.filter(|_| !disabled()) {
                let kind = world.kind(&defaults, plugin);
                world.mismatch(generation.keys, id, &kind, said).into_iter().for_each(stops);
            }
            continue;
        };
        let default = defaults.table(plugin);
        cri[part] = Some(match said {
            None => default,
            Some(said) => match decoder.decode(id, &defaults.kind(plugin), Some(&default), said) {
                Ok(value) => value,
                Err(_) if disabled() => default,
                Err(mismatch) => {
                    stops(mismatch);
                    default
                }
            },
        });
    }
    let nothing = || {
        let at = At::new(Place { source, span: Span::default() });
        made(Data::Table(Tree::default()), &at)
    };
    let [server, runtime, images] = cri;
    let server = server.unwrap_or_else(nothing);
    let runtime = runtime.unwrap_or_else(|| server.clone());
    let images = images.unwrap_or_else(|| server.clone());
    (Cri { runtime, images, server, defaults: source }, stop)
}
