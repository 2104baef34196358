//! A view of a live model whose measures use predictions only, never the labels given.

use dissensus_models::live::LiveModel;
use dissensus_stats::data::{AnnotatorModel, ModelError, ModelKind, TextFeatures};
use std::ops::Range;

pub(super) struct PredictionsAlone<'a>(pub(super) &'a LiveModel);

impl AnnotatorModel for PredictionsAlone<'_> {
    fn kind(&self) -> ModelKind {
        self.0.kind()
    }

    fn levels(&self) -> usize {
        self.0.levels()
    }

    fn texts(&self) -> usize {
        self.0.texts()
    }

    fn annotators(&self) -> usize {
        self.0.annotators()
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        self.0.predict(text, annotator, out);
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        self.0.predict_new_text(text, annotator, out)
    }

    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.0.predict_column(annotator, texts, out);
    }

    fn node_weights(&self) -> Vec<f64> {
        self.0.node_weights()
    }

    fn predict_column_at_node(&self, node: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.0.predict_column_at_node(node, annotator, texts, out);
    }
}
