//! `share-rec-ffn` and `share-rec-dcn` over words: a word is an item with its states as embedding, and
//! whether an annotator marks it with a type is a yes/no answer, learned by a network of
//! [`networks`](crate::networks) in the same way as whole texts. Each type has a network of its own.

mod items;
#[cfg(test)]
mod tests;

use crate::networks::{Network, Rows};
use crate::trainer::{Seeds, StepsChosen, TrainConfig, fit_for_chosen_steps};
use candle_core::{Device, Tensor};
use dissensus_domain::TargetKind;
use dissensus_encoder::FreezePolicy;
use dissensus_models::spans::{
    Halves, Scaling, SpanAnswer, SpanFitOptions, SpanPredictions, SpanTexts, SpanTraining, best_threshold,
    divide, limited,
};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, ModelKind, Observation, Target, TrainingData};
use items::Items;
use std::collections::BTreeMap;

/// The threshold of a type without held-out answers.
const HALF: f64 = 0.5;

/// Number of pairs of a word and an annotator that are predicted at once: bounds memory.
const BATCH_PAIRS: usize = 4096;
/// Maximum number of passes over the words, over which learning rates fall.
const EPOCHS: u32 = 8;
/// Number of evaluations in a pass.
const EVALUATIONS: usize = 3;
/// Number of consecutive evaluations without improvement after which training stops.
const PATIENCE: u32 = 4;

/// Networks that predict the words that each annotator marks, one for each type.
pub struct WordNetworks {
    kind: ModelKind,
    scaling: Scaling,
    types: Vec<Network>,
    thresholds: Vec<f64>,
}

impl WordNetworks {
    /// Trains on the training answers. The number of steps and the threshold of each type are chosen on
    /// held-out texts, like the strengths and thresholds of
    /// [`SpanModel`](dissensus_models::spans::SpanModel); then a network is trained again on all texts.
    ///
    /// # Errors
    /// [`ModelError::Choice`] for a model other than `share-rec-ffn` and `share-rec-dcn`; no answers;
    /// arrays that do not match; cancellation.
    pub fn fit(
        of: &SpanTraining<'_>,
        kind: ModelKind,
        options: &SpanFitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        if !matches!(kind, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn) {
            let (field, value) = ("model", kind.name().to_owned());
            let allowed =
                "share-rec-ffn or share-rec-dcn: the other models of words are fitted to convergence";
            return Err(ModelError::Choice { field, value, allowed });
        }
        of.check()?;
        let SpanTraining { texts, answers, train, types, .. } = *of;
        let train = limited(texts, answers, train, options);
        let mut rows: Vec<u32> = train.iter().map(|answer| answers[*answer].text).collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.iter().all(|text| texts.words(*text).is_empty()) {
            return Err(ModelError::NoWords);
        }
        let scaling = Scaling::new(texts, &rows);
        let items = Items::of(texts, &rows, &scaling, options.seed)?;
        let halves = divide(answers, &train, of.copies, of.tuned_on, options.seed);
        let work = Work { of, kind, items, train, halves, seed: options.seed, progress };
        let mut model = Self { kind, scaling, types: Vec::new(), thresholds: Vec::new() };
        for of_type in 0..types {
            let StepsChosen { chosen, again } = work.networks(of_type)?;
            // Where nothing was held out, the network has trained on the texts that would choose.
            model.thresholds.push(match again {
                Some(_) => work.threshold(&chosen, of_type, &model.scaling)?,
                None => HALF,
            });
            model.types.push(again.unwrap_or(chosen));
        }
        Ok(model)
    }

    /// The thresholds: a word counts as marked with a type if its probability is at least this.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// Predictions for these answers. An annotator without training labels is treated as unknown.
    pub fn predictions(
        &self,
        texts: &SpanTexts,
        answers: &[&SpanAnswer],
    ) -> Result<SpanPredictions, ModelError> {
        let words = answers.iter().map(|answer| texts.words(answer.text).len());
        let mut all: Vec<Vec<f32>> = words.map(|words| vec![0.0; words * self.types.len()]).collect();
        for (of_type, network) in self.types.iter().enumerate() {
            for (own, p) in all.iter_mut().zip(marked(network, &self.scaling, texts, answers)?) {
                let places = own.iter_mut().skip(of_type).step_by(self.types.len());
                places.zip(p).for_each(|(place, p)| *place = p);
            }
        }
        Ok(SpanPredictions::new(self.kind.name(), all, self.thresholds.clone()))
    }
}

