//! Text scores for many labelled texts, without a matrix of all pairs of them.
//!
//! Similarity is measured through a few hundred landmarks (subset of regressors; Rasmussen and Williams 2006,
//! section 8.3.1), so that a text's kernels are inner products of features. The linear systems of all folds'
//! complements, and of all texts, are solved together by conjugate gradients (Hestenes and Stiefel 1952).

use super::evidence::{KernelChoice, log_density};
use super::learned::{LearnedScores, ngram_weights};
use super::parts::{SimilarTexts, TextScores};
use super::pseudo_data::PseudoData;
use super::texts::{Texts, distances, even};
use crate::mixed::crossed::CrossedEffects;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{SPARSE_COLUMNS, SparseRows};
use nalgebra::{DMatrix, DMatrixView};
use rayon::prelude::*;

/// Number of texts that others are compared with.
const LANDMARKS: usize = 512;
/// Number of texts whose features are multiplied at a time.
const BLOCK: usize = 512;
/// Number of parts in which n-grams are summed, each a vector of all columns; fixed, so that sums do not
/// depend on the number of threads.
const PARTS: usize = 4;
/// Largest number of steps, and the length of the residual, relative to the right-hand side's, at which they
/// stop.
const STEPS: usize = 120;
const TOLERANCE: f64 = 2e-3;
/// Added to the landmarks' kernel, so that it can be factored if two of them are nearly identical.
const JITTER: f64 = 1e-6;
/// Candidates for the variance that no score explains, as multiples of the text effects', under which
/// held-out scores are evaluated.
const RESIDUAL_MULTIPLES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 1.0, 1.5];

/// Fits the process by landmarks. Scores of labelled texts are those of the fit without their fold. `None`
/// when cancelled, or where landmarks are indistinguishable.
pub(super) fn fit(
    crossed: &CrossedEffects,
    texts: Texts<'_>,
    data: &PseudoData,
    mean: &[f32],
    KernelChoice { width, variances }: KernelChoice,
    progress: &dyn Progress,
) -> Option<LearnedScores> {
    let landmarks: Vec<usize> =
        even(data.texts.len(), LANDMARKS).into_iter().map(|i| data.texts[i]).collect();
    let among = distances(&texts.products(&landmarks)).map(|d| (-width * d).exp());
    let n = landmarks.len();
    let factor = (among + DMatrix::from_diagonal_element(n, n, JITTER)).cholesky()?.unpack();
    let dense = features(texts, data, &landmarks, &factor, KernelChoice { width, variances });
    let system = System {
        dense,
        texts,
        data,
        mean,
        ngrams: if texts.embeddings.ngrams.is_some() { variances.ngrams } else { 0.0 },
        diagonal: data.noise.iter().map(|n| n + variances.text).collect(),
    };
    let alpha = system.solve(progress)?;
    let fitted = system.kernel_times(&alpha);
    let folds = texts.folds;
    let held_out: Vec<f64> =
        data.texts.iter().enumerate().map(|(i, &t)| fitted[(i, usize::from(texts.fold[t]))]).collect();
    let head: Vec<f64> = data.texts.iter().map(|&t| crossed.scores[t]).collect();
    let better = density(data, &held_out, crossed.text_var) > density(data, &head, crossed.text_var);
    let alpha: Vec<f64> = alpha.column(folds).iter().copied().collect();
    let dim = texts.embeddings.dim;
    let beta = system.dense_transposed_times(&alpha);
    let weights = beta[..dim].iter().map(|b| variances.linear.sqrt() * b).collect();
    let mut similar = DMatrix::from_iterator(n, 1, beta[dim..].iter().map(|b| variances.rbf.sqrt() * b));
    factor.tr_solve_lower_triangular_mut(&mut similar);
    let similar = SimilarTexts::new(
        landmarks.iter().map(|&t| texts.embeddings.row(t)),
        width * texts.scale,
        similar.as_slice().to_vec(),
    );
    let ngrams = ngram_weights(texts, data, (&alpha, variances.ngrams), mean);
    Some(LearnedScores { held_out, parts: TextScores { weights, similar, ngrams }, better })
}

