//! Coefficients of agreement against krippendorff, irrCAC, statsmodels and scikit-learn
//! (tools/fixtures/agreement.py).

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_stats::agreement::agreement;
use dissensus_stats::agreement::{Estimate, Reliability, cohen_pairs, reliability};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{ModelError, Observation, Target};
use dissensus_stats::metrics::BootstrapOptions;
use serde_json::Value;

struct Case {
    name: &'static str,
    observations: Vec<Observation>,
    texts: usize,
    annotators: usize,
    target: Target,
    theirs: Value,
}

fn cases() -> Vec<Case> {
    let reference: Value = serde_json::from_str(include_str!("../fixtures/agreement.json")).unwrap();
    let kinds =
        [("ragged", TargetKind::Ordinal), ("complete", TargetKind::Ordinal), ("rare", TargetKind::Binary)];
    let case = |(name, kind): (&'static str, TargetKind)| {
        let theirs = reference[name].clone();
        let size = |key: &str| theirs[key].as_u64().unwrap() as usize;
        let rows: Vec<(u32, u32, u16)> = serde_json::from_value(theirs["rows"].clone()).unwrap();
        let observations =
            rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect();
        let (texts, annotators, levels) = (size("texts"), size("annotators"), size("levels"));
        Case { name, observations, texts, annotators, target: Target { kind, levels }, theirs }
    };
    kinds.into_iter().map(case).collect()
}

impl Case {
    fn reliability(&self, options: Option<&BootstrapOptions>) -> Reliability {
        reliability(&self.observations, self.texts, self.annotators, self.target, options, &Silent).unwrap()
    }
}

fn near(name: &str, ours: Option<f64>, theirs: &Value) {
    let (ours, theirs) = (ours.unwrap(), theirs.as_f64().unwrap());
    assert!((ours - theirs).abs() < 1e-9, "{name}: {ours} against {theirs}");
}

#[test]
fn coefficients_match_other_libraries() {
    for case in cases() {
        let (ours, theirs) = (case.reliability(None), &case.theirs);
        near("nominal", ours.alpha_nominal.value, &theirs["alpha"]["nominal"]);
        near("fleiss", ours.fleiss.value, &theirs["fleiss"]);
        near("ac1", ours.ac1.value, &theirs["gwet"]["identity"]);
        if case.target.kind == TargetKind::Ordinal {
            near("ordinal", ours.alpha_ordinal.value, &theirs["alpha"]["ordinal"]);
            near("interval", ours.alpha_interval.value, &theirs["alpha"]["interval"]);
            near("ac2 linear", ours.ac2_linear.value, &theirs["gwet"]["linear"]);
            near("ac2 quadratic", ours.ac2_quadratic.value, &theirs["gwet"]["quadratic"]);
        } else {
            assert_eq!((ours.alpha_ordinal.value, ours.ac2_linear.value), (None, None));
        }
        assert_eq!(ours.fleiss.interval, None);
        let all = agreement(&case.observations, case.texts, case.annotators, case.target).unwrap();
        let gap = all.all.nominal.unwrap() - ours.alpha_nominal.value.unwrap();
        assert!(gap.abs() < 1e-12);
        assert_eq!(all.texts, ours.pairable);
        if case.name == "complete" {
            near("fleiss of statsmodels", ours.fleiss.value, &theirs["fleiss_statsmodels"]);
        }
    }
}

#[test]
fn standard_errors_match_another_bootstrap() {
    let options = BootstrapOptions { resamples: 4000, ..Default::default() };
    for case in cases() {
        let ours = case.reliability(Some(&options));
        for (key, ours) in [
            ("alpha_nominal", ours.alpha_nominal),
            ("alpha_interval", ours.alpha_interval),
            ("ac1", ours.ac1),
            ("fleiss", ours.fleiss),
        ] {
            if case.target.kind != TargetKind::Ordinal && key == "alpha_interval" {
                continue;
            }
            if case.name == "rare" {
                // Five of forty texts have a label other than the most frequent level.
                assert_eq!((ours.interval, ours.over_texts), (None, None));
                continue;
            }
            let (ours, theirs) = (ours.over_texts.unwrap(), &case.theirs["intervals"][key]);
            let error = theirs[2].as_f64().unwrap();
            // The reference draws texts with replacement, this crate weights them: a slightly smaller spread,
            // compensated by Student's t.
            let ratio = ours.standard_error * ((case.texts + 1) as f64 / case.texts as f64).sqrt() / error;
            assert!((ratio - 1.0).abs() < 0.08, "{} {key}: {ratio}", case.name);
            let width = (ours.high - ours.low) / (theirs[1].as_f64().unwrap() - theirs[0].as_f64().unwrap());
            assert!((0.9..1.25).contains(&width), "{} {key}: {width}", case.name);
        }
        assert_eq!(ours, case.reliability(Some(&options)));
    }
}

