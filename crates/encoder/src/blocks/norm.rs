//! Layer normalisation with its own scale and shift.

use candle_core::{Result as CandleResult, Tensor};

use super::Parameters;
use crate::EncoderError;
use crate::fused::norm;

/// Layer normalisation over the last axis.
pub(crate) struct Norm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f32,
}

impl Norm {
    /// `NAME.weight` and `NAME.bias`, each `[size]`.
    pub(crate) fn open(
        parameters: &Parameters<'_>,
        name: &str,
        size: usize,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        // Checkpoints converted from TensorFlow call the two gamma and beta.
        let old = parameters.has(&format!("{name}.gamma"));
        let (scale, shift) = if old { ("gamma", "beta") } else { ("weight", "bias") };
        Ok(Self {
            scale: parameters.get(&format!("{name}.{scale}"), &[size])?,
            shift: parameters.get(&format!("{name}.{shift}"), &[size])?,
            epsilon: epsilon as f32,
        })
    }

    /// The same without a shift: `NAME.weight` alone.
    pub(crate) fn open_without_shift(
        parameters: &Parameters<'_>,
        name: &str,
        size: usize,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        let scale = parameters.get(&format!("{name}.weight"), &[size])?;
        let shift = scale.detach().zeros_like().map_err(|e| parameters.compute(e))?;
        Ok(Self { scale, shift, epsilon: epsilon as f32 })
    }

    /// Of `[rows, size]`.
    pub(crate) fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        norm(x, &self.scale, &self.shift, self.epsilon)
    }
}
