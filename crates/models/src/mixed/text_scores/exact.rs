//! The Gaussian process over all labelled texts.

use super::evidence::{KernelChoice, Process, log_density};
use super::learned::{LearnedScores, ngram_weights};
use super::parts::{SimilarTexts, TextScores};
use super::pseudo_data::PseudoData;
use super::texts::{Texts, distances};
use crate::mixed::crossed::CrossedEffects;
use dissensus_stats::math::axpy;
use nalgebra::DVector;

/// Fits the exact process. Scores of labelled texts are means without the text and its copies. `None` where
/// the covariance cannot be factored.
pub(super) fn fit(
    crossed: &CrossedEffects,
    texts: Texts<'_>,
    data: &PseudoData,
    mean: &[f32],
    KernelChoice { width, variances }: KernelChoice,
) -> Option<LearnedScores> {
    let linear = texts.products(&data.texts);
    let process = Process {
        rbf: distances(&linear).map(|d| (-width * d).exp()),
        linear,
        ngrams: texts.ngram_products(&data.texts, mean),
        z: DVector::from_column_slice(&data.z),
        noise: data.noise.clone(),
    };
    let solution = process.solve(variances, &texts.copies(&data.texts))?;
    let head = data.texts.iter().zip(&data.z).zip(&data.noise);
    let head: f64 = head.map(|((&t, z), n)| log_density(*z, crossed.scores[t], crossed.text_var + n)).sum();
    let mut weights = vec![0.0; texts.embeddings.dim];
    for (&t, a) in data.texts.iter().zip(&solution.alpha) {
        axpy(variances.linear * a, texts.row(t), &mut weights);
    }
    let similar = SimilarTexts::new(
        data.texts.iter().map(|&t| texts.embeddings.row(t)),
        width * texts.scale,
        solution.alpha.iter().map(|a| variances.rbf * a).collect(),
    );
    let ngrams = ngram_weights(texts, data, (&solution.alpha, variances.ngrams), mean);
    Some(LearnedScores {
        held_out: solution.left_out,
        parts: TextScores { weights, similar, ngrams },
        better: solution.density > head,
    })
}
