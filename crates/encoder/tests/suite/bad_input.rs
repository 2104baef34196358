//! Damaged, contradictory and hostile folders and texts: a clear error or the right embedding, never a
//! panic or a non-finite number.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::spoilt::{Copy, Stored, check_message, on_cpu};
use dissensus_encoder::{Encoder, EncoderOptions, Pooling};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const INDEX: &str = "model.safetensors.index.json";
const SHARDS: [&str; 2] = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
const FILES: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
];
const TEXTS: [&str; 4] = [
    "this is not fair",
    "",
    "   \n\t",
    "\u{0}\u{7}\u{1b}[0m\u{feff}\u{202e} good \u{1F469}\u{200D}\u{1F4BB}",
];

/// The tiny checkpoint split into two files, every other tensor in each.
fn sharded() -> Copy {
    let copy = Copy::new();
    let whole = fs::read(copy.dir.join("model.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&whole).unwrap();
    let mut names = tensors.names();
    names.sort_unstable();
    let mut map = BTreeMap::new();
    for (turn, shard) in SHARDS.iter().enumerate() {
        let own: BTreeMap<&str, TensorView<'_>> =
            names.iter().skip(turn).step_by(2).map(|name| (*name, tensors.tensor(name).unwrap())).collect();
        map.extend(own.keys().map(|name| ((*name).to_owned(), json!(shard))));
        fs::write(copy.dir.join(shard), safetensors::serialize(own, None).unwrap()).unwrap();
    }
    let index = json!({"metadata": {"total_size": whole.len()}, "weight_map": map});
    fs::write(copy.dir.join(INDEX), index.to_string()).unwrap();
    fs::remove_file(copy.dir.join("model.safetensors")).unwrap();
    copy
}

fn index_of(copy: &Copy) -> Value {
    serde_json::from_slice(&fs::read(copy.dir.join(INDEX)).unwrap()).unwrap()
}

fn truncate(copy: &Copy, file: &str, bytes: u64) {
    File::options().write(true).open(copy.dir.join(file)).unwrap().set_len(bytes).unwrap();
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn weights_in_several_files_give_the_same_embeddings() {
    let copy = sharded();
    let encoder = copy.open().unwrap();
    assert_eq!(encoder.encode(&TEXTS).unwrap(), Copy::new().open().unwrap().encode(&TEXTS).unwrap());
    let sums = SHARDS.map(|shard| hexadecimal(&fs::read(copy.dir.join(shard)).unwrap()) + "\n");
    assert_eq!(encoder.version().weights_sha256, hexadecimal(sums.concat().as_bytes()));
}

#[test]
fn single_weights_file_is_preferred_to_an_index() {
    let copy = Copy::new();
    fs::write(copy.dir.join(INDEX), "not looked at").unwrap();
    assert_eq!(
        copy.open().unwrap().version().weights_sha256,
        Copy::new().open().unwrap().version().weights_sha256
    );
}

#[test]
fn damaged_shards_are_refused() {
    let copy = sharded();
    fs::remove_file(copy.dir.join(SHARDS[1])).unwrap();
    check_message(&copy.error(), "encoder-shards", &[INDEX, SHARDS[1], "not there"]);
    let copy = sharded();
    let length = fs::metadata(copy.dir.join(SHARDS[1])).unwrap().len();
    truncate(&copy, SHARDS[1], length - 1);
    check_message(&copy.error(), "encoder-damaged", &[SHARDS[1], "cut off"]);
    let copy = sharded();
    fs::copy(copy.dir.join(SHARDS[0]), copy.dir.join(SHARDS[1])).unwrap();
    check_message(&copy.error(), "encoder-shards", &[INDEX, SHARDS[1], "does not hold it"]);
}

#[test]
fn bad_shard_index_is_refused() {
    let copy = sharded();
    let mut index = index_of(&copy);
    index["weight_map"].as_object_mut().unwrap().remove("embeddings.LayerNorm.weight").unwrap();
    fs::write(copy.dir.join(INDEX), index.to_string()).unwrap();
    check_message(&copy.error(), "encoder-tensor", &[INDEX, "embeddings.LayerNorm.weight"]);
    for outside in [
        "../model.safetensors",
        "/etc/passwd",
        "inner/model.safetensors",
        "..",
        "a\\b.safetensors",
        "model.bin",
    ] {
        let copy = sharded();
        let mut index = index_of(&copy);
        index["weight_map"]["embeddings.LayerNorm.weight"] = json!(outside);
        fs::write(copy.dir.join(INDEX), index.to_string()).unwrap();
        check_message(&copy.error(), "encoder-config", &[INDEX, "plain name"]);
    }
}

#[test]
fn invalid_shard_index_is_refused() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"weight_map": {}}"#,
        r#"{"weight_map": {"a": 1}}"#,
        r#"{"weight_map": {"a": "\ud800"}}"#,
    ] {
        let copy = sharded();
        fs::write(copy.dir.join(INDEX), text).unwrap();
        check_message(&copy.error(), "encoder-config", &[INDEX]);
    }
}

