//! Checkpoints: everything needed to resume a training run with the same numbers, in folders that appear
//! complete or not at all.

use super::history::EpochRecord;
use candle_core::{Device, Tensor};
use dissensus_stats::data::ModelError;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const TENSORS: &str = "state.safetensors";
const PREFIX: &str = "step-";
/// Format of checkpoints. 1 hashed all texts of the project, 2 those with a training label; up to 2
/// `multilevel` on a tuned encoder was scored without calibration.
const FORMAT: u16 = 3;
/// The first format in which scores of `multilevel` on a tuned encoder are those of the calibrated model.
pub(crate) const CALIBRATED: u16 = 3;

/// Progress of a training run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) format: u16,
    /// Hash of the data and of the configuration: other training runs must not resume from here.
    pub(crate) data: String,
    pub(crate) choices: String,
    /// Number of completed steps.
    pub(crate) step: u32,
    /// The current epoch, from 0, and the number of steps done in it.
    pub(crate) epoch: u32,
    pub(crate) step_in_epoch: u32,
    /// Number of optimizer steps.
    pub(crate) optimizer_steps: u32,
    pub(crate) history: Vec<EpochRecord>,
    /// Summed loss and weight since the last evaluation.
    pub(crate) loss: f64,
    pub(crate) weight: f64,
    pub(crate) seconds: f64,
}

/// The folder of a training run's checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints {
    folder: PathBuf,
    keep: usize,
}

impl Checkpoints {
    pub(crate) fn new(folder: &Path, keep: usize) -> Result<Self, ModelError> {
        std::fs::create_dir_all(folder).map_err(|e| ModelError::file(folder, &e))?;
        Ok(Self { folder: folder.to_owned(), keep: keep.max(1) })
    }

    /// Writes a checkpoint, then removes the oldest ones. When the disk is full, earlier checkpoints are
    /// unaffected.
    pub(crate) fn write(&self, state: &State, tensors: &HashMap<String, Tensor>) -> Result<(), ModelError> {
        let place = &self.folder;
        let half = tempfile::Builder::new()
            .prefix(".half-")
            .tempdir_in(place)
            .map_err(|e| ModelError::file(place, &e))?;
        let path = half.path().join(TENSORS);
        candle_core::safetensors::save(tensors, &path)
            .map_err(|e| ModelError::File { path: path.clone(), reason: e.to_string() })?;
        let synced = std::fs::File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|e| ModelError::file(&path, &e))?;
        let path = half.path().join(STATE);
        let state_bytes = serde_json::to_vec_pretty(&State { format: FORMAT, ..state.clone() })
            .map_err(|e| ModelError::Damaged(e.to_string()))?;
        std::fs::write(&path, state_bytes).map_err(|e| ModelError::file(&path, &e))?;
        let whole = place.join(format!("{PREFIX}{:010}", state.step));
        if whole.exists() {
            // Evaluated twice at the same step, for example after cancellation: the newer one contains at
            // least as much.
            std::fs::remove_dir_all(&whole).map_err(|e| ModelError::file(&whole, &e))?;
        }
        std::fs::rename(half.path(), &whole).map_err(|e| ModelError::file(&whole, &e))?;
        // Moved into place as a whole: the temporary folder's own handle must not look for it.
        let _ = half.keep();
        let mut all = self.all();
        let old = all.len().saturating_sub(self.keep);
        for folder in all.drain(..old) {
            // A leftover one only takes space.
            let _ = std::fs::remove_dir_all(folder);
        }
        Ok(())
    }

    /// The newest complete checkpoint, if any. A damaged one is skipped.
    pub(crate) fn newest(&self) -> Option<(State, HashMap<String, Tensor>, PathBuf)> {
        self.all().into_iter().rev().find_map(|folder| {
            let state: State = serde_json::from_slice(&std::fs::read(folder.join(STATE)).ok()?).ok()?;
            let tensors = candle_core::safetensors::load(folder.join(TENSORS), &Device::Cpu).ok()?;
            (1..=FORMAT).contains(&state.format).then_some((state, tensors, folder))
        })
    }

    /// All complete checkpoints, oldest first.
    fn all(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut all: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
            .map(|entry| entry.path())
            .collect();
        all.sort();
        all
    }
}

/// Returns the hash of the configuration of the newest complete checkpoint in `folder`, see
/// [`crate::trainer::TrainConfig::config_hash`]; `None` without a checkpoint.
pub fn checkpoint_config_hash(folder: &Path) -> Option<String> {
    let checkpoints = Checkpoints { folder: folder.to_owned(), keep: 1 };
    checkpoints.all().into_iter().rev().find_map(|folder| {
        let state: State = serde_json::from_slice(&std::fs::read(folder.join(STATE)).ok()?).ok()?;
        (1..=FORMAT).contains(&state.format).then_some(state.choices)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensors(value: f32) -> HashMap<String, Tensor> {
        HashMap::from([("w".to_owned(), Tensor::new(&[value], &Device::Cpu).unwrap())])
    }

    #[test]
    fn newest_complete_checkpoint_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path(), 2).unwrap();
        assert!(checkpoints.newest().is_none());
        for step in [5, 10, 15] {
            let state = State { step, ..State::default() };
            checkpoints.write(&state, &tensors(step as f32)).unwrap();
        }
        assert_eq!(checkpoints.all().len(), 2);
        let (state, found, path) = checkpoints.newest().unwrap();
        assert_eq!((state.step, found["w"].to_vec1::<f32>().unwrap()), (15, vec![15.0]));
        std::fs::write(path.join(TENSORS), b"half").unwrap();
        assert_eq!(checkpoints.newest().unwrap().0.step, 10);
    }

    #[test]
    fn failed_checkpoint_keeps_the_previous_one() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path(), 1).unwrap();
        checkpoints.write(&State { step: 1, ..State::default() }, &tensors(1.0)).unwrap();
        // A file in place of the next checkpoint simulates a disk that refuses it.
        std::fs::write(folder.path().join("step-0000000002"), b"in the way").unwrap();
        let error = checkpoints.write(&State { step: 2, ..State::default() }, &tensors(2.0)).unwrap_err();
        assert!(matches!(error, ModelError::File { .. }), "{error}");
        assert_eq!(checkpoints.newest().unwrap().0.step, 1);
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing half written stays");
    }
}
