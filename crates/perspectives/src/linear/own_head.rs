//! One person's ridge-penalised head, found among that person's own texts.
//!
//! The weights that minimise a ridge-penalised loss are a mixture of the texts they were fitted to (the representer
//! theorem, Kimeldorf and Wahba 1971): `w = sum_i alpha_i x_i`, scores `u = K alpha`, penalty `lambda/2 alpha' K alpha` with
//! K the inner products of the texts. With 30 labels of 384 numbers each this is the same head from a thirteenth of the
//! unknowns, so that Fisher scoring (Rasmussen and Williams 2006, algorithm 3.1, with link parameters beside the scores)
//! takes a handful of steps of n^3 / 6 products.

use crate::math::cholesky::Factor;
use crate::math::{axpy, dot};
use crate::mixed::link::{Link, Slopes};

/// Above this many labels the cubic cost is larger than that of the head in the space of the embeddings.
pub(crate) const MOST_LABELS: usize = 160;
const STEPS: usize = 40;
const TOLERANCE: f64 = 1e-8;

/// One person's labels and the inner products of their texts. Cumulative links only.
pub(crate) struct OwnHead {
    link: Link,
    levels: Vec<u16>,
    /// n x n.
    products: Vec<f64>,
    /// Link parameters that are pulled to, and how much.
    anchor: Vec<f64>,
    pull: f64,
}

/// Where a fit stands: a mixture of texts and link parameters.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    pub(crate) alpha: Vec<f64>,
    pub(crate) base: Vec<f64>,
}

/// Buffers and intermediate results of one fit of `n` labels.
struct Work {
    n: usize,
    levels: Vec<u16>,
    /// Inner products among the labels that are fitted.
    k: Vec<f64>,
    slopes: Slopes,
    offsets: Vec<f64>,
    information: Vec<f64>,
    /// Summed information about the offsets.
    total: Vec<f64>,
    /// Slope and information of each score, and information that it shares with each link parameter (parameter-major).
    gradient: Vec<f64>,
    weight: Vec<f64>,
    shared: Vec<f64>,
    /// Slope of the link parameters.
    parameter: Vec<f64>,
    /// offsets x parameters.
    jacobian: Vec<f64>,
}

impl OwnHead {
    /// The head of labels `levels` on texts with embeddings `rows`, link parameters pulled towards the observed shares.
    pub(crate) fn new(link: Link, rows: &[&[f64]], levels: Vec<u16>, pull: f64) -> Self {
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
        Self { link, levels, products, anchor: link.base_from(&counts), pull }
    }

    /// Where every fit starts.
    pub(crate) fn start(&self) -> Mixture {
        Mixture { alpha: vec![0.0; self.levels.len()], base: self.anchor.clone() }
    }

    /// Fits the labels of `inside` (places among this person's) at the strength `lambda` from where `mixture` stands; the
    /// others keep no part in it. Returns the penalised loss.
    pub(crate) fn fit(&self, lambda: f64, mixture: &mut Mixture, inside: &[usize]) -> f64 {
        let (n, nb) = (inside.len(), self.anchor.len());
        let mut work = self.work(inside);
        let mut alpha: Vec<f64> = inside.iter().map(|&i| mixture.alpha[i]).collect();
        let mut base = mixture.base.clone();
        let mut u = times(&work.k, &alpha);
        let mut value = self.value(lambda, &alpha, &u, &base, &mut work);
        for _ in 0..STEPS {
            self.derivatives(&u, &base, &mut work);
            let (step, move_base) = self.step(lambda, &alpha, &base, &mut work);
            let move_u = times(&work.k, &step);
            let promise: f64 =
                (0..n).map(|i| (work.gradient[i] - lambda * alpha[i]) * move_u[i]).sum::<f64>()
                    + dot(&work.parameter, &move_base);
            if promise.is_nan() || promise <= TOLERANCE * (1.0 + value.abs()) {
                break;
            }
            let mut length = 1.0;
            let mut moved = false;
            for _ in 0..20 {
                let at = |from: &[f64], by: &[f64]| -> Vec<f64> {
                    from.iter().zip(by).map(|(f, b)| f + length * b).collect()
                };
                let (a, v, b) = (at(&alpha, &step), at(&u, &move_u), at(&base, &move_base));
                let reached = self.value(lambda, &a, &v, &b, &mut work);
                if reached < value {
                    (alpha, u, base, value, moved) = (a, v, b, reached, true);
                    break;
                }
                length *= 0.5;
            }
            if !moved {
                break;
            }
        }
        mixture.alpha.fill(0.0);
        inside.iter().zip(&alpha).for_each(|(&i, a)| mixture.alpha[i] = *a);
        mixture.base.copy_from_slice(&base[..nb]);
        value
    }

