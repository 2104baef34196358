//! A learned encoder as a folder that every reader of safetensors opens.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use candle_core::{Device, Tensor};
use serde_json::json;

use super::trainable::Trainable;
use crate::blocks::SOFT_PROMPT;
use crate::error::EncoderError;
use crate::folder::{
    CONFIG, Folder, MODULES, PROMPTS, SENTENCE_BERT_CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS,
};
use crate::freeze_policy::FreezePolicy;
use crate::sentence_transformers::{long_name, pooling_file};
use crate::soft_prompt;
use crate::weights::Weights;

impl Trainable {
    /// Writes the encoder with its weights as they are now into the new folder `dir`: the files of the folder that it was
    /// opened from, and one model.safetensors of 32-bit floats, low-rank additions added in. Of a soft prompt the weights are
    /// those of the folder: the same files under a second name where the file system has such names, else copies, and
    /// beside them soft_prompt.safetensors. The folder appears whole or not at all.
    ///
    /// # Errors
    /// [`EncoderError::Write`] where `dir` exists or cannot be written; [`EncoderError::Read`] where the folder that it was
    /// opened from is gone.
    pub fn save(&self, dir: &Path) -> Result<(), EncoderError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| EncoderError::Write { path, source }
        };
        if dir.exists() {
            let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "it exists already");
            return Err(failed(dir)(source));
        }
        let place = dir.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let half = tempfile::Builder::new().prefix(".encoder-").tempdir_in(place).map_err(failed(place))?;
        // Beside a GGUF file lies what it does not stand for itself.
        let stands_for = matches!(self.policy(), FreezePolicy::Prompt(_));
        copy_configuration(&self.folder, half.path(), |file| {
            !(stands_for && self.folder.is_from_gguf(file))
        })?;
        self.write_recipe(half.path())?;
        let mut learned = self.learned()?;
        if let Some(prompt) = learned.remove(SOFT_PROMPT) {
            soft_prompt::share_weights(&self.folder, half.path())?;
            soft_prompt::write(&prompt, half.path())?;
        } else {
            let mut tensors = Weights::open(&self.folder, &Device::Cpu)?.everything()?;
            tensors.extend(learned);
            let weights = half.path().join(WEIGHTS);
            let written = safetensors::serialize_to_file(tensors, None, &weights)
                .map_err(std::io::Error::other)
                .and_then(|()| fs::File::open(&weights)?.sync_all());
            written.map_err(failed(&weights))?;
        }
        // Moved into place whole; the temporary folder's own handle must not remove it afterwards.
        let half = half.keep();
        fs::rename(&half, dir).map_err(failed(dir))
    }

    /// The sentence-transformers files that say how this encoder pools, cuts and normalises, whatever the folder's did.
    fn write_recipe(&self, to: &Path) -> Result<(), EncoderError> {
        let version = self.version();
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
        // The prompt that it learned with is the one to go on with.
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

    /// The weights that have moved, by full name, low-rank additions added in.
    pub(super) fn learned(&self) -> Result<HashMap<String, Tensor>, EncoderError> {
        let mut learned = HashMap::new();
        for parameter in self.parameters().iter().filter(|parameter| !parameter.is_addition()) {
            let tensor = parameter.var.as_detached_tensor().to_device(&Device::Cpu);
            learned.insert(parameter.name.clone(), tensor.map_err(|source| self.compute(source))?);
        }
        let weights = Weights::open(&self.folder, &Device::Cpu)?;
        for placed in &self.placed {
            let name = &placed.weight;
            let weight = match learned.remove(name) {
                Some(merged) => merged,
                None => weights.as_stored(name)?,
            };
            learned.insert(name.clone(), placed.merged(&weight).map_err(|source| self.compute(source))?);
        }
        Ok(learned)
    }
}

/// Copies the files that are `wanted` of everything but the weights to `to`, where a folder is.
fn copy_configuration(folder: &Folder, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), EncoderError> {
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
