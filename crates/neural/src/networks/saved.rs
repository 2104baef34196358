//! A trained network as two files: its specification and its weights.

use super::model::NetworkModel;
use super::network::{Network, NetworkSpec};
use super::shape::Shape;
use candle_core::{Device, Tensor};
use dissensus_models::link::Link;
use dissensus_stats::data::Embeddings;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

const SPEC: &str = "network.json";
const WEIGHTS: &str = "network.safetensors";
const FORMAT: u16 = 1;

/// Maximum number of weights that a stored network may claim: far more than any real one, far less than
/// memory.
const MAX_WEIGHTS: usize = 1 << 31;

#[derive(Serialize, Deserialize)]
struct Saved {
    format: u16,
    spec: NetworkSpec,
    shape: Shape,
}

impl Network {
    /// All tensors that predictions depend on, by name.
    pub(crate) fn tensors(&self) -> candle_core::Result<HashMap<String, Tensor>> {
        let mut tensors = HashMap::new();
        for (name, var) in self.variables() {
            tensors.insert(name, var.as_detached_tensor().to_device(&Device::Cpu)?.copy()?);
        }
        if let Some(table) = &self.table {
            let shape = (table.rows(), table.width);
            tensors.insert(table.name.to_owned(), Tensor::from_slice(&table.values, shape, &Device::Cpu)?);
        }
        let random_effects = self.random_effects();
        if !random_effects.is_empty() {
            tensors.insert(
                "deviations".to_owned(),
                Tensor::from_slice(random_effects, random_effects.len(), &Device::Cpu)?,
            );
        }
        Ok(tensors)
    }

    /// Copies the network with its own weights to a device.
    pub(crate) fn on(&self, device: &Device) -> candle_core::Result<Self> {
        let start = vec![0.0; Link::new(self.shape.target).intercepts()];
        let mut network = Self::new(self.spec.clone(), self.shape.clone(), &start, 0, device)?;
        network.set(&self.tensors()?)?;
        Ok(network)
    }

    /// SHA-256 of its weights, in the order of their names.
    pub(crate) fn sha256(&self) -> candle_core::Result<[u8; 32]> {
        let tensors: BTreeMap<String, Tensor> = self.tensors()?.into_iter().collect();
        let mut all = Sha256::new();
        for (name, tensor) in tensors {
            all.update(name.as_bytes());
            let values: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
            values.iter().for_each(|value| all.update(value.to_le_bytes()));
        }
        Ok(all.finalize().into())
    }

    /// Restores the tensors returned by [`Network::tensors`].
    pub(crate) fn set(&mut self, tensors: &HashMap<String, Tensor>) -> candle_core::Result<()> {
        let missing = |name: &str| candle_core::Error::Msg(format!("the tensor {name} is missing"));
        for (name, var) in self.variables() {
            let tensor = tensors.get(&name).ok_or_else(|| missing(&name))?;
            var.set(&tensor.to_device(var.device())?)?;
        }
        if let Some(table) = &mut self.table {
            let tensor = tensors.get(table.name).ok_or_else(|| missing(table.name))?;
            if tensor.dims() != [table.rows(), table.width] {
                candle_core::bail!("the tensor {} has another shape", table.name);
            }
            table.values = tensor.flatten_all()?.to_vec1()?;
        }
        if let Some(random_effects) = tensors.get("deviations") {
            self.set_random_effects(random_effects.flatten_all()?.to_vec1()?);
        }
        Ok(())
    }
}

