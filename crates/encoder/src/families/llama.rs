//! The Llama family (Touvron et al. 2023, arXiv 2302.13971): norms by the root mean square before each
//! part, rotary positions, gated feed-forward, keys and values shared by groups of heads, and every token
//! attends only to those before it. Qwen2 adds biases to queries, keys and values, Qwen3 a norm of each
//! head's queries and keys.

use std::collections::BTreeMap;

use candle_core::{Device, Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use super::rope::{RopeFields, rates};
use crate::attention_mask::AttentionMask;
use crate::blocks::{
    Attention, ForwardCtx, Linear, LinearNames, Parameters, RmsNorm, Role, Rotary, RotaryRates, States,
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
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    #[serde(default)]
    num_key_value_heads: Option<usize>,
    #[serde(default)]
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_epsilon")]
    rms_norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    /// Whether queries, keys, values and the output product have biases; not used by Qwen2.
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(flatten)]
    rope: RopeFields,
    #[serde(default)]
    use_sliding_window: bool,
    #[serde(default)]
    sliding_window: Option<usize>,
    /// Layers before this one attend to all tokens.
    #[serde(default = "usual_window_start")]
    max_window_layers: usize,
    #[serde(default)]
    layer_types: Option<Vec<String>>,
    #[serde(default)]
    attention_dropout: f32,
    /// False if every token attends to all others.
    #[serde(default)]
    is_causal: Option<bool>,
    /// Custom classes of the repository that transformers would run.
    #[serde(default)]
    auto_map: Option<BTreeMap<String, Value>>,
}

/// The default in transformers.
fn usual_window_start() -> usize {
    28
}

fn usual_epsilon() -> f64 {
    1e-6
}

fn usual_activation() -> String {
    "silu".to_owned()
}

impl Config {
    fn kv_heads(&self) -> usize {
        self.num_key_value_heads.unwrap_or(self.num_attention_heads)
    }

    fn head(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    fn is_qwen(&self) -> bool {
        self.model_type != "llama"
    }

    /// Whether queries, keys and values, and the output product, have biases.
    fn biases(&self) -> (bool, bool) {
        match self.model_type.as_str() {
            "qwen2" => (true, false),
            _ => (self.attention_bias, self.attention_bias),
        }
    }

    /// Number of earlier tokens that a layer attends to.
    fn window(&self, layer: usize) -> Option<usize> {
        let window = self.sliding_window.filter(|_| self.is_qwen() && self.use_sliding_window)?;
        let local = match &self.layer_types {
            Some(types) => types.get(layer).is_some_and(|kind| kind == LOCAL),
            None => layer >= self.max_window_layers,
        };
        // The window includes the token itself.
        local.then(|| window.saturating_sub(1))
    }
}

/// A model of the Llama family.
pub(super) struct Llama {
    words: Tensor,
    layers: Vec<Layer>,
    last_norm: RmsNorm,
    rates: RotaryRates,
    sizes: Sizes,
    device: Device,
}

impl Llama {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let activation = check(&config, &checked)?;
        let words = "embed_tokens.weight";
        let (hidden, wide, layers) = (config.hidden_size, config.intermediate_size, config.num_hidden_layers);
        let parameters = parameters.of("model.", words, layers);
        Ok(Self {
            words: parameters.get(words, &[config.vocab_size, hidden])?,
            layers: (0..layers)
                .map(|i| Layer::open(&parameters, i, &config, activation))
                .collect::<Result<_, _>>()?,
            last_norm: RmsNorm::open(&parameters, "norm", hidden, config.rms_norm_eps)?,
            // After the weights, which confirm the head's size.
            rates: rates(&config.rope, config.head(), &checked)?,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions: config.max_position_embeddings,
                macs_per_token: {
                    let heads = 2 * (config.num_attention_heads + config.kv_heads());
                    layers * (heads * config.head() * hidden + 3 * hidden * wide)
                },
            },
            device: device.clone(),
        })
    }
}

impl Transformer for Llama {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        &self.words
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let x = ctx.at_depth(0).rows_of(&self.words, &batch.ids)?;
        let rotary = Rotary::new(ctx.packing().row_places(), &self.rates, &self.device)?;
        let states = ctx.through(self.layers.len(), x, |i, x, ctx| self.layers[i].apply(x, &rotary, ctx))?;
        states.finish(|last| self.last_norm.apply(last))
    }
}

struct Layer {
    norm: RmsNorm,
    query_key_value: Linear,
    /// Norms of queries and of keys, head by head.
    head_norms: Option<[RmsNorm; 2]>,
    o_proj: Linear,
    feed_norm: RmsNorm,
    /// The part through the nonlinearity, then the other factor.
    gate_up_proj: Linear,
    down_proj: Linear,
    attention: Attention,
    head: usize,
    activation: Activation,
}

