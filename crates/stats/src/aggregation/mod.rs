//! One label for each text from those of many annotators: majority, Dawid-Skene, MACE and GLAD.
//!
//! Aggregation assumes that a text has one true level and that annotators differ by error. Models of
//! annotators do not; aggregation is the baseline they are compared with, and the format that other tools
//! expect.

mod aggregate;
mod dawid_skene;
mod digamma;
mod glad;
mod mace;
mod majority;
mod result;
#[cfg(test)]
mod tests;
mod votes;

pub use aggregate::aggregate;
pub use result::{
    Aggregation, AggregationFit, AggregationOptions, Aggregator, AnnotatorQuality, MaceMethod, Tie,
};
