//! Weights in the GGUF format of llama.cpp: one file with quantised tensors, hyperparameters and tokenizer.
//!
//! What the other formats have in files of their own is written from the metadata as the same files would be (config.json,
//! tokenizer.json), and tensors are given under the names and in the layout of transformers, so that nothing else need know.

mod config;
mod file;
mod metadata;
mod tokenizer;

pub(crate) use file::GgufFile;
