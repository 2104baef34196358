//! Training of encoders: trainable weights, the extent of their gradients, and optimizer steps.

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
