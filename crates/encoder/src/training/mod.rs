//! Encoders that learn: which weights, how far their gradients reach, and the steps that change them.

mod adamw;
mod gradients;
mod learning;
mod policy;
mod rates;
mod save;
mod trainable;

pub use adamw::{AdamW, AdamWSettings};
pub use gradients::{Gradients, GroupNorm};
pub(crate) use learning::{Adapter, Learning};
pub use learning::{Group, Parameter};
pub use policy::{FreezePolicy, LowRank, LowRankTarget};
pub use rates::LayerRates;
pub use trainable::Trainable;
