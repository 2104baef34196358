//! Starts the window: `dissensus-window [PROJECT.dissensus]`.
#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    dissensus_window::run(std::env::args_os().skip(1))
}
