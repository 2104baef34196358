//! Times our heads of each annotator; the counterpart of tools/bench/sep_heads.py.
//!
//! ```text
//! cargo run --release --features bench --example sep_heads -- \
//!     LABELS.csv EMBEDDINGS.npy LEVEL STRENGTH [REPEATS]
//! ```
//!
//! Labels are converted to "LEVEL (counted from 0) or more". Prints JSON: seconds of every repeat, the
//! penalised loss of every annotator (null for one class or no label).

#![allow(clippy::print_stdout)] // an example talks to its terminal

mod read;

use anyhow::{Result, ensure};
use dissensus_selection::bench;
use dissensus_stats::data::Observation;
use read::{Labels, read_npy};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    ensure!(args.len() >= 5, "usage: sep_heads LABELS.csv EMBEDDINGS.npy LEVEL STRENGTH [REPEATS]");
    let labels = Labels::read(&args[1])?;
    let embeddings = read_npy(&args[2])?;
    ensure!(
        embeddings.texts == labels.splits.len() && labels.attributes.len() < 100,
        "one row for each text"
    );
    let (level, penalty): (u16, f64) = (args[3].parse()?, args[4].parse()?);
    ensure!(level > 0 && usize::from(level) < labels.levels, "levels are 1 to {}", labels.levels - 1);
    let repeats: usize = args.get(5).map_or(Ok(5), |n| n.parse())?;
    let binary: Vec<Observation> = labels
        .observations
        .iter()
        .map(|o| Observation { level: u16::from(o.level >= level), ..*o })
        .collect();
    let mut seconds = Vec::new();
    let mut losses = Vec::new();
    for _ in 0..repeats.max(1) {
        let run = bench::sep_heads(&embeddings, &binary, labels.annotators, penalty)?;
        seconds.push(run.seconds);
        losses = run.losses;
    }
    println!("{}", serde_json::json!({ "seconds": seconds, "losses": losses }));
    Ok(())
}