/// Features of the labelled texts, a column each, whose inner products are the kernels of embeddings and
/// similar texts: the scaled embedding, and `L^-1 k`, where `L L'` is the kernel among landmarks and `k` the
/// kernel with the text.
fn features(
    texts: Texts<'_>,
    data: &PseudoData,
    landmarks: &[usize],
    factor: &DMatrix<f64>,
    KernelChoice { width, variances }: KernelChoice,
) -> DMatrix<f32> {
    let (dim, height) = (texts.embeddings.dim, texts.embeddings.dim + landmarks.len());
    let mut dense = DMatrix::zeros(height, data.texts.len());
    dense.as_mut_slice().par_chunks_mut(BLOCK * height).zip(data.texts.par_chunks(BLOCK)).for_each(
        |(columns, block)| {
            let mut near = DMatrix::from_fn(landmarks.len(), block.len(), |i, j| {
                (-width * texts.distance(landmarks[i], block[j])).exp()
            });
            factor.solve_lower_triangular_mut(&mut near);
            for (j, (&t, column)) in block.iter().zip(columns.chunks_exact_mut(height)).enumerate() {
                let (own, similar) = column.split_at_mut(dim);
                let linear = variances.linear.sqrt();
                own.iter_mut().zip(texts.row(t)).for_each(|(f, x)| *f = (linear * x) as f32);
                let rbf = variances.rbf.sqrt();
                similar.iter_mut().zip(near.column(j).iter()).for_each(|(f, x)| *f = (rbf * x) as f32);
            }
        },
    );
    dense
}

/// The largest log density of the pseudo-data around `scores`, over candidate residual variances.
fn density(data: &PseudoData, scores: &[f64], unit: f64) -> f64 {
    let of = |multiple: f64| -> f64 {
        let each = data.z.iter().zip(scores).zip(&data.noise);
        each.map(|((z, score), noise)| log_density(*z, *score, multiple * unit + noise)).sum()
    };
    RESIDUAL_MULTIPLES.into_iter().map(of).fold(f64::MIN, f64::max)
}

/// `(K + diagonal) alpha = z`, once without the texts of each fold and once with all of them.
struct System<'a> {
    /// Features x texts.
    dense: DMatrix<f32>,
    texts: Texts<'a>,
    data: &'a PseudoData,
    /// The mean row of n-grams, and their variance.
    mean: &'a [f32],
    ngrams: f64,
    diagonal: Vec<f64>,
}

