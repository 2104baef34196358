//! GPT-2 (Radford et al. 2019): norms before each part, and every token attends only to those before it. It
//! can continue from cached keys and values, and takes vectors in place of token ids, which soft prompts
//! need.

use candle_core::{D, Device, Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use crate::attention_mask::AttentionMask;
use crate::blocks::{Attention, ForwardCtx, LayerNorm, Linear, LinearNames, Parameters, Role, States};
use crate::blocks::{Sizes, Transformer};
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::ops::{Activation, softmax};
use crate::token_batch::TokenBatch;

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    n_embd: usize,
    n_layer: usize,
    n_head: usize,
    n_positions: usize,
    #[serde(default)]
    n_inner: Option<usize>,
    #[serde(default = "usual_activation")]
    activation_function: String,
    #[serde(default = "usual_epsilon")]
    layer_norm_epsilon: f64,
    #[serde(default = "yes")]
    scale_attn_weights: bool,
    #[serde(default)]
    scale_attn_by_inverse_layer_idx: bool,
    #[serde(default)]
    add_cross_attention: bool,
    #[serde(default = "usual_dropout")]
    embd_pdrop: f32,
    #[serde(default = "usual_dropout")]
    attn_pdrop: f32,
    #[serde(default = "usual_dropout")]
    resid_pdrop: f32,
}

fn usual_activation() -> String {
    "gelu_new".to_owned()
}

fn usual_epsilon() -> f64 {
    1e-5
}

fn yes() -> bool {
    true
}

fn usual_dropout() -> f32 {
    0.1
}

impl Config {
    fn inner(&self) -> usize {
        self.n_inner.unwrap_or(self.n_embd.saturating_mul(4))
    }
}

/// A GPT-2 model.
pub(crate) struct Gpt2 {
    /// `[vocabulary, hidden]`; also the output's weights.
    words: Tensor,
    /// `[positions, hidden]`
    places: Tensor,
    layers: Vec<Layer>,
    last_norm: LayerNorm,
    dropout: f32,
    sizes: Sizes,
    device: Device,
}

/// Cached keys and values of the tokens of one text, for each layer `[1, heads, tokens, head]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerKeyValues {
    layers: Vec<(Tensor, Tensor)>,
    tokens: usize,
}

impl LayerKeyValues {
    /// Number of tokens seen so far.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens
    }
}

impl Gpt2 {
    pub(crate) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let activation = check(&config, &checked)?;
        let parameters = parameters.of("transformer.", "wte.weight", config.n_layer);
        let hidden = config.n_embd;
        Ok(Self {
            words: parameters.get("wte.weight", &[config.vocab_size, hidden])?,
            places: parameters.get("wpe.weight", &[config.n_positions, hidden])?,
            layers: (0..config.n_layer)
                .map(|i| Layer::open(&parameters, i, &config, activation))
                .collect::<Result<_, _>>()?,
            last_norm: LayerNorm::open(&parameters, "ln_f", hidden, config.layer_norm_epsilon)?,
            dropout: config.embd_pdrop,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions: config.n_positions,
                macs_per_token: config.n_layer * (4 * hidden * hidden + 2 * hidden * config.inner()),
            },
            device: device.clone(),
        })
    }

    /// Looks up the input embeddings of token ids: `[ids, hidden]`.
    pub(crate) fn inputs_embeds(&self, ids: &[u32]) -> CandleResult<Tensor> {
        self.words.index_select(&Tensor::from_slice(ids, ids.len(), &self.device)?, 0)
    }

    /// Continues one text: returns the hidden states `[tokens, hidden]`, after the last norm, of further
    /// tokens given as vectors of the same shape. Their keys and values are added to `seen`.
    pub(crate) fn forward_with_cache(
        &self,
        vectors: &Tensor,
        seen: &mut LayerKeyValues,
    ) -> CandleResult<Tensor> {
        let (new, before) = (vectors.dim(0)?, seen.tokens);
        if before + new > self.sizes.positions {
            candle_core::bail!("{} tokens are more than the model's {}", before + new, self.sizes.positions);
        }
        let mut x = (vectors + self.places.narrow(0, before, new)?)?;
        let mask = causal(before, new, &self.device)?;
        let ctx = ForwardCtx::inference(&[new], &self.device);
        seen.layers.truncate(self.layers.len());
        for (i, layer) in self.layers.iter().enumerate() {
            x = layer.forward_with_cache(&x, seen, i, &mask, &ctx)?;
        }
        seen.tokens += new;
        self.last_norm.apply(&x)
    }

    /// Computes next-token logits `[tokens, vocabulary]` from hidden states `[tokens, hidden]`.
    pub(crate) fn logits(&self, states: &Tensor) -> CandleResult<Tensor> {
        states.matmul(&self.words.t()?)
    }
}

impl Transformer for Gpt2 {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        &self.words
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let bottom = ctx.at_depth(0);
        let places = self.places.index_select(&bottom.packing().places(0)?, 0)?;
        let x = bottom.dropout((bottom.rows_of(&self.words, &batch.ids)? + places)?, self.dropout)?;
        let states = ctx.through(self.layers.len(), x, |i, x, ctx| self.layers[i].apply(x, ctx))?;
        states.finish(|last| self.last_norm.apply(last))
    }
}

