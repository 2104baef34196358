//! Data that the encoder of the embeddings was itself trained on: models on those embeddings cannot be
//! tested with these labels.

use dissensus_stats::data::{ModelError, Observation};

/// Minimum number of unseen texts for a figure.
pub const MIN_UNSEEN_TEXTS: usize = 10;

/// Texts and annotators whose labels trained or validated the encoder. Empty slices: none, as with an
/// encoder that was not tuned on this project.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenByEncoder<'a> {
    /// One entry per text, or empty.
    pub texts: &'a [bool],
    /// One entry per annotator, or empty. Considered only where annotators are held out: a known annotator
    /// may have trained it.
    pub annotators: &'a [bool],
}

impl SeenByEncoder<'_> {
    /// Whether any text is seen.
    pub fn any(&self) -> bool {
        self.texts.contains(&true)
    }

    /// Whether a label must not be used for testing a model; `new_annotators` where the figure is about
    /// annotators who were never seen.
    pub(crate) fn excludes(&self, label: &Observation, new_annotators: bool) -> bool {
        let seen = |all: &[bool], row: u32| all.get(row as usize) == Some(&true);
        seen(self.texts, label.text) || (new_annotators && seen(self.annotators, label.annotator))
    }

    /// Checks that there are enough unseen texts.
    ///
    /// # Errors
    /// [`ModelError::SeenByEncoder`] where there are too few.
    pub fn check(&self, split: &str, unseen: usize) -> Result<(), ModelError> {
        if self.any() && unseen < MIN_UNSEEN_TEXTS {
            return Err(ModelError::SeenByEncoder {
                split: split.to_owned(),
                unseen,
                needed: MIN_UNSEEN_TEXTS,
            });
        }
        Ok(())
    }
}
