//! Properties of every annotator model.

use super::fit;
use dissensus_domain::TargetKind;
use dissensus_models::live::LiveModel;
use dissensus_stats::data::progress::{Progress, Silent};
use dissensus_stats::data::synthetic::{Simulation, simulate};
use dissensus_stats::data::{AnnotatorModel, ModelKind, TextFeatures};
use dissensus_stats::data::{
    Attribute, Embeddings, FitOptions, ModelError, Observation, Target, TrainingData,
};
use std::sync::LazyLock;

fn data(sim: &Simulation) -> TrainingData<'_> {
    TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    }
}

fn simulations() -> Vec<Simulation> {
    let mut choice = simulate(60, 5, 4, 6, 30, 3);
    choice.target.kind = TargetKind::Nominal;
    vec![simulate(60, 5, 2, 6, 30, 1), simulate(60, 5, 5, 6, 30, 2), choice, simulate(60, 5, 5, 0, 30, 4)]
}

/// A simulation, and every kind of model fitted to it.
type Fitted = (Simulation, Vec<Box<dyn AnnotatorModel>>);

/// Every kind of model fitted to each simulation, once for all tests.
static FITTED: LazyLock<Vec<Fitted>> = LazyLock::new(|| {
    let fit_all = |sim: Simulation| {
        let models = ModelKind::ALL.into_iter().map(|kind| fitted(kind, &data(&sim))).collect();
        (sim, models)
    };
    simulations().into_iter().map(fit_all).collect()
});

fn fitted(kind: ModelKind, data: &TrainingData<'_>) -> Box<dyn AnnotatorModel> {
    fit(kind, data, &FitOptions::default(), &Silent).unwrap()
}

fn p(model: &dyn AnnotatorModel, text: u32, annotator: u32) -> Vec<f32> {
    let mut out = vec![0.0; model.levels()];
    model.predict(text, annotator, &mut out);
    out
}

fn assert_distribution(p: &[f32], what: &str) {
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{what}: {p:?}");
    assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{what}: {p:?}");
}

#[test]
fn probabilities_sum_to_one_everywhere() {
    for (sim, models) in &*FITTED {
        for (model, kind) in models.iter().zip(ModelKind::ALL) {
            assert_eq!((model.texts(), model.annotators(), model.name()), (60, 5, kind.name()));
            let mut out = vec![0.0; model.levels()];
            for annotator in [0, 4, 77] {
                for text in [0, 59] {
                    assert_distribution(&p(model.as_ref(), text, annotator), kind.name());
                }
                model.predict_new_text(sim.embeddings.features(3), annotator, &mut out).unwrap();
                assert_distribution(&out, kind.name());
            }
        }
    }
}

#[test]
fn column_matches_single_predictions() {
    for (_, models) in &*FITTED {
        for model in models {
            let mut column = vec![0.0; 20 * model.levels()];
            model.predict_column(2, 30..50, &mut column);
            for (i, text) in (30..50).enumerate() {
                for (c, p) in p(model.as_ref(), text, 2).into_iter().enumerate() {
                    assert!((column[c * 20 + i] - p).abs() < 1e-6);
                }
            }
        }
    }
}

#[test]
fn unlabelled_text_is_predicted_from_its_embedding() {
    let sim = simulate(200, 5, 5, 4, 20, 11);
    let labelled = |t: u32| sim.observations.iter().any(|o| o.text == t);
    let unlabelled: Vec<u32> = (0..200).filter(|&t| !labelled(t)).collect();
    assert!(unlabelled.len() > 50);
    for kind in ModelKind::ALL {
        let model = fitted(kind, &data(&sim));
        let mut out = vec![0.0; 5];
        for &text in &unlabelled {
            model.predict_new_text(sim.embeddings.features(text as usize), 3, &mut out).unwrap();
            for (a, b) in p(model.as_ref(), text, 3).iter().zip(&out) {
                assert!((a - b).abs() < 1e-4, "{kind} {text}: {a} {b}");
            }
        }
    }
}

