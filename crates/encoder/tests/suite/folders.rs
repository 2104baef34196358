//! Every way in which an encoder folder can be wrong, with distinct errors, on the tiny checkpoint.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::fs;

use crate::spoilt::{Copy, Stored, check_message, on_cpu};
use dissensus_encoder::{Encoder, EncoderOptions, LongTexts, Pooling, Prompt, copy_encoder};
use safetensors::Dtype;
use serde_json::json;

const QUERY: &str = "encoder.layer.1.attention.self.query.weight";

#[test]
fn complete_folder_opens() {
    let encoder = Copy::new().open().unwrap();
    let version = encoder.version();
    assert_eq!((version.name.as_str(), version.dim, version.max_tokens), ("mine", 24, 20));
    assert_eq!((version.pooling, version.normalised), (Pooling::Mean, true));
    assert!(
        version.key().starts_with("mine/") && version.key().ends_with("/mean/20/windows"),
        "{}",
        version.key()
    );
}

#[test]
fn missing_folder_and_file_are_refused() {
    let copy = Copy::new();
    let options = on_cpu();
    let nowhere = Encoder::open(&copy.dir.join("nowhere"), &options).unwrap_err();
    check_message(&nowhere, "encoder-no-folder", &["there is no folder", "nowhere"]);
    let file = Encoder::open(&copy.dir.join("config.json"), &options).unwrap_err();
    check_message(&file, "encoder-no-folder", &["is a file"]);
}

#[test]
fn every_missing_file_is_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let copy = Copy::new();
        fs::remove_file(copy.dir.join(file)).unwrap();
        check_message(&copy.error(), "encoder-files-missing", &[&format!("lacks {file}:")]);
    }
    let copy = Copy::new();
    fs::remove_file(copy.dir.join("config.json")).unwrap();
    fs::remove_file(copy.dir.join("tokenizer.json")).unwrap();
    check_message(&copy.error(), "encoder-files-missing", &["lacks config.json, tokenizer.json:"]);
}

#[test]
fn pickled_weights_are_refused_with_the_way_to_convert_them() {
    let copy = Copy::new();
    fs::rename(copy.dir.join("model.safetensors"), copy.dir.join("pytorch_model.bin")).unwrap();
    check_message(
        &copy.error(),
        "encoder-pickle",
        &["pytorch_model.bin", "save_pretrained", "safe_serialization"],
    );
}

#[test]
fn invalid_configuration_is_refused() {
    let copy = Copy::new();
    fs::write(copy.dir.join("config.json"), "<html>not found</html>").unwrap();
    check_message(&copy.error(), "encoder-config", &["config.json", "line 1"]);
    fs::write(copy.dir.join("config.json"), r#"{"model_type": "bert"}"#).unwrap();
    check_message(&copy.error(), "encoder-config", &["missing field `vocab_size`"]);
    fs::write(copy.dir.join("config.json"), "{}").unwrap();
    check_message(&copy.error(), "encoder-config", &["model_type"]);
}

#[test]
fn unsupported_family_lists_supported_ones() {
    let copy = Copy::new();
    copy.set("config.json", "model_type", json!("t5"));
    check_message(
        &copy.error(),
        "encoder-family",
        &["\"t5\"", "supported families are bert, camembert", "modernbert"],
    );
}

#[test]
fn invalid_bert_values_are_named() {
    for (field, value) in [
        ("num_attention_heads", json!(5)),
        ("num_attention_heads", json!(0)),
        ("num_hidden_layers", json!(0)),
        ("hidden_act", json!("prelu")),
        ("position_embedding_type", json!("relative_key")),
        ("is_decoder", json!(true)),
        ("layer_norm_eps", json!(-1.0)),
    ] {
        let copy = Copy::new();
        copy.set("config.json", field, value);
        check_message(&copy.error(), "encoder-config", &["config.json", field]);
    }
}

#[test]
fn truncated_and_garbled_weights_are_refused() {
    let copy = Copy::new();
    let path = copy.dir.join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    for part in [0, 4, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..part]).unwrap();
        check_message(&copy.error(), "encoder-damaged", &["model.safetensors", "fetch or copy it again"]);
    }
    let mut garbled = whole.clone();
    garbled[8..40].fill(0xff);
    fs::write(&path, garbled).unwrap();
    check_message(&copy.error(), "encoder-damaged", &[]);
    fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").unwrap();
    check_message(&copy.error(), "encoder-damaged", &[]);
}

