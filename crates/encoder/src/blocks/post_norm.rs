//! The layer that BERT and its relatives share: attention and feed-forward, each followed by dropout, the
//! residual and a norm.

use candle_core::{Result as CandleResult, Tensor};

use super::{Attention, ForwardCtx, LayerNorm, Linear, LinearNames, Parameters, Role};
use crate::error::EncoderError;
use crate::ops::Activation;

/// A family's names for the parts of a layer.
pub(crate) struct PostNormNames {
    /// Queries, keys and values.
    pub(crate) query_key_value: [&'static str; 3],
    /// The product after attention, and its norm.
    pub(crate) o_proj: [&'static str; 2],
    /// The first product of the feed-forward part.
    pub(crate) up_proj: &'static str,
    /// The second, and its norm.
    pub(crate) down_proj: [&'static str; 2],
}

impl PostNormNames {
    /// The names in BERT and RoBERTa.
    pub(crate) const BERT: Self = Self {
        query_key_value: ["attention.self.query", "attention.self.key", "attention.self.value"],
        o_proj: ["attention.output.dense", "attention.output.LayerNorm"],
        up_proj: "intermediate.dense",
        down_proj: ["output.dense", "output.LayerNorm"],
    };
}

/// Sizes and constants of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostNormSizes {
    pub(crate) hidden: usize,
    /// Width of the feed-forward part.
    pub(crate) wide: usize,
    pub(crate) activation: Activation,
    pub(crate) epsilon: f64,
    pub(crate) attention: Attention,
    /// Dropout probability of the attention output in training.
    pub(crate) o_dropout: f32,
    /// The same for the feed-forward output.
    pub(crate) dropout: f32,
}

impl PostNormSizes {
    /// Multiply-and-add pairs per token outside attention.
    pub(crate) fn products(&self) -> usize {
        4 * self.hidden * self.hidden + 2 * self.hidden * self.wide
    }
}

/// One layer.
pub(crate) struct PostNormLayer {
    query_key_value: Linear,
    o_proj: Linear,
    o_norm: LayerNorm,
    up_proj: Linear,
    down_proj: Linear,
    down_norm: LayerNorm,
    sizes: PostNormSizes,
}

impl PostNormLayer {
    /// Opens the layer whose tensor names begin with `at` and a dot.
    pub(crate) fn open(
        parameters: &Parameters<'_>,
        at: &str,
        names: &PostNormNames,
        sizes: PostNormSizes,
    ) -> Result<Self, EncoderError> {
        let PostNormSizes { hidden, wide, epsilon, .. } = sizes;
        let name = |part: &str| format!("{at}.{part}");
        let stacked = names.query_key_value.map(name);
        let query_key_value = LinearNames {
            names: &[&stacked[0], &stacked[1], &stacked[2]],
            roles: &[Role::Query, Role::Key, Role::Value],
            outputs: &[hidden; 3],
            inputs: hidden,
            bias: true,
            transposed: false,
        };
        let linear = |part: &str, role, outputs, inputs| {
            Linear::one(parameters, &format!("{at}.{part}"), role, outputs, inputs)
        };
        let norm = |part: &str| LayerNorm::open(parameters, &format!("{at}.{part}"), hidden, epsilon);
        Ok(Self {
            query_key_value: Linear::open(parameters, &query_key_value)?,
            o_proj: linear(names.o_proj[0], Role::AttentionOutput, hidden, hidden)?,
            o_norm: norm(names.o_proj[1])?,
            up_proj: linear(names.up_proj, Role::FeedForward, wide, hidden)?,
            down_proj: linear(names.down_proj[0], Role::FeedForward, hidden, wide)?,
            down_norm: norm(names.down_proj[1])?,
            sizes,
        })
    }

    /// Maps `[tokens, hidden]` to the same shape; `bias` as in [`Attention::apply`].
    pub(crate) fn apply(&self, x: &Tensor, bias: Option<&Tensor>, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let PostNormSizes { attention, activation, o_dropout, dropout, .. } = self.sizes;
        let stacked = self.query_key_value.apply(x, ctx)?;
        let context = attention.apply(&stacked, bias, ctx)?;
        let x = self.o_proj.apply_residual_norm(&context, x, &self.o_norm, o_dropout, ctx)?;
        let wide = self.up_proj.apply_activation(&x, activation, ctx)?;
        self.down_proj.apply_residual_norm(&wide, &x, &self.down_norm, dropout, ctx)
    }
}