#[test]
fn similar_texts_share_effects() {
    // Offence is at both ends of one axis: no linear head can fit that, a Gaussian process can.
    let mut sim = simulate(400, 8, 2, 2, 150, 12);
    for o in &mut sim.observations {
        let x = sim.embeddings.row(o.text as usize)[0];
        o.level = u16::from(x.abs() > 0.5);
    }
    let (train, test): (Vec<Observation>, Vec<Observation>) =
        sim.observations.iter().partition(|o| o.text % 4 > 0);
    let loss = |kind| {
        let model = fitted(kind, &TrainingData { observations: &train, ..data(&sim) });
        dissensus_stats::metrics::log_loss(&dissensus_stats::metrics::score(model.as_ref(), &test))
    };
    assert!(loss(ModelKind::Multilevel) < 0.7 * loss(ModelKind::Shared));
}

#[test]
fn opposite_tastes_are_learned() {
    let mut sim = simulate(300, 20, 2, 3, 150, 13);
    for o in &mut sim.observations {
        let taste = if o.annotator % 2 == 0 { 1.0 } else { -1.0 };
        o.level = u16::from(taste * sim.embeddings.row(o.text as usize)[1] > 0.0);
    }
    let (train, test): (Vec<Observation>, Vec<Observation>) =
        sim.observations.iter().partition(|o| o.text % 4 > 0);
    let train = TrainingData { observations: &train, ..data(&sim) };
    let loss = |slopes| {
        let options = FitOptions { slopes, ..FitOptions::default() };
        let model = fit(ModelKind::Multilevel, &train, &options, &Silent).unwrap();
        dissensus_stats::metrics::log_loss(&dissensus_stats::metrics::score(model.as_ref(), &test))
    };
    assert!(loss(true) < 0.7 * loss(false));
    // The running sums of the live model include slopes too.
    let mut live = LiveModel::fit(&train, &FitOptions::default(), &Silent).unwrap();
    live.record(test[0]).unwrap();
    let text = live.add_text(sim.embeddings.features(5)).unwrap();
    let fresh = dissensus_stats::disagreement::disagreement(&live, None, false);
    for t in [0, test[0].text, text] {
        assert!((live.disagreement(t).pairwise - fresh[t as usize].pairwise).abs() < 1e-5);
    }
}

#[test]
fn fit_is_independent_of_order_and_seeded() {
    for (sim, models) in &*FITTED {
        let mut turned = sim.clone();
        turned.observations.reverse();
        for model in models {
            let again = fitted(model.kind(), &data(&turned));
            for text in 0..60 {
                assert_eq!(p(model.as_ref(), text, 1), p(again.as_ref(), text, 1), "{}", model.kind());
            }
        }
    }
}

#[test]
fn unknown_annotator_is_average() {
    let sim = simulate(80, 12, 2, 4, 60, 5);
    let severe = (0..12).max_by(|&a, &b| sim.severity[a].total_cmp(&sim.severity[b])).unwrap() as u32;
    let mild = (0..12).min_by(|&a, &b| sim.severity[a].total_cmp(&sim.severity[b])).unwrap() as u32;
    for kind in ModelKind::ALL {
        let model = fitted(kind, &data(&sim));
        let mean = |annotator| (0..80).map(|t| p(model.as_ref(), t, annotator)[1]).sum::<f32>() / 80.0;
        assert_eq!(mean(12), mean(999), "{kind}");
        if kind == ModelKind::Multilevel {
            assert!(mean(mild) < mean(12) && mean(12) < mean(severe));
        }
    }
}

#[test]
fn no_labels_or_one_class_are_handled() {
    let sim = simulate(30, 3, 5, 4, 10, 6);
    for kind in ModelKind::ALL {
        for target in [sim.target, Target { kind: TargetKind::Nominal, levels: 5 }] {
            let empty = TrainingData { observations: &[], target, ..data(&sim) };
            let model = fitted(kind, &empty);
            for p in p(model.as_ref(), 0, 0) {
                assert!((p - 0.2).abs() < 0.1, "{kind}: without labels all levels are alike, not {p}");
            }
            let same: Vec<Observation> =
                sim.observations.iter().map(|o| Observation { level: 3, ..*o }).collect();
            let model = fitted(kind, &TrainingData { observations: &same, target, ..data(&sim) });
            let p = p(model.as_ref(), 0, 0);
            assert_distribution(&p, kind.name());
            assert!(p[3] > 0.5, "{kind}: {p:?}");
        }
    }
}