impl System<'_> {
    fn columns(&self) -> usize {
        self.texts.folds + 1
    }

    /// Whether text `i` is part of the training data of system `column`.
    fn is_training_text(&self, i: usize, column: usize) -> bool {
        usize::from(self.texts.fold[self.data.texts[i]]) != column
    }

    fn block(&self, from: usize) -> DMatrixView<'_, f32> {
        self.dense.columns(from, BLOCK.min(self.dense.ncols() - from))
    }

    /// Products of the features with one vector over texts.
    fn dense_transposed_times(&self, v: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dense.nrows()];
        for (column, a) in self.dense.column_iter().zip(v) {
            sum.iter_mut().zip(column.iter()).for_each(|(s, f)| *s += a * f64::from(*f));
        }
        sum
    }

    /// The kernel of all labelled texts times texts x systems.
    fn kernel_times(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        let (n, q) = (v.nrows(), v.ncols());
        let single = v.map(|x| x as f32);
        let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let sums: Vec<DMatrix<f32>> = starts
            .par_iter()
            .map(|&from| {
                let block = self.block(from);
                block * single.rows(from, block.ncols())
            })
            .collect();
        let mut sum = DMatrix::<f32>::zeros(self.dense.nrows(), q);
        sums.iter().for_each(|part| sum += part);
        let ngrams = self.ngram_sums(&single);
        let along: Vec<f32> = (0..q)
            .map(|c| self.mean.iter().zip(ngrams.chunks_exact(q)).map(|(m, row)| m * row[c]).sum())
            .collect();
        let parts: Vec<DMatrix<f32>> = starts
            .par_iter()
            .map(|&from| {
                let mut out = self.block(from).tr_mul(&sum);
                if let Some(rows) = self.rows() {
                    for i in 0..out.nrows() {
                        let mut product = vec![0.0; q];
                        for (column, value) in rows.row(self.data.texts[from + i]).iter() {
                            let row = &ngrams[column * q..(column + 1) * q];
                            product.iter_mut().zip(row).for_each(|(p, w)| *p += value * w);
                        }
                        for c in 0..q {
                            out[(i, c)] += self.ngrams as f32 * (product[c] - along[c]);
                        }
                    }
                }
                out
            })
            .collect();
        let mut all = DMatrix::zeros(n, q);
        for (&from, part) in starts.iter().zip(&parts) {
            all.rows_mut(from, part.nrows()).copy_from(&part.map(f64::from));
        }
        all
    }

    fn rows(&self) -> Option<&SparseRows> {
        self.texts.embeddings.ngrams.as_deref().filter(|_| self.ngrams > 0.0)
    }

    /// Centred n-grams times texts x systems: columns x systems, row-major; empty without n-grams.
    fn ngram_sums(&self, v: &DMatrix<f32>) -> Vec<f32> {
        let Some(rows) = self.rows() else { return Vec::new() };
        let (n, q) = (v.nrows(), v.ncols());
        let per_part = n.div_ceil(PARTS).max(1);
        let parts: Vec<Vec<f32>> = (0..n)
            .step_by(per_part)
            .collect::<Vec<usize>>()
            .par_iter()
            .map(|&from| {
                let mut sums = vec![0.0; SPARSE_COLUMNS * q];
                for i in from..(from + per_part).min(n) {
                    let own: Vec<f32> = (0..q).map(|c| v[(i, c)]).collect();
                    for (column, value) in rows.row(self.data.texts[i]).iter() {
                        let sum = &mut sums[column * q..(column + 1) * q];
                        sum.iter_mut().zip(&own).for_each(|(s, v)| *s += value * v);
                    }
                }
                sums
            })
            .collect();
        let mut sums = vec![0.0; SPARSE_COLUMNS * q];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(s, p)| *s += p));
        let totals: Vec<f32> = (0..q).map(|c| v.column(c).iter().sum()).collect();
        for (sum, m) in sums.chunks_exact_mut(q).zip(self.mean) {
            sum.iter_mut().zip(&totals).for_each(|(s, t)| *s -= m * t);
        }
        sums
    }

    /// Solution, texts x systems; zero where a text is not part of a system. `None` when cancelled.
    fn solve(&self, progress: &dyn Progress) -> Option<DMatrix<f64>> {
        let (n, q) = (self.data.texts.len(), self.columns());
        let z = DMatrix::from_fn(n, q, |i, c| if self.is_training_text(i, c) { self.data.z[i] } else { 0.0 });
        let precondition = |r: &DMatrix<f64>| DMatrix::from_fn(n, q, |i, c| r[(i, c)] / self.diagonal[i]);
        let dots = |a: &DMatrix<f64>, b: &DMatrix<f64>| -> Vec<f64> {
            (0..q).map(|c| a.column(c).dot(&b.column(c))).collect()
        };
        let mut alpha = DMatrix::zeros(n, q);
        let mut residual = z.clone();
        let mut step = precondition(&residual);
        let mut rho = dots(&residual, &step);
        let length: Vec<f64> = dots(&z, &z).iter().map(|s| s.sqrt()).collect();
        for _ in 0..STEPS {
            if progress.cancelled() {
                return None;
            }
            let mut image = self.kernel_times(&step);
            for c in 0..q {
                for i in 0..n {
                    let own = self.diagonal[i] * step[(i, c)];
                    image[(i, c)] = if self.is_training_text(i, c) { image[(i, c)] + own } else { 0.0 };
                }
            }
            let curvature = dots(&step, &image);
            for c in 0..q {
                let a = if curvature[c] > 0.0 { rho[c] / curvature[c] } else { 0.0 };
                alpha.column_mut(c).axpy(a, &step.column(c), 1.0);
                residual.column_mut(c).axpy(-a, &image.column(c), 1.0);
            }
            let left = dots(&residual, &residual);
            if left.iter().zip(&length).all(|(r, z)| r.sqrt() <= TOLERANCE * z) {
                break;
            }
            let conditioned = precondition(&residual);
            let next = dots(&residual, &conditioned);
            for c in 0..q {
                let b = if rho[c] > 0.0 { next[c] / rho[c] } else { 0.0 };
                step.column_mut(c).axpy(1.0, &conditioned.column(c), b);
            }
            rho = next;
        }
        Some(alpha)
    }
}
