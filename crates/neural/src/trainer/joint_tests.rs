//! Several own questions on one encoder: each learned, validated, resumed, and weighted.

use super::tests::{BODIES, StopAt, data, four, four_samples, tiny, tiny_without_dropout, tuned, values};
use super::*;
use crate::networks::NetworkModel;
use dissensus_domain::TargetKind;
use dissensus_encoder::{Encoder, EncoderOptions, FreezePolicy};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::synthetic::simulate;
use dissensus_stats::data::{
    Embeddings, FitOptions, ModelError, ModelKind, Observation, Target, TrainingData,
};
use dissensus_stats::metrics::{log_loss, score};

const THREE: Target = Target { kind: TargetKind::Ordinal, levels: 3 };

/// Three levels, three annotators, on two of the texts: 0 and 2.
fn scale() -> Vec<Observation> {
    (0..6)
        .map(|i| Observation { text: i / 3 * 2, annotator: i % 3, level: ((i / 3 + i) % 3) as u16 })
        .collect()
}

fn of_scale<'a>(embeddings: &'a Embeddings, observations: &'a [Observation]) -> TrainingData<'a> {
    TrainingData { embeddings, observations, annotators: 3, target: THREE, attributes: &[] }
}

/// One annotator's yes to a third question, on text 3 only.
const ALONE: [Observation; 1] = [Observation { text: 3, annotator: 0, level: 1 }];

fn questions<'a>(
    none: &'a Embeddings,
    scale: &'a [Observation],
    validation: &'a [Observation],
) -> [JointQuestion<'a>; 2] {
    [
        JointQuestion { data: of_scale(none, scale), validation, weight: 2.0 },
        JointQuestion { data: four(none, &ALONE), validation: &[], weight: 0.5 },
    ]
}

type Numbers = Vec<(u32, Option<f64>, Option<ValidationScores>, Vec<Option<ValidationScores>>, bool)>;

fn numbers(trained: &Trained) -> Numbers {
    let of = |r: &EpochRecord| (r.step, r.train_loss, r.validation, r.questions.clone(), r.best);
    trained.history.iter().map(of).collect()
}

/// Every model learns all of them in one pass over the texts; an interrupted training run resumes to the
/// same numbers, and a checkpoint is specific to its questions, their labels and their weights.
#[test]
fn joint_training_resumes_to_the_same_numbers() {
    let (none, observations, scale) = (Embeddings::none(4), four_samples(), scale());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for kind in ModelKind::ALL {
        let config = TrainConfig { epochs: 3, eval_steps: Some(2), ..tuned(kind, FreezePolicy::Full) };
        let alone = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let trainer = alone.clone().with_questions(1.0, &questions(&none, &scale, &scale)).unwrap();
        // Four texts, two at a time, regardless of the number of questions.
        assert_eq!((alone.steps_in_epoch(), trainer.steps_in_epoch()), (2, 2));
        let whole = trainer.clone().run(&Silent, |_| ()).unwrap();
        for record in &whole.history {
            let [Some(first), Some(second), None] = record.questions[..] else {
                panic!("{kind}: {record:?}")
            };
            let mean = record.validation.unwrap();
            assert!((mean.log_loss - (first.log_loss + 2.0 * second.log_loss) / 3.0).abs() < 1e-12);
            assert!((mean.accuracy - (first.accuracy + 2.0 * second.accuracy) / 3.0).abs() < 1e-12);
            assert!(record.train_loss.is_some_and(f64::is_finite), "{kind}");
        }
        let folder = tempfile::tempdir().unwrap();
        for stop in [1, 3, 5] {
            let broken = trainer.clone().in_folder(folder.path()).run(&StopAt::steps(stop), |_| ());
            assert_eq!(broken.err(), Some(ModelError::Cancelled));
        }
        let mended = trainer.clone().in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        assert_eq!(numbers(&whole), numbers(&mended), "{kind}");
        for (a, b) in whole.networks.iter().zip(&mended.networks) {
            let (a, b) = (a.tensors().unwrap(), b.tensors().unwrap());
            assert!(a.iter().all(|(name, tensor)| values(tensor) == values(&b[name])), "{kind}");
        }
        let x = |trained: &Trained| trained.encoder().unwrap().unwrap().encode(&BODIES).unwrap();
        assert_eq!(x(&whole), x(&mended), "{kind}");
        assert_ne!(
            x(&whole),
            x(&alone.clone().run(&Silent, |_| ()).unwrap()),
            "{kind}: all taught the encoder"
        );
        let mut changed = scale.clone();
        changed[4].level = (changed[4].level + 1) % 3;
        let [second, third] = questions(&none, &scale, &scale);
        let heavier = JointQuestion { weight: 2.5, ..second };
        let other = JointQuestion { data: of_scale(&none, &changed), ..second };
        for questions in [vec![second], vec![third, second], vec![heavier, third], vec![other, third]] {
            let other = alone.clone().with_questions(1.0, &questions).unwrap();
            let error = other.in_folder(folder.path()).run(&Silent, |_| ()).err();
            assert!(matches!(error, Some(ModelError::CheckpointMismatch { .. })), "{kind}: {error:?}");
        }
    }
}

