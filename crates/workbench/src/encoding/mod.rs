//! Encoders and embeddings: which encoder a project uses, where it is, and giving every text its embedding.

mod encode;
pub(crate) mod encoders;

pub use encode::{Encoded, EncoderSwitch};
pub use encoders::EncoderChoice;