#[test]
fn empty_data_can_be_fitted() {
    let none = Embeddings::none(0);
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    for kind in ModelKind::ALL {
        let model = fitted(
            kind,
            &TrainingData { embeddings: &none, observations: &[], annotators: 0, target, attributes: &[] },
        );
        assert_eq!((model.texts(), model.annotators()), (0, 0));
        let mut out = [0.0; 2];
        model.predict_new_text(TextFeatures::default(), 0, &mut out).unwrap();
        assert_distribution(&out, kind.name());
        assert!(model.predict_new_text([1.0].as_slice().into(), 0, &mut out).is_err());
    }
}

#[test]
fn higher_score_gives_a_higher_expected_level() {
    let sim = simulate(400, 10, 5, 3, 150, 7);
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut order: Vec<u32> = (0..400).collect();
    order.sort_by(|&a, &b| sim.score[a as usize].total_cmp(&sim.score[b as usize]));
    for kind in [ModelKind::Shared, ModelKind::Multilevel] {
        let model = fitted(kind, &data(&sim));
        let expected =
            |t: u32| p(model.as_ref(), t, 0).iter().enumerate().map(|(c, p)| c as f32 * p).sum::<f32>();
        low.push(order[..100].iter().map(|&t| expected(t)).sum::<f32>());
        high.push(order[300..].iter().map(|&t| expected(t)).sum::<f32>());
    }
    assert!(low.iter().zip(&high).all(|(l, h)| h - l > 50.0), "{low:?} {high:?}");
}

#[test]
fn multilevel_recovers_severities() {
    let sim = simulate(400, 30, 5, 6, 60, 8);
    let live = LiveModel::fit(&data(&sim), &FitOptions::default(), &Silent).unwrap();
    let found: Vec<f64> = (0..30).map(|a| live.severity(a).unwrap().mean).collect();
    let centre = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mf, mt) = (centre(&found), centre(&sim.severity));
    let product = |f: &dyn Fn(usize) -> f64| (0..30).map(f).sum::<f64>();
    let cov = product(&|i| (found[i] - mf) * (sim.severity[i] - mt));
    let (vf, vt) = (product(&|i| (found[i] - mf).powi(2)), product(&|i| (sim.severity[i] - mt).powi(2)));
    assert!(cov / (vf * vt).sqrt() > 0.95, "correlation {}", cov / (vf * vt).sqrt());
    assert!((0.7..1.4).contains(&(vf / vt).sqrt()), "spread {}", (vf / vt).sqrt());
    // A meaningful standard deviation: most true values are within two of them.
    let inside = (0..30).filter(|&a| {
        let s = live.severity(a as u32).unwrap();
        (s.mean - mf - (sim.severity[a] - mt)).abs() < 2.0 * s.sd + 0.2
    });
    assert!(inside.count() >= 25);
}

/// A simulation in which one value of the first attribute means severe, and the second has no effect.
fn attributed(annotators: usize, effect: f64, seed: u64) -> (Simulation, Vec<Attribute>) {
    let mut sim = simulate(300, annotators, 2, 4, 30, seed);
    let value = |a: usize| (a * 7 % 3) as u16;
    let mut rng = dissensus_stats::math::random::generator(seed, 90);
    for o in &mut sim.observations {
        let a = o.annotator as usize;
        let shift = effect * (f64::from(value(a)) - 1.0) + 0.3 * sim.severity[a];
        let p = dissensus_stats::math::sigmoid(sim.score[o.text as usize] + shift);
        o.level = u16::from(rand::RngExt::random::<f64>(&mut rng) < p);
    }
    let names = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect();
    let attributes = vec![
        Attribute {
            name: "age".into(),
            values: names(&["young", "middle", "old"]),
            // Some annotators do not answer.
            of: (0..annotators).map(|a| (a % 10 > 0).then(|| value(a))).collect(),
        },
        Attribute {
            name: "hand".into(),
            values: names(&["left", "right"]),
            of: (0..annotators).map(|a| Some((a % 2) as u16)).collect(),
        },
    ];
    (sim, attributes)
}

