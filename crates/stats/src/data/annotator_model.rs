//! The interface of every annotator model.

use super::{AttributeEvidence, ModelError, ModelKind, TextFeatures};
use std::ops::Range;

/// Predicts P(level | text, annotator).
///
/// Every model is a function of the text's embedding (`multilevel` also of its n-grams) and of the annotator.
/// An annotator index beyond those it was trained with means "a new annotator": the average annotator. `out`
/// always has [`AnnotatorModel::levels`] entries, which sum to 1.
pub trait AnnotatorModel: Send + Sync {
    fn kind(&self) -> ModelKind;
    /// Number of levels of the scale.
    fn levels(&self) -> usize;
    /// Number of texts the model was fitted with (rows of the embeddings), labelled or not.
    fn texts(&self) -> usize;
    /// Number of annotators the model was fitted with.
    fn annotators(&self) -> usize;
    /// Probabilities for text row `text`. Uses the information in labels by others about that text where the
    /// model can.
    ///
    /// # Panics
    /// If `text` is not below [`AnnotatorModel::texts`] or `out` has another length than
    /// [`AnnotatorModel::levels`].
    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]);
    /// Probabilities for a text the model has never seen, from its features.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`].
    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError>;
    /// Probabilities of many (text, annotator) pairs, pairs x levels; overridden by models that are faster in
    /// batches.
    fn predict_pairs(&self, pairs: &[(u32, u32)], out: &mut [f32]) {
        for ((text, annotator), p) in pairs.iter().zip(out.chunks_exact_mut(self.levels())) {
            self.predict(*text, *annotator, p);
        }
    }
    /// Probabilities of all texts in `texts` for one annotator, level-major: `out[c * texts.len() + i]`.
    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        let (n, mut p) = (texts.len(), vec![0.0; self.levels()]);
        for (i, text) in texts.enumerate() {
            self.predict(text as u32, annotator, &mut p);
            for (c, &p) in p.iter().enumerate() {
                out[c * n + i] = p;
            }
        }
    }
    /// Whether predictions are specific to this annotator: true for models that treat all annotators alike,
    /// and otherwise where the model has learned from labels of that annotator. `false` means that
    /// predictions are those of a fallback (the shared head, the average annotator), which a report should
    /// state.
    fn knows(&self, _annotator: u32) -> bool {
        true
    }
    /// Labels that measures of disagreement use as this annotator's answers, `(text, level)` ordered by text:
    /// none where a model only predicts.
    fn known_labels(&self, _annotator: u32) -> &[(u32, u16)] {
        &[]
    }
    /// Probabilities for text row `text` and a new annotator with known attribute values: one entry for each
    /// of [`crate::data::TrainingData::attributes`], `None` where it is unknown. Models that do not use
    /// attributes predict a new annotator.
    ///
    /// # Panics
    /// The same as [`AnnotatorModel::predict`].
    fn predict_new_annotator(&self, text: u32, _attributes: &[Option<u16>], out: &mut [f32]) {
        self.predict(text, u32::MAX, out);
    }
    /// [`AnnotatorModel::predict`] with annotators fitted to their labels without slopes, where groups of
    /// annotators have slopes ([`crate::data::GroupSlopes`]); otherwise returns false and leaves `out`
    /// unchanged.
    fn predict_without_groups(&self, _text: u32, _annotator: u32, _out: &mut [f32]) -> bool {
        false
    }
    /// Estimated predictive value of attributes for annotators without labels; `None` where the model does
    /// not try them or had too little data to try.
    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        None
    }
    /// Weights, summing to 1, of the nodes at which a text's own score is fixed in turn to average measures
    /// of disagreement over the model's uncertainty about the text. Empty where a model has no such
    /// uncertainty.
    fn node_weights(&self) -> Vec<f64> {
        Vec::new()
    }
    /// [`AnnotatorModel::predict_column`] with every text's own score fixed at a node.
    fn predict_column_at_node(&self, _point: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.predict_column(annotator, texts, out);
    }
    /// The name on the command line.
    fn name(&self) -> &'static str {
        self.kind().name()
    }
}
