//! Metrics and agreement of sets of options against scikit-learn and NLTK (tools/fixtures/multi_label.py),
//! and correlated options against scipy (tools/fixtures/option_factors.py).

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::OptionSet;
use dissensus_stats::agreement::{SetAnswer, set_reliability};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::metrics::{BinaryLogLoss, MultiLabelScores, Thresholds};
use dissensus_stats::options::OptionFactors;
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../fixtures/multi_label.json")).unwrap()
}

fn near(name: &str, ours: Option<f64>, theirs: &Value) {
    match (ours, theirs.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-6, "{name}: {a} against {b}"),
        (a, b) => assert_eq!(a, b, "{name}"),
    }
}

#[test]
fn scores_match_scikit_learn() {
    let reference = reference();
    let options = reference["options"].as_u64().unwrap() as usize;
    let theirs = &reference["predictions"];
    let sets: Vec<u64> = serde_json::from_value(theirs["truth"].clone()).unwrap();
    let truth: Vec<OptionSet> = sets.into_iter().map(OptionSet::from_bits).collect();
    let p: Vec<Vec<f32>> = serde_json::from_value(theirs["probabilities"].clone()).unwrap();
    let p = p.concat();
    let scores =
        |thresholds: &Thresholds| MultiLabelScores::new(&truth, &thresholds.answers(&p), options).unwrap();
    let half = scores(&Thresholds::half(options));
    for (key, ours) in [
        ("micro_f1", half.micro_f1),
        ("macro_f1", half.macro_f1),
        ("jaccard", half.jaccard),
        ("subset_accuracy", half.subset_accuracy),
        ("hamming_loss", half.hamming_loss),
    ] {
        assert!(ours.is_some());
        near(key, ours, &theirs[key]);
    }
    let loss = BinaryLogLoss::new(&truth, &p, options).unwrap();
    let tuned = scores(&Thresholds::tuned_for_f1(&truth, &p, options).unwrap());
    for option in 0..options {
        near("f1 of an option", half.options[option].f1, &theirs["f1"][option]);
        near("loss of an option", Some(loss.options[option]), &theirs["log_loss"][option]);
        near("best f1", Some(tuned.options[option].f1.unwrap_or(0.0)), &theirs["best_f1"][option]);
    }
    assert!((loss.all.unwrap() - loss.options.iter().sum::<f64>() / options as f64).abs() < 1e-12);
}

#[test]
fn alpha_matches_nltk() {
    let reference = reference();
    for name in ["with_empty", "without_empty"] {
        let theirs = &reference["agreement"][name];
        let rows: Vec<(u32, u32, u64)> = serde_json::from_value(theirs["rows"].clone()).unwrap();
        let answers: Vec<SetAnswer> = rows
            .into_iter()
            .map(|(text, annotator, bits)| SetAnswer { text, annotator, set: OptionSet::from_bits(bits) })
            .collect();
        let ours = set_reliability(&answers, 40, 6, None, &Silent).unwrap().alpha_masi.value;
        assert!((ours.unwrap() - theirs["alpha"].as_f64().unwrap()).abs() < 1e-12, "{name}");
    }
}

/// Orthant probabilities of the normal distribution whose correlations follow from the loadings.
#[test]
fn correlated_set_probabilities_match_scipy() {
    let reference: Value = serde_json::from_str(include_str!("../fixtures/option_factors.json")).unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let loadings: Vec<Vec<f64>> = serde_json::from_value(case["loadings"].clone()).unwrap();
        let p: Vec<f32> = serde_json::from_value(case["probabilities"].clone()).unwrap();
        let theirs: Vec<f64> = serde_json::from_value(case["sets"].clone()).unwrap();
        let factors = OptionFactors::new(3, loadings[0].len(), loadings.concat()).unwrap();
        let given = factors.given(&p);
        let (mut most, mut alone) = (0.0_f64, 0.0_f64);
        let independent = OptionFactors::independent(3).unwrap().given(&p);
        for (bits, theirs) in (0..).zip(theirs) {
            let set = OptionSet::from_bits(bits);
            most = most.max((given.log_probability(set).exp() - theirs).abs());
            alone = alone.max((independent.log_probability(set).exp() - theirs).abs());
        }
        // Sums over a few nodes approximate the integral.
        assert!(most < 2e-3 && alone > 5.0 * most, "{most} and {alone} of {loadings:?}");
    }
}
