//! Soft prompts of encoder folders: a file stored with the weights it was learned on, or a new one to
//! train.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};

use crate::blocks::{ParamRegistry, Prompted, SOFT_PROMPT, Side, Transformer};
use crate::device;
use crate::error::EncoderError;
use crate::folder::{Folder, SOFT_PROMPT_FILE};
use crate::freeze_policy::{FreezePolicy, MAX_VECTORS};
use crate::tensor_file::TensorFile;
use crate::tensor_store::TensorStore;

/// Metadata key with the checksum of the weights that the vectors were learned on.
const LEARNED_ON: &str = "weights_sha256";

/// Sources of a soft prompt other than its file.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Collects trainable parameters.
    pub(crate) learning: Option<&'a ParamRegistry>,
    /// Vectors that were trained since the folder was opened: `[vectors, width]`.
    pub(crate) learned: Option<&'a Tensor>,
}

/// Whether a folder, opened this way, has a soft prompt.
///
/// # Errors
/// [`EncoderError::Policy`] where other weights, or a second soft prompt, should be trained on top of a
/// soft prompt.
pub(crate) fn asked(folder: &Folder, origin: Origin<'_>) -> Result<bool, EncoderError> {
    let of_folder = folder.is_next_to(SOFT_PROMPT_FILE);
    match origin.learning.map(ParamRegistry::policy) {
        Some(policy) if of_folder && *policy != FreezePolicy::Frozen => Err(EncoderError::Policy {
            asked: policy.to_string(),
            reason: format!(
                "{} has a soft prompt, which is read and not learned on: train the encoder without it, or choose frozen",
                folder.dir.display()
            ),
        }),
        Some(FreezePolicy::Prompt(_)) => Ok(true),
        _ => Ok(of_folder || origin.learned.is_some()),
    }
}

/// The encoder that a soft prompt is added to.
pub(crate) struct PromptTarget<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) origin: Origin<'a>,
    pub(crate) device: &'a Device,
    pub(crate) side: Side,
    pub(crate) cached_bytes: Option<usize>,
}

/// Adds the soft prompt that [`asked`] found to the transformer, if any.
///
/// # Errors
/// [`EncoderError::Policy`] for a prompt that leaves no room for a text or has no vectors; what is wrong
/// with its file.
pub(crate) fn put(
    transformer: Box<dyn Transformer>,
    place: PromptTarget<'_>,
) -> Result<Box<dyn Transformer>, EncoderError> {
    let compute = |source| EncoderError::Compute { device: device::name(place.device), source };
    let Some(prompt) = vectors(transformer.as_ref(), &place)? else { return Ok(transformer) };
    let (found, most) = (prompt.dim(0).map_err(compute)?, transformer.sizes().positions);
    if found >= most {
        return Err(EncoderError::Policy {
            asked: FreezePolicy::Prompt(found).to_string(),
            reason: format!(
                "this model reads {most} tokens at once, which leaves no room for a text: choose fewer vectors"
            ),
        });
    }
    Ok(Box::new(Prompted::new(transformer, prompt, place.side, place.cached_bytes).map_err(compute)?))
}

/// Returns the vectors of the soft prompt: `[vectors, width]`.
fn vectors(transformer: &dyn Transformer, place: &PromptTarget<'_>) -> Result<Option<Tensor>, EncoderError> {
    let compute = |source| EncoderError::Compute { device: device::name(place.device), source };
    let PromptTarget { folder, origin, .. } = *place;
    if let Some(learning) = origin.learning
        && let FreezePolicy::Prompt(vectors) = learning.policy()
    {
        learning.policy().check(learning.layers())?;
        return learning.soft_prompt(transformer.words(), *vectors).map(Some).map_err(compute);
    }
    if let Some(learned) = origin.learned {
        return learned.to_device(place.device).map(Some).map_err(compute);
    }
    if folder.is_next_to(SOFT_PROMPT_FILE) {
        let width = transformer.words().dim(1).map_err(compute)?;
        return read(&folder.path(SOFT_PROMPT_FILE), width, place.device).map(Some);
    }
    Ok(None)
}

