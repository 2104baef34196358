//! Models against simulations and their own refits. A single test program, because linking each one is slow.

mod disagreement_interval;
mod estimation_limits;
mod group_comparison;
mod group_gaps;
mod group_sides;
mod label_weight;
mod live;
mod severity_sides;
mod slips;
mod variances;
