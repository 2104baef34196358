//! Metrics over words and spans.

use super::data::SpanAnswer;
use serde::{Deserialize, Serialize};

/// One answer and its predicted marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PredictedMarks<'a> {
    pub(super) answer: &'a SpanAnswer,
    /// `[words][types]`.
    pub(super) probabilities: &'a [f32],
    /// For each type.
    pub(super) thresholds: &'a [f64],
}

/// Scores over the words of test answers. A word is the token. Keys are a stable interface for scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenScores {
    /// Mean over words, types and answers of the negative log-likelihood (Bernoulli for each type), in nats.
    pub token_log_loss: f64,
    /// F1 of marked words, pooled over answers; mean over types that were marked or predicted at least once.
    pub token_macro_f1: Option<f64>,
    /// The same for each annotator separately; mean over annotators.
    pub annotator_token_macro_f1: Option<f64>,
    /// F1 of spans (runs of words of one type) that begin and end at the same words, pooled over types and
    /// answers.
    pub span_f1_exact: Option<f64>,
    /// F1 where a span counts as found if it shares a word with one of the same type.
    pub span_f1_overlap: Option<f64>,
    /// Area under the ROC curve of "annotators differ on this word", in any type, over words with two answers
    /// or more; scored by the probability that those who answered differ.
    pub token_disagreement_auroc: Option<f64>,
    /// The same for each type separately, mean over types.
    pub token_disagreement_auroc_by_type: Option<f64>,
    /// Spearman's correlation of the expected with the observed share of pairs that differ on a word, all
    /// types together.
    pub token_disagreement_spearman: Option<f64>,
    /// The same correlation for the mean over a text's words.
    pub text_disagreement_spearman: Option<f64>,
    /// Area under the ROC curve of "annotators differ on at least one word of this text", scored by the mean
    /// over its words.
    pub text_disagreement_auroc: Option<f64>,
    /// Scores of each type.
    pub types: Vec<TypeTokenScores>,
    /// Number of decisions: words times answers.
    pub n_decisions: u64,
}

/// Scores of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeTokenScores {
    /// Mean negative log-likelihood.
    pub token_log_loss: f64,
    /// F1 of marked words, pooled over answers.
    pub token_f1: Option<f64>,
    /// Area under the ROC curve of "annotators differ on this word".
    pub token_disagreement_auroc: Option<f64>,
}

impl TokenScores {
    /// All figures with their keys, without those of single types.
    pub fn values(&self) -> [(&'static str, Option<f64>); 10] {
        [
            ("token_log_loss", Some(self.token_log_loss)),
            ("token_macro_f1", self.token_macro_f1),
            ("annotator_token_macro_f1", self.annotator_token_macro_f1),
            ("span_f1_exact", self.span_f1_exact),
            ("span_f1_overlap", self.span_f1_overlap),
            ("token_disagreement_auroc", self.token_disagreement_auroc),
            ("token_disagreement_auroc_by_type", self.token_disagreement_auroc_by_type),
            ("token_disagreement_spearman", self.token_disagreement_spearman),
            ("text_disagreement_spearman", self.text_disagreement_spearman),
            ("text_disagreement_auroc", self.text_disagreement_auroc),
        ]
    }
}
