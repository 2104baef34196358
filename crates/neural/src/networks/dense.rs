//! Dense layers, dropout and activations of the networks.

use candle_core::{Device, Result, Tensor, Var};
use dissensus_stats::data::{ModelError, value_named};
use dissensus_stats::math::random::generator;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The nonlinearity between two layers.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Activation {
    Relu,
    /// The hyperbolic tangent, as in BERT's pooler.
    #[default]
    Tanh,
}

impl Activation {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn apply(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Relu => x.relu(),
            Self::Tanh => x.tanh(),
        }
    }
}

impl std::str::FromStr for Activation {
    type Err = ModelError;

    fn from_str(name: &str) -> std::result::Result<Self, ModelError> {
        value_named("activation", name)
    }
}

/// A dense layer `x W + b`, with `W` `[inputs, outputs]`.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub(crate) weight: Var,
    pub(crate) bias: Var,
}

impl Dense {
    /// Draws weights uniformly from `±1/sqrt(inputs)`, with biases 0.
    pub(crate) fn new(inputs: usize, outputs: usize, rng: &mut ChaCha8Rng, device: &Device) -> Result<Self> {
        let weight = Tensor::from_vec(uniform(inputs, inputs * outputs, rng), (inputs, outputs), device)?;
        Ok(Self {
            weight: Var::from_tensor(&weight)?,
            bias: Var::zeros(outputs, candle_core::DType::F32, device)?,
        })
    }

    /// Creates an output layer with zero weights, so that every output is `start` at first, regardless of
    /// the input. The first step moves these weights, and from then on there is a gradient below them.
    pub(crate) fn zero_init(inputs: usize, start: &[f32], device: &Device) -> Result<Self> {
        Ok(Self {
            weight: Var::zeros((inputs, start.len()), candle_core::DType::F32, device)?,
            bias: Var::from_slice(start, start.len(), device)?,
        })
    }

    /// Maps `[rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(self.weight.as_tensor())?.broadcast_add(self.bias.as_tensor())
    }

    pub(crate) fn named(&self, name: &str, out: &mut Vec<(String, Var)>) {
        out.push((format!("{name}.weight"), self.weight.clone()));
        out.push((format!("{name}.bias"), self.bias.clone()));
    }
}

/// Draws `many` numbers uniformly from `±1/sqrt(inputs)`: the same spread of outputs at any width (LeCun et
/// al. 1998, Efficient BackProp, section 4.6).
pub(crate) fn uniform(inputs: usize, many: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let bound = 1.0 / (inputs.max(1) as f32).sqrt();
    (0..many).map(|_| rng.random_range(-bound..=bound)).collect()
}

/// The seed of the dropout masks of one forward pass; `None` in evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropoutRng {
    /// A number unique to the step and the share.
    pub(crate) seed: u64,
}

impl DropoutRng {
    /// Drops elements with probability `p` and scales the others up, the same for the same seed and `stream`.
    pub(crate) fn dropout(rng: Option<Self>, x: Tensor, p: f64, stream: u64) -> Result<Tensor> {
        let Some(Self { seed }) = rng.filter(|_| p > 0.0) else { return Ok(x) };
        let mut rng = generator(seed, 16 + stream);
        let keep = (1.0 / (1.0 - p)) as f32;
        let mask: Vec<f32> =
            (0..x.elem_count()).map(|_| if rng.random::<f64>() < p { 0.0 } else { keep }).collect();
        &x * Tensor::from_vec(mask, x.shape(), x.device())?
    }
}
