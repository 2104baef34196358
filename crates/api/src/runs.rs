//! Training runs for the window and `--json`: settings, progress and results.

use super::{Problem, WorkState};
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_neural::networks::Activation;
use dissensus_neural::trainer::{Schedule, ValidationMetric};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::{ModelKind, value_names};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::RangeInclusive;

view! {
    /// Which layers of the encoder are trained.
    #[derive(Default)]
    pub enum Tuning {
        /// Nothing: cached embeddings are used.
        #[default]
        Frozen,
        /// The last layers.
        LastK,
        /// Low-rank additions to the attention's weights.
        Lora,
        /// Vectors in place of word embeddings, after the text or before it.
        Prompt,
        /// Everything.
        Full,
    }
}

/// Defines the settings of a training, each written once: its name in JSON and TypeScript, its option on the
/// command line, its name and help in forms, its type, and its allowed values.
macro_rules! training_choices {
    (
        own { $($(#[doc = $own_doc:tt])* $own:ident: $own_type:ty, $own_label:literal, $own_range:expr;)* }
        values { $($(#[doc = $doc:tt])* $name:ident: $type:ty, $label:literal $(in $values:expr)? $(, $range:expr)?;)* }
        flags { $($(#[doc = $flag_doc:tt])* $flag:ident, $flag_label:literal;)* }
    ) => {
        view! {
            /// The settings of a training. Everything but the question has a sensible default.
            pub struct TrainChoices {
                pub question: QuestionId,
                /// The annotator model.
                pub model: ModelKind,
                /// Which layers of the encoder are trained.
                pub tuning: Tuning,
                /// How labels are divided: `by-text:0.7`, `column`, `stratified:0.7`, `grouped:0.7`,
                /// `by-annotator:0.8`, ...
                pub split: SplitSpec,
                /// Questions of other projects that train the encoder too.
                #[serde(default)]
                pub auxiliary: Vec<AuxiliaryQuestion>,
                /// Questions that are learned together on one encoder, each with its own head: every one
                /// that is learned, or, in a request, a whole question in place of its options. Empty if the
                /// question is learned on its own.
                #[serde(default)]
                pub joint: Vec<JointQuestion>,
                /// Heads that stay as earlier runs left them. The training starts from the encoder that they
                /// depend on.
                #[serde(default)]
                pub held: Vec<HeldHead>,
                $($(#[doc = $own_doc])* pub $own: $own_type,)*
                $($(#[doc = $doc])* pub $name: $type,)*
                $($(#[doc = $flag_doc])* pub $flag: bool,)*
            }
        }

        /// Options of the command for [`TrainChoices`]; everything that is not given keeps its default.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        #[cfg_attr(feature = "clap", command(next_help_heading = "Gradient training", allow_negative_numbers = true))]
        pub struct TrainOptions {
            $(
                $(#[doc = $doc])*
                #[cfg_attr(feature = "clap", arg(long $(, value_parser = one_of::<$type>($values))?))]
                pub $name: Option<$type>,
            )*
            $(
                $(#[doc = $flag_doc])*
                #[cfg_attr(
                    feature = "clap",
                    arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")
                )]
                pub $flag: Option<bool>,
            )*
        }

        impl TrainOptions {
            /// Applies the given options to `choices`.
            pub fn apply(&self, choices: &mut TrainChoices) {
                $(if let Some(asked) = self.$name { choices.$name = asked; })*
                $(if let Some(asked) = self.$flag { choices.$flag = asked; })*
            }
        }

        impl TrainChoices {
            /// The first number that is out of its range: its name, and the range in words.
            pub fn out_of_range(&self) -> Option<(&'static str, String, String)> {
                $(if let Some(allowed) = outside(self.$own, &$own_range) {
                    return Some((stringify!($own), self.$own.to_string(), allowed));
                })*
                $($(if let Some(allowed) = outside(self.$name, &$range) {
                    return Some((stringify!($name), self.$name.to_string(), allowed));
                })?)*
                None
            }

            /// Brings each number that `which` selects to the nearest one in its range.
            pub fn into_ranges(mut self, which: impl Fn(&str) -> bool) -> Self {
                $(if which(stringify!($own)) {
                    self.$own = nearest(self.$own, &$own_range);
                })*
                $($(if which(stringify!($name)) {
                    self.$name = nearest(self.$name, &$range);
                })?)*
                self
            }
        }

        /// Every setting of a training, for forms.
        pub fn training_settings() -> Vec<TrainSetting> {
            vec![
                $(TrainSetting::number(stringify!($own), $own_label, concat!($($own_doc),*), &$own_range),)*
                $({
                    let setting = TrainSetting::new(stringify!($name), $label, concat!($($doc),*));
                    $(let setting = setting.one_of(&$values);)?
                    $(let setting = setting.within::<$type>(&$range);)?
                    setting
                },)*
                $(TrainSetting::new(stringify!($flag), $flag_label, concat!($($flag_doc),*)),)*
            ]
        }
    };
}

view! {
    /// A setting of a training, for a form.
    pub struct TrainSetting {
        /// Its name in [`TrainChoices`]; on the command line with hyphens.
        pub key: String,
        /// Its display name.
        pub label: String,
        /// Help text.
        pub help: String,
        /// The smallest and the largest allowed number.
        pub range: Option<(f64, f64)>,
        /// True if only whole numbers are allowed.
        pub whole: bool,
        /// The allowed names, for a setting with names.
        pub values: Vec<String>,
    }
}

impl TrainSetting {
    fn new(key: &str, label: &str, help: &str) -> Self {
        let help = help.trim().to_owned();
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            help,
            range: None,
            whole: false,
            values: Vec::new(),
        }
    }

    fn number<T: Number>(key: &str, label: &str, help: &str, range: &RangeInclusive<T>) -> Self {
        Self::new(key, label, help).within(range)
    }

    fn within<T: Number>(self, range: &RangeInclusive<T>) -> Self {
        Self { range: Some((range.start().as_f64(), range.end().as_f64())), whole: T::WHOLE, ..self }
    }

    fn one_of(self, values: &[&str]) -> Self {
        Self { values: values.iter().map(|value| (*value).to_owned()).collect(), ..self }
    }
}

/// Parses an option of the command that takes one of these names; help and completions list them.
#[cfg(feature = "clap")]
fn one_of<T>(names: Vec<&'static str>) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// A numeric type of a setting.
trait Number: Copy + PartialOrd + Display {
    const WHOLE: bool;

    fn as_f64(self) -> f64;
}

impl Number for u32 {
    const WHOLE: bool = true;

    fn as_f64(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    const WHOLE: bool = false;

    fn as_f64(self) -> f64 {
        self
    }
}

/// The range in words if `value` is outside (NaN always is).
fn outside<T: Number>(value: T, range: &RangeInclusive<T>) -> Option<String> {
    (!range.contains(&value)).then(|| format!("a number from {} to {}", range.start(), range.end()))
}

/// The number in `range` that is nearest to `value`; the smallest one for NaN.
fn nearest<T: Number>(value: T, range: &RangeInclusive<T>) -> T {
    if range.contains(&value) {
        value
    } else if value > *range.end() {
        *range.end()
    } else {
        *range.start()
    }
}

training_choices! {
    own {
    /// Same seed, same result: it draws split, weights, order and dropout
    seed: u32, "Seed", 0..=u32::MAX;
    /// How many of the encoder's last layers learn
    layers: u32, "Layers", 1..=1_000;
    /// Rank of the additions to the attention's weights
    rank: u32, "LoRA rank", 1..=4_096;
    /// How many vectors the soft prompt has
    vectors: u32, "Prompt vectors", 1..=64;
    }
    values {
    /// Share of the training labels held out to choose the best checkpoint, in the way of the split, where
    /// the split names none
    validation: f64, "Validation share", 0.01..=0.9;
    /// Most passes over the training texts
    epochs: u32, "Max epochs", 1..=1_000_000;
    /// Most steps, where that is to end it earlier than the epochs; 0 for no limit
    max_steps: u32, "Max steps", 0..=u32::MAX;
    /// Steps between evaluations; 0 for one after each epoch
    evaluate_every: u32, "Evaluate every", 0..=u32::MAX;
    /// Texts a batch, each with all of its labels
    batch: u32, "Batch size", 1..=1_048_576;
    /// Batches whose gradients are added up before a step
    gradient_accumulation_steps: u32, "Gradient accumulation", 1..=1_048_576;
    /// Learning rate of the encoder's top layer
    encoder_lr: f64, "Encoder learning rate", 1e-9..=10.0;
    /// Learning rate of the head
    head_lr: f64, "Head learning rate", 1e-9..=10.0;
    /// Decoupled weight decay
    weight_decay: f64, "Weight decay", 0.0..=100.0;
    /// How learning rates move after the warm-up
    schedule: Schedule, "Schedule" in value_names::<Schedule>();
    /// Share of the steps in which learning rates rise
    warmup: f64, "Warm-up share", 0.0..=1.0;
    /// Largest norm of the gradient; 0 for no limit
    max_grad_norm: f64, "Gradient clipping", 0.0..=1e9;
    /// Evaluations without a better one before it stops; 0 for never
    patience: u32, "Patience", 0..=u32::MAX;
    /// What the best checkpoint is chosen by
    metric_for_best_model: ValidationMetric, "Best checkpoint by" in value_names::<ValidationMetric>();
    /// Units of the head's hidden layer; 0 for a linear head
    hidden: u32, "Hidden units", 0..=16_384;
    /// Activation of the hidden layer
    activation: Activation, "Activation" in value_names::<Activation>();
    /// Dropout on the embedding
    embedding_dropout: f64, "Embedding dropout", 0.0..=0.99;
    /// Dropout before the last layer of the head
    head_dropout: f64, "Head dropout", 0.0..=0.99;
    /// Share of each label spread over all levels
    label_smoothing: f64, "Label smoothing", 0.0..=0.99;
    /// How often the weight of a no a yes of a yes/no question or an option weighs; 1 for alike. Class
    /// weights give negatives over positives instead, for each option
    pos_weight: f64, "Weight of a yes", 0.001..=1000.0;
    }
    flags {
    /// Weigh labels so that every level counts alike: in a yes/no question a yes weighs negatives over
    /// positives times a no
    class_weights, "Class weights";
    /// Learn each text's distribution of labels in place of single labels (majority and shared)
    soft_labels, "Soft labels";
    /// Tell annotators apart by who they are (share-rec)
    use_identity, "Annotator identity";
    /// Tell annotators apart by their attributes, which serves people without labels too (share-rec)
    use_attributes, "Annotator attributes";
    /// Leave out, on texts that were decided to have a slip, all labels that are not the decided answer
    without_slips, "Without slips";
    }
}

view! {
    /// A question of a project file that is requested to train a run's encoder.
    pub struct AuxiliaryQuestion {
        /// The project file.
        pub project: String,
        /// Name of the question; none for the only one.
        pub question: Option<String>,
    }

    /// The head of a question, unchanged from an earlier run.
    #[derive(Copy, Eq)]
    pub struct HeldHead {
        /// The question, or one of its options.
        pub question: QuestionId,
        /// A finished run of the question.
        pub run: u32,
    }

    /// A question that is learned together with others on one encoder.
    pub struct JointQuestion {
        /// The question, or one of its options.
        pub question: QuestionId,
        /// Weight of its mean loss relative to the others.
        pub weight: f64,
    }

    /// A question with labels in a project file, which can train the encoder of a run on another one.
    pub struct AuxiliaryCandidate {
        /// The project file.
        pub project: String,
        /// Its name without the folder.
        pub file: String,
        pub question: String,
        pub labels: u32,
    }

    /// A question of another project, or another one of this, whose labels also trained a run's encoder.
    pub struct RunAuxiliary {
        /// Identity of its project (a UUID), which all copies of it share.
        pub project: String,
        /// Name of the project file without its folder.
        pub file: String,
        pub question: String,
        /// Texts whose labels were used for training.
        pub texts: u32,
        /// Number of labels used for training.
        pub labels: u32,
        /// Number of annotators of these labels.
        pub annotators: u32,
        /// Labelled texts that were not used for training because they are scored: validation and test have
        /// the same bodies.
        pub left_out_texts: u32,
    }

    /// An evaluation during training.
    pub struct EpochInfo {
        /// Passes over the training texts so far; a fraction for an evaluation within a pass.
        pub epoch: f64,
        /// Steps so far.
        pub step: u32,
        /// Mean loss of the steps since the previous evaluation; none for a convex model, which is fitted in
        /// one go.
        pub train_loss: Option<f64>,
        /// Log loss on the validation texts, in nats.
        pub validation_loss: Option<f64>,
        /// Share of validation labels that are predicted correctly.
        pub validation_accuracy: Option<f64>,
        /// Learning rate of the head at this step.
        pub rate: f64,
        /// Seconds since the run began.
        pub seconds: f64,
        /// True for the best one so far.
        pub best: bool,
        /// Norm of the gradient by group of weights (`layer 5`, `head`, ...), at the last step; 0 shows a
        /// group that does not learn.
        pub gradients: Vec<GradientNorm>,
    }

    /// The gradient norm of a group of weights.
    pub struct GradientNorm {
        /// `embeddings`, `layer 0`, ..., `head`.
        pub group: String,
        /// Euclidean norm.
        pub norm: f64,
    }

    /// A run in the list.
    pub struct RunInfo {
        /// Its number in this project, as users type it.
        pub id: u32,
        /// Its identity (a UUID), in every copy of the project; its files are in a folder of this name.
        pub uid: String,
        pub question: QuestionId,
        pub question_name: String,
        /// The annotator model.
        pub model: ModelKind,
        /// Which layers of the encoder were trained.
        pub tuning: Tuning,
        /// How many layers were trained, for `last_k`.
        pub layers: u32,
        /// Rank of the additions, for `lora`.
        pub rank: u32,
        /// Number of learned vectors, for `prompt`.
        pub vectors: u32,
        /// Number of questions of other projects that also trained the encoder.
        pub auxiliary: u32,
        /// How many questions and options were learned together on one encoder; 0 for a run of a single one.
        pub joint: u32,
        /// The other runs among them, in their order, without deleted ones.
        pub trained_with: Vec<u32>,
        /// How labels were divided.
        pub split: SplitSpec,
        pub seed: u32,
        /// The state of the run.
        pub state: WorkState,
        /// The job that works on it, while it runs.
        pub job: Option<u32>,
        /// When it began.
        pub started_at: f64,
        /// Duration in seconds, so far if it is running.
        pub seconds: f64,
        /// `cpu`, `cuda` or `metal`.
        pub device: String,
        /// Evaluations so far; empty for convex models, which are fitted in one go.
        pub epochs: Vec<EpochInfo>,
        /// Maximum number of passes.
        pub epochs_planned: u32,
        /// Estimated seconds left, while it runs and if available.
        pub seconds_left: Option<f64>,
        /// Scores on the test texts; none before it has ended.
        pub scores: Option<RunScores>,
        /// Why it failed.
        pub problem: Option<Problem>,
        /// True if this run predicts for the project.
        pub predicts: bool,
        /// True if its model can be used for predictions (its files exist).
        pub usable: bool,
        /// True if labels or texts were added since, so that its figures are of other data.
        pub data_changed: bool,
        /// True if it was interrupted and can be resumed.
        pub resumable: bool,
    }

    /// Scores on the test texts, each with its 95 % interval by bootstrap: over annotators for figures about
    /// annotators, otherwise over texts.
    pub struct RunScores {
        /// All available metrics, in the order in which they are shown.
        pub metrics: Vec<RunMetric>,
        /// Number of labels scored.
        pub labels: u32,
        /// Number of texts scored.
        pub texts: u32,
        /// Number of annotators scored.
        pub annotators: u32,
        /// Test texts that were not scored: the encoder was tuned on their labels.
        pub left_out_texts: u32,
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
        /// True if higher is better.
        pub higher_is_better: bool,
    }

    /// All data on one run.
    pub struct RunDetail {
        /// The entry of the list.
        pub info: RunInfo,
        /// The settings.
        pub choices: TrainChoices,
        /// Texts and labels of the training, validation and test sets.
        pub sizes: RunSizes,
        /// The encoder version from which it started.
        pub encoder: Option<String>,
        /// The names of the levels that it learned, in the order of its columns: by their current names, or
        /// the original ones of levels that were removed; for an option, no and yes.
        pub levels: Vec<String>,
        /// What trained the encoder in addition to this question; empty before labels are divided.
        pub auxiliary: Vec<RunAuxiliary>,
        /// Precision, recall and F1 of each class.
        pub classes: Vec<RunClass>,
        /// The same of each option, in runs of earlier versions on a whole multi-label question; empty for
        /// others.
        pub options: Vec<RunClass>,
        /// Labels by true level (rows) and predicted level (columns).
        pub confusion: Vec<Vec<u32>>,
        /// Calibration: confidence and accuracy.
        pub calibration: Vec<RunBin>,
        /// One entry for each scored annotator.
        pub annotators: Vec<RunAnnotator>,
        /// Baselines on the same test labels that do not read the texts; empty if the training labels were
        /// not stored.
        pub baselines: Vec<RunBaseline>,
        /// For a type of spans whose words were learned in the same training: the scores on words.
        pub words: Option<RunWords>,
        /// Notes, a sentence each: annotators without a head, ties of majorities, ...
        pub notes: Vec<String>,
    }

    /// Scores on the words of test answers, of one type of spans.
    pub struct RunWords {
        /// Mean negative log-likelihood of a word's decision, in nats.
        pub log_loss: f64,
        /// The same for the baseline: how often a word's form is marked times the annotator's rate.
        pub baseline_log_loss: f64,
        /// F1 of marked words, pooled over answers; none if no words were marked or predicted.
        pub f1: Option<f64>,
        /// The same for the baseline.
        pub baseline_f1: Option<f64>,
        /// Area under the ROC curve of "annotators differ on this word".
        pub auroc: Option<f64>,
        /// The same for the baseline.
        pub baseline_auroc: Option<f64>,
        /// Test answers.
        pub answers: u32,
    }

    /// Sizes of the three sets.
    #[derive(Default)]
    pub struct RunSizes {
        /// Texts of the training set.
        pub train_texts: u32,
        /// Labels of the training set.
        pub train_labels: u32,
        /// Texts of the validation set.
        pub validation_texts: u32,
        /// Labels of the validation set.
        pub validation_labels: u32,
        /// Texts of the test set.
        pub test_texts: u32,
        /// Labels of the test set.
        pub test_labels: u32,
    }

    pub struct RunClass {
        /// The level's name.
        pub name: String,
        /// Precision: of those predicted as this level, the share that are of it.
        pub precision: Option<f64>,
        /// Recall: of those of this level, the share that are predicted as it.
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
        /// Share of these labels that were predicted correctly.
        pub accuracy: f64,
        pub labels: u32,
    }

    pub struct RunAnnotator {
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Labels scored.
        pub labels: u32,
        /// Share of labels predicted correctly.
        pub accuracy: f64,
        /// The same share for always predicting this person's most frequent level.
        pub baseline: f64,
        /// Log loss, in nats.
        pub log_loss: f64,
    }

    /// The figures of a baseline, which reads no text.
    pub struct RunBaseline {
        /// `own-most-frequent` (each annotator's most frequent training level), `own-distribution` (the
        /// shares of levels among each annotator's training labels, shrunk towards those of all annotators;
        /// its median for distances) or `prior` (the shares over all annotators).
        pub name: String,
        /// Its metrics; those of probabilities are missing if it gives only an answer.
        pub metrics: Vec<RunMetric>,
    }

    /// Comparison of two runs that were scored on the same labels.
    pub struct RunComparison {
        /// The first run.
        pub a: u32,
        /// The second run.
        pub b: u32,
        /// One entry per metric.
        pub metrics: Vec<MetricPair>,
        /// One point for each annotator: accuracy under both.
        pub annotators: Vec<AnnotatorPair>,
        /// Baselines on the same labels, by the training labels of the first run.
        pub baselines: Vec<RunBaseline>,
        /// Labels compared.
        pub labels: u32,
    }

    /// One metric of both runs.
    pub struct MetricPair {
        pub key: String,
        /// Of the first run.
        pub a: f64,
        /// Of the second run.
        pub b: f64,
        /// 95 % interval of b - a, by paired bootstrap over texts (over annotators for
        /// `annotator_accuracy`), if it was computed.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Two-sided p value of no difference, if it was computed.
        pub p: Option<f64>,
        /// True if higher is better.
        pub higher_is_better: bool,
    }

    /// One annotator's accuracy under both runs.
    pub struct AnnotatorPair {
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
