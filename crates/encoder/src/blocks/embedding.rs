//! Input embeddings of BERT and its relatives: the sum of word, position and segment embeddings, and its
//! norm.

use candle_core::{CpuStorage, CustomOp1, DType, Layout, Result as CandleResult, Shape, Tensor, bail};
use pulp::Arch;

use super::packed::{LayerNormParams, floats};
use super::{ForwardCtx, LayerNorm, Parameters};
use crate::error::EncoderError;
use crate::kernels::rows::Norm as NormRows;
use crate::token_batch::TokenBatch;

/// Names and shapes of a family's embeddings.
pub(crate) struct EmbeddingSizes {
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    /// Number of rows of the position embeddings.
    pub(crate) positions: usize,
    /// The position of a text's first token.
    pub(crate) first: usize,
    /// Number of rows of the segment embeddings, of which texts use the first; 0: there are none.
    pub(crate) segments: usize,
    /// Added to the variance in the norm.
    pub(crate) epsilon: f64,
    /// Dropout probability of elements in training.
    pub(crate) dropout: f32,
}

/// Embeddings under the names `embeddings.{word,position,token_type}_embeddings` and `embeddings.LayerNorm`.
pub(crate) struct Embedding {
    words: Tensor,
    /// `[positions, hidden]`
    places: Tensor,
    /// `[segments, hidden]`
    segments: Option<Tensor>,
    norm: LayerNorm,
    first: u32,
    dropout: f32,
}

impl Embedding {
    pub(crate) fn open(parameters: &Parameters<'_>, sizes: &EmbeddingSizes) -> Result<Self, EncoderError> {
        let table = |name: &str, rows: usize| {
            parameters.get(&format!("embeddings.{name}_embeddings.weight"), &[rows, sizes.hidden])
        };
        let segments = if sizes.segments == 0 { None } else { Some(table("token_type", sizes.segments)?) };
        Ok(Self {
            words: table("word", sizes.vocabulary)?,
            places: table("position", sizes.positions)?,
            segments,
            norm: LayerNorm::open(parameters, "embeddings.LayerNorm", sizes.hidden, sizes.epsilon)?,
            first: sizes.first as u32,
            dropout: sizes.dropout,
        })
    }

    /// The word embeddings: `[vocabulary, hidden]`.
    pub(crate) fn words(&self) -> &Tensor {
        &self.words
    }

    /// Computes `[tokens, hidden]`.
    pub(crate) fn apply(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        if let (Some(norm), false, false) = (self.norm.values(), ctx.graph(), ctx.has_prompt()) {
            return self.words.apply_op1_no_bwd(&Gather { embedding: self, batch, norm });
        }
        let places = self.places.index_select(&ctx.packing().places(self.first)?, 0)?;
        let mut sum = (ctx.rows_of(&self.words, &batch.ids)? + places)?;
        if let Some(segments) = &self.segments {
            sum = sum.broadcast_add(&segments.narrow(0, 0, 1)?)?;
        }
        ctx.dropout(self.norm.apply(&sum)?, self.dropout)
    }
}

/// Fast path: the whole computation in one pass over memory.
struct Gather<'a> {
    embedding: &'a Embedding,
    batch: &'a TokenBatch,
    norm: &'a LayerNormParams,
}

impl CustomOp1 for Gather<'_> {
    fn name(&self) -> &'static str {
        "embed"
    }

    fn cpu_fwd(&self, words: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let (vocabulary, hidden) = layout.shape().dims2()?;
        let (words, Embedding { places, segments, first, .. }) = (floats(words, layout)?, self.embedding);
        let rows = self.batch.lengths.iter().sum::<usize>();
        let mut out = Vec::with_capacity(rows * hidden);
        let places = places.to_dtype(DType::F32)?;
        let (storage, places_layout) = places.storage_and_layout();
        let candle_core::Storage::Cpu(storage) = &*storage else {
            bail!("position embeddings of another device")
        };
        let places = floats(storage, places_layout)?;
        let segment = match segments {
            None => vec![0.0; hidden],
            Some(segments) => segments.get(0)?.to_vec1::<f32>()?,
        };
        let each = self.batch.lengths.iter().flat_map(|length| (*first as usize..).take(*length));
        for (id, place) in self.batch.ids.iter().zip(each) {
            let id = *id as usize;
            if id >= vocabulary || (place + 1) * hidden > places.len() {
                bail!("token {id} at position {place} is beyond the embeddings");
            }
            let pairs = words[id * hidden..][..hidden].iter().zip(&places[place * hidden..][..hidden]);
            out.extend(pairs.zip(&segment).map(|((word, place), segment)| word + place + segment));
        }
        let LayerNormParams { scale, shift, epsilon } = self.norm;
        Arch::new().dispatch(NormRows { x: &mut out, scale, shift, epsilon: *epsilon });
        Ok((CpuStorage::F32(out), (rows, hidden).into()))
    }
}
