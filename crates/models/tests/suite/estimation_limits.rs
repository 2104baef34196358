//! Labels that do not identify every parameter: figures stay finite, and the model reports what it cannot
//! estimate.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_models::mixed::EstimationLimit;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{AnnotatorModel, Embeddings, FitOptions, Observation, Target, TrainingData};
use dissensus_stats::disagreement::Measure;

/// A fit without embeddings, after checking that every figure is finite and in its range.
fn fitted(kind: TargetKind, levels: usize, labels: &[(u32, u32, u16)]) -> LiveModel {
    let mut observations: Vec<Observation> =
        labels.iter().map(|&(text, annotator, level)| Observation { text, annotator, level }).collect();
    observations.sort_by_key(|o| (o.text, o.annotator));
    let texts = labels.iter().map(|l| l.0 as usize + 1).max().unwrap_or(1) + 2;
    let annotators = labels.iter().map(|l| l.1 as usize + 1).max().unwrap_or(1);
    let embeddings = Embeddings::none(texts);
    let data = TrainingData {
        embeddings: &embeddings,
        observations: &observations,
        annotators,
        target: Target { kind, levels },
        attributes: &[],
    };
    let live = LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap();
    let found = live.estimation();
    assert!(found.text_sd.is_finite() && found.text_sd > 0.0 && found.text_sd < 20.0, "{found:?}");
    assert!(found.annotator_sd.is_none_or(|sd| sd.is_finite() && sd > 0.0 && sd < 20.0), "{found:?}");
    assert!(found.log_likelihood.is_finite() && found.change.is_finite(), "{found:?}");
    for text in (0..texts as u32).take(30).chain([texts as u32 - 1]) {
        let estimate = live.disagreement(text).pairwise;
        let (low, high) = live.interval(text, Measure::Pairwise, None, estimate, None).unwrap();
        assert!((0.0..=1.0).contains(&low) && low <= estimate && estimate <= high && high <= 1.0);
    }
    let mut p = vec![0.0; levels];
    for annotator in (0..annotators as u32).take(50) {
        live.predict(0, annotator, &mut p);
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-4 && p.iter().all(|p| *p > 0.0), "{p:?}");
        if let Some(severity) = live.severity(annotator) {
            assert!(severity.mean.is_finite() && severity.sd > 0.01, "{severity:?}");
        }
    }
    live
}

fn limits(live: &LiveModel) -> Vec<EstimationLimit> {
    live.estimation().limits
}

/// A pseudorandom level that is the same every time.
fn level(text: u32, annotator: u32, levels: u32) -> u16 {
    (((text * 7919 + annotator * 104_729 + text * annotator * 31) / 3) % levels) as u16
}

fn all_by_all(texts: u32, annotators: u32, of: impl Fn(u32, u32) -> u16) -> Vec<(u32, u32, u16)> {
    (0..texts).flat_map(|t| (0..annotators).map(move |a| (t, a))).map(|(t, a)| (t, a, of(t, a))).collect()
}

#[test]
fn sound_design_has_no_limits() {
    let live = fitted(TargetKind::Binary, 2, &all_by_all(30, 8, |t, a| level(t, a, 2)));
    assert_eq!(limits(&live), []);
    assert!(live.estimation().converged && live.estimation().rounds > 0);
}

#[test]
fn no_label_is_a_limit() {
    assert_eq!(limits(&fitted(TargetKind::Binary, 2, &[])), [EstimationLimit::NoLabels]);
}

#[test]
fn one_or_two_annotators_are_a_limit() {
    let one = fitted(TargetKind::Binary, 2, &all_by_all(40, 1, |t, a| level(t, a, 2)));
    assert_eq!(limits(&one), [EstimationLimit::OneAnnotator]);
    let two = fitted(TargetKind::Ordinal, 4, &all_by_all(40, 2, |t, a| level(t, a, 4)));
    assert_eq!(limits(&two), [EstimationLimit::FewAnnotators { annotators: 2 }]);
}

#[test]
fn one_label_a_text_is_a_limit() {
    let labels: Vec<(u32, u32, u16)> = (0..200).map(|t| (t, t % 10, level(t, t % 10, 2))).collect();
    assert_eq!(limits(&fitted(TargetKind::Binary, 2, &labels)), [EstimationLimit::OneLabelPerText]);
}

#[test]
fn one_level_is_a_limit() {
    for (kind, levels) in [(TargetKind::Binary, 2), (TargetKind::Ordinal, 5), (TargetKind::Nominal, 3)] {
        for same in 0..levels as u16 {
            let live = fitted(kind, levels, &all_by_all(30, 6, |_, _| same));
            assert!(limits(&live).contains(&EstimationLimit::OneLevel), "{kind} {same}: {:?}", limits(&live));
        }
    }
}

#[test]
fn unused_level_is_a_limit() {
    let live =
        fitted(TargetKind::Ordinal, 5, &all_by_all(40, 6, |t, a| [0, 1, 3, 4][level(t, a, 4) as usize]));
    assert!(limits(&live).contains(&EstimationLimit::UnusedLevels { levels: 1 }), "{:?}", limits(&live));
}

/// An annotator who answers at random and one who always gives the middle, among others with consistent
/// labels.
#[test]
fn random_and_middle_answers_are_limits() {
    let live = fitted(
        TargetKind::Ordinal,
        5,
        &all_by_all(60, 8, |t, a| match a {
            0 => level(t, a, 5),
            1 => 2,
            _ => (t % 5) as u16,
        }),
    );
    assert!(!limits(&live).iter().any(|l| matches!(l, EstimationLimit::OneLevel)), "{:?}", limits(&live));
}

#[test]
fn one_label_per_annotator() {
    let labels: Vec<(u32, u32, u16)> = (0..2_000).map(|a| (a / 20, a, level(a / 20, a, 2))).collect();
    let live = fitted(TargetKind::Binary, 2, &labels);
    assert_eq!(limits(&live), [EstimationLimit::OneLabelPerAnnotator]);
}

#[test]
fn disconnected_annotators_are_a_limit() {
    let labels: Vec<(u32, u32, u16)> = all_by_all(60, 4, |t, a| level(t, a, 2))
        .into_iter()
        .map(|(t, a, level)| (t, a + 4 * (t % 3), level))
        .collect();
    assert_eq!(limits(&fitted(TargetKind::Binary, 2, &labels)), [EstimationLimit::Islands { groups: 3 }]);
}

/// Later labels resolve limits: these depend on the current labels.
#[test]
fn limits_change_with_labels() {
    let mut live = fitted(TargetKind::Binary, 2, &all_by_all(40, 1, |t, a| level(t, a, 2)));
    let other = live.add_annotator();
    live.record(Observation { text: 0, annotator: other, level: 1 }).unwrap();
    assert_eq!(limits(&live), [EstimationLimit::FewAnnotators { annotators: 2 }]);
}