/// A frozen head retains every bit of its weights, while its labels train the encoder below it and the
/// others learn.
#[test]
fn frozen_head_does_not_change() {
    let (none, observations, scale) = (Embeddings::none(4), four_samples(), scale());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let x = |trained: &Trained| trained.encoder().unwrap().unwrap().encode(&BODIES).unwrap();
    for kind in ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Multilevel) {
        let config = TrainConfig { epochs: 3, eval_steps: Some(2), ..tuned(kind, FreezePolicy::Full) };
        let earlier = Trainer::new(of_scale(&none, &scale), &[], Some(encoder), config.clone()).unwrap();
        let dim = earlier.clone().run(&Silent, |_| ()).unwrap().networks[0].shape.dim;
        let of = |trained: Trained| {
            let x = Embeddings { dim, ..Embeddings::none(0) };
            trained.into_heads().swap_remove(0).network_model(x.into()).unwrap()
        };
        let held = of(earlier.run(&Silent, |_| ()).unwrap());
        let joint = Trainer::new(four(&none, &observations), &observations, Some(encoder), config.clone())
            .unwrap()
            .with_questions(1.0, &questions(&none, &scale, &scale))
            .unwrap();
        let holding = joint.clone().holding(1, &held).unwrap();
        let trained = holding.clone().run(&Silent, |_| ()).unwrap();
        let before = held.network().tensors().unwrap();
        let after = trained.networks[1].tensors().unwrap();
        assert_eq!(before.len(), after.len());
        assert!(before.iter().all(|(name, tensor)| values(tensor) == values(&after[name])), "{kind}");
        // The others and the encoder have learned, the encoder also from the frozen question's labels.
        let free = joint.clone().run(&Silent, |_| ()).unwrap();
        let moved = free.networks[1].tensors().unwrap();
        assert!(before.iter().any(|(name, tensor)| values(tensor) != values(&moved[name])), "{kind}");
        let without = Trainer::new(four(&none, &observations), &observations, Some(encoder), config.clone());
        let without = without.unwrap().with_questions(1.0, &questions(&none, &scale, &scale)[1..]).unwrap();
        let untouched = Encoder::open(&dir, &options).unwrap().encode(&BODIES).unwrap();
        assert_ne!(x(&trained), untouched, "{kind}");
        assert_ne!(x(&trained), x(&without.run(&Silent, |_| ()).unwrap()), "{kind}");
        // After an interruption it resumes to the same numbers; with another head it refuses to resume.
        let folder = tempfile::tempdir().unwrap();
        let broken = holding.clone().in_folder(folder.path()).run(&StopAt::steps(3), |_| ());
        assert_eq!(broken.err(), Some(ModelError::Cancelled));
        let other = joint.clone().in_folder(folder.path()).run(&Silent, |_| ()).err();
        assert!(matches!(other, Some(ModelError::CheckpointMismatch { .. })), "{kind}: {other:?}");
        let mended = holding.in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        assert_eq!((numbers(&trained), x(&trained)), (numbers(&mended), x(&mended)), "{kind}");
    }
}