/// A fit in progress.
struct Work<'a> {
    of: &'a SpanTraining<'a>,
    kind: ModelKind,
    items: Items,
    train: Vec<usize>,
    halves: Halves,
    seed: u64,
    progress: &'a dyn Progress,
}

impl Work<'_> {
    fn networks(&self, of_type: usize) -> Result<StepsChosen, ModelError> {
        let observations = |of: &[usize]| self.items.observations(self.of.answers, of, of_type);
        let all = observations(&self.train);
        let (mut kept, mut held) = (observations(&self.halves.learn), observations(&self.halves.choose));
        let marked = |of: &[Observation]| of.iter().any(|o| o.level == 1);
        if !marked(&kept) || !marked(&held) {
            // Without a mark on both sides the number of steps cannot be chosen.
            (kept, held) = (all.clone(), Vec::new());
        }
        let data = TrainingData {
            embeddings: &self.items.states,
            observations: &all,
            annotators: self.of.annotators,
            target: Target { kind: TargetKind::Binary, levels: 2 },
            attributes: &[],
        };
        let config = config(self.kind, self.items.states.texts, self.seed);
        fit_for_chosen_steps(data, &kept, &held, &config, self.progress)
    }

    /// Chooses the threshold like [`SpanModel`](dissensus_models::spans::SpanModel).
    fn threshold(&self, network: &Network, of_type: usize, scaling: &Scaling) -> Result<f64, ModelError> {
        let texts = self.of.texts;
        let held: Vec<&SpanAnswer> =
            self.halves.choose.iter().map(|answer| &self.of.answers[*answer]).collect();
        let mut decisions = Vec::new();
        for (answer, p) in held.iter().zip(marked(network, scaling, texts, &held)?) {
            let words = texts.words(answer.text);
            for ((word, p), marked) in words.clone().zip(p).zip(answer.marked(words.len(), of_type)) {
                decisions.push((f64::from(p), marked, f64::from(texts.weight(word)).sqrt()));
            }
        }
        Ok(best_threshold(decisions))
    }
}

/// Configuration with fewer passes, and evaluations within one, as there are a hundred times as many words
/// as texts.
fn config(kind: ModelKind, items: usize, seed: u64) -> TrainConfig {
    let config = TrainConfig::new(kind, FreezePolicy::Frozen).for_texts(items);
    let steps = items.div_ceil(config.batch_size * EVALUATIONS).max(1);
    TrainConfig {
        epochs: EPOCHS,
        eval_steps: Some(steps as u32),
        patience: PATIENCE,
        seeds: Seeds::all(seed),
        ..config
    }
}

/// Computes the probability that each answer's annotator marks each of its words, by answer.
fn marked(
    network: &Network,
    scaling: &Scaling,
    texts: &SpanTexts,
    answers: &[&SpanAnswer],
) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut by_text: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    answers.iter().enumerate().for_each(|(at, answer)| by_text.entry(answer.text).or_default().push(at));
    let mut all = vec![Vec::new(); answers.len()];
    for (text, of) in by_text {
        let words = texts.words(text);
        if words.is_empty() {
            continue;
        }
        let dim = texts.dim();
        let mut states = vec![0.0; words.len() * dim];
        for (word, scaled) in words.clone().zip(states.chunks_exact_mut(dim)) {
            scaling.scaled(texts.state(word), scaled);
        }
        let x = Tensor::from_vec(states, (words.len(), dim), &Device::Cpu)?;
        for people in of.chunks((BATCH_PAIRS / words.len()).max(1)) {
            let pairs = people.iter().flat_map(|at| (0..words.len() as u32).map(move |word| (word, at)));
            let rows = Rows {
                texts: pairs.clone().map(|(word, _)| word).collect(),
                annotators: pairs.map(|(_, at)| Some(answers[*at].annotator)).collect(),
                ..Rows::default()
            };
            let p = network.probabilities(&x, &rows)?;
            for (at, p) in people.iter().zip(p.chunks_exact(2 * words.len())) {
                all[*at] = p.iter().skip(1).step_by(2).copied().collect();
            }
        }
    }
    Ok(all)
}
