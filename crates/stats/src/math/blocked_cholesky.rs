//! Cholesky factors of large matrices, block by block, so that nearly all of the work is matrix products
//! (Golub and Van Loan 2013, Matrix Computations, section 4.2.9), which run in parallel. Blocks and results
//! do not depend on the number of threads.

use nalgebra::{DMatrix, DMatrixViewMut, DVector};
use rayon::prelude::*;

/// Number of columns of a block.
const BLOCK: usize = 64;

/// Lower Cholesky factor of an n x n matrix.
pub struct BlockedFactor {
    /// n x n; entries above the diagonal are meaningless.
    lower: DMatrix<f64>,
    /// Inverses of the blocks on its diagonal.
    diagonal: Vec<DMatrix<f64>>,
}

impl BlockedFactor {
    /// Factors `a` (n x n; only the lower half is read). `None` where it is not positive definite.
    pub fn new(mut a: DMatrix<f64>) -> Option<Self> {
        let n = a.nrows();
        let mut diagonal = Vec::with_capacity(n.div_ceil(BLOCK));
        for from in (0..n).step_by(BLOCK) {
            let width = BLOCK.min(n - from);
            let next = from + width;
            let (done, rest) = a.as_mut_slice().split_at_mut(next * n);
            let mut panel = DMatrixViewMut::from_slice(&mut done[from * n..], n, width);
            let own = panel.rows(from, width).into_owned().cholesky()?.unpack();
            let inverse = own.solve_lower_triangular(&DMatrix::identity(width, width))?;
            panel.rows_mut(from, width).copy_from(&own);
            let below = panel.rows(next, n - next) * inverse.transpose();
            panel.rows_mut(next, n - next).copy_from(&below);
            diagonal.push(inverse);
            let across = below.transpose();
            rest.par_chunks_mut(BLOCK * n).enumerate().for_each(|(block, columns)| {
                let (at, width) = (block * BLOCK, columns.len() / n);
                let mut columns = DMatrixViewMut::from_slice(columns, n, width);
                let mut left = columns.rows_mut(next + at, n - next - at);
                left.gemm(-1.0, &below.rows(at, n - next - at), &across.columns(at, width), 1.0);
            });
        }
        Some(Self { lower: a, diagonal })
    }

    /// Logarithm of the determinant of the factored matrix.
    pub fn log_determinant(&self) -> f64 {
        self.lower.diagonal().iter().map(|l| 2.0 * l.ln()).sum()
    }

    /// `L^-1 b`.
    pub fn half_solve(&self, b: &DVector<f64>) -> DVector<f64> {
        let mut x = b.clone();
        // No pivot is 0.
        self.lower.solve_lower_triangular_mut(&mut x);
        x
    }

    /// `L^-1`, zero above its diagonal.
    pub fn inverse_lower(&self) -> DMatrix<f64> {
        let n = self.lower.nrows();
        let mut inverse = DMatrix::zeros(n, n);
        inverse.as_mut_slice().par_chunks_mut(BLOCK * n.max(1)).enumerate().for_each(|(block, columns)| {
            let (from, width) = (block * BLOCK, columns.len() / n);
            let mut columns = DMatrixViewMut::from_slice(columns, n, width);
            columns.rows_mut(from, width).copy_from(&self.diagonal[block]);
            for (own, at) in self.diagonal.iter().zip((0..n).step_by(BLOCK)).skip(block + 1) {
                let solved = columns.rows(from, at - from);
                let known = self.lower.view((at, from), (own.nrows(), at - from)) * solved;
                columns.rows_mut(at, own.nrows()).gemm(-1.0, own, &known, 0.0);
            }
        });
        inverse
    }
}

/// Lower half of the inner products of the columns of `x`: `X' X`, zero above its diagonal except in the
/// blocks on it.
pub fn lower_products(x: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, rows) = (x.ncols(), x.transpose());
    let mut products = DMatrix::zeros(n, n);
    products.as_mut_slice().par_chunks_mut(BLOCK * n.max(1)).enumerate().for_each(|(block, columns)| {
        let (from, width) = (block * BLOCK, columns.len() / n);
        let mut columns = DMatrixViewMut::from_slice(columns, n, width);
        columns.rows_mut(from, n - from).gemm(1.0, &rows.rows(from, n - from), &x.columns(from, width), 0.0);
    });
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::generator;
    use rand::RngExt;

    fn random(rows: usize, columns: usize, seed: u64) -> DMatrix<f64> {
        let mut rng = generator(seed, 3);
        DMatrix::from_fn(rows, columns, |_, _| rng.random::<f64>() - 0.5)
    }

    /// Against nalgebra without blocks, for sizes around the block size.
    #[test]
    fn blocked_factor_matches_the_plain_one() {
        for n in [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7] {
            let x = random(n + 5, n, n as u64);
            let whole = x.transpose() * &x + DMatrix::identity(n, n) * 0.1;
            let products = lower_products(&x);
            let mut lower = whole.clone();
            // Entries above the diagonal are not read.
            lower.fill_upper_triangle(f64::NAN, 1);
            let (blocked, plain) = (BlockedFactor::new(lower).unwrap(), whole.clone().cholesky().unwrap());
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
            let l = plain.l();
            let inverse = blocked.inverse_lower();
            let expected = l.clone().try_inverse().unwrap();
            for i in 0..n {
                for j in 0..n {
                    assert!(close(inverse[(i, j)], expected[(i, j)]), "{n}: {i} {j}");
                    if i >= j {
                        assert!(close(blocked.lower[(i, j)], l[(i, j)]), "{n}: {i} {j}");
                        let product = whole[(i, j)] - if i == j { 0.1 } else { 0.0 };
                        assert!(close(products[(i, j)], product), "{n}: {i} {j}");
                    }
                }
            }
            let b = random(n, 1, 9).column(0).into_owned();
            let half = blocked.half_solve(&b);
            assert!(close(half.norm_squared(), b.dot(&plain.solve(&b))), "{n}");
            let determinant: f64 = l.diagonal().iter().map(|l| 2.0 * l.ln()).sum();
            assert!(close(blocked.log_determinant(), determinant), "{n}");
        }
    }

    #[test]
    fn indefinite_matrix_has_no_factor() {
        for at in [0, BLOCK + 3, 2 * BLOCK - 1] {
            let mut a = DMatrix::<f64>::identity(2 * BLOCK, 2 * BLOCK);
            a[(at, at)] = -1.0;
            assert!(BlockedFactor::new(a).is_none(), "{at}");
        }
        let mut unknown = DMatrix::<f64>::identity(2 * BLOCK, 2 * BLOCK);
        unknown[(BLOCK + 9, 4)] = f64::NAN;
        assert!(BlockedFactor::new(unknown).is_none());
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let x = random(150, 150, 1);
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                BlockedFactor::new(lower_products(&x) + DMatrix::identity(150, 150)).unwrap().inverse_lower()
            })
        };
        assert_eq!(of(1), of(3));
    }

    #[test]
    fn empty_matrix_has_an_empty_factor() {
        let nothing = BlockedFactor::new(DMatrix::zeros(0, 0)).unwrap();
        assert_eq!(nothing.inverse_lower().len(), 0);
        assert_eq!(lower_products(&DMatrix::zeros(3, 0)).len(), 0);
    }
}
