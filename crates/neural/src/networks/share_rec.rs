//! `share-rec-ffn` and `share-rec-dcn`: a text and an annotator, each projected to a short vector, and a
//! network over both.
//!
//! The recommender architectures of Heinisch et al. 2023 ("Architectural Sweet Spots for Modeling Human
//! Label Variation", EMNLP) and of Jury Learning (Gordon et al. 2022, CHI): the text's embedding is
//! projected to `e` numbers, the annotator's learned vector and one-hot attributes to as many, and
//! `[text, text, annotator]` goes through a feed-forward network of five tanh layers, or through a Deep &
//! Cross Network (Wang et al. 2021, "DCN V2", WWW, eq. 1: `x_{l+1} = x_0 * (W x_l + b) + x_l`) of three
//! cross layers in parallel with three deep ones.

use super::dense::{Dense, DropoutRng};
use super::head::HeadSpec;
use candle_core::{Device, Result, Tensor, Var};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const FFN_LAYERS: usize = 5;
const CROSS_LAYERS: usize = 3;
const DEEP_LAYERS: usize = 3;

/// Specification of annotator embeddings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotatorEmbeddingSpec {
    /// Size of the embeddings of texts and annotators (25 and 50 in the literature).
    pub size: usize,
    /// Number of dense layers between the inputs of an annotator and that embedding, at least 1 (1 to 3 in
    /// the literature).
    pub layers: usize,
    /// Whether the annotator's identity is an input, as a learned vector.
    pub identity: bool,
    /// Whether the annotator's attributes are an input, one-hot.
    pub attributes: bool,
}

impl Default for AnnotatorEmbeddingSpec {
    fn default() -> Self {
        Self { size: 25, layers: 1, identity: true, attributes: true }
    }
}

/// The network that combines a text and an annotator.
#[derive(Clone, Debug)]
enum Combiner {
    FeedForward(Vec<Dense>),
    Cross { cross: Vec<Dense>, deep: Vec<Dense> },
}

/// The layers that all annotators share.
#[derive(Clone, Debug)]
pub(crate) struct ShareRec {
    text: Dense,
    annotator: Vec<Dense>,
    combiner: Combiner,
    out: Dense,
}

/// Input and output sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) dim: usize,
    /// Number of inputs that describe an annotator: learned vector and one-hot attributes.
    pub(crate) annotator: usize,
}

impl ShareRec {
    pub(crate) fn new(
        cross: bool,
        spec: &AnnotatorEmbeddingSpec,
        sizes: Sizes,
        start: &[f32],
        rng: &mut ChaCha8Rng,
        device: &Device,
    ) -> Result<Self> {
        let e = spec.size;
        let text = Dense::new(sizes.dim, e, rng, device)?;
        let mut annotator = vec![Dense::new(sizes.annotator, e, rng, device)?];
        for _ in 1..spec.layers.max(1) {
            annotator.push(Dense::new(e, e, rng, device)?);
        }
        let both = 3 * e;
        let stack = |n: usize, rng: &mut ChaCha8Rng| {
            (0..n).map(|_| Dense::new(both, both, rng, device)).collect::<Result<Vec<_>>>()
        };
        let (combiner, last) = if cross {
            (Combiner::Cross { cross: stack(CROSS_LAYERS, rng)?, deep: stack(DEEP_LAYERS, rng)? }, 2 * both)
        } else {
            (Combiner::FeedForward(stack(FFN_LAYERS, rng)?), both)
        };
        let out = Dense::zero_init(last, start, device)?;
        Ok(Self { text, annotator, combiner, out })
    }

    /// Maps `x` `[n, dim]` and `annotators` `[n, annotator]` to `[n, width]`.
    pub(crate) fn apply(
        &self,
        head: &HeadSpec,
        x: &Tensor,
        annotators: &Tensor,
        dropout: Option<DropoutRng>,
    ) -> Result<Tensor> {
        let text = self.text.apply(&DropoutRng::dropout(dropout, x.clone(), head.embedding_dropout, 0)?)?;
        let mut annotator = annotators.clone();
        for layer in &self.annotator {
            annotator = layer.apply(&annotator)?;
        }
        let both = Tensor::cat(&[&text, &text, &annotator], 1)?;
        let mixed = match &self.combiner {
            Combiner::FeedForward(layers) => {
                let mut h = both;
                for layer in layers {
                    h = layer.apply(&h)?.tanh()?;
                }
                h
            }
            Combiner::Cross { cross, deep } => {
                let (mut c, mut d) = (both.clone(), both.clone());
                for layer in cross {
                    c = ((&both * layer.apply(&c)?)? + c)?;
                }
                for layer in deep {
                    d = layer.apply(&d)?.relu()?;
                }
                Tensor::cat(&[&c, &d], 1)?
            }
        };
        self.out.apply(&DropoutRng::dropout(dropout, mixed, head.head_dropout, 1)?)
    }

    pub(crate) fn named(&self, out: &mut Vec<(String, Var)>) {
        let mut stack = |name: &str, layers: &[Dense]| {
            for (i, layer) in layers.iter().enumerate() {
                layer.named(&format!("{name}.{i}"), out);
            }
        };
        stack("text", std::slice::from_ref(&self.text));
        stack("person", &self.annotator);
        match &self.combiner {
            Combiner::FeedForward(layers) => stack("ffn", layers),
            Combiner::Cross { cross, deep } => {
                stack("cross", cross);
                stack("deep", deep);
            }
        }
        self.out.named("out", out);
    }
}
