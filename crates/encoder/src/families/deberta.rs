//! DeBERTa version 2 and 3 (He et al. 2021, arXiv 2006.03654 and 2111.09543): attention scores have a
//! content term, and terms of content and distance ("disentangled attention", equation 4).

use candle_core::{D, Device, Result as CandleResult, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::config::ConfigReader;
use crate::attention_mask::AttentionMask;
use crate::blocks::{
    Attention, ForwardCtx, LayerNorm, Linear, LinearNames, Parameters, Role, States, VarlenLayout,
};
use crate::blocks::{Sizes, Transformer};
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::ops::{Activation, linear};
use crate::token_batch::TokenBatch;

#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default)]
    embedding_size: Option<usize>,
    #[serde(default)]
    attention_head_size: Option<usize>,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default)]
    relative_attention: bool,
    #[serde(default = "unset")]
    max_relative_positions: i64,
    #[serde(default = "unset")]
    position_buckets: i64,
    #[serde(default)]
    pos_att_type: Option<Words>,
    #[serde(default)]
    share_att_key: bool,
    #[serde(default)]
    norm_rel_ebd: Option<String>,
    #[serde(default = "yes")]
    position_biased_input: bool,
    #[serde(default)]
    conv_kernel_size: Option<usize>,
    #[serde(default)]
    conv_groups: Option<usize>,
    #[serde(default)]
    conv_act: Option<String>,
    #[serde(default = "usual_dropout")]
    hidden_dropout_prob: f32,
    #[serde(default = "usual_dropout")]
    attention_probs_dropout_prob: f32,
}

/// A list, or words separated by bars: both are in use.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Joined(String),
}

fn usual_epsilon() -> f64 {
    1e-7
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn unset() -> i64 {
    -1
}

fn yes() -> bool {
    true
}

fn usual_dropout() -> f32 {
    0.1
}

fn parts(joined: &str) -> Vec<String> {
    joined.to_lowercase().split('|').map(|part| part.trim().to_owned()).collect()
}

impl Config {
    /// Whether scores have a term of this kind, `c2p` or `p2c`.
    fn attends(&self, kind: &str) -> bool {
        match &self.pos_att_type {
            None => false,
            Some(Words::List(list)) => list.iter().any(|word| word == kind),
            Some(Words::Joined(joined)) => parts(joined).iter().any(|word| word == kind),
        }
    }

    fn norms_distances(&self) -> bool {
        self.norm_rel_ebd.as_deref().is_some_and(|words| parts(words).iter().any(|word| word == "layer_norm"))
    }

    /// The largest distance with a bucket of its own.
    fn farthest(&self) -> usize {
        usize::try_from(self.max_relative_positions)
            .ok()
            .filter(|most| *most > 0)
            .unwrap_or(self.max_position_embeddings)
    }

    fn distances(&self) -> Distances {
        let farthest = self.farthest();
        match usize::try_from(self.position_buckets).ok().filter(|buckets| *buckets > 0) {
            None => Distances { span: farthest, buckets: None, farthest },
            Some(buckets) => Distances { span: buckets, buckets: Some(buckets), farthest },
        }
    }

    fn embedding(&self) -> usize {
        self.embedding_size.unwrap_or(self.hidden_size)
    }
}

/// How distances between tokens are divided into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Distances {
    /// Number of rows of the distance table in each direction.
    span: usize,
    /// Number of buckets: close distances have one each, far ones share ever wider ones. `None`: one for
    /// each distance.
    buckets: Option<usize>,
    farthest: usize,
}

impl Distances {
    /// The row of the table for a key `distance` tokens before its query.
    fn row(self, distance: i64) -> u32 {
        let last = 2 * self.span as i64 - 1;
        (self.bucket(distance) + self.span as i64).clamp(0, last) as u32
    }

    fn bucket(self, distance: i64) -> i64 {
        let Some(buckets) = self.buckets else { return distance };
        let (middle, away) = ((buckets / 2) as f64, distance.unsigned_abs() as f64);
        if away <= middle {
            return distance;
        }
        let widest = ((self.farthest as f64 - 1.0) / middle).ln();
        let wide = ((away / middle).ln() / widest * (middle - 1.0)).ceil();
        distance.signum() * (middle + wide) as i64
    }

