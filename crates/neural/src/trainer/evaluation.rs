//! Evaluations between steps: validation scores of every own question, and whether they are the best so far.

use super::history::{EpochRecord, ValidationScores};
use super::task::head_alone;
use super::training::Training;
use crate::networks::Rows;
use candle_core::Tensor;
use dissensus_models::batch::{Multilevel, Prepared, validation_scores};
use dissensus_stats::data::progress::{Progress, Quiet};
use dissensus_stats::data::{Embeddings, FitOptions, ModelError, ModelKind, Observation, TrainingData};
use dissensus_stats::metrics::{Scored, accuracy, log_loss, macro_f1};
use std::sync::Arc;

/// Current embeddings of some texts.
struct Embedded {
    /// Text indices, ascending.
    texts: Vec<u32>,
    x: Vec<f32>,
}

impl Embedded {
    /// Returns only the rows of these texts (ascending).
    fn of(&self, texts: &[u32]) -> Vec<f32> {
        let dim = self.x.len() / self.texts.len().max(1);
        let places = texts.iter().filter_map(|text| self.texts.binary_search(text).ok());
        places.flat_map(|place| self.x[place * dim..(place + 1) * dim].iter().copied()).collect()
    }
}

impl Training<'_, '_> {
    pub(super) fn evaluate(&mut self, progress: &dyn Progress) -> Result<&EpochRecord, ModelError> {
        let questions = self.refit_and_score(true, progress)?;
        let validation = self.mean(&questions);
        let by = self.config.metric_for_best_model;
        let before = self.state.history.iter().filter_map(|r| r.validation.as_ref()).map(|v| v.score(by));
        let best_before = before.fold(f64::NEG_INFINITY, f64::max);
        // Without validation labels there is no comparison: the last weights are the best.
        let best = validation.is_none_or(|v| v.score(by) > best_before);
        let factor = self.config.schedule.factor(
            self.state.step.saturating_sub(1),
            self.steps,
            self.config.warmup_ratio,
        );
        let record = EpochRecord {
            epoch: f64::from(self.state.step) / f64::from(self.steps_in_epoch),
            step: self.state.step,
            train_loss: (self.state.weight > 0.0).then(|| self.state.loss / self.state.weight),
            validation,
            questions: if self.streams[0].is_joint() { questions } else { Vec::new() },
            learning_rate: self.config.head_lr * factor,
            seconds: self.seconds(),
            best,
            gradients: std::mem::take(&mut self.gradient_norms),
        };
        (self.state.loss, self.state.weight) = (0.0, 0.0);
        if best {
            self.best = Some(self.weights()?);
        }
        self.state.history.push(record);
        match self.state.history.last() {
            Some(record) => Ok(record),
            None => Err(ModelError::Cancelled),
        }
    }

    /// The mean of the questions' scores, weighted like their losses; `None` where no question has
    /// validation labels.
    fn mean(&self, questions: &[Option<ValidationScores>]) -> Option<ValidationScores> {
        if let [only] = questions {
            return *only;
        }
        let scored: Vec<(f64, ValidationScores)> = self
            .own()
            .iter()
            .zip(questions)
            .filter_map(|(task, scores)| Some((task.labels.weight, (*scores)?)))
            .collect();
        let of_words = self.streams[0].words.iter().zip(&questions[self.own().len()..]);
        let scored: Vec<(f64, ValidationScores)> = scored
            .into_iter()
            .chain(of_words.filter_map(|(task, scores)| Some((task.of.weight, task.comparable((*scores)?)))))
            .collect();
        let all: f64 = scored.iter().map(|(weight, _)| weight).sum();
        let mean = |of: fn(&ValidationScores) -> f64| {
            scored.iter().map(|(weight, scores)| weight * of(scores)).sum::<f64>() / all
        };
        (!scored.is_empty()).then(|| ValidationScores {
            log_loss: mean(|scores| scores.log_loss),
            accuracy: mean(|scores| scores.accuracy),
            macro_f1: mean(|scores| scores.macro_f1),
        })
    }

