//! An encoder for texts that are neither in a project nor in a file.

use super::encoders::{self, EncoderChoice};
use super::of_project;
use super::text_file::in_order;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use std::path::Path;

/// An open encoder.
pub struct TextEncoder {
    encoder: Encoder,
}

impl TextEncoder {
    /// Opens an encoder as [`crate::encoding::embed_file`] does: by its name, its folder or file, a
    /// repository of the model hub, or a project that has tuned one.
    ///
    /// # Errors
    /// There is none of that name, or it is damaged.
    pub fn open(home: &Home, choice: &EncoderChoice, progress: &dyn Progress) -> Result<Self, ProjectError> {
        // Without a current project, every named project is another one.
        let of_another = choice.encoder.as_deref().map(|name| of_project::find(home, Path::new(""), name));
        let (encoder, _, _) = match of_another.transpose()?.flatten() {
            Some(found) => encoders::open_found(found, choice, None)?,
            None => encoders::open(home, choice, None, progress)?,
        };
        Ok(Self { encoder })
    }

    pub(super) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Key of its version: weights, pooling, length and precision.
    pub fn version(&self) -> String {
        self.encoder.version().key()
    }

    /// Number of components of an embedding.
    pub fn dim(&self) -> usize {
        self.encoder.version().dim
    }

    /// The device of the computation.
    pub fn device(&self) -> &str {
        self.encoder.device_name()
    }

    /// Embeddings of all texts, texts x dim, in their order.
    ///
    /// # Errors
    /// A text that cannot be encoded, or cancellation.
    pub fn encode(&self, texts: &[String], progress: &dyn Progress) -> Result<Vec<f32>, ProjectError> {
        let mut rows = vec![0.0; texts.len() * self.dim()];
        in_order(&self.encoder, texts.iter().cloned().map(Ok), progress, |at, embedding| {
            rows[at * embedding.len()..(at + 1) * embedding.len()].copy_from_slice(&embedding);
            Ok(())
        })?;
        Ok(rows)
    }
}
