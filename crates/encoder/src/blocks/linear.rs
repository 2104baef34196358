//! Linear layers: frozen, trainable, or frozen with a trainable low-rank addition.

use candle_core::{Result as CandleResult, Tensor};

use super::frozen::FrozenLinear;
use super::lora::Adapter;
use super::packed::PackedLinear;
use super::{ForwardCtx, LayerNorm, Parameters};
use crate::error::EncoderError;
use crate::ops::{Activation, linear};

/// Purpose of a product, which determines low-rank additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// Attention queries.
    Query,
    /// Attention keys.
    Key,
    /// Attention values.
    Value,
    /// The output product of attention.
    AttentionOutput,
    /// The feed-forward products.
    FeedForward,
    /// Anything else.
    Other,
}

/// Names and shapes of a product's tensors.
pub(crate) struct LinearNames<'a> {
    /// Tensor names without `.weight` and `.bias`; several are stacked along the outputs.
    pub(crate) names: &'a [&'a str],
    /// Role of each slice of `outputs` outputs.
    pub(crate) roles: &'a [Role],
    pub(crate) outputs: &'a [usize],
    /// Number of inputs.
    pub(crate) inputs: usize,
    pub(crate) bias: bool,
    pub(crate) transposed: bool,
}

impl LinearNames<'_> {
    /// Number of slices of each tensor.
    pub(crate) fn slices(&self) -> usize {
        (self.roles.len() / self.names.len().max(1)).max(1)
    }
}

/// `x W^T + b` for one weight or several stacked ones.
pub(crate) enum Linear {
    Packed(PackedLinear),
    /// Frozen, on the CPU, with a graph.
    Frozen(FrozenLinear, Adapters),
    /// On other devices, or trainable.
    Plain(PlainLinear, Adapters),
}

/// A product computed with the tensor library's operations.
pub(crate) struct PlainLinear {
    /// `[outputs, inputs]` each, or transposed; joined unless one is trainable.
    weights: Vec<Tensor>,
    biases: Vec<Tensor>,
    transposed: bool,
    learns: bool,
}

/// The trainable low-rank additions of a product.
pub(crate) struct Adapters {
    /// One for each slice of the outputs.
    of_slices: Vec<Option<Adapter>>,
    /// Number of outputs of each slice.
    outputs: Vec<usize>,
}

impl Linear {
    /// Opens one weight `[outputs, inputs]` and its bias.
    pub(crate) fn one(
        parameters: &Parameters<'_>,
        name: &str,
        role: Role,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self, EncoderError> {
        let (names, roles, outputs) = (&[name], &[role], &[outputs]);
        Self::open(parameters, &LinearNames { names, roles, outputs, inputs, bias: true, transposed: false })
    }

    pub(crate) fn open(parameters: &Parameters<'_>, names: &LinearNames<'_>) -> Result<Self, EncoderError> {
        let mut weights = Vec::with_capacity(names.names.len());
        let mut biases = Vec::new();
        for (name, slices) in names.names.iter().zip(names.outputs.chunks(names.slices())) {
            let outputs = slices.iter().fold(0usize, |sum, slice| sum.saturating_add(*slice));
            let shape = if names.transposed { [names.inputs, outputs] } else { [outputs, names.inputs] };
            weights.push(parameters.get(&format!("{name}.weight"), &shape)?);
            if names.bias {
                biases.push(parameters.get(&format!("{name}.bias"), &[outputs])?);
            }
        }
        let learns = names.names.iter().any(|name| parameters.learns(&format!("{name}.weight")));
        if !learns && names.names.len() > 1 {
            weights = vec![Tensor::cat(&weights, 0).map_err(|e| parameters.compute(e))?];
            if names.bias {
                biases = vec![Tensor::cat(&biases, 0).map_err(|e| parameters.compute(e))?];
            }
        }
        let adapters = Adapters { of_slices: parameters.adapters(names)?, outputs: names.outputs.to_vec() };
        let plain = PlainLinear { weights, biases, transposed: names.transposed, learns };
        if learns || !parameters.packs() {
            return Ok(Self::Plain(plain, adapters));
        }
        let in_graph = names.names.iter().any(|name| parameters.in_graph(&format!("{name}.weight")));
        let packed = plain.joined().and_then(|(weight, bias)| {
            Ok(match in_graph {
                true => Self::Frozen(FrozenLinear::pack(&weight, bias.as_ref())?, adapters),
                false => Self::Packed(PackedLinear::pack(&weight, bias.as_ref(), parameters.precision())?),
            })
        });
        packed.map_err(|e| parameters.compute(e))
    }

    /// Maps `[rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn apply(&self, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        match self {
            Self::Packed(packed) => packed.apply(x),
            Self::Frozen(frozen, adapters) => adapters.added(frozen.apply(x)?, x, ctx),
            Self::Plain(plain, adapters) => adapters.added(plain.apply(x)?, x, ctx),
        }
    }

    /// Applies a nonlinearity to the product.
    pub(crate) fn apply_activation(
        &self,
        x: &Tensor,
        activation: Activation,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        match self {
            Self::Packed(packed) if activation == Activation::Gelu && packed.has_bias() => {
                packed.apply_gelu(x)
            }
            _ => activation.apply(&self.apply(x, ctx)?),
        }
    }

    /// Applies dropout to the product, adds `residual`, and normalises.
    pub(crate) fn apply_residual_norm(
        &self,
        x: &Tensor,
        residual: &Tensor,
        norm: &LayerNorm,
        dropout: f32,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        match (self, norm.values()) {
            (Self::Packed(packed), Some(values)) if packed.has_bias() => {
                packed.apply_residual_norm(x, residual, values)
            }
            _ => norm.apply(&(ctx.dropout(self.apply(x, ctx)?, dropout)? + residual)?),
        }
    }
}

impl PlainLinear {
    /// Weight `[outputs, inputs]` and bias `[outputs]` of all parts.
    fn joined(&self) -> CandleResult<(Tensor, Option<Tensor>)> {
        let one = |parts: &[Tensor]| -> CandleResult<Option<Tensor>> {
            match parts {
                [] => Ok(None),
                [one] => Ok(Some(one.clone())),
                several => Tensor::cat(several, 0).map(Some),
            }
        };
        let Some(weight) = one(&self.weights)? else { candle_core::bail!("a product without weights") };
        Ok((if self.transposed { weight.t()? } else { weight }, one(&self.biases)?))
    }

    fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        let (weight, bias) = self.joined()?;
        linear(x, &weight, bias.as_ref(), self.learns)
    }
}

impl Adapters {
    /// Adds the low-rank additions to a product of `x`.
    fn added(&self, product: Tensor, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        if self.of_slices.iter().all(Option::is_none) {
            return Ok(product);
        }
        let part = |(adapter, outputs): (&Option<Adapter>, &usize)| match adapter {
            None => Tensor::zeros((x.dim(0)?, *outputs), x.dtype(), x.device()),
            Some(adapter) => adapter.apply(x, ctx),
        };
        let parts = self.of_slices.iter().zip(&self.outputs).map(part).collect::<CandleResult<Vec<_>>>()?;
        product + Tensor::cat(&parts, 1)?
    }
}
