//! The interface of every annotator model.

use super::{AttributeEvidence, ModelError, ModelKind, TextFeatures};
use std::ops::Range;

/// Gives P(level | text, annotator).
///
/// Every model is a function of the text's embedding (`multilevel` of its n-grams too) and of who labels. An annotator index beyond those it was
/// trained with means "a new annotator": the average annotator. `out` always has [`AnnotatorModel::levels`] entries, which
/// sum to 1.
pub trait AnnotatorModel: Send + Sync {
    /// Which model this is.
    fn kind(&self) -> ModelKind;
    /// Levels of the scale.
    fn levels(&self) -> usize;
    /// Texts it was fitted with (rows of the embeddings), labelled or not.
    fn texts(&self) -> usize;
    /// Annotators it was fitted with.
    fn annotators(&self) -> usize;
    /// Probabilities for text row `text`. Uses what labels by others tell about that text where the model can.
    ///
    /// # Panics
    /// If `text` is not below [`AnnotatorModel::texts`] or `out` has another length than [`AnnotatorModel::levels`].
    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]);
    /// Probabilities for a text the model has never seen, from what is known of it.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`].
    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError>;
    /// Probabilities of many (text, annotator) pairs, pairs x levels: what a model that is faster at once overrides.
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
    /// Whether the model has anything to say about this annotator in particular: true for models that treat all annotators
    /// alike, and else where it has learnt from labels of that annotator. `false` means that predictions are those of a
    /// fallback (the shared head, the average annotator), and a report should say so.
    fn knows(&self, _annotator: u32) -> bool {
        true
    }
    /// Labels that measures of disagreement take as this annotator's answers, `(text, level)` ordered by text: none where a model
    /// only predicts.
    fn known_labels(&self, _annotator: u32) -> &[(u32, u16)] {
        &[]
    }
    /// Probabilities for text row `text` and a new annotator of whom only attribute values are known: one entry for each
    /// of [`crate::data::TrainingData::attributes`], `None` where it is not known. Models that do not use attributes predict a new annotator.
    ///
    /// # Panics
    /// As [`AnnotatorModel::predict`].
    fn predict_new_annotator(&self, text: u32, _attributes: &[Option<u16>], out: &mut [f32]) {
        self.predict(text, u32::MAX, out);
    }
    /// As [`AnnotatorModel::predict`] with annotators fitted to their labels without slopes, where groups of annotators have some
    /// ([`crate::data::GroupSlopes`]); else false, `out` left as it is.
    fn predict_without_groups(&self, _text: u32, _annotator: u32, _out: &mut [f32]) -> bool {
        false
    }
    /// What attributes were found to tell about annotators whose labels were not looked at; `None` where the model does
    /// not try them or there was too little to try.
    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        None
    }
    /// Weights, summing to 1, of the nodes at which a text's own score is held in turn to average measures of disagreement over
    /// the model's uncertainty about the text. Empty where a model has no such uncertainty.
    fn node_weights(&self) -> Vec<f64> {
        Vec::new()
    }
    /// As [`AnnotatorModel::predict_column`], with every text's own score held at a node.
    fn predict_column_at_node(&self, _point: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.predict_column(annotator, texts, out);
    }
    /// The name on the command line.
    fn name(&self) -> &'static str {
        self.kind().name()
    }
}
