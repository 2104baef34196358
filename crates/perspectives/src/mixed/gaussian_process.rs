//! Text scores as a Gaussian process over embeddings, so that similar texts have similar scores.
//!
//! Scores have prior covariance `linear X X' + rbf K + text I`: the shared head, what similar texts share (K the
//! squared-exponential kernel, Rasmussen and Williams 2006, eq. 2.31), and each text's own effect. The three variances
//! and the width of K are chosen by the evidence (eq. 2.30); labelled texts get the leave-one-out mean (eq. 5.12), so that a text's
//! labels do not speak twice, all others the predictive mean.

use super::crossed::CrossedEffects;
use crate::math::{axpy, dot};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// With more labelled texts than this the cubic cost is not worth the gain: the head alone has enough to learn from.
pub(crate) const MAX_TEXTS: usize = 1600;
/// Variances and width are chosen by this many labelled texts at most, evenly spaced.
const MAX_EVIDENCE_TEXTS: usize = 800;
/// With fewer there is nothing to estimate `rho` from.
const MIN_TEXTS: usize = 40;
/// Variances tried, as multiples of what the text effects have now.
const VARIANCE_MULTIPLES: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Inverse squared widths tried for the kernel, in units of the mean squared distance from the average embedding.
const INVERSE_SQUARED_LENGTHS: [f64; 2] = [0.5, 1.0];

/// Prior variances of text scores.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Variances {
    linear: f64,
    rbf: f64,
    text: f64,
}

/// The predictive mean of a text's effect from its embedding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GaussianProcess {
    dim: usize,
    /// Takes squared raw distances to exponents of the kernel.
    scale: f64,
    /// Embeddings of the labelled texts, row-major, and their weights.
    rows: Vec<f32>,
    weights: Vec<f64>,
}

impl GaussianProcess {
    /// Whether this is a process over embeddings of `dim` numbers.
    pub(crate) fn fits(&self, dim: usize) -> bool {
        self.dim == dim && dim > 0 && self.rows.len() == self.weights.len() * dim
    }

    /// The shared effect expected at a raw embedding.
    pub(crate) fn predict(&self, x: &[f32]) -> f64 {
        self.rows
            .chunks_exact(self.dim)
            .zip(&self.weights)
            .map(|(row, w)| {
                let square: f64 = row.iter().zip(x).map(|(a, b)| f64::from(a - b).powi(2)).sum();
                w * (-self.scale * square).exp()
            })
            .sum()
    }
}

