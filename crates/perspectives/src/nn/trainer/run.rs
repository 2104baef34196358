//! The loop: epochs of steps, evaluations between them, the best weights kept.

use super::checkpoint::{CALIBRATED, Checkpoints, State};
use super::config::TrainConfig;
use super::data_hash::{data_hash, data_hash_of_format_1};
use super::embedder::Embedder;
use super::examples::Examples;
use super::history::{EpochRecord, GradientNorm, ValidationScores};
use super::inputs::{Labels, Trainer};
use super::task::{Task, Window, head_alone};
use super::trained::{StopReason, Trained};
use crate::data::FitOptions;
use crate::data::ModelKind;
use crate::data::PerspectivesError;
use crate::data::progress::{Progress, Quiet};
use crate::data::{Embeddings, Observation, TrainingData};
use crate::math::random::generator;
use crate::metrics::{Scored, accuracy, log_loss, macro_f1};
use crate::mixed::link::Link;
use crate::models::{Multilevel, Prepared, validation_scores};
use crate::nn::networks::{DropoutRng, Network, Rows};
use candle_core::{Tensor, Var};
use dissensus_encoder::{AdamW, AdamWSettings, EncoderError, Gradients, LayerRates};
use rand::seq::SliceRandom;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// What tensors of the best evaluation are called in a checkpoint.
const BEST: &str = "best.";

impl Trainer<'_> {
    /// Trains to the end, or until the validation labels say that it is enough.
    ///
    /// # Errors
    /// [`PerspectivesError::Cancelled`] with a checkpoint to resume from; [`PerspectivesError::LossNotFinite`];
    /// [`PerspectivesError::CheckpointMismatch`]; what the disk, the encoder or the device says.
    pub fn run(
        self,
        progress: &dyn Progress,
        mut evaluated: impl FnMut(&EpochRecord),
    ) -> Result<Trained, PerspectivesError> {
        let mut training = Training::new(&self)?;
        training.resume_from_checkpoint()?;
        let ended = training.epochs(progress, &mut evaluated)?;
        training.finish(ended)
    }
}

/// A training at work.
struct Training<'a, 'b> {
    trainer: &'b Trainer<'a>,
    config: &'b TrainConfig,
    embedder: Embedder<'a>,
    /// The project's own question, which is scored, then the auxiliary ones.
    tasks: Vec<Task<'b>>,
    variables: Vec<(String, Var)>,
    optimizer: AdamW,
    settings: AdamWSettings,
    checkpoints: Option<Checkpoints>,
    state: State,
    /// Weights at the best evaluation.
    best: Option<HashMap<String, Tensor>>,
    steps_in_epoch: u32,
    steps: u32,
    /// Steps that are taken of them.
    last: u32,
    /// Gradient norms of the last step.
    gradient_norms: Vec<GradientNorm>,
    began: Instant,
    seconds_before: f64,
}

impl<'a, 'b> Training<'a, 'b> {
    fn new(trainer: &'b Trainer<'a>) -> Result<Self, PerspectivesError> {
        let config = &trainer.config;
        let learned = |labels: Labels<'b>| {
            let Labels { data, observations, .. } = labels;
            (labels, Examples::new(observations, data.target.levels, data.annotators, config))
        };
        let learned: Vec<(Labels<'_>, Examples)> = trainer.labels().into_iter().map(learned).collect();
        let embedder = match &trainer.encoder {
            None => Embedder::Cached(trainer.data.embeddings),
            Some(encoder) => {
                let texts: Vec<u32> =
                    learned.iter().flat_map(|(labels, of)| labels.rows(&of.texts)).collect();
                let seed = config.seeds.weights;
                Embedder::open(encoder, trainer.bodies(), &config.policy, seed, &texts)?
            }
        };
        let tasks: Vec<Task<'_>> = learned
            .into_iter()
            .enumerate()
            .map(|(nth, (labels, examples))| Task::new(nth, labels, examples, config, &embedder))
            .collect::<Result<_, _>>()?;
        let mut variables = embedder.variables();
        tasks.iter().for_each(|task| variables.extend(task.variables()));
        let settings = AdamWSettings { weight_decay: config.weight_decay, ..AdamWSettings::default() };
        let steps = trainer.planned_steps();
        let (data_hash, choices) = (data_hash(trainer)?, config.config_hash()?);
        Ok(Self {
            trainer,
            config,
            tasks,
            variables,
            optimizer: AdamW::new(settings),
            settings,
            checkpoints: trainer
                .folder
                .as_ref()
                .map(|folder| Checkpoints::new(folder, config.save_total_limit))
                .transpose()?,
            state: State { data: data_hash, choices, ..State::default() },
            best: None,
            steps_in_epoch: trainer.steps_in_epoch(),
            steps,
            last: trainer.ends_at.map_or(steps, |end| end.min(steps)),
            gradient_norms: Vec::new(),
            began: Instant::now(),
            seconds_before: 0.0,
            embedder,
        })
    }

