//! Cutting a stream of texts into batches of similar length.

use std::collections::HashMap;

use crate::token_batch::TokenBatch;
use crate::tokens::Tokenized;

/// How texts are grouped. The embeddings do not depend on it; speed, memory and the wait for a cancel do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    /// Texts that are read ahead and sorted by length together.
    pub window_texts: usize,
    /// Bytes of text after which a window is closed early, so that memory stays bounded on long texts.
    pub window_bytes: usize,
    /// Tokens in a batch at most; one longer text is a batch of its own. None: chosen from the encoder's size.
    pub batch_tokens: Option<usize>,
}

impl Default for BatchPlan {
    fn default() -> Self {
        Self { window_texts: 512, window_bytes: 2 << 20, batch_tokens: None }
    }
}

/// A batch, and which texts its rows stand for.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) tokens: TokenBatch,
    /// For each text of the batch, the places in the stream of all texts with exactly these tokens.
    pub(crate) places: Vec<Vec<usize>>,
    /// How many of those texts were cut.
    pub(crate) cut: usize,
}

/// Batches of one window, longest texts first, so that the last to finish are short. Texts with the same tokens are
/// computed once.
pub(crate) fn batches(window: Vec<Tokenized>, first: usize, batch_tokens: usize) -> Vec<Batch> {
    let mut same: HashMap<Vec<u32>, (Vec<usize>, usize)> = HashMap::with_capacity(window.len());
    for (i, text) in window.into_iter().enumerate() {
        let (places, cut) = same.entry(text.ids).or_default();
        places.push(first + i);
        *cut += usize::from(text.cut);
    }
    let mut texts: Vec<_> = same.into_iter().collect();
    // The first place breaks ties, so that batches are the same in every run.
    texts.sort_unstable_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.1.0[0].cmp(&b.1.0[0])));
    let mut batches: Vec<Batch> = Vec::new();
    for (ids, (places, cut)) in texts {
        let full = batches.last().is_none_or(|b| b.tokens.ids.len() + ids.len() > batch_tokens);
        if full {
            batches.push(Batch {
                tokens: TokenBatch { ids: Vec::new(), lengths: Vec::new() },
                places: Vec::new(),
                cut: 0,
            });
        }
        if let Some(batch) = batches.last_mut() {
            batch.tokens.lengths.push(ids.len());
            batch.tokens.ids.extend(ids);
            batch.places.push(places);
            batch.cut += cut;
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ids: &[u32]) -> Tokenized {
        Tokenized { ids: ids.to_vec(), cut: false }
    }

    #[test]
    fn batches_hold_similar_lengths_and_at_most_so_many_tokens() {
        let window = [1, 5, 2, 4, 3, 9].map(|n| text(&(0..n).collect::<Vec<u32>>()));
        let batches = batches(window.to_vec(), 100, 7);
        let lengths: Vec<_> = batches.iter().map(|b| b.tokens.lengths.clone()).collect();
        assert_eq!(lengths, [vec![9], vec![5], vec![4, 3], vec![2, 1]]);
        assert_eq!(batches[2].places, [[103], [104]]);
    }

    #[test]
    fn equal_texts_are_computed_once() {
        let window = vec![text(&[1, 2]); 1000];
        let batches = batches(window, 0, 512);
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].tokens.ids, [1, 2]);
        assert_eq!(batches[0].places[0], (0..1000).collect::<Vec<_>>());
    }
}