#[test]
fn uninformative_attributes_are_reported_but_not_used() {
    let (sim, attributes) = attributed(120, 1.5, 21);
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let model = fitted(ModelKind::Multilevel, &with_attributes);
    let evidence = model.attribute_evidence().unwrap();
    assert!(evidence.used && evidence.gain > 2.0 * evidence.standard_error, "{evidence:?}");
    assert_eq!((evidence.annotators, evidence.labels), (120, 3600));
    let mean = |values: &[Option<u16>]| {
        let mut p = [0.0; 2];
        let one = |t| {
            model.predict_new_annotator(t, values, &mut p);
            p[1]
        };
        (0..300).map(one).sum::<f32>() / 300.0
    };
    let (young, old) = (mean(&[Some(0), None]), mean(&[Some(2), None]));
    let unknown = mean(&[None, None]);
    assert!(young + 0.1 < unknown && unknown + 0.1 < old, "{young} {unknown} {old}");
    assert!((mean(&[None, Some(0)]) - mean(&[None, Some(1)])).abs() < 0.06);
    let unknown_annotator = (0..300).map(|t| p(model.as_ref(), t, 999)[1]).sum::<f32>() / 300.0;
    assert!(
        (unknown_annotator - unknown).abs() < 1e-6,
        "of whom nothing is known is predicted as an unknown annotator"
    );
    // An annotator without labels starts with the mean for their attributes.
    let few: Vec<Observation> = sim.observations.iter().filter(|o| o.annotator != 1).copied().collect();
    let model = fitted(ModelKind::Multilevel, &TrainingData { observations: &few, ..with_attributes });
    let value = attributes[0].of[1];
    let mut new_annotator = [0.0; 2];
    model.predict_new_annotator(3, &[value, Some(1)], &mut new_annotator);
    assert!(!model.knows(1) && (new_annotator[1] - p(model.as_ref(), 3, 1)[1]).abs() < 1e-5);

    let (sim, attributes) = attributed(120, 0.0, 22);
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let model = fitted(ModelKind::Multilevel, &with_attributes);
    assert!(!model.attribute_evidence().unwrap().used);
    let plain = fitted(ModelKind::Multilevel, &data(&sim));
    assert_eq!(plain.attribute_evidence(), None);
    for text in 0..300 {
        assert_eq!(
            p(model.as_ref(), text, 5),
            p(plain.as_ref(), text, 5),
            "unused attributes change nothing"
        );
    }
    let mut new_annotator = [0.0; 2];
    model.predict_new_annotator(7, &[Some(0), Some(1)], &mut new_annotator);
    assert_eq!(new_annotator.to_vec(), p(model.as_ref(), 7, 999));
}

#[test]
fn live_model_keeps_attribute_effects() {
    let (sim, attributes) = attributed(60, 1.5, 23);
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let mut live = LiveModel::fit(&with_attributes, &FitOptions::default(), &Silent).unwrap();
    assert!(live.attribute_evidence().unwrap().used);
    let joined = live.add_annotator();
    live.record(Observation { text: 4, annotator: joined, level: 1 }).unwrap();
    let back = LiveModel::from_bytes(&live.to_bytes().unwrap()).unwrap();
    assert_eq!((back.attribute_evidence(), back.row(9)), (live.attribute_evidence(), live.row(9)));
    let again = back.snapshot().refit(&sim.embeddings, &FitOptions::default(), &Silent).unwrap();
    assert!(again.attribute_evidence().unwrap().used && again.annotators() == 61);
}