/// Replaces the prior means of all texts by those of the process, if it predicts labelled texts left out better than
/// the head did. `coordinates(text)` are embeddings scaled to a mean squared length of 1, `raw(text)` the embeddings
/// as they came; `scale` takes squared raw distances to squared scaled ones. `None`, with nothing changed, if not.
pub(crate) fn fit<'a>(
    crossed: &mut CrossedEffects,
    coordinates: impl Fn(usize) -> &'a [f64] + Sync,
    raw: impl Fn(usize) -> &'a [f32],
    scale: f64,
) -> Option<(Vec<f64>, GaussianProcess)> {
    let known: Vec<usize> = (0..crossed.texts()).filter(|&t| !crossed.labels[t].is_empty()).collect();
    if crossed.link.softmax || known.len() < MIN_TEXTS || known.len() > MAX_TEXTS {
        return None;
    }
    let (z, noise) = site_approximations(crossed, &known);
    let linear = |a: usize, b: usize| dot(coordinates(a), coordinates(b));
    let distance = |a: usize, b: usize| (linear(a, a) + linear(b, b) - 2.0 * linear(a, b)).max(0.0);
    let lower = |f: &(dyn Fn(usize, usize) -> f64 + Sync)| {
        DMatrix::from_fn(known.len(), known.len(), |i, j| if i >= j { f(known[i], known[j]) } else { 0.0 })
    };
    let tuning: Vec<usize> = even(known.len(), MAX_EVIDENCE_TEXTS);
    let some = |f: &(dyn Fn(usize, usize) -> f64 + Sync)| {
        let text = |i: usize| known[tuning[i]];
        DMatrix::from_fn(tuning.len(), tuning.len(), |i, j| if i >= j { f(text(i), text(j)) } else { 0.0 })
    };
    let (products, distances) = (some(&linear), some(&distance));
    let mut trial = Process {
        rbf: products.clone(),
        linear: products,
        z: DVector::from_iterator(tuning.len(), tuning.iter().map(|&i| z[i])),
        noise: tuning.iter().map(|&i| noise[i]).collect(),
    };
    let mut best: Option<(f64, f64, Variances)> = None;
    for width in INVERSE_SQUARED_LENGTHS {
        trial.rbf = distances.map(|d| (-width * d).exp());
        let (evidence, variances) = trial.best(crossed.text_var);
        if best.is_none_or(|b| evidence > b.0) {
            best = Some((evidence, width, variances));
        }
    }
    let (_, width, variances) = best?;
    let rbf = |a: usize, b: usize| (-width * distance(a, b)).exp();
    let process = Process { linear: lower(&linear), rbf: lower(&rbf), z, noise };
    let (alpha, left_out, density) = process.solve(variances)?;
    if density <= process.density_of(crossed, &known) {
        return None;
    }
    let moved: Vec<f64> = (0..crossed.texts())
        .into_par_iter()
        .map(|t| match known.binary_search(&t) {
            Ok(at) => left_out[at],
            Err(_) => known
                .iter()
                .zip(&alpha)
                .map(|(&o, a)| a * (variances.linear * linear(t, o) + variances.rbf * rbf(t, o)))
                .sum(),
        })
        .collect();
    crossed.scores = moved;
    let mut weights = vec![0.0; coordinates(known[0]).len()];
    for (&t, a) in known.iter().zip(&alpha) {
        axpy(variances.linear * a, coordinates(t), &mut weights);
    }
    let dim = raw(known[0]).len();
    let rows = known.iter().flat_map(|&t| raw(t).iter().copied()).collect();
    let rbf = alpha.iter().map(|a| variances.rbf * a).collect();
    Some((weights, GaussianProcess { dim, scale: width * scale, rows, weights: rbf }))
}

/// Up to `many` evenly spaced indices below `n`.
fn even(n: usize, many: usize) -> Vec<usize> {
    if n <= many { (0..n).collect() } else { (0..many).map(|i| i * n / many).collect() }
}

/// Every labelled text's score as its labels alone tell it, and the variance of that: the posterior without its prior.
fn site_approximations(crossed: &CrossedEffects, known: &[usize]) -> (DVector<f64>, Vec<f64>) {
    let (mut z, mut noise) = (Vec::with_capacity(known.len()), Vec::with_capacity(known.len()));
    for &t in known {
        let precision = (1.0 / crossed.v[t] - 1.0 / crossed.text_var).max(1e-3);
        z.push(crossed.scores[t] + (crossed.u[t] - crossed.scores[t]) / crossed.v[t] / precision);
        noise.push(1.0 / precision);
    }
    (DVector::from_vec(z), noise)
}

/// Lower halves of the two kernels, and the pseudo-data.
struct Process {
    linear: DMatrix<f64>,
    rbf: DMatrix<f64>,
    z: DVector<f64>,
    noise: Vec<f64>,
}

impl Process {
    fn factor(&self, v: Variances) -> Option<Cholesky<f64, Dyn>> {
        let mut a = &self.linear * v.linear + &self.rbf * v.rbf;
        for (i, n) in self.noise.iter().enumerate() {
            a[(i, i)] += v.text + n;
        }
        a.cholesky()
    }

    fn log_evidence(&self, v: Variances) -> f64 {
        let Some(factor) = self.factor(v) else { return f64::MIN };
        let l = factor.l_dirty();
        let log_determinant: f64 = (0..self.z.len()).map(|i| 2.0 * l[(i, i)].ln()).sum();
        -0.5 * self.z.dot(&factor.solve(&self.z)) - 0.5 * log_determinant
    }