#[test]
fn missing_tensor_is_named_with_its_shape() {
    let copy = Copy::new();
    copy.rewrite(|name, stored| (name != QUERY).then(|| (name.to_owned(), stored)));
    check_message(&copy.error(), "encoder-tensor", &[QUERY, "[24, 24]"]);
    let copy = Copy::new();
    copy.set("config.json", "num_hidden_layers", json!(1_000_000_000));
    check_message(&copy.error(), "encoder-tensor", &["encoder.layer.2."]);
}

#[test]
fn wrong_tensor_shape_is_named() {
    let copy = Copy::new();
    copy.set("config.json", "intermediate_size", json!(64));
    check_message(&copy.error(), "encoder-tensor", &["intermediate.dense.weight", "[48, 24]", "[64, 24]"]);
    let copy = Copy::new();
    copy.set("config.json", "hidden_size", json!(3_000_000_000_u64));
    check_message(&copy.error(), "encoder-tensor", &["embeddings", "3000000000"]);
}

#[test]
fn nan_weights_are_found() {
    for (value, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let copy = Copy::new();
        copy.rewrite(|tensor, mut stored| {
            if tensor == QUERY {
                stored.2[8..12].copy_from_slice(&value.to_le_bytes());
            }
            Some((tensor.to_owned(), stored))
        });
        check_message(&copy.error(), "encoder-not-finite", &[QUERY, name, "position 2"]);
    }
}

#[test]
fn unsupported_number_formats_are_refused() {
    let copy = Copy::new();
    copy.rewrite(|name, mut stored| {
        if name == QUERY {
            stored = Stored(Dtype::I32, stored.1, stored.2);
        }
        Some((name.to_owned(), stored))
    });
    check_message(&copy.error(), "encoder-tensor", &[QUERY, "I32", "F32, F16 or BF16"]);
}