/// Women (even rows) respond to the first direction of the embedding, men to its opposite. The last 40
/// texts have no labels, nor has the last annotator.
fn groups_that_differ_in_kind() -> (Simulation, Vec<Attribute>) {
    let mut sim = simulate(240, 60, 5, 4, 90, 31);
    sim.observations.retain(|o| o.text < 200 && o.annotator < 59);
    let mut rng = dissensus_stats::math::random::generator(5, 91);
    for o in &mut sim.observations {
        let x = sim.embeddings.row(o.text as usize);
        let group = if o.annotator % 2 == 0 { 1.4 } else { -1.4 };
        // All annotators respond to another direction, so that no group follows the shared score more
        // closely than the other.
        let (shared, along, own) =
            (2.0 * f64::from(x[1]), 2.0 * f64::from(x[0]), f64::from(o.text * 37 % 17) / 8.0 - 1.0);
        let score = shared + own + 0.5 * sim.severity[o.annotator as usize] + group * along;
        let x: f64 = rand::RngExt::random(&mut rng);
        o.level = (1..5u16)
            .filter(|j| x < dissensus_stats::math::sigmoid(score - 1.2 * (f64::from(*j) - 2.5)))
            .count() as u16;
    }
    (sim, vec![gender(60)])
}

fn gender(annotators: u16) -> Attribute {
    Attribute {
        name: "gender".into(),
        values: vec!["woman".into(), "man".into()],
        of: (0..annotators).map(|a| Some(a % 2)).collect(),
    }
}

/// Groups that differ in kind, and the live model of them: fitted once for all tests.
static DIFFERING: LazyLock<(Simulation, Vec<Attribute>, LiveModel)> = LazyLock::new(|| {
    let (sim, attributes) = groups_that_differ_in_kind();
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let live = LiveModel::fit(&with_attributes, &FitOptions::default(), &Silent).unwrap();
    (sim, attributes, live)
});

#[test]
fn group_slopes_are_predicted_and_explained() {
    let (sim, attributes, live) = &*DIFFERING;
    let with_attributes = TrainingData { attributes, ..data(sim) };
    let found = live.estimation().group_slopes.unwrap();
    assert_eq!(found.used, ["gender"], "{found:?}");
    let plain = FitOptions { slopes: false, ..FitOptions::default() };
    let plain = LiveModel::fit(&with_attributes, &plain, &Silent).unwrap();
    assert_eq!(plain.estimation().group_slopes, None);
    let mean = |p: &[f32]| p.iter().enumerate().map(|(level, p)| level as f64 * f64::from(*p)).sum::<f64>();
    let along = |text: u32| f64::from(sim.embeddings.row(text as usize)[0]);
    // Unlabelled texts, and an annotator of whom only the gender is known.
    let unlabelled = 200..240;
    let apart = |text: u32| {
        let of = |value| {
            let mut p = [0.0; 5];
            live.predict_new_annotator(text, &[Some(value)], &mut p);
            mean(&p)
        };
        of(0) - of(1)
    };
    let right = unlabelled.clone().filter(|text| apart(*text) * along(*text) > 0.0).count();
    assert!(right >= 34, "{right} of 40");
    let widest = unlabelled.clone().map(|text| apart(text).abs()).fold(0.0, f64::max);
    assert!(widest > 0.5, "{widest}");
    let mut new = [0.0; 5];
    live.predict_new_annotator(210, &[Some(1)], &mut new);
    assert_eq!(p(live, 210, 59), new, "who has no labels is predicted by the gender");
    // The parts add up to the sum, including the group's part.
    let explained = live.explain(dissensus_models::live::ExplainedText::Row(210), 59).unwrap();
    let probabilities: Vec<f32> = explained.probabilities.iter().map(|p| *p as f32).collect();
    assert!(probabilities.iter().zip(&new).all(|(a, b)| (a - b).abs() < 1e-4), "{probabilities:?} {new:?}");
    let largest = unlabelled.map(|text| {
        live.explain(dissensus_models::live::ExplainedText::Row(text), 59).unwrap().logits[0].slope.abs()
    });
    assert!(largest.fold(0.0, f64::max) > 0.5);
    // Gaps remain, though predictions already include the difference.
    let significant_gaps = |model: &LiveModel| {
        let side = |side: u32| (side..60).step_by(2).collect::<Vec<u32>>();
        let pair = dissensus_stats::disagreement::GroupPair { first: vec![0], second: vec![1] };
        let gaps =
            dissensus_stats::disagreement::GroupGaps::estimate(model, vec![side(1), side(0)], vec![pair]);
        let on = |text: u32| gaps.on_text(model, text as usize, &model.level_steps(text)).swap_remove(0);
        let found = (0..200).map(|text| (on(text), along(text)));
        let gaps_at: Vec<(f64, f64)> =
            found.filter(|(gap, _)| gap.significant).map(|(gap, at)| (gap.gap, at)).collect();
        assert!(
            gaps_at.iter().filter(|(gap, at)| gap * at < 0.0).count() * 10 <= gaps_at.len(),
            "{gaps_at:?}"
        );
        gaps_at.len()
    };
    let (with, without) = (significant_gaps(live), significant_gaps(&plain));
    assert!(10 * with >= 7 * without && without > 5, "{with} {without}");
    // Saved and restored.
    let back = LiveModel::from_bytes(&live.to_bytes().unwrap()).unwrap();
    assert_eq!((p(&back, 210, 59), back.estimation()), (p(live, 210, 59), live.estimation()));
    // The exported model represents people by the slopes of their groups, without the groups' names.
    let bytes = live.to_bytes_for_new_texts().unwrap();
    let (mut here, mut alone) = (back, LiveModel::from_bytes(&bytes).unwrap());
    let text = sim.embeddings.row(210);
    let (row, other) = (here.add_text(text.into()).unwrap(), alone.add_text(text.into()).unwrap());
    assert_eq!(alone.row(other), here.row(row));
    assert!(!bytes.windows(5).any(|window| window == b"woman"));
}

