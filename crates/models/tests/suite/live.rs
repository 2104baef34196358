//! The live model: every label gives the same state as a fresh computation.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_domain::TargetKind;
use dissensus_models::batch::PreparedTexts;
use dissensus_models::live::{LabelChange, LiveModel};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::synthetic::{Simulation, simulate};
use dissensus_stats::data::{AnnotatorModel, FitOptions, ModelError, Observation, Target, TrainingData};
use dissensus_stats::disagreement::disagreement;
use dissensus_stats::disagreement::{
    Disagreement, Measure, disagreement_of_texts, maximum, usual_split, van_der_eijk,
};

fn data(sim: &Simulation) -> TrainingData<'_> {
    TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    }
}

fn live(sim: &Simulation) -> LiveModel {
    LiveModel::fit(&data(sim), &FitOptions::default(), &Silent).unwrap()
}

fn assert_alike(a: &[Disagreement], b: &[Disagreement], tolerance: f32) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a.pairwise - b.pairwise).abs() < tolerance, "{i}: {a:?} {b:?}");
        assert!((a.divergence - b.divergence).abs() < tolerance, "{i}: {a:?} {b:?}");
        assert!((a.uncertainty - b.uncertainty).abs() < tolerance, "{i}: {a:?} {b:?}");
        assert!((a.split - b.split).abs() < tolerance, "{i}: {a:?} {b:?}");
        let of_order = |d: &Disagreement| [d.level_variance, d.far_apart, d.mean_level];
        for (a, b) in of_order(a).into_iter().zip(of_order(b)) {
            assert_eq!(a.is_some(), b.is_some(), "{i}");
            assert!(a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 5.0 * tolerance), "{i}: {a:?} {b:?}");
        }
    }
}

#[test]
fn running_measures_equal_fresh_ones() {
    for levels in [2, 5] {
        let sim = simulate(700, 9, levels, 6, 60, 4);
        let mut live = live(&sim);
        for i in 0..200u32 {
            let o = Observation { text: i * 37 % 700, annotator: i % 9, level: (i % levels as u32) as u16 };
            live.record(o).unwrap();
            if i % 5 == 0 {
                live.retract(o.text, o.annotator).unwrap();
            }
        }
        let fresh = disagreement(&live, None, levels == 5);
        assert_alike(&live.disagreements(), &fresh, 1e-5);
        let all = vec![true; 9];
        assert_alike(&live.disagreements_of(&all), &fresh, 1e-6);
    }
}

/// Fits that share the preparation of texts are identical to separate fits.
#[test]
fn shared_preparation_changes_nothing() {
    let options = FitOptions::default();
    let sim = simulate(150, 6, 2, 8, 60, 3);
    let texts = PreparedTexts::new(&sim.embeddings, &options);
    assert_eq!(texts.texts(), 150);
    let shared = LiveModel::fit_on(&texts, &data(&sim), &options, &Silent).unwrap();
    assert_eq!(shared.disagreements(), live(&sim).disagreements());
    let others = simulate(150, 6, 2, 5, 60, 3);
    assert!(LiveModel::fit_on(&texts, &data(&others), &options, &Silent).is_err(), "other embeddings");
}

#[test]
fn live_model_supports_choice_questions() {
    let mut sim = simulate(120, 5, 4, 4, 50, 1);
    sim.target = Target { kind: TargetKind::Nominal, levels: 4 };
    let mut live = live(&sim);
    assert_eq!(live.severity(0), None);
    live.record(Observation { text: 3, annotator: 2, level: 1 }).unwrap();
    assert_alike(&live.disagreements(), &disagreement(&live, None, false), 1e-5);
    assert!(live.bald(2).iter().all(|b| b.is_finite() && *b >= 0.0));
}