    /// Computes the scores of every own question on its validation labels, then those of words, where
    /// requested. For `multilevel` the model is refitted on the current embeddings: the next steps start
    /// from its head and random effects.
    pub(super) fn refit_and_score(
        &mut self,
        scored: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Option<ValidationScores>>, ModelError> {
        let mut all = self.refit_and_score_texts(scored, progress)?;
        for task in &mut self.streams[0].words {
            all.push(task.refit_and_score(scored, &self.embedder, progress)?);
        }
        Ok(all)
    }

    fn refit_and_score_texts(
        &mut self,
        scored: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Option<ValidationScores>>, ModelError> {
        let refits = self.config.network.model == ModelKind::Multilevel;
        let own = &self.trainer.own;
        if !refits && (!scored || own.iter().all(|own| own.validation.is_empty())) {
            return Ok(vec![None; own.len()]);
        }
        let validation = |at: usize| if scored { &own[at].validation[..] } else { &[] };
        let mut texts: Vec<u32> = Vec::new();
        for at in 0..own.len() {
            texts.extend(validation(at).iter().map(|o| o.text));
            if refits {
                texts.extend(&self.own()[at].examples.texts);
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let embedded = Embedded { x: self.embedder.embed(&texts, progress)?, texts };
        (0..own.len())
            .map(|at| match refits {
                true => self.refit_own(at, validation(at), &embedded, progress),
                false => self.scores_of_network(at, &embedded),
            })
            .collect()
    }

    /// Scores the model that would be used for prediction: on an encoder that has learned from labels, in
    /// this run or an earlier one, a model that is calibrated on other texts.
    fn refit_own(
        &mut self,
        at: usize,
        validation: &[Observation],
        embedded: &Embedded,
        progress: &dyn Progress,
    ) -> Result<Option<ValidationScores>, ModelError> {
        let own = &self.trainer.own[at];
        let data = &own.data;
        let mut texts = self.own()[at].examples.texts.clone();
        texts.extend(validation.iter().map(|o| o.text));
        texts.sort_unstable();
        texts.dedup();
        let x = Embeddings::new(self.own()[at].network.shape.dim, embedded.of(&texts))?;
        let place = |o: &Observation| Observation {
            text: texts.binary_search(&o.text).unwrap_or_default() as u32,
            ..*o
        };
        let train: Vec<Observation> = own.observations.iter().map(place).collect();
        let here = TrainingData { embeddings: &x, observations: &train, ..*data };
        let seed = self.config.seeds.weights;
        let (head, crossed) = self.streams[0].tasks[at].refit(&here, seed, progress)?;
        let refitted = self.own()[at].network.variables();
        self.optimizer.forget(refitted.iter().map(|(_, var)| var));
        if validation.is_empty() {
            return Ok(None);
        }
        let observations: Vec<Observation> = validation.iter().map(place).collect();
        let learned_before = data.embeddings.tuned_on.as_deref();
        if self.trainer.encoder.is_none() && learned_before.is_none() {
            let model = Multilevel::from_parts(head, crossed);
            return Ok(Some(scores(&dissensus_stats::metrics::score(&model, &observations))));
        }
        let before = |text: &u32| learned_before.is_some_and(|learned| learned[*text as usize]);
        let mut tuned_on: Vec<bool> = texts.iter().map(before).collect();
        if self.trainer.encoder.is_some() {
            train.iter().for_each(|o| tuned_on[o.text as usize] = true);
        }
        let mut x = x.with_tuned_on(tuned_on.into())?;
        if let Some(ngrams) = &data.embeddings.ngrams {
            x = x.with_ngrams(Arc::new(ngrams.select(&texts)))?;
        }
        let here = TrainingData { embeddings: &x, observations: &train, ..*data };
        let options = FitOptions { text_scores: true, ..head_alone(seed) };
        let quiet = Quiet(progress);
        if self.trainer.encoder.is_none() {
            // The predicting model is fitted only to training labels: nothing has to be held out of them.
            let model = Multilevel::fit(&Prepared::new(&here, &options)?, &options, &quiet)?;
            return Ok(Some(scores(&dissensus_stats::metrics::score(&model, &observations))));
        }
        Ok(Some(scores(&validation_scores(&here, &observations, &options, &quiet)?)))
    }

    fn scores_of_network(
        &self,
        at: usize,
        embedded: &Embedded,
    ) -> Result<Option<ValidationScores>, ModelError> {
        let (validation, network) = (&self.trainer.own[at].validation, &self.own()[at].network);
        if validation.is_empty() {
            return Ok(None);
        }
        let mut texts: Vec<u32> = validation.iter().map(|o| o.text).collect();
        texts.dedup();
        let x = Tensor::from_vec(embedded.of(&texts), (texts.len(), network.shape.dim), &network.device)?;
        let levels = network.shape.target.levels;
        let mut probabilities = Vec::with_capacity(validation.len() * levels);
        for chunk in validation.chunks(4096) {
            let place = |o: &Observation| texts.binary_search(&o.text).unwrap_or_default() as u32;
            let rows = Rows {
                texts: chunk.iter().map(place).collect(),
                annotators: chunk.iter().map(|o| Some(o.annotator)).collect(),
                ..Rows::default()
            };
            probabilities.extend(network.probabilities(&x, &rows)?);
        }
        Ok(Some(scores(&Scored { observations: validation.clone(), probabilities, levels, tuned: None })))
    }
}

fn scores(scored: &Scored) -> ValidationScores {
    let (truth, predicted) = (scored.truth(), scored.predicted());
    ValidationScores {
        log_loss: log_loss(scored),
        accuracy: accuracy(&truth, &predicted),
        macro_f1: macro_f1(&truth, &predicted),
    }
}
