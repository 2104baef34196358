//! The annotator models whose parameters are found by convex optimisation or expectation maximisation: linear heads and
//! the mixed model, on embeddings that do not change.

mod alternating;
pub(crate) mod majority;
mod multilevel;
mod prepared;
pub(crate) mod sep_heads;
pub(crate) mod shared;
#[cfg(test)]
mod sums_tests;

pub(crate) use alternating::AlternatingFit;
pub(crate) use multilevel::{Multilevel, TextScorer, fit_effects};
pub(crate) use prepared::Prepared;
