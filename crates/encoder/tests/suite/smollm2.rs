//! SmolLM2-135M-Instruct-q4 compared with transformers. The encoder is fetched only on request
//! (`cargo xtask models SmolLM2-135M-Instruct-q4`), so this test is ignored by default (the step `data` of
//! `cargo xtask test` runs it).

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::path::{Path, PathBuf};

use dissensus_encoder::{DeviceChoice, Encoder, EncoderOptions, FreezePolicy, Trainable, locate};
use serde::Deserialize;

/// Made by tools/fixtures/smollm2.py with transformers.
#[derive(Deserialize)]
struct Reference {
    texts: Vec<String>,
    ids: Vec<Vec<u32>>,
    last: Vec<Vec<f32>>,
}

#[test]
#[ignore = "needs the encoder SmolLM2-135M-Instruct-q4: cargo xtask test data"]
fn ids_and_states_match_transformers() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let places: Vec<PathBuf> =
        std::env::var_os("DISSENSUS_MODELS").map(PathBuf::from).into_iter().chain([workspace]).collect();
    let dir = locate("SmolLM2-135M-Instruct-q4", &places).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/smollm2.json");
    let reference: Reference = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let options = EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() };
    let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();

    let learning = Trainable::open(&dir, &options, &FreezePolicy::Frozen, 1).unwrap();
    assert_eq!(learning.tokenize(&texts).unwrap(), reference.ids);
    let encoder = Encoder::open(&dir, &options).unwrap();
    assert_eq!(encoder.version().key(), "SmolLM2-135M-Instruct-q4/b179c9523d0e/last/8192/windows/raw");
    let found = encoder.encode(&texts).unwrap();
    let pairs = found.iter().flatten().zip(reference.last.iter().flatten());
    let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("the worst component is off by {off}");
    // Components go up to 45.
    assert!(off < 1e-3, "the worst component is off by {off}");
}
