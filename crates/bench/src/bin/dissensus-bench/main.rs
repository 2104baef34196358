//! `dissensus-bench`: measures Dissensus on this machine, for its developers. Built and run by `cargo xtask
//! bench`.

mod args;
mod disagreement;
mod encode;
mod group_slopes;
mod import;
mod large;
mod live;
mod live_spans;
mod output;
mod panel;
mod predict;
mod study;
mod train;

use anyhow::{Context as _, Result};
use args::{Benchmark, Cli};
use clap::Parser as _;
use dissensus_project::home::Home;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[allow(unsafe_code, reason = "the environment is set before anything else runs")]
fn main() -> ExitCode {
    // SAFETY: nothing has started a thread yet.
    unsafe { dissensus_encoder::bind_tensors_to_threads() };
    let cli = Cli::parse();
    match start_log(cli.log.as_deref()).and_then(|()| run(cli.benchmark)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Starts the log, unless the system has no home folder for it.
fn start_log(level: Option<&str>) -> Result<()> {
    match Home::of_user(None) {
        Ok(home) => Ok(dissensus_project::log::start_log(&home, level)?),
        Err(_) => Ok(()),
    }
}

fn run(benchmark: Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Encode(args) => encode::run(args),
        Benchmark::Train(args) => train::run(args),
        Benchmark::Disagreement(args) => disagreement::run(args),
        Benchmark::Panel(args) => panel::run(args),
        Benchmark::Large(args) => large::run(&args),
        Benchmark::LargeStep { step, folder, file } => large::step(step, &folder, &file),
        Benchmark::Live(args) => live::run(&args),
        Benchmark::LiveSpans(args) => live_spans::run(&args),
        Benchmark::GroupSlopes(args) => group_slopes::run(&args),
        Benchmark::Study(args) => study::run(&args),
        Benchmark::Predict(args) => predict::run(&args),
        Benchmark::Import(args) => import::run(&args),
        Benchmark::ImportShapes(args) => import::run_shapes(&args),
        Benchmark::Worker => encode::worker(),
    }
}

/// Path of this program, which starts itself again for engines and steps.
fn program() -> Result<PathBuf> {
    std::env::current_exe().context("this program cannot find itself to start its engines")
}

/// Prints progress on standard error.
fn say(line: &str) {
    // Progress is lost if standard error is closed, which is no failure.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
