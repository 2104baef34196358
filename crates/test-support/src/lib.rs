//! Utilities for tests of several crates. Nothing in the product depends on it.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test as the test itself would")]

mod forge;
pub mod local_hub;
#[cfg(unix)]
pub mod power_cut;
mod project;

pub use forge::forge;
pub use project::{OpenProject, TestProject};
pub use rusqlite;
