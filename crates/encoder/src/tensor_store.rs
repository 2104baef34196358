//! What every file of weights gives: tensors by name, as 32-bit floats.

use std::path::Path;

use crate::error::EncoderError;

/// One file of weights.
pub(crate) trait TensorStore {
    fn path(&self) -> &Path;

    fn names(&self) -> Vec<String>;

    /// The tensor's shape; None where there is none of this name.
    fn shape(&self, name: &str) -> Option<&[usize]>;

    /// Whether it is of floats, and not a counter that old checkpoints carry along, such as position ids.
    fn is_floats(&self, name: &str) -> bool;

    /// Its values, the last axis running fastest.
    fn floats(&self, name: &str) -> Result<Vec<f32>, EncoderError>;
}