    /// Rows of the table for every query and key of the longest text: `[longest, longest]`.
    fn rows(self, packing: &VarlenLayout, device: &Device) -> CandleResult<Tensor> {
        let longest = packing.longest();
        let rows: Vec<u32> = (0..longest)
            .flat_map(|query| (0..longest).map(move |key| self.row(query as i64 - key as i64)))
            .collect();
        Tensor::from_vec(rows, (longest, longest), device)
    }
}

/// A DeBERTa encoder.
pub(super) struct Deberta {
    words: Tensor,
    /// `[positions, embedding]`, if they are added to the words.
    places: Option<Tensor>,
    /// `[segments, embedding]`; texts use only the first.
    segments: Option<Tensor>,
    /// From the embedding size to the hidden size, if the two differ.
    project: Option<Linear>,
    norm: LayerNorm,
    relative: Option<Relative>,
    convolution: Option<Convolution>,
    layers: Vec<Layer>,
    dropout: f32,
    sizes: Sizes,
    device: Device,
}

/// The distance table that all layers share.
struct Relative {
    /// `[2 * span, hidden]`
    table: Tensor,
    norm: Option<LayerNorm>,
    distances: Distances,
}

impl Deberta {
    pub(super) fn open(
        config: Value,
        folder: &Folder,
        parameters: Parameters<'_>,
        device: &Device,
    ) -> Result<Self, EncoderError> {
        let (config, checked) = ConfigReader::read::<Config>(config, folder)?;
        let activation = check(&config, &checked)?;
        let words = "embeddings.word_embeddings.weight";
        let parameters = parameters.of("deberta.", words, config.num_hidden_layers);
        let (hidden, embedding) = (config.hidden_size, config.embedding());
        let table = |name: &str, rows: usize| {
            parameters.get(&format!("embeddings.{name}.weight"), &[rows, embedding])
        };
        let optional = |wanted: bool, name: &str, rows: usize| {
            if wanted { table(name, rows).map(Some) } else { Ok(None) }
        };
        let (positions, layers) = (config.max_position_embeddings, config.num_hidden_layers);
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            places: optional(config.position_biased_input, "position_embeddings", positions)?,
            segments: optional(config.type_vocab_size > 0, "token_type_embeddings", config.type_vocab_size)?,
            project: projection(&parameters, hidden, embedding)?,
            norm: LayerNorm::open(&parameters, "embeddings.LayerNorm", hidden, config.layer_norm_eps)?,
            relative: Relative::open(&parameters, &config)?,
            convolution: Convolution::open(&parameters, &config, &checked)?,
            layers: (0..layers)
                .map(|i| Layer::open(&parameters, i, &config, activation))
                .collect::<Result<_, _>>()?,
            dropout: config.hidden_dropout_prob,
            sizes: Sizes {
                dim: hidden,
                vocabulary: config.vocab_size,
                positions,
                macs_per_token: layers * (4 * hidden * hidden + 2 * hidden * config.intermediate_size),
            },
            device: device.clone(),
        })
    }

    fn embed(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let mut x = ctx.rows_of(&self.words, &batch.ids)?;
        if let Some(places) = &self.places {
            x = (x + places.index_select(&ctx.packing().places(0)?, 0)?)?;
        }
        if let Some(segments) = &self.segments {
            x = x.broadcast_add(&segments.narrow(0, 0, 1)?)?;
        }
        if let Some(project) = &self.project {
            x = project.apply(&x, ctx)?;
        }
        ctx.dropout(self.norm.apply(&x)?, self.dropout)
    }
}

impl Transformer for Deberta {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn words(&self) -> &Tensor {
        &self.words
    }

