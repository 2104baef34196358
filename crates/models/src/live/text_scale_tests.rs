//! A live model whose texts have scales of their own.

use super::explain::ExplainedText;
use super::model::LiveModel;
use crate::batch::{Multilevel, TextScorer};
use crate::linear::pca::PcaEmbeddings;
use crate::mixed::text_scale_simulation::{fitted, fitted_scales};
use dissensus_domain::TargetKind;
use dissensus_stats::data::{AnnotatorModel as _, Observation, Target, TextFeatures};

fn live() -> LiveModel {
    let mut crossed = fitted(0.5, 3);
    assert!(crossed.select_text_scales());
    let target = Target { kind: TargetKind::Ordinal, levels: 5 };
    let head = TextScorer::constant(crossed.link);
    LiveModel::from_model(Multilevel::from_parts(head, crossed), target, Vec::new(), 0)
}

#[test]
fn text_scale_model_is_explained_and_stored() {
    let model = live();
    let spread = model.scale_spread().unwrap();
    assert!(spread.interval.0 <= spread.sd && spread.sd <= spread.interval.1 && spread.interval.0 > 0.1);
    let again = LiveModel::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.scale_spread(), Some(spread));
    let (mut p, mut other) = (vec![0.0; 5], vec![0.0; 5]);
    for text in 0..40 {
        for annotator in [0, 7, 60] {
            model.predict(text, annotator, &mut p);
            again.predict(text, annotator, &mut other);
            assert_eq!(p, other);
            let found = model.explain(ExplainedText::Row(text), annotator).unwrap();
            for (exact, p) in found.probabilities.iter().zip(&p) {
                assert!((exact - f64::from(*p)).abs() < 2e-5, "{exact} {p}");
            }
        }
    }
}

/// Sums over people are updated to those of a new model with the same state.
#[test]
fn running_sums_follow_label_and_retraction() {
    let mut model = live();
    let before: Vec<f32> = model.measure(dissensus_stats::disagreement::Measure::Split, None);
    let annotator = (0..60).find(|a| model.label(5, *a).is_none()).unwrap();
    model.record(Observation { text: 5, annotator, level: 4 }).unwrap();
    let anew = LiveModel::from_bytes(&model.to_bytes().unwrap()).unwrap();
    for (live, anew) in model
        .measure(dissensus_stats::disagreement::Measure::Split, None)
        .iter()
        .zip(anew.measure(dissensus_stats::disagreement::Measure::Split, None))
    {
        assert!((live - anew).abs() < 1e-4, "{live} {anew}");
    }
    model.retract(5, annotator).unwrap();
    let after = model.measure(dissensus_stats::disagreement::Measure::Split, None);
    assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-3));
}

/// People are predicted further apart where their labels are, at the same mean.
#[test]
fn wider_text_has_wider_predictions() {
    let model = live();
    let crossed = &model.model.crossed;
    let plain = {
        let mut crossed = crossed.clone();
        crossed.scales = None;
        let head = TextScorer::constant(crossed.link);
        LiveModel::from_model(Multilevel::from_parts(head, crossed), model.target, Vec::new(), 0)
    };
    let scales = crossed.scales.as_ref().unwrap();
    let (with, without) = (
        model.measure(dissensus_stats::disagreement::Measure::Split, None),
        plain.measure(dissensus_stats::disagreement::Measure::Split, None),
    );
    let wider = |text: &usize| scales.of(*text).0 > 0.15;
    let narrower = |text: &usize| scales.of(*text).0 < -0.15;
    let change = |texts: Vec<usize>| -> f32 {
        assert!(texts.len() > 10);
        texts.iter().map(|t| with[*t] - without[*t]).sum::<f32>() / texts.len() as f32
    };
    assert!(change((0..300).filter(wider).collect()) > 0.01);
    assert!(change((0..300).filter(narrower).collect()) < -0.01);
}

/// If scales are predicted from embeddings, a text that is added later has the scale predicted from its
/// embedding.
#[test]
fn added_text_gets_its_predicted_scale() {
    let (mut crossed, embeddings) = fitted_scales(0.5, 1);
    let x = PcaEmbeddings::new(&embeddings);
    let fold: Vec<u8> = (0..crossed.texts()).map(|text| (text % 5) as u8).collect();
    let scale = crossed.select_predicted_scales(&x, &fold, 5);
    assert!(scale.is_some());
    let target = Target { kind: TargetKind::Ordinal, levels: 5 };
    let head = TextScorer::of_scale(crossed.link, 8, scale);
    let mut model = LiveModel::from_model(Multilevel::from_parts(head, crossed), target, Vec::new(), 0);
    let (mut p, mut other) = (vec![0.0; 5], vec![0.0; 5]);
    let mut spreads = Vec::new();
    for first in [-2.0, 0.0, 2.0] {
        let mut row = [0.0; 8];
        row[0] = first;
        let features = TextFeatures::from(&row[..]);
        let text = model.add_text(features).unwrap();
        model.predict(text, 3, &mut p);
        model.predict_new_text(features, 3, &mut other).unwrap();
        assert!(p.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6), "{p:?} {other:?}");
        for asked in [ExplainedText::Row(text), ExplainedText::New(features)] {
            let found = model.explain(asked, 3).unwrap();
            assert!(found.probabilities.iter().zip(&p).all(|(a, b)| (a - f64::from(*b)).abs() < 2e-5));
        }
        spreads.push(p[0] + p[4]);
    }
    assert!(spreads[0] < spreads[1] && spreads[1] < spreads[2], "{spreads:?}");
}
