//! A running training: its questions, weights and optimizer.

use super::checkpoint::{Checkpoints, State};
use super::config::TrainConfig;
use super::data_hash::data_hash;
use super::embedder::Embedder;
use super::history::GradientNorm;
use super::inputs::Trainer;
use super::stream::{Stream, Window};
use super::task::Task;
use candle_core::{Tensor, Var};
use dissensus_encoder::{AdamW, AdamWSettings};
use dissensus_stats::data::ModelError;
use dissensus_stats::math::random::generator;
use rand::seq::SliceRandom;
use std::collections::HashMap;
use std::time::Instant;

/// A running training.
pub(super) struct Training<'a, 'b> {
    pub(super) trainer: &'b Trainer<'a>,
    pub(super) config: &'b TrainConfig,
    pub(super) embedder: Embedder<'a>,
    /// The stream of the training's own questions, which are scored, then that of each auxiliary one.
    pub(super) streams: Vec<Stream<'b>>,
    pub(super) variables: Vec<(String, Var)>,
    pub(super) optimizer: AdamW,
    pub(super) settings: AdamWSettings,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) state: State,
    /// Weights at the best evaluation.
    pub(super) best: Option<HashMap<String, Tensor>>,
    pub(super) steps_in_epoch: u32,
    pub(super) steps: u32,
    /// Number of steps to take.
    pub(super) last: u32,
    /// Gradient norms of the last step.
    pub(super) gradient_norms: Vec<GradientNorm>,
    pub(super) began: Instant,
    pub(super) seconds_before: f64,
}

impl<'a, 'b> Training<'a, 'b> {
    pub(super) fn new(trainer: &'b Trainer<'a>) -> Result<Self, ModelError> {
        let config = &trainer.config;
        let labels = trainer.labels();
        let embedder = match &trainer.encoder {
            None => Embedder::Cached(trainer.own[0].data.embeddings),
            Some(encoder) => {
                let texts: Vec<u32> = labels.iter().flat_map(|of| of.labels[0].rows(&of.texts)).collect();
                let seed = config.seeds.weights;
                Embedder::open(encoder, trainer.bodies(), &config.policy, seed, &texts)?
            }
        };
        let streams: Vec<Stream<'_>> = labels
            .into_iter()
            .enumerate()
            .map(|(nth, labels)| Stream::new(nth, labels, config, &embedder))
            .collect::<Result<_, _>>()?;
        let mut variables = embedder.variables();
        let tasks = streams.iter().flat_map(|stream| &stream.tasks);
        tasks.for_each(|task| variables.extend(task.variables()));
        let words = streams.iter().flat_map(|stream| &stream.words);
        words.for_each(|task| variables.extend(task.variables()));
        let settings = AdamWSettings { weight_decay: config.weight_decay, ..AdamWSettings::default() };
        let steps = trainer.planned_steps();
        let (data_hash, choices) = (data_hash(trainer)?, config.config_hash()?);
        Ok(Self {
            trainer,
            config,
            streams,
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

    /// The training's own questions.
    pub(super) fn own(&self) -> &[Task<'b>] {
        &self.streams[0].tasks
    }

    /// The tasks of all questions.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Task<'b>> {
        self.streams.iter().flat_map(|stream| &stream.tasks)
    }

    /// The steps of this epoch, each on texts of one stream.
    pub(super) fn order(&self) -> Vec<Window> {
        let (seed, epoch) = (self.config.seeds.data, u64::from(self.state.epoch));
        let together = self.config.batch_size * self.config.gradient_accumulation_steps;
        let mut windows = Vec::new();
        for (stream, nth) in self.streams.iter().zip(0_u64..) {
            let mut order: Vec<usize> = (0..stream.texts.len()).collect();
            order.shuffle(&mut generator(seed, (nth << 32) + 64 + epoch));
            order.truncate(stream.texts_in_epoch);
            windows.extend(
                order.chunks(together).map(|places| Window { stream: nth as usize, places: places.into() }),
            );
        }
        if self.streams.len() > 1 {
            windows.shuffle(&mut generator(seed, (1 << 63) + epoch));
        }
        windows
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }
}
