//! Measures of predictions that are given as an array.

use super::measures::Disagreement;
use super::stream::disagreement;
use crate::data::{AnnotatorModel, ModelError, ModelKind, TextFeatures};

/// Probabilities of every text, annotator and level, row-major.
struct ArrayModel<'a> {
    p: &'a [f32],
    texts: usize,
    annotators: usize,
    levels: usize,
}

impl AnnotatorModel for ArrayModel<'_> {
    fn kind(&self) -> ModelKind {
        // Unused: the measures do not depend on the kind.
        ModelKind::SepHeads
    }

    fn levels(&self) -> usize {
        self.levels
    }

    fn texts(&self) -> usize {
        self.texts
    }

    fn annotators(&self) -> usize {
        self.annotators
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        let from = (text as usize * self.annotators + annotator as usize) * self.levels;
        out.copy_from_slice(&self.p[from..from + self.levels]);
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        _annotator: u32,
        _out: &mut [f32],
    ) -> Result<(), ModelError> {
        Err(ModelError::EmbeddingLength { expected: 0, found: text.embedding.len() })
    }
}

/// The measures of every text over all annotators, from probabilities `p`: annotators x levels for each text,
/// text by text. `ordinal` selects the measures that need an order of the levels.
///
/// # Errors
/// [`ModelError::Length`] where `p` is no whole number of texts; [`ModelError::NotProbability`] for a number
/// that is negative or not finite, with its position counted in annotators of texts.
pub fn disagreement_of_probabilities(
    p: &[f32],
    annotators: usize,
    levels: usize,
    ordinal: bool,
) -> Result<Vec<Disagreement>, ModelError> {
    let row = annotators * levels;
    if row == 0 || !p.len().is_multiple_of(row) {
        let (what, found) = ("the list of probabilities", p.len());
        return Err(ModelError::Length { what, expected: row, found });
    }
    if let Some(at) = p.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
        return Err(ModelError::NotProbability {
            observation: at / levels,
            level: at % levels,
            found: p[at],
        });
    }
    Ok(disagreement(&ArrayModel { p, texts: p.len() / row, annotators, levels }, None, ordinal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_opposite_people_differ() {
        let apart = [1.0, 0.0, 0.0, 1.0];
        let alike = [0.0, 1.0, 0.0, 1.0];
        let found = disagreement_of_probabilities(&[apart, alike].concat(), 2, 2, true).unwrap();
        assert_eq!((found[0].pairwise, found[1].pairwise), (1.0, 0.0));
        assert!(disagreement_of_probabilities(&[0.5; 5], 2, 2, true).is_err());
        assert!(disagreement_of_probabilities(&[0.5, f32::NAN, 0.5, 0.5], 2, 2, true).is_err());
    }
}