/// Mask to add to scores: 0 for keys up to the query's own position, hugely negative beyond:
/// `[new, before + new]`.
fn causal(before: usize, new: usize, device: &Device) -> CandleResult<Tensor> {
    let mask: Vec<f32> = (0..new)
        .flat_map(|query| (0..before + new).map(move |key| if key <= before + query { 0.0 } else { -1e30 }))
        .collect();
    Tensor::from_vec(mask, (new, before + new), device)
}

struct Layer {
    norm: LayerNorm,
    query_key_value: Linear,
    o_proj: Linear,
    feed_norm: LayerNorm,
    up_proj: Linear,
    down_proj: Linear,
    attention: Attention,
    activation: Activation,
    dropout: f32,
}

impl Layer {
    fn open(
        parameters: &Parameters<'_>,
        index: usize,
        config: &Config,
        activation: Activation,
    ) -> Result<Self, EncoderError> {
        let (hidden, inner) = (config.n_embd, config.inner());
        let name = |part: &str| format!("h.{index}.{part}");
        let linear = |part: &str, roles: &[Role], outputs, inputs| {
            let name = name(part);
            let names = [name.as_str()];
            let outputs = &vec![outputs; roles.len()];
            let names = LinearNames { names: &names, roles, outputs, inputs, bias: true, transposed: true };
            Linear::open(parameters, &names)
        };
        let norm = |part: &str| LayerNorm::open(parameters, &name(part), hidden, config.layer_norm_epsilon);
        let mut attention = Attention {
            reach: AttentionMask { causal: true, window: None },
            ..Attention::new(config.n_head, hidden, config.attn_pdrop)
        };
        if !config.scale_attn_weights {
            attention.scale = 1.0;
        }
        if config.scale_attn_by_inverse_layer_idx {
            attention.scale /= (index + 1) as f64;
        }
        Ok(Self {
            norm: norm("ln_1")?,
            query_key_value: linear("attn.c_attn", &[Role::Query, Role::Key, Role::Value], hidden, hidden)?,
            o_proj: linear("attn.c_proj", &[Role::AttentionOutput], hidden, hidden)?,
            feed_norm: norm("ln_2")?,
            up_proj: linear("mlp.c_fc", &[Role::FeedForward], inner, hidden)?,
            down_proj: linear("mlp.c_proj", &[Role::FeedForward], hidden, inner)?,
            attention,
            activation,
            dropout: config.resid_pdrop,
        })
    }

    fn apply(&self, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let stacked = self.query_key_value.apply(&self.norm.apply(x)?, ctx)?;
        let context = self.attention.apply(&stacked, None, ctx)?;
        let x = (x + ctx.dropout(self.o_proj.apply(&context, ctx)?, self.dropout)?)?;
        self.feed_forward(&x, ctx)
    }

    fn feed_forward(&self, x: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let wide = self.up_proj.apply_activation(&self.feed_norm.apply(x)?, self.activation, ctx)?;
        x + ctx.dropout(self.down_proj.apply(&wide, ctx)?, self.dropout)?
    }

    /// Continues one text, whose earlier tokens are in `seen`.
    fn forward_with_cache(
        &self,
        x: &Tensor,
        seen: &mut LayerKeyValues,
        index: usize,
        mask: &Tensor,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        let stacked = self.query_key_value.apply(&self.norm.apply(x)?, ctx)?;
        let [query, mut key, mut value] = self.attention.split(&stacked, ctx.packing())?;
        match seen.layers.get_mut(index) {
            None => seen.layers.push((key.clone(), value.clone())),
            Some(before) => {
                key = Tensor::cat(&[&before.0, &key], 2)?;
                value = Tensor::cat(&[&before.1, &value], 2)?;
                *before = (key.clone(), value.clone());
            }
        }
        let scores = (query.matmul(&key.transpose(D::Minus1, D::Minus2)?)? * self.attention.scale)?;
        let weights = softmax(&scores.broadcast_add(mask)?)?;
        let context = weights.matmul(&value)?.transpose(1, 2)?.flatten_from(2)?.squeeze(0)?;
        let x = (x + self.o_proj.apply(&context, ctx)?)?;
        self.feed_forward(&x, ctx)
    }
}

fn check(config: &Config, checked: &ConfigReader<'_>) -> Result<Activation, EncoderError> {
    checked.heads(("n_head", config.n_head), ("n_embd", config.n_embd))?;
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("n_layer", config.n_layer),
        ("n_inner", config.inner()),
        ("n_positions", config.n_positions),
    ])?;
    if config.add_cross_attention {
        return Err(checked.bad("add_cross_attention", "true", "there is no second text to attend to"));
    }
    checked.epsilon("layer_norm_epsilon", config.layer_norm_epsilon)?;
    checked.dropouts(&[
        ("embd_pdrop", config.embd_pdrop),
        ("attn_pdrop", config.attn_pdrop),
        ("resid_pdrop", config.resid_pdrop),
    ])?;
    checked.activation("activation_function", &config.activation_function)
}
