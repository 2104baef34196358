//! Share of differences in severity explained by an attribute, on simulated people.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_stats::data::Severity;
use dissensus_stats::disagreement::{attribute_share, severity_p_value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const PRIOR: f64 = 1.0;

/// People with a severity of variance 1, `gap` of which is between groups, known with a standard deviation of
/// 0.2 to 0.7.
fn people(seed: u64, sizes: &[usize], gap: f64) -> (Vec<Vec<Severity>>, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let means: Vec<f64> = sizes.iter().map(|_| gap.sqrt() * normal()).collect();
    let all = sizes.iter().sum::<usize>() as f64;
    let centre = means.iter().zip(sizes).map(|(mean, n)| mean * *n as f64).sum::<f64>() / all;
    let between =
        means.iter().zip(sizes).map(|(mean, n)| (mean - centre).powi(2) * *n as f64).sum::<f64>() / all;
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1_000_000);
    let groups = means.iter().zip(sizes).map(|(mean, n)| {
        let one = |_| {
            let z: [f64; 2] = [StandardNormal.sample(&mut rng), StandardNormal.sample(&mut rng)];
            let sd = 0.2 + 0.5 * rng.random::<f64>();
            let own = mean + (1.0 - gap).sqrt() * z[0] + sd * z[1];
            // Shrunk to the mean, like posteriors.
            let left = PRIOR * PRIOR / (PRIOR * PRIOR + sd * sd);
            Severity { mean: own * left, sd: (sd * sd * left).sqrt() }
        };
        (0..*n).map(one).collect()
    });
    (groups.collect(), between / (between + 1.0 - gap))
}

/// Where an attribute explains nothing, at most 5 % of projects show it, as counted in 600 projects (standard
/// error 0.9 %).
#[test]
fn unrelated_attribute_is_rarely_shown() {
    for sizes in [&[20, 30][..], &[5, 9, 40, 60, 12], &[6; 15]] {
        let shown = (0..600)
            .filter(|seed| attribute_share(&people(*seed, sizes, 0.0).0, PRIOR).unwrap().p <= 0.05)
            .count();
        assert!((12..=48).contains(&shown), "{shown} of 600: {sizes:?}");
    }
}

#[test]
fn attribute_share_is_unbiased_with_a_valid_bound() {
    for (sizes, gap) in [(&[40, 40, 40][..], 0.1), (&[10, 30, 60, 20, 15], 0.3), (&[60, 50], 0.02)] {
        let (mut held, mut off) = (0, 0.0);
        for seed in 0..300 {
            let (groups, truth) = people(seed, sizes, gap);
            let found = attribute_share(&groups, PRIOR).unwrap();
            assert!(found.share <= found.most(1) && found.most(1) <= found.most(4), "{found:?}");
            held += usize::from(truth <= found.most(1));
            off += (found.share - truth) / 300.0;
        }
        assert!(held >= 276, "{held} of 300: {sizes:?}");
        assert!(off.abs() < 0.03, "{off}: {sizes:?}");
    }
}

#[test]
fn most_distant_groups_are_named_in_order() {
    let one = |mean: f64| Severity { mean, sd: 0.2 };
    let around = |mean: f64| [-0.2, -0.1, 0.0, 0.1, 0.2].map(|by| one(mean + by)).to_vec();
    let found = attribute_share(&[around(0.1), around(0.9), vec![one(3.0)], around(-0.5)], PRIOR).unwrap();
    assert_eq!((found.furthest, found.people), ((3, 1), 15), "one person is no group");
    assert!(found.p < 1e-6 && found.share > 0.8, "{found:?}");
    assert_eq!(attribute_share(&[around(0.1), vec![one(3.0)]], PRIOR), None);
    assert_eq!(attribute_share(&[vec![one(0.0); 6], vec![one(0.0); 6]], PRIOR), None);
}

#[test]
fn only_extreme_people_differ_from_the_average() {
    let p = |mean, sd| severity_p_value(Severity { mean, sd }, PRIOR);
    assert!(p(1.5, 0.2).unwrap() < 1e-6 && p(0.1, 0.4).unwrap() > 0.5);
    assert_eq!(p(0.0, 1.0), None, "only the prior speaks");
}
