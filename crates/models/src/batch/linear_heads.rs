//! `majority`, `shared` and `sep-heads` without the texts they were fitted on: heads over raw embeddings.

use super::sep_heads::SepHeads;
use super::shared::{PlainHead, SharedHead};
use dissensus_stats::data::{AnnotatorModel, ModelError, ModelKind, TextFeatures};
use serde::{Deserialize, Serialize};

/// One head for all annotators, and additional heads for annotators with their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinearHeads {
    kind: ModelKind,
    annotators: usize,
    shared: PlainHead,
    /// Empty where annotators have no heads of their own.
    own: Vec<Option<PlainHead>>,
}

impl LinearHeads {
    pub fn of_shared(model: &SharedHead) -> Self {
        Self {
            kind: model.kind(),
            annotators: model.annotators(),
            shared: model.plain().without_texts(),
            own: Vec::new(),
        }
    }

    pub fn of_sep_heads(model: &SepHeads) -> Self {
        Self {
            kind: ModelKind::SepHeads,
            annotators: model.annotators(),
            shared: model.fallback().plain().without_texts(),
            own: model.raw_heads(),
        }
    }

    /// Checks that the sizes of a deserialised model are consistent.
    pub fn check(&self) -> Result<(), &'static str> {
        let fits =
            |head: &PlainHead| head.fits() && head.link == self.shared.link && head.dim == self.shared.dim;
        let own = self.own.is_empty() || self.own.len() == self.annotators;
        if own && fits(&self.shared) && self.own.iter().flatten().all(fits) {
            Ok(())
        } else {
            Err("the sizes of its heads do not fit together")
        }
    }

    pub fn dim(&self) -> usize {
        self.shared.dim
    }

    fn own(&self, annotator: u32) -> Option<&PlainHead> {
        self.own.get(annotator as usize).and_then(Option::as_ref)
    }
}

impl AnnotatorModel for LinearHeads {
    fn kind(&self) -> ModelKind {
        self.kind
    }

    fn levels(&self) -> usize {
        self.shared.link.levels
    }

    fn texts(&self) -> usize {
        0
    }

    fn annotators(&self) -> usize {
        self.annotators
    }

    fn predict(&self, text: u32, _annotator: u32, _out: &mut [f32]) {
        panic!("text {text}: heads without their texts have no rows");
    }

    fn knows(&self, annotator: u32) -> bool {
        self.kind != ModelKind::SepHeads || self.own(annotator).is_some()
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        self.own(annotator).unwrap_or(&self.shared).fill_from_embedding(text.embedding, out)
    }
}