#[test]
fn label_affects_only_its_annotator_and_text() {
    let sim = simulate(300, 6, 5, 4, 30, 2);
    let mut live = live(&sim);
    let text = (0..300).find(|&t| live.label(t, 1).is_none()).unwrap();
    let (other_column, severity) = (live.column(0), live.severity(1).unwrap());
    assert_eq!(live.record(Observation { text, annotator: 1, level: 4 }), Ok(None));
    assert!(live.severity(1).unwrap().mean > severity.mean, "the highest level makes a person more severe");
    let after = live.column(0);
    let moved: Vec<usize> =
        (0..300).filter(|t| after[t * 5..t * 5 + 5] != other_column[t * 5..t * 5 + 5]).collect();
    assert_eq!(moved, [text as usize]);
    assert_eq!(live.label(text, 1), Some(4));
}

#[test]
fn retracting_a_label_restores_the_annotator() {
    let sim = simulate(200, 5, 2, 4, 40, 3);
    let mut live = live(&sim);
    let text = (0..200).find(|&t| live.label(t, 2).is_none()).unwrap();
    // One label first, so that the annotator is at the live optimum and not at the last round of the fit.
    live.record(Observation { text, annotator: 2, level: 1 }).unwrap();
    live.retract(text, 2).unwrap();
    let before = live.severity(2).unwrap();
    live.record(Observation { text, annotator: 2, level: 1 }).unwrap();
    assert_eq!(live.record(Observation { text, annotator: 2, level: 0 }), Ok(Some(1)));
    assert_eq!(live.retract(text, 2), Ok(0));
    assert!((live.severity(2).unwrap().mean - before.mean).abs() < 1e-3);
    assert_eq!(live.retract(text, 2), Err(ModelError::NoSuchLabel { text, annotator: 2 }));
}

#[test]
fn texts_and_annotators_can_be_added() {
    let sim = simulate(150, 4, 5, 4, 40, 5);
    let mut live = live(&sim);
    let text = live.add_text(sim.embeddings.features(7)).unwrap();
    let annotator = live.add_annotator();
    assert_eq!((text, annotator), (150, 4));
    for t in 0..20 {
        live.record(Observation { text: t, annotator, level: 0 }).unwrap();
    }
    live.record(Observation { text, annotator, level: 0 }).unwrap();
    assert!(live.severity(annotator).unwrap().mean < -0.5);
    assert_alike(&live.disagreements(), &disagreement(&live, None, true), 1e-5);
    assert!(matches!(
        live.add_text([1.0].as_slice().into()),
        Err(ModelError::EmbeddingLength { expected: 4, found: 1 })
    ));
    assert!(matches!(live.add_text([f32::NAN; 4].as_slice().into()), Err(ModelError::NotFinite { .. })));
    assert_eq!(live.texts(), 151);
}

#[test]
fn invalid_labels_change_nothing() {
    let sim = simulate(50, 3, 2, 2, 20, 6);
    let mut live = live(&sim);
    let before = live.disagreements();
    assert!(live.record(Observation { text: 50, annotator: 0, level: 0 }).is_err());
    assert!(live.record(Observation { text: 0, annotator: 3, level: 0 }).is_err());
    assert!(live.record(Observation { text: 0, annotator: 0, level: 2 }).is_err());
    assert_eq!(live.disagreements(), before);
    assert_eq!(live.revision(), 0);
}

#[test]
fn model_round_trips_as_bytes() {
    let sim = simulate(80, 4, 5, 3, 30, 7);
    let mut live = live(&sim);
    live.record(Observation { text: 3, annotator: 1, level: 2 }).unwrap();
    let bytes = live.to_bytes().unwrap();
    let mut back = LiveModel::from_bytes(&bytes).unwrap();
    assert_eq!(back.column(1), live.column(1));
    assert_eq!((back.observations(), back.revision()), (live.observations(), 1));
    let o = Observation { text: 9, annotator: 2, level: 4 };
    live.record(o).unwrap();
    back.record(o).unwrap();
    assert_eq!(back.row(9), live.row(9));
    assert!(matches!(LiveModel::from_bytes(&bytes[..bytes.len() / 2]), Err(ModelError::Damaged(_))));
    assert!(matches!(LiveModel::from_bytes(b"no model"), Err(ModelError::Damaged(_))));
    let mut newer = bytes.clone();
    newer[4] = 0xff;
    assert!(matches!(LiveModel::from_bytes(&newer), Err(ModelError::Format { .. })));
}

