//! Tests of lower crates that need a whole open project, including its internals.

mod explain;
mod jobs;
mod live;
mod rearranged;
mod runs;
mod slips;