    fn forward(&self, batch: &TokenBatch, ctx: &ForwardCtx) -> CandleResult<States> {
        let bottom = ctx.at_depth(0);
        let x = self.embed(batch, &bottom)?;
        let table = self.relative.as_ref().map(Relative::normed).transpose()?;
        let rows = match &self.relative {
            None => None,
            Some(relative) => Some(relative.distances.rows(ctx.packing(), &self.device)?),
        };
        let distances = table.as_ref().zip(rows.as_ref());
        ctx.through(self.layers.len(), x, |i, x, ctx| {
            let next = self.layers[i].apply(x, distances, ctx)?;
            match &self.convolution {
                Some(convolution) if i == 0 => convolution.apply(x, &next, ctx),
                _ => Ok(next),
            }
        })
    }
}

impl Relative {
    fn open(parameters: &Parameters<'_>, config: &Config) -> Result<Option<Self>, EncoderError> {
        if !config.relative_attention {
            return Ok(None);
        }
        let (hidden, distances) = (config.hidden_size, config.distances());
        let table =
            parameters.get("encoder.rel_embeddings.weight", &[distances.span.saturating_mul(2), hidden])?;
        let norm = if config.norms_distances() {
            Some(LayerNorm::open(parameters, "encoder.LayerNorm", hidden, config.layer_norm_eps)?)
        } else {
            None
        };
        Ok(Some(Self { table, norm, distances }))
    }

    fn normed(&self) -> CandleResult<Tensor> {
        self.norm.as_ref().map_or(Ok(self.table.clone()), |norm| norm.apply(&self.table))
    }
}

fn projection(
    parameters: &Parameters<'_>,
    hidden: usize,
    embedding: usize,
) -> Result<Option<Linear>, EncoderError> {
    if hidden == embedding {
        return Ok(None);
    }
    let names = LinearNames {
        names: &["embeddings.embed_proj"],
        roles: &[Role::Other],
        outputs: &[hidden],
        inputs: embedding,
        bias: false,
        transposed: false,
    };
    Linear::open(parameters, &names).map(Some)
}

/// Convolution along each text that is added to the output of layer 0.
struct Convolution {
    weight: Tensor,
    bias: Tensor,
    norm: LayerNorm,
    activation: Activation,
    learns: bool,
    dropout: f32,
}

impl Convolution {
    fn open(
        parameters: &Parameters<'_>,
        config: &Config,
        checked: &ConfigReader<'_>,
    ) -> Result<Option<Self>, EncoderError> {
        let size = config.conv_kernel_size.unwrap_or(0);
        if size == 0 {
            return Ok(None);
        }
        let (hidden, name) = (config.hidden_size, "encoder.conv.conv.weight");
        if size.is_multiple_of(2) {
            return Err(checked.bad(
                "conv_kernel_size",
                size,
                "it must be odd, so that a text keeps its length",
            ));
        }
        if let Some(groups) = config.conv_groups.filter(|groups| *groups != 1) {
            return Err(checked.bad("conv_groups", groups, "only 1 can be read"));
        }
        Ok(Some(Self {
            weight: parameters.get(name, &[hidden, hidden, size])?,
            bias: parameters.get("encoder.conv.conv.bias", &[hidden])?,
            norm: LayerNorm::open(parameters, "encoder.conv.LayerNorm", hidden, config.layer_norm_eps)?,
            activation: checked.activation("conv_act", config.conv_act.as_deref().unwrap_or("tanh"))?,
            learns: parameters.learns(name),
            dropout: config.hidden_dropout_prob,
        }))
    }

    fn apply(&self, input: &Tensor, output: &Tensor, ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let packing = ctx.packing();
        let padded = packing.pad(input)?;
        let padded = match packing.key_weights()? {
            None => padded,
            Some(real) => padded.broadcast_mul(&real.unsqueeze(2)?.to_dtype(padded.dtype())?)?,
        };
        // As one product with each token's neighbours side by side: the tensor library's own convolution
        // gives its kernel a wrong gradient.
        let (hidden, _, size) = self.weight.dims3()?;
        let (wide, longest) = (padded.pad_with_zeros(1, size / 2, size / 2)?, packing.longest());
        let shifted = (0..size).map(|s| wide.narrow(1, s, longest)).collect::<CandleResult<Vec<_>>>()?;
        let neighbours = packing.unpad(&Tensor::cat(&shifted, 2)?)?;
        let weight = self.weight.transpose(1, 2)?.reshape((hidden, size * hidden))?;
        let mixed = linear(&neighbours, &weight, Some(&self.bias), self.learns)?;
        let mixed = self.activation.apply(&ctx.dropout(mixed, self.dropout)?)?;
        self.norm.apply(&(output + mixed)?)
    }
}

