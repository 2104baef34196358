//! Figures against references of other libraries and simulations.
//! One program for all, because each test program costs a link.

mod agreement;
mod attribute_share;
mod coverage;
mod metrics;
mod multi_label;
mod paired_differences;
mod reference;
mod score_correlation;
mod unitizing;