    /// Summed log-likelihood of the labels of `outside`.
    pub(crate) fn score(&self, mixture: &Mixture, outside: &[usize]) -> f64 {
        let n = self.levels.len();
        let mut offsets = vec![0.0; self.link.offsets()];
        self.link.offsets_of(&mixture.base, &[], &mut offsets);
        outside
            .iter()
            .map(|&i| {
                let u = dot(&self.products[i * n..(i + 1) * n], &mixture.alpha);
                self.link.likelihood(u, &offsets, 1.0, self.levels[i]).ln()
            })
            .sum()
    }

    fn work(&self, inside: &[usize]) -> Work {
        let (n, nb, all) = (inside.len(), self.anchor.len(), self.levels.len());
        let mut k = Vec::with_capacity(n * n);
        for &i in inside {
            k.extend(inside.iter().map(|&j| self.products[i * all + j]));
        }
        Work {
            n,
            levels: inside.iter().map(|&i| self.levels[i]).collect(),
            k,
            slopes: Slopes::default(),
            offsets: vec![0.0; nb],
            information: vec![0.0; nb * nb],
            total: vec![0.0; nb * nb],
            gradient: vec![0.0; n],
            weight: vec![0.0; n],
            shared: vec![0.0; nb * n],
            parameter: vec![0.0; nb],
            jacobian: vec![0.0; nb * nb],
        }
    }

    /// The penalised loss.
    fn value(&self, lambda: f64, alpha: &[f64], u: &[f64], base: &[f64], work: &mut Work) -> f64 {
        self.link.offsets_of(base, &[], &mut work.offsets);
        let away: f64 = base.iter().zip(&self.anchor).map(|(b, a)| (b - a) * (b - a)).sum();
        let fit: f64 = u
            .iter()
            .zip(&work.levels)
            .map(|(&u, &level)| self.link.likelihood(u, &work.offsets, 1.0, level).ln())
            .sum();
        0.5 * lambda * dot(alpha, u) + 0.5 * self.pull * away - fit
    }

    /// Slopes and expected information at scores `u`.
    fn derivatives(&self, u: &[f64], base: &[f64], work: &mut Work) {
        let (link, n, nb) = (self.link, work.n, base.len());
        link.offsets_of(base, &[], &mut work.offsets);
        for (i, b) in base.iter().enumerate() {
            // Offset j falls with every gap before it.
            let by = if i == 0 { 1.0 } else { -b.min(20.0).exp() };
            (0..nb).for_each(|j| work.jacobian[j * nb + i] = if j >= i { by } else { 0.0 });
        }
        work.total.fill(0.0);
        let mut slope = vec![0.0; nb];
        for i in 0..n {
            link.log_likelihood(&u[i..=i], &work.offsets, 1.0, work.levels[i], &mut work.slopes);
            work.gradient[i] = work.slopes.score[0];
            axpy(1.0, &work.slopes.offset, &mut slope);
            work.information.fill(0.0);
            link.information(&u[i..=i], &work.offsets, 1.0, &mut work.information);
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
        for (p, (b, a)) in base.iter().zip(&self.anchor).enumerate() {
            let slope: f64 = (0..nb).map(|j| work.jacobian[j * nb + p] * slope[j]).sum();
            work.parameter[p] = slope - self.pull * (b - a);
        }
    }

    /// The scoring step of the mixture and of the link parameters.
    fn step(&self, lambda: f64, alpha: &[f64], base: &[f64], work: &mut Work) -> (Vec<f64>, Vec<f64>) {
        let (n, nb) = (work.n, base.len());
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
        // What is left for the link parameters once the scores have followed.
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
            left[p * nb + p] += self.pull;
        }
        for (q, column) in through.iter().enumerate() {
            for (p, f) in follow(column).into_iter().enumerate() {
                left[p * nb + q] -= f;
            }
        }
        let mut move_base: Vec<f64> = work.parameter.iter().zip(follow(&alone)).map(|(g, f)| g - f).collect();
        Factor::new(&left, nb).solve(&mut move_base);
        let mut step = alone;
        through.iter().zip(&move_base).for_each(|(column, b)| axpy(-b, column, &mut step));
        (step, move_base)
    }
}

