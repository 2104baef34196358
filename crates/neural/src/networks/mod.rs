//! Networks on top of embeddings, trained by gradient descent: one forward pass for cached embeddings and
//! for a tuned encoder.

mod dense;
mod head;
mod mixed_head;
mod model;
mod network;
mod output;
mod rows;
mod saved;
mod shape;
mod share_rec;
mod table;

pub use dense::Activation;
pub(crate) use dense::DropoutRng;
pub use head::HeadSpec;
pub use model::NetworkModel;
pub(crate) use network::Network;
pub use network::NetworkSpec;
pub(crate) use rows::Rows;
pub(crate) use shape::{OneHot, Scaler, Shape};
pub use share_rec::AnnotatorEmbeddingSpec;
pub(crate) use table::Gathered;
