//! Layer normalisation with its own scale and shift.

use candle_core::{Result as CandleResult, Tensor};

use super::Parameters;
use super::packed::LayerNormParams;
use crate::error::EncoderError;
use crate::ops::norm;

/// Layer normalisation over the last axis.
pub(crate) struct LayerNorm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f32,
    /// Set if a frozen product on the CPU can compute this norm.
    values: Option<LayerNormParams>,
}

impl LayerNorm {
    /// Opens `NAME.weight` and `NAME.bias`, each `[size]`.
    pub(crate) fn open(
        parameters: &Parameters<'_>,
        name: &str,
        size: usize,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        // Checkpoints converted from TensorFlow call the two gamma and beta.
        let old = parameters.has(&format!("{name}.gamma"));
        let (scale, shift) = if old { ("gamma", "beta") } else { ("weight", "bias") };
        let get = |part: &str| parameters.get(&format!("{name}.{part}"), &[size]);
        Self::with(parameters, name, get(scale)?, get(shift)?, epsilon)
    }

    /// Opens a norm without a shift: `NAME.weight` only.
    pub(crate) fn open_without_shift(
        parameters: &Parameters<'_>,
        name: &str,
        size: usize,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        let scale = parameters.get(&format!("{name}.weight"), &[size])?;
        let shift = scale.detach().zeros_like().map_err(|e| parameters.compute(e))?;
        Self::with(parameters, name, scale, shift, epsilon)
    }

    fn with(
        parameters: &Parameters<'_>,
        name: &str,
        scale: Tensor,
        shift: Tensor,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        let epsilon = epsilon as f32;
        let values = || -> CandleResult<LayerNormParams> {
            Ok(LayerNormParams { scale: scale.to_vec1()?, shift: shift.to_vec1()?, epsilon })
        };
        let frozen = parameters.packs() && !parameters.in_graph(&format!("{name}.weight"));
        let values = if frozen { Some(values().map_err(|e| parameters.compute(e))?) } else { None };
        Ok(Self { scale, shift, epsilon, values })
    }

    /// Scale, shift and epsilon of a norm without a graph, on the CPU.
    pub(crate) fn values(&self) -> Option<&LayerNormParams> {
        self.values.as_ref()
    }

    /// Normalises `[rows, size]`.
    pub(crate) fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        norm(x, &self.scale, &self.shift, self.epsilon)
    }
}