#[test]
fn unsuitable_head_cannot_be_frozen() {
    let (none, observations, scale) = (Embeddings::none(4), four_samples(), scale());
    let (dir, options) = (tiny(), EncoderOptions::default());
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let config = |kind| TrainConfig { epochs: 1, ..tuned(kind, FreezePolicy::Full) };
    let head = |kind, data: TrainingData<'_>| {
        let trained =
            Trainer::new(data, &[], Some(encoder), config(kind)).unwrap().run(&Silent, |_| ()).unwrap();
        let x = Embeddings { dim: trained.networks[0].shape.dim, ..Embeddings::none(0) };
        trained.into_heads().swap_remove(0).network_model(x.into()).unwrap()
    };
    let joint = |kind| {
        Trainer::new(four(&none, &observations), &observations, Some(encoder), config(kind))
            .unwrap()
            .with_questions(1.0, &questions(&none, &scale, &scale))
            .unwrap()
    };
    let refused = |kind, nth, head: &NetworkModel| joint(kind).holding(nth, head).unwrap_err();
    let shared = head(ModelKind::Shared, of_scale(&none, &scale));
    let choice = |error| matches!(error, ModelError::Choice { field: "freeze", .. });
    assert!(choice(refused(ModelKind::ShareRecFfn, 1, &shared)), "another model");
    assert!(choice(refused(ModelKind::Shared, 3, &shared)), "no such question");
    assert!(matches!(refused(ModelKind::Shared, 0, &shared), ModelError::Held(_)), "other levels");
    let more = TrainingData { annotators: 4, ..of_scale(&none, &scale) };
    let of_more = head(ModelKind::Shared, more);
    assert!(matches!(refused(ModelKind::Shared, 1, &of_more), ModelError::Held(_)), "other people");
    let few: Vec<Observation> = scale.iter().filter(|o| o.annotator < 2).copied().collect();
    let of_few = head(ModelKind::SepHeads, of_scale(&none, &few));
    let error = refused(ModelKind::SepHeads, 1, &of_few);
    assert!(error.to_string().contains("no head for some"), "{error}");
}

/// On fixed embeddings nothing is shared but the order of the texts: a question that is learned together
/// with another one becomes as good as on its own.
#[test]
fn each_jointly_trained_question_is_predicted() {
    let one = simulate(160, 6, 2, 4, 100, 1);
    // The opposite of the first question, with fewer annotators.
    let opposite: Vec<Observation> = one
        .observations
        .iter()
        .filter(|o| o.annotator < 4)
        .map(|o| Observation { level: 1 - o.level, ..*o })
        .collect();
    let split = |observations: &[Observation]| -> (Vec<Observation>, Vec<Observation>) {
        observations.iter().copied().partition(|o| o.text % 4 != 0)
    };
    let ((train_a, held_a), (train_b, held_b)) = (split(&one.observations), split(&opposite));
    let a = TrainingData { observations: &train_a, ..data(&one) };
    let b = TrainingData { observations: &train_b, annotators: 4, ..a };
    let config = TrainConfig {
        epochs: 10,
        batch_size: 16,
        ..TrainConfig::new(ModelKind::SepHeads, FreezePolicy::Frozen)
    };
    let question = JointQuestion { data: b, validation: &held_b, weight: 1.0 };
    let trainer = Trainer::new(a, &held_a, None, config).unwrap().with_questions(1.0, &[question]).unwrap();
    let trained = trainer.run(&Silent, |_| ()).unwrap();
    let best = trained.history.iter().rev().find(|record| record.best).unwrap().questions.clone();
    for ((head, data), (held, scores)) in
        trained.into_heads().into_iter().zip([a, b]).zip([&held_a, &held_b].into_iter().zip(best))
    {
        let model = head.model(&data, &FitOptions::default()).unwrap();
        let found = log_loss(&score(model.as_ref(), held));
        assert!((found - scores.unwrap().log_loss).abs() < 1e-6, "the weights of the best evaluation");
        assert!(found < 0.69, "{found}");
    }
}

