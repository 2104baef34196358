//! Models, measures and figures against references and simulations. One program, because each costs a link and a hundred megabytes; what measures a process or
//! runs for minutes stands beside it.

mod agreement;
mod attribute_share;
mod coverage;
mod disagreement_interval;
mod estimation_limits;
mod evaluate;
mod group_comparison;
mod group_gaps;
mod group_sides;
mod label_weight;
mod live;
mod metrics;
mod multi_label;
mod paired_differences;
mod reference;
mod score_correlation;
mod severity_sides;
mod slips;
mod unitizing;
