//! The texts that one person excludes, as found in the project.

use dissensus_domain::TextId;
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Words by which they were found.
    pub(super) words: Vec<String>,
    pub(super) groups: Vec<String>,
    /// Number of texts at that time.
    pub(super) among: usize,
    pub(super) texts: HashSet<TextId>,
}

impl LeftOut {
    pub(super) fn contains(&self, text: TextId) -> bool {
        self.texts.contains(&text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
