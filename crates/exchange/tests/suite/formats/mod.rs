//! Files of other tools, small ones written for these tests: their format, their rows, and the notices about
//! the rest.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod argilla;
mod bad_input;
mod doccano;
mod forms;
mod inception;
mod label_studio;
mod lewidi;
mod packed;
mod potato;
mod prodigy;
mod reading;
mod teamware;
mod text_lines;
mod writing;
