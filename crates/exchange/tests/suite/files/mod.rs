//! Files from users and files written by the product, read through the public interface.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bodies;
mod conll;
mod damage;
mod errors;
mod guesses;
mod meanings;
mod questions;
mod reference;
mod repetitions;
mod round_trip;
mod sample;
mod span_rows;
