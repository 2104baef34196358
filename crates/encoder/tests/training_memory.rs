//! The memory of training does not grow with the number of cores.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]
#![allow(unsafe_code, reason = "an allocator that counts can only be written so")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{DType, Device, Tensor};
use dissensus_encoder::{DeviceChoice, EncoderOptions, FreezePolicy, Trainable};
use serde_json::json;

/// Bytes in use, and the maximum since it was last reset.
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed on unchanged; the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const HIDDEN: usize = 64;
/// So many that their gradients outweigh everything else, including the scratch memory of matrix products:
/// 24 MiB.
const VOCABULARY: usize = 100_000;

/// A BERT of one layer with a large vocabulary, and the tiny tokenizer, which knows its first words.
fn large_vocabulary(dir: &Path) {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
    fs::copy(tiny.join("tokenizer.json"), dir.join("tokenizer.json")).unwrap();
    let config = json!({
        "model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 128, "max_position_embeddings": 32, "type_vocab_size": 2
    });
    fs::write(dir.join("config.json"), config.to_string()).unwrap();
    let layer = "encoder.layer.0";
    let mut tensors: HashMap<String, Tensor> = HashMap::new();
    let mut add = |name: String, shape: &[usize]| {
        tensors.insert(name, Tensor::randn(0f32, 0.05, shape, &Device::Cpu).unwrap());
    };
    for (table, rows) in [("word", VOCABULARY), ("position", 32), ("token_type", 2)] {
        add(format!("embeddings.{table}_embeddings.weight"), &[rows, HIDDEN]);
    }
    for norm in [
        "embeddings.LayerNorm",
        &format!("{layer}.attention.output.LayerNorm"),
        &format!("{layer}.output.LayerNorm"),
    ] {
        add(format!("{norm}.weight"), &[HIDDEN]);
        add(format!("{norm}.bias"), &[HIDDEN]);
    }
    for (name, outputs, inputs) in [
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", 128, HIDDEN),
        ("output.dense", HIDDEN, 128),
    ] {
        add(format!("{layer}.{name}.weight"), &[outputs, inputs]);
        add(format!("{layer}.{name}.bias"), &[outputs]);
    }
    candle_core::safetensors::save(&tensors, dir.join("model.safetensors")).unwrap();
}

/// Additional bytes that a step needs, and the gradient of the word embeddings.
fn step(dir: &Path, threads: usize) -> (usize, Vec<f32>) {
    let options =
        EncoderOptions { threads: Some(threads), device: DeviceChoice::Cpu, ..EncoderOptions::default() };
    let trainable = Trainable::open(dir, &options, &FreezePolicy::Full, 1).unwrap();
    let texts: Vec<String> = (0..16).map(|i| format!("this is not fair {}", "good ".repeat(i % 5))).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ids = trainable.tokenize(&borrowed).unwrap();
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let gradients =
        trainable.gradients(&ids, None, &[], |embeddings, _| embeddings.sqr()?.sum_all()).unwrap();
    let most = PEAK.load(Ordering::Relaxed) - before;
    let words = gradients.get("embeddings.word_embeddings.weight").unwrap();
    assert_eq!((words.dtype(), words.dims()), (DType::F32, &[VOCABULARY, HIDDEN][..]));
    (most, words.flatten_all().unwrap().to_vec1().unwrap())
}

#[test]
fn sixteen_workers_use_little_more_memory_than_one() {
    let dir = tempfile::tempdir().unwrap();
    large_vocabulary(dir.path());
    let table = VOCABULARY * HIDDEN * size_of::<f32>();
    let (alone, expected) = step(dir.path(), 1);
    let (many, found) = step(dir.path(), 16);
    // One gradient of all words, wherever it was computed; a separate one per worker would be 16 more.
    assert!(alone >= table, "{alone} bytes hold no gradient of {table}");
    assert!(many < alone + 2 * table, "{many} bytes with 16 workers, {alone} with one");
    let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-5, "off by {worst}");
    // The same again, regardless of which worker is done first.
    assert_eq!(step(dir.path(), 16).1, found);
}
