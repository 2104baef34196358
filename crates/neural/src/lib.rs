//! Neural networks over embeddings, and the trainer that fits them, together with the encoder if that is
//! tuned.
//!
//! | module | contents |
//! | --- | --- |
//! | [`word_networks`] | networks over words, with the choices of `dissensus_models::spans` |
//! | [`trainer`] | training with checkpoints; opens an encoder's folder if the encoder is tuned |
//! | [`networks`] | layers and heads, and a fitted network as an annotator model |

mod encoder_error;
pub mod networks;
pub mod trainer;
pub mod word_networks;
