//! Features of all texts, and their similarities.

use dissensus_stats::data::Embeddings;
use dissensus_stats::data::copies::Copies;
use dissensus_stats::math::blocked_cholesky::lower_products;
use dissensus_stats::math::dot;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Features of all texts.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    /// Rotated embeddings, scaled to a mean squared length of 1; texts x dim.
    pub(crate) rotated: &'a [f64],
    /// The embeddings as they were given, and n-grams.
    pub(crate) embeddings: &'a Embeddings,
    /// Factor from squared raw distances to squared scaled ones.
    pub(crate) scale: f64,
    /// Cross-validation fold of each text, below `folds`.
    pub(crate) fold: &'a [u8],
    pub(crate) folds: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn row(self, text: usize) -> &'a [f64] {
        let dim = self.embeddings.dim;
        &self.rotated[text * dim..(text + 1) * dim]
    }

    fn linear(self, a: usize, b: usize) -> f64 {
        dot(self.row(a), self.row(b))
    }

    pub(super) fn distance(self, a: usize, b: usize) -> f64 {
        (self.linear(a, a) + self.linear(b, b) - 2.0 * self.linear(a, b)).max(0.0)
    }

    /// Positions in `of` of texts with identical embeddings: a group for each distinct text, in order.
    pub(super) fn copies(self, of: &[usize]) -> Vec<Vec<usize>> {
        Copies::by_embedding(self.embeddings).groups(of)
    }

    /// Lower half of the inner products of some texts' embeddings.
    pub(super) fn products(self, of: &[usize]) -> DMatrix<f64> {
        let rows = of.iter().flat_map(|&t| self.row(t).iter().copied());
        lower_products(&DMatrix::from_iterator(self.embeddings.dim, of.len(), rows))
    }

    /// Lower half of the inner products of some texts' n-grams, each minus the `mean` row.
    pub(super) fn ngram_products(self, of: &[usize], mean: &[f32]) -> Option<DMatrix<f64>> {
        let ngrams = self.embeddings.ngrams.as_ref()?;
        let along: Vec<f64> = of.iter().map(|&t| ngrams.row(t).dot(mean)).collect();
        let square: f64 = mean.iter().map(|m| f64::from(*m).powi(2)).sum();
        // One operand is transposed, so that each product is a single pass over the other.
        let columns: Vec<Vec<f64>> = (0..of.len())
            .into_par_iter()
            .map_init(
                || vec![0.0; mean.len()],
                |dense, j| {
                    let own = ngrams.row(of[j]);
                    own.add_to(1.0, dense);
                    let product = |i: usize| ngrams.row(of[i]).dot(dense) - along[i] - along[j] + square;
                    let column = (j..of.len()).map(product).collect();
                    own.iter().for_each(|(at, _)| dense[at] = 0.0);
                    column
                },
            )
            .collect();
        Some(lower(of, |i, j| columns[j][i - j]))
    }
}

/// Lower half of the squared distances of texts whose inner products have this lower half.
pub(super) fn distances(products: &DMatrix<f64>) -> DMatrix<f64> {
    let squares = products.diagonal();
    DMatrix::from_fn(products.nrows(), products.ncols(), |i, j| {
        if i >= j { (squares[i] + squares[j] - 2.0 * products[(i, j)]).max(0.0) } else { 0.0 }
    })
}

fn lower(of: &[usize], value: impl Fn(usize, usize) -> f64) -> DMatrix<f64> {
    DMatrix::from_fn(of.len(), of.len(), |i, j| if i >= j { value(i, j) } else { 0.0 })
}

/// Up to `many` evenly spaced indices below `n`.
pub(super) fn even(n: usize, many: usize) -> Vec<usize> {
    if n <= many { (0..n).collect() } else { (0..many).map(|i| i * n / many).collect() }
}
