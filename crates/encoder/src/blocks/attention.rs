//! Multi-head self-attention (Vaswani et al. 2017, arXiv 1706.03762) over packed texts.

use candle_core::{D, Result as CandleResult, Tensor};

use super::{Packing, Pass, Reach};
use crate::fused::softmax;

/// The heads of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    /// Number of heads.
    pub(crate) heads: usize,
    /// What scores are multiplied with before the softmax.
    pub(crate) scale: f64,
    /// Which keys a query sees.
    pub(crate) reach: Reach,
    /// Probability with which an attention weight is dropped in training.
    pub(crate) dropout: f32,
}

impl Attention {
    /// The usual: every token sees every token, scores divided by the root of a head's size.
    pub(crate) fn new(heads: usize, hidden: usize, dropout: f32) -> Self {
        let scale = ((hidden / heads.max(1)) as f64).sqrt().recip();
        Self { heads, scale, reach: Reach::WHOLE, dropout }
    }

    /// From stacked queries, keys and values, `[rows, 3 * hidden]`, to the attended values, `[rows, hidden]`. `bias`,
    /// `[heads, longest, longest]`, is added to the scores of every text.
    pub(crate) fn apply(&self, stacked: &Tensor, bias: Option<&Tensor>, pass: &Pass) -> CandleResult<Tensor> {
        let packing = pass.packing();
        let [query, key, value] = self.split(stacked, packing)?;
        let scores = (query.matmul(&key.transpose(D::Minus1, D::Minus2)?)? * self.scale)?;
        let scores = match bias {
            None => scores,
            Some(bias) => scores.broadcast_add(&bias.unsqueeze(0)?)?,
        };
        self.attended(&scores, &value, pass)
    }

    /// From scores `[texts, heads, longest, longest]` and values `[texts, heads, longest, size]` to `[rows, hidden]`.
    pub(crate) fn attended(&self, scores: &Tensor, value: &Tensor, pass: &Pass) -> CandleResult<Tensor> {
        let packing = pass.packing();
        let scores = match packing.mask(self.reach)? {
            None => scores.clone(),
            Some(mask) => scores.broadcast_add(&mask)?,
        };
        let weights = pass.dropout(softmax(&scores)?, self.dropout)?;
        let context = weights.matmul(value)?.transpose(1, 2)?.flatten_from(2)?;
        packing.unpad(&context)
    }

    /// Stacked `[rows, 3 * hidden]` as queries, keys and values, each `[texts, heads, longest, size]`.
    pub(crate) fn split(&self, stacked: &Tensor, packing: &Packing) -> CandleResult<[Tensor; 3]> {
        let size = stacked.dim(1)? / (3 * self.heads);
        let shape = (packing.texts(), packing.longest(), 3, self.heads, size);
        let padded = packing.pad(stacked)?.reshape(shape)?;
        let part = |i: usize| padded.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2)?.contiguous();
        Ok([part(0)?, part(1)?, part(2)?])
    }
}