    fn epochs(
        &mut self,
        progress: &dyn Progress,
        evaluated: &mut dyn FnMut(&EpochRecord),
    ) -> Result<StopReason, PerspectivesError> {
        if self.state.step == 0 {
            self.refit_and_score(false, progress)?;
        }
        if self.is_evaluation_due()
            && let Some(ended) = self.evaluate_and_keep(progress, evaluated)?
        {
            return Ok(ended);
        }
        while self.state.step < self.last {
            let order = self.order();
            if self.state.step_in_epoch == 0
                && let Err(error) = self.refit_auxiliary(&order, progress)
            {
                if error == PerspectivesError::Cancelled {
                    self.write_checkpoint()?;
                }
                return Err(error);
            }
            for window in order.iter().skip(self.state.step_in_epoch as usize) {
                if progress.cancelled() {
                    self.write_checkpoint()?;
                    return Err(PerspectivesError::Cancelled);
                }
                self.step(window)?;
                progress.report(u64::from(self.state.step), Some(u64::from(self.last)), "training");
                if self.state.step_in_epoch == self.steps_in_epoch || self.state.step == self.last {
                    self.state.epoch += 1;
                    self.state.step_in_epoch = 0;
                }
                if self.is_evaluation_due()
                    && let Some(ended) = self.evaluate_and_keep(progress, evaluated)?
                {
                    return Ok(ended);
                }
                if self.state.step == self.last {
                    break;
                }
            }
        }
        Ok(StopReason::AllSteps)
    }

    /// Whether the last step ended an epoch, or what is evaluated instead of epochs, and is not evaluated yet.
    fn is_evaluation_due(&self) -> bool {
        let step = self.state.step;
        let at_end = match self.config.eval_steps {
            None => self.state.step_in_epoch == 0,
            Some(n) => step.is_multiple_of(n),
        };
        step > 0
            && (at_end || step == self.last)
            && self.state.history.last().is_none_or(|record| record.step != step)
    }

    /// Evaluates and writes a checkpoint; says so where it is to stop. When stopped meanwhile it is evaluated when it is resumed.
    fn evaluate_and_keep(
        &mut self,
        progress: &dyn Progress,
        evaluated: &mut dyn FnMut(&EpochRecord),
    ) -> Result<Option<StopReason>, PerspectivesError> {
        match self.evaluate(progress) {
            Ok(record) => evaluated(record),
            Err(PerspectivesError::Cancelled) => {
                self.write_checkpoint()?;
                return Err(PerspectivesError::Cancelled);
            }
            Err(error) => return Err(error),
        }
        self.write_checkpoint()?;
        Ok(self.is_out_of_patience().then_some(StopReason::EarlyStopping))
    }

    /// The steps of this epoch, each on texts of one question.
    fn order(&self) -> Vec<Window> {
        let (seed, epoch) = (self.config.seeds.data, u64::from(self.state.epoch));
        let together = self.config.batch_size * self.config.gradient_accumulation_steps;
        let mut windows = Vec::new();
        for (task, stream) in self.tasks.iter().zip(0_u64..) {
            let mut order: Vec<usize> = (0..task.examples.texts.len()).collect();
            order.shuffle(&mut generator(seed, (stream << 32) + 64 + epoch));
            order.truncate(task.labels.texts_in_epoch);
            windows.extend(
                order.chunks(together).map(|places| Window { task: stream as usize, places: places.into() }),
            );
        }
        if self.tasks.len() > 1 {
            windows.shuffle(&mut generator(seed, (1 << 63) + epoch));
        }
        windows
    }

