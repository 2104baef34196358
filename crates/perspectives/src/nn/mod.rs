//! Neural networks: the networks on top of embeddings, and the trainer that learns them, with the encoder under them where that is tuned.

pub(crate) mod networks;
pub(crate) mod trainer;