/// Gaps are tested against the predictions of a model without slopes, including severities.
#[test]
fn no_group_slopes_equal_a_model_without_them() {
    let (mut sim, attributes) = groups_that_differ_in_kind();
    // Women labelled texts on which they answer high, men on which they answer low: their severities absorb
    // part of it, but less with groups' slopes.
    sim.observations.retain(|o| o.annotator % 2 == 1 || sim.embeddings.row(o.text as usize)[0] > -0.2);
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let live = LiveModel::fit(&with_attributes, &FitOptions::default(), &Silent).unwrap();
    assert_eq!(live.estimation().group_slopes.unwrap().used, ["gender"]);
    let options = FitOptions { slopes: false, ..FitOptions::default() };
    let plain = LiveModel::fit(&data(&sim), &options, &Silent).unwrap();
    let apart = |of: &dyn Fn(&Observation) -> Vec<f32>| {
        let of = |o: &Observation| -> f32 {
            of(o).iter().zip(p(&plain, o.text, o.annotator)).map(|(a, b)| (a - b).abs()).sum()
        };
        sim.observations.iter().map(of).sum::<f32>() / sim.observations.len() as f32
    };
    let whole = apart(&|o| p(&live, o.text, o.annotator));
    let without = apart(&|o| {
        let mut out = vec![0.0; 5];
        assert!(live.predict_without_groups(o.text, o.annotator, &mut out));
        out
    });
    assert!(without < 0.5 * whole, "{without} {whole}");
    assert!(!plain.predict_without_groups(0, 0, &mut [0.0; 5]));
}

