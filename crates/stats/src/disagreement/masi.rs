//! Expected MASI distance of two people's sets of options.

use crate::data::ModelError;
use dissensus_domain::OptionSet;

/// Computes the expected MASI distance `1 - J M` ([`crate::agreement::masi_distance`]) of two people who each
/// decide about each option independently, with probabilities `p_k` and `q_k`. Exact: no sampling, no
/// approximation.
///
/// The distance ranges from 0 to 1: 0 where both are certain of the same set, 1 where both are certain of
/// sets that are disjoint and not both empty. Two people with the same probabilities that are not certain
/// have a distance above 0.
///
/// With `i` options in both sets and `u` in either, `J M = (i / u) (1 + [a = 0] + [b = 0]) / 3`, where `a`
/// and `b` count the options of only one person, and 1 for two empty sets. A mean of `i / u` is
/// `sum_k P(k in both) E[1 / (1 + others in either)]`
/// `= int_0^1 sum_k P(k in both) prod_{j != k} (P(j in neither) + P(j in either) t) dt`, whose integrand is a
/// polynomial of degree K - 1: Gauss and Legendre's rule of K / 2 nodes is exact. Under `a = 0` (`b = 0`) the
/// options that only the first (second) person has are left out of `either`. This costs `3 K ceil(K / 2)`
/// steps per pair.
#[derive(Clone, Debug)]
pub struct ExpectedMasi {
    options: usize,
    /// Nodes and weights on 0..1.
    rule: Vec<(f64, f64)>,
}

impl ExpectedMasi {
    /// Prepares a question of `options` options.
    ///
    /// # Errors
    /// [`ModelError::Length`] without options or with more than a set can hold.
    pub fn new(options: usize) -> Result<Self, ModelError> {
        let most = usize::from(OptionSet::MAX);
        if !(1..=most).contains(&options) {
            return Err(ModelError::Length { what: "a set of options", expected: most, found: options });
        }
        Ok(Self { options, rule: legendre(options.div_ceil(2)) })
    }

    /// Distance of two people whose probabilities of each option are `p` and `q`.
    ///
    /// # Panics
    /// If there are fewer probabilities than options.
    pub fn of(&self, p: &[f32], q: &[f32]) -> f64 {
        let wide = |p: &[f32]| -> Vec<f64> { p[..self.options].iter().map(|p| f64::from(*p)).collect() };
        self.between(&wide(p), &wide(q))
    }

    /// The same distance for probabilities in double precision.
    pub(super) fn between(&self, p: &[f64], q: &[f64]) -> f64 {
        let (mut likeness, mut both_empty) = (0.0, 1.0);
        for (p, q) in p.iter().zip(q) {
            both_empty *= (1.0 - p) * (1.0 - q);
        }
        for &(t, weight) in &self.rule {
            // Products over options without condition, under a = 0 and under b = 0, and their sums over the
            // option that is in both.
            let (mut products, mut sums) = ([1.0; 3], [0.0; 3]);
            for (p, q) in p.iter().zip(q) {
                let (p, q) = (*p, *q);
                let (both, neither) = (p * q, (1.0 - p) * (1.0 - q));
                for (at, either) in [p + q - both, q, p].into_iter().enumerate() {
                    let factor = neither + either * t;
                    sums[at] = sums[at] * factor + products[at] * both;
                    products[at] *= factor;
                }
            }
            likeness += weight * sums.iter().sum::<f64>() / 3.0;
        }
        (1.0 - likeness - both_empty).clamp(0.0, 1.0)
    }

    /// Mean over all pairs of different people; `probabilities` are people x options. Absent for fewer than
    /// two people.
    pub fn mean(&self, probabilities: &[f32]) -> Option<f64> {
        let people: Vec<&[f32]> = probabilities.chunks_exact(self.options).collect();
        let pairs = || people.iter().enumerate().flat_map(|(i, p)| people[..i].iter().map(move |q| (p, q)));
        let count = people.len() * people.len().saturating_sub(1) / 2;
        (count > 0).then(|| pairs().map(|(p, q)| self.of(p, q)).sum::<f64>() / count as f64)
    }
}