/// Head and people without their training data, for two, five and unordered levels.
#[test]
fn portable_model_predicts_the_same_without_labels() {
    for (levels, kind) in [(2, TargetKind::Binary), (5, TargetKind::Ordinal), (3, TargetKind::Nominal)] {
        let mut sim = simulate(300, 30, levels, 6, 40, 4);
        sim.target = Target { kind, levels };
        let mut live = live(&sim);
        let stranger = live.add_annotator();
        let bytes = live.to_bytes_for_new_texts().unwrap();
        let mut alone = LiveModel::from_bytes(&bytes).unwrap();
        assert_eq!((alone.texts(), alone.labels(), alone.annotators()), (0, 0, live.annotators()));
        let some: Vec<bool> = (0..live.annotators()).map(|a| a % 3 == 0).collect();
        for new in simulate(12, 2, levels, 6, 2, 9).embeddings.rows.chunks_exact(sim.embeddings.dim) {
            let (here, there) = (live.add_text(new.into()).unwrap(), alone.add_text(new.into()).unwrap());
            assert_eq!(alone.row(there), live.row(here));
            assert_eq!(alone.disagreement(there), live.disagreement(here));
            let of = |model: &LiveModel, text: u32| {
                let at = text as usize;
                disagreement_of_texts(model, at..at + 1, Some(&some), model.is_ordinal()).swap_remove(0)
            };
            assert_eq!(of(&alone, there), of(&live, here));
            let mut mine = vec![0.0; levels];
            let mut average = mine.clone();
            alone.predict(there, stranger, &mut mine);
            alone.predict(there, u32::MAX, &mut average);
            assert_eq!(mine, average);
        }
        // Labels that change no effect do not change the bytes: no labels are stored.
        let before = live.to_bytes().unwrap().len();
        assert!(bytes.len() + live.labels() < before, "{} {before}", bytes.len());
        assert!(alone.observations().is_empty());
    }
}

#[test]
fn refit_applies_changes_made_meanwhile() {
    let sim = simulate(120, 4, 2, 4, 40, 8);
    let mut live = live(&sim);
    let snapshot = live.snapshot();
    let text = (0..120).find(|&t| live.label(t, 0).is_none()).unwrap();
    live.record(Observation { text, annotator: 0, level: 1 }).unwrap();
    let other = live.observations()[0];
    live.retract(other.text, other.annotator).unwrap();
    let mut new = snapshot.refit(&sim.embeddings, &FitOptions::default(), &Silent).unwrap();
    assert_eq!(new.label(text, 0), None);
    new.apply_changes(live.changes_since(snapshot.revision())).unwrap();
    assert_eq!(new.observations(), live.observations());
    assert_eq!(new.revision(), live.revision());
}

#[test]
fn batched_changes_equal_single_ones() {
    // Few people, whose columns are replaced, and so many that all sums are recomputed.
    for (people, chosen) in [(40, 3), (12, 12)] {
        let sim = simulate(700, people, 5, 4, 30, 11);
        let (mut together, mut alone) = (live(&sim), live(&sim));
        let mut changes: Vec<LabelChange> = (0..60)
            .map(|i| LabelChange { text: i * 37 % 700, annotator: i % chosen, level: Some((i % 5) as u16) })
            .collect();
        let taken_back = LabelChange { level: None, ..changes[7] };
        let never_given = LabelChange { text: 699, annotator: 0, level: None };
        changes.extend([taken_back, taken_back, never_given]);
        changes.push(LabelChange { text: 5, annotator: people as u32, level: Some(1) });
        together.apply_changes(&changes).unwrap();
        for change in &changes {
            alone.apply_changes(&[*change]).unwrap();
        }
        assert_eq!(together.observations(), alone.observations());
        assert_eq!((together.revision(), together.annotators()), (alone.revision(), people + 1));
        assert_alike(&together.disagreements(), &alone.disagreements(), 1e-5);
        assert_alike(&together.disagreements(), &disagreement(&together, None, true), 1e-5);
    }
}

