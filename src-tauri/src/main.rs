//! Starts the window: `dissensus-window [--read-only] [FILE|LINK]...`.
#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

use std::process::ExitCode;

#[allow(unsafe_code, reason = "the environment is set before anything else runs")]
fn main() -> ExitCode {
    // SAFETY: no thread has been started yet.
    unsafe { dissensus_encoder::bind_tensors_to_threads() };
    dissensus_window::run(std::env::args_os().skip(1))
}