/// Nodes and weights of Gauss and Legendre's rule on 0..1, exact for polynomials of degree `2 nodes - 1`:
/// roots of the Legendre polynomial by Newton's method from the Chebyshev nodes, weights
/// `2 / ((1 - x^2) P'(x)^2)` on -1..1 (Abramowitz and Stegun 1964, 25.4.29).
fn legendre(nodes: usize) -> Vec<(f64, f64)> {
    let n = nodes as f64;
    let polynomial = |x: f64| {
        let (mut before, mut value) = (0.0, 1.0);
        for k in 0..nodes {
            let k = k as f64;
            (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
        }
        (value, n * (x * value - before) / (x * x - 1.0))
    };
    let root = |i: usize| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        for _ in 0..100 {
            let (value, slope) = polynomial(x);
            x -= value / slope;
            if (value / slope).abs() < 1e-15 {
                break;
            }
        }
        let slope = polynomial(x).1;
        (0.5 + 0.5 * x, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..nodes).map(root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::masi_distance;

    /// Over all pairs of sets.
    fn enumerated(p: &[f32], q: &[f32]) -> f64 {
        let chance = |bits: u64, p: &[f32]| -> f64 {
            let of = |(k, p): (usize, &f32)| {
                if bits >> k & 1 == 1 { f64::from(*p) } else { 1.0 - f64::from(*p) }
            };
            p.iter().enumerate().map(of).product()
        };
        let sets = 0..1u64 << p.len();
        let pairs = sets.clone().flat_map(|a| sets.clone().map(move |b| (a, b)));
        pairs
            .map(|(a, b)| {
                let distance = masi_distance(OptionSet::from_bits(a), OptionSet::from_bits(b));
                chance(a, p) * chance(b, q) * distance
            })
            .sum()
    }

    fn made_up(options: usize, seed: u32) -> Vec<f32> {
        (0..options as u32).map(|k| ((k + 1) * (seed + 3) * 7919 % 101) as f32 / 100.0).collect()
    }

    #[test]
    fn expected_distance_averages_all_pairs() {
        for options in 1..=6 {
            let masi = ExpectedMasi::new(options).unwrap();
            for seed in 0..12 {
                let (p, q) = (made_up(options, seed), made_up(options, seed + 40));
                let (found, expected) = (masi.of(&p, &q), enumerated(&p, &q));
                assert!((found - expected).abs() < 1e-12, "{options}: {found} against {expected}");
                assert!((masi.of(&q, &p) - found).abs() < 1e-12);
            }
        }
    }

    /// 64 options, of which all but six are certain: the certain ones are removed by hand.
    #[test]
    fn expected_distance_is_exact_for_many_options() {
        let masi = ExpectedMasi::new(64).unwrap();
        let (mut p, mut q) = (made_up(64, 5), made_up(64, 9));
        for k in 6..64 {
            (p[k], q[k]) = (0.0, 0.0);
        }
        assert!((masi.of(&p, &q) - enumerated(&p[..6], &q[..6])).abs() < 1e-12);
        // Options in both sets: k certain ones, and one that only the second person is uncertain about, with
        // q.
        for k in 6..64 {
            (p[k], q[k]) = (1.0, 1.0);
        }
        p[..6].fill(0.0);
        q[..6].fill(0.0);
        q[0] = 0.25;
        let expected = 0.25 * (1.0 - 58.0 / 59.0 * 2.0 / 3.0);
        assert!((masi.of(&p, &q) - expected).abs() < 1e-7, "{}", masi.of(&p, &q));
    }

    #[test]
    fn expected_distance_reaches_both_ends() {
        let masi = ExpectedMasi::new(3).unwrap();
        assert_eq!(masi.of(&[1.0, 0.0, 1.0], &[1.0, 0.0, 1.0]), 0.0);
        assert_eq!(masi.of(&[0.0; 3], &[0.0; 3]), 0.0);
        assert_eq!(masi.of(&[1.0, 0.0, 0.0], &[0.0, 1.0, 1.0]), 1.0);
        assert_eq!(masi.of(&[0.0; 3], &[0.0, 1.0, 0.0]), 1.0);
        assert!(masi.of(&[0.5; 3], &[0.5; 3]) > 0.4);
        assert_eq!(masi.mean(&[0.5; 3]), None);
        let people = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        assert!((masi.mean(&people).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!(ExpectedMasi::new(0).is_err() && ExpectedMasi::new(65).is_err());
    }

    #[test]
    fn quadrature_is_exact_up_to_its_degree() {
        for nodes in 1..=32 {
            let rule = legendre(nodes);
            for degree in [0, 1, nodes, 2 * nodes - 1] {
                let found: f64 = rule.iter().map(|(t, w)| w * t.powi(degree as i32)).sum();
                assert!((found - 1.0 / (degree + 1) as f64).abs() < 1e-13, "{nodes} nodes, degree {degree}");
            }
        }
    }
}