/// A question counts by its mean loss and its weight, not by its number of labels.
#[test]
fn question_weight_is_independent_of_label_count() {
    let folder = tempfile::tempdir().unwrap();
    tiny_without_dropout(folder.path());
    let options = EncoderOptions { threads: Some(1), ..EncoderOptions::default() };
    let encoder = EncoderToTune { dir: folder.path(), options: &options, texts: &BODIES };
    let none = Embeddings::none(4);
    let labels = |people: u32, level: fn(u32) -> u16| -> Vec<Observation> {
        (0..4 * people)
            .map(|i| Observation { text: i / people, annotator: i % people, level: level(i / people) })
            .collect()
    };
    // Two contradictory questions, of which one has ten times as many labels.
    let (few, many) = (labels(1, |text| (text % 2) as u16), labels(10, |text| (text / 2) as u16));
    let of = |observations, annotators| TrainingData { annotators, ..four(&none, observations) };
    let losses = |weight: f64| {
        let config = TrainConfig {
            epochs: 8,
            batch_size: 4,
            max_grad_norm: 0.0,
            eval_steps: Some(8),
            ..tuned(ModelKind::Shared, FreezePolicy::Full)
        };
        let question = JointQuestion { data: of(&many, 10), validation: &many, weight };
        let trainer = Trainer::new(of(&few, 1), &few, Some(encoder), config).unwrap();
        let trained = trainer.with_questions(1.0, &[question]).unwrap().run(&Silent, |_| ()).unwrap();
        let questions = trained.history.last().unwrap().questions.clone();
        [0, 1].map(|at: usize| questions[at].unwrap().log_loss)
    };
    let (even, heavy, light) = (losses(1.0), losses(50.0), losses(0.02));
    assert!(heavy[1] < light[1] && light[0] < heavy[0], "{heavy:?} {light:?}");
    // As many labels as the other, ten times over, change nothing: the mean of the losses is minimised.
    let tenfold = labels(10, |text| (text % 2) as u16);
    let config = TrainConfig {
        epochs: 8,
        batch_size: 4,
        max_grad_norm: 0.0,
        eval_steps: Some(8),
        ..tuned(ModelKind::Shared, FreezePolicy::Full)
    };
    let question = JointQuestion { data: of(&many, 10), validation: &many, weight: 1.0 };
    let trainer = Trainer::new(of(&tenfold, 10), &tenfold, Some(encoder), config).unwrap();
    let trained = trainer.with_questions(1.0, &[question]).unwrap().run(&Silent, |_| ()).unwrap();
    let again = trained.history.last().unwrap().questions.clone();
    for at in 0..2 {
        assert!((again[at].unwrap().log_loss - even[at]).abs() < 1e-3, "{again:?} {even:?}");
    }
}

#[test]
fn invalid_joint_questions_are_refused() {
    let (none, observations, scale) = (Embeddings::none(4), four_samples(), scale());
    let (dir, options) = (tiny(), EncoderOptions::default());
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let config = tuned(ModelKind::Shared, FreezePolicy::Full);
    let trainer = Trainer::new(four(&none, &observations), &[], Some(encoder), config).unwrap();
    let [good, _] = questions(&none, &scale, &[]);
    let says = |weight, question| trainer.clone().with_questions(weight, &[question]).err().unwrap();
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for error in [says(weight, good), says(1.0, JointQuestion { weight, ..good })] {
            assert!(matches!(error, ModelError::Choice { field: "weights", .. }), "{error}");
        }
    }
    let other = Embeddings::none(3);
    let error = says(1.0, JointQuestion { data: of_scale(&other, &scale), ..good });
    assert!(matches!(error, ModelError::Length { expected: 4, found: 3, .. }), "{error}");
    let error = says(1.0, JointQuestion { data: of_scale(&none, &[]), ..good });
    assert!(matches!(error, ModelError::EmptySplit { .. }), "{error}");
    let nobody = TrainingData { annotators: 1, ..of_scale(&none, &scale) };
    let error = says(1.0, JointQuestion { data: nobody, ..good });
    assert!(matches!(error, ModelError::UnknownAnnotator { .. }), "{error}");
}
