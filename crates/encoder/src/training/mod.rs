//! Encoders that learn: which weights, how far their gradients reach, and the steps that change them.

mod accumulate;
mod adamw;
mod gradients;
mod rates;
mod save;
mod trainable;

pub use adamw::{AdamW, AdamWSettings};
pub use gradients::{Gradients, GroupNorm};
pub use rates::LayerRates;
pub use trainable::{Encoded, Trainable};