#[test]
fn new_members_start_at_the_group_effect() {
    let (sim, mut attributes) = groups_that_differ_in_kind();
    attributes[0].of[57] = None;
    let with_attributes = TrainingData { attributes: &attributes, ..data(&sim) };
    let mut live = LiveModel::fit(&with_attributes, &FitOptions::default(), &Silent).unwrap();
    assert_eq!(live.estimation().group_slopes.unwrap().used, ["gender"]);
    let joined = live.add_annotator();
    assert_eq!(p(&live, 210, joined), p(&live, 210, u32::MAX), "of no group");
    let unknown = p(&live, 210, 57);
    // Names of values in another order, one of them new, as in a project after an import.
    let known = Attribute {
        name: "gender".into(),
        values: vec!["man".into(), "other".into(), "woman".into()],
        of: (0..61).map(|a| Some(if a == 58 { 1 } else { 2 * (1 - a % 2) })).collect(),
    };
    live.set_attributes(std::slice::from_ref(&known));
    let by_gender = |value| {
        let mut out = [0.0; 5];
        live.predict_new_annotator(210, &[value], &mut out);
        out.to_vec()
    };
    assert_eq!(p(&live, 210, joined), by_gender(Some(0)), "a woman");
    assert_ne!(p(&live, 210, joined), by_gender(None));
    assert_ne!(p(&live, 210, 57), unknown, "a man, it turned out");
    // Sums over people are updated.
    let mut again = LiveModel::from_bytes(&live.to_bytes().unwrap()).unwrap();
    let close = |a: &LiveModel, b: &LiveModel| {
        let (a, b) = (a.disagreement(3), b.disagreement(3));
        (a.pairwise - b.pairwise).abs() < 1e-4
    };
    assert!(close(&live, &again));
    again.set_attributes(&[known]);
    assert_eq!(again.row(210), live.row(210));
    again.record(Observation { text: 4, annotator: joined, level: 1 }).unwrap();
    let fitted = again.snapshot().refit(&sim.embeddings, &FitOptions::default(), &Silent).unwrap();
    assert_eq!(fitted.estimation().group_slopes.unwrap().used, ["gender"]);
    again.set_attributes(&[]);
    assert_eq!(p(&again, 210, 59), p(&again, 210, u32::MAX), "of no group any more");
}

#[test]
fn model_keeps_attributes_of_its_fit() {
    let (sim, whole, fitted) = &*DIFFERING;
    // Eight of each are too few to be groups.
    let mut few = whole.clone();
    few[0].of.iter_mut().skip(16).for_each(|value| *value = None);
    let with_attributes = TrainingData { attributes: &few, ..data(sim) };
    let mut live = LiveModel::fit(&with_attributes, &FitOptions::default(), &Silent).unwrap();
    assert_eq!(live.estimation().group_slopes, None);
    assert!(live.knows_attributes(&few, 0) && !live.knows_attributes(whole, usize::MAX));
    // The same where the model received all of them later, and where it was saved.
    live.set_attributes(whole);
    let back = LiveModel::from_bytes(&live.to_bytes().unwrap()).unwrap();
    assert!(!back.knows_attributes(whole, usize::MAX) && back.knows_attributes(&few, 0));

    let mut live = fitted.clone();
    let mut other = whole.clone();
    other[0].of[3] = Some(0);
    let labels = sim.observations.iter().filter(|o| o.annotator == 3).count();
    assert!(live.knows_attributes(whole, 0) && live.knows_attributes(&other, labels));
    assert!(!live.knows_attributes(&other, labels - 1));
    // Annotators without labels, and names in another order, change nothing.
    other.clone_from(whole);
    other[0].of[59] = None;
    assert!(live.knows_attributes(&other, 0));
    let turned = Attribute {
        values: vec!["man".into(), "woman".into()],
        of: whole[0].of.iter().map(|value| value.map(|value| 1 - value)).collect(),
        ..whole[0].clone()
    };
    assert!(live.knows_attributes(&[turned], 0));
    // A list read before the last annotator joined does not change that annotator.
    let before = p(&live, 210, 59);
    let mut short = whole.clone();
    short[0].of.truncate(59);
    live.set_attributes(&short);
    assert_eq!(p(&live, 210, 59), before);
    live.set_attributes(&[]);
    assert_ne!(p(&live, 210, 59), before);
}

