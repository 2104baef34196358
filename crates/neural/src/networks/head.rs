//! The head of a text: linear, or with two layers like classifiers on BERT.

use super::dense::{Activation, Dense, DropoutRng, uniform};
use candle_core::{Device, Result, Tensor, Var};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Specification of a head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadSpec {
    /// Number of units of the hidden layer; 0 for a linear head.
    pub hidden: usize,
    /// Activation after the hidden layer.
    pub activation: Activation,
    /// Dropout probability of the embedding in training.
    pub embedding_dropout: f64,
    /// Dropout probability before the last layer, if there is a hidden one.
    pub head_dropout: f64,
}

impl Default for HeadSpec {
    fn default() -> Self {
        Self { hidden: 0, activation: Activation::default(), embedding_dropout: 0.1, head_dropout: 0.1 }
    }
}

/// A head shared by all annotators: `[rows, dim]` to `[rows, width]`.
#[derive(Clone, Debug)]
pub(crate) struct MlpHead {
    hidden: Option<Dense>,
    pub(crate) out: Dense,
}

impl MlpHead {
    /// `start` are the initial outputs, for any text.
    pub(crate) fn new(
        spec: &HeadSpec,
        dim: usize,
        start: &[f32],
        rng: &mut ChaCha8Rng,
        device: &Device,
    ) -> Result<Self> {
        let hidden = (spec.hidden > 0).then(|| Dense::new(dim, spec.hidden, rng, device)).transpose()?;
        let inputs = if spec.hidden > 0 { spec.hidden } else { dim };
        Ok(Self { hidden, out: Dense::zero_init(inputs, start, device)? })
    }

    pub(crate) fn apply(&self, spec: &HeadSpec, x: &Tensor, dropout: Option<DropoutRng>) -> Result<Tensor> {
        let mut x = DropoutRng::dropout(dropout, x.clone(), spec.embedding_dropout, 0)?;
        if let Some(hidden) = &self.hidden {
            x = spec.activation.apply(&hidden.apply(&x)?)?;
            x = DropoutRng::dropout(dropout, x, spec.head_dropout, 1)?;
        }
        self.out.apply(&x)
    }

    pub(crate) fn named(&self, name: &str, out: &mut Vec<(String, Var)>) {
        if let Some(hidden) = &self.hidden {
            hidden.named(&format!("{name}.hidden"), out);
        }
        self.out.named(&format!("{name}.out"), out);
    }
}

/// The same head with separate weights for each annotator, in one row: hidden weights, hidden biases,
/// weights, biases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnnotatorMlp {
    pub(crate) dim: usize,
    pub(crate) hidden: usize,
    pub(crate) width: usize,
}

impl AnnotatorMlp {
    fn inputs(self) -> usize {
        if self.hidden > 0 { self.hidden } else { self.dim }
    }

    pub(crate) fn size(self) -> usize {
        let hidden = if self.hidden > 0 { self.hidden * (self.dim + 1) } else { 0 };
        hidden + self.width * (self.inputs() + 1)
    }

    /// Initialises a row whose outputs are `start` on average.
    pub(crate) fn first(self, start: &[f32], rng: &mut ChaCha8Rng) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.size());
        if self.hidden > 0 {
            row.extend(uniform(self.dim, self.dim * self.hidden, rng));
            row.extend(std::iter::repeat_n(0.0, self.hidden));
        }
        row.extend(std::iter::repeat_n(0.0, self.inputs() * self.width));
        row.extend_from_slice(start);
        row
    }

    /// Maps `x` `[n, dim]`, with a row of weights each `[n, size]`, to `[n, width]`.
    pub(crate) fn apply(
        self,
        spec: &HeadSpec,
        x: &Tensor,
        rows: &Tensor,
        dropout: Option<DropoutRng>,
    ) -> Result<Tensor> {
        let x = DropoutRng::dropout(dropout, x.clone(), spec.embedding_dropout, 2)?;
        if self.hidden == 0 {
            return layer(&x, rows, 0, self.dim, self.width);
        }
        let h = spec.activation.apply(&layer(&x, rows, 0, self.dim, self.hidden)?)?;
        let h = DropoutRng::dropout(dropout, h, spec.head_dropout, 3)?;
        layer(&h, rows, self.hidden * (self.dim + 1), self.hidden, self.width)
    }
}

/// Applies one layer whose weights and biases are stored in each row from `at` on.
fn layer(x: &Tensor, rows: &Tensor, at: usize, inputs: usize, outputs: usize) -> Result<Tensor> {
    let n = x.dim(0)?;
    let bias = rows.narrow(1, at + inputs * outputs, outputs)?;
    let weight = rows.narrow(1, at, inputs * outputs)?;
    if outputs == 1 {
        return (x * weight)?.sum_keepdim(1)? + bias;
    }
    let weight = weight.contiguous()?.reshape((n, inputs, outputs))?;
    x.unsqueeze(1)?.contiguous()?.matmul(&weight)?.squeeze(1)? + bias
}
