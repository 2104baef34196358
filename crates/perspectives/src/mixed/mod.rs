//! Crossed random effects: every text's own effect and every annotator's own link, given text scores.
//!
//! The model of docs/DESIGN.md, decision 3: `f(a, t) = score_t + c_t + intercepts_a (+ d_a.z_t)` with `c_t ~ N(0, text_var)`,
//! an annotator's random effects `~ N(0, prior)` and slopes `~ N(0, slope_vars)`. Variances and average intercepts are found by
//! expectation maximisation (empirical Bayes). An annotator is fitted against the labels of the *others* on each text (the
//! text's posterior without this annotator's label). The reverse does not hold: a text is fitted against annotators whose
//! posteriors include their labels of that text.

mod annotator;
pub(crate) mod annotator_columns;
mod attribute_effects;
mod attributes;
mod crossed;
mod em;
pub(crate) mod gaussian_process;
mod initial;
pub(crate) mod link;
pub(crate) mod nodes;
pub(crate) mod predictor;
pub(crate) mod quadrature;
mod random_slopes;
mod severity;
mod text;

pub(crate) use crossed::CrossedEffects;
pub(crate) use initial::initial_score_variance;
pub use severity::Severity;