#[test]
fn models_report_known_annotators() {
    let sim = simulate(60, 5, 5, 4, 20, 14);
    let few: Vec<Observation> = sim.observations.iter().filter(|o| o.annotator != 2).copied().collect();
    let train = TrainingData { observations: &few, ..data(&sim) };
    let shared = fitted(ModelKind::Shared, &train);
    for kind in ModelKind::ALL {
        let model = fitted(kind, &train);
        assert!(model.knows(0) && model.knows(4), "{kind}");
        let alike = matches!(kind, ModelKind::Majority | ModelKind::Shared);
        assert_eq!((model.knows(2), model.knows(5), model.knows(u32::MAX)), (alike, alike, alike), "{kind}");
        for text in 0..60 {
            let unknown_annotator = p(model.as_ref(), text, 77);
            if kind == ModelKind::SepHeads {
                assert_eq!(unknown_annotator, p(shared.as_ref(), text, 77), "the shared head answers");
            }
            let unheard = p(model.as_ref(), text, 2);
            assert!(unknown_annotator.iter().zip(&unheard).all(|(a, b)| (a - b).abs() < 1e-5), "{kind}");
        }
    }
}

#[test]
fn unusual_annotators_and_missing_classes_are_handled() {
    let mut choice = simulate(80, 8, 4, 5, 40, 31);
    choice.target.kind = TargetKind::Nominal;
    for mut sim in [simulate(80, 8, 2, 5, 40, 32), simulate(80, 8, 5, 5, 40, 33), choice] {
        let top = (sim.target.levels - 1) as u16;
        // Annotator 0 has one label, annotator 1 one class, level 1 never occurs (of more than two).
        let mut seen = false;
        sim.observations.retain(|o| o.annotator != 0 || !std::mem::replace(&mut seen, true));
        for o in &mut sim.observations {
            if o.annotator == 1 {
                o.level = top;
            } else if sim.target.levels > 2 && o.level == 1 {
                o.level = 2;
            }
        }
        let attribute = Attribute {
            name: "age".into(),
            values: vec!["young".into(), "old".into()],
            of: (0..8).map(|a| (a % 3 > 0).then_some((a % 2) as u16)).collect(),
        };
        let nobody_tells = Attribute { of: vec![None; 8], ..attribute.clone() };
        // Attributes matter to one kind of model only.
        let with = (vec![attribute, nobody_tells], &[ModelKind::Multilevel][..]);
        for (attributes, kinds) in [(vec![], &ModelKind::ALL[..]), with] {
            for &kind in kinds {
                let model = fitted(kind, &TrainingData { attributes: &attributes, ..data(&sim) });
                let mean = |a: u32, level: usize| {
                    (0..80).map(|t| p(model.as_ref(), t, a)[level]).sum::<f32>() / 80.0
                };
                for annotator in 0..9 {
                    for text in 0..80 {
                        assert_distribution(&p(model.as_ref(), text, annotator), kind.name());
                    }
                    if sim.target.levels > 2 {
                        let absent = mean(annotator, 1);
                        assert!(absent < 0.15, "{kind}: a level never given got {absent}");
                    }
                }
                if !matches!(kind, ModelKind::Majority | ModelKind::Shared) {
                    let (own, usual) = (mean(1, usize::from(top)), mean(8, usize::from(top)));
                    assert!(own > usual + 0.1 && own > 0.5, "{kind}: {own} {usual}");
                }
                let mut out = vec![0.0; model.levels()];
                model.predict_new_annotator(3, &vec![None; attributes.len()], &mut out);
                assert_distribution(&out, kind.name());
            }
        }
    }
}

struct Stop;

impl Progress for Stop {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn fit_can_be_cancelled_and_names_parsed() {
    let sim = simulate(10, 2, 2, 2, 5, 9);
    for kind in ModelKind::ALL {
        let error = fit(kind, &data(&sim), &FitOptions::default(), &Stop).err();
        assert_eq!(error, Some(ModelError::Cancelled));
        assert_eq!(kind.to_string().parse::<ModelKind>(), Ok(kind));
    }
    assert!("deep".parse::<ModelKind>().is_err());
}
