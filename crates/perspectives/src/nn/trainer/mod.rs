//! Gradient training: a network on embeddings, and the encoder under it where that learns too.
//!
//! One loop for all models, and for a question alone as for one with auxiliary questions that teach the same encoder. Randomness is drawn from seeds and step numbers alone, so that a training that was killed
//! resumes from its last checkpoint to the same numbers.

mod checkpoint;
mod config;
mod data_hash;
mod default_fit;
mod embedder;
mod examples;
mod hex;
mod history;
mod inputs;
mod run;
mod schedule;
mod task;
#[cfg(test)]
mod tests;
mod trained;

pub use checkpoint::checkpoint_config_hash;
pub use config::{Seeds, TrainConfig, ValidationMetric};
pub(crate) use default_fit::fit_network;
pub use history::{EpochRecord, GradientNorm, ValidationScores};
pub use inputs::{AuxiliaryTask, EncoderToTune, Trainer};
pub use schedule::Schedule;
pub use trained::{StopReason, Trained};
