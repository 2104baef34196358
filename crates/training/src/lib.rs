//! Computation and storage of embeddings, live models, training runs and their prediction tables.

pub mod background;
pub mod encoding;
pub mod error;
pub mod learned_words;
pub mod live;
pub mod predicted_texts;
pub mod prediction_tables;
pub mod requested_model;
pub mod runs;
pub mod saved_runs;
pub mod word_predictor;
