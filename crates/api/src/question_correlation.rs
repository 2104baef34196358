//! Correlation of predicted scores between questions.

use dissensus_domain::{QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// The parameters of a correlation.
    #[derive(Eq, Hash, Default)]
    pub struct CorrelationChoice {
        /// The questions, or options of them; every question with labels if empty.
        pub questions: Vec<QuestionId>,
        /// Finished runs whose models score instead of the live ones; they determine the questions.
        pub runs: Vec<u32>,
    }

    /// A score of every text.
    pub struct ScoredQuestion {
        /// The question, or one of its options.
        pub question: QuestionId,
        /// Its name; for a choice question with the level.
        pub name: String,
        /// The kind of the score, in words: the mean level, or the probability of an answer.
        pub score: String,
        /// Minimum and maximum possible value.
        pub range: (f64, f64),
        /// The run whose model scores; the live model with `None`.
        pub run: Option<u32>,
        /// Number of texts whose labels trained the model, copies counted once.
        pub learned: u32,
    }

    /// A correlation, in -1..=1.
    #[derive(Copy)]
    pub struct CorrelationFigure {
        /// The correlation.
        pub value: f64,
        /// Its 95 % interval over texts; `None` with fewer than 20 texts (or groups of texts), or if it is
        /// exact.
        pub interval: Option<(f64, f64)>,
    }

    /// The correlation of two scores over the same texts; `None` if one of them does not vary.
    #[derive(Copy, Default)]
    pub struct CorrelationFigures {
        /// Number of texts, copies counted once.
        pub texts: u32,
        /// Pearson's correlation.
        pub pearson: Option<CorrelationFigure>,
        /// Spearman's rank correlation.
        pub spearman: Option<CorrelationFigure>,
    }

    /// A pair of scores.
    #[derive(Copy)]
    pub struct ScorePair {
        /// Index of the first score in the list.
        pub a: u32,
        /// Index of the second one, after the first.
        pub b: u32,
        /// Numbers of texts whose labels trained both models, only the first, only the second, and neither.
        pub learned: (u32, u32, u32, u32),
        /// Over all texts that can be scored by models that learned from none of their labels.
        pub held_out: CorrelationFigures,
        /// The texts among these without labels of either question.
        pub unlabelled: CorrelationFigures,
        /// Over all texts, with the models' own scores, which have learned from the texts' labels. Without
        /// intervals.
        pub as_learned: CorrelationFigures,
    }

    /// Predicted scores of questions, correlated with one another.
    pub struct QuestionCorrelation {
        /// The parameters.
        pub choice: CorrelationChoice,
        pub scores: Vec<ScoredQuestion>,
        /// Every pair of scores, in the order of `a`, then of `b`.
        pub pairs: Vec<ScorePair>,
        /// Number of texts, copies counted once.
        pub texts: u32,
        /// Further texts with the same body as one of these.
        pub copies: u32,
        /// Texts that trained the encoder; they are in no held-out figure.
        pub taught_encoder: u32,
        /// Number of annotators over whom a score is averaged; for runs the largest number.
        pub annotators: u32,
        /// Number of folds of the labelled texts; none if runs score.
        pub folds: Option<u32>,
        /// Notes, including on questions that were left out.
        pub notes: Vec<String>,
        /// Revision of the predictions before labels were read.
        pub revision: u32,
        /// Whether labels have changed since.
        pub stale: bool,
    }

    /// Two scores of every text, for a plot.
    pub struct CorrelationPoints {
        pub texts: Vec<TextId>,
        /// Their first scores, held out if available.
        pub x: Vec<f64>,
        /// Their second scores.
        pub y: Vec<f64>,
        /// 1 if labels of the text trained the first model, 2 the second, 3 both, otherwise 0. The scores
        /// here learned from none of them.
        pub learned: Vec<u8>,
        /// Number of all points, of which those above are an even selection.
        pub all: u32,
    }
}
