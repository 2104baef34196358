//! What every family gives: hidden states of a batch, and the sizes that callers need.

use candle_core::{Result as CandleResult, Tensor};

use super::{ForwardCtx, Pooler, States};
use crate::token_batch::TokenBatch;

/// Sizes that callers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Length of a hidden state.
    pub(crate) dim: usize,
    /// Rows of the word embedding.
    pub(crate) vocabulary: usize,
    /// Longest input in tokens.
    pub(crate) positions: usize,
    /// Multiply-and-add pairs that one token costs outside attention.
    pub(crate) macs_per_token: usize,
}

/// A transformer, frozen or learning.
pub(crate) trait Transformer: Send + Sync {
    /// Its sizes.
    fn sizes(&self) -> Sizes;

    /// Computes the hidden states of a batch. Every id is below [`Sizes::vocabulary`], every length at most
    /// [`Sizes::positions`], and `ctx` was made for the batch's lengths.
    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States>;

    /// The word embeddings: `[vocabulary, width]`.
    fn words(&self) -> &Tensor;

    /// The unscaled embedding of each text, `[texts, dim]`, where it is not a pooling of the text's own
    /// rows.
    fn read_out(&self, _: &TokenBatch, _: &ForwardCtx) -> CandleResult<Option<Tensor>> {
        Ok(None)
    }

    /// Its own pooler, where the checkpoint has one.
    fn pooler(&self) -> Option<&Pooler> {
        None
    }
}
