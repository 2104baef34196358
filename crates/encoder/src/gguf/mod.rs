//! Weights in the GGUF format of llama.cpp: one file with quantised tensors, hyperparameters and tokenizer.
//!
//! The files that other formats have (config.json, tokenizer.json) are generated from the metadata, and
//! tensors have the names and layout of transformers, so that no other module depends on the format.

mod config;
mod file;
mod metadata;
mod tokenizer;

pub(crate) use file::GgufFile;
