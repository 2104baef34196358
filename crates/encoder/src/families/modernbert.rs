//! ModernBERT (Warner et al. 2024, arXiv 2412.13663): norms before each part, rotary positions, gated
//! feed-forward, and layers with local attention in a window between those with full attention.

use candle_core::{Device, Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use crate::attention_mask::AttentionMask;
use crate::blocks::{
    Attention, ForwardCtx, LayerNorm, Linear, LinearNames, Parameters, Role, Rotary, RotaryRates, States,
};
use crate::blocks::{Sizes, Transformer};
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::ops::{Activation, gated};
use crate::token_batch::TokenBatch;

const GLOBAL: &str = "full_attention";
const LOCAL: &str = "sliding_attention";

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_epsilon")]
    norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_activation: String,
    #[serde(default)]
    norm_bias: bool,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    layer_types: Option<Vec<String>>,
    #[serde(default = "three")]
    global_attn_every_n_layers: usize,
    #[serde(default = "usual_window")]
    local_attention: usize,
    #[serde(default = "usual_global_theta")]
    global_rope_theta: f64,
    #[serde(default)]
    local_rope_theta: Option<f64>,
    #[serde(default)]
    rope_parameters: Option<RopeParameters>,
    #[serde(default)]
    embedding_dropout: f32,
    #[serde(default)]
    attention_dropout: f32,
    #[serde(default)]
    mlp_dropout: f32,
}

#[derive(Debug, Deserialize)]
struct RopeParameters {
    full_attention: Option<Rope>,
    sliding_attention: Option<Rope>,
}

#[derive(Debug, Deserialize)]
struct Rope {
    #[serde(default)]
    rope_type: Option<String>,
    rope_theta: f64,
}

fn usual_epsilon() -> f64 {
    1e-5
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn three() -> usize {
    3
}

fn usual_window() -> usize {
    128
}

fn usual_global_theta() -> f64 {
    160_000.0
}

impl Config {
    fn is_global(&self, layer: usize) -> bool {
        match &self.layer_types {
            Some(types) => types.get(layer).is_some_and(|kind| kind == GLOBAL),
            None => layer.is_multiple_of(self.global_attn_every_n_layers),
        }
    }

    fn rope(&self, global: bool) -> Option<&Rope> {
        let both = self.rope_parameters.as_ref()?;
        if global { both.full_attention.as_ref() } else { both.sliding_attention.as_ref() }
    }

    /// Base of the geometric sequence of angles.
    fn theta(&self, global: bool) -> f64 {
        let older = if global { self.global_rope_theta } else { self.local_rope_theta.unwrap_or(10_000.0) };
        self.rope(global).map_or(older, |rope| rope.rope_theta)
    }
}

/// A ModernBERT encoder.
pub(super) struct ModernBert {
    words: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    last_norm: LayerNorm,
    /// Rates of layers with full attention, and of those with a window.
    rates: [RotaryRates; 2],
    dropout: f32,
    sizes: Sizes,
    device: Device,
}

impl ModernBert {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let activation = check(&config, &checked)?;
        let words = "embeddings.tok_embeddings.weight";
        let parameters = parameters.of("model.", words, config.num_hidden_layers);
        let (hidden, layers) = (config.hidden_size, config.num_hidden_layers);
        let norm = |name: &str| LayerNorm::open_without_shift(&parameters, name, hidden, config.norm_eps);
        Ok(Self {
            words: parameters.get(words, &[config.vocab_size, hidden])?,
            norm: norm("embeddings.norm")?,
            layers: (0..layers)
                .map(|i| Layer::open(&parameters, i, &config, activation))
                .collect::<Result<_, _>>()?,
            last_norm: norm("final_norm")?,
            rates: [true, false]
                .map(|global| RotaryRates::new(config.theta(global), hidden / config.num_attention_heads)),
            dropout: config.embedding_dropout,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions: config.max_position_embeddings,
                macs_per_token: layers * (4 * hidden * hidden + 3 * hidden * config.intermediate_size),
            },
            device: device.clone(),
        })
    }

    fn embed(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        ctx.dropout(self.norm.apply(&ctx.rows_of(&self.words, &batch.ids)?)?, self.dropout)
    }
}

impl Transformer for ModernBert {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        &self.words
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let x = self.embed(batch, &ctx.at_depth(0))?;
        let turn = |rates| Rotary::new(ctx.packing().row_places(), rates, &self.device);
        let [global, local] = [turn(&self.rates[0])?, turn(&self.rates[1])?];
        let states = ctx.through(self.layers.len(), x, |i, x, ctx| {
            let layer = &self.layers[i];
            layer.apply(x, if layer.global { &global } else { &local }, ctx)
        })?;
        states.finish(|last| self.last_norm.apply(last))
    }
}

