//! What models see of a text beside its labels: its embedding and its character n-grams.

use crate::context::Context;
use crate::error::WorkbenchError;
use dissensus_domain::TextId;
use dissensus_encoder::char_ngrams;
use dissensus_perspectives::{SparseRows, TextFeatures};
use std::sync::Arc;

/// With more texts than this models go without n-grams: they would take much memory, and add little to so many labels.
const MAX_TEXTS: usize = 50_000;

/// A text that is not in the project, as its models see it.
#[derive(Clone, Debug)]
pub struct EncodedText {
    embedding: Vec<f32>,
    ngrams: SparseRows,
}

impl EncodedText {
    /// Of a text and its embedding.
    pub(crate) fn new(text: &str, embedding: Vec<f32>) -> Result<Self, WorkbenchError> {
        let mut ngrams = SparseRows::default();
        ngrams.push(&char_ngrams(text))?;
        Ok(Self { embedding, ngrams })
    }

    /// What models take.
    pub(crate) fn features(&self) -> TextFeatures<'_> {
        TextFeatures { embedding: &self.embedding, ngrams: self.ngrams.row(0) }
    }
}

/// The n-grams of these texts, a row each; `None` for too many of them.
pub(super) fn ngrams_of(
    context: &Context,
    texts: &[TextId],
) -> Result<Option<Arc<SparseRows>>, WorkbenchError> {
    if texts.len() > MAX_TEXTS {
        return Ok(None);
    }
    let mut rows = SparseRows::default();
    for body in context.store.bodies(texts)? {
        rows.push(&char_ngrams(&body))?;
    }
    Ok(Some(Arc::new(rows)))
}
