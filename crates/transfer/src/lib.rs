//! Import and export of other tools' files, and the task packets of a study.

pub mod error;
pub mod exchange;
pub mod study;
