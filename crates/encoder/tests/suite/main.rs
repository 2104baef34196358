//! Encoders read from folders, compared with their reference, and damaged ones. A single program, because
//! each costs a link; the test that counts the memory of its process is separate.

mod bad_input;
mod encoding;
mod folders;
mod gguf;
#[cfg(feature = "hub")]
mod hub;
mod inputs;
mod minilm;
mod mpnet;
mod smollm2;
mod spoilt;
mod tokenizer_files;
