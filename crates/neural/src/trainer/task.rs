//! A training task: the labels of one question, with a network of its own on the shared encoder.

use super::config::TrainConfig;
use super::embedder::Embedder;
use super::examples::Examples;
use super::inputs::Labels;
use crate::networks::{Network, OneHot, Scaler, Shape};
use candle_core::{Tensor, Var};
use dissensus_models::batch::{AlternatingFit, Prepared, TextScorer, fit_at_face_value};
use dissensus_models::link::Link;
use dissensus_models::mixed::CrossedEffects;
use dissensus_stats::data::progress::{Progress, Quiet, Silent};
use dissensus_stats::data::{Embeddings, FitOptions, ModelError, Observation, TrainingData};
use std::collections::HashMap;

/// Number of texts whose embeddings determine the scaling, with a tuned encoder.
const SCALED_BY: usize = 256;

/// Cache of the embeddings of the texts requested last: options of one question have the same texts, and
/// the encoder reads them once.
#[derive(Default)]
pub(super) struct Sampled {
    texts: Vec<u32>,
    rows: Vec<f32>,
}

impl Sampled {
    fn embed(&mut self, texts: Vec<u32>, embedder: &Embedder<'_>) -> Result<&[f32], ModelError> {
        if self.texts != texts {
            self.rows = embedder.embed(&texts, &Silent)?;
            self.texts = texts;
        }
        Ok(&self.rows)
    }
}

/// A question to learn.
pub(super) struct Task<'a> {
    pub(super) labels: Labels<'a>,
    pub(super) examples: Examples,
    pub(super) network: Network,
    /// Prefix of the names of its weights in a checkpoint.
    pub(super) prefix: String,
    /// Whether its network is frozen.
    pub(super) is_held: bool,
}

impl<'a> Task<'a> {
    /// Creates a task whose weights have names with `prefix`, with the network before the first step.
    pub(super) fn new(
        prefix: String,
        labels: Labels<'a>,
        examples: Examples,
        config: &TrainConfig,
        embedder: &Embedder<'_>,
        known: &mut Sampled,
    ) -> Result<Self, ModelError> {
        if let Some(held) = labels.held {
            let sample = &examples.texts[..examples.texts.len().min(1)];
            let found = known.embed(labels.rows(sample), embedder)?.len();
            if found != held.shape.dim {
                return Err(ModelError::EmbeddingLength { expected: held.shape.dim, found });
            }
            let network = held.on(&embedder.device())?;
            return Ok(Self { labels, examples, network, prefix, is_held: true });
        }
        let Labels { data, observations, .. } = labels;
        let sample = match embedder {
            Embedder::Cached(_) => &examples.texts[..],
            Embedder::Tuned(_) => &examples.texts[..examples.texts.len().min(SCALED_BY)],
        };
        let x = known.embed(labels.rows(sample), embedder)?;
        let dim = x.len() / sample.len().max(1);
        let mut seen = vec![false; data.annotators];
        observations.iter().for_each(|o| seen[o.annotator as usize] = true);
        let mut counts = vec![0.0; data.target.levels];
        observations.iter().for_each(|o| counts[usize::from(o.level)] += 1.0);
        let uses_attributes = config.network.annotator_embedding.attributes;
        let shape = Shape {
            dim,
            target: data.target,
            annotators: data.annotators,
            seen,
            one_hot: if uses_attributes {
                OneHot::new(data.attributes, data.annotators)
            } else {
                OneHot::default()
            },
            scaler: Scaler::new(dim, x.chunks_exact(dim.max(1))),
        };
        let start = Link::new(data.target).fixed_effects_from(&counts);
        let (spec, device) = (config.network.clone(), embedder.device());
        let network = Network::new(spec, shape, &start, config.seeds.weights, &device)?;
        Ok(Self { labels, examples, network, prefix, is_held: false })
    }

    /// All dense trainable variables of its network, by their names in a checkpoint; none for a frozen one.
    pub(super) fn variables(&self) -> Vec<(String, Var)> {
        if self.is_held {
            return Vec::new();
        }
        let named = |(name, var)| (format!("{}{name}", self.prefix), var);
        self.network.variables().into_iter().map(named).collect()
    }

    /// Its network's weights, by their names in a checkpoint.
    pub(super) fn tensors(&self) -> Result<HashMap<String, Tensor>, ModelError> {
        Ok(self.prefixed(self.network.tensors()?))
    }

    /// The optimizer state of its annotators' rows, by names in a checkpoint.
    pub(super) fn table_state(&self) -> Result<HashMap<String, Tensor>, ModelError> {
        let state = self.network.table.as_ref().map(|table| table.state_dict()).transpose()?;
        Ok(self.prefixed(state.unwrap_or_default()))
    }

    fn prefixed(&self, tensors: impl IntoIterator<Item = (String, Tensor)>) -> HashMap<String, Tensor> {
        tensors.into_iter().map(|(name, tensor)| (format!("{}{name}", self.prefix), tensor)).collect()
    }

    fn stripped(&self, tensors: &HashMap<String, Tensor>) -> HashMap<String, Tensor> {
        let own = |(name, tensor): (&String, &Tensor)| {
            Some((name.strip_prefix(&self.prefix)?.to_owned(), tensor.clone()))
        };
        tensors.iter().filter_map(own).collect()
    }

    /// Restores the tensors returned by [`Task::tensors`].
    pub(super) fn set(&mut self, tensors: &HashMap<String, Tensor>) -> Result<(), ModelError> {
        Ok(self.network.set(&self.stripped(tensors))?)
    }

    /// Restores the state returned by [`Task::table_state`].
    pub(super) fn set_table_state(&mut self, tensors: &HashMap<String, Tensor>) -> Result<(), ModelError> {
        let state = self.stripped(tensors);
        if let Some(table) = &mut self.network.table {
            table.load_state_dict(&state)?;
        }
        Ok(())
    }

    /// Refits the head and the random effects of `multilevel` to the labels of `data`: the next steps start
    /// from there. The network has only a linear head, so only that is fitted.
    pub(super) fn refit(
        &mut self,
        data: &TrainingData<'_>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<(TextScorer, CrossedEffects), ModelError> {
        let options = head_alone(seed);
        let prepared = Prepared::new(data, &options)?;
        let (head, crossed) = fit_at_face_value(&prepared, &options, &Quiet(progress))?;
        self.network.refit(&AlternatingFit::new(&head, &crossed))?;
        Ok((head, crossed))
    }

    /// Like [`Task::refit`], with the labels of the texts at these indices on their current embeddings.
    pub(super) fn refit_on(
        &mut self,
        mut places: Vec<usize>,
        embedder: &Embedder<'_>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<(), ModelError> {
        places.sort_unstable();
        let texts: Vec<u32> = places.iter().map(|place| self.examples.texts[*place]).collect();
        let rows = embedder.embed(&self.labels.rows(&texts), progress)?;
        let x = Embeddings::new(self.network.shape.dim, rows)?;
        let placed =
            |o: &Observation| Some(Observation { text: texts.binary_search(&o.text).ok()? as u32, ..*o });
        let observations: Vec<Observation> = self.labels.observations.iter().filter_map(placed).collect();
        let data = TrainingData { embeddings: &x, observations: &observations, ..self.labels.data };
        self.refit(&data, seed, progress).map(drop)
    }
}

/// Options with which `multilevel` has only what its network can represent.
pub(super) fn head_alone(seed: u64) -> FitOptions {
    FitOptions { seed, slopes: false, text_scores: false, ..FitOptions::default() }
}
