//! Interface of all families: hidden states of a batch, and sizes.

use candle_core::{Result as CandleResult, Tensor};

use super::{ForwardCtx, Pooler, States};
use crate::token_batch::TokenBatch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Length of a hidden state.
    pub(crate) dim: usize,
    /// Rows of the word embedding.
    pub(crate) vocabulary: usize,
    /// Longest input in tokens.
    pub(crate) positions: usize,
    /// Multiply-and-add pairs per token outside attention.
    pub(crate) macs_per_token: usize,
}

/// A frozen or trainable transformer.
pub(crate) trait Transformer: Send + Sync {
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

    /// Its own pooler, if the checkpoint has one.
    fn pooler(&self) -> Option<&Pooler> {
        None
    }
}
