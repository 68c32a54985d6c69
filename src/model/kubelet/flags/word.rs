//! Words of a command line that know where each of their bytes was written.

use crate::model::unit::Argument;
use crate::text::{Place, Span};
use std::ops::Range;

/// An argument with its place.
pub type Arg = (String, Place);

/// A word of the command line.
pub trait Word {
    fn text(&self) -> &str;

    /// Where a range of the text was written.
    fn place(&self, range: Range<usize>) -> Place;
}

/// Bytes have places of their own only where the word was written plainly; else all of it is shown.
impl Word for Arg {
    fn text(&self) -> &str {
        &self.0
    }

    fn place(&self, range: Range<usize>) -> Place {
        let (text, place) = self;
        let Span { start, end } = place.span;
        if end - start == text.len() && range.end <= text.len() {
            Place { span: Span::new(start + range.start, start + range.end), ..*place }
        } else {
            *place
        }
    }
}

impl Word for Argument {
    fn text(&self) -> &str {
        self.value.text()
    }

    fn place(&self, range: Range<usize>) -> Place {
        if self.value.text().is_empty() {
            return self.place;
        }
        if range.is_empty() {
            let near = self.place_from(range.start).span.start;
            return Place { span: Span::new(near, near), ..self.place_from(range.start) };
        }
        self.value.place(range).unwrap_or(self.place)
    }
}
