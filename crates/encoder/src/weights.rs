//! An encoder's weights as validated tensors: present, of the right shape, finite, as 32-bit floats.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use candle_core::{Device, Tensor};

use crate::error::EncoderError;
use crate::folder::{Folder, SHARD_INDEX, SOFT_PROMPT_FILE};
use crate::hash::{sha256, sha256_of};
use crate::shards::ShardIndex;
use crate::tensor_file::TensorFile;
use crate::tensor_store::TensorStore;

/// The weights of a folder, one file or several, read tensor by tensor. A tensor's bytes are read on
/// request and dropped after conversion, so that opening a model needs memory for the model and a second
/// copy of its largest tensor.
pub(crate) struct Weights<'a> {
    files: Vec<Arc<dyn TensorStore>>,
    /// Index into `files` by a tensor's full name.
    places: HashMap<String, usize>,
    prefix: String,
    /// Learned values that replace those of the files, by full name.
    replaced: HashMap<String, Tensor>,
    device: &'a Device,
}

/// Checksums of a folder's weights.
pub(crate) struct WeightSums {
    /// Checksum of the weights without a soft prompt.
    pub(crate) weights: String,
    /// Checksum including a soft prompt.
    pub(crate) all: String,
}

/// Computes the checksums that identify an encoder version, in lower-case hexadecimal: that of
/// model.safetensors or the GGUF file where there is one; else the SHA-256 of the shards' own sums (each in
/// lower-case hexadecimal and ended by a line feed), in the order of the shards' names. A soft prompt
/// counts as one more file, the last.
pub(crate) fn weight_sums(folder: &Folder) -> Result<WeightSums, EncoderError> {
    let index = folder.shard_index()?;
    let sum = |path: PathBuf| {
        let sum = File::open(&path).and_then(sha256_of);
        sum.map_err(|source| EncoderError::Read { path, source })
    };
    let files = folder.weight_files(index.as_ref()).into_iter();
    let mut sums = files.map(sum).collect::<Result<Vec<_>, _>>()?;
    let together =
        |sums: &[String]| sha256(sums.iter().map(|sum| format!("{sum}\n")).collect::<String>().as_bytes());
    let weights = match (index, sums.as_slice()) {
        (None, [sum]) => sum.clone(),
        _ => together(&sums),
    };
    if !folder.is_next_to(SOFT_PROMPT_FILE) {
        return Ok(WeightSums { all: weights.clone(), weights });
    }
    sums.push(sum(folder.path(SOFT_PROMPT_FILE))?);
    Ok(WeightSums { weights, all: together(&sums) })
}

impl<'a> Weights<'a> {
    /// Opens the file or files of a folder and validates their headers.
    pub(crate) fn open(folder: &Folder, device: &'a Device) -> Result<Self, EncoderError> {
        let index = folder.shard_index()?;
        let files: Vec<Arc<dyn TensorStore>> = match folder.gguf() {
            Some(gguf) => vec![gguf],
            None => folder
                .weight_files(index.as_ref())
                .iter()
                .map(|path| Ok(Arc::new(TensorFile::open(path)?) as Arc<dyn TensorStore>))
                .collect::<Result<_, EncoderError>>()?,
        };
        let places = match &index {
            Some(index) => indexed_places(folder, index, &files)?,
            None => files.iter().flat_map(|file| file.names()).map(|name| (name, 0)).collect(),
        };
        Ok(Self { files, places, prefix: String::new(), replaced: HashMap::new(), device })
    }

    /// Looks names up under `prefix` from now on where the file has `probe` there: a model saved with a
    /// task head has its encoder's tensors under the family's name.
    pub(crate) fn with_prefix_of(mut self, prefix: &str, probe: &str) -> Self {
        if self.places.contains_key(&format!("{prefix}{probe}")) {
            prefix.clone_into(&mut self.prefix);
        }
        self
    }

    /// Returns `replaced` values, by full name, in place of those of the files.
    pub(crate) fn replacing(self, replaced: HashMap<String, Tensor>) -> Self {
        Self { replaced, ..self }
    }

