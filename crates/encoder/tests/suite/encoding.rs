//! The contract of `encode` and `encode_stream`, on the tiny checkpoint.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::ops::ControlFlow;
use std::path::Path;

use dissensus_encoder::{BatchPlan, DeviceChoice, Encoder, EncoderOptions, LongTexts, Pooling};
use serde_json::Value;

fn open(options: &EncoderOptions) -> Encoder {
    let options = EncoderOptions { device: DeviceChoice::Cpu, ..options.clone() };
    Encoder::open(&fixtures().join("tiny"), &options).unwrap()
}

fn tiny() -> Encoder {
    open(&EncoderOptions { threads: Some(2), ..EncoderOptions::default() })
}

fn cutting() -> Encoder {
    open(&EncoderOptions { long_texts: LongTexts::Truncate, ..EncoderOptions::default() })
}

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Different texts of many lengths.
fn many(n: usize) -> Vec<String> {
    let words = ["this", "is", "not", "fair", "good", "bad", "you", "are"];
    (0..n)
        .map(|i| {
            let length = 1 + (i * 7) % 23;
            (0..length).map(|k| words[(i / 3 + k * (i + 1)) % 8]).collect::<Vec<_>>().join(" ")
                + &format!(" {i}")
        })
        .collect()
}

#[test]
fn pooled_embeddings_match_the_reference() {
    let reference: Value =
        serde_json::from_slice(&std::fs::read(fixtures().join("tiny.json")).unwrap()).unwrap();
    let texts: Vec<&str> =
        reference["texts"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
    // The tiny checkpoint has no pooler of its own.
    for pooling in Pooling::ALL.iter().copied().filter(|pooling| *pooling != Pooling::Pooler) {
        let encoder = open(&EncoderOptions {
            pooling: Some(pooling),
            max_tokens: Some(24),
            // As for the references.
            long_texts: LongTexts::Truncate,
            ..EncoderOptions::default()
        });
        let expected: Vec<Vec<f32>> =
            serde_json::from_value(reference["pooled"][pooling.as_str()].clone()).unwrap();
        for (found, expected) in encoder.encode(&texts).unwrap().iter().zip(&expected) {
            // The folder normalises, the reference does not.
            let norm = expected.iter().map(|v| v * v).sum::<f32>().sqrt();
            let expected: Vec<f32> = expected.iter().map(|v| v / norm).collect();
            assert!(worst(found, &expected) < 1e-4, "{pooling}");
        }
    }
}

#[test]
fn tokenizer_padding_and_truncation_are_overridden() {
    // The folder's tokenizer.json pads and truncates to 12 tokens; sentence_bert_config.json has 20.
    let encoder = cutting();
    let long = "good ".repeat(50);
    assert_eq!(encoder.count_tokens(&["good", &long]).unwrap(), [3, 20]);
}

#[test]
fn cut_text_keeps_its_closing_token() {
    // [CLS] and the closing [SEP] count: 18 words fill 20 tokens, and more words change only "cut".
    let encoder = cutting();
    let fits = "good ".repeat(18);
    let long = "good ".repeat(40);
    let mut cut = 0;
    let mut found = vec![Vec::new(); 2];
    let done = encoder
        .encode_stream([&fits, &long], &BatchPlan::default(), |batch| {
            cut += batch.cut;
            for (i, e) in batch.indices.into_iter().zip(batch.embeddings) {
                found[i] = e;
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(found[0], found[1]);
    assert_eq!((cut, done.cut, done.texts), (1, 1, 2));
}

#[test]
fn embedding_is_independent_of_the_batch() {
    let texts = many(300);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = tiny().encode(&texts).unwrap();
    let alone = open(&EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    for (i, text) in texts.iter().enumerate().step_by(11) {
        let off = worst(&alone.encode(&[text]).unwrap()[0], &together[i]);
        assert!(off < 1e-5, "text {i} is off by {off}");
    }
}

#[test]
fn two_runs_give_the_same_numbers() {
    let texts = many(100);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(tiny().encode(&texts).unwrap(), tiny().encode(&texts).unwrap());
}

#[test]
fn unusual_texts_have_finite_normalised_embeddings() {
    let encoder = tiny();
    let long = "a very long comment ".repeat(2_500);
    assert_eq!(long.len(), 50_000);
    let odd = [
        "",
        "   \n\t ",
        &long,
        "\u{0}\u{1}\u{7}\u{1b}[0m\u{7f}",
        "\u{feff}\u{200b}\u{202e}",
        "[SEP][CLS][PAD]",
        "\u{1F469}\u{200D}\u{1F4BB}",
    ];
    for (text, embedding) in odd.iter().zip(encoder.encode(&odd).unwrap()) {
        let norm: f32 = embedding.iter().map(|v| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-4, "{text:.20?} has the norm {norm}");
    }
    let blank = encoder.encode(&["", "  ", "\u{0}"]).unwrap();
    assert_eq!((&blank[0], &blank[0]), (&blank[1], &blank[2]));
}

#[test]
fn ten_thousand_equal_texts_are_computed_once_a_window() {
    let encoder = tiny();
    let texts = vec!["this is not fair"; 10_000];
    let (mut seen, mut tokens) = (0, 0);
    let expected = &encoder.encode(&texts[..1]).unwrap()[0];
    encoder
        .encode_stream(&texts, &BatchPlan::default(), |batch| {
            seen += batch.indices.len();
            tokens += batch.tokens;
            assert!(batch.embeddings.iter().all(|e| e == expected));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, 10_000);
    let windows = texts.len().div_ceil(BatchPlan::default().window_texts);
    assert_eq!(tokens, 6 * windows);
}

#[test]
fn stream_yields_every_text_once() {
    let texts = many(500);
    let plan = BatchPlan { window_texts: 64, batch_tokens: Some(50), ..BatchPlan::default() };
    let mut seen = vec![0; texts.len()];
    let mut last = (0, 0);
    let done = tiny()
        .encode_stream(&texts, &plan, |batch| {
            assert_eq!(batch.indices.len(), batch.embeddings.len());
            assert!(batch.tokens <= 50);
            batch.indices.iter().for_each(|i| seen[*i] += 1);
            assert!(batch.texts_done > last.0 && batch.tokens_done > last.1);
            last = (batch.texts_done, batch.tokens_done);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(seen.iter().all(|n| *n == 1));
    assert_eq!((done.texts, done.tokens, done.cancelled), (500, last.1, false));
}

#[test]
fn interrupted_stream_can_be_resumed() {
    let texts = many(400);
    let plan = BatchPlan { window_texts: 100, batch_tokens: Some(60), ..BatchPlan::default() };
    let encoder = tiny();
    let mut stored: Vec<Option<Vec<f32>>> = vec![None; texts.len()];
    let mut batches = 0;
    let done = encoder
        .encode_stream(&texts, &plan, |batch| {
            batches += 1;
            for (i, e) in batch.indices.into_iter().zip(batch.embeddings) {
                stored[i] = Some(e);
            }
            if batches == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert!(done.cancelled && batches == 5);
    let open: Vec<usize> = (0..texts.len()).filter(|i| stored[*i].is_none()).collect();
    assert!(!open.is_empty() && open.len() < texts.len());
    let rest: Vec<&str> = open.iter().map(|i| texts[*i].as_str()).collect();
    for (i, e) in open.iter().zip(encoder.encode(&rest).unwrap()) {
        stored[*i] = Some(e);
    }
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (found, expected) in stored.iter().zip(encoder.encode(&all).unwrap()) {
        assert!(worst(found.as_ref().unwrap(), &expected) < 1e-5);
    }
}

#[test]
fn stream_reads_only_one_window_ahead() {
    let read = std::cell::Cell::new(0usize);
    let texts = many(1000);
    let counting = texts.iter().inspect(|_| read.set(read.get() + 1));
    let plan = BatchPlan { window_texts: 50, batch_tokens: Some(100), ..BatchPlan::default() };
    tiny()
        .encode_stream(counting, &plan, |batch| {
            // The rest of the current window, and the next.
            assert!(read.get() <= batch.texts_done + 100);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(read.get(), 1000);
}

#[test]
fn no_texts_give_no_embeddings() {
    assert!(tiny().encode(&[]).unwrap().is_empty());
}

#[test]
fn one_encoder_serves_several_threads() {
    let encoder = tiny();
    let expected = encoder.encode(&["you are good"]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(encoder.encode(&["you are good"]).unwrap(), expected));
        }
    });
}

#[test]
fn choices_use_the_command_line_names() {
    for &pooling in Pooling::ALL {
        assert_eq!(pooling.to_string().parse::<Pooling>().unwrap(), pooling);
    }
    for &device in DeviceChoice::ALL {
        assert_eq!(device.to_string().parse::<DeviceChoice>().unwrap(), device);
    }
    assert!("median".parse::<Pooling>().unwrap_err().to_string().contains("mean2"));
    assert!("tpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("metal"));
}

#[test]
fn cancel_takes_effect_within_a_second() {
    let texts = many(20_000);
    let mut broken = None;
    let done = tiny()
        .encode_stream(texts.iter(), &BatchPlan::default(), |_| {
            broken = Some(std::time::Instant::now());
            ControlFlow::Break(())
        })
        .unwrap();
    assert!(done.cancelled);
    assert!(broken.unwrap().elapsed() < std::time::Duration::from_secs(1));
    assert!(done.texts < 2_000, "{done:?}");
}

#[test]
fn concurrent_single_texts_do_not_deadlock() {
    let encoder = tiny();
    let expected = encoder.encode(&["you are good"]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(encoder.encode(&["you are good"]).unwrap(), expected);
                }
            });
        }
    });
}