#[test]
fn changes_before_an_invalid_one_are_applied() {
    let sim = simulate(120, 4, 2, 4, 40, 8);
    let mut live = live(&sim);
    let text = (0..120).find(|&t| live.label(t, 0).is_none()).unwrap();
    let good = LabelChange { text, annotator: 0, level: Some(1) };
    assert!(live.apply_changes(&[good, LabelChange { text: 500, ..good }]).is_err());
    assert_eq!(live.label(text, 0), Some(1));
    assert_alike(&live.disagreements(), &disagreement(&live, None, false), 1e-5);
}

#[test]
fn intervals_contain_every_measure() {
    let sim = simulate(100, 6, 5, 4, 30, 9);
    let live = live(&sim);
    let usual = usual_split(&live.disagreements(), 5).unwrap();
    let measures = [
        (Measure::Split, 0.0, 1.0),
        (Measure::FarApart, 0.0, maximum::far_apart(6, 5)),
        (Measure::OppositeSides { cut: 3 }, 0.0, maximum::differ(6, 2)),
        (Measure::Surprising, -1.0, 1.0),
        (Measure::Pairwise, 0.0, maximum::differ(6, 5)),
    ];
    for (by, least, most) in measures {
        let values = live.measure(by, None);
        for (text, value) in (0..100).zip(&values) {
            let (low, high) = live.interval(text, by, None, *value, Some(&usual)).unwrap();
            assert_eq!(live.interval(text, by, Some(&[true; 6]), *value, Some(&usual)), Some((low, high)));
            assert!(low <= *value && *value <= high, "{by:?} of {text}: {low} {value} {high}");
            assert!(least - 1e-6 <= f64::from(low) && f64::from(high) <= 1.0 + 1e-6, "{by:?} of {text}");
            assert!(f64::from(*value) <= most + 1e-6, "{by:?} of {text}");
        }
        for (all, some) in values.iter().zip(live.measure(by, Some(&[true; 6]))) {
            assert!((all - some).abs() < 2e-5, "{by:?}: {all} {some}");
        }
        let ranking = live.ranking(by);
        assert!(ranking.windows(2).all(|w| values[w[0] as usize] >= values[w[1] as usize]), "{by:?}");
    }
    for none in [Measure::Between, Measure::Divergence, Measure::Uncertainty] {
        assert_eq!(live.interval(0, none, None, 0.1, None), None);
    }
    let between = live.measure(Measure::Between, None);
    assert!(between.iter().all(|share| (0.0..=1.0).contains(share)));
    assert!((between[7] - live.between(7, None)).abs() < 1e-6);
}