    /// One variance after the other, twice, each at its best of [`VARIANCE_MULTIPLES`].
    fn best(&self, unit: f64) -> (f64, Variances) {
        let mut reached = f64::MIN;
        let mut best = Variances { linear: unit, rbf: unit, text: 0.5 * unit };
        for turn in 0..6 {
            let tried: Vec<(f64, Variances)> = VARIANCE_MULTIPLES
                .par_iter()
                .map(|&factor| {
                    let mut v = best;
                    match turn % 3 {
                        0 => v.rbf = factor * unit,
                        1 => v.text = factor.max(0.1) * unit,
                        _ => v.linear = factor * unit,
                    }
                    (self.log_evidence(v), v)
                })
                .collect();
            (reached, best) = tried.iter().fold(tried[0], |b, t| if t.0 > b.0 { *t } else { b });
        }
        (reached, best)
    }

    /// Weights of the kernels, leave-one-out means, and the mean log density of the pseudo-data left out.
    fn solve(&self, v: Variances) -> Option<(Vec<f64>, Vec<f64>, f64)> {
        let inverse = self.factor(v)?.inverse();
        let alpha = &inverse * &self.z;
        let left_out: Vec<f64> = (0..self.z.len()).map(|i| self.z[i] - alpha[i] / inverse[(i, i)]).collect();
        let density =
            (0..self.z.len()).map(|i| log_density(self.z[i], left_out[i], 1.0 / inverse[(i, i)])).sum();
        Some((alpha.as_slice().to_vec(), left_out, density))
    }

    /// The log density of the pseudo-data under the out-of-fold scores of the head.
    fn density_of(&self, crossed: &CrossedEffects, known: &[usize]) -> f64 {
        let parts = known.iter().zip(&self.noise).enumerate();
        parts.map(|(i, (&t, n))| log_density(self.z[i], crossed.scores[t], crossed.text_var + n)).sum()
    }
}

fn log_density(x: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((x - mean).powi(2) / variance + variance.ln() + std::f64::consts::TAU.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(keep: impl Fn(usize) -> bool) -> (Process, Vec<f64>) {
        let x: Vec<f64> = (0..12).filter(|i| keep(*i)).map(|i| i as f64 * 0.37 - 2.0).collect();
        let n = x.len();
        let linear = DMatrix::from_fn(n, n, |i, j| x[i] * x[j]);
        let rbf = DMatrix::from_fn(n, n, |i, j| (-(x[i] - x[j]).powi(2)).exp());
        let z = DVector::from_fn(n, |i, _| x[i].sin());
        let noise = x.iter().map(|x| 0.2 + 0.05 * x.abs()).collect();
        (Process { linear, rbf, z, noise }, x)
    }

    #[test]
    fn left_out_means_are_those_of_fits_without_the_text() {
        let v = Variances { linear: 0.4, rbf: 0.8, text: 0.5 };
        let (whole, x) = process(|_| true);
        let (_, left_out, _) = whole.solve(v).unwrap();
        for out in 0..12 {
            let (part, rest) = process(|i| i != out);
            let (alpha, ..) = part.solve(v).unwrap();
            let k = |a: f64, b: f64| v.linear * a * b + v.rbf * (-(a - b).powi(2)).exp();
            let mean: f64 = rest.iter().zip(&alpha).map(|(r, a)| a * k(*r, x[out])).sum();
            assert!((mean - left_out[out]).abs() < 1e-9, "{out}");
        }
    }

    #[test]
    fn the_evidence_is_the_density_of_a_normal() {
        // One text: covariance is a single number.
        let one = DMatrix::from_element(1, 1, 1.0);
        let p = Process { linear: one.clone(), rbf: one, z: DVector::from_element(1, 0.7), noise: vec![0.3] };
        let v = Variances { linear: 0.4, rbf: 0.8, text: 0.5 };
        let expected = log_density(0.7, 0.0, 2.0) + 0.5 * std::f64::consts::TAU.ln();
        assert!((p.log_evidence(v) - expected).abs() < 1e-12);
    }
}
