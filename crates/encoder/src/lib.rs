//! Small transformer encoders for text embeddings, for inference and training.
//!
//! An encoder is a folder with `config.json`, `tokenizer.json` and `model.safetensors` (or several files
//! and their index), as in the model hub, or one GGUF file, and optionally with the sentence-transformers
//! files (`modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json`), which are respected.
//! `config.json` names the family: BERT, DistilBERT, RoBERTa, MPNet, DeBERTa 2 and 3, ModernBERT, GPT-2 or
//! Llama. [`Encoder::open`] validates all of it; [`Encoder::encode`] returns embeddings;
//! [`Encoder::encode_stream`] does so as a job that reports progress and can be cancelled and resumed.
//! [`Trainable`] opens the same folders for training, [`CausalModel`] opens a GPT-2 for use token by token.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//!
//! use dissensus_encoder::{BatchPlan, DeviceChoice, Encoder, EncoderOptions, Pooling};
//!
//! # fn main() -> Result<(), dissensus_encoder::EncoderError> {
//! // A BERT with random weights, 24 components an embedding; real encoders are opened alike.
//! let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
//! let options =
//!     EncoderOptions { pooling: Some(Pooling::Max), device: DeviceChoice::Cpu, ..Default::default() };
//! let encoder = Encoder::open(&folder, &options)?;
//! assert!(encoder.version().key().ends_with("/max/20/windows"));
//!
//! let embeddings = encoder.encode(&["this is not fair", ""])?;
//! assert_eq!((embeddings.len(), embeddings[0].len()), (2, 24));
//!
//! // As a job: store what comes, and break off when asked to.
//! let mut stored = Vec::new();
//! let done = encoder.encode_stream(["good", "bad"], &BatchPlan::default(), |batch| {
//!     stored.extend(batch.indices.into_iter().zip(batch.embeddings));
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!((done.texts, stored.len(), done.cancelled), (2, 2, false));
//! # Ok(())
//! # }
//! ```

mod attention_mask;
mod batches;
mod blocks;
mod catalogue;
mod causal;
mod device;
mod encoder;
mod error;
mod families;
mod folder;
mod freeze_policy;
mod gguf;
mod hash;
#[cfg(feature = "hub")]
pub mod hub;
mod identity;
mod kernels;
mod locate;
mod ngrams;
mod open;
mod ops;
mod options;
mod pooling;
mod saved_folder;
mod sentence_transformers;
mod shards;
mod soft_prompt;
#[cfg(test)]
mod soft_prompt_tests;
mod tensor_file;
mod tensor_store;
mod threads;
mod token_batch;
mod tokens;
mod training;
mod weights;
mod word_states;
mod workers;

pub use batches::BatchPlan;
pub use blocks::{Group, Parameter};
pub use catalogue::{
    Catalogue, CutZip, HubSource, KnownEncoder, KnownFile, PackedWeights, PythonSource, Source,
};
pub use causal::{CausalModel, KvCache};
pub use device::{auto_device, auto_device_reason};
pub use encoder::{BatchDone, Encoder, StreamDone};
pub use error::EncoderError;
pub use freeze_policy::{FreezePolicy, LoraConfig, LoraTarget};
pub use identity::EncoderVersion;
pub use locate::locate;
pub use ngrams::char_ngrams;
pub use options::{DeviceChoice, EncoderOptions, LongTexts, Pooling, Precision, PrecisionChoice, Prompt};
pub use saved_folder::copy_encoder;
pub use threads::bind_tensors_to_threads;
pub use training::{AdamW, AdamWSettings, Encoded, Gradients, GroupNorm, LayerRates, Trainable};
pub use word_states::WordStates;
