//! What models read of a text besides its labels: its embedding and its character n-grams.

use dissensus_domain::TextId;
use dissensus_encoder::char_ngrams;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::{SparseRows, TextFeatures};
use std::sync::Arc;

/// Texts read at a time; a text may be long.
const PAGE: usize = 64;

/// A text that is not in the project, in the form that its models read.
#[derive(Clone, Debug)]
pub struct EncodedText {
    embedding: Vec<f32>,
    ngrams: SparseRows,
}

impl EncodedText {
    /// From a text and its embedding.
    pub fn new(text: &str, embedding: Vec<f32>) -> Result<Self, ProjectError> {
        let mut ngrams = SparseRows::default();
        ngrams.push(&char_ngrams(text))?;
        Ok(Self { embedding, ngrams })
    }

    /// The features that models read.
    pub fn features(&self) -> TextFeatures<'_> {
        TextFeatures { embedding: &self.embedding, ngrams: self.ngrams.row(0) }
    }
}

/// The n-grams of these texts, one row each; `None` if there are more than the `limits` allow.
pub(super) fn ngrams_of(
    context: &Context,
    texts: &[TextId],
    limits: NgramLimits,
) -> Result<Option<Arc<SparseRows>>, ProjectError> {
    if texts.len() > limits.texts {
        return Ok(None);
    }
    let mut rows = SparseRows::default();
    for page in texts.chunks(PAGE) {
        for body in context.store.bodies(page)? {
            rows.push(&char_ngrams(&body))?;
        }
        if rows.entries() > limits.entries {
            return Ok(None);
        }
    }
    Ok(Some(Arc::new(rows)))
}

/// Limits above which a project is modelled without n-grams: the number of texts, and of n-grams in all of
/// them (six bytes each). They would take too much memory and too much time to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NgramLimits {
    pub texts: usize,
    pub entries: usize,
}

impl NgramLimits {
    /// For a run that has learned from n-grams, regardless of the size of the project since.
    pub(super) const LIFTED: Self = Self { texts: usize::MAX, entries: usize::MAX };
}

impl Default for NgramLimits {
    fn default() -> Self {
        Self { texts: 50_000, entries: 40_000_000 }
    }
}