/// `K v` for a symmetric row-major matrix.
fn times(k: &[f64], v: &[f64]) -> Vec<f64> {
    k.chunks_exact(v.len().max(1)).map(|row| dot(row, v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::simulate;
    use crate::data::{Observation, TrainingData};
    use crate::linear::head::HeadProblem;
    use crate::linear::rotate::Rotated;

    #[test]
    fn the_head_is_that_of_the_embeddings() {
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
            let x = Rotated::new(&sim.embeddings);
            let own: Vec<Observation> =
                data.sorted().unwrap().into_iter().filter(|o| o.annotator == 1).collect();
            let rows: Vec<&[f64]> = own.iter().map(|o| x.row(o.text as usize)).collect();
            let small = OwnHead::new(link, &rows, own.iter().map(|o| o.level).collect(), 0.05);
            for lambda in [30.0, 1.0, 0.1] {
                let problem = HeadProblem { link, x: &x, observations: &own, deviations: &[], flatten: 1.0 };
                let large = problem.fit_all(lambda);
                let mut mixture = small.start();
                let all: Vec<usize> = (0..own.len()).collect();
                let loss = small.fit(lambda, &mut mixture, &all);
                let mut weights = vec![0.0; 48];
                rows.iter().zip(&mixture.alpha).for_each(|(row, a)| axpy(*a, row, &mut weights));
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
    fn what_is_left_out_has_no_part() {
        let sim = simulate(60, 1, 2, 8, 30, 3);
        let x = Rotated::new(&sim.embeddings);
        let link = Link::new(sim.target);
        let mut own = sim.observations.clone();
        own.sort_unstable();
        let rows: Vec<&[f64]> = own.iter().map(|o| x.row(o.text as usize)).collect();
        let head = |flip: bool| {
            let levels =
                own.iter().enumerate().map(|(i, o)| if flip && i >= 20 { 1 - o.level } else { o.level });
            let head = OwnHead { anchor: vec![0.0], ..OwnHead::new(link, &rows, levels.collect(), 0.05) };
            let mut mixture = head.start();
            head.fit(1.0, &mut mixture, &(0..20).collect::<Vec<_>>());
            (mixture.alpha.clone(), head.score(&mixture, &(20..30).collect::<Vec<_>>()))
        };
        let ((alpha, score), (turned, other)) = (head(false), head(true));
        assert_eq!(alpha, turned);
        assert!(alpha[20..].iter().all(|a| *a == 0.0));
        assert!((score - other).abs() > 1e-3 && score < 0.0 && other < 0.0);
    }

    #[test]
    fn one_class_and_texts_that_are_the_same_are_no_accident() {
        let link = Link { levels: 5, softmax: false };
        let row = [0.3, -0.2];
        let rows: Vec<&[f64]> = vec![&row; 6];
        for levels in [vec![4; 6], vec![0; 6], vec![0, 1, 2, 3, 4, 0]] {
            let head = OwnHead::new(link, &rows, levels, 0.05);
            let mut mixture = head.start();
            let loss = head.fit(0.1, &mut mixture, &[0, 1, 2, 3, 4, 5]);
            assert!(loss.is_finite() && mixture.alpha.iter().chain(&mixture.base).all(|v| v.is_finite()));
        }
    }
}
