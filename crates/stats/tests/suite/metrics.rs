//! The report, intervals and paired tests against scikit-learn, scipy and statsmodels
//! (tools/fixtures/metrics.py).

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_stats::data::Observation;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::metrics::{
    BootstrapOptions, Cluster, F1Rule, Report, ReportOptions, bootstrap, compare, wilcoxon,
};
use dissensus_stats::metrics::{Scored, Scores};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../fixtures/metrics.json")).unwrap()
}

fn scored(fixture: &Value, probabilities: &str) -> Scored {
    let rows: Vec<(u32, u32, u16)> = serde_json::from_value(fixture["rows"].clone()).unwrap();
    let p: Vec<Vec<f32>> = serde_json::from_value(fixture[probabilities].clone()).unwrap();
    let observations =
        rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect();
    Scored { observations, levels: p[0].len(), probabilities: p.concat(), tuned: None }
}

fn same(name: &str, ours: Option<f64>, theirs: &Value) {
    match (ours, theirs.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-6, "{name}: {a} against {b}"),
        (a, b) => assert_eq!(a, b, "{name}"),
    }
}

fn plain() -> ReportOptions {
    ReportOptions { bootstrap: None, ..Default::default() }
}

#[test]
fn scores_match_scikit_learn_and_scipy() {
    let reference = reference();
    let scores = Scores::new(&scored(&reference["ordinal"], "probabilities"), true);
    for (key, value) in scores.values() {
        assert!(value.is_some());
        same(key, value, &reference["scores"][key]);
    }
}

/// The rule is chosen on the first 18 texts with the shares of levels of all labels, and answers all of them.
#[test]
fn macro_f1_rule_is_the_best_of_a_grid() {
    let reference = reference();
    for name in ["ordinal", "choice"] {
        let all = scored(&reference[name], "probabilities");
        let first = all.observations.iter().filter(|o| o.text < 18).count();
        let chosen_on = Scored {
            observations: all.observations[..first].to_vec(),
            probabilities: all.probabilities[..first * all.levels].to_vec(),
            ..all.clone()
        };
        let rule = F1Rule::choose(&chosen_on, &all.observations);
        let theirs = &reference["tuned"][name];
        same("alpha", Some(rule.alpha), &theirs["alpha"]);
        assert!(rule.alpha > 0.0, "{name}: a choice that makes a difference");
        let all = all.tuned_by(&rule);
        assert_eq!(serde_json::to_value(&all.tuned).unwrap(), theirs["answers"], "{name}");
        same("macro F1", Scores::new(&all, name == "ordinal").macro_f1, &theirs["macro_f1"]);
    }
}

#[test]
fn nominal_soft_label_measures_match_the_reference() {
    let reference = reference();
    let scores = Scores::new(&scored(&reference["choice"], "probabilities"), false);
    let theirs = reference["choice_soft"].as_object().unwrap();
    assert_eq!(theirs.len(), 5);
    let values = scores.values();
    for (key, value) in theirs {
        let ours = values.iter().find(|(name, _)| name == key).unwrap().1;
        same(key, ours, value);
    }
}

#[test]
fn annotator_baseline_uses_only_training_labels() {
    let o = |text, annotator, level| Observation { text, annotator, level };
    let train = [o(0, 0, 0), o(1, 0, 0), o(2, 0, 1), o(0, 2, 1), o(1, 2, 1), o(2, 2, 1)];
    let test = vec![o(3, 0, 1), o(3, 1, 1), o(4, 0, 1), o(5, 0, 0)];
    let scored =
        Scored { probabilities: [0.3, 0.7].repeat(test.len()), observations: test, levels: 2, tuned: None };
    let report = Report::new(&scored, &train, false, &plain(), &Silent).unwrap();
    // The first annotator mostly gave level 0 in training and level 1 in the test; the second has no training
    // label.
    let baselines: Vec<f64> = report.annotators.iter().map(|a| a.baseline).collect();
    assert_eq!(baselines, [1.0 / 3.0, 1.0]);
}