impl Layer {
    fn open(
        parameters: &Parameters<'_>,
        index: usize,
        config: &Config,
        activation: Activation,
    ) -> Result<Self, EncoderError> {
        let (hidden, wide, head) = (config.hidden_size, config.intermediate_size, config.head());
        let (of_heads, of_kv) =
            (config.num_attention_heads.saturating_mul(head), config.kv_heads().saturating_mul(head));
        let linear = |parts: &[&str], roles: &[Role], outputs: &[usize], inputs, bias| {
            let names: Vec<String> = parts.iter().map(|part| format!("layers.{index}.{part}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let names = LinearNames { names: &names, roles, outputs, inputs, bias, transposed: false };
            Linear::open(parameters, &names)
        };
        let norm = |part: &str, size| {
            RmsNorm::open(parameters, &format!("layers.{index}.{part}"), size, config.rms_norm_eps)
        };
        let (qkv_bias, o_bias) = config.biases();
        let head_norms = match config.model_type.as_str() {
            "qwen3" => Some([norm("self_attn.q_norm", head)?, norm("self_attn.k_norm", head)?]),
            _ => None,
        };
        Ok(Self {
            norm: norm("input_layernorm", hidden)?,
            query_key_value: linear(
                &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
                &[Role::Query, Role::Key, Role::Value],
                &[of_heads, of_kv, of_kv],
                hidden,
                qkv_bias,
            )?,
            head_norms,
            o_proj: linear(&["self_attn.o_proj"], &[Role::AttentionOutput], &[hidden], of_heads, o_bias)?,
            feed_norm: norm("post_attention_layernorm", hidden)?,
            gate_up_proj: linear(
                &["mlp.gate_proj", "mlp.up_proj"],
                &[Role::FeedForward; 2],
                &[wide; 2],
                hidden,
                config.mlp_bias,
            )?,
            down_proj: linear(&["mlp.down_proj"], &[Role::FeedForward], &[hidden], wide, config.mlp_bias)?,
            attention: Attention {
                kv_heads: config.kv_heads(),
                reach: AttentionMask { causal: true, window: config.window(index) },
                ..Attention::new(config.num_attention_heads, of_heads, config.attention_dropout)
            },
            head,
            activation,
        })
    }

    fn apply(&self, x: &Tensor, rotary: &Rotary, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let stacked = self.query_key_value.apply(&self.norm.apply(x)?, ctx)?;
        let stacked = self.normed_heads(stacked)?;
        let stacked = rotary.apply(&stacked, self.attention.heads + self.attention.kv_heads)?;
        let context = self.attention.apply(&stacked, None, ctx)?;
        let x = (x + self.o_proj.apply(&context, ctx)?)?;
        let both = self.gate_up_proj.apply(&self.feed_norm.apply(&x)?, ctx)?;
        x + self.down_proj.apply(&gated(&both, self.activation)?, ctx)?
    }

    /// Normalises queries and keys, if the model does.
    fn normed_heads(&self, stacked: Tensor) -> CandleResult<Tensor> {
        let Some(norms) = &self.head_norms else { return Ok(stacked) };
        let Attention { heads, kv_heads, .. } = self.attention;
        let (rows, width) = stacked.dims2()?;
        let part = |norm: &RmsNorm, first: usize, count: usize| {
            let own = stacked.narrow(1, first * self.head, count * self.head)?;
            norm.apply(&own.reshape((rows * count, self.head))?)?.reshape((rows, count * self.head))
        };
        let before = (heads + kv_heads) * self.head;
        let values = stacked.narrow(1, before, width - before)?;
        Tensor::cat(&[&part(&norms[0], 0, heads)?, &part(&norms[1], heads, kv_heads)?, &values], 1)
    }
}

fn check(config: &Config, checked: &ConfigReader<'_>) -> Result<Activation, EncoderError> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("hidden_size", hidden),
        ("num_hidden_layers", config.num_hidden_layers),
        ("num_attention_heads", heads),
        ("intermediate_size", config.intermediate_size),
        ("max_position_embeddings", config.max_position_embeddings),
    ])?;
    checked.heads(("num_key_value_heads", config.kv_heads()), ("num_attention_heads", heads))?;
    if config.head_dim.is_none() {
        checked.heads(("num_attention_heads", heads), ("hidden_size", hidden))?;
    }
    if config.head() == 0 || !config.head().is_multiple_of(2) {
        let expected = "it must be even and above 0, because a head's halves are turned together";
        return Err(checked.bad("head_dim", config.head(), expected));
    }
    if config.is_qwen() && config.mlp_bias {
        return Err(checked.bad("mlp_bias", "true", "only llama has it"));
    }
    if config.is_causal == Some(false) {
        let expected = "only decoders whose tokens see those before them alone can be read";
        return Err(checked.bad("is_causal", "false", expected));
    }
    if let Some(class) = config.auto_map.iter().flatten().find(|(name, _)| name.starts_with("AutoModel")) {
        let expected = "the repository brings code of its own, which may compute otherwise and is not run";
        return Err(checked.bad("auto_map", class.1, expected));
    }
    if config.is_qwen() && config.use_sliding_window && config.sliding_window.unwrap_or(0) == 0 {
        let found = config.sliding_window.map_or_else(|| "missing".to_owned(), |window| window.to_string());
        return Err(checked.bad("sliding_window", found, "use_sliding_window needs one of 1 or more"));
    }
    if let Some(types) = &config.layer_types {
        if types.len() != config.num_hidden_layers {
            let expected = format!("there must be one for each of the {} layers", config.num_hidden_layers);
            return Err(checked.bad("layer_types", types.len(), &expected));
        }
        if let Some(kind) = types.iter().find(|kind| ![GLOBAL, LOCAL].contains(&kind.as_str())) {
            return Err(checked.bad("layer_types", kind, "full_attention and sliding_attention can be read"));
        }
        let local = types.iter().any(|kind| kind == LOCAL);
        if local && (!config.is_qwen() || !config.use_sliding_window || config.sliding_window.is_none()) {
            let expected = "it needs use_sliding_window and sliding_window, of qwen2 or qwen3";
            return Err(checked.bad("layer_types", LOCAL, expected));
        }
    }
    checked.epsilon("rms_norm_eps", config.rms_norm_eps)?;
    checked.dropouts(&[("attention_dropout", config.attention_dropout)])?;
    checked.activation("hidden_act", &config.hidden_act)
}

