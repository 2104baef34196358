//! Figures against references of other libraries and simulations. A single test program, because linking each
//! one is slow.

mod agreement;
mod attribute_share;
mod coverage;
mod metrics;
mod multi_label;
mod paired_differences;
mod reference;
mod score_correlation;
mod unitizing;
