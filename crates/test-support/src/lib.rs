//! What tests of several crates share. Nothing of the product depends on it.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test as the test itself would")]

mod forge;
pub mod local_hub;
#[cfg(unix)]
pub mod power_cut;

pub use forge::forge;
pub use rusqlite;
