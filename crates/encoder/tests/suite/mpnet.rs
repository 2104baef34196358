//! all-mpnet-base-v2 compared with PyTorch. The encoder is fetched only on request
//! (`cargo xtask models all-mpnet-base-v2`), so this test is ignored by default (the step `data` of
//! `cargo xtask test` runs it).

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::path::{Path, PathBuf};

use dissensus_encoder::{DeviceChoice, Encoder, EncoderOptions, LongTexts, PrecisionChoice, locate};
use serde::Deserialize;

/// Made by tools/fixtures/encoder.py with sentence-transformers.
#[derive(Deserialize)]
struct Reference {
    max_tokens: usize,
    texts: Vec<String>,
    mean: Vec<Vec<f32>>,
}

fn mpnet() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let places: Vec<PathBuf> =
        std::env::var_os("DISSENSUS_MODELS").map(PathBuf::from).into_iter().chain([workspace]).collect();
    locate("all-mpnet-base-v2", &places).unwrap()
}

#[test]
#[ignore = "needs the encoder all-mpnet-base-v2: cargo xtask test data"]
fn embeddings_of_twenty_texts_match_pytorch() {
    let dir = mpnet();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mpnet-20.json");
    let reference: Reference = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // Cuts long texts, as in sentence-transformers, which made the reference.
    let options = EncoderOptions {
        device: DeviceChoice::Cpu,
        long_texts: LongTexts::Truncate,
        ..EncoderOptions::default()
    };
    let encoder = Encoder::open(&dir, &options).unwrap();
    assert_eq!(encoder.version().key(), "all-mpnet-base-v2/78c0197b6159/mean/384");
    assert_eq!(encoder.version().max_tokens, reference.max_tokens);
    let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();
    let fast = EncoderOptions { precision: PrecisionChoice::Fast, ..options };
    let refused = Encoder::open(&dir, &fast).unwrap_err();
    assert_eq!(refused.code(), "encoder-precision");
    let found = encoder.encode(&texts).unwrap();
    let pairs = found.iter().flatten().zip(reference.mean.iter().flatten());
    let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 1e-4, "the worst component is off by {off}");
}
