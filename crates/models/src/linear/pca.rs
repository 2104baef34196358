//! Centred, scaled and rotated embeddings: the same ridge problems, better conditioned, shared by all heads.

use dissensus_stats::data::{Embeddings, ModelError};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Number of texts rotated at a time: a matrix product of a size that fits caches, without a second copy of
/// all rows.
const BLOCK: usize = 2048;

/// Embeddings minus their mean, scaled to a mean squared length of 1 and rotated onto their principal axes
/// (largest variance first).
///
/// A ridge penalty is invariant under rotation; an optimiser with a diagonal preconditioner is not, and needs
/// a tenth of the steps. Texts x dim numbers, row-major.
#[derive(Clone, Debug)]
pub(crate) struct PcaEmbeddings {
    pub(crate) dim: usize,
    pub(crate) texts: usize,
    pub(crate) rows: Vec<f64>,
    /// Mean square of each rotated column.
    pub(crate) explained_variance: Vec<f64>,
    /// Scaled length over raw length.
    pub(crate) scale: f64,
    mean: Vec<f64>,
    /// dim x dim, column `j` is the j-th axis, divided by the scale.
    axes: DMatrix<f64>,
}

impl PcaEmbeddings {
    pub(crate) fn new(embeddings: &Embeddings) -> Self {
        let (dim, texts) = (embeddings.dim, embeddings.texts);
        if dim == 0 || texts == 0 {
            let axes = DMatrix::identity(dim, dim);
            return Self {
                dim,
                texts,
                rows: Vec::new(),
                explained_variance: vec![0.0; dim],
                scale: 1.0,
                mean: vec![0.0; dim],
                axes,
            };
        }
        let mean = mean_of(embeddings);
        let blocks: Vec<std::ops::Range<usize>> =
            (0..texts).step_by(BLOCK).map(|from| from..(from + BLOCK).min(texts)).collect();
        // Summed in order, so that the result does not depend on the order of completion.
        let mut covariance = DMatrix::zeros(dim, dim);
        for some in blocks.chunks(16) {
            let parts: Vec<DMatrix<f64>> = some
                .par_iter()
                .map(|block| {
                    let x = centred(embeddings, block, &mean);
                    &x * x.transpose()
                })
                .collect();
            parts.iter().for_each(|part| covariance += part);
        }
        covariance /= texts as f64;
        let total = covariance.trace();
        let scale = if total > 1e-12 { 1.0 / total.sqrt() } else { 1.0 };
        let eigen = covariance.symmetric_eigen();
        let mut order: Vec<usize> = (0..dim).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let axes = DMatrix::from_fn(dim, dim, |i, j| {
            eigen.eigenvectors[(i, order[j])] * sign(&eigen.eigenvectors, order[j]) * scale
        });
        let explained_variance =
            order.iter().map(|&j| eigen.eigenvalues[j].max(0.0) * scale * scale).collect();
        let turn = axes.transpose();
        let mut rows = vec![0.0; texts * dim];
        rows.par_chunks_mut(BLOCK * dim).zip(&blocks).for_each(|(rows, block)| {
            rows.copy_from_slice((&turn * centred(embeddings, block, &mean)).as_slice());
        });
        Self { dim, texts, rows, explained_variance, scale, mean: mean.as_slice().to_vec(), axes }
    }

    pub(crate) fn row(&self, text: usize) -> &[f64] {
        &self.rows[text * self.dim..(text + 1) * self.dim]
    }

    /// Transforms a raw embedding as [`PcaEmbeddings::row`] does for the texts.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`].
    pub(crate) fn transform(&self, x: &[f32]) -> Result<Vec<f64>, ModelError> {
        if x.len() != self.dim {
            return Err(ModelError::EmbeddingLength { expected: self.dim, found: x.len() });
        }
        let away: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| f64::from(*x) - m).collect();
        Ok(self
            .axes
            .as_slice()
            .chunks_exact(self.dim.max(1))
            .map(|axis| dissensus_stats::math::dot(axis, &away))
            .collect())
    }

    /// Weights and intercept for raw embeddings that are equivalent to `w` for rotated ones:
    /// `w.z = raw.x + intercept`.
    pub(crate) fn to_raw_weights(&self, w: &[f64]) -> (Vec<f64>, f64) {
        let raw = &self.axes * DVector::from_column_slice(w);
        let intercept = -dissensus_stats::math::dot(raw.as_slice(), &self.mean);
        (raw.as_slice().to_vec(), intercept)
    }
}

fn mean_of(embeddings: &Embeddings) -> DVector<f64> {
    let mut mean = DVector::zeros(embeddings.dim);
    for row in embeddings.rows.chunks_exact(embeddings.dim) {
        mean.iter_mut().zip(row).for_each(|(m, &v)| *m += f64::from(v));
    }
    mean / embeddings.texts as f64
}

/// Texts of a block as columns, minus their mean: the row-major layout read column-major.
fn centred(embeddings: &Embeddings, block: &std::ops::Range<usize>, mean: &DVector<f64>) -> DMatrix<f64> {
    let dim = embeddings.dim;
    let rows = &embeddings.rows[block.start * dim..block.end * dim];
    let mut x = DMatrix::from_iterator(dim, block.len(), rows.iter().map(|&v| f64::from(v)));
    for mut column in x.column_iter_mut() {
        column -= mean;
    }
    x
}

/// The sign that makes an axis' largest entry positive, so that rotations are the same on every run.
fn sign(vectors: &DMatrix<f64>, column: usize) -> f64 {
    let c = vectors.column(column);
    if c[c.iamax()] < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_preserves_inner_products() {
        let rows: Vec<f32> = (0..40).map(|i| ((i * 37 % 17) as f32).sin() * (1.0 + (i % 4) as f32)).collect();
        let e = Embeddings::new(4, rows).unwrap();
        let r = PcaEmbeddings::new(&e);
        assert!((r.explained_variance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(r.explained_variance.windows(2).all(|w| w[0] >= w[1]));
        let w = [0.3, -1.0, 2.0, 0.7];
        let (raw, intercept) = r.to_raw_weights(&w);
        for t in 0..10 {
            let rotated = dissensus_stats::math::dot(&w, r.row(t));
            let direct: f64 =
                raw.iter().zip(e.row(t)).map(|(a, &b)| a * f64::from(b)).sum::<f64>() + intercept;
            assert!((rotated - direct).abs() < 1e-9);
        }
    }

    #[test]
    fn constant_and_missing_embeddings_are_handled() {
        let r = PcaEmbeddings::new(&Embeddings::new(2, vec![1.0; 6]).unwrap());
        assert!(r.rows.iter().all(|v| v.abs() < 1e-12));
        assert_eq!(PcaEmbeddings::new(&Embeddings::none(5)).texts, 5);
    }
}