#[cfg(test)]
mod tests {
    use super::super::reference::dir;
    use super::*;

    fn folder_with(change: impl Fn(&mut serde_json::Map<String, Value>)) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for file in ["tokenizer.json", "model.safetensors"] {
            std::fs::copy(dir("qwen2").join(file), place.path().join(file)).unwrap();
        }
        let text = std::fs::read(dir("qwen2").join("config.json")).unwrap();
        let mut config: serde_json::Map<String, Value> = serde_json::from_slice(&text).unwrap();
        change(&mut config);
        std::fs::write(place.path().join("config.json"), serde_json::to_vec(&config).unwrap()).unwrap();
        place
    }

    #[test]
    fn older_configurations_are_equivalent() {
        for name in ["llama", "llama3", "qwen2", "qwen3"] {
            let read = |file: &str| -> Config {
                serde_json::from_slice(&std::fs::read(dir(name).join(file)).unwrap()).unwrap()
            };
            let (new, old) = (read("config.json"), read("config.older.json"));
            let folder = Folder::open(&dir(name)).unwrap();
            let (_, checked) = ConfigReader::read::<Value>(Value::Null, &folder).unwrap();
            let turn = |config: &Config| rates(&config.rope, config.head(), &checked).unwrap();
            assert_eq!(turn(&new), turn(&old), "{name}");
            for layer in 0..new.num_hidden_layers {
                assert_eq!(new.window(layer), old.window(layer), "{name}");
            }
        }
    }

    /// Versions 4.43 to 4.57 of transformers write the name twice.
    #[test]
    fn scaling_with_two_name_fields_is_read() {
        let turn = |scaling: Value| {
            let folder = folder_with(|config| {
                config.insert("rope_scaling".to_owned(), scaling.clone());
            });
            let folder = Folder::open(folder.path()).unwrap();
            let config = folder.json("config.json").unwrap();
            let (config, checked) = ConfigReader::read::<Config>(config, &folder).unwrap();
            rates(&config.rope, config.head(), &checked).unwrap()
        };
        let once = turn(serde_json::json!({"rope_type": "linear", "factor": 4.0}));
        assert_eq!(once, turn(serde_json::json!({"rope_type": "linear", "type": "linear", "factor": 4.0})));
        assert_eq!(once, turn(serde_json::json!({"type": "linear", "factor": 4.0})));
        assert_ne!(once, turn(Value::Null));
    }

    #[test]
    fn unsupported_settings_are_refused_by_name() {
        let options = crate::EncoderOptions::default();
        let cases: [(&str, Value, &str); 8] = [
            ("rope_scaling", serde_json::json!({"type": "yarn", "factor": 4.0}), "yarn"),
            ("layer_types", serde_json::json!(["full_attention", "chunked_attention"]), "chunked_attention"),
            ("num_key_value_heads", serde_json::json!(3), "num_key_value_heads"),
            ("mlp_bias", serde_json::json!(true), "mlp_bias"),
            ("is_causal", serde_json::json!(false), "is_causal"),
            ("auto_map", serde_json::json!({"AutoModel": "modeling_qwen.Qwen2Model"}), "code of its own"),
            ("use_sliding_window", serde_json::json!(true), "sliding_window"),
            (
                "rope_scaling",
                serde_json::json!({"type": "linear", "rope_type": "default", "factor": 4.0}),
                "must agree",
            ),
        ];
        for (field, value, expected) in cases {
            let folder = folder_with(|config| {
                if field != "rope_scaling" {
                    config.remove("rope_parameters");
                }
                if field == "use_sliding_window" {
                    config.remove("sliding_window");
                }
                config.insert(field.to_owned(), value.clone());
            });
            let error = crate::Encoder::open(folder.path(), &options).unwrap_err();
            assert_eq!(error.code(), "encoder-config", "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
