//! Streams: questions whose steps use the same texts, each of which is encoded once for all of them.

use super::config::TrainConfig;
use super::embedder::Embedder;
use super::examples::Examples;
use super::inputs::Together;
use super::task::{Sampled, Task};
use super::words::WordTask;
use crate::networks::Rows;
use dissensus_stats::data::ModelError;

/// Questions on the same texts, each with a network of its own.
pub(super) struct Stream<'a> {
    pub(super) tasks: Vec<Task<'a>>,
    pub(super) words: Vec<WordTask<'a>>,
    /// Texts with a label of any of them, ascending.
    pub(super) texts: Vec<u32>,
    pub(super) texts_in_epoch: usize,
    /// Divisor of the summed loss of each task in every step; empty for a single task, whose loss is the
    /// mean over the labels of the step.
    divisors: Vec<f64>,
    /// The same for words.
    pub(super) word_divisors: Vec<f64>,
}

/// The texts of one step.
pub(super) struct Window {
    /// Index of their stream.
    pub(super) stream: usize,
    /// Indices into [`Stream::texts`].
    pub(super) places: Vec<usize>,
}

impl<'a> Stream<'a> {
    /// Creates the stream with index `nth`, with networks before the first step.
    pub(super) fn new(
        nth: usize,
        of: Together<'a>,
        config: &TrainConfig,
        embedder: &Embedder<'_>,
    ) -> Result<Self, ModelError> {
        let Together { labels, texts, texts_in_epoch, words } = of;
        let mut known = Sampled::default();
        let tasks: Vec<Task<'_>> = labels
            .into_iter()
            .enumerate()
            .map(|(place, labels)| {
                let data = &labels.data;
                let examples = Examples::new(labels.observations, data.target, data.annotators, config);
                Task::new(prefix(nth, place), labels, examples, config, embedder, &mut known)
            })
            .collect::<Result<_, _>>()?;
        let together = config.batch_size * config.gradient_accumulation_steps;
        let words: Vec<WordTask<'_>> = words
            .into_iter()
            .enumerate()
            .map(|(place, of)| WordTask::new(format!("words-{place}."), of, config.network.model, embedder))
            .collect::<Result<_, _>>()?;
        let (divisors, word_divisors) = divisors(&tasks, &words, texts_in_epoch.div_ceil(together));
        Ok(Self { tasks, words, texts, texts_in_epoch, divisors, word_divisors })
    }

    /// The rows of a task's labels on the texts at these indices, of which the n-th is text n of the batch.
    pub(super) fn rows(&self, task: usize, places: &[usize], seed: u64) -> Rows {
        let examples = &self.tasks[task].examples;
        if !self.is_joint() {
            return examples.rows(places, seed);
        }
        let place = |(nth, place): (usize, &usize)| {
            Some((nth as u32, examples.texts.binary_search(&self.texts[*place]).ok()?))
        };
        examples.rows_at(places.iter().enumerate().filter_map(place), seed.wrapping_add(task as u64))
    }

    /// Total weight of a task's labels on these texts.
    pub(super) fn weight(&self, task: usize, places: &[usize]) -> f64 {
        let examples = &self.tasks[task].examples;
        let place = |place: &usize| examples.texts.binary_search(&self.texts[*place]).ok();
        let own: Vec<usize> = places.iter().filter_map(place).collect();
        examples.weight(&own)
    }

    /// Divisor of a task's summed loss, in a step whose labels for it have the total weight `weight`.
    pub(super) fn divisor(&self, task: usize, weight: f64) -> f64 {
        self.divisors.get(task).copied().unwrap_or(weight).max(1e-9)
    }

    /// Whether every step trains more than one question.
    pub(super) fn is_joint(&self) -> bool {
        self.tasks.len() + self.words.len() > 1
    }
}

/// Prefix of a task's weights in a checkpoint; empty for the training's first own question.
fn prefix(stream: usize, place: usize) -> String {
    match (stream, place) {
        (0, 0) => String::new(),
        (0, nth) => format!("question-{nth}."),
        (nth, _) => format!("auxiliary-{nth}."),
    }
}

/// Divisors of tasks that share their steps: the weight of a task's labels in an average step, over its
/// share of the tasks' weights. The mean over the steps of an epoch is then the weighted mean of the tasks'
/// mean losses, however few of a task's labels a step happens to have.
fn divisors(tasks: &[Task<'_>], words: &[WordTask<'_>], steps: usize) -> (Vec<f64>, Vec<f64>) {
    if tasks.len() + words.len() < 2 {
        return (Vec::new(), Vec::new());
    }
    let of_tasks: f64 = tasks.iter().map(|task| task.labels.weight).sum();
    let all = of_tasks + words.iter().map(|task| task.of.weight).sum::<f64>();
    let of = |task: &Task<'_>| {
        let places: Vec<usize> = (0..task.examples.texts.len()).collect();
        task.examples.weight(&places) / steps as f64 * all / task.labels.weight
    };
    let of_words = |task: &WordTask<'_>| (task.total() / steps as f64 * all / task.of.weight).max(1e-9);
    (tasks.iter().map(of).collect(), words.iter().map(of_words).collect())
}
