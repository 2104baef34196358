//! The results of a training run: checkpoints to resume from, the best weights, and the final model.

use super::checkpoint::{CALIBRATED, Checkpoints, State};
use super::data_hash::data_hash_of_format_1;
use super::embedder::Embedder;
use super::trained::{StopReason, Trained};
use super::training::Training;
use super::words::WordTask;
use crate::networks::Network;
use candle_core::Tensor;
use dissensus_encoder::AdamW;
use dissensus_stats::data::{ModelError, ModelKind};
use std::collections::HashMap;

/// Prefix of the tensors of the best evaluation in a checkpoint.
const BEST: &str = "best.";

impl Training<'_, '_> {
    /// Copies the current weights of the predicting networks.
    pub(super) fn weights(&self) -> Result<HashMap<String, Tensor>, ModelError> {
        let mut tensors = HashMap::new();
        for task in self.own() {
            tensors.extend(task.tensors()?);
        }
        for task in &self.streams[0].words {
            tensors.extend(task.tensors()?);
        }
        for (name, var) in self.embedder.variables() {
            let tensor = var.as_detached_tensor().to_device(&candle_core::Device::Cpu)?.copy()?;
            tensors.insert(name, tensor);
        }
        Ok(tensors)
    }

    fn load_weights(&mut self, weights: &HashMap<String, Tensor>) -> Result<(), ModelError> {
        self.streams[0].tasks.iter_mut().try_for_each(|task| task.set(weights))?;
        self.streams[0].words.iter_mut().try_for_each(|task| task.set(weights))?;
        for (name, var) in self.embedder.variables() {
            if let Some(tensor) = weights.get(&name) {
                var.set(&tensor.to_device(var.device())?)?;
            }
        }
        Ok(())
    }

    pub(super) fn write_checkpoint(&mut self) -> Result<(), ModelError> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let mut tensors = self.weights()?;
        let memory = self.optimizer.state_dict(self.variables.iter().map(|(n, v)| (n.as_str(), v)))?;
        tensors.extend(memory);
        for task in self.streams.iter().skip(1).flat_map(|stream| &stream.tasks) {
            tensors.extend(task.tensors()?);
        }
        for task in self.tasks() {
            tensors.extend(task.table_state()?);
        }
        for (name, tensor) in self.best.iter().flatten() {
            tensors.insert(format!("{BEST}{name}"), tensor.clone());
        }
        self.state.seconds = self.seconds();
        self.state.optimizer_steps = self.optimizer.steps();
        checkpoints.write(&self.state, &tensors)
    }

    pub(super) fn resume_from_checkpoint(&mut self) -> Result<(), ModelError> {
        let Some((state, tensors, path)) = self.checkpoints.as_ref().and_then(Checkpoints::newest) else {
            return Ok(());
        };
        let data =
            if state.format == 1 { data_hash_of_format_1(self.trainer) } else { self.state.data.clone() };
        // Only for `multilevel` with an encoder that has learned labels.
        let calibrated = self.config.network.model == ModelKind::Multilevel
            && (self.trainer.encoder.is_some() || self.trainer.own[0].data.embeddings.tuned_on.is_some());
        if state.format < CALIBRATED && calibrated {
            let what = "an earlier version of Dissensus, whose scores of epochs are not comparable with those of this one";
            return Err(ModelError::CheckpointMismatch { path, what });
        }
        for (ours, theirs, what) in
            [(&data, &state.data, "other labels"), (&self.state.choices, &state.choices, "other choices")]
        {
            if ours != theirs {
                return Err(ModelError::CheckpointMismatch { path, what });
            }
        }
        self.load_weights(&tensors)?;
        let names = self.variables.iter().map(|(n, v)| (n.as_str(), v));
        self.optimizer = AdamW::load_state_dict(self.settings, state.optimizer_steps, &tensors, names)?;
        for (nth, stream) in self.streams.iter_mut().enumerate() {
            for task in &mut stream.tasks {
                if nth > 0 {
                    task.set(&tensors)?;
                }
                task.set_table_state(&tensors)?;
            }
        }
        let best = tensors.into_iter().filter_map(|(name, t)| Some((name.strip_prefix(BEST)?.to_owned(), t)));
        let best: HashMap<String, Tensor> = best.collect();
        self.best = (!best.is_empty()).then_some(best);
        self.seconds_before = state.seconds;
        self.state = State { data: std::mem::take(&mut self.state.data), ..state };
        Ok(())
    }

    pub(super) fn finish(mut self, ended: StopReason) -> Result<Trained, ModelError> {
        if let Some(best) = self.best.take() {
            self.load_weights(&best)?;
        }
        let seconds = self.seconds();
        let device = self.embedder.device_name();
        let networks = self.own().iter().map(|task| on_cpu(&task.network)).collect::<Result<_, _>>()?;
        let word_heads = self.streams[0].words.iter().map(WordTask::head).collect::<Result<_, _>>()?;
        let encoder = match self.embedder {
            Embedder::Cached(_) => None,
            Embedder::Tuned(tuned) => Some(tuned.encoder),
        };
        Ok(Trained { networks, word_heads, encoder, history: self.state.history, ended, seconds, device })
    }
}

/// Moves a network to the CPU for prediction, which then cannot fail.
fn on_cpu(learned: &Network) -> Result<Network, ModelError> {
    Ok(learned.on(&candle_core::Device::Cpu)?)
}
