//! The annotator models whose parameters are found by convex optimisation or expectation maximisation: linear heads and
//! the mixed model, on embeddings that do not change.

mod alternating;
mod linear_heads;
pub(crate) mod majority;
mod multilevel;
mod on_tuned_encoder;
mod prepared;
pub(crate) mod sep_heads;
pub(crate) mod shared;
#[cfg(test)]
mod sums_tests;
mod validated;

pub(crate) use alternating::AlternatingFit;
pub(crate) use linear_heads::LinearHeads;
pub(crate) use multilevel::{Multilevel, TextScorer, fit_at_face_value, fit_effects};
pub use on_tuned_encoder::calibration_texts;
pub(crate) use prepared::Prepared;
pub use prepared::PreparedTexts;
pub(crate) use validated::validation_scores;
