//! The model against sums over all sets, and the learned factors against the true ones.

use super::factors::OptionFactors;
use super::fit::{Likelihood, fit};
use super::held_out::HeldOutSets;
use super::selection::OptionCorrelations;
use crate::math::normal;
use crate::math::random::generator;
use dissensus_domain::OptionSet;
use rand::RngExt;

/// A standard normal number, by the quantile of a uniform one.
fn drawn(rng: &mut impl RngExt) -> f64 {
    normal::quantile(rng.random_range(1e-12..1.0 - 1e-12))
}

/// Answers to `loadings.len()` options, by `people` on each text, with known probabilities.
fn simulated(loadings: &[[f64; 2]], texts: u32, people: u32, seed: u64) -> HeldOutSets {
    let mut rng = generator(seed, 9);
    let mut made = HeldOutSets::default();
    for text in 0..texts {
        let p: Vec<f64> = loadings.iter().map(|_| normal::cdf(0.8 * drawn(&mut rng) - 0.7)).collect();
        for who in 0..people {
            let factors = [drawn(&mut rng), drawn(&mut rng)];
            let mut bits = 0;
            for (k, (l, p)) in loadings.iter().zip(&p).enumerate() {
                let pull = l[0] * factors[0] + l[1] * factors[1] + drawn(&mut rng);
                let length = (1.0 + l[0] * l[0] + l[1] * l[1]).sqrt();
                bits |= u64::from(normal::quantile(*p) * length + pull > 0.0) << k;
            }
            made.probabilities.extend(p.iter().map(|p| *p as f32));
            made.sets.push(OptionSet::from_bits(bits));
            made.texts.push(text);
            made.annotators.push(who);
        }
    }
    made
}

fn some_factors(factors: usize) -> OptionFactors {
    let all = [1.5, -0.4, -2.5, 1.0, 0.3, 0.0, 0.8, 2.0, -0.7, 0.1, 4.0, -3.0];
    OptionFactors::new(6, factors, all[..6 * factors].to_vec()).unwrap()
}

const SIX: [f32; 6] = [0.5, 0.9, 0.02, 0.3, 1e-9, 0.7];

#[test]
fn set_probabilities_sum_to_one_and_keep_margins() {
    for factors in 0..=2 {
        let given = some_factors(factors).given(&SIX);
        let chance = |bits: u64| given.log_probability(OptionSet::from_bits(bits)).exp();
        let total: f64 = (0..64).map(chance).sum();
        assert!((total - 1.0).abs() < 1e-6, "{factors}: {total}");
        for (k, p) in SIX.iter().enumerate() {
            let found: f64 = (0..64).filter(|bits| bits >> k & 1 == 1).map(chance).sum();
            assert!((found - f64::from(*p)).abs() < 1e-6, "{factors} {k}: {found}");
        }
    }
    // Certain options stay certain.
    let known = some_factors(1).given(&[1.0, 0.0, 1.0, 0.0, 0.0, 0.5]);
    assert!(known.nodes().all(|(_, yes)| yes[..5] == [1.0, 0.0, 1.0, 0.0, 0.0]));
}

#[test]
fn most_likely_set_matches_enumeration() {
    let mut rng = generator(1, 2);
    for round in 0..200 {
        let factors = 1 + round % 2;
        let loadings: Vec<f64> = (0..8 * factors).map(|_| 1.5 * drawn(&mut rng)).collect();
        let p: Vec<f32> = (0..8).map(|_| rng.random_range(0.0..1.0)).collect();
        let given = OptionFactors::new(8, factors, loadings).unwrap().given(&p);
        let (set, probability) = given.most_likely();
        let best =
            (0..256).map(|bits| given.log_probability(OptionSet::from_bits(bits))).fold(f64::MIN, f64::max);
        assert!((given.log_probability(set) - best).abs() < 1e-6, "{round}");
        assert!((probability.ln() - best).abs() < 1e-6, "{round}");
    }
    let alone = OptionFactors::independent(3).unwrap().given(&[0.5, 0.9, 0.4]);
    assert_eq!(alone.most_likely().0.bits(), 0b010, "as likely as not is not chosen");
    // Sixty-four options, all uncertain.
    let many = OptionFactors::new(64, 1, vec![0.7; 64]).unwrap().given(&[0.45; 64]);
    assert!(many.most_likely().1 > 0.0);
}

#[test]
fn gradient_matches_the_likelihood() {
    for factors in 1..=2 {
        let made = simulated(&[[1.0, 0.3], [-0.5, 1.0], [0.8, 0.0], [0.2, -0.6]], 30, 2, 4);
        let likelihood = Likelihood::new(4, &[0, 1, 2, 3], factors, &made.probabilities, &made.sets);
        let at: Vec<f64> = (0..4 * factors).map(|i| 0.9 - 0.35 * i as f64).collect();
        let mut gradient = vec![0.0; at.len()];
        likelihood.value(&at, &mut gradient);
        for i in 0..at.len() {
            let shifted = |by: f64| {
                let mut moved = at.clone();
                moved[i] += by;
                likelihood.value(&moved, &mut vec![0.0; at.len()])
            };
            let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!(
                (slope - gradient[i]).abs() < 1e-5 * slope.abs().max(1.0),
                "{factors} {i}: {slope} {}",
                gradient[i]
            );
        }
    }
}

