//! What models see of a text beside its labels: its embedding and its character n-grams.

use crate::context::Context;
use crate::error::WorkbenchError;
use dissensus_domain::TextId;
use dissensus_encoder::char_ngrams;
use dissensus_perspectives::{SparseRows, TextFeatures};
use std::sync::Arc;

/// A project with more texts than this, or with more n-grams than this in all of them (six bytes each), goes without: they would take
/// too much memory and too much time to read.
const MAX_TEXTS: usize = 50_000;
const MAX_ENTRIES: usize = 40_000_000;
/// Texts read at a time; a text may be long.
const PAGE: usize = 64;

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

/// The n-grams of these texts, a row each; `None` for too many of them, unless the `limits` are lifted.
pub(super) fn ngrams_of(
    context: &Context,
    texts: &[TextId],
    limits: Limits,
) -> Result<Option<Arc<SparseRows>>, WorkbenchError> {
    if limits == Limits::Kept && texts.len() > MAX_TEXTS {
        return Ok(None);
    }
    let mut rows = SparseRows::default();
    for page in texts.chunks(PAGE) {
        for body in context.store.bodies(page)? {
            rows.push(&char_ngrams(&body))?;
        }
        if limits == Limits::Kept && rows.entries() > MAX_ENTRIES {
            return Ok(None);
        }
    }
    Ok(Some(Arc::new(rows)))
}

/// Whether very many texts go without n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limits {
    Kept,
    /// For a run that has learned from n-grams, whatever the project has grown to since.
    Lifted,
}
