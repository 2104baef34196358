//! Source of a family's tensors: validated weights, some of which are trainable.

use candle_core::{DType, Tensor};

use super::lora::Adapter;
use super::{LinearNames, ParamRegistry};
use crate::error::EncoderError;
use crate::options::Precision;
use crate::weights::Weights;

/// A checkpoint's tensors by name.
pub(crate) struct Parameters<'a> {
    weights: Weights<'a>,
    /// `None`: nothing is trainable.
    learning: Option<&'a ParamRegistry>,
    /// Whether everything must be differentiable, even if nothing is trainable.
    differentiable: bool,
    precision: Precision,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(
        weights: Weights<'a>,
        learning: Option<&'a ParamRegistry>,
        precision: Precision,
    ) -> Self {
        Self { weights, learning, differentiable: false, precision }
    }

    /// Makes every step differentiable with respect to its input.
    pub(crate) fn differentiable(self) -> Self {
        Self { differentiable: true, ..self }
    }

    /// Looks names up under `prefix` where the checkpoint has `probe` there, and records the number of
    /// layers.
    pub(crate) fn of(self, prefix: &str, probe: &str, layers: usize) -> Self {
        if let Some(learning) = self.learning {
            learning.set_layers(layers);
        }
        Self { weights: self.weights.with_prefix_of(prefix, probe), ..self }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.weights.has(name)
    }

    /// Reads the tensor `name`, which must have this shape; tracked if it is trainable.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor, EncoderError> {
        let tensor = self.weights.get(name, shape)?;
        if self.precision == Precision::Half {
            return tensor.to_dtype(DType::F16).map_err(|e| self.compute(e));
        }
        match self.learning {
            Some(learning) if learning.learns(name) => {
                learning.variable(name, &self.weights.full_name(name), tensor).map_err(|e| self.compute(e))
            }
            _ => Ok(tensor),
        }
    }

    /// Whether the tensor `name` is trainable.
    pub(crate) fn learns(&self, name: &str) -> bool {
        self.learning.is_some_and(|learning| learning.learns(name))
    }

    /// Whether a graph passes through the tensor `name`: it or something below it is trainable.
    pub(crate) fn in_graph(&self, name: &str) -> bool {
        self.differentiable || self.learning.is_some_and(|learning| learning.in_graph(name))
    }

    /// The low-rank additions of a product, one for each of its slices.
    pub(crate) fn adapters(&self, names: &LinearNames<'_>) -> Result<Vec<Option<Adapter>>, EncoderError> {
        match self.learning {
            None => Ok(names.roles.iter().map(|_| None).collect()),
            Some(learning) => learning
                .adapters(names, |name| self.weights.full_name(name), self.weights.device())
                .map_err(|e| self.compute(e)),
        }
    }

    /// Whether frozen products are packed for the CPU's kernels.
    pub(crate) fn packs(&self) -> bool {
        self.weights.device().is_cpu() && self.precision != Precision::Half
    }

    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    pub(crate) fn compute(&self, source: candle_core::Error) -> EncoderError {
        self.weights.compute(source)
    }
}
