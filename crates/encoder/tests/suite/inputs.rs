//! Preprocessing of texts: windows of long texts, prompts, lower case. Expected embeddings are combined
//! from those of short texts, as sentence-transformers defines them.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::fs;
use std::ops::ControlFlow;

use crate::spoilt::{Copy, check_message};
use dissensus_encoder::{
    BatchPlan, DeviceChoice, Encoder, EncoderOptions, FreezePolicy, LongTexts, Pooling, Prompt, Trainable,
    WordStates,
};
use serde_json::{Value, json};

/// Number of tokens in the tiny encoder's window in addition to its two special ones.
const WINDOW: usize = 18;

/// The tiny checkpoint without scaling, so that means can be compared.
fn raw() -> Copy {
    let copy = Copy::new();
    fs::remove_file(copy.dir.join("modules.json")).unwrap();
    copy
}

fn options() -> EncoderOptions {
    EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() }
}

fn open(copy: &Copy, options: &EncoderOptions) -> Encoder {
    Encoder::open(&copy.dir, options).unwrap()
}

fn encode(encoder: &Encoder, text: &str) -> Vec<f32> {
    encoder.encode(&[text]).unwrap().swap_remove(0)
}

/// Words that are one token each, in a pseudo-random order.
fn words(copy: &Copy, n: usize) -> Vec<String> {
    let tokenizer: Value =
        serde_json::from_slice(&fs::read(copy.dir.join("tokenizer.json")).unwrap()).unwrap();
    let vocabulary = tokenizer["model"]["vocab"].as_object().unwrap();
    let mut whole: Vec<&String> = vocabulary
        .keys()
        .filter(|word| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()))
        .collect();
    whole.sort_unstable();
    assert!(whole.len() >= 10, "{whole:?}");
    (0..n).map(|i| whole[i * i * 7 % whole.len()].clone()).collect()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-5, "off by {worst}");
}

