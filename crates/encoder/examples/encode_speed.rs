//! Encodes the lines of a file with our engine and with candle-transformers, and prints both speeds as JSON.
//!
//! `cargo run --release -p dissensus-encoder --features bench --example encode_speed -- FOLDER FILE [THREADS]`
#![allow(clippy::print_stdout, reason = "an example for the command line")]

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: encode_speed FOLDER FILE [THREADS]".into());
    };
    let threads = arguments.next().map(|n| n.parse()).transpose()?;
    let text = std::fs::read_to_string(file)?;
    let texts: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let bench = dissensus_encoder::bench::encode(&PathBuf::from(folder), &texts, threads, 2)?;
    println!("{}", serde_json::to_string_pretty(&bench)?);
    Ok(())
}
