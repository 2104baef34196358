//! Features of any text, as models read them.

use super::Encoding;
use super::encoders::{EncoderChoice, SelectedEncoder};
use super::text_features::EncodedText;
use crate::error::TrainingError;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use std::path::PathBuf;

impl Encoding {
    /// The features of a text that is not in the project, by the project's encoder.
    ///
    /// # Errors
    /// The project has no embeddings, no encoder is available, or it is another one than the project's.
    pub fn embed(&self, text: &str, choice: &EncoderChoice) -> Result<EncodedText, ProjectError> {
        EncodedText::new(text, self.open_in_use(choice)?.0.encode(&[text])?.swap_remove(0))
    }

    /// Opens the project's encoder with the settings that produced the project's embeddings, and returns it
    /// with these settings and its folder; of `choice` only the device is used.
    pub fn open_in_use(
        &self,
        choice: &EncoderChoice,
    ) -> Result<(Encoder, SelectedEncoder, PathBuf), ProjectError> {
        let before =
            self.chosen()?.ok_or_else(|| TrainingError::NotEncoded(self.context.store.path().to_owned()))?;
        let choice = EncoderChoice { device: choice.device, ..EncoderChoice::default() };
        let (encoder, now, dir) = self.open_encoder(&choice, Some(&before), &Silent)?;
        if now.key != before.key {
            return Err(TrainingError::EncoderChanged { stored: before.key, dir, found: now.key }.into());
        }
        Ok((encoder, now, dir))
    }
}
