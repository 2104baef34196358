//! Changes of labels, in the order in which the model learned them.

use serde::{Deserialize, Serialize};

/// One label recorded (`Some`) or removed (`None`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelChange {
    /// Row of the embeddings.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    pub level: Option<u16>,
}
