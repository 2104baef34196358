//! Options and results of aggregation.

use crate::data::{ModelError, value_named};
use serde::{Deserialize, Serialize};

/// Levels whose posteriors are this close tie.
pub(super) const TIE: f64 = 1e-9;

/// Aggregation methods.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Aggregator {
    /// The posterior is the share of labels, and the label the most frequent level.
    Majority,
    /// Every annotator has a confusion matrix; plain EM from the vote shares (Dawid and Skene 1979).
    DawidSkene,
    /// Every annotator either knows a text's level or answers from a distribution of their own (Hovy et al.
    /// 2013).
    Mace,
    /// Every annotator has an ability and every text a difficulty (Whitehill et al. 2009).
    Glad,
}

impl Aggregator {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for Aggregator {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        value_named("aggregation", name)
    }
}

/// How MACE's M-step computes probabilities from expected counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaceMethod {
    /// Variational Bayes with Beta(0.5, 0.5) on the probability of knowing and Dirichlet(10) on the answers
    /// otherwise: the default of Hovy et al.'s program and of crowd-kit.
    #[default]
    Variational,
    /// Plain EM, with counts smoothed by 0.01 / levels.
    Plain,
}

/// Options of iterative aggregators.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregationOptions {
    /// Largest number of rounds of EM.
    pub iterations: usize,
    /// EM has converged when a round changes the log-likelihood by less than this per label, in nats.
    pub tolerance: f64,
    /// Random starts of MACE, at least one; the one with the best likelihood is used.
    pub restarts: usize,
    /// Seed of these starts, which are the only random part.
    pub seed: u64,
    /// MACE's M-step.
    pub mace: MaceMethod,
}

impl Default for AggregationOptions {
    fn default() -> Self {
        Self { iterations: 500, tolerance: 1e-8, restarts: 10, seed: 0, mace: MaceMethod::default() }
    }
}

/// A text on which several levels are equally likely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tie {
    pub text: u32,
    /// The levels with the largest posterior, in ascending order: the first one became the label.
    pub levels: Vec<u16>,
}

/// An aggregator's estimates for one annotator. Everything but `labels` is absent for annotators without
/// labels, and where the aggregator does not estimate it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorQuality {
    /// Labels given.
    pub labels: usize,
    /// Expected accuracy: the mean posterior of the levels this annotator gave.
    pub agreement: Option<f64>,
    /// Dawid-Skene: P(label k | true c), row-major levels x levels `[c * levels + k]`. Rows of levels among
    /// the annotator's texts sum to 1; those of levels that none of the annotator's texts appears to have are
    /// uniform over the levels the annotator used. Rows of unused levels are 0.
    pub confusion: Option<Vec<f64>>,
    /// MACE: probability of a label given without looking at the text, 0 to 1.
    pub spamming: Option<f64>,
    /// MACE: the distribution of the annotator's labels in that case, one probability per level.
    pub strategy: Option<Vec<f64>>,
    /// GLAD: ability, the log odds of being right on a text of difficulty 1; 0 is guessing, and negative
    /// values are worse than guessing.
    pub ability: Option<f64>,
}

/// Outcome of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AggregationFit {
    pub iterations: usize,
    /// Whether it converged within these rounds.
    pub converged: bool,
    /// Log-likelihood of all labels in nats; for GLAD including the log prior.
    pub log_likelihood: f64,
}

/// Aggregated labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregation {
    pub aggregator: Aggregator,
    /// Number of levels of the scale.
    pub levels: usize,
    /// P(level of the text | all labels), texts x levels, row-major; rows sum to 1. Levels that no label uses
    /// have 0. Uniform over all levels for texts without labels, which `counts` identifies.
    pub posterior: Vec<f64>,
    /// Number of labels of every text.
    pub counts: Vec<u32>,
    /// The most likely level of every text, the lowest in case of ties; `None` without labels.
    pub labels: Vec<Option<u16>>,
    /// Labelled texts with tied levels, in order.
    pub ties: Vec<Tie>,
    /// One entry per annotator.
    pub annotators: Vec<AnnotatorQuality>,
    /// Dawid-Skene: frequency of levels; one probability per level.
    pub prior: Option<Vec<f64>>,
    /// GLAD: difficulty of every text, above 0, `1 / exp(beta)`; `None` for texts without labels.
    pub difficulty: Option<Vec<Option<f64>>>,
    /// Outcome of EM; absent for the majority.
    pub fit: Option<AggregationFit>,
}

impl Aggregation {
    /// The posterior of one text.
    pub fn row(&self, text: usize) -> &[f64] {
        &self.posterior[text * self.levels..(text + 1) * self.levels]
    }
}

/// Result of an aggregator, over texts with labels and levels that are used.
#[derive(Default)]
pub(super) struct AggregatorResult {
    /// Labelled texts x used levels.
    pub(super) posterior: Vec<f64>,
    /// One entry per annotator over all levels, without `labels` and `agreement`; empty where the aggregator
    /// does not rate annotators.
    pub(super) annotators: Vec<AnnotatorQuality>,
    /// Over used levels.
    pub(super) prior: Option<Vec<f64>>,
    /// Over labelled texts.
    pub(super) difficulty: Option<Vec<f64>>,
    pub(super) fit: Option<AggregationFit>,
}

/// Whether EM has converged: the log-likelihood changed by less than `tolerance` per label.
pub(super) fn settled(before: f64, now: f64, labels: usize, tolerance: f64) -> bool {
    (now - before).abs() < tolerance * labels.max(1) as f64
}
