//! Solves and inverses of small symmetric positive definite matrices, row-major.

/// Lower Cholesky factor of an n x n matrix. Pivots have a lower bound, so that a matrix that is only
/// positive semi-definite up to rounding still gives a usable step.
#[derive(Clone, Debug)]
pub struct Factor {
    n: usize,
    l: Vec<f64>,
}

impl Factor {
    /// Factors `a` (n x n, row-major; only the lower half is read).
    pub fn new(a: &[f64], n: usize) -> Self {
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum = a[i * n + j] - super::dot(&l[i * n..i * n + j], &l[j * n..j * n + j]);
                l[i * n + j] = if i == j { sum.max(1e-12).sqrt() } else { sum / l[j * n + j] };
            }
        }
        Self { n, l }
    }

    /// Replaces `b` by the solution of `A x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        let (n, l) = (self.n, &self.l);
        for i in 0..n {
            for k in 0..i {
                b[i] -= l[i * n + k] * b[k];
            }
            b[i] /= l[i * n + i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                b[i] -= l[k * n + i] * b[k];
            }
            b[i] /= l[i * n + i];
        }
    }

    /// `x' A^-1 x`.
    pub fn inverse_quadratic(&self, x: &[f64]) -> f64 {
        let (n, l) = (self.n, &self.l);
        let mut forward = x.to_vec();
        for i in 0..n {
            for k in 0..i {
                forward[i] -= l[i * n + k] * forward[k];
            }
            forward[i] /= l[i * n + i];
        }
        forward.iter().map(|f| f * f).sum()
    }

    /// Logarithm of the determinant of the factored matrix.
    pub fn log_determinant(&self) -> f64 {
        (0..self.n).map(|i| 2.0 * self.l[i * self.n + i].ln()).sum()
    }

    /// The factor itself, n x n, row-major, zero above the diagonal.
    pub fn lower(&self) -> &[f64] {
        &self.l
    }

    /// The inverse, n x n, row-major.
    pub fn inverse(&self) -> Vec<f64> {
        let n = self.n;
        let mut inverse = vec![0.0; n * n];
        let mut column = vec![0.0; n];
        for j in 0..n {
            column.fill(0.0);
            column[j] = 1.0;
            self.solve(&mut column);
            for i in 0..n {
                inverse[i * n + j] = column[i];
            }
        }
        inverse
    }
}

/// `x' A x` for a row-major n x n matrix.
pub fn quadratic(a: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    (0..n).map(|i| x[i] * super::dot(&a[i * n..(i + 1) * n], x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_solves_and_inverts() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let f = Factor::new(&a, 3);
        let mut x = [1.0, 2.0, 3.0];
        f.solve(&mut x);
        for i in 0..3 {
            let back: f64 = (0..3).map(|j| a[i * 3 + j] * x[j]).sum();
            assert!((back - (i + 1) as f64).abs() < 1e-12);
        }
        let inverse = f.inverse();
        for i in 0..3 {
            for j in 0..3 {
                let cell: f64 = (0..3).map(|k| a[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((cell - f64::from(i == j)).abs() < 1e-12);
            }
        }
        assert!((quadratic(&a, &[1.0, 0.0, 2.0]) - (4.0 + 2.4 + 12.0)).abs() < 1e-12);
    }
}
