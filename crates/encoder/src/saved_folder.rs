//! Writes an encoder's folder: the files that its readers need, and the sentence-transformers files for its
//! use.

use std::fs;
use std::path::Path;

use candle_core::Device;
use serde_json::json;

use crate::error::EncoderError;
use crate::folder::{
    CONFIG, Folder, MODULES, PROMPTS, SENTENCE_BERT_CONFIG, SOFT_PROMPT_FILE, TOKENIZER, TOKENIZER_CONFIG,
    WEIGHTS,
};
use crate::identity::EncoderVersion;
use crate::sentence_transformers::{long_name, pooling_file};
use crate::soft_prompt;
use crate::weights::{Weights, weight_sums};

/// Writes the encoder of the folder (or GGUF file) `from` into the folder `to`, which must exist and be
/// empty: configuration, tokenizer, weights in one model.safetensors, sentence-transformers files with
/// pooling, longest input, prompt and scaling of `version` (the version that was opened from there), and
/// the soft prompt, where it has one. A single model.safetensors is copied byte by byte; weights of several
/// files or of a GGUF file are written as 32-bit floats. Nothing else in the folder is copied.
///
/// # Errors
/// [`EncoderError::Read`] or [`EncoderError::Write`] with the I/O error; [`EncoderError::Checksum`] where
/// the weights are no longer those of `version`.
pub fn copy_encoder(from: &Path, version: &EncoderVersion, to: &Path) -> Result<(), EncoderError> {
    let folder = Folder::open(from)?;
    copy_configuration(&folder, to, |_| true)?;
    write_recipe(version, to)?;
    let weights = to.join(WEIGHTS);
    let write = |source| EncoderError::Write { path: weights.clone(), source };
    let one_file = folder.gguf().is_none() && folder.shard_index()?.is_none();
    if !one_file {
        let tensors = Weights::open(&folder, &Device::Cpu)?.everything()?;
        // transformers requires this entry.
        let about = [("format".to_owned(), "pt".to_owned())].into_iter().collect();
        safetensors::serialize_to_file(tensors, Some(about), &weights)
            .map_err(std::io::Error::other)
            .map_err(write)?;
        return soft_prompt::copy(&folder, to, &weight_sums(&Folder::open(to)?)?.weights);
    }
    fs::copy(folder.weights_path(), &weights).map_err(write)?;
    if folder.is_next_to(SOFT_PROMPT_FILE) {
        let path = to.join(SOFT_PROMPT_FILE);
        fs::copy(folder.path(SOFT_PROMPT_FILE), &path)
            .map_err(|source| EncoderError::Write { path, source })?;
    }
    let found = weight_sums(&Folder::open(to)?)?.all;
    if found != version.weights_sha256 {
        let (name, expected) = (version.name.clone(), version.weights_sha256.clone());
        return Err(EncoderError::Checksum { name, path: folder.weights_path(), expected, found });
    }
    Ok(())
}

/// Writes the sentence-transformers files that define how an encoder pools, cuts and normalises, replacing
/// those of the source folder.
pub(crate) fn write_recipe(version: &EncoderVersion, to: &Path) -> Result<(), EncoderError> {
    let module = |i: usize, path: &str, kind: &str| {
        let kind = format!("sentence_transformers.models.{kind}");
        json!({ "idx": i, "name": i.to_string(), "path": path, "type": kind })
    };
    let mut modules = vec![module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling")];
    if version.normalised {
        modules.push(module(2, "2_Normalize", "Normalize"));
    }
    let pooling =
        json!({ "word_embedding_dimension": version.dim, "pooling_mode": long_name(version.pooling) });
    let lengths = json!({ "max_seq_length": version.max_tokens, "do_lower_case": version.lower_case });
    // The prompt that it was trained with is the one to use.
    let prompts = match &version.prompt {
        None => json!({ "prompts": {}, "default_prompt_name": null }),
        Some(prompt) => json!({ "prompts": { "default": prompt }, "default_prompt_name": "default" }),
    };
    let files = [
        (MODULES, json!(modules)),
        ("1_Pooling/config.json", pooling),
        (SENTENCE_BERT_CONFIG, lengths),
        (PROMPTS, prompts),
    ];
    for (file, value) in files {
        let path = to.join(file);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, format!("{value:#}\n")))
            .map_err(|source| EncoderError::Write { path, source })?;
    }
    Ok(())
}

/// Copies the files for which `wanted` is true, of everything but the weights, to the existing folder `to`.
pub(crate) fn copy_configuration(
    folder: &Folder,
    to: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), EncoderError> {
    let pooling = pooling_file(folder)?;
    let others = [TOKENIZER_CONFIG, "special_tokens_map.json"];
    for file in [CONFIG, TOKENIZER, MODULES, SENTENCE_BERT_CONFIG, &pooling].into_iter().chain(others) {
        if !folder.has(file) || !wanted(file) {
            continue;
        }
        let (bytes, target) = (folder.read(file)?, to.join(file));
        let made = target.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&target, bytes))
            .map_err(|source| EncoderError::Write { path: target, source })?;
    }
    Ok(())
}