#[test]
fn reports_match_scikit_learn() {
    let reference = reference();
    for (name, ordinal) in [("ordinal", true), ("choice", false)] {
        let report =
            Report::new(&scored(&reference[name], "probabilities"), &[], ordinal, &plain(), &Silent).unwrap();
        let theirs = &reference["report"][name];
        assert_eq!(serde_json::to_value(&report.confusion).unwrap(), theirs["confusion"]);
        assert_eq!(report.classes.len(), theirs["classes"].as_array().unwrap().len());
        for (class, theirs) in report.classes.iter().zip(theirs["classes"].as_array().unwrap()) {
            assert_eq!(Some(class.support as f64), theirs[3].as_f64());
            same("precision", class.precision, &theirs[0]);
            same("recall", class.recall, &theirs[1]);
            same("accuracy of class", report.class_accuracy.of[class.level], &theirs[1]);
            same("f1", class.f1, &theirs[2]);
        }
        let averages = [
            ("macro", report.averages.macro_),
            ("micro", report.averages.micro),
            ("weighted", report.averages.weighted),
        ];
        for (kind, average) in averages {
            let theirs = &theirs["averages"][kind];
            same(kind, average.precision, &theirs[0]);
            same(kind, average.recall, &theirs[1]);
            same(kind, average.f1, &theirs[2]);
        }
        same("macro f1", report.scores.macro_f1, &theirs["averages"]["macro"][2]);
        assert_eq!(report.calibration.len(), 10);
        let mut gap = 0.0;
        for (bin, theirs) in report.calibration.iter().zip(theirs["calibration"].as_array().unwrap()) {
            assert_eq!(Some(bin.labels as u64), theirs[0].as_u64());
            same("confidence", bin.confidence, &theirs[1]);
            same("accuracy", bin.accuracy, &theirs[2]);
            gap += bin.labels as f64 * (bin.accuracy.unwrap_or(0.0) - bin.confidence.unwrap_or(0.0)).abs();
        }
        assert!((gap / report.scores.n_labels as f64 - report.scores.ece.unwrap()).abs() < 1e-9);
        let people = &report.annotators;
        assert_eq!(people.iter().map(|p| p.labels).sum::<usize>(), report.scores.n_labels);
        let mean = people.iter().map(|p| p.macro_f1).sum::<f64>() / people.len() as f64;
        assert!((mean - report.scores.annotator_macro_f1.unwrap()).abs() < 1e-9);
        let loss: f64 = people.iter().map(|p| p.labels as f64 * p.log_loss).sum();
        assert!((loss / report.scores.n_labels as f64 - report.scores.log_loss.unwrap()).abs() < 1e-9);
    }
}

