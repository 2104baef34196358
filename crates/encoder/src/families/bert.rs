//! BERT (Devlin et al. 2019, arXiv 1810.04805) without its pre-training heads; also MiniLM, bge, e5 and gte
//! of its kind. RoBERTa (Liu et al. 2019, arXiv 1907.11692), XLM-RoBERTa and CamemBERT are the same with
//! other weights, and positions that begin after the padding token's id.

use candle_core::{Result as CandleResult, Tensor};
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

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
    #[serde(default)]
    pad_token_id: Option<usize>,
    #[serde(default = "usual_dropout")]
    hidden_dropout_prob: f32,
    #[serde(default = "usual_dropout")]
    attention_probs_dropout_prob: f32,
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

/// Differences between BERT and RoBERTa.
struct Variant {
    /// Optional prefix of the names of weights.
    prefix: &'static str,
    /// Default number of segments where config.json has none.
    segments: usize,
    /// Whether a text's first position follows the padding token's id; else it is 0.
    after_padding: bool,
}

const BERT: Variant = Variant { prefix: "bert.", segments: 2, after_padding: false };
const ROBERTA: Variant = Variant { prefix: "roberta.", segments: 1, after_padding: true };

/// A BERT or RoBERTa encoder.
pub(super) struct Bert {
    embedding: Embedding,
    layers: Vec<PostNormLayer>,
    pooler: Option<Pooler>,
    sizes: Sizes,
}

impl Bert {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
    ) -> Result<Self, EncoderError> {
        Self::open_as(&BERT, config, folder, parameters)
    }

    pub(super) fn open_roberta(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
    ) -> Result<Self, EncoderError> {
        Self::open_as(&ROBERTA, config, folder, parameters)
    }

    fn open_as(
        variant: &Variant,
        mut config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
    ) -> Result<Self, EncoderError> {
        if let Some(fields) = config.as_object_mut() {
            fields.entry("type_vocab_size").or_insert(variant.segments.into());
        }
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let first =
            if variant.after_padding { config.pad_token_id.unwrap_or(1).saturating_add(1) } else { 0 };
        let layer = layer_sizes(&config, first, &checked)?;
        let words = "embeddings.word_embeddings.weight";
        let parameters = parameters.of(variant.prefix, words, config.num_hidden_layers);
        let (hidden, positions) = (config.hidden_size, config.max_position_embeddings);
        let embedding = EmbeddingSizes {
            vocabulary: config.vocab_size,
            hidden,
            positions,
            first,
            segments: config.type_vocab_size,
            epsilon: config.layer_norm_eps,
            dropout: config.hidden_dropout_prob,
        };
        let open_layer = |i: usize| {
            PostNormLayer::open(&parameters, &format!("encoder.layer.{i}"), &PostNormNames::BERT, layer)
        };
        Ok(Self {
            embedding: Embedding::open(&parameters, &embedding)?,
            layers: (0..config.num_hidden_layers).map(open_layer).collect::<Result<_, _>>()?,
            pooler: Pooler::open(&parameters, hidden)?,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions: positions - first,
                macs_per_token: layer.products() * config.num_hidden_layers,
            },
        })
    }
}

impl Transformer for Bert {
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

    fn pooler(&self) -> Option<&Pooler> {
        self.pooler.as_ref()
    }
}

/// Sizes of the layers, after validation of all fields.
fn layer_sizes(
    config: &Config,
    first: usize,
    checked: &ConfigReader<'_>,
) -> Result<PostNormSizes, EncoderError> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    checked.heads(("num_attention_heads", heads), ("hidden_size", hidden))?;
    checked.positive(&[
        ("vocab_size", config.vocab_size),
        ("num_hidden_layers", config.num_hidden_layers),
        ("intermediate_size", config.intermediate_size),
        ("max_position_embeddings", config.max_position_embeddings),
        ("type_vocab_size", config.type_vocab_size),
    ])?;
    if config.max_position_embeddings <= first {
        let expected = format!("positions begin at {first}, after the padding token's id");
        return Err(checked.bad("max_position_embeddings", config.max_position_embeddings, &expected));
    }
    checked.epsilon("layer_norm_eps", config.layer_norm_eps)?;
    checked.dropouts(&[
        ("hidden_dropout_prob", config.hidden_dropout_prob),
        ("attention_probs_dropout_prob", config.attention_probs_dropout_prob),
    ])?;
    let positions = config.position_embedding_type.as_deref().unwrap_or("absolute");
    if positions != "absolute" {
        return Err(checked.bad("position_embedding_type", positions, "only absolute can be read"));
    }
    if config.is_decoder {
        return Err(checked.bad("is_decoder", "true", "an encoder sees a text from both sides"));
    }
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
