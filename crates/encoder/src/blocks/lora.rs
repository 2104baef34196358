//! Low-rank additions to products (Hu et al. 2021, "LoRA", arXiv 2106.09685).

use candle_core::{Result as CandleResult, Tensor};

use super::ForwardCtx;
use crate::ops::linear;

/// A low-rank addition to one slice of a product's outputs.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    /// `[rank, inputs]`
    pub(super) a: Tensor,
    /// `[outputs, rank]`
    pub(super) b: Tensor,
    pub(super) scale: f64,
    pub(super) dropout: f32,
}

impl Adapter {
    /// Maps `[rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn apply(&self, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let x = ctx.dropout(x.clone(), self.dropout)?;
        linear(&linear(&x, &self.a, None, true)?, &self.b, None, true)? * self.scale
    }

    /// Its addition to the weight, `[outputs, inputs]`.
    fn share(&self) -> CandleResult<Tensor> {
        self.b.detach().matmul(&self.a.detach())? * self.scale
    }
}

/// A low-rank addition, and its location in the checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct PlacedAdapter {
    /// Full name of the weight.
    pub(crate) weight: String,
    /// First output that it is added to.
    pub(super) first: usize,
    pub(super) transposed: bool,
    pub(super) adapter: Adapter,
}

impl PlacedAdapter {
    /// Returns `weight` with the addition merged.
    pub(crate) fn merged(&self, weight: &Tensor) -> CandleResult<Tensor> {
        let weight = if self.transposed { weight.t()?.contiguous()? } else { weight.clone() };
        let share = self.adapter.share()?.to_device(weight.device())?;
        let slice = (weight.narrow(0, self.first, share.dim(0)?)? + share)?;
        let merged = weight.slice_scatter(&slice, 0, self.first)?;
        if self.transposed { merged.t()?.contiguous() } else { Ok(merged) }
    }
}
