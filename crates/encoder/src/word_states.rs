//! Hidden states of the words of a text.

use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Result as CandleResult, Tensor};

use crate::blocks::ForwardCtx;
use crate::encoder::Encoder;
use crate::error::EncoderError;
use crate::token_batch::TokenBatch;
use crate::tokens::{Located, Window};

/// The hidden states to use for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordStates {
    /// The input embedding of the first layer, followed by the hidden state after the layer at two thirds
    /// of the depth: for an encoder that was not trained on words.
    EmbeddingAndContext,
    /// The last hidden state: for an encoder that was tuned on words.
    Last,
}

/// Windows that are computed together.
struct WindowBatch {
    tokens: TokenBatch,
    /// For each window, the index of its text and of the window in it.
    windows: Vec<(usize, usize)>,
}

/// The states of one text's tokens, filled as its windows are computed.
struct TokenStates {
    states: Vec<f32>,
    /// Distance of each token from the nearer cut of the window that its state is from.
    margins: Vec<Option<usize>>,
    /// Number of windows still to compute.
    left: usize,
}

impl Encoder {
    /// Number of components of a word in [`Encoder::word_states`].
    #[must_use]
    pub fn word_dim(&self, of: WordStates) -> usize {
        match of {
            WordStates::EmbeddingAndContext => 2 * self.sizes().dim,
            WordStates::Last => self.sizes().dim,
        }
    }

    /// Computes the states of words: for each word the mean over its tokens of the hidden states that `of`
    /// names. `words` has for each text the first character of each word and the one after its last one
    /// (Unicode scalar values). A text longer than the encoder can read at once is read in overlapping
    /// windows, regardless of the policy for long texts; a token has the state of the window in which it is
    /// farthest from a cut. A word without tokens has zeros.
    ///
    /// `on_text` receives the index of a text and its `[words][word_dim]` when it is done, in no particular
    /// order; breaking ends the work. Returns whether all texts were done.
    ///
    /// # Errors
    /// A text that cannot be tokenized or has a non-finite state, or a device that fails.
    ///
    /// # Panics
    /// `words` does not have as many entries as `texts`.
    pub fn word_states(
        &self,
        texts: &[&str],
        words: &[Vec<(u32, u32)>],
        of: WordStates,
        mut on_text: impl FnMut(usize, Vec<f32>) -> ControlFlow<()>,
    ) -> Result<bool, EncoderError> {
        assert_eq!(texts.len(), words.len(), "words of each text");
        let located = self.locate(texts)?;
        let windows: Vec<Vec<Window>> = located.iter().map(|text| self.windows_over(text)).collect();
        let dim = self.word_dim(of);
        let mut pending: HashMap<usize, TokenStates> = HashMap::new();
        for (text, windows) in windows.iter().enumerate() {
            if windows.is_empty() && on_text(text, vec![0.0; words[text].len() * dim]).is_break() {
                return Ok(false);
            }
        }
        let batches = batches(&windows, self.batch_tokens());
        let mut failed = None;
        let flow = self.run_batches(
            &batches,
            |batch| self.states_of(&batch.tokens, of),
            |batch, states| {
                let mut states = &states[..];
                for &(text, nth) in &batch.windows {
                    let window = &windows[text][nth];
                    let (own, rest) = states.split_at(window.ids.len() * dim);
                    states = rest;
                    let tokens = located[text].ids.len();
                    let kept = pending.entry(text).or_insert_with(|| TokenStates {
                        states: vec![0.0; tokens * dim],
                        margins: vec![None; tokens],
                        left: windows[text].len(),
                    });
                    kept.add_window(window, own, dim);
                    if kept.left > 0 {
                        continue;
                    }
                    let done = pending.remove(&text).map(|kept| kept.states).unwrap_or_default();
                    let pooled = pooled(&located[text], &done, &words[text], dim);
                    if pooled.iter().any(|value| !value.is_finite()) {
                        failed = Some(EncoderError::EmbeddingNotFinite { index: text });
                        return ControlFlow::Break(());
                    }
                    if on_text(text, pooled).is_break() {
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            },
        )?;
        failed.map_or(Ok(flow.is_continue()), Err)
    }

    /// Computes `[tokens][word_dim]` of a batch.
    fn states_of(&self, tokens: &TokenBatch, of: WordStates) -> Result<Vec<f32>, EncoderError> {
        let compute = || -> CandleResult<Vec<f32>> {
            let ctx = ForwardCtx::inference(&tokens.lengths, self.device()).keeping_all();
            let all = self.transformer().forward(tokens, &ctx)?.into_all();
            let layers = all.len() - 1;
            let states = match of {
                WordStates::EmbeddingAndContext => vec![&all[0], &all[(2 * layers + 1) / 3]],
                WordStates::Last => vec![&all[layers]],
            };
            let states: Vec<Tensor> =
                states.iter().map(|state| state.to_dtype(DType::F32)).collect::<CandleResult<_>>()?;
            Tensor::cat(&states, 1)?.flatten_all()?.to_vec1()
        };
        compute().map_err(|source| EncoderError::Compute { device: self.device_name(), source })
    }
}

impl TokenStates {
    fn add_window(&mut self, window: &Window, states: &[f32], dim: usize) {
        let (total, Window { before, tokens, .. }) = (self.margins.len(), window);
        for token in tokens.clone() {
            // The beginning and the end of the text are not cuts.
            let left = if tokens.start == 0 { total } else { token - tokens.start };
            let right = if tokens.end == total { total } else { tokens.end - 1 - token };
            let margin = Some(left.min(right));
            if margin > self.margins[token] {
                self.margins[token] = margin;
                let at = (before + token - tokens.start) * dim;
                self.states[token * dim..(token + 1) * dim].copy_from_slice(&states[at..at + dim]);
            }
        }
        self.left -= 1;
    }
}

/// Groups windows of similar length, longest first.
fn batches(windows: &[Vec<Window>], batch_tokens: usize) -> Vec<WindowBatch> {
    let of = |(text, windows): (usize, &Vec<Window>)| {
        (0..windows.len()).map(move |nth| (text, nth)).collect::<Vec<_>>()
    };
    let mut order: Vec<(usize, usize)> = windows.iter().enumerate().flat_map(of).collect();
    let ids = |&(text, nth): &(usize, usize)| &windows[text][nth].ids;
    order.sort_by_key(|window| std::cmp::Reverse(ids(window).len()));
    let mut batches: Vec<WindowBatch> = Vec::new();
    for window in order {
        let ids = ids(&window);
        if batches.last().is_none_or(|batch| batch.tokens.ids.len() + ids.len() > batch_tokens) {
            let tokens = TokenBatch { ids: Vec::new(), lengths: Vec::new() };
            batches.push(WindowBatch { tokens, windows: Vec::new() });
        }
        if let Some(batch) = batches.last_mut() {
            batch.tokens.ids.extend(ids);
            batch.tokens.lengths.push(ids.len());
            batch.windows.push(window);
        }
    }
    batches
}

/// Computes for each word the mean over the tokens that share a character with it.
fn pooled(text: &Located, states: &[f32], words: &[(u32, u32)], dim: usize) -> Vec<f32> {
    let mut all = vec![0.0; words.len() * dim];
    for (&word, pooled) in words.iter().zip(all.chunks_exact_mut(dim)) {
        let tokens = text.tokens_of(word);
        for token in states[tokens.start * dim..tokens.end * dim].chunks_exact(dim) {
            pooled.iter_mut().zip(token).for_each(|(sum, value)| *sum += value);
        }
        pooled.iter_mut().for_each(|sum| *sum /= tokens.len().max(1) as f32);
    }
    all
}
