//! MPNet (Song et al. 2020, arXiv 2004.09297): BERT without segments, and with a bias on attention scores
//! that depends on the distance between two tokens, the same in every layer.

use candle_core::{Device, Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use crate::blocks::{
    Attention, Embedding, EmbeddingSizes, ForwardCtx, Parameters, PostNormLayer, PostNormNames,
    PostNormSizes, States,
};
use crate::blocks::{Pooler, Sizes, Transformer};
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::token_batch::TokenBatch;

/// Fixed in the architecture, regardless of the configuration: the position of a text's first token, and
/// the buckets of distances.
const FIRST: usize = 2;
const BUCKETS: usize = 32;
const FARTHEST: f64 = 128.0;

const NAMES: PostNormNames = PostNormNames {
    query_key_value: ["attention.attn.q", "attention.attn.k", "attention.attn.v"],
    o_proj: ["attention.attn.o", "attention.LayerNorm"],
    up_proj: "intermediate.dense",
    down_proj: ["output.dense", "output.LayerNorm"],
};

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_buckets")]
    relative_attention_num_buckets: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default = "usual_dropout")]
    hidden_dropout_prob: f32,
    #[serde(default = "usual_dropout")]
    attention_probs_dropout_prob: f32,
}

fn usual_buckets() -> usize {
    BUCKETS
}

fn usual_epsilon() -> f64 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn usual_dropout() -> f32 {
    0.1
}

/// An MPNet encoder.
pub(super) struct MpNet {
    embedding: Embedding,
    /// `[buckets, heads]`
    distance_bias: Tensor,
    layers: Vec<PostNormLayer>,
    pooler: Option<Pooler>,
    sizes: Sizes,
    device: Device,
}

impl MpNet {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let layer = layer_sizes(&config, &checked)?;
        let words = "embeddings.word_embeddings.weight";
        let parameters = parameters.of("mpnet.", words, config.num_hidden_layers);
        let hidden = config.hidden_size;
        let embedding = EmbeddingSizes {
            vocabulary: config.vocab_size,
            hidden,
            positions: config.max_position_embeddings,
            first: FIRST,
            segments: 0,
            epsilon: config.layer_norm_eps,
            dropout: config.hidden_dropout_prob,
        };
        let biases = [config.relative_attention_num_buckets, config.num_attention_heads];
        let open_layer =
            |i: usize| PostNormLayer::open(&parameters, &format!("encoder.layer.{i}"), &NAMES, layer);
        Ok(Self {
            embedding: Embedding::open(&parameters, &embedding)?,
            distance_bias: parameters.get("encoder.relative_attention_bias.weight", &biases)?,
            layers: (0..config.num_hidden_layers).map(open_layer).collect::<Result<_, _>>()?,
            pooler: Pooler::open(&parameters, hidden)?,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions: config.max_position_embeddings - FIRST,
                macs_per_token: layer.products() * config.num_hidden_layers,
            },
            device: device.clone(),
        })
    }

    /// Bias added to the scores of every text: `[heads, longest, longest]`.
    fn bias(&self, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let longest = ctx.packing().longest();
        let buckets: Vec<u32> = (0..longest)
            .flat_map(|query| (0..longest).map(move |key| bucket(query as i64 - key as i64)))
            .collect();
        let buckets = Tensor::from_vec(buckets, longest * longest, &self.device)?;
        let rows = self.distance_bias.index_select(&buckets, 0)?;
        rows.t()?.reshape(((), longest, longest))?.contiguous()
    }
}

impl Transformer for MpNet {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        self.embedding.words()
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let bottom = ctx.at_depth(0);
        let (x, bias) = (self.embedding.apply(batch, &bottom)?, self.bias(&bottom)?);
        ctx.through(self.layers.len(), x, |i, x, ctx| self.layers[i].apply(x, Some(&bias), ctx))
    }

    fn pooler(&self) -> Option<&Pooler> {
        self.pooler.as_ref()
    }
}

/// The bucket of a key that is `distance` tokens before its query (negative: after it): exact up to 7, then
/// wider and wider up to [`FARTHEST`] (Raffel et al. 2020, arXiv 1910.10683, section 2.1).
fn bucket(distance: i64) -> u32 {
    let half = BUCKETS / 2;
    let exact = half / 2;
    let base = if distance < 0 { half } else { 0 };
    let away = distance.unsigned_abs() as usize;
    if away < exact {
        return (base + away) as u32;
    }
    let wide = (away as f64 / exact as f64).ln() / (FARTHEST / exact as f64).ln() * (half - exact) as f64;
    (base + (exact + wide as usize).min(half - 1)) as u32
}

/// Sizes of the layers, after validation of all fields.
fn layer_sizes(config: &Config, checked: &ConfigReader<'_>) -> Result<PostNormSizes, EncoderError> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    checked.heads(("num_attention_heads", heads), ("hidden_size", hidden))?;
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("num_hidden_layers", config.num_hidden_layers),
        ("intermediate_size", config.intermediate_size),
    ])?;
    if config.max_position_embeddings <= FIRST {
        let found = config.max_position_embeddings;
        return Err(checked.bad("max_position_embeddings", found, "positions begin at 2"));
    }
    if config.relative_attention_num_buckets < BUCKETS {
        let found = config.relative_attention_num_buckets;
        return Err(checked.bad("relative_attention_num_buckets", found, "32 buckets or more are needed"));
    }
    checked.epsilon("layer_norm_eps", config.layer_norm_eps)?;
    checked.dropouts(&[
        ("hidden_dropout_prob", config.hidden_dropout_prob),
        ("attention_probs_dropout_prob", config.attention_probs_dropout_prob),
    ])?;
    Ok(PostNormSizes {
        hidden,
        wide: config.intermediate_size,
        activation: checked.activation("hidden_act", &config.hidden_act)?,
        epsilon: config.layer_norm_eps,
        attention: Attention::new(heads, hidden, config.attention_probs_dropout_prob),
        o_dropout: config.hidden_dropout_prob,
        dropout: config.hidden_dropout_prob,
    })
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::*;

    #[test]
    fn buckets_match_the_reference() {
        let tables = Reference::open("mpnet").tables;
        for (away, bucketed) in tables["buckets_behind"].iter().enumerate() {
            assert_eq!(i64::from(bucket(away as i64)), *bucketed, "{away} before");
        }
        for (away, bucketed) in tables["buckets_ahead"].iter().enumerate() {
            assert_eq!(i64::from(bucket(-(away as i64))), *bucketed, "{away} behind");
        }
    }
}