/// Combines the embeddings component by component.
fn over(embeddings: &[Vec<f32>], of: impl Fn(&[f32]) -> f32) -> Vec<f32> {
    (0..embeddings[0].len()).map(|i| of(&embeddings.iter().map(|e| e[i]).collect::<Vec<f32>>())).collect()
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

#[test]
fn long_text_is_averaged_over_windows() {
    let copy = raw();
    let words = words(&copy, 40);
    // 40 words in windows of 18 that share an eighth, 2: three, evenly spaced.
    let windows: Vec<String> = [0, 11, 22].map(|start| words[start..start + WINDOW].join(" ")).to_vec();
    type OverWindows = fn(&[f32]) -> f32;
    let cases: [(Pooling, OverWindows); 4] =
        [(Pooling::Mean, mean), (Pooling::Cls, mean), (Pooling::Mean2, mean), (Pooling::Max, largest)];
    for (pooling, of) in cases {
        let encoder = open(&copy, &EncoderOptions { pooling: Some(pooling), ..options() });
        let alone: Vec<Vec<f32>> = windows.iter().map(|window| encode(&encoder, window)).collect();
        assert_close(&encode(&encoder, &words.join(" ")), &over(&alone, of));
    }
}

/// Positions of words that are joined by single spaces.
fn places(words: &[String]) -> Vec<(u32, u32)> {
    let mut start = 0;
    let place = |word: &String| {
        let end = start + word.chars().count() as u32;
        (std::mem::replace(&mut start, end + 1), end)
    };
    words.iter().map(place).collect()
}

fn word_states(encoder: &Encoder, text: &str, places: Vec<(u32, u32)>) -> Vec<f32> {
    let mut found = Vec::new();
    let whole = encoder.word_states(&[text], &[places], WordStates::EmbeddingAndContext, |_, own| {
        found = own;
        ControlFlow::Continue(())
    });
    assert!(whole.unwrap());
    found
}

#[test]
fn words_average_the_states_of_their_tokens() {
    let copy = raw();
    let encoder = open(&copy, &options());
    let five = words(&copy, 5);
    let text = five.join(" ");
    let found = word_states(&encoder, &text, places(&five));
    let states = encoder.hidden_states(&text).unwrap();
    let upper = (2 * (states.len() - 1) + 1) / 3;
    assert_eq!(found.len(), 5 * encoder.word_dim(WordStates::EmbeddingAndContext));
    for (word, found) in found.chunks_exact(encoder.word_dim(WordStates::EmbeddingAndContext)).enumerate() {
        // The first token is a special one.
        assert_close(found, &[&states[0][word + 1][..], &states[upper][word + 1]].concat());
    }
    // Two words as one: the mean. A range without a token: zeros.
    let (first, second) = (places(&five)[0], places(&five)[1]);
    let pair = word_states(&encoder, &text, vec![(first.0, second.1), (first.1, first.1)]);
    let dim = states[0][1].len();
    let mean: Vec<f32> = states[0][1].iter().zip(&states[0][2]).map(|(a, b)| f32::midpoint(*a, *b)).collect();
    assert_close(&pair[..dim], &mean);
    assert!(pair[2 * dim..].iter().all(|value| *value == 0.0));
}

/// A trainable encoder has the same states of the same words as a frozen one.
#[test]
fn trainable_encoder_splits_words_equally() {
    let copy = raw();
    let encoder = open(&copy, &options());
    let trainable = Trainable::open(&copy.dir, &options(), &FreezePolicy::Full, 1).unwrap();
    let (five, long) = (words(&copy, 5), words(&copy, WINDOW * 2));
    let texts = [five.join(" "), long.join(" ")];
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = [places(&five), places(&long)];
    let found = trainable.word_tokens(&borrowed, &all).unwrap();
    let tokens = trainable.tokenize(&borrowed).unwrap();
    // After the first window nothing is learned from a long text.
    assert_eq!((found[1].len(), found[1][WINDOW].is_empty()), (WINDOW * 2, true));
    assert!(found[1][..WINDOW].iter().all(|tokens| !tokens.is_empty()));
    let mut read = Vec::new();
    let whole = encoder.word_states(&borrowed[..1], &all[..1], WordStates::Last, |_, own| {
        read = own;
        ControlFlow::Continue(())
    });
    assert!(whole.unwrap());
    let states = std::sync::Mutex::new(Vec::new());
    trainable
        .gradients_with_states(&tokens[..1], None, &[], |encoded, _| {
            *states.lock().unwrap() = encoded.states.to_vec2::<f32>()?;
            encoded.states.sqr()?.sum_all()
        })
        .unwrap();
    let states = states.into_inner().unwrap();
    let dim = encoder.word_dim(WordStates::Last);
    assert_eq!(read.len(), 5 * dim);
    for (tokens, read) in found[0].iter().zip(read.chunks_exact(dim)) {
        let mean: Vec<f32> = (0..dim)
            .map(|at| states[tokens.clone()].iter().map(|row| row[at]).sum::<f32>() / tokens.len() as f32)
            .collect();
        assert_close(read, &mean);
    }
    let prompt = Trainable::open(&copy.dir, &options(), &FreezePolicy::Prompt(2), 1).unwrap();
    let refused =
        prompt.gradients_with_states(&tokens[..1], None, &[], |encoded, _| encoded.states.sum_all());
    assert_eq!(refused.unwrap_err().code(), "encoder-policy");
}

#[test]
fn every_word_of_a_long_text_has_a_state() {
    let copy = raw();
    let encoder = open(&copy, &options());
    let many = words(&copy, WINDOW * 3);
    let found = word_states(&encoder, &many.join(" "), places(&many));
    let dim = encoder.word_dim(WordStates::EmbeddingAndContext);
    let rows: Vec<&[f32]> = found.chunks_exact(dim).collect();
    assert_eq!(rows.len(), WINDOW * 3);
    assert!(rows.iter().all(|row| row.iter().any(|value| *value != 0.0)));
    // The beginning has the states of the first window, the end those of the last one.
    let first = word_states(&encoder, &many[..WINDOW].join(" "), places(&many[..WINDOW]));
    assert_close(rows[0], &first[..dim]);
    let last = &many[WINDOW * 2..];
    let last = word_states(&encoder, &last.join(" "), places(last));
    assert_close(rows[WINDOW * 3 - 1], &last[(WINDOW - 1) * dim..]);
}

#[test]
fn mean_over_windows_is_normalised_last() {
    let (raw, copy) = (raw(), Copy::new());
    let text = words(&copy, 40).join(" ");
    let mean = encode(&open(&raw, &options()), &text);
    let norm = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
    let expected: Vec<f32> = mean.iter().map(|x| x / norm).collect();
    assert_close(&encode(&open(&copy, &options()), &text), &expected);
}

#[test]
fn short_texts_do_not_depend_on_long_text_handling() {
    let copy = Copy::new();
    let average = open(&copy, &options());
    let cut = open(&copy, &EncoderOptions { long_texts: LongTexts::Truncate, ..options() });
    let words = words(&copy, 60);
    for n in [0, 1, WINDOW] {
        let text = words[..n].join(" ");
        assert_eq!(encode(&average, &text), encode(&cut, &text));
    }
    let long = words[..=WINDOW].join(" ");
    assert_eq!(encode(&cut, &long), encode(&cut, &words[..WINDOW].join(" ")));
    assert_ne!(encode(&average, &long), encode(&cut, &long));
    assert_eq!(average.version().sibling_key(), cut.version().key());
    assert_eq!(average.are_long(&[&words[..WINDOW].join(" "), &long]).unwrap(), [false, true]);
    assert_eq!(cut.are_long(&["", &long]).unwrap(), [false, true]);
}

#[test]
fn long_texts_are_counted_with_their_windows() {
    let copy = Copy::new();
    let words = words(&copy, 40);
    let (long, short) = (words.join(" "), words[..3].join(" "));
    let count = |long_texts| {
        let encoder = open(&copy, &EncoderOptions { long_texts, ..options() });
        encoder
            .encode_stream([&long, &short, &long], &BatchPlan::default(), |_| ControlFlow::Continue(()))
            .unwrap()
    };
    let average = count(LongTexts::Average);
    assert_eq!((average.texts, average.averaged, average.windows, average.cut), (3, 2, 6, 0));
    let cut = count(LongTexts::Truncate);
    assert_eq!((cut.texts, cut.averaged, cut.windows, cut.cut), (3, 0, 0, 2));
}

#[test]
fn very_long_text_is_encoded_consistently() {
    let copy = Copy::new();
    let encoder = open(&copy, &options());
    let book = words(&copy, 50_000).join(" ");
    let alone = encode(&encoder, &book);
    assert!(alone.iter().all(|x| x.is_finite()));
    let together = encoder.encode(&["not fair", &book, "good"]).unwrap();
    assert_eq!(together[1], alone);
    assert_eq!(together[0], encode(&encoder, "not fair"));
}

/// The folder with these prompts, one of them the default.
fn prompted(default: Option<&str>) -> Copy {
    let copy = raw();
    let prompts = json!({
        "prompts": {"query": "good ", "passage": "bad "}, "default_prompt_name": default, "similarity_fn_name": "cosine"
    });
    fs::write(copy.dir.join("config_sentence_transformers.json"), prompts.to_string()).unwrap();
    copy
}

#[test]
fn prompt_precedes_every_text() {
    let plain = open(&raw(), &options());
    let (query, bad) = (encode(&plain, "good not fair"), encode(&plain, "bad not fair"));
    let with = |default, prompt| {
        let encoder = open(&prompted(default), &EncoderOptions { prompt, ..options() });
        (encode(&encoder, "not fair"), encoder.version().key())
    };
    let named = |name: &str| Prompt::Named(name.to_owned());
    assert_eq!(with(None, Prompt::FromFolder).0, encode(&plain, "not fair"));
    assert_eq!(with(Some("query"), Prompt::FromFolder).0, query);
    assert_eq!(with(Some("query"), named("passage")).0, bad);
    assert_eq!(with(Some("query"), Prompt::Text(String::new())).0, encode(&plain, "not fair"));
    assert_eq!(with(None, Prompt::Text("bad ".to_owned())).0, bad);
    // The prompt itself determines the version, not its source.
    assert_eq!(with(Some("query"), Prompt::FromFolder).1, with(None, Prompt::Text("good ".to_owned())).1);
    assert_ne!(with(None, named("query")).1, with(None, named("passage")).1);
    assert!(with(None, Prompt::FromFolder).1.ends_with("/mean/20/windows/raw"));
}

#[test]
fn prompt_precedes_every_window() {
    let copy = prompted(Some("query"));
    let words = words(&copy, 40);
    let encoder = open(&copy, &options());
    // One token of the prompt leaves 17: 40 words in windows that share 2 or more.
    let plain = open(&raw(), &options());
    let windows = [0, 11, 23].map(|start| format!("good {}", words[start..start + WINDOW - 1].join(" ")));
    let alone: Vec<Vec<f32>> = windows.iter().map(|window| encode(&plain, window)).collect();
    assert_close(&encode(&encoder, &words.join(" ")), &over(&alone, mean));
}

#[test]
fn unusable_prompts_are_refused() {
    let copy = prompted(Some("question"));
    check_message(&copy.error(), "encoder-config", &["config_sentence_transformers.json", "question"]);
    let named = EncoderOptions { prompt: Prompt::Named("question".to_owned()), ..options() };
    let error = Encoder::open(&prompted(None).dir, &named).unwrap_err();
    check_message(&error, "encoder-prompt", &["question", "passage, query"]);
    let long = EncoderOptions { prompt: Prompt::Text("good ".repeat(30)), ..options() };
    check_message(&Encoder::open(&raw().dir, &long).unwrap_err(), "encoder-prompt", &["30 tokens", "20"]);
    let copy = prompted(Some("query"));
    copy.set("1_Pooling/config.json", "include_prompt", json!(false));
    check_message(&copy.error(), "encoder-prompt", &["include_prompt", "good "]);
    for odd in [json!([]), json!({"prompts": ["a"]}), json!({"prompts": {"a": 1}}), json!(7)] {
        let copy = raw();
        fs::write(copy.dir.join("config_sentence_transformers.json"), odd.to_string()).unwrap();
        check_message(&copy.error(), "encoder-config", &["config_sentence_transformers.json"]);
    }
}

/// The folder with a case-sensitive tokenizer.
fn cased() -> Copy {
    let copy = raw();
    let path = copy.dir.join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(tokenizer["normalizer"]["type"], "BertNormalizer");
    tokenizer["normalizer"]["lowercase"] = json!(false);
    fs::write(path, tokenizer.to_string()).unwrap();
    copy
}

#[test]
fn do_lower_case_is_applied() {
    let as_it_is = open(&cased(), &options());
    assert_ne!(encode(&as_it_is, "NOT Fair"), encode(&as_it_is, "not fair"));
    let copy = cased();
    copy.set("sentence_bert_config.json", "do_lower_case", json!(true));
    let lower = open(&copy, &options());
    assert_eq!(encode(&lower, "NOT Fair"), encode(&as_it_is, "not fair"));
    assert!(lower.version().key().contains("/lower"), "{}", lower.version());
}

#[test]
fn configurations_that_disagree_about_case_are_refused() {
    let copy = cased();
    fs::write(copy.dir.join("tokenizer_config.json"), r#"{"do_lower_case": true}"#).unwrap();
    check_message(&copy.error(), "encoder-config", &["tokenizer_config.json", "do_lower_case", "lowercase"]);
    fs::write(copy.dir.join("tokenizer_config.json"), r#"{"do_lower_case": false}"#).unwrap();
    copy.open().unwrap();
}

#[test]
fn tuned_encoder_keeps_its_prompt_and_its_case() {
    let copy = cased();
    copy.set("sentence_bert_config.json", "do_lower_case", json!(true));
    let asked = EncoderOptions { prompt: Prompt::Text("good ".to_owned()), ..options() };
    let trainable = Trainable::open(&copy.dir, &asked, &FreezePolicy::LastK(1), 1).unwrap();
    let saved = copy.dir.with_file_name("saved");
    trainable.save(&saved).unwrap();
    let again = Encoder::open(&saved, &options()).unwrap();
    assert_eq!(again.version().prompt.as_deref(), Some("good "));
    assert_close(&encode(&again, "NOT Fair"), &encode(&open(&copy, &asked), "NOT Fair"));
}
