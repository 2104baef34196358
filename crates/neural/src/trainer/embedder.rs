//! Source of embeddings in training: a cache, or an encoder that is trained too.

use super::inputs::EncoderToTune;
use crate::encoder_error::encoder_error;
use candle_core::{Device, Result as CandleResult, Tensor, Var};
use dissensus_encoder::{BatchPlan, EncoderError, FreezePolicy, Gradients, Trainable, WordStates};
use dissensus_stats::data::Embeddings;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Number of parts of a batch of cached embeddings that are computed in parallel. Fixed, so that results do
/// not depend on the machine.
const SHARES: usize = 2;
/// Number of texts in a batch of cached embeddings below which a single part is faster.
const SMALL: usize = 32;

/// Number of texts whose words are encoded together.
const TEXTS_OF_WORDS: usize = 256;

/// The last hidden states of the tokens of some texts, text after text.
#[derive(Clone, Copy)]
pub(crate) struct States<'a> {
    pub(crate) all: &'a Tensor,
    /// Number of tokens of each text.
    pub(crate) lengths: &'a [usize],
}

pub(crate) enum Embedder<'a> {
    Cached(&'a Embeddings),
    Tuned(Box<Tuned<'a>>),
}

pub(crate) struct Tuned<'a> {
    pub(crate) encoder: Trainable,
    /// Token ids of the training texts.
    tokens: HashMap<u32, Vec<u32>>,
    /// Texts of every question, see [`Trainer::bodies`](super::inputs::Trainer::bodies).
    bodies: Vec<&'a str>,
}

impl<'a> Embedder<'a> {
    /// Opens the encoder and tokenizes the training texts, given as rows of `bodies`.
    pub(crate) fn open(
        source: &EncoderToTune<'_>,
        bodies: Vec<&'a str>,
        policy: &FreezePolicy,
        seed: u64,
        texts: &[u32],
    ) -> Result<Self, ModelError> {
        let encoder = Trainable::open(source.dir, source.options, policy, seed).map_err(encoder_error)?;
        let learned: Vec<&str> = texts.iter().map(|t| bodies[*t as usize]).collect();
        let tokens = texts.iter().copied().zip(encoder.tokenize(&learned).map_err(encoder_error)?).collect();
        Ok(Self::Tuned(Box::new(Tuned { encoder, tokens, bodies })))
    }

    pub(crate) fn device(&self) -> Device {
        match self {
            Self::Cached(_) => Device::Cpu,
            Self::Tuned(tuned) => tuned.encoder.device().clone(),
        }
    }

