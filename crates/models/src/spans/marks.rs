//! Conversion of marked words to spans.

use std::ops::Range;

/// The runs of adjacent marked words.
pub fn runs_of_words(marked: impl Iterator<Item = bool>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (word, _) in marked.enumerate().filter(|(_, marked)| *marked) {
        match runs.last_mut() {
            Some(run) if run.end == word => run.end += 1,
            _ => runs.push(word..word + 1),
        }
    }
    runs
}