impl NetworkModel {
    /// Serialises the network for [`NetworkModel::from_bytes`]: the files of [`NetworkModel::save`], one
    /// after the other.
    ///
    /// # Errors
    /// [`ModelError::File`] where temporary files cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let folder = scratch()?;
        self.save(folder.path())?;
        let read = |name: &str| {
            let path = folder.path().join(name);
            std::fs::read(&path).map_err(|e| ModelError::file(&path, &e))
        };
        let files = (read(SPEC)?, read(WEIGHTS)?);
        postcard::to_allocvec(&files).map_err(|e| ModelError::Damaged(e.to_string()))
    }

    /// Restores a network from [`NetworkModel::to_bytes`], which predicts texts from their embeddings and
    /// has none of its own.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let files: (Vec<u8>, Vec<u8>) =
            postcard::from_bytes(bytes).map_err(|e| ModelError::Damaged(e.to_string()))?;
        let saved: Saved =
            serde_json::from_slice(&files.0).map_err(|e| ModelError::Damaged(e.to_string()))?;
        let folder = scratch()?;
        for (name, content) in [(SPEC, &files.0), (WEIGHTS, &files.1)] {
            let path = folder.path().join(name);
            std::fs::write(&path, content).map_err(|e| ModelError::file(&path, &e))?;
        }
        Self::load(folder.path(), Arc::new(Embeddings::new(saved.shape.dim, Vec::new())?))
    }

    /// Writes the network into the folder `dir`, which must exist.
    ///
    /// # Errors
    /// [`ModelError::File`] with the I/O error.
    pub fn save(&self, dir: &Path) -> Result<(), ModelError> {
        let saved =
            Saved { format: FORMAT, spec: self.network.spec.clone(), shape: self.network.shape.clone() };
        let path = dir.join(SPEC);
        let bytes = serde_json::to_vec_pretty(&saved).map_err(|e| ModelError::Damaged(e.to_string()))?;
        std::fs::write(&path, bytes).map_err(|e| ModelError::file(&path, &e))?;
        let path = dir.join(WEIGHTS);
        candle_core::safetensors::save(&self.network.tensors()?, &path)
            .map_err(|e| ModelError::File { path, reason: e.to_string() })
    }

    /// Opens a saved network over the embeddings `x` of the texts to predict.
    ///
    /// # Errors
    /// [`ModelError::File`], [`ModelError::Damaged`], [`ModelError::Format`], or
    /// [`ModelError::EmbeddingLength`] where `x` comes from another encoder.
    pub fn load(dir: &Path, x: Arc<Embeddings>) -> Result<Self, ModelError> {
        let path = dir.join(SPEC);
        let bytes = std::fs::read(&path).map_err(|e| ModelError::file(&path, &e))?;
        let damaged = |reason: String| ModelError::Damaged(format!("{}: {reason}", dir.display()));
        let saved: Saved = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if saved.format != FORMAT {
            return Err(ModelError::Format { found: saved.format, known: FORMAT });
        }
        saved.check().map_err(damaged)?;
        let tensors = candle_core::safetensors::load(dir.join(WEIGHTS), &Device::Cpu)
            .map_err(|e| damaged(e.to_string()))?;
        let start = vec![0.0; Link::new(saved.shape.target).intercepts()];
        let mut network = Network::new(saved.spec, saved.shape, &start, 0, &Device::Cpu)?;
        network.set(&tensors).map_err(|e| damaged(e.to_string()))?;
        Self::new(network, Arc::new(Embeddings::none(0))).over(x)
    }
}

/// Creates a temporary folder, removed when it is dropped.
fn scratch() -> Result<tempfile::TempDir, ModelError> {
    tempfile::tempdir().map_err(|e| ModelError::file(&std::env::temp_dir(), &e))
}

impl Saved {
    /// Checks that the sizes in a file are consistent before anything of that size is allocated.
    fn check(&self) -> Result<(), String> {
        let Shape { dim, target, annotators, seen, one_hot, scaler } = &self.shape;
        let own = match self.spec.model {
            ModelKind::SepHeads => (dim + 1).saturating_mul(self.spec.head.hidden.max(target.levels)),
            _ => self.spec.annotator_embedding.size,
        };
        let fits = target.check().is_ok()
            && seen.len() == *annotators
            && one_hot.fits(*annotators)
            && scaler.mean.len() == *dim
            && own.saturating_mul(*annotators) < MAX_WEIGHTS
            && dim.saturating_mul(self.spec.head.hidden.max(self.spec.annotator_embedding.size))
                < MAX_WEIGHTS
            && self.spec.annotator_embedding.size < 1 << 14
            && self.spec.annotator_embedding.layers < 64;
        if fits { Ok(()) } else { Err("its sizes do not fit together".into()) }
    }
}
