//! Products with weights: frozen, learning, or frozen with a low-rank part that learns.

use candle_core::{Result as CandleResult, Tensor};

use super::frozen::FrozenLinear;
use super::lora::Adapter;
use super::packed::PackedLinear;
use super::{ForwardCtx, LayerNorm, Parameters};
use crate::error::EncoderError;
use crate::ops::{Activation, linear};

/// What a product is for, by which low-rank parts are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// Queries of attention.
    Query,
    /// Keys of attention.
    Key,
    /// Values of attention.
    Value,
    /// The product after attention.
    AttentionOutput,
    /// The products of the feed-forward part.
    FeedForward,
    /// Anything else.
    Other,
}

/// How the tensors of a product are called and shaped.
pub(crate) struct LinearNames<'a> {
    /// Stacked along the outputs where there are several; `.weight` and `.bias` are appended.
    pub(crate) names: &'a [&'a str],
    /// One for each slice of `outputs` outputs.
    pub(crate) roles: &'a [Role],
    /// Outputs of each slice.
    pub(crate) outputs: &'a [usize],
    /// Inputs.
    pub(crate) inputs: usize,
    /// Whether there is a bias.
    pub(crate) bias: bool,
    /// Weights are stored `[inputs, outputs]`, as GPT-2 does.
    pub(crate) transposed: bool,
}

impl LinearNames<'_> {
    /// Slices of each tensor.
    pub(crate) fn slices(&self) -> usize {
        (self.roles.len() / self.names.len().max(1)).max(1)
    }
}

/// `x W^T + b` for one weight or several stacked.
pub(crate) enum Linear {
    /// Frozen, on the CPU.
    Packed(PackedLinear),
    /// Frozen, on the CPU, and a graph passes through.
    Frozen(FrozenLinear, Adapters),
    /// On other devices, or where it learns.
    Plain(PlainLinear, Adapters),
}

/// A product by candle's steps.
pub(crate) struct PlainLinear {
    /// `[outputs, inputs]` each, or the other way round where transposed; joined where nothing learns.
    weights: Vec<Tensor>,
    biases: Vec<Tensor>,
    transposed: bool,
    learns: bool,
}

/// The low-rank parts of a product that learn.
pub(crate) struct Adapters {
    /// One for each slice of the outputs.
    of_slices: Vec<Option<Adapter>>,
    /// Outputs of each slice.
    outputs: Vec<usize>,
}

impl Linear {
    /// One weight `[outputs, inputs]` and its bias.
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

    /// `[rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn apply(&self, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        match self {
            Self::Packed(packed) => packed.apply(x),
            Self::Frozen(frozen, adapters) => adapters.added(frozen.apply(x)?, x, ctx),
            Self::Plain(plain, adapters) => adapters.added(plain.apply(x)?, x, ctx),
        }
    }

    /// A nonlinearity of the product.
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

    /// The norm of the product, after dropout, and `residual`.
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
    /// A product of `x` and what the low-rank parts add to it.
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
