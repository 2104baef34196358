//! A file that is one document of one annotator, whose name is in the archive of a project and not in the
//! file.

use crate::annotations::{Item, Items, Part, Unfold};

/// Reads the file as a whole.
#[derive(Debug)]
pub(super) struct OneDocument {
    /// Adds the contents of the file.
    pub(super) read: fn(&str, Item, &mut Items),
}

impl Unfold for OneDocument {
    fn unfold(&self, part: &Part, items: &mut Items) {
        (self.read)(part.text(), Item { place: part.name.clone(), ..Item::default() }, items);
    }

    fn without_annotator(&self) -> &'static str {
        "a file of one document does not say who annotated it (in the archive of a project it does)"
    }
}
