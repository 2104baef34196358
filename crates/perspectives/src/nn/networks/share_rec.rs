//! `share-rec-ffn` and `share-rec-dcn`: a text and a person, each made a short vector, and a network over both.
//!
//! The recommender architectures of Heinisch et al. 2023 ("Architectural Sweet Spots for Modeling Human Label Variation",
//! EMNLP) and of Jury Learning (Gordon et al. 2022, CHI): the text's embedding is projected to `e` numbers, the person's
//! learned vector and one-hot attributes to as many, and `[text, text, person]` goes through a feed-forward network of five
//! tanh layers, or through a Deep & Cross Network (Wang et al. 2021, "DCN V2", WWW, eq. 1: `x_{l+1} = x_0 * (W x_l + b) + x_l`)
//! of three cross layers in parallel with three deep ones.

use super::dense::{Chance, Dense};
use super::head::HeadSpec;
use candle_core::{Device, Result, Tensor, Var};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const FFN_LAYERS: usize = 5;
const CROSS_LAYERS: usize = 3;
const DEEP_LAYERS: usize = 3;

/// How annotators are embedded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotatorEmbeddingSpec {
    /// Size of the embeddings of texts and annotators (25 and 50 in the literature).
    pub size: usize,
    /// Dense layers between the inputs of an annotator and that embedding, at least 1 (1 to 3 in the literature).
    pub layers: usize,
    /// Whether the annotator's identity is an input: a learned vector each.
    pub identity: bool,
    /// Whether the annotator's attributes are an input, one-hot.
    pub attributes: bool,
}

impl Default for AnnotatorEmbeddingSpec {
    fn default() -> Self {
        Self { size: 25, layers: 1, identity: true, attributes: true }
    }
}

/// What combines a text and a person.
#[derive(Clone, Debug)]
enum Combiner {
    FeedForward(Vec<Dense>),
    Cross { cross: Vec<Dense>, deep: Vec<Dense> },
}

/// The layers that everybody shares.
#[derive(Clone, Debug)]
pub(crate) struct ShareRec {
    text: Dense,
    person: Vec<Dense>,
    combiner: Combiner,
    out: Dense,
}

/// Sizes of what goes in and out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) dim: usize,
    /// Numbers that tell a person: learned vector and one-hot attributes.
    pub(crate) person: usize,
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
        let mut person = vec![Dense::new(sizes.person, e, rng, device)?];
        for _ in 1..spec.layers.max(1) {
            person.push(Dense::new(e, e, rng, device)?);
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
        let out = Dense::last(last, start, device)?;
        Ok(Self { text, person, combiner, out })
    }

    /// `x` `[n, dim]` and `people` `[n, person]` to `[n, width]`.
    pub(crate) fn apply(
        &self,
        head: &HeadSpec,
        x: &Tensor,
        people: &Tensor,
        chance: Option<Chance>,
    ) -> Result<Tensor> {
        let text = self.text.apply(&Chance::dropout(chance, x.clone(), head.embedding_dropout, 0)?)?;
        let mut person = people.clone();
        for layer in &self.person {
            person = layer.apply(&person)?;
        }
        let both = Tensor::cat(&[&text, &text, &person], 1)?;
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
        self.out.apply(&Chance::dropout(chance, mixed, head.head_dropout, 1)?)
    }

    pub(crate) fn named(&self, out: &mut Vec<(String, Var)>) {
        let mut stack = |name: &str, layers: &[Dense]| {
            for (i, layer) in layers.iter().enumerate() {
                layer.named(&format!("{name}.{i}"), out);
            }
        };
        stack("text", std::slice::from_ref(&self.text));
        stack("person", &self.person);
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
