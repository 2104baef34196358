//! Normalisation by the root mean square, with its own scale.

use candle_core::{Result as CandleResult, Tensor};

use super::Parameters;
use crate::error::EncoderError;
use crate::ops::rms_norm;

/// Root-mean-square normalisation over the last axis.
pub(crate) struct RmsNorm {
    scale: Tensor,
    epsilon: f32,
}

impl RmsNorm {
    pub(crate) fn open(
        parameters: &Parameters<'_>,
        name: &str,
        size: usize,
        epsilon: f64,
    ) -> Result<Self, EncoderError> {
        Ok(Self { scale: parameters.get(&format!("{name}.weight"), &[size])?, epsilon: epsilon as f32 })
    }

    pub(crate) fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        rms_norm(x, &self.scale, self.epsilon)
    }
}