    pub(crate) fn device_name(&self) -> &'static str {
        match self {
            Self::Cached(_) => "cpu",
            Self::Tuned(tuned) => tuned.encoder.device_name(),
        }
    }

    pub(crate) fn layers(&self) -> usize {
        match self {
            Self::Cached(_) => 0,
            Self::Tuned(tuned) => tuned.encoder.layers(),
        }
    }

    /// The trainable variables of the encoder, by name.
    pub(crate) fn variables(&self) -> Vec<(String, Var)> {
        match self {
            Self::Cached(_) => Vec::new(),
            Self::Tuned(tuned) => {
                tuned.encoder.parameters().iter().map(|p| (p.name.clone(), p.var.clone())).collect()
            }
        }
    }

    /// Number of components of a token's hidden state; 0 without a tuned encoder.
    pub(crate) fn hidden(&self) -> usize {
        match self {
            Self::Cached(_) => 0,
            Self::Tuned(tuned) => tuned.encoder.hidden(),
        }
    }

    /// Tokens of each word in each of these texts. `words` has those of every text.
    pub(crate) fn word_tokens(
        &self,
        texts: &[u32],
        words: &[Vec<(u32, u32)>],
    ) -> Result<Vec<Vec<Range<usize>>>, ModelError> {
        let Self::Tuned(tuned) = self else { return Err(no_encoder()) };
        let bodies: Vec<&str> = texts.iter().map(|text| tuned.bodies[*text as usize]).collect();
        let words: Vec<Vec<(u32, u32)>> = texts.iter().map(|text| words[*text as usize].clone()).collect();
        tuned.encoder.word_tokens(&bodies, &words).map_err(encoder_error)
    }

    /// Computes the last hidden states of the words of these texts with the current weights:
    /// `[words][hidden]` of each, in no particular order.
    pub(crate) fn word_states(
        &self,
        texts: &[u32],
        words: &[Vec<(u32, u32)>],
        progress: &dyn Progress,
        mut on_text: impl FnMut(u32, &[f32]),
    ) -> Result<(), ModelError> {
        let Self::Tuned(tuned) = self else { return Err(no_encoder()) };
        let encoder = tuned.encoder.encoder().map_err(encoder_error)?;
        for texts in texts.chunks(TEXTS_OF_WORDS) {
            let bodies: Vec<&str> = texts.iter().map(|text| tuned.bodies[*text as usize]).collect();
            let words: Vec<Vec<(u32, u32)>> =
                texts.iter().map(|text| words[*text as usize].clone()).collect();
            let whole = encoder
                .word_states(&bodies, &words, WordStates::Last, |place, states| {
                    on_text(texts[place], &states);
                    progress.flow()
                })
                .map_err(encoder_error)?;
            if !whole {
                return Err(ModelError::Cancelled);
            }
        }
        Ok(())
    }

    /// Computes the gradients of a loss on the embeddings of `texts`; see [`Trainable::gradients`]. With
    /// `with_states` the loss also receives the hidden states of the tokens.
    pub(crate) fn gradients(
        &self,
        texts: &[u32],
        seed: u32,
        head: &[(&str, &Var)],
        with_states: bool,
        loss: impl Fn(&Tensor, Option<States<'_>>, Range<usize>) -> CandleResult<Tensor> + Sync,
    ) -> Result<Gradients, EncoderError> {
        match self {
            Self::Cached(x) => cached(x, texts, head, |x, share| loss(x, None, share))
                .map_err(|source| EncoderError::Compute { device: "cpu", source })
                .and_then(checked),
            Self::Tuned(tuned) => {
                let tokens: Vec<Vec<u32>> =
                    texts.iter().map(|t| tuned.tokens.get(t).cloned().unwrap_or_default()).collect();
                if !with_states {
                    return tuned
                        .encoder
                        .gradients(&tokens, Some(seed), head, |x, share| loss(x, None, share));
                }
                tuned.encoder.gradients_with_states(&tokens, Some(seed), head, |encoded, share| {
                    let lengths: Vec<usize> = tokens[share.clone()].iter().map(Vec::len).collect();
                    let states = States { all: &encoded.states, lengths: &lengths };
                    loss(&encoded.embeddings, Some(states), share)
                })
            }
        }
    }

    /// Embeddings of these texts with the current weights, in order.
    pub(crate) fn embed(&self, texts: &[u32], progress: &dyn Progress) -> Result<Vec<f32>, ModelError> {
        match self {
            Self::Cached(x) => Ok(texts.iter().flat_map(|t| x.row(*t as usize).iter().copied()).collect()),
            Self::Tuned(tuned) => {
                let bodies: Vec<&str> = texts.iter().map(|t| tuned.bodies[*t as usize]).collect();
                let mut rows = vec![Vec::new(); bodies.len()];
                let done = tuned
                    .encoder
                    .encoder()
                    .map_err(encoder_error)?
                    .encode_stream(bodies, &BatchPlan::default(), |batch| {
                        for (place, row) in batch.indices.into_iter().zip(batch.embeddings) {
                            rows[place] = row;
                        }
                        progress.flow()
                    })
                    .map_err(encoder_error)?;
                if done.cancelled { Err(ModelError::Cancelled) } else { Ok(rows.concat()) }
            }
        }
    }
}

fn no_encoder() -> ModelError {
    ModelError::Choice {
        field: "tuning",
        value: "frozen".to_owned(),
        allowed: "words are learned by an encoder that learns: tune it with last-K, lora or full",
    }
}

fn cached(
    x: &Embeddings,
    texts: &[u32],
    head: &[(&str, &Var)],
    loss: impl Fn(&Tensor, Range<usize>) -> CandleResult<Tensor> + Sync,
) -> CandleResult<Gradients> {
    let share = if texts.len() < SMALL { texts.len() } else { texts.len().div_ceil(SHARES) };
    let ranges: Vec<Range<usize>> =
        (0..texts.len()).step_by(share.max(1)).map(|start| start..(start + share).min(texts.len())).collect();
    let parts: Vec<Gradients> = ranges
        .into_par_iter()
        .map(|range| {
            let rows: Vec<f32> =
                texts[range.clone()].iter().flat_map(|t| x.row(*t as usize).iter().copied()).collect();
            let rows = Tensor::from_vec(rows, (range.len(), x.dim), &Device::Cpu)?;
            Gradients::of_head(&loss(&rows, range)?, head)
        })
        .collect::<CandleResult<_>>()?;
    let mut parts = parts.into_iter();
    let Some(mut total) = parts.next() else { candle_core::bail!("a batch without texts") };
    for part in parts {
        total.add(part)?;
    }
    Ok(total)
}

fn checked(gradients: Gradients) -> Result<Gradients, EncoderError> {
    if !gradients.loss.is_finite() {
        return Err(EncoderError::LossNotFinite { loss: gradients.loss });
    }
    match gradients.not_finite().map_err(|source| EncoderError::Compute { device: "cpu", source })? {
        None => Ok(gradients),
        Some(name) => Err(EncoderError::GradientNotFinite { name }),
    }
}
