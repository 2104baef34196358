//! One label for each text out of those of many annotators: majority, Dawid-Skene, MACE and GLAD.
//!
//! Aggregation believes that a text has one true level and that annotators differ by error. Models of annotators do not; these
//! are the yardstick they are held against, and what other tools expect to be given.

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
