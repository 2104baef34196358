//! Multi-head self-attention (Vaswani et al. 2017, arXiv 1706.03762) over packed texts.

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, D, DType, Layout, Result as CandleResult, Shape, Tensor,
};
use pulp::Arch;

use super::packed::floats;
use super::{ForwardCtx, VarlenLayout};
use crate::attention_mask::AttentionMask;
use crate::kernels::{Heads, attend};
use crate::ops::softmax;

/// The heads of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    /// Number of heads.
    pub(crate) heads: usize,
    /// What scores are multiplied with before the softmax.
    pub(crate) scale: f64,
    /// Which keys a query sees.
    pub(crate) reach: AttentionMask,
    /// Probability with which an attention weight is dropped in training.
    pub(crate) dropout: f32,
}

impl Attention {
    /// The usual: every token sees every token, scores divided by the root of a head's size.
    pub(crate) fn new(heads: usize, hidden: usize, dropout: f32) -> Self {
        let scale = ((hidden / heads.max(1)) as f64).sqrt().recip();
        Self { heads, scale, reach: AttentionMask::FULL, dropout }
    }

    /// From stacked queries, keys and values, `[rows, 3 * hidden]`, to the attended values, `[rows, hidden]`. `bias`,
    /// `[heads, longest, longest]`, is added to the scores of every text.
    pub(crate) fn apply(
        &self,
        stacked: &Tensor,
        bias: Option<&Tensor>,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        let packing = ctx.packing();
        let plain = stacked.device().is_cpu() && stacked.dtype() == DType::F32;
        if plain && !ctx.graph() {
            let bias = bias.map(Tensor::contiguous).transpose()?;
            let fast = Attend { attention: self, packing };
            return match bias {
                None => stacked.contiguous()?.apply_op1_no_bwd(&fast),
                Some(bias) => stacked.contiguous()?.apply_op2_no_bwd(&bias, &fast),
            };
        }
        let [query, key, value] = self.split(stacked, packing)?;
        // Scaled before the product: unscaled scores can be beyond the largest half float.
        let scores = (query * self.scale)?.matmul(&key.transpose(D::Minus1, D::Minus2)?)?;
        let scores = match bias {
            None => scores,
            Some(bias) => scores.broadcast_add(&bias.unsqueeze(0)?)?,
        };
        self.attended(&scores, &value, ctx)
    }

    /// From scores `[texts, heads, longest, longest]` and values `[texts, heads, longest, size]` to `[rows, hidden]`.
    pub(crate) fn attended(&self, scores: &Tensor, value: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let packing = ctx.packing();
        // Scores in 32 bits, whatever the precision: half floats have no number as low as the mask's.
        let dtype = scores.dtype();
        let scores = match packing.mask(self.reach)? {
            None => scores.to_dtype(DType::F32)?,
            Some(mask) => scores.to_dtype(DType::F32)?.broadcast_add(&mask)?,
        };
        let weights = ctx.dropout(softmax(&scores)?.to_dtype(dtype)?, self.dropout)?;
        let context = weights.matmul(value)?.transpose(1, 2)?.flatten_from(2)?;
        packing.unpad(&context)
    }

    /// Stacked `[rows, 3 * hidden]` as queries, keys and values, each `[texts, heads, longest, size]`.
    pub(crate) fn split(&self, stacked: &Tensor, packing: &VarlenLayout) -> CandleResult<[Tensor; 3]> {
        let size = stacked.dim(1)? / (3 * self.heads);
        let shape = (packing.texts(), packing.longest(), 3, self.heads, size);
        let padded = packing.pad(stacked)?.reshape(shape)?;
        let part = |i: usize| padded.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2)?.contiguous();
        Ok([part(0)?, part(1)?, part(2)?])
    }
}

/// The fast path: on the CPU, where no graph passes through.
struct Attend<'a> {
    attention: &'a Attention,
    packing: &'a VarlenLayout,
}

impl Attend<'_> {
    fn run(
        &self,
        stacked: &CpuStorage,
        layout: &Layout,
        bias: Option<&[f32]>,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let (rows, wide) = layout.shape().dims2()?;
        let mut out = vec![0.0; rows * wide / 3];
        let Attention { heads, scale, reach, .. } = *self.attention;
        let bias = bias.map(|bias| (bias, self.packing.longest()));
        let heads = Heads { heads, scale: scale as f32, reach, bias };
        attend(Arch::new(), floats(stacked, layout)?, self.packing.lengths(), heads, &mut out);
        Ok((CpuStorage::F32(out), (rows, wide / 3).into()))
    }
}

impl CustomOp1 for Attend<'_> {
    fn name(&self) -> &'static str {
        "attend"
    }

    fn cpu_fwd(&self, stacked: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        self.run(stacked, layout, None)
    }
}

impl CustomOp2 for Attend<'_> {
    fn name(&self) -> &'static str {
        "attend-bias"
    }

    fn cpu_fwd(
        &self,
        stacked: &CpuStorage,
        layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        self.run(stacked, layout, Some(floats(bias, bias_layout)?))
    }
}
