//! What comes in and goes out: files of other tools, and packets of a study.

pub mod exchange;
pub mod study;