struct Layer {
    /// `None` in the first layer, whose input is normalised already.
    attention_norm: Option<LayerNorm>,
    query_key_value: Linear,
    o_proj: Linear,
    norm: LayerNorm,
    /// The part through the nonlinearity, then the gate.
    up_proj: Linear,
    down_proj: Linear,
    attention: Attention,
    global: bool,
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
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("layers.{index}.{part}");
        let linear = |part: &str, roles: &[Role], outputs, inputs| {
            let name = name(part);
            let names = [name.as_str()];
            let outputs = &vec![outputs; roles.len()];
            let names = LinearNames { names: &names, roles, outputs, inputs, bias: false, transposed: false };
            Linear::open(parameters, &names)
        };
        let norm =
            |part: &str| LayerNorm::open_without_shift(parameters, &name(part), hidden, config.norm_eps);
        let global = config.is_global(index);
        let window = if global { None } else { Some(config.local_attention / 2) };
        let attention = Attention::new(config.num_attention_heads, hidden, config.attention_dropout);
        Ok(Self {
            attention_norm: if index == 0 { None } else { Some(norm("attn_norm")?) },
            query_key_value: linear("attn.Wqkv", &[Role::Query, Role::Key, Role::Value], hidden, hidden)?,
            o_proj: linear("attn.Wo", &[Role::AttentionOutput], hidden, hidden)?,
            norm: norm("mlp_norm")?,
            up_proj: linear("mlp.Wi", &[Role::FeedForward], wide.saturating_mul(2), hidden)?,
            down_proj: linear("mlp.Wo", &[Role::FeedForward], hidden, wide)?,
            attention: Attention { reach: AttentionMask { causal: false, window }, ..attention },
            global,
            activation,
            dropout: config.mlp_dropout,
        })
    }

    fn apply(&self, x: &Tensor, rotary: &Rotary, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let normed = self.attention_norm.as_ref().map_or(Ok(x.clone()), |norm| norm.apply(x))?;
        let stacked = rotary.apply(&self.query_key_value.apply(&normed, ctx)?, 2 * self.attention.heads)?;
        let context = self.attention.apply(&stacked, None, ctx)?;
        let x = (x + ctx.dropout(self.o_proj.apply(&context, ctx)?, self.attention.dropout)?)?;
        let gated = gated(&self.up_proj.apply(&self.norm.apply(&x)?, ctx)?, self.activation)?;
        x + self.down_proj.apply(&ctx.dropout(gated, self.dropout)?, ctx)?
    }
}

fn check(config: &Config, checked: &ConfigReader<'_>) -> Result<Activation, EncoderError> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    checked.heads(("num_attention_heads", heads), ("hidden_size", hidden))?;
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("num_hidden_layers", config.num_hidden_layers),
        ("intermediate_size", config.intermediate_size),
        ("max_position_embeddings", config.max_position_embeddings),
        ("global_attn_every_n_layers", config.global_attn_every_n_layers),
    ])?;
    if (hidden / heads) % 2 != 0 {
        let expected = "a head must have an even size, because its halves are turned together";
        return Err(checked.bad("num_attention_heads", heads, expected));
    }
    for (field, on) in [
        ("norm_bias", config.norm_bias),
        ("attention_bias", config.attention_bias),
        ("mlp_bias", config.mlp_bias),
    ] {
        if on {
            return Err(checked.bad(field, "true", "only false can be read"));
        }
    }
    if let Some(types) = &config.layer_types {
        if types.len() != config.num_hidden_layers {
            let expected = format!("there must be one for each of the {} layers", config.num_hidden_layers);
            return Err(checked.bad("layer_types", types.len(), &expected));
        }
        if let Some(kind) = types.iter().find(|kind| ![GLOBAL, LOCAL].contains(&kind.as_str())) {
            return Err(checked.bad("layer_types", kind, "full_attention and sliding_attention can be read"));
        }
    }
    for global in [true, false] {
        let kind = config.rope(global).and_then(|rope| rope.rope_type.as_deref()).unwrap_or("default");
        if kind != "default" {
            return Err(checked.bad("rope_parameters", kind, "only the rope_type default can be read"));
        }
        let theta = config.theta(global);
        if !(theta.is_finite() && theta > 0.0) {
            return Err(checked.bad("rope_theta", theta, "it must be a number above 0"));
        }
    }
    checked.epsilon("norm_eps", config.norm_eps)?;
    checked.dropouts(&[
        ("embedding_dropout", config.embedding_dropout),
        ("attention_dropout", config.attention_dropout),
        ("mlp_dropout", config.mlp_dropout),
    ])?;
    checked.activation("hidden_activation", &config.hidden_activation)
}

#[cfg(test)]
mod tests {
    use super::super::reference::dir;
    use super::*;

    #[test]
    fn older_configurations_are_equivalent() {
        let read = |file: &str| -> Config {
            serde_json::from_slice(&std::fs::read(dir("modernbert").join(file)).unwrap()).unwrap()
        };
        let (new, old) = (read("config.json"), read("config.older.json"));
        assert_eq!(new.num_hidden_layers, old.num_hidden_layers);
        for layer in 0..new.num_hidden_layers {
            assert_eq!(new.is_global(layer), old.is_global(layer));
        }
        for global in [true, false] {
            assert_eq!(new.theta(global), old.theta(global));
        }
        assert_eq!(new.local_attention, old.local_attention);
    }
}
