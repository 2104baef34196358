//! One annotator's ridge-penalised head, expressed in that annotator's own texts.
//!
//! The weights that minimise a ridge-penalised loss are a linear combination of the texts they were fitted to
//! (the representer theorem, Kimeldorf and Wahba 1971): `w = sum_i alpha_i x_i`, scores `u = K alpha`,
//! penalty `lambda/2 alpha' K alpha` with `K` the inner products of the texts. With 30 labels of 384 numbers
//! each this is the same head with a thirteenth of the unknowns, so that Fisher scoring (Rasmussen and
//! Williams 2006, algorithm 3.1, with link parameters in addition to the scores) needs only a few steps of
//! n^3 / 6 products.

use crate::link::{Gradient, Link};
use dissensus_stats::math::cholesky::Factor;
use dissensus_stats::math::{axpy, dot};

/// Largest number of labels for which the cubic cost is lower than that of the head in the space of the
/// embeddings.
pub(crate) const MAX_DUAL_LABELS: usize = 160;
const STEPS: usize = 40;
const TOLERANCE: f64 = 1e-8;

/// One annotator's labels and the inner products of their texts. Cumulative links only.
pub struct DualRidge {
    link: Link,
    levels: Vec<u16>,
    /// n x n.
    products: Vec<f64>,
    /// Centre and precision of the prior of the link parameters.
    prior_mean: Vec<f64>,
    prior_precision: f64,
}

/// State of a fit: dual coefficients of the texts, and link parameters.
#[derive(Clone, Debug)]
pub struct DualSolution {
    pub(crate) alpha: Vec<f64>,
    pub(crate) link_parameters: Vec<f64>,
}

/// Buffers and intermediate results of one fit of `n` labels.
struct Work {
    n: usize,
    levels: Vec<u16>,
    /// Inner products among the fitted labels.
    k: Vec<f64>,
    label_gradient: Gradient,
    intercepts: Vec<f64>,
    information: Vec<f64>,
    /// Summed information about the intercepts.
    total: Vec<f64>,
    /// Slope and information of each score, and the cross information with each link parameter
    /// (parameter-major).
    gradient: Vec<f64>,
    weight: Vec<f64>,
    shared: Vec<f64>,
    /// Slope of the link parameters.
    parameter: Vec<f64>,
    /// intercepts x parameters.
    jacobian: Vec<f64>,
}

