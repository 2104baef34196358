//! all-MiniLM-L6-v2 compared with PyTorch. Needs the real encoder: `cargo xtask models`.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::path::{Path, PathBuf};

use dissensus_encoder::{
    DeviceChoice, Encoder, EncoderOptions, LongTexts, Pooling, Precision, PrecisionChoice, Trainable, locate,
};
use serde::Deserialize;
use std::collections::HashMap;

/// Made by tools/fixtures/encoder.py with sentence-transformers and transformers.
#[derive(Deserialize)]
struct Reference {
    max_tokens: usize,
    texts: Vec<String>,
    mean: Vec<Vec<f32>>,
    other_poolings_on: Vec<usize>,
    other_poolings: HashMap<String, Vec<Vec<f32>>>,
}

fn reference() -> Reference {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/minilm-20.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn minilm() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let places: Vec<PathBuf> =
        std::env::var_os("DISSENSUS_MODELS").map(PathBuf::from).into_iter().chain([workspace]).collect();
    match locate("all-MiniLM-L6-v2", &places) {
        Ok(dir) => dir,
        Err(error) => panic!("this test needs the real encoder, run `cargo xtask models`: {error}"),
    }
}

/// Cuts long texts, as in sentence-transformers, which made the reference.
fn options() -> EncoderOptions {
    EncoderOptions { device: DeviceChoice::Cpu, long_texts: LongTexts::Truncate, ..EncoderOptions::default() }
}

fn open(pooling: Option<Pooling>) -> Encoder {
    Encoder::open(&minilm(), &EncoderOptions { pooling, ..options() }).unwrap()
}

fn worst(found: &[Vec<f32>], expected: &[Vec<f32>]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn version_matches_the_catalogue() {
    assert_eq!(open(None).version().key(), "all-MiniLM-L6-v2/53aa51172d14/mean/256");
    let encoder =
        Encoder::open(&minilm(), &EncoderOptions { long_texts: LongTexts::Average, ..options() }).unwrap();
    assert_eq!(encoder.version().key(), "all-MiniLM-L6-v2/53aa51172d14/mean/256/windows");
    assert_eq!((encoder.version().dim, encoder.version().normalised), (384, true));
    assert_eq!(encoder.device_name(), "cpu");
}

#[test]
fn embeddings_of_twenty_texts_match_pytorch() {
    let reference = reference();
    let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();
    let encoder = open(None);
    assert_eq!(encoder.version().max_tokens, reference.max_tokens);
    let off = worst(&encoder.encode(&texts).unwrap(), &reference.mean);
    assert!(off < 1e-4, "the worst component is off by {off}");
}

#[test]
fn other_poolings_match_pytorch() {
    let reference = reference();
    let texts: Vec<&str> = reference.other_poolings_on.iter().map(|i| reference.texts[*i].as_str()).collect();
    for pooling in [Pooling::Cls, Pooling::Max, Pooling::Mean2, Pooling::Max2] {
        let found = open(Some(pooling)).encode(&texts).unwrap();
        let off = worst(&found, &reference.other_poolings[pooling.as_str()]);
        assert!(off < 1e-4, "{pooling}: the worst component is off by {off}");
    }
}

#[test]
fn int8_is_close_and_has_its_own_version() {
    let (texts, expected) = (reference().texts, reference().mean);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let with = |precision| Encoder::open(&minilm(), &EncoderOptions { precision, ..options() }).unwrap();
    let worst_cosine = |encoder: &Encoder| {
        let found = encoder.encode(&texts).unwrap();
        // All have length 1.
        let cosine = |(a, b): (&Vec<f32>, &Vec<f32>)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        found.iter().zip(&expected).map(cosine).fold(1.0, f32::min)
    };
    let plain = with(PrecisionChoice::default());
    assert_eq!(plain.version().key(), "all-MiniLM-L6-v2/53aa51172d14/mean/256");
    let bytes = with(PrecisionChoice::Exactly(Precision::Int8));
    assert_eq!(bytes.version().key(), "all-MiniLM-L6-v2/53aa51172d14/mean/256/int8");
    assert!(worst_cosine(&bytes) >= 0.995);
    // The meaning of `fast` depends on the processor's instructions.
    let fast = with(PrecisionChoice::Fast);
    let version = fast.version().key();
    assert!([plain.version().key(), bytes.version().key()].contains(&version), "{version}");
    assert!(worst_cosine(&fast) >= 0.995);
}

#[test]
fn every_hidden_state_is_available() {
    let encoder = open(None);
    let states = encoder.hidden_states("I do not agree with this at all.").unwrap();
    assert_eq!((states.len(), states[0].len(), states[6][0].len()), (7, 11, 384));
    let tokens = &states[6];
    let mean: Vec<f32> =
        (0..384).map(|c| tokens.iter().map(|token| token[c]).sum::<f32>() / tokens.len() as f32).collect();
    let norm = mean.iter().map(|v| v * v).sum::<f32>().sqrt();
    let embedding = &encoder.encode(&["I do not agree with this at all."]).unwrap()[0];
    assert!(embedding.iter().zip(&mean).all(|(a, b)| (a - b / norm).abs() < 1e-5));
}

#[test]
fn trainable_and_frozen_encoders_agree() {
    let reference = reference();
    let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();
    let options = EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() };
    for policy in ["full", "last-2", "lora"] {
        let learning = Trainable::open(&minilm(), &options, &policy.parse().unwrap(), 1).unwrap();
        let ids = learning.tokenize(&texts).unwrap();
        let found = learning.embed(&ids, None).unwrap().to_vec2::<f32>().unwrap();
        let off = worst(&found, &reference.mean);
        assert!(off < 1e-4, "{policy}: the worst component is off by {off}");
    }
}