/// The reference bootstrap draws clusters with replacement, this one weights them: the same spread up to a
/// factor of `sqrt(n / (n + 1))`, as long as no level vanishes from a draw.
#[test]
fn standard_errors_match_another_bootstrap() {
    let reference = reference();
    let scored = scored(&reference["ordinal"], "probabilities");
    let options = BootstrapOptions { resamples: 4000, ..Default::default() };
    let mut compared = 0;
    for (over, name) in [(Cluster::Texts, "texts"), (Cluster::Annotators, "annotators")] {
        let intervals = bootstrap(&scored, true, over, &options, &Silent).unwrap();
        for key in ["accuracy", "log_loss", "macro_f1", "disagreement_spearman"] {
            let Some(ours) = intervals.of.get(key) else { continue };
            let theirs = &reference["intervals"][format!("{name} {key}")];
            let n = intervals.clusters as f64;
            let ratio = ours.standard_error * ((n + 1.0) / n).sqrt() / theirs[2].as_f64().unwrap();
            assert!((ratio - 1.0).abs() < 0.09, "{name} {key}: {ratio}");
            let width = (ours.high - ours.low) / (theirs[1].as_f64().unwrap() - theirs[0].as_f64().unwrap());
            // Student's t: a little wider than percentiles with 36 texts, much wider with 7 annotators.
            let expected = if over == Cluster::Texts { 0.9..1.25 } else { 1.1..1.7 };
            assert!(expected.contains(&width), "{name} {key}: {width}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7, "all but what is about texts over annotators");
}

#[test]
fn paired_tests_match_statsmodels_and_scipy() {
    let reference = reference();
    let (data, theirs) = (&reference["ordinal"], &reference["compare"]);
    let options = BootstrapOptions { resamples: 4000, ..Default::default() };
    let ours = compare(&scored(data, "probabilities"), &scored(data, "second"), &options, &Silent).unwrap();
    assert_eq!(Some(ours.mcnemar.only_first as u64), theirs["only_first"].as_u64());
    assert_eq!(Some(ours.mcnemar.only_second as u64), theirs["only_second"].as_u64());
    same("exact", Some(ours.mcnemar.exact_p), &theirs["exact_p"]);
    same("chi2", ours.mcnemar.chi2, &theirs["chi2"]);
    same("chi2 p", ours.mcnemar.chi2_p, &theirs["chi2_p"]);
    let annotators = ours.annotators.unwrap();
    assert_eq!(Some(annotators.pairs as u64), theirs["wilcoxon_pairs"].as_u64());
    same("wilcoxon", Some(annotators.p), &theirs["wilcoxon_p"]);
    let over_texts = ours.over_texts.unwrap();
    for (name, ours) in [("log_loss", over_texts.log_loss), ("accuracy", over_texts.accuracy)] {
        same(name, Some(ours.difference), &theirs[name]["difference"]);
        assert!((ours.p.unwrap() - theirs[name]["p"].as_f64().unwrap()).abs() < 0.006, "{name} {ours:?}");
        let ratio = ours.interval.unwrap().standard_error / theirs[name]["se"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.06, "{name} {ratio}");
    }
}

#[test]
fn signed_ranks_match_scipy() {
    let reference = reference();
    let cases = reference["wilcoxon"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let differences: Vec<f64> = serde_json::from_value(case["differences"].clone()).unwrap();
        let test = wilcoxon(&differences).unwrap();
        assert_eq!(Some(test.exact), case["exact"].as_bool());
        same("p", Some(test.p), &case["p"]);
        same("statistic", Some(test.positive.min(test.negative)), &case["smaller"]);
    }
}

/// Reports of edge cases survive a round trip through JSON: no NaN, no infinity, nothing lost.
#[test]
fn reports_of_edge_cases_round_trip_as_json() {
    let o = |text, annotator, level| Observation { text, annotator, level };
    let cases: [(&str, Vec<Observation>, Vec<f32>); 6] = [
        ("nothing", vec![], vec![]),
        ("one label", vec![o(3, 5, 1)], vec![0.2, 0.5, 0.3]),
        ("one class", vec![o(0, 0, 2), o(0, 1, 2), o(1, 0, 2)], [0.1, 0.1, 0.8].repeat(3)),
        ("never right", vec![o(0, 0, 0), o(1, 0, 1)], vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        (
            "certain and wrong",
            vec![o(0, 0, 0), o(0, 1, 1), o(1, 0, 2), o(1, 1, 2)],
            [1.0, 0.0, 0.0].repeat(4),
        ),
        ("a tie", vec![o(0, 0, 0), o(1, 1, 1), o(2, 0, 0)], [1.0f32 / 3.0; 9].to_vec()),
    ];
    for (name, observations, probabilities) in cases {
        for ordinal in [false, true] {
            let scored = Scored {
                observations: observations.clone(),
                probabilities: probabilities.clone(),
                levels: 3,
                tuned: None,
            };
            let options = ReportOptions {
                bins: 7,
                bootstrap: Some(BootstrapOptions { resamples: 60, ..Default::default() }),
            };
            let report = Report::new(&scored, &observations, ordinal, &options, &Silent).unwrap();
            round_trips(name, &report);
            assert_eq!(report.scores.accuracy.is_none(), observations.is_empty());
            assert_eq!(report.classes.iter().map(|c| c.support).sum::<usize>(), observations.len());
            let test = compare(&scored, &scored, &BootstrapOptions::default(), &Silent).unwrap();
            round_trips(name, &test);
        }
    }
}

/// JSON has no NaN, and serde_json would write null for one.
fn round_trips<T: std::fmt::Debug + serde::Serialize + serde::de::DeserializeOwned>(name: &str, what: &T) {
    let shown = format!("{what:?}");
    assert!(!shown.contains("NaN") && !shown.contains("inf"), "{name}: {shown}");
    let back: T = serde_json::from_str(&serde_json::to_string(what).unwrap()).unwrap();
    alike(name, &serde_json::to_value(what).unwrap(), &serde_json::to_value(back).unwrap());
}

/// Equal up to the last digit, which reading JSON may lose.
fn alike(name: &str, a: &Value, b: &Value) {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-12, "{name}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{name}");
            a.iter().zip(b).for_each(|(a, b)| alike(name, a, b));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{name}");
            a.values().zip(b.values()).for_each(|(a, b)| alike(name, a, b));
        }
        _ => assert_eq!(a, b, "{name}"),
    }
}

#[test]
fn intervals_are_seeded_on_any_number_of_cores() {
    let reference = reference();
    let scored = scored(&reference["ordinal"], "probabilities");
    let run = |seed, threads| {
        let options = BootstrapOptions { resamples: 130, seed, ..Default::default() };
        let pool = rayon_pool(threads);
        pool.install(|| bootstrap(&scored, true, Cluster::Annotators, &options, &Silent).unwrap())
    };
    assert_eq!(run(1, 1), run(1, 3));
    assert_ne!(run(1, 1).of, run(2, 1).of);
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
