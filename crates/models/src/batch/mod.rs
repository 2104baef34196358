//! The annotator models whose parameters are found by convex optimisation or expectation maximisation: linear
//! heads and the mixed model, on fixed embeddings.

mod alternating;
mod linear_heads;
pub mod majority;
mod multilevel;
mod on_tuned_encoder;
mod prepared;
pub mod sep_heads;
pub mod shared;
#[cfg(test)]
mod sums_tests;
mod validated;

pub use alternating::AlternatingFit;
pub use linear_heads::LinearHeads;
pub use multilevel::{Multilevel, TextScorer, fit_at_face_value, fit_effects};
pub use on_tuned_encoder::calibration_texts;
pub use prepared::Prepared;
pub use prepared::PreparedTexts;
pub use validated::validation_scores;
