//! A checkpoint's own pooler: a dense layer and tanh on the first token.

use candle_core::{Result as CandleResult, Tensor};

use super::{ForwardCtx, Linear, Parameters, Role};
use crate::error::EncoderError;
use crate::ops::Activation;

pub(crate) struct Pooler {
    dense: Linear,
}

impl Pooler {
    /// Opens `pooler.dense`, if the checkpoint has it.
    pub(crate) fn open(parameters: &Parameters<'_>, hidden: usize) -> Result<Option<Self>, EncoderError> {
        if !parameters.has("pooler.dense.weight") {
            return Ok(None);
        }
        let dense = Linear::one(parameters, "pooler.dense", Role::Other, hidden, hidden)?;
        Ok(Some(Self { dense }))
    }

    /// Maps first tokens `[texts, hidden]` to embeddings of the same shape.
    pub(crate) fn apply(&self, firsts: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        self.dense.apply_activation(firsts, Activation::Tanh, ctx)
    }
}