impl DualRidge {
    /// The head of labels `levels` on texts with embeddings `rows`, with link parameters shrunk towards the
    /// observed shares.
    pub fn new(link: Link, rows: &[&[f64]], levels: Vec<u16>, prior_precision: f64) -> Self {
        let n = rows.len();
        let mut products = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let product = dot(rows[i], rows[j]);
                products[i * n + j] = product;
                products[j * n + i] = product;
            }
        }
        let mut counts = vec![0.0; link.levels];
        levels.iter().for_each(|l| counts[usize::from(*l)] += 1.0);
        Self { link, levels, products, prior_mean: link.fixed_effects_from(&counts), prior_precision }
    }

    /// Starting point of every fit.
    pub fn start(&self) -> DualSolution {
        DualSolution { alpha: vec![0.0; self.levels.len()], link_parameters: self.prior_mean.clone() }
    }

    /// Fits the labels of `inside` (positions among this annotator's) at the penalty `lambda`, starting from
    /// `solution`; the other labels are ignored. Returns the penalised loss.
    pub fn fit(&self, lambda: f64, solution: &mut DualSolution, inside: &[usize]) -> f64 {
        let (n, nb) = (inside.len(), self.prior_mean.len());
        let mut work = self.work(inside);
        let mut alpha: Vec<f64> = inside.iter().map(|&i| solution.alpha[i]).collect();
        let mut link_parameters = solution.link_parameters.clone();
        let mut u = times(&work.k, &alpha);
        let mut value = self.value(lambda, &alpha, &u, &link_parameters, &mut work);
        for _ in 0..STEPS {
            self.derivatives(&u, &link_parameters, &mut work);
            let (step, fixed_effects_step) = self.step(lambda, &alpha, &link_parameters, &mut work);
            let move_u = times(&work.k, &step);
            let promise: f64 =
                (0..n).map(|i| (work.gradient[i] - lambda * alpha[i]) * move_u[i]).sum::<f64>()
                    + dot(&work.parameter, &fixed_effects_step);
            if promise.is_nan() || promise <= TOLERANCE * (1.0 + value.abs()) {
                break;
            }
            let mut length = 1.0;
            let mut moved = false;
            for _ in 0..20 {
                let at = |from: &[f64], by: &[f64]| -> Vec<f64> {
                    from.iter().zip(by).map(|(f, b)| f + length * b).collect()
                };
                let (a, v, b) =
                    (at(&alpha, &step), at(&u, &move_u), at(&link_parameters, &fixed_effects_step));
                let reached = self.value(lambda, &a, &v, &b, &mut work);
                if reached < value {
                    (alpha, u, link_parameters, value, moved) = (a, v, b, reached, true);
                    break;
                }
                length *= 0.5;
            }
            if !moved {
                break;
            }
        }
        solution.alpha.fill(0.0);
        inside.iter().zip(&alpha).for_each(|(&i, a)| solution.alpha[i] = *a);
        solution.link_parameters.copy_from_slice(&link_parameters[..nb]);
        value
    }

    /// Summed log-likelihood of the labels of `outside`.
    pub(crate) fn score(&self, solution: &DualSolution, outside: &[usize]) -> f64 {
        let n = self.levels.len();
        let mut intercepts = vec![0.0; self.link.intercepts()];
        self.link.intercepts_of(&solution.link_parameters, &[], &mut intercepts);
        outside
            .iter()
            .map(|&i| {
                let u = dot(&self.products[i * n..(i + 1) * n], &solution.alpha);
                self.link.likelihood(u, &intercepts, 1.0, self.levels[i]).ln()
            })
            .sum()
    }

    fn work(&self, inside: &[usize]) -> Work {
        let (n, nb, all) = (inside.len(), self.prior_mean.len(), self.levels.len());
        let mut k = Vec::with_capacity(n * n);
        for &i in inside {
            k.extend(inside.iter().map(|&j| self.products[i * all + j]));
        }
        Work {
            n,
            levels: inside.iter().map(|&i| self.levels[i]).collect(),
            k,
            label_gradient: Gradient::default(),
            intercepts: vec![0.0; nb],
            information: vec![0.0; nb * nb],
            total: vec![0.0; nb * nb],
            gradient: vec![0.0; n],
            weight: vec![0.0; n],
            shared: vec![0.0; nb * n],
            parameter: vec![0.0; nb],
            jacobian: vec![0.0; nb * nb],
        }
    }

    fn value(&self, lambda: f64, alpha: &[f64], u: &[f64], link_parameters: &[f64], work: &mut Work) -> f64 {
        self.link.intercepts_of(link_parameters, &[], &mut work.intercepts);
        let away: f64 = link_parameters.iter().zip(&self.prior_mean).map(|(b, a)| (b - a) * (b - a)).sum();
        let fit: f64 = u
            .iter()
            .zip(&work.levels)
            .map(|(&u, &level)| self.link.likelihood(u, &work.intercepts, 1.0, level).ln())
            .sum();
        0.5 * lambda * dot(alpha, u) + 0.5 * self.prior_precision * away - fit
    }

    /// Gradient and expected information at scores `u`.
    fn derivatives(&self, u: &[f64], link_parameters: &[f64], work: &mut Work) {
        let (link, n, nb) = (self.link, work.n, link_parameters.len());
        link.intercepts_of(link_parameters, &[], &mut work.intercepts);
        for (i, b) in link_parameters.iter().enumerate() {
            // Offset j decreases with every gap before it.
            let by = if i == 0 { 1.0 } else { -b.min(20.0).exp() };
            (0..nb).for_each(|j| work.jacobian[j * nb + i] = if j >= i { by } else { 0.0 });
        }
        work.total.fill(0.0);
        let mut slope = vec![0.0; nb];
        for i in 0..n {
            work.information.fill(0.0);
            link.log_likelihood_and_information(
                &u[i..=i],
                &work.intercepts,
                1.0,
                work.levels[i],
                &mut work.label_gradient,
                &mut work.information,
            );
            work.gradient[i] = work.label_gradient.score[0];
            axpy(1.0, &work.label_gradient.intercept, &mut slope);
            work.weight[i] = 0.0;
            (0..nb).for_each(|p| work.shared[p * n + i] = 0.0);
            for j in 0..nb {
                let row: f64 = work.information[j * nb..(j + 1) * nb].iter().sum();
                work.weight[i] += row;
                for p in 0..nb {
                    work.shared[p * n + i] += work.jacobian[j * nb + p] * row;
                }
            }
            axpy(1.0, &work.information, &mut work.total);
        }
        for (p, (b, a)) in link_parameters.iter().zip(&self.prior_mean).enumerate() {
            let slope: f64 = (0..nb).map(|j| work.jacobian[j * nb + p] * slope[j]).sum();
            work.parameter[p] = slope - self.prior_precision * (b - a);
        }
    }

    /// The scoring step of the solution and of the link parameters.
    fn step(
        &self,
        lambda: f64,
        alpha: &[f64],
        link_parameters: &[f64],
        work: &mut Work,
    ) -> (Vec<f64>, Vec<f64>) {
        let (n, nb) = (work.n, link_parameters.len());
        let root: Vec<f64> = work.weight.iter().map(|w| w.max(0.0).sqrt()).collect();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                a[i * n + j] = root[i] * work.k[i * n + j] * root[j];
            }
            a[i * n + i] += lambda;
        }
        let factor = Factor::new(&a, n);
        // (W K + lambda)^-1 r = (r - S (lambda + S K S)^-1 S K r) / lambda, which needs no inverse of W.
        let solve = |r: &[f64]| -> Vec<f64> {
            let mut inner: Vec<f64> = times(&work.k, r).iter().zip(&root).map(|(v, s)| v * s).collect();
            factor.solve(&mut inner);
            (0..n).map(|i| (r[i] - root[i] * inner[i]) / lambda).collect()
        };
        let rest: Vec<f64> = work.gradient.iter().zip(alpha).map(|(g, a)| g - lambda * a).collect();
        let alone = solve(&rest);
        let through: Vec<Vec<f64>> = (0..nb).map(|p| solve(&work.shared[p * n..(p + 1) * n])).collect();
        // Remaining effect on the link parameters after the scores have adjusted.
        let follow = |v: &[f64]| -> Vec<f64> {
            let u = times(&work.k, v);
            (0..nb).map(|p| dot(&work.shared[p * n..(p + 1) * n], &u)).collect()
        };
        let mut left = vec![0.0; nb * nb];
        for p in 0..nb {
            for q in 0..nb {
                left[p * nb + q] = (0..nb)
                    .flat_map(|i| (0..nb).map(move |j| (i, j)))
                    .map(|(i, j)| {
                        work.jacobian[i * nb + p] * work.total[i * nb + j] * work.jacobian[j * nb + q]
                    })
                    .sum();
            }
            left[p * nb + p] += self.prior_precision;
        }
        for (q, column) in through.iter().enumerate() {
            for (p, f) in follow(column).into_iter().enumerate() {
                left[p * nb + q] -= f;
            }
        }
        let mut fixed_effects_step: Vec<f64> =
            work.parameter.iter().zip(follow(&alone)).map(|(g, f)| g - f).collect();
        Factor::new(&left, nb).solve(&mut fixed_effects_step);
        let mut step = alone;
        through.iter().zip(&fixed_effects_step).for_each(|(column, b)| axpy(-b, column, &mut step));
        (step, fixed_effects_step)
    }
}