struct Layer {
    query_key_value: Linear,
    /// Projections of the distance table: keys for `c2p`, queries for `p2c`. `None`: the layer's own are
    /// used.
    distance_key: Option<Linear>,
    distance_query: Option<Linear>,
    content_to_distance: bool,
    distance_to_content: bool,
    shares: bool,
    attention: Attention,
    o_proj: Linear,
    o_norm: LayerNorm,
    up_proj: Linear,
    down_proj: Linear,
    down_norm: LayerNorm,
    activation: Activation,
    hidden: usize,
    dropout: f32,
}

impl Layer {
    fn open(
        parameters: &Parameters<'_>,
        index: usize,
        config: &Config,
        activation: Activation,
    ) -> Result<Self, EncoderError> {
        let (hidden, wide, epsilon) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        let of_self =
            ["query_proj", "key_proj", "value_proj"].map(|part| name(&format!("attention.self.{part}")));
        let stacked = LinearNames {
            names: &[&of_self[0], &of_self[1], &of_self[2]],
            roles: &[Role::Query, Role::Key, Role::Value],
            outputs: &[hidden; 3],
            inputs: hidden,
            bias: true,
            transposed: false,
        };
        let linear =
            |part: &str, role, outputs, inputs| Linear::one(parameters, &name(part), role, outputs, inputs);
        let norm = |part: &str| LayerNorm::open(parameters, &name(part), hidden, epsilon);
        let (c2p, p2c) = (config.attends("c2p"), config.attends("p2c"));
        let relative = config.relative_attention;
        let of_distances = |wanted: bool, part: &str| {
            let own = relative && wanted && !config.share_att_key;
            if own { linear(part, Role::Other, hidden, hidden).map(Some) } else { Ok(None) }
        };
        let parts = 1 + usize::from(c2p) + usize::from(p2c);
        let size = hidden / config.num_attention_heads;
        Ok(Self {
            query_key_value: Linear::open(parameters, &stacked)?,
            distance_key: of_distances(c2p, "attention.self.pos_key_proj")?,
            distance_query: of_distances(p2c, "attention.self.pos_query_proj")?,
            content_to_distance: relative && c2p,
            distance_to_content: relative && p2c,
            shares: config.share_att_key,
            attention: Attention {
                heads: config.num_attention_heads,
                kv_heads: config.num_attention_heads,
                scale: ((size * parts) as f64).sqrt().recip(),
                reach: AttentionMask::FULL,
                dropout: config.attention_probs_dropout_prob,
            },
            o_proj: linear("attention.output.dense", Role::AttentionOutput, hidden, hidden)?,
            o_norm: norm("attention.output.LayerNorm")?,
            up_proj: linear("intermediate.dense", Role::FeedForward, wide, hidden)?,
            down_proj: linear("output.dense", Role::FeedForward, hidden, wide)?,
            down_norm: norm("output.LayerNorm")?,
            activation,
            hidden,
            dropout: config.hidden_dropout_prob,
        })
    }