    /// All float tensors by full name, as 32-bit floats.
    pub(crate) fn everything(&self) -> Result<HashMap<String, Tensor>, EncoderError> {
        let mut all = HashMap::new();
        for (name, place) in &self.places {
            let file = &self.files[*place];
            if let Some(shape) = file.shape(name).filter(|_| file.is_floats(name)) {
                all.insert(name.clone(), self.by_full_name(name, shape)?);
            }
        }
        Ok(all)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(&self.full_name(name))
    }

    /// Reads the tensor `name`, which must have this shape.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor, EncoderError> {
        self.by_full_name(&self.full_name(name), shape)
    }

    /// Reads the tensor of this full name, in any shape.
    pub(crate) fn as_stored(&self, name: &str) -> Result<Tensor, EncoderError> {
        let shape = self.find(name, &[])?.1;
        self.by_full_name(name, shape)
    }

    /// Like [`Weights::get`], by the name in the files.
    pub(crate) fn by_full_name(&self, name: &str, shape: &[usize]) -> Result<Tensor, EncoderError> {
        let (file, found) = self.find(name, shape)?;
        if found != shape {
            return Err(EncoderError::TensorShape {
                path: file.path().to_owned(),
                name: name.to_owned(),
                expected: shape.to_vec(),
                found: found.to_vec(),
            });
        }
        if let Some(tensor) = self.replaced.get(name) {
            return tensor.to_device(self.device).map_err(|e| self.compute(e));
        }
        let values = file.floats(name)?;
        check_finite(file, name, &values)?;
        Tensor::from_vec(values, shape, self.device).map_err(|e| self.compute(e))
    }

    pub(crate) fn device(&self) -> &Device {
        self.device
    }

    pub(crate) fn compute(&self, source: candle_core::Error) -> EncoderError {
        EncoderError::Compute { device: crate::device::name(self.device), source }
    }

    pub(crate) fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&dyn TensorStore, &[usize]), EncoderError> {
        let place = self.places.get(name).map(|place| self.files[*place].as_ref());
        let found = place.and_then(|file| Some((file, file.shape(name)?)));
        found.ok_or_else(|| EncoderError::MissingTensor {
            path: self.home(),
            name: name.to_owned(),
            expected: shape.to_vec(),
        })
    }

    /// The path for error messages about no particular file: the single file, or the folder of the shards.
    fn home(&self) -> std::path::PathBuf {
        match self.files.as_slice() {
            [only] => only.path().to_owned(),
            several => several
                .first()
                .and_then(|file| file.path().parent())
                .map(|dir| dir.join(SHARD_INDEX))
                .unwrap_or_default(),
        }
    }
}

/// Maps each tensor of the index to its file; every one must be in the file that the index names.
fn indexed_places(
    folder: &Folder,
    index: &ShardIndex,
    files: &[Arc<dyn TensorStore>],
) -> Result<HashMap<String, usize>, EncoderError> {
    let names = index.files();
    let mut places = HashMap::new();
    for (tensor, file) in index.places() {
        let place = names.iter().position(|name| *name == file);
        match place.filter(|place| files[*place].shape(tensor).is_some()) {
            Some(place) => places.insert(tensor.to_owned(), place),
            None => {
                return Err(EncoderError::ShardLacks {
                    index: folder.path(SHARD_INDEX),
                    tensor: tensor.to_owned(),
                    shard: file.to_owned(),
                });
            }
        };
    }
    Ok(places)
}

fn check_finite(file: &dyn TensorStore, name: &str, values: &[f32]) -> Result<(), EncoderError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(position) => Err(EncoderError::NotFinite {
            path: file.path().to_owned(),
            name: name.to_owned(),
            found: values[position],
            position,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_follow_the_prefix() {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
        let folder = Folder::open(&tiny).unwrap();
        let weights = Weights::open(&folder, &Device::Cpu).unwrap();
        assert!(weights.has("embeddings.LayerNorm.weight") && !weights.has("LayerNorm.weight"));

        let inner = weights.with_prefix_of("embeddings.", "LayerNorm.weight");
        assert!(inner.has("LayerNorm.weight") && !inner.has("embeddings.LayerNorm.weight"));
        assert_eq!(inner.get("LayerNorm.weight", &[24]).unwrap().dims(), [24]);
        let elsewhere = inner.with_prefix_of("bert.", "LayerNorm.weight");
        assert!(elsewhere.has("LayerNorm.weight"), "a prefix that is not there changes nothing");
    }
}
