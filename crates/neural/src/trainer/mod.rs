//! Gradient training: a network on embeddings, and the encoder below it where that is tuned too.
//!
//! One loop serves all models, with a single question, several on one encoder, or auxiliary questions that
//! train only the encoder. Randomness is drawn only from seeds and step numbers, so that a killed training
//! run resumes from its last checkpoint to the same numbers.

mod checkpoint;
mod config;
mod data_hash;
mod default_fit;
mod embedder;
mod evaluation;
mod examples;
mod hex;
mod history;
mod inputs;
#[cfg(test)]
mod joint_tests;
mod keeping;
mod run;
mod schedule;
mod step;
mod stream;
mod task;
#[cfg(test)]
mod tests;
mod trained;
mod training;
mod word_question;
#[cfg(test)]
mod word_tests;
mod words;

pub use checkpoint::checkpoint_config_hash;
pub use config::{Seeds, TrainConfig, ValidationMetric};
pub use default_fit::{StepsChosen, fit_for_chosen_steps, fit_network};
pub use history::{EpochRecord, GradientNorm, ValidationScores};
pub use inputs::{AuxiliaryTask, EncoderToTune, JointQuestion, Trainer};
pub use schedule::Schedule;
pub use trained::{Head, StopReason, Trained};
pub use word_question::{WordHead, WordQuestion};