fn read(path: &Path, width: usize, device: &Device) -> Result<Tensor, EncoderError> {
    let damaged = |reason: String| EncoderError::DamagedWeights { path: path.to_owned(), reason };
    let file = TensorFile::open(path)?;
    let vectors = match file.shape(SOFT_PROMPT) {
        Some([vectors, found]) if (1..=MAX_VECTORS).contains(vectors) && *found == width => *vectors,
        found => {
            return Err(damaged(format!(
                "a soft prompt of this encoder is a tensor \"{SOFT_PROMPT}\" of 1 to {MAX_VECTORS} vectors of {width} \
                 numbers, and there is {}",
                found.map_or_else(|| "none".to_owned(), |shape| format!("one of shape {shape:?}"))
            )));
        }
    };
    let values = file.floats(SOFT_PROMPT)?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err(damaged("one of its numbers is not finite".to_owned()));
    }
    Tensor::from_vec(values, (vectors, width), device)
        .map_err(|source| EncoderError::Compute { device: device::name(device), source })
}

/// Refuses a soft prompt that was learned on weights other than those in its folder, whose checksum is
/// given: the weights may be a hard link, and another encoder may have been written over the linked file.
pub(crate) fn check_weights(folder: &Folder, weights_sha256: &str) -> Result<(), EncoderError> {
    if !folder.is_next_to(SOFT_PROMPT_FILE) {
        return Ok(());
    }
    let path = folder.path(SOFT_PROMPT_FILE);
    match TensorFile::open(&path)?.note(LEARNED_ON) {
        Some(other) if other != weights_sha256 => {
            let reason = format!(
                "it was learned on weights with the SHA-256 {other}, and those next to it have {weights_sha256}: bring these back, or \
                 train again"
            );
            Err(EncoderError::DamagedWeights { path, reason })
        }
        _ => Ok(()),
    }
}

/// Copies a folder's soft prompt, if any, into the folder `to`, whose weights are the same in another
/// format and have this checksum.
pub(crate) fn copy(folder: &Folder, to: &Path, weights_sha256: &str) -> Result<(), EncoderError> {
    if !folder.is_next_to(SOFT_PROMPT_FILE) {
        return Ok(());
    }
    let path = folder.path(SOFT_PROMPT_FILE);
    let width = TensorFile::open(&path)?.shape(SOFT_PROMPT).and_then(|shape| shape.last().copied());
    write(&read(&path, width.unwrap_or(0), &Device::Cpu)?, weights_sha256, to)
}

/// Writes a soft prompt that was learned on weights with this checksum into a folder without one.
pub(crate) fn write(prompt: &Tensor, weights_sha256: &str, to: &Path) -> Result<(), EncoderError> {
    let path = to.join(SOFT_PROMPT_FILE);
    let notes = HashMap::from([(LEARNED_ON.to_owned(), weights_sha256.to_owned())]);
    let written = safetensors::serialize_to_file([(SOFT_PROMPT, prompt)], Some(notes), &path)
        .map_err(std::io::Error::other)
        .and_then(|()| std::fs::File::open(&path)?.sync_all());
    written.map_err(|source| EncoderError::Write { path, source })
}

/// Puts the weight files of a folder into another, as hard links, so that they take no space, or as copies
/// where the file system has no hard links.
pub(crate) fn share_weights(folder: &Folder, to: &Path) -> Result<(), EncoderError> {
    let index = folder.shard_index()?;
    let mut files = folder.weight_files(index.as_ref());
    if index.is_some() {
        files.push(folder.weights_path());
    }
    for file in files {
        let Some(name) = file.file_name() else { continue };
        let target = to.join(name);
        // A hard link to a symbolic link would point to the same target, and not move with the folder.
        let shared = file.canonicalize().and_then(|source| {
            std::fs::hard_link(&source, &target).or_else(|_| {
                std::fs::copy(&source, &target)?;
                std::fs::File::options().read(true).write(cfg!(windows)).open(&target)?.sync_all()
            })
        });
        shared.map_err(|source| EncoderError::Write { path: target, source })?;
    }
    Ok(())
}
