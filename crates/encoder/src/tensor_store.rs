//! Interface of weights files: tensors by name, as 32-bit floats.

use std::path::Path;

use crate::error::EncoderError;

/// One file of weights.
pub(crate) trait TensorStore {
    fn path(&self) -> &Path;

    fn names(&self) -> Vec<String>;

    /// The tensor's shape; `None` if there is none of this name.
    fn shape(&self, name: &str) -> Option<&[usize]>;

    /// Whether it consists of floats, unlike the counters in old checkpoints, such as position ids.
    fn is_floats(&self, name: &str) -> bool;

    /// Its values, in row-major order.
    fn floats(&self, name: &str) -> Result<Vec<f32>, EncoderError>;
}