    /// `distances`: the table `[2 * span, hidden]` and the row of each pair of tokens `[longest, longest]`.
    fn apply(
        &self,
        x: &Tensor,
        distances: Option<(&Tensor, &Tensor)>,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        let stacked = self.query_key_value.apply(x, ctx)?;
        let [query, key, value] = self.attention.split(&stacked, ctx.packing())?;
        // Scaled before the products: unscaled scores can exceed the largest half float.
        let query = (query * self.attention.scale)?;
        let mut scores = query.matmul(&key.transpose(D::Minus1, D::Minus2)?)?;
        if let Some((table, rows)) = distances {
            scores = self.with_distances(scores, &query, &key, table, rows, ctx)?;
        }
        let context = self.attention.attended(&scores, &value, ctx)?;
        let x = self.o_proj.apply_residual_norm(&context, x, &self.o_norm, self.dropout, ctx)?;
        let wide = self.up_proj.apply_activation(&x, self.activation, ctx)?;
        self.down_proj.apply_residual_norm(&wide, &x, &self.down_norm, self.dropout, ctx)
    }

    /// Adds the terms of content and distance to the content scores.
    fn with_distances(
        &self,
        mut scores: Tensor,
        query: &Tensor,
        key: &Tensor,
        table: &Tensor,
        rows: &Tensor,
        ctx: &ForwardCtx,
    ) -> CandleResult<Tensor> {
        let table = ctx.dropout(table.clone(), self.dropout)?;
        let shape = scores.shape().clone();
        let shared = if self.shares { Some(self.query_key_value.apply(&table, ctx)?) } else { None };
        // [heads, size, 2 * span]
        let projected = |own: &Option<Linear>, slice: usize| -> CandleResult<Tensor> {
            let flat = match (&shared, own) {
                (Some(shared), _) => shared.narrow(1, slice * self.hidden, self.hidden)?,
                (None, Some(own)) => own.apply(&table, ctx)?,
                (None, None) => candle_core::bail!("a layer without projections of distances"),
            };
            let size = self.hidden / self.attention.heads;
            flat.reshape(((), self.attention.heads, size))?.permute((1, 2, 0))?.contiguous()
        };
        if self.content_to_distance {
            let by_row = query.broadcast_matmul(&projected(&self.distance_key, 1)?)?;
            scores = (scores + by_row.gather(&rows.broadcast_as(&shape)?.contiguous()?, D::Minus1)?)?;
        }
        if self.distance_to_content {
            // One row for each key here, so that pairs are transposed.
            let key = (key * self.attention.scale)?;
            let by_row = key.broadcast_matmul(&projected(&self.distance_query, 0)?)?;
            let turned = rows.t()?.broadcast_as(&shape)?.contiguous()?;
            scores = (scores + by_row.gather(&turned, D::Minus1)?.transpose(D::Minus1, D::Minus2)?)?;
        }
        Ok(scores)
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
        ("embedding_size", config.embedding()),
    ])?;
    if let Some(size) = config.attention_head_size.filter(|size| size * heads != hidden) {
        let expected =
            format!("only heads that share hidden_size out evenly can be read, here {}", hidden / heads);
        return Err(checked.bad("attention_head_size", size, &expected));
    }
    let Distances { buckets, farthest, .. } = config.distances();
    if config.relative_attention && buckets.is_some_and(|buckets| buckets < 4 || farthest <= buckets / 2 + 1)
    {
        let expected = "it must be 4 or more, and half of it less than the farthest distance";
        return Err(checked.bad("position_buckets", config.position_buckets, expected));
    }
    checked.epsilon("layer_norm_eps", config.layer_norm_eps)?;
    checked.dropouts(&[
        ("hidden_dropout_prob", config.hidden_dropout_prob),
        ("attention_probs_dropout_prob", config.attention_probs_dropout_prob),
    ])?;
    checked.activation("hidden_act", &config.hidden_act)
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::*;

    #[test]
    fn buckets_match_the_reference() {
        let tables = Reference::open("deberta-v3").tables;
        for (buckets, farthest) in [(8, 20), (256, 512)] {
            let distances = Distances { span: buckets, buckets: Some(buckets), farthest };
            for (away, expected) in tables[&format!("buckets_{buckets}_{farthest}")].iter().enumerate() {
                assert_eq!(distances.bucket(away as i64), *expected, "{away} of {buckets}");
                assert_eq!(distances.bucket(-(away as i64)), -expected, "-{away} of {buckets}");
            }
        }
    }
}
