//! A transformer with a soft prompt for its texts: vectors in place of word embeddings (Lester et al. 2021,
//! arXiv 2104.08691).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{Result as CandleResult, Tensor};

use super::key_values::{Past, TextKeyValues};
use super::pooling::lasts;
use super::{ForwardCtx, Pooler, Sizes, States, Transformer};
use crate::token_batch::TokenBatch;

/// Maximum memory in bytes for cached keys and values of texts while a soft prompt is trained. The others
/// are computed again at every step, with the same results.
const KEPT_BYTES: usize = 4 << 30;

/// Number of tokens of texts that are read together: enough that weights are read from memory once for many
/// rows.
const TOKENS_TOGETHER: usize = 512;

/// Position of a soft prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before all of a text's tokens, including special ones, as in PEFT's prompt tuning: positions count
    /// from the first vector. Only the text's own tokens are pooled.
    Before,
    /// After the text's tokens, for transformers whose tokens attend only to those before them: the last
    /// vector attends to everything, and its hidden state is the embedding.
    After,
}

pub(crate) struct Prompted {
    inner: Box<dyn Transformer>,
    prompt: Tensor,
    vectors: usize,
    side: Side,
    kept: Mutex<TextCache>,
}

/// Cached keys and values of texts, by their token ids.
struct TextCache {
    of: HashMap<Vec<u32>, Arc<TextKeyValues>>,
    /// Remaining bytes.
    left: usize,
}

impl Prompted {
    /// `prompt`: `[vectors, width]`, with fewer vectors than there are positions; `cached_bytes` as in
    /// [`EncoderOptions`](crate::EncoderOptions).
    pub(crate) fn new(
        inner: Box<dyn Transformer>,
        prompt: Tensor,
        side: Side,
        cached_bytes: Option<usize>,
    ) -> CandleResult<Self> {
        let kept = Mutex::new(TextCache { of: HashMap::new(), left: cached_bytes.unwrap_or(KEPT_BYTES) });
        Ok(Self { inner, vectors: prompt.dim(0)?, prompt, side, kept })
    }

    /// The ids of the prompt's vectors.
    fn ids(&self) -> std::ops::Range<u32> {
        let first = self.inner.sizes().vocabulary as u32;
        first..first + self.vectors as u32
    }

    /// Adds the prompt to every text of a batch.
    fn with_prompt(&self, batch: &TokenBatch) -> TokenBatch {
        let mut ids = Vec::with_capacity(batch.ids.len() + batch.lengths.len() * self.vectors);
        let mut rest = &batch.ids[..];
        for length in &batch.lengths {
            let (own, after) = rest.split_at(*length);
            rest = after;
            if self.side == Side::Before {
                ids.extend(self.ids());
            }
            ids.extend_from_slice(own);
            if self.side == Side::After {
                ids.extend(self.ids());
            }
        }
        TokenBatch { ids, lengths: batch.lengths.iter().map(|length| length + self.vectors).collect() }
    }

    /// Extracts the rows of the texts themselves from texts with a leading prompt.
    fn own_rows(&self, batch: &TokenBatch, state: &Tensor) -> CandleResult<Tensor> {
        let mut rows = Vec::with_capacity(batch.ids.len());
        let mut next = 0u32;
        for length in &batch.lengths {
            next += self.vectors as u32;
            rows.extend(next..next + *length as u32);
            next += *length as u32;
        }
        state.index_select(&Tensor::from_slice(&rows, rows.len(), state.device())?, 0)
    }