    /// Fits the heads of auxiliary questions anew on the texts of this epoch, where that is how the model's head is fitted: their next steps
    /// start from there.
    fn refit_auxiliary(
        &mut self,
        order: &[Window],
        progress: &dyn Progress,
    ) -> Result<(), PerspectivesError> {
        if self.config.network.model != ModelKind::Multilevel {
            return Ok(());
        }
        for at in 1..self.tasks.len() {
            let (done, all) = (self.state.step.into(), self.last.into());
            progress.report(done, Some(all), "encoding texts of auxiliary questions");
            let of_task = order.iter().filter(|window| window.task == at);
            let places = of_task.flat_map(|window| window.places.iter().copied()).collect();
            let task = &mut self.tasks[at];
            task.refit_on(places, &self.embedder, self.config.seeds.weights, progress)?;
            self.optimizer.forget(task.network.variables().iter().map(|(_, var)| var));
        }
        Ok(())
    }

    fn own(&self) -> &Task<'b> {
        &self.tasks[0]
    }

    fn step(&mut self, window: &Window) -> Result<(), PerspectivesError> {
        let seed =
            self.config.seeds.dropout.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(self.state.step));
        let Task { labels, examples, network, .. } = &self.tasks[window.task];
        let batches: Vec<(&[usize], Rows)> = window
            .places
            .chunks(self.config.batch_size)
            .enumerate()
            .map(|(nth, batch)| (batch, examples.rows(batch, seed.wrapping_add((nth as u64) << 32))))
            .collect();
        let weight = examples.weight(&window.places);
        let gathered = network.gather(batches.iter().map(|(_, rows)| rows))?;
        let dense = network.variables();
        let mut head: Vec<(&str, &Var)> = dense.iter().map(|(name, var)| (name.as_str(), var)).collect();
        if let (Some(table), Some(gathered)) = (&network.table, &gathered) {
            head.push((table.name, &gathered.var));
        }
        let mut total: Option<Gradients> = None;
        for (nth, (batch, rows)) in batches.iter().enumerate() {
            let texts: Vec<u32> = batch.iter().map(|place| examples.texts[*place]).collect();
            let batch_seed = (seed as u32).wrapping_mul(31).wrapping_add(nth as u32);
            let found = self.embedder.gradients(&labels.rows(&texts), batch_seed, &head, |x, share| {
                let dropout = DropoutRng { seed: u64::from(batch_seed) << 32 | share.start as u64 };
                let rows = rows.of_texts(share, network.shape.target.levels);
                network.loss(x, &rows, gathered.as_ref(), Some(dropout))? / weight.max(1e-9)
            });
            let found = found.map_err(|error| self.with_context(error))?;
            match &mut total {
                None => total = Some(found),
                Some(total) => total.add(found)?,
            }
        }
        let Some(mut gradients) = total else { return Ok(()) };
        if self.config.max_grad_norm > 0.0 {
            gradients.clip(self.config.max_grad_norm)?;
        }
        if window.task == 0 {
            self.state.loss += gradients.loss * weight;
            self.state.weight += weight;
        }
        let factor = self.config.schedule.factor(self.state.step, self.steps, self.config.warmup_ratio);
        // Measured before the table's rows are taken out of it.
        let wants_norms = self.is_evaluated_next();
        self.gradient_norms.clear();
        if let (Some(table), Some(gathered)) = (&mut self.tasks[window.task].network.table, &gathered)
            && let Some(gradient) = gradients.take(table.name)
        {
            if wants_norms {
                let norm = f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?).sqrt();
                self.gradient_norms.push(GradientNorm { group: "annotators".into(), norm });
            }
            table.step(&gathered.rows, &gradient, self.config.head_lr * factor, self.settings)?;
        }
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

    fn is_evaluated_next(&self) -> bool {
        let next = self.state.step + 1;
        let every = self.config.eval_steps;
        next == self.last
            || every.map_or(self.state.step_in_epoch + 1 == self.steps_in_epoch, |n| next.is_multiple_of(n))
    }

    /// Adds to a loss or gradient that is not finite the step, and which checkpoint is left.
    fn with_context(&self, error: EncoderError) -> PerspectivesError {
        match error {
            EncoderError::LossNotFinite { .. } | EncoderError::GradientNotFinite { .. } => {
                let kept = match (self.checkpoints.is_some(), self.state.history.last()) {
                    (true, Some(record)) => format!("; the checkpoint of step {} is kept", record.step),
                    _ => String::new(),
                };
                let (step, epoch) = (self.state.step + 1, self.state.epoch + 1);
                PerspectivesError::LossNotFinite { step, epoch, kept }
            }
            other => other.into(),
        }
    }

    fn evaluate(&mut self, progress: &dyn Progress) -> Result<&EpochRecord, PerspectivesError> {
        let validation = self.refit_and_score(true, progress)?;
        let by = self.config.metric_for_best_model;
        let before = self.state.history.iter().filter_map(|r| r.validation.as_ref()).map(|v| v.score(by));
        let best_before = before.fold(f64::NEG_INFINITY, f64::max);
        // Without validation labels nothing can be compared: the last weights are the best.
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
            None => Err(PerspectivesError::Cancelled),
        }
    }

    /// Scores the validation labels, where asked to. Of `multilevel` the model is fitted anew on the embeddings as they are now: its
    /// head and random effects are where the next steps start from. What is scored is what would predict: on an encoder that has
    /// learned from labels, here or in a run before, a model that is calibrated on other texts.
    fn refit_and_score(
        &mut self,
        scored: bool,
        progress: &dyn Progress,
    ) -> Result<Option<ValidationScores>, PerspectivesError> {
        if self.config.network.model != ModelKind::Multilevel {
            return if scored { self.scores_of_network(progress) } else { Ok(None) };
        }
        let data = &self.trainer.data;
        let validation: &[Observation] = if scored { &self.trainer.validation } else { &[] };
        let mut texts = self.own().examples.texts.clone();
        texts.extend(validation.iter().map(|o| o.text));
        texts.sort_unstable();
        texts.dedup();
        let x = Embeddings::new(self.own().network.shape.dim, self.embedder.embed(&texts, progress)?)?;
        let place = |o: &Observation| Observation {
            text: texts.binary_search(&o.text).unwrap_or_default() as u32,
            ..*o
        };
        let train: Vec<Observation> = self.trainer.observations.iter().map(place).collect();
        let here = TrainingData { embeddings: &x, observations: &train, ..*data };
        let seed = self.config.seeds.weights;
        let (head, crossed) = self.tasks[0].refit(&here, seed, progress)?;
        self.optimizer.forget(self.own().network.variables().iter().map(|(_, var)| var));
        if validation.is_empty() {
            return Ok(None);
        }
        let observations: Vec<Observation> = validation.iter().map(place).collect();
        let learned_before = data.embeddings.tuned_on.as_deref();
        if self.trainer.encoder.is_none() && learned_before.is_none() {
            let model = Multilevel::from_parts(head, crossed);
            return Ok(Some(scores(&crate::metrics::score(&model, &observations))));
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
            // What predicts is fitted to training labels alone: nothing has to be left out of them.
            let model = Multilevel::fit(&Prepared::new(&here, &options)?, &options, &quiet)?;
            return Ok(Some(scores(&crate::metrics::score(&model, &observations))));
        }
        Ok(Some(scores(&validation_scores(&here, &observations, &options, &quiet)?)))
    }

    fn scores_of_network(
        &self,
        progress: &dyn Progress,
    ) -> Result<Option<ValidationScores>, PerspectivesError> {
        let (validation, network) = (&self.trainer.validation, &self.own().network);
        if validation.is_empty() {
            return Ok(None);
        }
        let mut texts: Vec<u32> = validation.iter().map(|o| o.text).collect();
        texts.dedup();
        let x = self.embedder.embed(&texts, progress)?;
        let x = Tensor::from_vec(x, (texts.len(), network.shape.dim), &network.device)?;
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

    fn is_out_of_patience(&self) -> bool {
        let since = self.state.history.iter().rev().take_while(|record| !record.best).count();
        self.config.patience > 0 && since >= self.config.patience as usize
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// The weights of what will predict as they are now, copied.
    fn weights(&self) -> Result<HashMap<String, Tensor>, PerspectivesError> {
        let mut tensors = self.own().tensors()?;
        for (name, var) in self.embedder.variables() {
            let tensor = var.as_detached_tensor().to_device(&candle_core::Device::Cpu)?.copy()?;
            tensors.insert(name, tensor);
        }
        Ok(tensors)
    }

    fn load_weights(&mut self, weights: &HashMap<String, Tensor>) -> Result<(), PerspectivesError> {
        self.tasks[0].set(weights)?;
        for (name, var) in self.embedder.variables() {
            if let Some(tensor) = weights.get(&name) {
                var.set(&tensor.to_device(var.device())?)?;
            }
        }
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), PerspectivesError> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let mut tensors = self.weights()?;
        let memory = self.optimizer.state_dict(self.variables.iter().map(|(n, v)| (n.as_str(), v)))?;
        tensors.extend(memory);
        for (nth, task) in self.tasks.iter().enumerate() {
            if nth > 0 {
                tensors.extend(task.tensors()?);
            }
            tensors.extend(task.table_state()?);
        }
        for (name, tensor) in self.best.iter().flatten() {
            tensors.insert(format!("{BEST}{name}"), tensor.clone());
        }
        self.state.seconds = self.seconds();
        self.state.optimizer_steps = self.optimizer.steps();
        checkpoints.write(&self.state, &tensors)
    }

    fn resume_from_checkpoint(&mut self) -> Result<(), PerspectivesError> {
        let Some((state, tensors, path)) = self.checkpoints.as_ref().and_then(Checkpoints::newest) else {
            return Ok(());
        };
        let data =
            if state.format == 1 { data_hash_of_format_1(self.trainer) } else { self.state.data.clone() };
        // Of `multilevel` where an encoder has learned labels.
        let calibrated = self.config.network.model == ModelKind::Multilevel
            && (self.trainer.encoder.is_some() || self.trainer.data.embeddings.tuned_on.is_some());
        if state.format < CALIBRATED && calibrated {
            let what = "an earlier version of Dissensus, whose scores of epochs are not comparable with those of this one";
            return Err(PerspectivesError::CheckpointMismatch { path, what });
        }
        for (ours, theirs, what) in
            [(&data, &state.data, "other labels"), (&self.state.choices, &state.choices, "other choices")]
        {
            if ours != theirs {
                return Err(PerspectivesError::CheckpointMismatch { path, what });
            }
        }
        self.load_weights(&tensors)?;
        let names = self.variables.iter().map(|(n, v)| (n.as_str(), v));
        self.optimizer = AdamW::load_state_dict(self.settings, state.optimizer_steps, &tensors, names)?;
        for (nth, task) in self.tasks.iter_mut().enumerate() {
            if nth > 0 {
                task.set(&tensors)?;
            }
            task.set_table_state(&tensors)?;
        }
        let best = tensors.into_iter().filter_map(|(name, t)| Some((name.strip_prefix(BEST)?.to_owned(), t)));
        let best: HashMap<String, Tensor> = best.collect();
        self.best = (!best.is_empty()).then_some(best);
        self.seconds_before = state.seconds;
        self.state = State { data: std::mem::take(&mut self.state.data), ..state };
        Ok(())
    }

    fn finish(mut self, ended: StopReason) -> Result<Trained, PerspectivesError> {
        if let Some(best) = self.best.take() {
            self.load_weights(&best)?;
        }
        let seconds = self.seconds();
        let device = self.embedder.device_name();
        // From here on it predicts, and that is done where it cannot fail.
        let learned = &self.own().network;
        let link = Link::new(learned.shape.target);
        let mut network = Network::new(
            learned.spec.clone(),
            learned.shape.clone(),
            &vec![0.0; link.intercepts()],
            0,
            &candle_core::Device::Cpu,
        )?;
        network.set(&learned.tensors()?)?;
        let encoder = match self.embedder {
            Embedder::Cached(_) => None,
            Embedder::Tuned(tuned) => Some(tuned.encoder),
        };
        Ok(Trained { network, encoder, history: self.state.history, ended, seconds, device })
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
