//! The annotator models whose parameters are found by convex optimisation or expectation maximisation: linear heads and
//! the mixed model, on embeddings that do not change.

pub(crate) mod majority;
mod multilevel;
mod prepared;
pub(crate) mod sep_heads;
pub(crate) mod shared;
#[cfg(test)]
mod sums_tests;
mod turn;

pub(crate) use multilevel::{EncoderToScore, Multilevel, fit_effects};
pub(crate) use prepared::Prepared;
pub(crate) use turn::TurnFit;
