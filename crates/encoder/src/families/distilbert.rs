//! DistilBERT (Sanh et al. 2019, arXiv 1910.01108): BERT with half the layers, without segments and pooler.

use candle_core::{Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use crate::blocks::{
    Attention, Embedding, EmbeddingSizes, ForwardCtx, Parameters, PostNormLayer, PostNormNames,
    PostNormSizes, States,
};
use crate::blocks::{Sizes, Transformer};
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::token_batch::TokenBatch;

/// Fixed in the architecture.
const EPSILON: f64 = 1e-12;

const NAMES: PostNormNames = PostNormNames {
    query_key_value: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    o_proj: ["attention.out_lin", "sa_layer_norm"],
    up_proj: "ffn.lin1",
    down_proj: ["ffn.lin2", "output_layer_norm"],
};

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    dim: usize,
    hidden_dim: usize,
    n_layers: usize,
    n_heads: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_activation")]
    activation: String,
    #[serde(default = "usual_dropout")]
    dropout: f32,
    #[serde(default = "usual_dropout")]
    attention_dropout: f32,
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn usual_dropout() -> f32 {
    0.1
}

/// A DistilBERT encoder.
pub(super) struct DistilBert {
    embedding: Embedding,
    layers: Vec<PostNormLayer>,
    sizes: Sizes,
}

impl DistilBert {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let layer = layer_sizes(&config, &checked)?;
        let words = "embeddings.word_embeddings.weight";
        let parameters = parameters.of("distilbert.", words, config.n_layers);
        let embedding = EmbeddingSizes {
            vocabulary: config.vocab_size,
            hidden: config.dim,
            positions: config.max_position_embeddings,
            first: 0,
            segments: 0,
            epsilon: EPSILON,
            dropout: config.dropout,
        };
        let open_layer =
            |i: usize| PostNormLayer::open(&parameters, &format!("transformer.layer.{i}"), &NAMES, layer);
        Ok(Self {
            embedding: Embedding::open(&parameters, &embedding)?,
            layers: (0..config.n_layers).map(open_layer).collect::<Result<_, _>>()?,
            sizes: Sizes {
                dim: config.dim,
                vocabulary: config.vocab_size,
                positions: config.max_position_embeddings,
                macs_per_token: layer.products() * config.n_layers,
            },
        })
    }
}

impl Transformer for DistilBert {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        self.embedding.words()
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let x = self.embedding.apply(batch, &ctx.at_depth(0))?;
        ctx.through(self.layers.len(), x, |i, x, ctx| self.layers[i].apply(x, None, ctx))
    }
}

/// Sizes of the layers, after validation of all fields.
fn layer_sizes(config: &Config, checked: &ConfigReader<'_>) -> Result<PostNormSizes, EncoderError> {
    checked.heads(("n_heads", config.n_heads), ("dim", config.dim))?;
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("n_layers", config.n_layers),
        ("hidden_dim", config.hidden_dim),
        ("max_position_embeddings", config.max_position_embeddings),
    ])?;
    checked.dropouts(&[("dropout", config.dropout), ("attention_dropout", config.attention_dropout)])?;
    Ok(PostNormSizes {
        hidden: config.dim,
        wide: config.hidden_dim,
        activation: checked.activation("activation", &config.activation)?,
        epsilon: EPSILON,
        attention: Attention::new(config.n_heads, config.dim, config.attention_dropout),
        // The only place where its own code has no dropout and BERT's does.
        o_dropout: 0.0,
        dropout: config.dropout,
    })
}
