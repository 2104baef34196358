//! Encoders and embeddings: which encoder a project uses, where it is, and giving every text its embedding.

mod active;
mod download;
mod encode;
pub(crate) mod encoders;
mod take_over;
mod training_data;

pub(crate) use active::ActiveEncoder;
pub use encode::{Encoded, EncoderSwitch};
pub use encoders::EncoderChoice;
pub(crate) use training_data::Seen;
