//! BERT (Devlin et al. 2019, arXiv 1810.04805) without its pre-training heads, for inference.
//!
//! Tokens of a batch are packed as the rows of one matrix, so that no product is spent on padding; only attention looks
//! at texts apart.

use candle_core::{Device, Result as CandleResult, Tensor};
use candle_nn::ops::layer_norm;
use serde::Deserialize;

use super::{HiddenStates, Sizes, TokenBatch, Transformer};
use crate::EncoderError;
use crate::attention::Attention;
use crate::folder::{CONFIG, Folder};
use crate::fused::{bias, bias_gelu, bias_residual_norm};
use crate::weights::Weights;

/// The fields of config.json that change what is computed.
#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default = "usual_positions")]
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
}

fn two() -> usize {
    2
}

fn usual_epsilon() -> f64 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn usual_positions() -> Option<String> {
    Some("absolute".to_owned())
}

/// The nonlinearity between the two products of a layer's feed-forward part.
#[derive(Clone, Copy, Debug)]
enum Activation {
    /// By the error function, not its approximation.
    Gelu,
    /// Approximated with tanh.
    GeluTanh,
    Relu,
}

impl Activation {
    fn named(name: &str) -> Option<Self> {
        match name {
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_approximate" => Some(Self::GeluTanh),
            "relu" => Some(Self::Relu),
            _ => None,
        }
    }

    /// Of `x + offset`.
    fn apply(self, x: Tensor, offset: &Tensor) -> CandleResult<Tensor> {
        match self {
            Self::Gelu => bias_gelu(x, offset),
            Self::GeluTanh => bias(x, offset)?.gelu(),
            Self::Relu => bias(x, offset)?.relu(),
        }
    }
}

/// `x W^T + b`.
struct Linear {
    /// `[outputs, inputs]`
    weight: Tensor,
    /// `[outputs]`
    bias: Tensor,
}

impl Linear {
    fn open(weights: &Weights<'_>, name: &str, outputs: usize, inputs: usize) -> Result<Self, EncoderError> {
        Ok(Self {
            weight: weights.get(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: weights.get(&format!("{name}.bias"), &[outputs])?,
        })
    }

    /// The product alone; the bias is added by whatever comes after, in the same pass.
    fn product(&self, x: &Tensor) -> CandleResult<Tensor> {
        x.matmul(&self.weight.t()?)
    }
}

/// Layer normalisation over the last axis.
struct Norm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f32,
}

impl Norm {
    fn open(weights: &Weights<'_>, name: &str, size: usize, epsilon: f64) -> Result<Self, EncoderError> {
        // Checkpoints converted from TensorFlow call the two gamma and beta.
        let old = weights.has(&format!("{name}.gamma"));
        let (scale, shift) = if old { ("gamma", "beta") } else { ("weight", "bias") };
        Ok(Self {
            scale: weights.get(&format!("{name}.{scale}"), &[size])?,
            shift: weights.get(&format!("{name}.{shift}"), &[size])?,
            epsilon: epsilon as f32,
        })
    }

    fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        layer_norm(x, &self.scale, &self.shift, self.epsilon)
    }
}

/// A product whose result is added to what went in before, and normalised.
struct Output {
    /// `[outputs, inputs]`
    weight: Tensor,
    /// Bias of the product, scale and shift of the norm: `[3, outputs]`.
    parameters: Tensor,
    epsilon: f32,
}

impl Output {
    fn open(weights: &Weights<'_>, name: &str, inputs: usize, config: &Config) -> Result<Self, EncoderError> {
        let Linear { weight, bias } =
            Linear::open(weights, &format!("{name}.dense"), config.hidden_size, inputs)?;
        let norm =
            Norm::open(weights, &format!("{name}.LayerNorm"), config.hidden_size, config.layer_norm_eps)?;
        let parameters =
            Tensor::stack(&[&bias, &norm.scale, &norm.shift], 0).map_err(|e| weights.compute(e))?;
        Ok(Self { weight, parameters, epsilon: norm.epsilon })
    }

    fn apply(&self, x: &Tensor, residual: &Tensor) -> CandleResult<Tensor> {
        bias_residual_norm(x.matmul(&self.weight.t()?)?, residual, &self.parameters, self.epsilon)
    }
}

struct Layer {
    /// Queries (already divided by the root of a head's size), keys and values in one product.
    query_key_value: Linear,
    attended: Output,
    widen: Linear,
    narrow: Output,
}

impl Layer {
    fn open(weights: &Weights<'_>, index: usize, config: &Config) -> Result<Self, EncoderError> {
        let at = |part: &str| format!("encoder.layer.{index}.{part}");
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        Ok(Self {
            query_key_value: query_key_value(weights, &at("attention.self"), config)?,
            attended: Output::open(weights, &at("attention.output"), hidden, config)?,
            widen: Linear::open(weights, &at("intermediate.dense"), wide, hidden)?,
            narrow: Output::open(weights, &at("output"), wide, config)?,
        })
    }

    /// `[tokens, hidden]` to the same.
    fn apply(&self, x: &Tensor, attention: &Attention, activation: Activation) -> CandleResult<Tensor> {
        let stacked = bias(self.query_key_value.product(x)?, &self.query_key_value.bias)?;
        let x = self.attended.apply(&attention.apply(&stacked)?, x)?;
        let wide = activation.apply(self.widen.product(&x)?, &self.widen.bias)?;
        self.narrow.apply(&wide, &x)
    }
}

