//! Multi-head self-attention (Vaswani et al. 2017, arXiv 1706.03762) over packed texts.

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, D, DType, Layout, Result as CandleResult, Shape, Tensor,
};
use pulp::Arch;

use super::key_values::Past;
use super::packed::floats;
use super::{ForwardCtx, VarlenLayout};
use crate::attention_mask::AttentionMask;
use crate::kernels::{Heads, attend};
use crate::ops::softmax;

/// The heads of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) heads: usize,
    /// Number of heads with keys and values of their own: `heads`, or a divisor of it where each serves a
    /// group of consecutive query heads (Ainslie et al. 2023, arXiv 2305.13245).
    pub(crate) kv_heads: usize,
    /// Factor of scores before the softmax.
    pub(crate) scale: f64,
    /// The keys that a query attends to.
    pub(crate) reach: AttentionMask,
    /// Dropout probability of attention weights in training.
    pub(crate) dropout: f32,
}

impl Attention {
    /// The usual attention: every token attends to every token, scores divided by the root of a head's
    /// size.
    pub(crate) fn new(heads: usize, hidden: usize, dropout: f32) -> Self {
        let scale = ((hidden / heads.max(1)) as f64).sqrt().recip();
        Self { heads, kv_heads: heads, scale, reach: AttentionMask::FULL, dropout }
    }

    /// Computes the attended values `[rows, heads * size]` from stacked queries, keys and values
    /// `[rows, (heads + 2 * kv_heads) * size]`. `bias`, `[heads, longest, longest]`, is added to the scores
    /// of every text.
    pub(crate) fn apply(
        &self,
        stacked: &Tensor,
        bias: Option<&Tensor>,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        if let Some((past, layer)) = ctx.past() {
            return self.continued(stacked, past, layer, ctx);
        }
        ctx.record(|| self.key_values(stacked))?;
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
        let (key, value) = (self.for_every_head(&key)?, self.for_every_head(&value)?);
        // Scaled before the product: unscaled scores can exceed the largest half float.
        let scores = (query * self.scale)?.matmul(&key.transpose(D::Minus1, D::Minus2)?)?;
        let scores = match bias {
            None => scores,
            Some(bias) => scores.broadcast_add(&bias.unsqueeze(0)?)?,
        };
        self.attended(&scores, &value, ctx)
    }

    /// Extracts keys and values from stacked queries, keys and values: `[rows, 2 * kv_heads * size]`.
    fn key_values(&self, stacked: &Tensor) -> CandleResult<Tensor> {
        let size = stacked.dim(1)? / (self.heads + 2 * self.kv_heads);
        stacked.narrow(1, self.heads * size, 2 * self.kv_heads * size)?.contiguous()
    }

    /// Like [`Attention::apply`], for rows that continue texts with cached keys and values, equally many
    /// for each text.
    fn continued(
        &self,
        stacked: &Tensor,
        past: &Past,
        layer: usize,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        let packing = ctx.packing();
        let [query, key, value] = self.split(stacked, packing)?;
        let [keys, values] = past.layer(layer, self.kv_heads)?;
        let (key, value) = (Tensor::cat(&[&keys, &key], 2)?, Tensor::cat(&[&values, &value], 2)?);
        let (texts, heads, new, size) = query.dims4()?;
        let all = key.dim(2)?;
        // Heads that share keys and values are rows of one product.
        let shared = (texts, self.kv_heads, heads / self.kv_heads * new);
        let query = (query * self.scale)?.reshape((shared.0, shared.1, shared.2, size))?;
        let scores = query.matmul(&key.transpose(D::Minus1, D::Minus2)?)?;
        let dtype = scores.dtype();
        let scores = scores.to_dtype(DType::F32)?.reshape((texts, heads, new, all))?;
        let scores = scores.broadcast_add(&past.mask(self.reach, new, scores.device())?)?;
        let weights = ctx.dropout(softmax(&scores)?.to_dtype(dtype)?, self.dropout)?;
        let context = weights.reshape((shared.0, shared.1, shared.2, all))?.matmul(&value)?;
        packing.unpad(&context.reshape((texts, heads, new, size))?.transpose(1, 2)?.flatten_from(2)?)
    }

    /// Computes `[rows, hidden]` from scores `[texts, heads, longest, longest]` and values
    /// `[texts, heads, longest, size]`.
    pub(crate) fn attended(&self, scores: &Tensor, value: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let packing = ctx.packing();
        // Scores in 32 bits at any precision: half floats have no number as low as the mask's.
        let dtype = scores.dtype();
        let scores = match packing.mask(self.reach)? {
            None => scores.to_dtype(DType::F32)?,
            Some(mask) => scores.to_dtype(DType::F32)?.broadcast_add(&mask)?,
        };
        let weights = ctx.dropout(softmax(&scores)?.to_dtype(dtype)?, self.dropout)?;
        let context = weights.matmul(value)?.transpose(1, 2)?.flatten_from(2)?;
        packing.unpad(&context)
    }

    /// Splits a stacked matrix into queries `[texts, heads, longest, size]`, and keys and values
    /// `[texts, kv_heads, longest, size]`.
    pub(crate) fn split(&self, stacked: &Tensor, packing: &VarlenLayout) -> CandleResult<[Tensor; 3]> {
        let (heads, kv) = (self.heads, self.kv_heads);
        let shape = (packing.texts(), packing.longest(), heads + 2 * kv, stacked.dim(1)? / (heads + 2 * kv));
        let padded = packing.pad(stacked)?.reshape(shape)?;
        let part = |from, count| padded.narrow(2, from, count)?.transpose(1, 2)?.contiguous();
        Ok([part(0, heads)?, part(heads, kv)?, part(heads + kv, kv)?])
    }

    /// Repeats keys or values `[texts, kv_heads, tokens, size]` for each head that uses them.
    fn for_every_head(&self, x: &Tensor) -> CandleResult<Tensor> {
        if self.kv_heads == self.heads {
            return Ok(x.clone());
        }
        let (texts, kv, tokens, size) = x.dims4()?;
        let group = self.heads / kv;
        let shape = (texts, kv, group, tokens, size);
        x.unsqueeze(2)?.broadcast_as(shape)?.reshape((texts, self.heads, tokens, size))
    }
}

/// Fast path: on the CPU, without a graph.
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
        let Attention { heads, kv_heads, scale, reach, .. } = *self.attention;
        let hidden = wide / (heads + 2 * kv_heads) * heads;
        let mut out = vec![0.0; rows * hidden];
        let bias = bias.map(|bias| (bias, self.packing.longest()));
        let heads = Heads { heads, kv_heads, scale: scale as f32, reach, bias };
        attend(Arch::new(), floats(stacked, layout)?, self.packing.lengths(), heads, &mut out);
        Ok((CpuStorage::F32(out), (rows, hidden).into()))
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
