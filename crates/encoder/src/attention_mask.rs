//! Attention masks: which tokens a token attends to.

use std::ops::Range;

/// The keys that a query attends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttentionMask {
    /// Only itself and those before it.
    pub(crate) causal: bool,
    /// Only those at most so far away.
    pub(crate) window: Option<usize>,
}

impl AttentionMask {
    /// Every token of the text.
    pub(crate) const FULL: Self = Self { causal: false, window: None };

    /// The keys that a query attends to in a text of `length` tokens.
    pub(crate) fn keys(self, query: usize, length: usize) -> Range<usize> {
        let from = self.window.map_or(0, |window| query.saturating_sub(window));
        let ahead = if self.causal { 0 } else { self.window.unwrap_or(length) };
        from.min(length)..query.saturating_add(ahead).saturating_add(1).min(length)
    }
}
