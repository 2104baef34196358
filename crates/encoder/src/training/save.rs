//! Saves a trained encoder as a folder that every reader of safetensors can open.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use candle_core::{Device, Tensor};

use super::trainable::Trainable;
use crate::blocks::SOFT_PROMPT;
use crate::error::EncoderError;
use crate::folder::WEIGHTS;
use crate::freeze_policy::FreezePolicy;
use crate::saved_folder::{copy_configuration, write_recipe};
use crate::soft_prompt;
use crate::weights::Weights;

impl Trainable {
    /// Writes the encoder with its current weights into the new folder `dir`: the files of its source
    /// folder, and one model.safetensors of 32-bit floats, with low-rank additions merged. With a soft
    /// prompt the weights are those of the source folder, as hard links where the file system supports
    /// them, else as copies, and soft_prompt.safetensors is added. The folder appears complete or not at
    /// all.
    ///
    /// # Errors
    /// [`EncoderError::Write`] where `dir` exists or cannot be written; [`EncoderError::Read`] where the
    /// source folder no longer exists.
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
        // A GGUF file is accompanied only by the files that it does not provide itself.
        let replaces_input = matches!(self.policy(), FreezePolicy::Prompt(_));
        copy_configuration(&self.folder, half.path(), |file| {
            !(replaces_input && self.folder.is_from_gguf(file))
        })?;
        write_recipe(self.version(), half.path())?;
        let mut learned = self.learned()?;
        if let Some(prompt) = learned.remove(SOFT_PROMPT) {
            soft_prompt::share_weights(&self.folder, half.path())?;
            soft_prompt::write(&prompt, &self.version().weights_sha256, half.path())?;
        } else {
            let mut tensors = Weights::open(&self.folder, &Device::Cpu)?.everything()?;
            tensors.extend(learned);
            let weights = half.path().join(WEIGHTS);
            let written = safetensors::serialize_to_file(tensors, None, &weights)
                .map_err(std::io::Error::other)
                .and_then(|()| fs::File::open(&weights)?.sync_all());
            written.map_err(failed(&weights))?;
        }
        // Moved into place as a whole; the temporary folder's own handle must not remove it afterwards.
        let half = half.keep();
        fs::rename(&half, dir).map_err(failed(dir))
    }

    /// The changed weights, by full name, with low-rank additions merged.
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