#[test]
fn pairs_match_scikit_learn() {
    for case in cases() {
        let ours = cohen_pairs(&case.observations, case.texts, case.annotators, case.target, 8).unwrap();
        let theirs = case.theirs["cohen"].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len(), "{}", case.name);
        assert!(ours.len() > 4);
        for (ours, theirs) in ours.iter().zip(theirs) {
            let count = |at: usize| theirs[at].as_u64().unwrap();
            assert_eq!((u64::from(ours.first), u64::from(ours.second)), (count(0), count(1)));
            assert_eq!(ours.texts as u64, count(2));
            near("agreement", Some(ours.agreement), &theirs[3]);
            near("kappa", ours.kappa, &theirs[4]);
            if case.target.kind == TargetKind::Ordinal {
                near("quadratic", ours.quadratic, &theirs[5]);
            } else {
                assert_eq!(ours.quadratic, None);
            }
        }
    }
}

/// By the definitions, for two texts of three labels: p_a = (1 + 1/3) / 2, pi = (5/6, 1/6).
#[test]
fn kappa_matches_hand_computation() {
    let o = |text, annotator, level| Observation { text, annotator, level };
    let of = [o(0, 0, 0), o(0, 1, 0), o(0, 2, 0), o(1, 0, 0), o(1, 1, 0), o(1, 2, 1)];
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let ours = reliability(&of, 2, 3, target, None, &Silent).unwrap();
    let chance = 26.0 / 36.0;
    assert!((ours.fleiss.value.unwrap() - (2.0 / 3.0 - chance) / (1.0 - chance)).abs() < 1e-12);
    let chance = 10.0 / 36.0;
    assert!((ours.ac1.value.unwrap() - (2.0 / 3.0 - chance) / (1.0 - chance)).abs() < 1e-12);
    let pairs = cohen_pairs(&of, 2, 3, target, 1).unwrap();
    assert_eq!(pairs.len(), 3);
    assert_eq!((pairs[0].kappa, pairs[0].agreement), (None, 1.0)); // both gave level 0 alone
    assert_eq!((pairs[1].kappa, pairs[1].agreement), (Some(0.0), 0.5));
    assert!(cohen_pairs(&of, 2, 3, target, 3).unwrap().is_empty());
}

#[test]
fn edge_cases_are_finite_or_undefined() {
    let o = |text, annotator, level| Observation { text, annotator, level };
    let options = BootstrapOptions { resamples: 100, ..Default::default() };
    let target = Target { kind: TargetKind::Ordinal, levels: 3 };
    let run = |of: &[Observation], texts| {
        let ours = reliability(of, texts, 4, target, Some(&options), &Silent).unwrap();
        let shown = format!("{ours:?}");
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        ours
    };
    for nothing in [run(&[], 0), run(&[], 5)] {
        assert_eq!((nothing.ac1, nothing.fleiss, nothing.texts), Default::default());
    }
    let single = run(&[o(0, 0, 0), o(1, 1, 2), o(2, 2, 1)], 3);
    assert_eq!((single.ac1.value, single.fleiss.value, single.alpha_nominal.value), (None, None, None));
    assert_eq!((single.texts, single.pairable), (3, 0));
    let one_class = run(&[o(0, 0, 1), o(0, 1, 1), o(1, 0, 1), o(1, 1, 1)], 2);
    assert_eq!((one_class.fleiss, one_class.alpha_ordinal), (Estimate::default(), Estimate::default()));
    assert_eq!(one_class.ac1.value, Some(1.0)); // Gwet's chance is agreement on hard texts: there were none
    let one_text = run(&[o(2, 0, 1), o(2, 1, 2)], 4);
    assert!(one_text.ac1.value.is_some() && one_text.ac1.interval.is_none());
    let pairs = cohen_pairs(&[o(0, 0, 1)], 1, 4, target, 0).unwrap();
    assert!(pairs.is_empty());
    let wrong = reliability(&[o(0, 9, 1)], 1, 4, target, None, &Silent);
    assert!(matches!(wrong, Err(ModelError::UnknownAnnotator { annotator: 9, .. })));
    let refused = BootstrapOptions { confidence: 95.0, ..options };
    let wrong = reliability(&[], 1, 4, target, Some(&refused), &Silent);
    assert_eq!(wrong, Err(ModelError::Confidence(95.0)));
}
