//! Crossed random effects: an effect of every text and a link of every annotator, given text scores.
//!
//! The model of docs/src/explanation/model.md: `f(a, t) = score_t + c_t + intercepts_a (+ d_a.z_t)` with
//! `c_t ~ N(0, text_var)`, an annotator's random effects `~ N(0, prior)` and slopes `~ N(b, slope_vars)`,
//! where `b` is 0 or that of the annotator's groups (`group_slopes.rs`), all divided by a scale of the text
//! where texts have their own (`text_scale.rs`). Variances and average intercepts are estimated by
//! expectation maximisation (empirical Bayes). Each label contributes once in each direction: an annotator is
//! fitted against the text's posterior without this annotator's label, a text against the annotator's
//! posterior without this text's label (sum-product on the graph of texts and annotators, with normal
//! messages; Minka 2001, Expectation propagation).

mod annotator;
pub(crate) mod annotator_columns;
mod attribute_effects;
mod attributes;
pub(crate) mod convergence;
mod crossed;
mod discrimination;
mod dispersion;
mod em;
mod estimation;
mod fixed_effects;
pub(crate) mod group_columns;
mod group_effects;
mod group_evidence;
#[cfg(feature = "bench")]
pub mod group_slope_bench;
#[cfg(any(test, feature = "bench"))]
pub(crate) mod group_slope_simulation;
mod group_slopes;
mod initial;
mod label_spread;
#[cfg(test)]
mod laplace;
pub(crate) mod left_out;
pub(crate) mod nodes;
mod parameter_moves;
mod parameter_uncertainty;
pub(crate) mod predictor;
mod random_slopes;
mod scalar_posterior;
pub(crate) mod scale_head;
pub(crate) mod score_parts;
mod severity;
mod shared_moves;
mod text;
pub(crate) mod text_scale;
mod text_scale_selection;
#[cfg(test)]
pub(crate) mod text_scale_simulation;
pub(crate) mod text_scores;

pub use crossed::CrossedEffects;
pub use discrimination::Discrimination;
pub use dispersion::TextDispersion;
pub use estimation::{Estimation, EstimationLimit, MIN_CALIBRATION_LABELS, MIN_CALIBRATION_TEXTS};
pub(crate) use initial::initial_score_variance;
pub use score_parts::ScoreParts;
pub(crate) use shared_moves::SharedMoves;
pub use text_scale_selection::ScaleSpread;