#[test]
fn simulated_factors_are_recovered() {
    let loadings = [[1.4, 0.0], [1.0, 0.0], [-0.8, 0.0], [0.0, 1.5], [0.0, -1.5], [0.0, 0.0]];
    let made = simulated(&loadings, 1500, 2, 7);
    let found = fit(6, 2, &made.probabilities, &made.sets).unwrap();
    let truth = OptionFactors::new(6, 2, loadings.concat()).unwrap();
    for pair in truth.pairs() {
        let (i, j) = pair.options;
        let off = found.correlation(i, j) - pair.correlation;
        assert!(off.abs() < 0.12, "{i} {j}: {} for {}", found.correlation(i, j), pair.correlation);
    }
    assert_eq!(found.pairs()[0].options, (3, 4));
    // The fit is deterministic.
    assert_eq!(found, fit(6, 2, &made.probabilities, &made.sets).unwrap());
}

#[test]
fn existing_correlations_are_used() {
    let one = simulated(&[[1.2, 0.0], [1.0, 0.0], [-0.9, 0.0], [0.3, 0.0]], 300, 1, 3);
    let found = OptionCorrelations::learn(4, &one, 0).unwrap();
    assert_eq!(found.factors.factors(), 1, "{found:?}");
    assert!(found.gain.unwrap() > 2.0 * found.standard_error.unwrap());
    assert_eq!((found.answers, found.texts), (300, 300));
    let strongest: Vec<(usize, usize)> = found.factors.pairs()[..3].iter().map(|pair| pair.options).collect();
    assert!(strongest.iter().all(|(_, last)| *last < 3), "the fourth hardly belongs to them: {strongest:?}");
    let two = simulated(&[[1.5, 0.0], [1.5, 0.0], [0.0, 1.5], [0.0, 1.5], [0.0, -1.5]], 400, 2, 5);
    let found = OptionCorrelations::learn(5, &two, 0).unwrap();
    assert_eq!(found.factors.factors(), 2, "{found:?}");
}

#[test]
fn independent_options_stay_independent() {
    let used = |seed: u64| {
        let made = simulated(&[[0.0; 2]; 5], 120, 1 + (seed % 2) as u32 * 3, seed);
        OptionCorrelations::learn(5, &made, seed).unwrap().factors.factors() > 0
    };
    let wrong = (0..40).filter(|seed| used(100 + seed)).count();
    assert!(wrong <= 2, "{wrong} of 40");
}

#[test]
fn too_little_data_keeps_options_independent() {
    let learned = |made: &HeldOutSets| OptionCorrelations::learn(4, made, 0).unwrap();
    let strong = [[2.0, 0.0]; 4];
    let few = learned(&simulated(&strong, 40, 5, 1));
    assert_eq!((few.factors.factors(), few.gain, few.texts), (0, None, 40));
    let nothing = learned(&HeldOutSets::default());
    assert_eq!((nothing.factors.factors(), nothing.answers), (0, 0));
    let mut empty = simulated(&strong, 100, 2, 1);
    empty.sets.fill(OptionSet::default());
    assert_eq!(learned(&empty).gain, None, "all answers empty");
    let mut always = simulated(&strong, 100, 2, 1);
    always.sets.iter_mut().for_each(|set| *set = OptionSet::from_bits(set.bits() & 0b0001 | 0b0010));
    assert_eq!(learned(&always).factors.factors(), 0, "options that never or always are chosen tell nothing");
    // Probabilities of 0 and 1 that contradict the answers.
    let mut certain = simulated(&strong, 100, 2, 1);
    certain.probabilities.iter_mut().enumerate().for_each(|(i, p)| *p = f32::from(u8::from(i % 3 == 0)));
    let found = learned(&certain);
    assert!(found.gain.is_none_or(f64::is_finite) && found.factors.loadings(0).iter().all(|l| l.is_finite()));
    let mut short = simulated(&strong, 100, 2, 1);
    short.texts.pop();
    assert!(OptionCorrelations::learn(4, &short, 0).is_err());
}

#[test]
fn clusters_are_held_out_together() {
    // Each of 30 threads has ten copies of one answer: thirty texts, too few.
    let mut made = simulated(&[[2.0, 0.0]; 4], 300, 1, 2);
    made.texts.iter_mut().for_each(|text| *text /= 10);
    let found = OptionCorrelations::learn(4, &made, 0).unwrap();
    assert_eq!((found.texts, found.gain), (30, None));
}

#[test]
fn sixty_four_options_are_learned() {
    let mut loadings = vec![[0.0, 0.0]; 64];
    loadings[..8].fill([1.5, 0.0]);
    let made = simulated(&loadings, 600, 1, 11);
    let found = OptionCorrelations::learn(64, &made, 0).unwrap();
    assert_eq!(found.factors.factors(), 1);
    assert!(found.factors.pairs()[..10].iter().all(|pair| pair.options.1 < 8));
}
