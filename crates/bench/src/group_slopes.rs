//! Slopes of groups on simulated projects: how often they are found, and what they are worth.

use dissensus_models::mixed::group_slope_bench::{
    AlikeGroups, DifferingGroups, GroupSlopeIntervals, alike_groups, differing_groups, group_slope_intervals,
};
use serde::Serialize;

/// Slopes of groups on simulated projects of 60 people.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSlopesBench {
    /// 60 projects of each design.
    pub differing: Vec<DifferingGroups>,
    /// 100 projects of each design.
    pub intervals: Vec<GroupSlopeIntervals>,
    /// 200 projects of each design.
    pub alike: Vec<AlikeGroups>,
}

/// Simulates and fits all projects, which takes minutes.
pub fn group_slopes() -> GroupSlopesBench {
    GroupSlopesBench {
        differing: differing_groups(60),
        intervals: group_slope_intervals(100),
        alike: alike_groups(200),
    }
}
