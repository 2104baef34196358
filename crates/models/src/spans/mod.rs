//! Models of which words of a text an annotator marks, and with which type: annotator models over words
//! instead of texts.
//!
//! A word is the unit: whether an annotator marks it with a type is a yes/no decision, learned from the
//! hidden states of its tokens, its form, and how readily that annotator marks the type.

mod answer_sums;
mod baselines;
mod data;
mod differing;
mod disagreement;
mod evaluate;
mod head;
mod head_objective;
#[cfg(test)]
mod interval_tests;
mod live;
mod live_bytes;
mod marks;
mod model;
mod own_effects;
mod own_text;
mod readiness;
mod scored_words;
mod selection;
#[cfg(any(test, feature = "test-support"))]
pub mod simulated;
#[cfg(test)]
mod tests;
mod token_scores;
mod tuned;

pub use baselines::WordFrequency;
pub use data::{SpanAnswer, SpanTexts, WordFeatures};
pub use head_objective::Scaling;
pub use model::limited;
pub use selection::{Halves, best_threshold, divide};

pub use disagreement::{WordDisagreement, word_disagreement};
pub use evaluate::{SpanEvaluation, SpanPredictions};
pub use live::{ExpectedMarks, LiveSpans};
pub use marks::runs_of_words;
pub use model::{SpanFitOptions, SpanModel, SpanTraining, TypeReport, WordView};
pub use own_effects::{OwnEffects, Population};
pub use readiness::{Readiness, fit_readiness};
pub use token_scores::{TokenScores, TypeTokenScores};
pub use tuned::TypeHead;
