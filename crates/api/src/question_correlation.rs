//! How predicted scores of one question go with those of another.

use dissensus_domain::{QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What is correlated.
    #[derive(Eq, Hash, Default)]
    pub struct CorrelationChoice {
        /// The questions, or options of them; every question with labels if empty.
        pub questions: Vec<QuestionId>,
        /// Finished runs whose models score in place of the live ones; of these the questions are taken.
        pub runs: Vec<u32>,
    }

    /// A score that every text gets.
    pub struct ScoredQuestion {
        /// The question, or one of its options.
        pub question: QuestionId,
        /// Its name; of a choice question with the level.
        pub name: String,
        /// What the score is, in words: the mean level, or the probability of an answer.
        pub score: String,
        /// The least and the greatest value that it can have.
        pub range: (f64, f64),
        /// The run whose model scores; the live model with `None`.
        pub run: Option<u32>,
        /// Texts whose labels have taught the model, copies counted once.
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

    /// Two scores of the same texts, correlated; `None` where one of them does not vary.
    #[derive(Copy, Default)]
    pub struct CorrelationFigures {
        /// Texts, copies counted once.
        pub texts: u32,
        /// Pearson's correlation.
        pub pearson: Option<CorrelationFigure>,
        /// Spearman's rank correlation.
        pub spearman: Option<CorrelationFigure>,
    }

    /// Two scores.
    #[derive(Copy)]
    pub struct ScorePair {
        /// Place of the first score in the list.
        pub a: u32,
        /// Place of the second one, after the first.
        pub b: u32,
        /// Numbers of texts whose labels trained both models, only the first, only the second, and neither.
        pub learned: (u32, u32, u32, u32),
        /// Over all texts that can be scored by models that learned from none of their labels.
        pub held_out: CorrelationFigures,
        /// Of these the texts without labels of either question.
        pub unlabelled: CorrelationFigures,
        /// Over all texts, with the models' own scores, which have learned from the texts' labels. Without
        /// intervals.
        pub as_learned: CorrelationFigures,
    }

    /// Predicted scores of questions, correlated with one another.
    pub struct QuestionCorrelation {
        /// What was asked for.
        pub choice: CorrelationChoice,
        pub scores: Vec<ScoredQuestion>,
        /// Every pair of them, in the order of `a`, then of `b`.
        pub pairs: Vec<ScorePair>,
        /// Texts, copies counted once.
        pub texts: u32,
        /// Further texts with the same body as one of these.
        pub copies: u32,
        /// Texts that taught the encoder: they are in no held-out figure.
        pub taught_encoder: u32,
        /// Annotators whose predictions a score is the mean of; of runs the greatest number.
        pub annotators: u32,
        /// Folds of the labelled texts; none where runs score.
        pub folds: Option<u32>,
        /// Questions that were left out, and why; what else is to be known.
        pub notes: Vec<String>,
        /// Revision of the predictions before labels were read.
        pub revision: u32,
        /// Whether labels have changed since.
        pub stale: bool,
    }

    /// Two scores of every text, to be drawn.
    pub struct CorrelationPoints {
        pub texts: Vec<TextId>,
        /// Their first scores, held out where there is one.
        pub x: Vec<f64>,
        /// Their second scores.
        pub y: Vec<f64>,
        /// 1 if labels of the text trained the first model, 2 the second, 3 both, otherwise 0. The scores
        /// here learned from none of them.
        pub learned: Vec<u8>,
        /// How many there are; those above are as many of them as can be drawn, evenly picked.
        pub all: u32,
    }
}
