//! Runs as the window and `--json` see them: what is asked of a training, how it goes, what came of it.

use super::{JobState, Problem};
use dissensus_domain::{AnnotatorId, QuestionId};
use serde::{Deserialize, Serialize};

view! {
    /// What learns of the encoder.
    #[derive(Default)]
    pub enum Tuning {
        /// Nothing: cached embeddings are used.
        #[default]
        Frozen,
        /// The last layers.
        LastK,
        /// Low-rank additions to the attention's weights.
        Lora,
        /// Everything.
        Full,
    }

    /// What a training is asked to do. Everything but the question has a sensible default.
    pub struct TrainChoices {
        /// The question.
        pub question: QuestionId,
        /// The annotator model: `majority`, `shared`, `sep-heads`, `share-rec-ffn`, `share-rec-dcn` or `multilevel`.
        pub model: String,
        /// What learns of the encoder.
        pub tuning: Tuning,
        /// How many layers learn, for `last_k`.
        pub layers: u32,
        /// Rank of the additions, for `lora`.
        pub rank: u32,
        /// How texts are divided: `by-text:0.7`, `column`, `stratified:0.7`, `grouped:0.7`, `by-annotator:0.8`, ...
        pub split: String,
        /// Share of the training texts kept back to choose the best checkpoint, where the split names none.
        pub validation: f64,
        /// Seed of split, weights, order and dropout.
        pub seed: u32,
        /// Most passes over the training texts.
        pub epochs: u32,
        /// Most steps; 0 where only the epochs end it.
        pub max_steps: u32,
        /// Steps between evaluations; 0 for one after each epoch.
        pub evaluate_every: u32,
        /// Texts a step.
        pub batch: u32,
        /// Batches whose gradients are added up before a step.
        pub accumulation: u32,
        /// Learning rate of the encoder's top layer.
        pub encoder_rate: f64,
        /// Learning rate of the head.
        pub head_rate: f64,
        /// Decoupled weight decay.
        pub weight_decay: f64,
        /// `constant`, `linear` or `cosine`.
        pub schedule: String,
        /// Share of the steps in which the rate rises from 0.
        pub warmup: f64,
        /// Largest length of the gradient; 0 for no limit.
        pub clip: f64,
        /// Evaluations without a better one before it stops; 0 for never.
        pub patience: u32,
        /// What the best checkpoint is chosen by: `log_loss`, `accuracy`, `macro_f1`.
        pub metric: String,
        /// Units of the head's hidden layer; 0 for a linear head.
        pub hidden: u32,
        /// `relu` or `tanh`, of the hidden layer.
        pub activation: String,
        /// Dropout on the embedding.
        pub embedding_dropout: f64,
        /// Dropout before the last layer of the head.
        pub head_dropout: f64,
        /// Weighs labels so that every class counts alike.
        pub class_weights: bool,
        /// Share of each label spread over all levels.
        pub label_smoothing: f64,
        /// Learns each text's distribution of labels in place of single labels (`majority` and `shared`).
        pub soft_labels: bool,
        /// `share-rec`: whether people are told apart by who they are.
        pub use_identity: bool,
        /// `share-rec`: whether people are told apart by their attributes.
        pub use_attributes: bool,
    }

    /// One evaluation on the way.
    pub struct EpochInfo {
        /// Passes over the training texts so far; a fraction where evaluated in between.
        pub epoch: f64,
        /// Steps so far.
        pub step: u32,
        /// Mean loss of the steps since the evaluation before; none of a model that is solved rather than trained in steps.
        pub train_loss: Option<f64>,
        /// Log loss on the validation texts, in nats.
        pub validation_loss: Option<f64>,
        /// Share of validation labels predicted.
        pub validation_accuracy: Option<f64>,
        /// Learning rate of the head at this step.
        pub rate: f64,
        /// Seconds since the run began.
        pub seconds: f64,
        /// True for the best one so far.
        pub best: bool,
        /// Length of the gradient by group of weights (`layer 5`, `head`, ...), at the last step: a dead group shows as 0.
        pub gradients: Vec<GradientLength>,
    }

    /// How long the gradient of a group of weights is.
    pub struct GradientLength {
        /// `embeddings`, `layer 0`, ..., `head`.
        pub group: String,
        /// Its Euclidean length.
        pub norm: f64,
    }

    /// A run in the list.
    pub struct RunInfo {
        /// Its number in this project, as people type it.
        pub id: u32,
        /// Its identity (a UUID), in every copy of the project; its files lie in a folder of this name.
        pub uid: String,
        /// The question.
        pub question: QuestionId,
        /// Its name.
        pub question_name: String,
        /// The annotator model.
        pub model: String,
        /// What learned of the encoder.
        pub tuning: Tuning,
        /// How many layers learned, for `last_k`.
        pub layers: u32,
        /// Rank of the additions, for `lora`.
        pub rank: u32,
        /// How texts were divided.
        pub split: String,
        /// Its seed.
        pub seed: u32,
        /// How it is.
        pub state: JobState,
        /// The job that works on it, while it runs.
        pub job: Option<u32>,
        /// When it began.
        pub started_at: f64,
        /// Seconds it took, or has taken so far.
        pub seconds: f64,
        /// `cpu`, `cuda` or `metal`.
        pub device: String,
        /// Evaluations so far; empty for models that are solved in one go.
        pub epochs: Vec<EpochInfo>,
        /// Passes it will make at most.
        pub epochs_planned: u32,
        /// Seconds it will go on, while it runs and where that can be told.
        pub seconds_left: Option<f64>,
        /// Scores on the test texts; none before it has ended.
        pub scores: Option<RunScores>,
        /// Why it failed.
        pub problem: Option<Problem>,
        /// True where this run predicts for the project.
        pub predicts: bool,
        /// True where its model can be used for predictions (its files are there).
        pub usable: bool,
        /// True where labels or texts were added since: its figures are those of other data.
        pub data_changed: bool,
        /// True where it was interrupted and can be resumed.
        pub resumable: bool,
    }

    /// Scores on the test texts, each with its 95 % interval by bootstrap: over annotators for figures about annotators, else over texts.
    pub struct RunScores {
        /// All metrics there are, in the order to show them.
        pub metrics: Vec<RunMetric>,
        /// Labels scored.
        pub labels: u32,
        /// Texts scored.
        pub texts: u32,
        /// Annotators scored.
        pub annotators: u32,
    }

    /// One figure.
    pub struct RunMetric {
        /// Its key in `--json`: `log_loss`, `accuracy`, ...
        pub key: String,
        /// The figure.
        pub value: f64,
        /// Lower end of its interval.
        pub low: Option<f64>,
        /// Upper end of its interval.
        pub high: Option<f64>,
        /// True where more is better.
        pub higher_is_better: bool,
    }

    /// Everything about one run.
    pub struct RunDetail {
        /// As in the list.
        pub info: RunInfo,
        /// What was asked.
        pub choices: TrainChoices,
        /// Texts and labels that taught, chose the checkpoint, and were scored.
        pub sizes: RunSizes,
        /// Encoder version it began with.
        pub encoder: Option<String>,
        /// Precision, recall and F1 of each class.
        pub classes: Vec<RunClass>,
        /// The same of each option of a multi-choice question; empty for others.
        pub options: Vec<RunClass>,
        /// Labels by true level (rows) and predicted level (columns).
        pub confusion: Vec<Vec<u32>>,
        /// Confidence against how often it was right.
        pub calibration: Vec<RunBin>,
        /// One line for each annotator scored.
        pub annotators: Vec<RunAnnotator>,
        /// What is to be known about it, a sentence each: annotators without a head, ties of majorities, ...
        pub notes: Vec<String>,
    }

    /// How much there was.
    #[derive(Default)]
    pub struct RunSizes {
        /// Texts that taught.
        pub train_texts: u32,
        /// Labels that taught.
        pub train_labels: u32,
        /// Texts that chose the checkpoint.
        pub validation_texts: u32,
        /// Labels that chose the checkpoint.
        pub validation_labels: u32,
        /// Texts scored.
        pub test_texts: u32,
        /// Labels scored.
        pub test_labels: u32,
    }

    /// One class.
    pub struct RunClass {
        /// The level's name.
        pub name: String,
        /// Of those predicted so, the share that are.
        pub precision: Option<f64>,
        /// Of those that are, the share predicted so.
        pub recall: Option<f64>,
        /// Their harmonic mean.
        pub f1: Option<f64>,
        /// Labels of this level.
        pub support: u32,
    }

    /// One bin of the calibration curve.
    pub struct RunBin {
        /// Mean confidence in it.
        pub confidence: f64,
        /// Share of these labels that were predicted.
        pub accuracy: f64,
        /// Labels in it.
        pub labels: u32,
    }

    /// One annotator.
    pub struct RunAnnotator {
        /// Who.
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Labels scored.
        pub labels: u32,
        /// Share predicted.
        pub accuracy: f64,
        /// Share that this person's most frequent level would have predicted.
        pub baseline: f64,
        /// Log loss, in nats.
        pub log_loss: f64,
    }

    /// Two runs side by side. Only runs scored on the same labels can be compared.
    pub struct RunComparison {
        /// The first run.
        pub a: u32,
        /// The second run.
        pub b: u32,
        /// One line a metric.
        pub metrics: Vec<MetricPair>,
        /// One point for each annotator: accuracy under both.
        pub annotators: Vec<AnnotatorPair>,
        /// Labels compared.
        pub labels: u32,
    }

    /// One metric of both.
    pub struct MetricPair {
        /// Its key.
        pub key: String,
        /// Of the first run.
        pub a: f64,
        /// Of the second run.
        pub b: f64,
        /// 95 % interval of b - a, by paired bootstrap over texts (over annotators for `annotator_accuracy`), where it was worked out.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Two-sided p of no difference, where it was worked out.
        pub p: Option<f64>,
        /// True where more is better.
        pub higher_is_better: bool,
    }

    /// One annotator under both.
    pub struct AnnotatorPair {
        /// Who.
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Accuracy under the first run.
        pub a: f64,
        /// Accuracy under the second run.
        pub b: f64,
        /// Labels scored.
        pub labels: u32,
    }
}
