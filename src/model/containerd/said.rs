//! From values to statements with origins.

use super::tree::{Data, Shared};
use super::{Effective, tree::At};
use crate::fact::{Known, Layer, Origin, Said, Statements, Value};
use crate::text::{Place, Span};

impl Effective {
    /// Whose statement a place holds.
    pub(super) fn layer(&self, place: Place) -> Layer {
        match self.load.files.iter().find(|f| f.source == place.source) {
            Some(file) if file.path == self.main => Layer::File,
            Some(_) => Layer::DropIn,
            None => Layer::Default,
        }
    }

    fn origin(&self, at: &At, near: Option<Place>) -> Origin {
        let layer = self.layer(at.place);
        let near = if layer == Layer::Default { near.or_else(|| self.main_start()) } else { None };
        Origin { layer, place: at.place, written: at.written(), near }
    }

    /// The first line of the main file.
    pub(super) fn main_start(&self) -> Option<Place> {
        let main = self.load.files.first()?;
        Some(Place { source: main.source, span: crate::text::line_span(&main.text, 1) })
    }

    /// The first of the values that is written in a file, as the place for a label.
    pub(super) fn near(&self, around: &[Option<&Shared>]) -> Option<Place> {
        let place = around.iter().flatten().map(|v| v.at.place).find(|p| self.layer(*p) != Layer::Default);
        place.filter(|p| p.span != Span::default())
    }

    /// A value with everything it overrode, weakest first; all of the winner's layer, since the
    /// daemon's own merge is what decided.
    pub(super) fn said(
        &self,
        value: &Shared,
        near: Option<Place>,
        read: &dyn Fn(&Data) -> Option<Value>,
    ) -> Vec<Said> {
        let mut said = Vec::new();
        for one in value.beaten.iter().chain([value]) {
            if let Some(v) = read(&one.data) {
                said.push(Said { value: v, origin: self.origin(&one.at, near) });
            }
        }
        // the resolver sorts by layer, so what lost may not outrank what won: a drop-in that lost to
        // the main file counts as a file, and what lost to a default is left to `driver_settings`
        if let Some(winner) = said.last().map(|s| s.origin.layer) {
            said.retain(|s| winner != Layer::Default || s.origin.layer == Layer::Default);
            for s in &mut said {
                s.origin.layer = s.origin.layer.min(winner);
            }
        }
        said
    }

    pub(super) fn text(&self, value: &Shared, near: Option<Place>) -> Statements {
        Known::Is(self.said(value, near, &|d| match d {
            Data::Text(t) => Some(Value::text(&**t)),
            _ => None,
        }))
    }

    pub(super) fn bool(&self, value: &Shared, near: Option<Place>) -> Statements {
        Known::Is(self.said(value, near, &|d| match d {
            Data::Bool(b) => Some(Value::Bool(*b)),
            _ => None,
        }))
    }

    /// One statement that follows from a place.
    pub(super) fn from(&self, value: Value, at: &At, near: Option<Place>) -> Statements {
        Known::Is(vec![Said { value, origin: self.origin(at, near) }])
    }

    /// One statement that follows from the configuration as a whole.
    pub(super) fn whole(&self, value: Value) -> Statements {
        let origin = match self.main_start() {
            Some(place) => Origin::new(Layer::File, place),
            None => Origin::new(Layer::Default, self.nowhere),
        };
        Known::Is(vec![Said { value, origin }])
    }

    /// One statement at a place, or about the whole.
    pub(super) fn placed(&self, value: Value, place: Option<Place>) -> Statements {
        let Some(place) = place else { return self.whole(value) };
        Known::Is(vec![Said { value, origin: Origin::new(self.layer(place), place) }])
    }
}