/// `K v` for a symmetric row-major matrix.
fn times(k: &[f64], v: &[f64]) -> Vec<f64> {
    k.chunks_exact(v.len().max(1)).map(|row| dot(row, v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::pca::PcaEmbeddings;
    use crate::linear::ridge::RidgeProblem;
    use dissensus_stats::data::synthetic::simulate;
    use dissensus_stats::data::{Observation, TrainingData};

    #[test]
    fn dual_head_equals_the_primal_head() {
        for (levels, each) in [(2, 25), (5, 40), (2, 90)] {
            let sim = simulate(200, 3, levels, 48, each, 7);
            let data = TrainingData {
                embeddings: &sim.embeddings,
                observations: &sim.observations,
                annotators: 3,
                target: sim.target,
                attributes: &[],
            };
            let link = Link::new(sim.target);
            let x = PcaEmbeddings::new(&sim.embeddings);
            let own: Vec<Observation> =
                data.sorted().unwrap().into_iter().filter(|o| o.annotator == 1).collect();
            let rows: Vec<&[f64]> = own.iter().map(|o| x.row(o.text as usize)).collect();
            let small = DualRidge::new(link, &rows, own.iter().map(|o| o.level).collect(), 0.05);
            for lambda in [30.0, 1.0, 0.1] {
                let problem = RidgeProblem {
                    link,
                    x: &x,
                    observations: &own,
                    random_effects: &[],
                    attenuation: 1.0,
                    around: &[],
                };
                let large = problem.fit_all(lambda);
                let mut solution = small.start();
                let all: Vec<usize> = (0..own.len()).collect();
                let loss = small.fit(lambda, &mut solution, &all);
                let mut weights = vec![0.0; 48];
                rows.iter().zip(&solution.alpha).for_each(|(row, a)| axpy(*a, row, &mut weights));
                for text in 0..200 {
                    let (ours, theirs) = (dot(&weights, x.row(text)), dot(&large.weights, x.row(text)));
                    assert!((ours - theirs).abs() < 5e-3, "{levels} {lambda} {text}: {ours} {theirs}");
                }
                let theirs = problem.loss(lambda, &large);
                assert!(loss <= theirs + 1e-6 * theirs, "{levels} {lambda}: {loss} against {theirs}");
                assert!((loss - theirs).abs() < 1e-4 * theirs, "{levels} {lambda}: {loss} against {theirs}");
            }
        }
    }

    #[test]
    fn held_out_rows_have_no_weight() {
        let sim = simulate(60, 1, 2, 8, 30, 3);
        let x = PcaEmbeddings::new(&sim.embeddings);
        let link = Link::new(sim.target);
        let mut own = sim.observations.clone();
        own.sort_unstable();
        let rows: Vec<&[f64]> = own.iter().map(|o| x.row(o.text as usize)).collect();
        let head = |flip: bool| {
            let levels =
                own.iter().enumerate().map(|(i, o)| if flip && i >= 20 { 1 - o.level } else { o.level });
            let head =
                DualRidge { prior_mean: vec![0.0], ..DualRidge::new(link, &rows, levels.collect(), 0.05) };
            let mut solution = head.start();
            head.fit(1.0, &mut solution, &(0..20).collect::<Vec<_>>());
            (solution.alpha.clone(), head.score(&solution, &(20..30).collect::<Vec<_>>()))
        };
        let ((alpha, score), (turned, other)) = (head(false), head(true));
        assert_eq!(alpha, turned);
        assert!(alpha[20..].iter().all(|a| *a == 0.0));
        assert!((score - other).abs() > 1e-3 && score < 0.0 && other < 0.0);
    }

    #[test]
    fn one_class_and_equal_texts_are_handled() {
        let link = Link { levels: 5, softmax: false, discrimination: false };
        let row = [0.3, -0.2];
        let rows: Vec<&[f64]> = vec![&row; 6];
        for levels in [vec![4; 6], vec![0; 6], vec![0, 1, 2, 3, 4, 0]] {
            let head = DualRidge::new(link, &rows, levels, 0.05);
            let mut solution = head.start();
            let loss = head.fit(0.1, &mut solution, &[0, 1, 2, 3, 4, 5]);
            assert!(
                loss.is_finite()
                    && solution.alpha.iter().chain(&solution.link_parameters).all(|v| v.is_finite())
            );
        }
    }
}
