//! Figures about the labels themselves: agreement between annotators and labels aggregated to one a text.

pub(crate) mod aggregation;
