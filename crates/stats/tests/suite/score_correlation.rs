//! Correlations of scores against scipy (fixture made by tools/fixtures/score_correlation.py), and the
//! coverage of their intervals.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::{Progress, Silent};
use dissensus_stats::metrics::{BootstrapOptions, ScoreCorrelation, ScorePairs, score_correlation, spearman};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

struct Scores {
    x: Vec<f64>,
    y: Vec<f64>,
    strata: Vec<u16>,
    clusters: Vec<u32>,
}

impl Scores {
    fn pairs(&self) -> ScorePairs<'_> {
        ScorePairs { x: &self.x, y: &self.y, strata: &self.strata, clusters: &self.clusters }
    }

    fn found(&self, bootstrap: Option<&BootstrapOptions>) -> ScoreCorrelation {
        score_correlation(&self.pairs(), bootstrap, &Silent).unwrap()
    }

    fn of_fixture(reference: &Value) -> Self {
        let of = |name: &str| -> Vec<f64> { serde_json::from_value(reference[name].clone()).unwrap() };
        let strata: Vec<u16> = serde_json::from_value(reference["strata"].clone()).unwrap();
        let clusters = (0..strata.len() as u32).collect();
        Self { x: of("x"), y: of("y"), strata, clusters }
    }
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../fixtures/score_correlation.json")).unwrap()
}

fn near(ours: f64, theirs: &Value, within: f64) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() < within, "{ours} against {theirs}");
}

#[test]
fn correlations_match_scipy() {
    let reference = reference();
    let mut scores = Scores::of_fixture(&reference);
    let within = scores.found(None);
    near(within.pearson.unwrap().value, &reference["within"]["pearson"], 1e-12);
    near(within.spearman.unwrap().value, &reference["within"]["spearman"], 1e-12);
    scores.strata.fill(0);
    let whole = scores.found(Some(&BootstrapOptions::default()));
    let pearson = whole.pearson.unwrap();
    near(pearson.value, &reference["whole"]["pearson"], 1e-12);
    near(whole.spearman.unwrap().value, &reference["whole"]["spearman"], 1e-12);
    // The scores are normal within strata and nearly so overall: Fisher's own interval is a little narrower
    // or wider.
    let (low, high) = pearson.interval.unwrap();
    near(low, &reference["whole"]["low"], 0.05);
    near(high, &reference["whole"]["high"], 0.05);
}

/// A normal number (the sum of twelve uniform ones minus six).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Scores with a correlation of `rho` within strata, whose averages differ between them, in clusters of
/// `size` texts that are alike.
fn simulated(rng: &mut ChaCha8Rng, texts: usize, rho: f64, size: usize) -> Scores {
    let mut scores = Scores { x: Vec::new(), y: Vec::new(), strata: Vec::new(), clusters: Vec::new() };
    let mut shared = (0.0, 0.0);
    for text in 0..texts {
        let stratum = text % 2;
        let both = |rng: &mut ChaCha8Rng| {
            let (a, b) = (normal(rng), normal(rng));
            (a, rho * a + (1.0 - rho * rho).sqrt() * b)
        };
        if text % size == 0 {
            shared = both(rng);
        }
        let own = both(rng);
        let mix = if size > 1 { 0.7 } else { 0.0f64 };
        let of = |shared: f64, own: f64| mix * shared + (1.0 - mix * mix).sqrt() * own;
        scores.x.push(of(shared.0, own.0) + 3.0 * stratum as f64);
        scores.y.push(of(shared.1, own.1) - 3.0 * stratum as f64);
        scores.strata.push(stratum as u16);
        scores.clusters.push((text / size) as u32);
    }
    scores
}

