//! Tests of the crates below that need a whole open project, and its inside.

mod explain;
mod jobs;
mod live;
mod runs;
mod slips;