/// The three projections of self-attention stacked, and the scale of the scores folded into the first.
fn query_key_value(weights: &Weights<'_>, name: &str, config: &Config) -> Result<Linear, EncoderError> {
    let hidden = config.hidden_size;
    let part = |part: &str| Linear::open(weights, &format!("{name}.{part}"), hidden, hidden);
    let (query, key, value) = (part("query")?, part("key")?, part("value")?);
    let scale = ((hidden / config.num_attention_heads) as f64).sqrt().recip();
    let stack = || -> CandleResult<Linear> {
        Ok(Linear {
            weight: Tensor::cat(&[&(&query.weight * scale)?, &key.weight, &value.weight], 0)?,
            bias: Tensor::cat(&[&(&query.bias * scale)?, &key.bias, &value.bias], 0)?,
        })
    };
    stack().map_err(|e| weights.compute(e))
}

/// A BERT encoder.
pub(super) struct Bert {
    /// `[vocabulary, hidden]`
    words: Tensor,
    /// Position and first-segment embeddings, added up: `[positions, hidden]`.
    places: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    activation: Activation,
    heads: usize,
    sizes: Sizes,
    device: Device,
}

impl Bert {
    pub(super) fn open(
        config: serde_json::Value,
        folder: &Folder,
        weights: Weights<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let config: Config =
            serde_json::from_value(config).map_err(|e| folder.bad_json(CONFIG, &e.to_string()))?;
        let activation = check(&config, folder)?;
        let weights = weights.with_prefix_of("bert.", "embeddings.word_embeddings.weight");
        let (hidden, positions) = (config.hidden_size, config.max_position_embeddings);
        let words = weights.get("embeddings.word_embeddings.weight", &[config.vocab_size, hidden])?;
        let places = weights.get("embeddings.position_embeddings.weight", &[positions, hidden])?;
        let segments =
            weights.get("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
        let places = segments
            .narrow(0, 0, 1)
            .and_then(|first| places.broadcast_add(&first))
            .map_err(|e| weights.compute(e))?;
        Ok(Self {
            words,
            places,
            norm: Norm::open(&weights, "embeddings.LayerNorm", hidden, config.layer_norm_eps)?,
            layers: (0..config.num_hidden_layers)
                .map(|i| Layer::open(&weights, i, &config))
                .collect::<Result<_, _>>()?,
            activation,
            heads: config.num_attention_heads,
            sizes: sizes(&config),
            device: device.clone(),
        })
    }

    /// Sum of word, position and segment embeddings, normalised: `[tokens, hidden]`.
    fn embed(&self, batch: &TokenBatch) -> CandleResult<Tensor> {
        let total = batch.ids.len();
        let ids = Tensor::from_slice(&batch.ids, total, &self.device)?;
        let places: Vec<u32> = batch.lengths.iter().flat_map(|n| 0..*n as u32).collect();
        let places = Tensor::from_vec(places, total, &self.device)?;
        let sum = (self.words.index_select(&ids, 0)? + self.places.index_select(&places, 0)?)?;
        self.norm.apply(&sum)
    }
}

impl Transformer for Bert {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn hidden_states(&self, batch: &TokenBatch) -> CandleResult<HiddenStates> {
        let attention = Attention::plan(&batch.lengths, self.heads, &self.device)?;
        let mut last = self.embed(batch)?;
        let mut second_to_last = last.clone();
        for layer in &self.layers {
            let next = layer.apply(&last, &attention, self.activation)?;
            second_to_last = std::mem::replace(&mut last, next);
        }
        Ok(HiddenStates { last, second_to_last })
    }
}

fn sizes(config: &Config) -> Sizes {
    let (hidden, wide) = (config.hidden_size, config.intermediate_size);
    Sizes {
        dim: hidden,
        vocabulary: config.vocab_size,
        positions: config.max_position_embeddings,
        products_per_token: config.num_hidden_layers * (4 * hidden * hidden + 2 * hidden * wide),
    }
}

/// Refuses values that the architecture cannot have, before any tensor is looked at.
fn check(config: &Config, folder: &Folder) -> Result<Activation, EncoderError> {
    let bad = |field: &str, found: String, expected: &str| EncoderError::BadConfig {
        path: folder.path(CONFIG),
        field: field.to_owned(),
        found,
        expected: expected.to_owned(),
    };
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    if heads == 0 || hidden == 0 || hidden % heads != 0 {
        let expected = format!("it must be 1 or more and divide hidden_size, which is {hidden}");
        return Err(bad("num_attention_heads", heads.to_string(), &expected));
    }
    for (field, value) in [
        ("vocab_size", config.vocab_size),
        ("num_hidden_layers", config.num_hidden_layers),
        ("intermediate_size", config.intermediate_size),
        ("max_position_embeddings", config.max_position_embeddings),
        ("type_vocab_size", config.type_vocab_size),
    ] {
        if value == 0 {
            return Err(bad(field, "0".to_owned(), "it must be 1 or more"));
        }
    }
    if !(config.layer_norm_eps >= 0.0 && config.layer_norm_eps < 1.0) {
        return Err(bad("layer_norm_eps", config.layer_norm_eps.to_string(), "it must be between 0 and 1"));
    }
    let positions = config.position_embedding_type.as_deref().unwrap_or("absolute");
    if positions != "absolute" {
        return Err(bad("position_embedding_type", positions.to_owned(), "only absolute can be read"));
    }
    if config.is_decoder {
        return Err(bad("is_decoder", "true".to_owned(), "an encoder sees a text from both sides"));
    }
    Activation::named(&config.hidden_act)
        .ok_or_else(|| bad("hidden_act", config.hidden_act.clone(), "gelu, gelu_new and relu can be read"))
}
