//! One step: gradients of a window of texts, and the resulting weight updates.

use super::embedder::States;
use super::history::GradientNorm;
use super::stream::{Stream, Window};
use super::training::Training;
use super::words::WordTask;
use crate::encoder_error::encoder_error;
use crate::networks::{DropoutRng, Gathered, Network, Rows};
use candle_core::{Result as CandleResult, Tensor, Var};
use dissensus_encoder::{EncoderError, Gradients, LayerRates};
use dissensus_stats::data::ModelError;
use std::ops::Range;

/// The part of one question in a step.
struct Part {
    /// Index among the tasks of the stream.
    task: usize,
    /// Rows of each batch of the step.
    rows: Vec<Rows>,
    gathered: Option<Gathered>,
    divisor: f64,
    /// Prefix of the names of its weights.
    prefix: String,
}

impl Part {
    /// Name of its annotators' rows among the gradients.
    fn table(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Training<'_, '_> {
    pub(super) fn step(&mut self, window: &Window) -> Result<(), ModelError> {
        let seed =
            self.config.seeds.dropout.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(self.state.step));
        let (parts, weight) = self.parts(window, seed)?;
        let Some(mut gradients) = self.gradients(window, &parts, seed)? else { return Ok(()) };
        if self.config.max_grad_norm > 0.0 {
            gradients.clip(self.config.max_grad_norm)?;
        }
        if window.stream == 0 {
            // With several questions every step's loss has the same weight, see Stream's divisors.
            let weight = if self.streams[0].is_joint() { 1.0 } else { weight };
            self.state.loss += gradients.loss * weight;
            self.state.weight += weight;
        }
        let factor = self.config.schedule.factor(self.state.step, self.steps, self.config.warmup_ratio);
        // Measured before the table's rows are taken out.
        let wants_norms = self.is_evaluated_next();
        self.gradient_norms.clear();
        let mut squares = None;
        for part in &parts {
            if let (Some(table), Some(gathered)) =
                (&mut self.streams[window.stream].tasks[part.task].network.table, &part.gathered)
                && let Some(gradient) = gradients.take(&part.table(table.name))
            {
                if wants_norms {
                    let square = f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
                    squares = Some(squares.unwrap_or(0.0) + square);
                }
                table.step(&gathered.rows, &gradient, self.config.head_lr * factor, self.settings)?;
            }
        }
        let norm = squares.map(f64::sqrt);
        self.gradient_norms.extend(norm.map(|norm| GradientNorm { group: "annotators".into(), norm }));
        if wants_norms {
            let norms = gradients.norms()?;
            self.gradient_norms
                .extend(norms.into_iter().map(|n| GradientNorm { group: n.group, norm: n.norm }));
        }
        let rates = LayerRates {
            encoder: self.config.encoder_lr * factor,
            head: self.config.head_lr * factor,
            decay: self.config.layer_decay,
        };
        let layers = self.embedder.layers();
        self.optimizer.step(&gradients, |group| rates.of(group, layers))?;
        self.state.step += 1;
        self.state.step_in_epoch += 1;
        Ok(())
    }

    /// The part of each question with a label on these texts, and the total weight of the labels.
    fn parts(&self, window: &Window, seed: u64) -> Result<(Vec<Part>, f64), ModelError> {
        let stream = &self.streams[window.stream];
        let mut parts = Vec::new();
        let mut all = 0.0;
        for (nth, task) in stream.tasks.iter().enumerate() {
            let rows: Vec<Rows> = window
                .places
                .chunks(self.config.batch_size)
                .zip(0_u64..)
                .map(|(batch, of)| stream.rows(nth, batch, seed.wrapping_add(of << 32)))
                .collect();
            if rows.iter().all(|rows| rows.len() == 0) {
                continue;
            }
            let weight = stream.weight(nth, &window.places);
            all += weight;
            let gathered = task.network.gather(rows.iter())?;
            let divisor = stream.divisor(nth, weight);
            parts.push(Part { task: nth, rows, gathered, divisor, prefix: task.prefix.clone() });
        }
        Ok((parts, all))
    }

    /// Computes the gradients of a step, added up over its batches.
    fn gradients(&self, window: &Window, parts: &[Part], seed: u64) -> Result<Option<Gradients>, ModelError> {
        let stream = &self.streams[window.stream];
        let of_tasks = parts.iter().flat_map(|part| stream.tasks[part.task].variables());
        let dense: Vec<(String, Var)> =
            of_tasks.chain(stream.words.iter().flat_map(WordTask::variables)).collect();
        let tables: Vec<(String, &Var)> = parts
            .iter()
            .filter_map(|part| {
                let task = &stream.tasks[part.task];
                let table = task.network.table.as_ref().filter(|_| !task.is_held)?;
                Some((part.table(table.name), &part.gathered.as_ref()?.var))
            })
            .collect();
        let mut head: Vec<(&str, &Var)> = dense.iter().map(|(name, var)| (name.as_str(), var)).collect();
        head.extend(tables.iter().map(|(name, var)| (name.as_str(), *var)));
        let mut total: Option<Gradients> = None;
        for (nth, batch) in window.places.chunks(self.config.batch_size).enumerate() {
            let texts: Vec<u32> = batch.iter().map(|place| stream.texts[*place]).collect();
            let batch_seed = (seed as u32).wrapping_mul(31).wrapping_add(nth as u32);
            let networks: Vec<&Network> = parts.iter().map(|part| &stream.tasks[part.task].network).collect();
            let rows = stream.tasks[0].labels.rows(&texts);
            let with_states = !stream.words.is_empty();
            let found = self.embedder.gradients(&rows, batch_seed, &head, with_states, |x, states, share| {
                let of_words = match states {
                    Some(states) => {
                        let drop = self.config.network.head.embedding_dropout;
                        word_loss(stream, states, &texts, share.clone(), drop, batch_seed)?
                    }
                    None => None,
                };
                match (loss(x, share, parts.iter().zip(&networks), nth, batch_seed)?, of_words) {
                    (Some(of_texts), Some(of_words)) => of_texts + of_words,
                    (Some(one), None) | (None, Some(one)) => Ok(one),
                    // Answered texts none of whose words has a token: there is nothing to learn.
                    (None, None) => x.sum_all()? * 0.0,
                }
            });
            let found = found.map_err(|error| self.with_context(error))?;
            match &mut total {
                None => total = Some(found),
                Some(total) => total.add(found)?,
            }
        }
        Ok(total)
    }

    fn is_evaluated_next(&self) -> bool {
        let next = self.state.step + 1;
        let every = self.config.eval_steps;
        next == self.last
            || every.map_or(self.state.step_in_epoch + 1 == self.steps_in_epoch, |n| next.is_multiple_of(n))
    }

    /// Adds the step and the remaining checkpoint to an error about a non-finite loss or gradient.
    fn with_context(&self, error: EncoderError) -> ModelError {
        match error {
            EncoderError::LossNotFinite { .. } | EncoderError::GradientNotFinite { .. } => {
                let kept = match (self.checkpoints.is_some(), self.state.history.last()) {
                    (true, Some(record)) => format!("; the checkpoint of step {} is stored", record.step),
                    _ => String::new(),
                };
                let (step, epoch) = (self.state.step + 1, self.state.epoch + 1);
                ModelError::LossNotFinite { step, epoch, kept }
            }
            other => encoder_error(other),
        }
    }
}

/// Computes the sum of the losses of all questions on the embeddings `x` of a share of batch `nth`.
fn loss<'p>(
    x: &Tensor,
    share: Range<usize>,
    parts: impl Iterator<Item = (&'p Part, &'p &'p Network)>,
    nth: usize,
    seed: u32,
) -> CandleResult<Option<Tensor>> {
    let mut total: Option<Tensor> = None;
    for (part, network) in parts {
        let rows = part.rows[nth].of_texts(share.clone(), network.shape.target.levels);
        if rows.len() == 0 {
            continue;
        }
        // Every question has dropout masks of its own.
        let start = share.start as u64 | (part.task as u64) << 20;
        let dropout = DropoutRng { seed: u64::from(seed) << 32 | start };
        let loss = (network.loss(x, &rows, part.gathered.as_ref(), Some(dropout))? / part.divisor)?;
        total = Some(match total {
            None => loss,
            Some(total) => (total + loss)?,
        });
    }
    Ok(total)
}

/// Computes the sum of the losses of words on the states of a share's tokens.
fn word_loss(
    stream: &Stream<'_>,
    states: States<'_>,
    texts: &[u32],
    share: Range<usize>,
    drop: f64,
    seed: u32,
) -> CandleResult<Option<Tensor>> {
    let mut total: Option<Tensor> = None;
    for (nth, (task, divisor)) in stream.words.iter().zip(&stream.word_divisors).enumerate() {
        let start = share.start as u64 | (((stream.tasks.len() + nth) as u64) << 20);
        let dropout = DropoutRng { seed: u64::from(seed) << 32 | start };
        let Some(loss) = task.loss(states, &texts[share.clone()], drop, dropout)? else { continue };
        let loss = (loss / *divisor)?;
        total = Some(match total {
            None => loss,
            Some(total) => (total + loss)?,
        });
    }
    Ok(total)
}