#[test]
fn broken_or_foreign_tokenizer_is_refused() {
    let copy = Copy::new();
    let path = copy.dir.join("tokenizer.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    check_message(&copy.error(), "encoder-tokenizer", &["tokenizer.json"]);
    fs::write(&path, text.replacen("\"[PAD]\":0", "\"[PAD]\":0,\"extra\":5000", 1)).unwrap();
    check_message(&copy.error(), "encoder-tokenizer", &["up to 5000", "do not belong together"]);
}

#[test]
fn folder_with_a_catalogue_name_must_match_checksums() {
    let copy = Copy::named("all-MiniLM-L6-v2");
    check_message(&copy.error(), "encoder-checksum", &["53aa51172d142c89", "download it again"]);
    let path = copy.dir.join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    check_message(&copy.error(), "encoder-checksum", &["the download is damaged"]);
}

#[test]
fn folder_with_a_known_name_must_be_that_encoder() {
    let copy = Copy::named("all-mpnet-base-v2");
    check_message(
        &copy.error(),
        "encoder-checksum",
        &["all-mpnet-base-v2", "give a folder of your own another name"],
    );
}

#[test]
fn unknown_pipeline_step_is_refused() {
    let copy = Copy::new();
    let dense = json!([{"type": "sentence_transformers.models.Transformer", "path": ""},
        {"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]);
    fs::write(copy.dir.join("modules.json"), dense.to_string()).unwrap();
    check_message(&copy.error(), "encoder-module", &["sentence_transformers.models.Dense"]);
    let climbing = json!([{"type": "sentence_transformers.models.Pooling", "path": "../../etc"}]);
    fs::write(copy.dir.join("modules.json"), climbing.to_string()).unwrap();
    check_message(&copy.error(), "encoder-config", &["leads out of the folder"]);
}

#[test]
fn unsupported_pooling_needs_an_explicit_choice() {
    let copy = Copy::new();
    let path = copy.dir.join("1_Pooling/config.json");
    fs::write(path, json!({"pooling_mode_weightedmean_tokens": true}).to_string()).unwrap();
    check_message(
        &copy.error(),
        "encoder-pooling",
        &["1_Pooling", "weightedmean_tokens", "mean, cls, last, max, mean2, max2"],
    );
    let options = EncoderOptions { pooling: Some(Pooling::Cls), ..on_cpu() };
    assert_eq!(Encoder::open(&copy.dir, &options).unwrap().version().pooling, Pooling::Cls);
}

#[test]
fn maximum_length_stays_within_the_model() {
    let copy = Copy::new();
    for asked in [0, 2, 25, usize::MAX] {
        let options = EncoderOptions { max_tokens: Some(asked), ..on_cpu() };
        let error = Encoder::open(&copy.dir, &options).unwrap_err();
        check_message(&error, "encoder-max-tokens", &["takes 3 to 24", &asked.to_string()]);
    }
}

#[test]
fn plain_folder_uses_default_settings() {
    let copy = Copy::new();
    for file in ["modules.json", "sentence_bert_config.json", "1_Pooling/config.json"] {
        fs::remove_file(copy.dir.join(file)).unwrap();
    }
    let encoder = copy.open().unwrap();
    assert_eq!((encoder.version().pooling, encoder.version().max_tokens), (Pooling::Mean, 24));
    assert!(!encoder.version().normalised && encoder.version().key().ends_with("/mean/24/windows/raw"));
}

#[test]
fn tensors_under_the_familys_prefix_are_found() {
    let plain = Copy::new().open().unwrap().encode(&["not fair"]).unwrap();
    let copy = Copy::new();
    copy.rewrite(|name, stored| Some((format!("bert.{name}"), stored)));
    assert_eq!(copy.open().unwrap().encode(&["not fair"]).unwrap(), plain);
}

#[test]
fn old_layer_norm_names_are_found() {
    let plain = Copy::new().open().unwrap().encode(&["not fair"]).unwrap();
    let copy = Copy::new();
    copy.rewrite(|name, stored| {
        let name =
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        Some((name, stored))
    });
    assert_eq!(copy.open().unwrap().encode(&["not fair"]).unwrap(), plain);
}

#[test]
fn half_precision_weights_are_read() {
    let plain = Copy::new().open().unwrap().encode(&["this is not fair"]).unwrap();
    for (dtype, within) in [(Dtype::F16, 5e-3), (Dtype::BF16, 4e-2)] {
        let copy = Copy::new();
        copy.rewrite(|name, stored| Some((name.to_owned(), narrowed(stored, dtype))));
        let found = copy.open().unwrap().encode(&["this is not fair"]).unwrap();
        let off = found[0].iter().zip(&plain[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off > 0.0 && off < within, "{dtype:?}: off by {off}");
    }
}

fn narrowed(Stored(_, shape, data): Stored, dtype: Dtype) -> Stored {
    let floats = data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let bytes = floats.flat_map(|v| match dtype {
        Dtype::BF16 => half::bf16::from_f32(v).to_le_bytes(),
        _ => half::f16::from_f32(v).to_le_bytes(),
    });
    Stored(dtype, shape, bytes.collect())
}

/// Options of the opened encoder are in the files of its copy, which can be opened without options.
#[test]
fn copy_opens_like_the_original() {
    let original = Copy::new();
    let asked = EncoderOptions {
        pooling: Some(Pooling::Max),
        prompt: Prompt::Text("fair ".to_owned()),
        long_texts: LongTexts::Truncate,
        max_tokens: Some(12),
        ..on_cpu()
    };
    let encoder = Encoder::open(&original.dir, &asked).unwrap();
    let keep = tempfile::tempdir().unwrap();
    copy_encoder(&original.dir, encoder.version(), keep.path()).unwrap();
    let copy =
        Encoder::open(keep.path(), &EncoderOptions { long_texts: LongTexts::Truncate, ..on_cpu() }).unwrap();
    let version = copy.version();
    assert_eq!(
        (version.pooling, version.max_tokens, version.prompt.as_deref()),
        (Pooling::Max, 12, Some("fair "))
    );
    let texts = ["this is not fair", "you are bad and good and bad and fair and bad and good", ""];
    assert_eq!(copy.encode(&texts).unwrap(), encoder.encode(&texts).unwrap());
    // Weights that were changed meanwhile are not passed off as its own.
    let path = original.dir.join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let other = tempfile::tempdir().unwrap();
    let refused = copy_encoder(&original.dir, encoder.version(), other.path()).unwrap_err();
    check_message(&refused, "encoder-checksum", &["model.safetensors"]);
}