/// With the labels of all people there is nothing to predict: the measures are those of the labels, and
/// certain.
#[test]
fn fully_labelled_text_has_the_measures_of_its_labels() {
    let sim = simulate(60, 8, 5, 4, 25, 3);
    let mut live = live(&sim);
    for (text, levels) in [(0, [0, 0, 0, 0, 4, 4, 4, 4]), (1, [0, 1, 2, 2, 2, 2, 3, 4])] {
        for (annotator, level) in (0..8).zip(levels) {
            live.record(Observation { text, annotator, level }).unwrap();
        }
    }
    let (camps, broad) = (live.disagreement(0), live.disagreement(1));
    assert!((camps.split - 1.0).abs() < 1e-5 && (camps.far_apart.unwrap() - 32.0 / 56.0).abs() < 1e-5);
    let levels = [0.0f64, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 4.0];
    let pairs = || (0..8).flat_map(|i| (0..i).map(move |j| (i, j)));
    let squares: f64 = pairs().map(|(i, j)| (levels[i] - levels[j]).powi(2)).sum();
    let expected = squares / 28.0 / maximum::squared_distance(8, 5);
    assert!((f64::from(broad.split) - expected).abs() < 1e-5);
    assert!((broad.mean_level.unwrap() - 2.0).abs() < 1e-5);
    let (low, high) = live.interval(0, Measure::Split, None, camps.split, None).unwrap();
    assert!(high - low < 1e-5);
    let opposite = live.measure(Measure::OppositeSides { cut: 2 }, None)[0];
    assert!((f64::from(opposite) - maximum::differ(8, 2)).abs() < 1e-5);
    let shares = live.panel_distribution(1, None);
    for (found, expected) in shares.iter().zip([0.125, 0.125, 0.5, 0.125, 0.125]) {
        assert!((found - expected).abs() < 1e-5);
    }
    assert_eq!((live.labels_on(1, None), live.labels_on(1, Some(&[true, false, true]))), (8, 2));
}

/// Two texts with similar means: the one with labels at both ends is more split, although a model with one
/// value per text predicts the same for both.
#[test]
fn polarised_labels_outrank_middle_labels() {
    let mut sim = simulate(80, 40, 5, 4, 20, 5);
    sim.observations.retain(|o| o.text > 1);
    for (text, levels) in [(0, [0, 0, 0, 0, 0, 3, 4, 4, 4]), (1, [0, 1, 2, 2, 2, 2, 2, 2, 4])] {
        let of = |(annotator, level)| Observation { text, annotator, level };
        sim.observations.extend((0..9).zip(levels).map(of));
    }
    let live = live(&sim);
    let (camps, middle) = (live.disagreement(0), live.disagreement(1));
    assert!(camps.split > middle.split + 0.02, "{camps:?} {middle:?}");
    let surprise = live.measure(Measure::Surprising, None);
    assert!(surprise[0] > surprise[1] + 0.02);
    let both = |text| van_der_eijk(&live.panel_distribution(text, None)).unwrap();
    assert!(both(0) < both(1), "and nearer to two camps");
}

#[test]
fn labelled_texts_are_more_certain() {
    let sim = simulate(100, 6, 5, 4, 30, 9);
    let live = live(&sim);
    // The score of a text with many labels is more certain than that of an unlabelled one.
    let width = |t: u32| {
        let (low, high) =
            live.interval(t, Measure::Pairwise, None, live.disagreement(t).pairwise, None).unwrap();
        high - low
    };
    let mean_width = |many: bool| -> f32 {
        let counts = |t: u32| (0..6).filter(|&a| live.label(t, a).is_some()).count();
        let texts: Vec<u32> =
            (0..100).filter(|&t| if many { counts(t) >= 3 } else { counts(t) == 0 }).collect();
        texts.iter().map(|&t| width(t)).sum::<f32>() / texts.len() as f32
    };
    assert!(mean_width(true) < mean_width(false));
}

#[test]
fn information_is_zero_for_known_labels() {
    let sim = simulate(100, 6, 2, 4, 30, 10);
    let live = live(&sim);
    let bald = live.bald(0);
    assert!(bald.iter().all(|b| (0.0..=1.0).contains(b)));
    assert!((0..100u32).all(|t| live.label(t, 0).is_none() || bald[t as usize] == 0.0));
    let known: f32 = bald.iter().copied().fold(0.0, f32::max);
    let unknown: f32 = live.bald(99).iter().copied().fold(0.0, f32::max);
    assert!(unknown > known, "an unknown annotator is more informative than one with thirty labels");
}
