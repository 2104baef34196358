//! Scores of every text by several questions, and the correlations between them.

use dissensus_api::QuestionCorrelation;
use dissensus_domain::{Question, TextId};

/// Mean predictions of a question's model over annotators.
pub(super) struct QuestionScores {
    pub(super) question: Question,
    pub(super) run: Option<u32>,
    /// Texts x levels, by models that have learned the labels of the text.
    pub(super) as_learned: Vec<f64>,
    /// Texts x levels, by models that learned from none of the text's labels; NaN if there is none.
    pub(super) held_out: Vec<f64>,
    /// Texts whose labels, or those of a copy, trained the model.
    pub(super) learned: Vec<bool>,
}

/// All scores, and the data that all questions share.
pub(super) struct ScoredTexts {
    pub(super) scored: Vec<QuestionScores>,
    /// For each text the first one with the same body.
    pub(super) first_with_body: Vec<u32>,
    /// The number of the models that scored a text.
    pub(super) strata: Vec<u16>,
    /// The cluster of each text: texts of one group are in one cluster, and so are copies.
    pub(super) clusters: Vec<u32>,
    /// Texts that trained the encoder.
    pub(super) taught_encoder: Vec<bool>,
    pub(super) annotators: usize,
    pub(super) folds: Option<u8>,
}

/// One score for every text.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) score: String,
    pub(super) range: (f64, f64),
    /// Index of its question among the scored questions.
    pub(super) of: usize,
    pub(super) as_learned: Vec<f64>,
    pub(super) held_out: Vec<f64>,
}

/// A result, and the data of its points.
pub(super) struct CorrelationResult {
    pub(super) shown: QuestionCorrelation,
    pub(super) columns: Vec<Column>,
    pub(super) texts: ScoredTexts,
    pub(super) ids: Vec<TextId>,
}