    /// Keys and values of a batch's texts, cached from an earlier step or computed now without a graph.
    fn past(&self, batch: &TokenBatch) -> CandleResult<Past> {
        let mut rest = &batch.ids[..];
        let mut texts = Vec::with_capacity(batch.lengths.len());
        for length in &batch.lengths {
            let (own, after) = rest.split_at(*length);
            rest = after;
            texts.push(own);
        }
        let mut known: HashMap<&[u32], Arc<TextKeyValues>> = HashMap::new();
        {
            let kept = self.text_cache();
            known.extend(texts.iter().filter_map(|ids| Some((*ids, Arc::clone(kept.of.get(*ids)?)))));
        }
        let mut unknown: Vec<&[u32]> = Vec::new();
        for ids in &texts {
            if !known.contains_key(ids) && !unknown.contains(ids) {
                unknown.push(ids);
            }
        }
        let mut rest = &unknown[..];
        while !rest.is_empty() {
            let (together, after) = rest.split_at(self.read_together(rest));
            rest = after;
            known.extend(together.iter().copied().zip(self.read(together)?));
        }
        let of = |ids: &&[u32]| match known.get(ids) {
            Some(found) => Ok(Arc::clone(found)),
            None => candle_core::bail!("keys and values of a text were not computed"),
        };
        Ok(Past::new(texts.iter().map(of).collect::<CandleResult<_>>()?, batch.lengths.clone()))
    }

    /// Computes keys and values of texts and caches them while there is room. A text's values do not depend
    /// on the other texts in the batch: on the CPU nothing is padded, and a row of a product is the same
    /// next to any others; on other devices each text is read on its own.
    fn read(&self, texts: &[&[u32]]) -> CandleResult<Vec<Arc<TextKeyValues>>> {
        let batch = TokenBatch { ids: texts.concat(), lengths: texts.iter().map(|ids| ids.len()).collect() };
        let ctx = ForwardCtx::inference(&batch.lengths, self.prompt.device()).keeping_key_values();
        self.inner.forward(&batch, &ctx)?;
        let found: Vec<_> =
            ctx.take_key_values().of_texts(&batch.lengths)?.into_iter().map(Arc::new).collect();
        let mut kept = self.text_cache();
        for (ids, found) in texts.iter().zip(&found) {
            let bytes = found.bytes();
            if bytes <= kept.left && kept.of.insert(ids.to_vec(), Arc::clone(found)).is_none() {
                kept.left -= bytes;
            }
        }
        Ok(found)
    }

    /// Number of texts at the beginning that are read together, at least one.
    fn read_together(&self, texts: &[&[u32]]) -> usize {
        if !self.prompt.device().is_cpu() {
            return 1;
        }
        let mut tokens = 0;
        let fits = |ids: &&&[u32]| {
            tokens += ids.len();
            tokens <= TOKENS_TOGETHER
        };
        texts.iter().take_while(fits).count().max(1)
    }

    fn text_cache(&self) -> MutexGuard<'_, TextCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hidden state of the last vector after each text: `[texts, dim]`. Where a graph is recorded only the
    /// prompt is computed with one: the texts' keys and values do not depend on a prompt after them.
    fn after(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let (prompted, ctx) = if ctx.graph() {
            let lengths = vec![self.vectors; batch.lengths.len()];
            let ids = lengths.iter().flat_map(|_| self.ids()).collect();
            (TokenBatch { ids, lengths }, ctx.continuing(&self.prompt, self.past(batch)?)?)
        } else {
            let prompted = self.with_prompt(batch);
            let ctx = ctx.with_prompt(&self.prompt, &prompted.lengths);
            (prompted, ctx)
        };
        lasts(ctx.packing(), self.inner.forward(&prompted, &ctx)?.last())
    }
}

impl Transformer for Prompted {
    fn sizes(&self) -> Sizes {
        let sizes = self.inner.sizes();
        Sizes { positions: sizes.positions.saturating_sub(self.vectors), ..sizes }
    }

    fn words(&self) -> &Tensor {
        self.inner.words()
    }

    /// Computes states of the texts' own tokens, which do not depend on a prompt after them.
    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        if self.side == Side::After {
            return self.inner.forward(batch, ctx);
        }
        let prompted = self.with_prompt(batch);
        let ctx = ctx.with_prompt(&self.prompt, &prompted.lengths);
        self.inner.forward(&prompted, &ctx)?.map(|state| self.own_rows(batch, state))
    }

    fn read_out(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<Option<Tensor>> {
        match self.side {
            Side::Before => Ok(None),
            Side::After => self.after(batch, ctx).map(Some),
        }
    }

    fn pooler(&self) -> Option<&Pooler> {
        self.inner.pooler()
    }
}
