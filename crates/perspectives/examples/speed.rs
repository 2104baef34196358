//! Times a click and a pass over all predictions.
//!
//! `cargo run --release --example speed`

#![allow(clippy::print_stdout, clippy::print_stderr)] // an example talks to its terminal

use dissensus_perspectives::bench;

fn main() -> Result<(), dissensus_perspectives::PerspectivesError> {
    let mut live = bench::live_model(10_000, 262, 5, 50, 0)?;
    let mut times = bench::live(&mut live, 500, 1)?;
    let (median, worst) =
        (bench::percentile(&mut times.click_ms, 0.5), bench::percentile(&mut times.click_ms, 0.99));
    println!("click: median {median:.3} ms, p99 {worst:.3} ms; ranking {:.3} ms", times.ranking_ms);
    let model = bench::predictor(10_000, 262, 5, 0);
    println!("{:?}", bench::predict(model.as_ref(), true, None));
    let model = bench::predictor(100_000, 17_000, 2, 0);
    println!("{:?}", bench::predict(model.as_ref(), false, Some(5_000)));
    Ok(())
}
