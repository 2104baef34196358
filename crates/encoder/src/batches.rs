//! Grouping a stream of texts into batches of similar length.

use std::collections::HashMap;

use crate::token_batch::TokenBatch;
use crate::tokens::Tokenized;

/// How texts are grouped. Affects speed, memory and the latency of cancellation, but not the embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    /// Number of texts that are read ahead and sorted by length together.
    pub window_texts: usize,
    /// Size in bytes at which a window is closed early, so that memory stays bounded on long texts.
    pub window_bytes: usize,
    /// Maximum number of tokens in a batch; a longer text forms a batch of its own. `None`: derived from
    /// the encoder's size.
    pub batch_tokens: Option<usize>,
}

impl Default for BatchPlan {
    fn default() -> Self {
        Self { window_texts: 512, window_bytes: 2 << 20, batch_tokens: None }
    }
}

/// A batch and the texts that its rows represent.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The windows of all texts, one after the other.
    pub(crate) tokens: TokenBatch,
    /// Number of windows of each text.
    pub(crate) windows: Vec<usize>,
    /// For each text of the batch, the positions in the stream of all texts with exactly these tokens.
    pub(crate) places: Vec<Vec<usize>>,
    /// Number of these texts that were cut.
    pub(crate) cut: usize,
}

impl Batch {
    /// Number of texts with several windows, and the total number of their windows.
    pub(crate) fn averaged(&self) -> (usize, usize) {
        let several = self.windows.iter().zip(&self.places).filter(|(windows, _)| **windows > 1);
        several
            .fold((0, 0), |(texts, windows), (n, places)| (texts + places.len(), windows + n * places.len()))
    }
}

/// Divides one window of the stream into batches, longest texts first, so that the last ones to finish are
/// short. Texts with the same tokens are computed once. A text with more tokens than a batch may have forms
/// a batch of its own.
pub(crate) fn batches(texts: Vec<Tokenized>, first: usize, batch_tokens: usize) -> Vec<Batch> {
    let mut same: HashMap<Vec<Vec<u32>>, (Vec<usize>, usize)> = HashMap::with_capacity(texts.len());
    for (i, text) in texts.into_iter().enumerate() {
        let (places, cut) = same.entry(text.windows).or_default();
        places.push(first + i);
        *cut += usize::from(text.cut);
    }
    let tokens = |windows: &[Vec<u32>]| windows.iter().map(Vec::len).sum::<usize>();
    let mut texts: Vec<_> = same.into_iter().collect();
    // The first position breaks ties, so that batches are the same in every run.
    texts.sort_unstable_by(|a, b| tokens(&b.0).cmp(&tokens(&a.0)).then(a.1.0[0].cmp(&b.1.0[0])));
    let mut batches: Vec<Batch> = Vec::new();
    for (windows, (places, cut)) in texts {
        let full = batches.last().is_none_or(|b| b.tokens.ids.len() + tokens(&windows) > batch_tokens);
        if full {
            batches.push(Batch {
                tokens: TokenBatch { ids: Vec::new(), lengths: Vec::new() },
                windows: Vec::new(),
                places: Vec::new(),
                cut: 0,
            });
        }
        if let Some(batch) = batches.last_mut() {
            batch.windows.push(windows.len());
            for ids in windows {
                batch.tokens.lengths.push(ids.len());
                batch.tokens.ids.extend(ids);
            }
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
        Tokenized { windows: vec![ids.to_vec()], cut: false }
    }

    #[test]
    fn batches_have_similar_lengths_and_a_token_limit() {
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

    #[test]
    fn windows_of_a_text_stay_together() {
        let long = Tokenized { windows: vec![vec![1; 4], vec![2; 4], vec![3; 4]], cut: false };
        let batches = batches(vec![text(&[7, 8]), long.clone(), long], 0, 8);
        assert_eq!(batches.len(), 2);
        assert_eq!((&batches[0].tokens.lengths[..], &batches[0].windows[..]), (&[4, 4, 4][..], &[3][..]));
        assert_eq!((batches[0].averaged(), batches[1].averaged()), ((2, 6), (0, 0)));
    }
}
