//! Encoding, on wish beside candle-transformers' own model on texts sorted by length.

use crate::encoders;
use crate::error::WorkbenchError;
use crate::home::Home;
use crate::work::Unwatched;
use dissensus_encoder::bench::{EncodeBench, encode as paired};
use dissensus_exchange::{Source, guess_roles, read_rows};
use std::collections::HashSet;
use std::path::Path;

/// Encodes the different texts of `file` (the sample's comments where there is none), at most `limit` of them, `rounds` times with
/// each engine (candle-transformers only with `peers`), the encoder named `encoder` or the default.
///
/// # Errors
/// No encoder, or the file cannot be read.
pub fn encode(
    home: &Home,
    encoder: Option<&str>,
    file: Option<&Path>,
    limit: Option<usize>,
    rounds: usize,
    peers: bool,
) -> Result<EncodeBench, WorkbenchError> {
    let found = encoders::find_or_fetch(home, encoder, None, &Unwatched)?;
    let mut texts = match file {
        Some(file) => texts_of(file)?,
        None => crate::sample::comments()?,
    };
    texts.truncate(limit.unwrap_or(usize::MAX));
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(paired(&found.dir, &borrowed, None, rounds, peers)?)
}

fn texts_of(file: &Path) -> Result<Vec<String>, WorkbenchError> {
    let source = Source::open(file)?;
    let rows = read_rows(&source, &guess_roles(&source)?)?;
    let mut seen = HashSet::new();
    let texts = rows.filter_map(Result::ok).filter_map(|row| row.text);
    Ok(texts.filter(|text| seen.insert(text.clone())).collect())
}
