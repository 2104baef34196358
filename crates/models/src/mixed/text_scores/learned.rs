//! Result of a fit of text scores, exact or by landmarks.

use super::parts::{NgramWeights, TextScores};
use super::pseudo_data::PseudoData;
use super::texts::Texts;

pub(super) struct LearnedScores {
    /// Scores of the labelled texts, each without the influence of its own labels.
    pub(super) held_out: Vec<f64>,
    pub(super) parts: TextScores,
    /// Whether these scores predict held-out labels better than the head's.
    pub(super) better: bool,
}

/// The weights of n-grams if each labelled text has the weight `alpha` times the variance of n-grams.
pub(super) fn ngram_weights(
    texts: Texts<'_>,
    data: &PseudoData,
    (alpha, variance): (&[f64], f64),
    mean: &[f32],
) -> Option<NgramWeights> {
    let ngrams = texts.embeddings.ngrams.as_ref()?;
    let mut weights = vec![0.0; mean.len()];
    for (&t, a) in data.texts.iter().zip(alpha) {
        ngrams.row(t).add_to((variance * a) as f32, &mut weights);
    }
    let total = (variance * alpha.iter().sum::<f64>()) as f32;
    weights.iter_mut().zip(mean).for_each(|(w, m)| *w -= total * m);
    Some(NgramWeights::centred(weights, mean))
}