/// Number of `projects` whose intervals contain the truth: Pearson's, Spearman's.
fn covered(projects: u64, texts: usize, rho: f64, size: usize) -> (f64, f64) {
    let of_ranks = 6.0 / std::f64::consts::PI * (rho / 2.0).asin();
    let (mut pearson, mut ranks) = (0.0, 0.0);
    for seed in 0..projects {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = BootstrapOptions { resamples: 200, confidence: 0.95, seed };
        let found = simulated(&mut rng, texts, rho, size).found(Some(&options));
        let holds = |of: Option<dissensus_stats::metrics::Correlation>, truth: f64| {
            let (low, high) = of.unwrap().interval.unwrap();
            f64::from(u8::from(low <= truth && truth <= high)) / projects as f64
        };
        pearson += holds(found.pearson, rho);
        ranks += holds(found.spearman, of_ranks);
    }
    (pearson, ranks)
}

#[test]
fn intervals_of_95_percent_cover() {
    for (texts, rho, size) in [(60, 0.0, 1), (60, 0.8, 1), (200, 0.5, 1), (200, 0.5, 4)] {
        let (pearson, ranks) = covered(400, texts, rho, size);
        println!("{texts} texts, correlation {rho}, clusters of {size}: {pearson:.3} {ranks:.3}");
        for covered in [pearson, ranks] {
            assert!((0.9..=0.985).contains(&covered), "{texts} {rho} {size}: {covered}");
        }
    }
}

#[test]
fn model_averages_do_not_correlate() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let scores = simulated(&mut rng, 400, 0.0, 1);
    let found = scores.found(None);
    assert!(found.pearson.unwrap().value.abs() < 0.15 && found.spearman.unwrap().value.abs() < 0.15);
    assert!(spearman(&scores.x, &scores.y).unwrap() < -0.6, "the strata do differ");
    // Scores that are constant in each stratum carry no information, and have no correlation.
    let by_stratum: Vec<f64> = scores.strata.iter().map(|stratum| 0.1 + f64::from(*stratum)).collect();
    let flat = Scores { x: by_stratum, ..scores };
    assert_eq!((flat.found(None).pearson, flat.found(None).spearman), (None, None));
}

#[test]
fn degenerate_correlations_have_no_interval() {
    let options = BootstrapOptions::default();
    let line = |n: usize| Scores {
        x: (0..n).map(|i| i as f64).collect(),
        y: (0..n).map(|i| 5.0 - 2.0 * i as f64).collect(),
        strata: vec![0; n],
        clusters: (0..n as u32).collect(),
    };
    let found = line(50).found(Some(&options));
    assert!((found.pearson.unwrap().value + 1.0).abs() < 1e-12 && found.texts == 50);
    let mut few = simulated(&mut ChaCha8Rng::seed_from_u64(1), 19, 0.5, 1);
    assert!(few.found(Some(&options)).pearson.unwrap().interval.is_none());
    // Many texts of few threads count as few.
    few = simulated(&mut ChaCha8Rng::seed_from_u64(1), 190, 0.5, 10);
    assert!(few.found(Some(&options)).pearson.unwrap().interval.is_none());
    assert_eq!(line(0).found(Some(&options)), ScoreCorrelation::default());
    assert_eq!(line(1).found(Some(&options)).pearson, None);
    // Two texts are always on a line.
    assert!(line(2).found(Some(&options)).pearson.is_none() && line(9).found(None).spearman.is_none());
    assert!(line(10).found(None).spearman.is_some());
}

struct Stop;

impl Progress for Stop {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn unequal_lists_and_cancel_are_errors() {
    let scores = simulated(&mut ChaCha8Rng::seed_from_u64(1), 30, 0.5, 1);
    let options = BootstrapOptions::default();
    let stopped = score_correlation(&scores.pairs(), Some(&options), &Stop);
    assert_eq!(stopped, Err(ModelError::Cancelled));
    let short = ScorePairs { y: &scores.y[1..], ..scores.pairs() };
    let wrong = score_correlation(&short, None, &Silent);
    assert!(matches!(wrong, Err(ModelError::Length { expected: 30, found: 29, .. })), "{wrong:?}");
}
