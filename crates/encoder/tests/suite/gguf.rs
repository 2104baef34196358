//! GGUF files: the same numbers as transformers reads from them, and clear errors for unreadable ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::DType;
use dissensus_encoder::{
    AdamW, AdamWSettings, DeviceChoice, Encoder, EncoderError, EncoderOptions, FreezePolicy, Pooling,
    Trainable, copy_encoder,
};
use serde_json::Value;
use tempfile::TempDir;

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gguf").join(file)
}

fn on_cpu() -> EncoderOptions {
    EncoderOptions { device: DeviceChoice::Cpu, threads: Some(2), ..EncoderOptions::default() }
}

fn reference(name: &str) -> Value {
    serde_json::from_slice(&fs::read(fixture(&format!("{name}.json"))).unwrap()).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f32>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn worst(found: &[Vec<f32>], expected: &[Vec<f32>]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// A copy of llama.gguf in a separate folder, with its bytes changed.
fn changed(change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let bytes = change(fs::read(fixture("llama.gguf")).unwrap());
    fs::write(place.path().join("model.gguf"), bytes).unwrap();
    place
}

fn replaced(bytes: Vec<u8>, old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let at = bytes.windows(old.len()).position(|part| part == old.as_bytes()).unwrap();
    [&bytes[..at], new.as_bytes(), &bytes[at + old.len()..]].concat()
}

fn refused(place: &Path) -> EncoderError {
    Encoder::open(place, &on_cpu()).unwrap_err()
}

fn check_error(error: &EncoderError, code: &str, words: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

#[test]
fn tokens_and_states_match_the_reference() {
    for name in ["llama", "qwen2"] {
        let reference = reference(name);
        let encoder = Encoder::open(&fixture(&format!("{name}.gguf")), &on_cpu()).unwrap();
        assert_eq!((encoder.version().pooling, encoder.version().max_tokens), (Pooling::Last, 64), "{name}");
        for (i, text) in reference["texts"].as_array().unwrap().iter().enumerate() {
            let text = text.as_str().unwrap();
            let tokens = reference["ids"][i].as_array().unwrap().len();
            assert_eq!(encoder.count_tokens(&[text]).unwrap(), [tokens], "{name}: {text:?}");
            let expected = rows(&reference["last"][i]);
            let states = encoder.hidden_states(text).unwrap();
            let off = worst(&states[states.len() - 1], &expected);
            assert!(off < 1e-4, "{name}: {text:?} is off by {off}");
            let embedding = encoder.encode(&[text]).unwrap();
            assert!(worst(&embedding, &expected[tokens - 1..]) < 1e-4, "{name}: {text:?}");
        }
    }
}

#[test]
fn ids_match_the_models_tokenizer() {
    for name in ["llama", "qwen2"] {
        let reference = reference(name);
        let texts: Vec<&str> =
            reference["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let ids: Vec<Vec<u32>> = serde_json::from_value(reference["ids"].clone()).unwrap();
        let open =
            Trainable::open(&fixture(&format!("{name}.gguf")), &on_cpu(), &FreezePolicy::Frozen, 1).unwrap();
        assert_eq!(open.tokenize(&texts).unwrap(), ids, "{name}");
    }
}

#[test]
fn folder_with_one_gguf_file_opens() {
    let place = changed(|bytes| bytes);
    let folder = place.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::rename(place.path().join("model.gguf"), folder.join("model.gguf")).unwrap();
    let [of_file, of_folder] =
        [folder.join("model.gguf"), folder.clone()].map(|path| Encoder::open(&path, &on_cpu()).unwrap());
    assert_eq!((of_file.version().name.as_str(), of_folder.version().name.as_str()), ("model", "mine"));
    assert_eq!(of_file.version().fingerprint, of_folder.version().fingerprint);
    assert_eq!(of_file.encode(&["a b"]).unwrap(), of_folder.encode(&["a b"]).unwrap());

    fs::copy(folder.join("model.gguf"), folder.join("other.gguf")).unwrap();
    check_error(&refused(&folder), "encoder-several-gguf", &["model.gguf, other.gguf", "name the one"]);
    Encoder::open(&folder.join("other.gguf"), &on_cpu()).unwrap();
}

#[test]
fn separate_tokenizer_is_used_and_changes_the_version() {
    let place = changed(|bytes| replaced(bytes, "smollm", "unlike"));
    check_error(
        &refused(place.path()),
        "encoder-gguf",
        &["unlike", "smollm, qwen2", "tokenizer.json next to it"],
    );
    let before = Encoder::open(&fixture("llama.gguf"), &on_cpu()).unwrap();
    // A vocabulary of letters: another tokenizer, whose ids the model has embeddings for.
    let letters = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/families/llama/tokenizer.json");
    fs::copy(letters, place.path().join("tokenizer.json")).unwrap();
    let after = Encoder::open(place.path(), &on_cpu()).unwrap();
    assert_ne!(before.version().fingerprint, after.version().fingerprint);
    assert_ne!(before.count_tokens(&["this"]).unwrap(), after.count_tokens(&["this"]).unwrap());
}

#[test]
fn unsupported_gguf_content_is_named() {
    let cases: [(&str, &str, &str, &[&str]); 8] = [
        ("llama", "bloom", "encoder-family", &["\"bloom\"", "llama, qwen2, qwen3"]),
        (
            "blk.1.ffn_up.weight",
            "blk.9.ffn_up.weight",
            "encoder-gguf",
            &["blk.9.ffn_up.weight", "no use for"],
        ),
        ("blk.1.ffn_up.weight", "blk.0.ffn_up.weight", "encoder-tensor", &["layers.1.mlp.up_proj.weight"]),
        // A norm of heads that this architecture does not have, and a position that is written in two ways.
        (
            "blk.1.attn_norm.weight",
            "blk.1.attn_q_norm.bias",
            "encoder-gguf",
            &["blk.1.attn_q_norm.bias", "no use for"],
        ),
        (
            "blk.1.attn_q.weight",
            "blk.+1.attn_q.weigh",
            "encoder-gguf",
            &["blk.+1.attn_q.weigh", "no use for"],
        ),
        (
            "blk.1.ffn_up.weight",
            "blk.1.ffn_xx.weight",
            "encoder-gguf",
            &["blk.1.ffn_xx.weight", "no use for"],
        ),
        ("token_embd.weight", "token_embx.weight", "encoder-gguf", &["token_embd.weight"]),
        ("GGUF", "GGML", "encoder-gguf", &["no GGUF file"]),
    ];
    for (old, new, code, words) in cases {
        let place = changed(|bytes| replaced(bytes, old, new));
        check_error(&refused(place.path()), code, words);
    }
    let bert = changed(|bytes| {
        let key = b"tokenizer.ggml.model";
        let at = bytes.windows(key.len()).position(|part| part == key).unwrap();
        let (head, tail) = bytes.split_at(at);
        [head, &replaced(tail.to_vec(), "gpt2", "bert")].concat()
    });
    check_error(&refused(bert.path()), "encoder-gguf", &["\"bert\"", "tokenizer.json next to it"]);
}

/// As in a model hub's cache: a link to a file that is named by its hash.
#[cfg(unix)]
#[test]
fn link_to_a_file_has_its_own_name() {
    let place = changed(|bytes| bytes);
    let link = place.path().join("small-Q4_1.gguf");
    fs::rename(place.path().join("model.gguf"), place.path().join("0a1b")).unwrap();
    std::os::unix::fs::symlink("0a1b", &link).unwrap();
    assert_eq!(Encoder::open(&link, &on_cpu()).unwrap().version().name, "small-Q4_1");
}

#[test]
fn unknown_quantisation_and_truncated_file_are_refused() {
    let name = "blk.0.attn_q.weight";
    let unknown = changed(|mut bytes| {
        let at = bytes.windows(name.len()).position(|part| part == name.as_bytes()).unwrap() + name.len();
        // After the name: the number of axes, their lengths, and the number of the quantisation.
        let kind = at + 4 + 2 * 8;
        assert_eq!(bytes[kind..kind + 4], 3u32.to_le_bytes(), "Q4_1");
        bytes[kind..kind + 4].copy_from_slice(&19u32.to_le_bytes());
        bytes
    });
    check_error(&refused(unknown.path()), "encoder-gguf", &["quantisation", "number 19", "Q8_0"]);
    let whole = fs::read(fixture("llama.gguf")).unwrap().len();
    for length in [0, 3, 4, 20, 100, 1_000, 5_000, whole / 2, whole - 1_000] {
        let cut = changed(|bytes| bytes[..length].to_vec());
        check_error(&refused(cut.path()), "encoder-gguf", &["cut off", "again"]);
    }
}

#[test]
fn damaged_files_give_errors_or_finite_numbers() {
    let mut state = 7u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for _ in 0..150 {
        // The header has 5,000 bytes of 45,000, and everything that can go wrong is there.
        let damages: Vec<(usize, u8)> = (0..1 + next(3)).map(|_| (next(5_500), next(256) as u8)).collect();
        let place = changed(|mut bytes| {
            damages.iter().for_each(|(at, byte)| bytes[*at] = *byte);
            bytes
        });
        match Encoder::open(place.path(), &on_cpu()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(encoder) => {
                if let Ok(found) = encoder.encode(&["a b", "this"]) {
                    assert!(found.iter().flatten().all(|v| v.is_finite()), "{damages:?}");
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn tuned_gguf_is_saved_as_safetensors() {
    let file = fixture("llama.gguf");
    let trainable = Trainable::open(&file, &on_cpu(), &FreezePolicy::Full, 3).unwrap();
    let texts = trainable.tokenize(&["this is fair", "a"]).unwrap();
    let gradients =
        trainable.gradients(&texts, None, &[], |x, _| x.sqr()?.sum_all()?.to_dtype(DType::F32)).unwrap();
    AdamW::new(AdamWSettings::default()).step(&gradients, |_| 0.01).unwrap();
    let moved = trainable.embed(&texts, None).unwrap().to_vec2::<f32>().unwrap();
    let place = tempfile::tempdir().unwrap();
    let saved = place.path().join("tuned");
    trainable.save(&saved).unwrap();
    let encoder = Encoder::open(&saved, &on_cpu()).unwrap();
    assert!(worst(&encoder.encode(&["this is fair", "a"]).unwrap(), &moved) < 1e-4);
    assert!(worst(&trainable.encoder().unwrap().encode(&["this is fair", "a"]).unwrap(), &moved) < 1e-4);
    assert_eq!(encoder.version().pooling, Pooling::Last);
    let config: Value =
        serde_json::from_slice(&fs::read(saved.join("tokenizer_config.json")).unwrap()).unwrap();
    assert_eq!(config["tokenizer_class"], "PreTrainedTokenizerFast");
    assert_eq!(config["pad_token"], "<|im_end|>");
}

/// As safetensors that transformers opens: the same numbers, with any quantisation of the file.
#[test]
fn file_is_copied_as_a_folder_of_safetensors() {
    let encoder = Encoder::open(&fixture("llama.gguf"), &on_cpu()).unwrap();
    let place = tempfile::tempdir().unwrap();
    copy_encoder(&fixture("llama.gguf"), encoder.version(), place.path()).unwrap();
    let copy = Encoder::open(place.path(), &on_cpu()).unwrap();
    assert_eq!(copy.version().pooling, encoder.version().pooling);
    let texts = ["this is fair", "and this is not"];
    assert_eq!(copy.encode(&texts).unwrap(), encoder.encode(&texts).unwrap());
    let weights = fs::read(place.path().join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&weights[8..8 + length]).unwrap();
    assert_eq!(header["__metadata__"]["format"], "pt", "what transformers asks for");
}