#[test]
fn empty_files_are_refused() {
    for file in FILES {
        let copy = Copy::new();
        fs::write(copy.dir.join(file), "").unwrap();
        let error = copy.error();
        assert!(error.to_string().contains(file), "{file}: {error}");
    }
}

#[test]
fn folder_in_place_of_a_file_is_refused() {
    for file in FILES {
        let copy = Copy::new();
        fs::remove_file(copy.dir.join(file)).unwrap();
        fs::create_dir(copy.dir.join(file)).unwrap();
        let error = copy.error();
        assert!(error.to_string().contains(file), "{file}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn broken_link_is_refused_even_if_optional() {
    for file in FILES {
        let copy = Copy::new();
        fs::remove_file(copy.dir.join(file)).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", copy.dir.join(file)).unwrap();
        let error = copy.error();
        assert!(error.to_string().contains(file), "{file}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    for file in FILES {
        let copy = Copy::new();
        let path = copy.dir.join(file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read everything: then the folder is valid.
        match (File::open(&path), copy.open()) {
            (Ok(_), opened) => assert!(opened.is_ok(), "{file}"),
            (Err(_), opened) => check_message(&opened.unwrap_err(), "encoder-unreadable", &[file]),
        }
    }
}

#[test]
fn impossible_sizes_are_refused_quickly() {
    let fields = [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
    ];
    let values = [
        json!(0),
        json!(-1),
        json!(1_000_000_000_000_u64),
        json!(u64::MAX),
        json!(1e300),
        json!(2.5),
        json!("24"),
        json!([24]),
        Value::Null,
    ];
    for field in fields {
        for value in &values {
            let copy = Copy::new();
            copy.set("config.json", field, value.clone());
            let started = Instant::now();
            let error = copy.error();
            let known = ["encoder-config", "encoder-tensor"].contains(&error.code());
            assert!(known, "{field} = {value}: {error}");
            assert!(started.elapsed() < Duration::from_secs(5), "{field} = {value} took long to refuse");
        }
    }
}

#[test]
fn maximum_length_is_checked_or_clamped() {
    for (value, opens) in
        [(json!(1_000_000_000_000_u64), true), (json!(0), false), (json!(-5), false), (json!("20"), false)]
    {
        let copy = Copy::new();
        copy.set("sentence_bert_config.json", "max_seq_length", value.clone());
        match copy.open() {
            Ok(encoder) => assert!(opens && encoder.version().max_tokens == 24, "{value}"),
            Err(error) => assert!(!opens, "{value}: {error}"),
        }
    }
}

#[test]
fn lone_surrogate_in_a_configuration_is_refused() {
    for file in [
        "config.json",
        "tokenizer.json",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        let copy = Copy::new();
        let path = copy.dir.join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen('"', r#""\ud83d"#, 1)).unwrap();
        let error = copy.error();
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn deeply_nested_configurations_are_refused() {
    for file in ["config.json", "tokenizer.json", "modules.json"] {
        let copy = Copy::new();
        fs::write(copy.dir.join(file), "[".repeat(200_000)).unwrap();
        let error = copy.error();
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn oversized_or_invalid_tokenizer_is_refused() {
    let copy = Copy::new();
    truncate(&copy, "tokenizer.json", 300 << 20);
    check_message(&copy.error(), "encoder-unreadable", &["tokenizer.json", "more than 256 MiB"]);
    for text in ["null", "{}", "[1, 2]", "<html></html>", r#"{"version": "1.0"}"#] {
        let copy = Copy::new();
        fs::write(copy.dir.join("tokenizer.json"), text).unwrap();
        check_message(&copy.error(), "encoder-tokenizer", &["tokenizer.json"]);
    }
}

#[test]
fn special_tokens_beyond_the_embedding_are_refused() {
    let copy = Copy::new();
    let path = copy.dir.join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let special = tokenizer["post_processor"]["special_tokens"].as_object_mut().unwrap();
    special.values_mut().for_each(|token| token["ids"] = json!([70_000]));
    fs::write(&path, tokenizer.to_string()).unwrap();
    check_message(&copy.error(), "encoder-tokenizer", &["70000", "do not belong together"]);
}

#[test]
fn false_safetensors_headers_are_refused() {
    let damage = |first: Option<u64>, header: &str| {
        let copy = Copy::new();
        let mut bytes = first.unwrap_or(header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        fs::write(copy.dir.join("model.safetensors"), bytes).unwrap();
        check_message(&copy.error(), "encoder-damaged", &["model.safetensors"]);
    };
    damage(Some(u64::MAX), "{}");
    damage(Some(99_999_999), "{}");
    damage(None, "not json");
    damage(None, r#"{"a":{"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,16]}}"#);
    damage(None, r#"{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}"#);
    damage(None, r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}"#);
    damage(None, r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#);
}

#[test]
fn extreme_weights_give_finite_embeddings_or_an_error() {
    let stored = |dtype: Dtype, value: f32, shape: Vec<usize>| {
        let one = match dtype {
            Dtype::F32 => value.to_le_bytes().to_vec(),
            Dtype::F16 => half::f16::from_f32(value).to_le_bytes().to_vec(),
            _ => half::bf16::from_f32(value).to_le_bytes().to_vec(),
        };
        let count = shape.iter().product();
        Stored(dtype, shape, one.repeat(count))
    };
    let parts = [
        "word_embeddings.weight",
        "query.weight",
        "intermediate.dense.weight",
        "LayerNorm.weight",
        "LayerNorm.bias",
        "",
    ];
    let edges = [(Dtype::F32, 3e38), (Dtype::F32, 1e-44), (Dtype::F16, 65_504.0), (Dtype::BF16, 3e38)];
    for part in parts {
        for (dtype, value) in edges {
            let copy = Copy::new();
            copy.rewrite(|name, old| {
                let new = if name.ends_with(part) { stored(dtype, value, old.1) } else { old };
                Some((name.to_owned(), new))
            });
            // The tiny checkpoint has no pooler of its own.
            for pooling in Pooling::ALL.iter().copied().filter(|pooling| *pooling != Pooling::Pooler) {
                let options = EncoderOptions { pooling: Some(pooling), ..on_cpu() };
                let encoder = Encoder::open(&copy.dir, &options).unwrap();
                assert_finite(&encoder, &format!("{part} = {value}, {pooling}"));
            }
        }
    }
}

#[test]
fn infinite_half_precision_weights_are_refused() {
    for (dtype, infinity) in [(Dtype::F16, [0x00, 0x7c]), (Dtype::BF16, [0x80, 0x7f])] {
        let copy = Copy::new();
        copy.rewrite(|name, old| {
            let new = if name.ends_with("query.bias") {
                Stored(dtype, old.1.clone(), infinity.repeat(old.1.iter().product()))
            } else {
                old
            };
            Some((name.to_owned(), new))
        });
        check_message(&copy.error(), "encoder-not-finite", &["query.bias", "inf", "position 0"]);
    }
}

#[test]
fn every_missing_tensor_is_named() {
    let whole = fs::read(Copy::new().dir.join("model.safetensors")).unwrap();
    let names: Vec<String> =
        SafeTensors::deserialize(&whole).unwrap().names().into_iter().map(ToOwned::to_owned).collect();
    let needed = names.iter().filter(|name| !name.starts_with("pooler."));
    for spoilt in needed {
        let copy = Copy::new();
        copy.rewrite(|name, old| {
            Some((if name == spoilt { format!("{name}.old") } else { name.to_owned() }, old))
        });
        check_message(&copy.error(), "encoder-tensor", &[spoilt]);
    }
}

#[test]
fn ten_thousand_equal_texts_and_a_very_long_one_work() {
    let encoder = Copy::new().open().unwrap();
    let long = "not fair ".repeat(5_556);
    assert!(long.len() > 50_000);
    let mut texts = vec!["good"; 10_000];
    texts.push(&long);
    let found = encoder.encode(&texts).unwrap();
    // In another batch the products are summed in another order.
    let off = |e: &Vec<f32>| e.iter().zip(&found[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let worst = found[..10_000].iter().map(off).fold(0.0, f32::max);
    assert!(worst < 1e-5, "off by {worst}");
    assert!(found[10_000].iter().all(|v| v.is_finite()) && found[10_000] != found[0]);
}

/// Finite embeddings or an error, for every text on its own and for all together.
#[track_caller]
fn assert_finite(encoder: &Encoder, what: &str) {
    let alone = TEXTS.iter().map(|text| encoder.encode(&[text]));
    for embeddings in alone.chain([encoder.encode(&TEXTS)]).flatten() {
        assert!(embeddings.iter().flatten().all(|v| v.is_finite()), "{what}: a silent NaN");
    }
}

/// A small random number generator (Knuth's 64-bit linear congruential one), so that the damage is the same
/// in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Changes a few bytes, cuts the end off, duplicates a piece, or writes a number in place of digits.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(5) {
        0 => bytes.truncate(dice.below(bytes.len())),
        1 => {
            let from = dice.below(bytes.len());
            let piece = bytes[from..(from + 40).min(bytes.len())].to_vec();
            bytes.splice(from..from, piece);
        }
        2 => {
            let from = dice.below(bytes.len());
            if let Some(at) = bytes[from..].iter().position(u8::is_ascii_digit) {
                let number = ["-1", "0", "4294967295", "18446744073709551615", "1e9", "null"][dice.below(6)];
                bytes.splice(from + at..=from + at, number.bytes());
            }
        }
        _ => {
            for _ in 0..=dice.below(3) {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
        }
    }
}

#[test]
fn random_damage_never_panics() {
    let copy = Copy::new();
    let (mut opened, mut refused) = (0, 0);
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let path = copy.dir.join(file);
        let whole = fs::read(&path).unwrap();
        let mut dice = Dice(whole.len() as u64);
        for round in 0..400 {
            let mut bytes = whole.clone();
            if file == "model.safetensors" && round % 2 == 0 {
                // Half of the damage is to the header, which is a small part of the file.
                let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
                let rest = bytes.split_off(header);
                damage(&mut bytes, &mut dice);
                bytes.extend(rest);
            } else {
                damage(&mut bytes, &mut dice);
            }
            fs::write(&path, &bytes).unwrap();
            let what = format!("{file}, round {round}");
            let outcome = catch_unwind(AssertUnwindSafe(|| copy.open().map(|e| assert_finite(&e, &what))));
            match outcome.unwrap_or_else(|_| panic!("{what}: a panic")) {
                Ok(()) => opened += 1,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(
        opened > 50 && refused > 50,
        "{opened} opened, {refused} refused: the damage is too weak or too strong"
    );
}
