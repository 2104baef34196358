//! Encoding: every text gets an embedding of the project's encoder version, once.

use super::encoders::{EncoderChoice, SelectedEncoder};
use super::{ActiveEncoder, Encoded, Encoding};
use crate::error::TrainingError;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Activity, Progress};
use std::path::Path;

/// A change of the encoder version of a project's embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderSwitch {
    /// Key of the version before.
    pub from: String,
    /// Key of the version now.
    pub to: String,
}

impl Encoding {
    /// Gives every text an embedding of the chosen encoder, continuing an interrupted encoding, and makes
    /// that encoder the project's. A different version is encoded anew; the old embeddings stay in the file.
    ///
    /// # Errors
    /// No encoder, a wrong or damaged one, a text that cannot be encoded, a full disk, or cancellation.
    /// Finished embeddings are retained.
    pub fn encode(&self, choice: &EncoderChoice, progress: &dyn Progress) -> Result<Encoded, ProjectError> {
        let context = &self.context;
        let _reserved = context.reservations.reserve(Activity::Encoding)?;
        let seen = self.active_encoder()?;
        let (encoder, chosen, dir) = self.open_encoder(choice, seen.current.as_ref(), progress)?;
        self.encode_and_choose(&encoder, &dir, &chosen, &seen, progress)
    }

    /// Makes sure that every text has an embedding of the project's encoder (or of the one chosen, which
    /// becomes the project's), encoding what is missing. In a project opened read-only the embeddings must
    /// exist already.
    ///
    /// # Errors
    /// Those of [`Encoding::encode`]; [`TrainingError::NotEncoded`] for a reader;
    /// [`TrainingError::EncoderChanged`] if the available encoder is no longer the one that made the
    /// project's embeddings.
    pub fn ensure_encoded(
        &self,
        choice: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<Option<EncoderSwitch>, ProjectError> {
        let context = &self.context;
        let seen = self.active_encoder()?;
        let before = seen.current.clone();
        let named = choice.encoder.is_some()
            || choice.pooling.is_some()
            || choice.precision.is_some()
            || choice.long_texts.is_some()
            || choice.prompt.is_some();
        let complete = self.state()?.encoded as usize == context.index().texts().len();
        if before.is_some() && complete && !named {
            return Ok(None);
        }
        if self.context.is_reader() {
            return Err(TrainingError::NotEncoded(context.store.path().to_owned()).into());
        }
        let (encoder, chosen, dir) = self.open_encoder(choice, before.as_ref(), progress)?;
        if let Some(before) = before.as_ref().filter(|before| before.key != chosen.key && !named) {
            return Err(
                TrainingError::EncoderChanged { stored: before.key.clone(), dir, found: chosen.key }.into()
            );
        }
        let _reserved = context.reservations.reserve(Activity::Encoding)?;
        let done = self.encode_and_choose(&encoder, &dir, &chosen, &seen, progress)?;
        let switched = before.filter(|before| done.in_use && before.key != chosen.key);
        Ok(switched.map(|before| EncoderSwitch { from: before.key, to: chosen.key }))
    }

    /// Encodes what is missing: with the encoder in use, stopping if another one is activated, or with the
    /// encoder that is named, which becomes the active one.
    pub(crate) fn encode_missing(
        &self,
        choice: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<Encoded, ProjectError> {
        let seen = self.active_encoder()?;
        let (encoder, chosen, dir) = self.open_encoder(choice, seen.current.as_ref(), progress)?;
        if choice.encoder.is_some() {
            return self.encode_and_choose(&encoder, &dir, &chosen, &seen, progress);
        }
        let progress = WhileInUse { encoding: self, seen: &seen, chosen: &chosen, progress };
        self.encode_and_choose(&encoder, &dir, &chosen, &seen, &progress)
    }

    /// Gives every text an embedding and makes the encoder the project's, unless another step changed the
    /// active encoder after `seen`.
    fn encode_and_choose(
        &self,
        encoder: &Encoder,
        dir: &Path,
        chosen: &SelectedEncoder,
        seen: &ActiveEncoder,
        progress: &dyn Progress,
    ) -> Result<Encoded, ProjectError> {
        self.add_version(encoder, dir)?;
        let mut seen = seen.clone();
        if seen.current.is_none() && self.begin_with_encoder(chosen)? {
            seen = self.active_encoder()?;
        }
        let mut done = self.encode_version(encoder, &chosen.key, progress)?;
        // Texts that were added meanwhile may have trained it.
        self.import_training_data(&encoder.version().weights_sha256, dir)?;
        done.in_use = match seen.key() == Some(chosen.key.as_str()) {
            // Nothing to choose: the encoder in use had not encoded these texts yet.
            true => self.active_encoder()?.key() == Some(chosen.key.as_str()),
            false => self.choose_encoder(chosen, &seen)?,
        };
        if !done.in_use {
            let note =
                "Another encoder came into use meanwhile and stays in use; these embeddings are stored.";
            done.note = Some(done.note.map_or_else(|| note.to_owned(), |known| format!("{known} {note}")));
        }
        self.context.listeners.send(&Event::Project);
        Ok(done)
    }
}

/// Stops an encoding in the background when another encoder is activated.
struct WhileInUse<'a> {
    encoding: &'a Encoding,
    seen: &'a ActiveEncoder,
    chosen: &'a SelectedEncoder,
    progress: &'a dyn Progress,
}

impl Progress for WhileInUse<'_> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.progress.report(done, total, doing);
    }

    fn cancelled(&self) -> bool {
        // A failed read is no reason to stop; it will be reported when the embeddings are stored.
        let switched = self
            .encoding
            .active_encoder()
            .is_ok_and(|now| now.current != self.seen.current && now.key() != Some(self.chosen.key.as_str()));
        switched || self.progress.cancelled()
    }
}
