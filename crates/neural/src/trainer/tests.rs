//! The loop as a whole: it learns, is reproducible, resumes after an interruption, and reports errors.

use super::*;
use crate::networks::Network;
use dissensus_domain::TargetKind;
use dissensus_encoder::{EncoderOptions, FreezePolicy, LoraConfig};
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::progress::{Progress, Silent};
use dissensus_stats::data::synthetic::{Simulation, simulate};
use dissensus_stats::data::{AnnotatorModel, ModelKind};
use dissensus_stats::data::{Attribute, Embeddings, ModelError, Observation, Target, TrainingData};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn data(sim: &Simulation) -> TrainingData<'_> {
    TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    }
}

/// Stops after this many steps, like a kill between two.
pub(super) struct StopAt(u64, AtomicU64);

impl StopAt {
    pub(super) fn steps(stop: u32) -> Self {
        Self(stop.into(), AtomicU64::new(0))
    }
}

impl Progress for StopAt {
    fn report(&self, done: u64, _: Option<u64>, _: &str) {
        self.1.store(done, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

pub(super) fn tiny() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny")
}

/// The same without dropout, whose noise would hide the differences between the four samples of so small an
/// encoder.
pub(super) fn tiny_without_dropout(folder: &Path) {
    for entry in std::fs::read_dir(tiny()).unwrap().flatten().filter(|e| e.path().is_file()) {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let path = folder.join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for name in ["hidden_dropout_prob", "attention_probs_dropout_prob"] {
        config[name] = 0.0.into();
    }
    std::fs::write(&path, config.to_string()).unwrap();
}

pub(super) const BODIES: [&str; 4] = ["this is fair", "you are bad", "good work", "the cup is here"];

/// Two annotators who always disagree on four texts.
pub(super) fn four_samples() -> Vec<Observation> {
    (0..8).map(|i| Observation { text: i / 2, annotator: i % 2, level: ((i / 2 + i) % 2) as u16 }).collect()
}

pub(super) fn four<'a>(embeddings: &'a Embeddings, observations: &'a [Observation]) -> TrainingData<'a> {
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    TrainingData { embeddings, observations, annotators: 2, target, attributes: &[] }
}

pub(super) fn tuned(model: ModelKind, policy: FreezePolicy) -> TrainConfig {
    TrainConfig {
        epochs: 10,
        batch_size: 2,
        encoder_lr: 1e-3,
        head_lr: 1e-2,
        warmup_ratio: 0.0,
        schedule: Schedule::Constant,
        patience: 0,
        ..TrainConfig::new(model, policy)
    }
}

fn accuracy_on_four(trained: Trained, observations: &[Observation]) -> f64 {
    let x = trained.encoder().unwrap().unwrap().encode(&BODIES).unwrap();
    let x = Embeddings::new(x[0].len(), x.concat()).unwrap();
    let model = trained.model(&four(&x, observations), &FitOptions::default()).unwrap();
    let scored = dissensus_stats::metrics::score(model.as_ref(), observations);
    dissensus_stats::metrics::accuracy(&scored.truth(), &scored.predicted())
}

#[test]
fn tuned_sep_heads_memorise_four_samples() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let folder = tempfile::tempdir().unwrap();
    tiny_without_dropout(folder.path());
    let options = EncoderOptions { threads: Some(1), ..EncoderOptions::default() };
    let encoder = EncoderToTune { dir: folder.path(), options: &options, texts: &BODIES };
    for policy in [FreezePolicy::Full, FreezePolicy::LastK(1), FreezePolicy::Lora(LoraConfig::default())] {
        let config = TrainConfig {
            batch_size: 2,
            encoder_lr: 1e-3,
            head_lr: 2e-2,
            ..tuned(ModelKind::SepHeads, policy.clone())
        };
        let trainer = Trainer::new(four(&none, &observations), &[], Some(encoder), config).unwrap();
        let trained = trainer.run(&Silent, |_| ()).unwrap();
        assert_eq!(trained.history.len(), 10);
        let losses: Vec<f64> = trained.history.iter().filter_map(|r| r.train_loss).collect();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least < losses[0], "{policy}: {losses:?}");
        // Heads begin at 0 and so give the encoder no gradient in the first step; the head for new
        // annotators gets as many yes as no labels of each text: its gradient may well cancel out.
        let is_dead = |g: &&GradientNorm| g.norm == 0.0 && g.group != "head";
        let dead = trained.history[1..].iter().flat_map(|r| &r.gradients).find(is_dead);
        assert!(dead.is_none(), "{policy}: {dead:?}");
        assert_eq!(accuracy_on_four(trained, &observations), 1.0, "{policy}");
    }
}

#[test]
fn every_model_learns_on_a_tuned_encoder() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for kind in ModelKind::ALL {
        let config = tuned(kind, FreezePolicy::Full);
        let trainer = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let trained = trainer.run(&Silent, |_| ()).unwrap();
        assert!(
            trained.history.iter().all(|r| r.validation.is_some_and(|v| v.log_loss.is_finite())),
            "{kind}"
        );
        let folder = tempfile::tempdir().unwrap();
        assert!(trained.save_encoder(&folder.path().join("encoder")).unwrap());
        accuracy_on_four(trained, &observations);
    }
}

#[test]
fn training_is_reproducible_by_seed() {
    let sim = simulate(60, 5, 2, 6, 20, 1);
    let run = |seeds: Seeds| {
        let config = TrainConfig {
            seeds,
            epochs: 2,
            batch_size: 8,
            ..TrainConfig::new(ModelKind::ShareRecDcn, FreezePolicy::Frozen)
        };
        let trained = Trainer::new(data(&sim), &[], None, config).unwrap().run(&Silent, |_| ()).unwrap();
        trained.history.iter().map(|r| r.train_loss).collect::<Vec<_>>()
    };
    let first = run(Seeds::all(1));
    assert_eq!(first, run(Seeds::all(1)));
    for other in [
        Seeds { data: 2, ..Seeds::all(1) },
        Seeds { weights: 2, ..Seeds::all(1) },
        Seeds { dropout: 2, ..Seeds::all(1) },
    ] {
        assert_ne!(first, run(other), "{other:?}");
    }
}

#[test]
fn interrupted_training_resumes_to_the_same_numbers() {
    let sim = simulate(80, 6, 3, 5, 25, 2);
    let (train, validation): (Vec<_>, Vec<_>) = sim.observations.iter().partition(|o| o.text % 4 != 0);
    let data = TrainingData { observations: &train, ..data(&sim) };
    for kind in [ModelKind::SepHeads, ModelKind::ShareRecFfn, ModelKind::Shared, ModelKind::Multilevel] {
        let config = TrainConfig {
            epochs: 3,
            batch_size: 8,
            gradient_accumulation_steps: 2,
            eval_steps: Some(3),
            patience: 0,
            label_smoothing: 0.1,
            ..TrainConfig::new(kind, FreezePolicy::Frozen)
        };
        let trainer = Trainer::new(data, &validation, None, config.clone()).unwrap();
        let whole = trainer.clone().run(&Silent, |_| ()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Between two evaluations, and again in the next epoch.
        for stop in [4, 6] {
            let broken = trainer.clone().in_folder(folder.path()).run(&StopAt::steps(stop), |_| ());
            assert_eq!(broken.err(), Some(ModelError::Cancelled));
        }
        let mended = trainer.clone().in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        let numbers = |trained: &Trained| -> Vec<_> {
            trained.history.iter().map(|r| (r.step, r.train_loss, r.validation, r.best)).collect()
        };
        assert_eq!(numbers(&whole), numbers(&mended), "{kind}");
        let (a, b) = (whole.networks[0].tensors().unwrap(), mended.networks[0].tensors().unwrap());
        for (name, tensor) in &a {
            let values = |t: &candle_core::Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            assert_eq!(values(tensor), values(&b[name]), "{kind} {name}");
        }
        // A checkpoint is specific to its labels and configuration.
        let other = TrainConfig { epochs: 4, ..config };
        let other = Trainer::new(data, &validation, None, other).unwrap().in_folder(folder.path());
        assert!(matches!(other.run(&Silent, |_| ()), Err(ModelError::CheckpointMismatch { .. })));
    }
}

#[test]
fn tuned_encoder_resumes_to_the_same_numbers() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for policy in [FreezePolicy::Full, FreezePolicy::Lora(LoraConfig::default()), FreezePolicy::Prompt(3)] {
        let config = TrainConfig { epochs: 3, ..tuned(ModelKind::SepHeads, policy) };
        let trainer = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let whole = trainer.clone().run(&Silent, |_| ()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let broken = trainer.clone().in_folder(folder.path()).run(&StopAt::steps(3), |_| ());
        assert_eq!(broken.err(), Some(ModelError::Cancelled));
        let mended = trainer.in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        let losses = |t: &Trained| t.history.iter().map(|r| (r.train_loss, r.validation)).collect::<Vec<_>>();
        assert_eq!(losses(&whole), losses(&mended));
    }
}

/// The cache of texts during prompt training affects only memory: a training run resumes without it, and
/// with a cache of another size.
#[test]
fn prompt_training_resumes_with_any_cache() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let llama = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/families/llama");
    let keeping =
        |cached_bytes| EncoderOptions { threads: Some(2), cached_bytes, ..EncoderOptions::default() };
    let [all, some] = [keeping(None), keeping(Some(8_000))];
    for kind in [ModelKind::ShareRecFfn, ModelKind::Multilevel] {
        let config = TrainConfig { epochs: 3, ..tuned(kind, FreezePolicy::Prompt(3)) };
        let trainer = |options| {
            let encoder = EncoderToTune { dir: &llama, options, texts: &BODIES };
            Trainer::new(four(&none, &observations), &observations, Some(encoder), config.clone()).unwrap()
        };
        let whole = trainer(&all).run(&Silent, |_| ()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let broken = trainer(&all).in_folder(folder.path()).run(&StopAt::steps(3), |_| ());
        assert_eq!(broken.err(), Some(ModelError::Cancelled));
        let mended = trainer(&some).in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        let losses = |t: &Trained| t.history.iter().map(|r| (r.train_loss, r.validation)).collect::<Vec<_>>();
        assert_eq!(losses(&whole), losses(&mended), "{kind}");
    }
}

#[test]
fn saved_network_predicts_the_same() {
    let sim = simulate(40, 5, 3, 4, 15, 3);
    let attribute = Attribute {
        name: "age".into(),
        values: vec!["young".into(), "old".into()],
        of: vec![Some(0), Some(1), None, Some(1), Some(0)],
    };
    let attributes = [attribute];
    let data = TrainingData { attributes: &attributes, ..data(&sim) };
    for kind in [ModelKind::Majority, ModelKind::SepHeads, ModelKind::ShareRecFfn, ModelKind::ShareRecDcn] {
        let config = TrainConfig { epochs: 2, ..TrainConfig::new(kind, FreezePolicy::Frozen) };
        let config = TrainConfig {
            network: crate::networks::NetworkSpec {
                head: crate::networks::HeadSpec { hidden: 3, ..config.network.head.clone() },
                ..config.network.clone()
            },
            ..config
        };
        let trained = Trainer::new(data, &[], None, config).unwrap().run(&Silent, |_| ()).unwrap();
        let x = std::sync::Arc::new(sim.embeddings.clone());
        let model = trained.network_model(std::sync::Arc::clone(&x)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path()).unwrap();
        let again = crate::networks::NetworkModel::load(folder.path(), std::sync::Arc::clone(&x)).unwrap();
        let all = |model: &crate::networks::NetworkModel| {
            let mut p = vec![0.0; 40 * 3];
            model.predict_column(2, 0..40, &mut p);
            p
        };
        assert_eq!(all(&model), all(&again), "{kind}");
        let other = std::sync::Arc::new(Embeddings::new(3, vec![0.0; 9]).unwrap());
        let error = crate::networks::NetworkModel::load(folder.path(), other).err().unwrap();
        assert!(matches!(error, ModelError::EmbeddingLength { expected: 4, found: 3 }));
        for (file, bytes) in [("network.safetensors", &b"half"[..]), ("network.json", &b"{}"[..])] {
            std::fs::write(folder.path().join(file), bytes).unwrap();
            let error =
                crate::networks::NetworkModel::load(folder.path(), std::sync::Arc::clone(&x)).err().unwrap();
            assert!(matches!(error, ModelError::Damaged(_)), "{kind} {file}: {error}");
        }
    }
}

#[test]
fn nan_loss_stops_training_and_keeps_the_checkpoint() {
    let sim = simulate(60, 4, 2, 5, 20, 4);
    let folder = tempfile::tempdir().unwrap();
    let config = TrainConfig {
        batch_size: 10,
        // Weights that grow without bound.
        weight_decay: 1e38,
        max_grad_norm: 0.0,
        schedule: Schedule::Constant,
        warmup_ratio: 0.0,
        eval_steps: Some(1),
        patience: 0,
        epochs: 200,
        ..TrainConfig::new(ModelKind::ShareRecDcn, FreezePolicy::Frozen)
    };
    let trainer = Trainer::new(data(&sim), &[], None, config).unwrap().in_folder(folder.path());
    let error = trainer.run(&Silent, |_| ()).err().unwrap();
    let ModelError::LossNotFinite { step, kept, .. } = &error else { panic!("{error}") };
    assert!(*step > 1 && kept.contains(&format!("step {}", step - 1)), "{error}");
    let checkpoints = checkpoint::Checkpoints::new(folder.path(), 1).unwrap();
    let (state, tensors, _) = checkpoints.newest().unwrap();
    assert_eq!(state.step, step - 1);
    let weights = tensors["out.weight"].flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert!(weights.iter().all(|w| w.is_finite()));
}

#[test]
fn early_stopping_returns_the_best_weights() {
    let sim = simulate(40, 4, 2, 30, 20, 5);
    let (train, validation): (Vec<_>, Vec<_>) = sim.observations.iter().partition(|o| o.text % 3 != 0);
    let data = TrainingData { observations: &train, ..data(&sim) };
    let config = TrainConfig {
        epochs: 200,
        patience: 2,
        head_lr: 0.05,
        ..TrainConfig::new(ModelKind::SepHeads, FreezePolicy::Frozen)
    };
    let trained = Trainer::new(data, &validation, None, config).unwrap().run(&Silent, |_| ()).unwrap();
    assert_eq!(trained.ended, StopReason::EarlyStopping);
    let losses: Vec<f64> = trained.history.iter().map(|r| r.validation.unwrap().log_loss).collect();
    let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(losses.iter().rev().take_while(|l| **l != best).count(), 2);
    let model = trained.model(&data, &FitOptions::default()).unwrap();
    let scored = dissensus_stats::metrics::score(model.as_ref(), &validation);
    assert!((dissensus_stats::metrics::log_loss(&scored) - best).abs() < 1e-6);
}

#[test]
fn informative_attributes_are_learned() {
    // Young annotators answer yes, old ones no; every third annotator's age is unknown.
    let old = |a: u32| a % 2 == 1;
    let observations: Vec<Observation> = (0..600)
        .map(|i| Observation { text: i % 20, annotator: i / 20, level: u16::from(old(i / 20)) })
        .collect();
    let attribute = Attribute {
        name: "age".into(),
        values: vec!["young".into(), "old".into()],
        of: (0..30).map(|a| (a % 3 != 0).then(|| u16::from(old(a)))).collect(),
    };
    let x = Embeddings::new(2, (0..40).map(|i| (i % 7) as f32 / 7.0).collect()).unwrap();
    let attributes = [attribute];
    // The last six annotators have no training label: only their attributes are informative.
    let train: Vec<Observation> = observations.iter().filter(|o| o.annotator < 24).copied().collect();
    let data = TrainingData {
        embeddings: &x,
        observations: &train,
        annotators: 30,
        target: Target { kind: TargetKind::Binary, levels: 2 },
        attributes: &attributes,
    };
    for kind in [ModelKind::ShareRecFfn, ModelKind::ShareRecDcn] {
        let config = TrainConfig { head_lr: 5e-3, ..TrainConfig::new(kind, FreezePolicy::Frozen) };
        let trained = Trainer::new(data, &[], None, config).unwrap().run(&Silent, |_| ()).unwrap();
        let model = trained.model(&data, &FitOptions::default()).unwrap();
        let yes = |annotator: u32| {
            let mut p = [0.0; 2];
            model.predict(0, annotator, &mut p);
            p[1]
        };
        assert!(yes(25) > 0.7 && yes(26) < 0.3, "{kind}: {} {}", yes(25), yes(26));
    }
}

#[test]
fn invalid_trainings_are_refused() {
    let sim = simulate(10, 2, 2, 3, 5, 6);
    let new =
        |data: TrainingData<'_>, config: TrainConfig| Trainer::new(data, &[], None, config).err().unwrap();
    let config = TrainConfig::new(ModelKind::Shared, FreezePolicy::Frozen);
    let empty = TrainingData { observations: &[], ..data(&sim) };
    assert!(matches!(new(empty, config.clone()), ModelError::EmptySplit { side: "train", .. }));
    let bad = TrainConfig { batch_size: 0, ..config };
    assert!(matches!(new(data(&sim), bad), ModelError::Choice { field: "batch", .. }));
    let tuned = TrainConfig::new(ModelKind::Shared, FreezePolicy::Full);
    assert!(matches!(new(data(&sim), tuned), ModelError::Choice { field: "tuning", .. }));
    let (dir, options) = (tiny(), EncoderOptions::default());
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let tuned = TrainConfig::new(ModelKind::Shared, FreezePolicy::Full);
    let error = Trainer::new(data(&sim), &[], Some(encoder), tuned).err().unwrap();
    assert!(matches!(error, ModelError::Length { expected: 10, found: 4, .. }));
}

/// The network has only a linear head: it begins with the linear fit even where a Gaussian process would
/// predict better.
#[test]
fn multilevel_network_starts_from_the_linear_head() {
    use dissensus_models::batch::{AlternatingFit, Prepared, fit_at_face_value};
    // A score that is not linear in the embeddings: with the square of the first number.
    let mut sim = simulate(300, 12, 2, 3, 300, 4);
    for o in &mut sim.observations {
        let x = f64::from(sim.embeddings.row(o.text as usize)[0]);
        let far = x * x > 0.12;
        o.level = u16::from(if (o.text + o.annotator) % 9 == 0 { x > 0.0 } else { far });
    }
    let config = TrainConfig {
        epochs: 1,
        encoder_lr: 1e-9,
        head_lr: 1e-9,
        weight_decay: 0.0,
        patience: 0,
        ..TrainConfig::new(ModelKind::Multilevel, FreezePolicy::Frozen)
    };
    let trained = Trainer::new(data(&sim), &[], None, config.clone()).unwrap().run(&Silent, |_| ()).unwrap();
    let fit = |text_scores: bool| {
        let options =
            FitOptions { seed: config.seeds.weights, slopes: false, text_scores, ..FitOptions::default() };
        let prepared = Prepared::new(&data(&sim), &options).unwrap();
        let (head, crossed) = fit_at_face_value(&prepared, &options, &Silent).unwrap();
        let mut network = Network::new(
            trained.networks[0].spec.clone(),
            trained.networks[0].shape.clone(),
            &[0.0],
            0,
            &candle_core::Device::Cpu,
        )
        .unwrap();
        network.refit(&AlternatingFit::new(&head, &crossed)).unwrap();
        network.tensors().unwrap()
    };
    let values = |t: &candle_core::Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let (began, linear, with_process) = (trained.networks[0].tensors().unwrap(), fit(false), fit(true));
    assert!(began.iter().all(|(name, tensor)| values(tensor) == values(&linear[name])));
    assert!(began.iter().any(|(name, tensor)| values(tensor) != values(&with_process[name])));
    let head = began.iter().find(|(name, _)| name.contains("weight")).map(|(_, t)| values(t)).unwrap();
    assert!(head.iter().any(|w| w.abs() > 1e-3), "{head:?} {:?}", began.keys());
}

/// An epoch is scored on labels that no encoder has learned, neither this one nor its parent.
#[test]
fn validation_excludes_labels_of_the_parent_encoder() {
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let label = |text: u32, annotator: u32, level: u16| Observation { text, annotator, level };
    let train = [label(0, 0, 0), label(0, 1, 1), label(3, 0, 1), label(3, 1, 0)];
    let epochs = |parent: bool, of_text_1: u16| {
        let none = Embeddings::none(4).with_tuned_on([false, parent, false, false].into()).unwrap();
        let validation = [label(1, 0, of_text_1), label(1, 1, of_text_1), label(2, 0, 0), label(2, 1, 1)];
        let config = TrainConfig { epochs: 2, ..tuned(ModelKind::Multilevel, FreezePolicy::Full) };
        let trainer = Trainer::new(four(&none, &train), &validation, Some(encoder), config).unwrap();
        let trained = trainer.run(&Silent, |_| ()).unwrap();
        trained.history.iter().map(|record| record.validation.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(epochs(true, 0), epochs(true, 1));
    assert_ne!(epochs(false, 0), epochs(false, 1));
}

#[test]
fn frozen_multilevel_is_scored_with_calibration() {
    use dissensus_models::batch::{Multilevel, Prepared, fit_at_face_value};
    let mut sim = simulate(200, 5, 2, 3, 200, 4);
    sim.embeddings.tuned_on = Some((0..200).map(|text| text % 2 == 0).collect());
    let (train, validation): (Vec<_>, Vec<_>) = sim.observations.iter().partition(|o| o.text % 4 != 1);
    let data = TrainingData { observations: &train, ..data(&sim) };
    let config = TrainConfig { epochs: 1, ..TrainConfig::new(ModelKind::Multilevel, FreezePolicy::Frozen) };
    let trained =
        Trainer::new(data, &validation, None, config.clone()).unwrap().run(&Silent, |_| ()).unwrap();
    let shown = trained.history.last().unwrap().validation.unwrap().log_loss;
    let options = FitOptions { seed: config.seeds.weights, slopes: false, ..FitOptions::default() };
    let prepared = Prepared::new(&data, &options).unwrap();
    let loss = |model: &Multilevel| {
        dissensus_stats::metrics::log_loss(&dissensus_stats::metrics::score(model, &validation))
    };
    let predicts = loss(&Multilevel::fit(&prepared, &options, &Silent).unwrap());
    assert!((shown - predicts).abs() < 1e-9, "{shown} {predicts}");
    let (head, crossed) = fit_at_face_value(&prepared, &options, &Silent).unwrap();
    let naive = loss(&Multilevel::from_parts(head, crossed));
    assert!((shown - naive).abs() > 1e-6, "{shown} {naive}");
}

#[test]
fn epochs_scored_by_an_earlier_version_are_not_compared() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for (model, refused) in [(ModelKind::Multilevel, true), (ModelKind::SepHeads, false)] {
        let config = TrainConfig { epochs: 3, ..tuned(model, FreezePolicy::Full) };
        let trainer = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let trainer = trainer.in_folder(folder.path());
        assert!(trainer.clone().run(&StopAt::steps(3), |_| ()).is_err());
        for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
            let path = entry.path().join("state.json");
            let mut state: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            state["format"] = 2.into();
            std::fs::write(&path, state.to_string()).unwrap();
        }
        let again = trainer.run(&Silent, |_| ());
        match again {
            Err(error) => {
                let message = error.to_string();
                assert!(
                    refused && message.contains("earlier version") && message.contains("start a new run"),
                    "{message}"
                );
            }
            Ok(_) => assert!(!refused, "{model:?}"),
        }
    }
}

/// Six texts of another question on three levels, by three annotators of its own.
const OTHER_BODIES: [&str; 6] =
    ["the word is good", "you are the cup", "this is bad", "fair work", "here you are", "the work is here"];

fn of_other_question() -> Vec<Observation> {
    (0..18).map(|i| Observation { text: i / 3, annotator: i % 3, level: ((i / 3 + i) % 3) as u16 }).collect()
}

fn other_question(observations: &[Observation]) -> AuxiliaryTask<'_> {
    let target = Target { kind: TargetKind::Ordinal, levels: 3 };
    AuxiliaryTask { texts: &OTHER_BODIES, observations, annotators: 3, target, attributes: &[] }
}

/// A choice among five options by four annotators, on two of these texts.
fn small_question(observations: &[Observation]) -> AuxiliaryTask<'_> {
    let target = Target { kind: TargetKind::Nominal, levels: 5 };
    AuxiliaryTask { texts: &OTHER_BODIES[..2], observations, annotators: 4, target, attributes: &[] }
}

pub(super) fn values(tensor: &candle_core::Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap()
}

/// Every model learns both questions with networks of their own; an interrupted training run, also in the
/// middle of an epoch, resumes to the same numbers.
#[test]
fn auxiliary_training_resumes_to_the_same_numbers() {
    let (none, observations, others) = (Embeddings::none(4), four_samples(), of_other_question());
    let few: Vec<Observation> = (0..8)
        .map(|i| Observation { text: i / 4, annotator: i % 4, level: (i / 4 + i % 4) as u16 })
        .collect();
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for kind in ModelKind::ALL {
        let config = TrainConfig { epochs: 3, ..tuned(kind, FreezePolicy::Full) };
        let alone = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let tasks = [other_question(&others), small_question(&few)];
        let trainer = alone.clone().with_auxiliary(&tasks).unwrap();
        // 4 texts, of 6 the geometric mean, 5, and of 2 both, two at a time.
        assert_eq!((alone.steps_in_epoch(), trainer.steps_in_epoch(), trainer.planned_steps()), (2, 6, 18));
        let whole = trainer.clone().run(&Silent, |_| ()).unwrap();
        assert!(whole.history.iter().all(|r| r.train_loss.is_some_and(f64::is_finite)), "{kind}");
        let folder = tempfile::tempdir().unwrap();
        for stop in [3, 6, 11] {
            let broken = trainer.clone().in_folder(folder.path()).run(&StopAt::steps(stop), |_| ());
            assert_eq!(broken.err(), Some(ModelError::Cancelled));
        }
        let mended = trainer.clone().in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        let numbers = |trained: &Trained| -> Vec<_> {
            trained.history.iter().map(|r| (r.step, r.train_loss, r.validation, r.best)).collect()
        };
        assert_eq!(numbers(&whole), numbers(&mended), "{kind}");
        let (a, b) = (whole.networks[0].tensors().unwrap(), mended.networks[0].tensors().unwrap());
        assert!(a.iter().all(|(name, tensor)| values(tensor) == values(&b[name])), "{kind}");
        let x = |trained: &Trained| trained.encoder().unwrap().unwrap().encode(&BODIES).unwrap();
        assert_eq!(x(&whole), x(&mended), "{kind}");
        assert_ne!(x(&whole), x(&alone.run(&Silent, |_| ()).unwrap()), "{kind}: they taught the encoder");
        // A checkpoint is specific to its auxiliary labels too.
        let mut changed = others.clone();
        changed[4].level = (changed[4].level + 1) % 3;
        let other =
            Trainer::new(four(&none, &observations), &observations, Some(encoder), trainer.config.clone());
        let other = other.unwrap().with_auxiliary(&[other_question(&changed), tasks[1]]).unwrap();
        let error = other.in_folder(folder.path()).run(&Silent, |_| ()).err();
        assert!(matches!(error, Some(ModelError::CheckpointMismatch { .. })), "{kind}: {error:?}");
    }
}

#[test]
fn reported_loss_is_of_the_own_question() {
    let (none, observations, others) = (Embeddings::none(4), four_samples(), of_other_question());
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let config =
        TrainConfig { epochs: 2, eval_steps: Some(1), ..tuned(ModelKind::Shared, FreezePolicy::Full) };
    let trainer = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
    let trained = trainer.with_auxiliary(&[other_question(&others)]).unwrap().run(&Silent, |_| ()).unwrap();
    let losses: Vec<f64> = trained.history.iter().filter_map(|r| r.train_loss).collect();
    // Two steps of five are its own in each epoch; a step on only three levels has no loss to report.
    assert_eq!((trained.history.len(), losses.len()), (10, 4));
    assert!(losses.iter().all(|loss| *loss > 0.0));
}

/// The other question's labels affect the embeddings of texts without a label of the own question.
#[test]
fn auxiliary_question_improves_the_encoder() {
    let folder = tempfile::tempdir().unwrap();
    tiny_without_dropout(folder.path());
    let options = EncoderOptions { threads: Some(1), ..EncoderOptions::default() };
    // The own question has as many labels of each level on both texts; the other one distinguishes "bad"
    // from "good".
    let bodies = ["this is good", "this is bad", "the work is good", "the work is bad"];
    let own: Vec<Observation> =
        (0..4).map(|i| Observation { text: i / 2, annotator: i % 2, level: (i % 2) as u16 }).collect();
    let others: Vec<Observation> =
        (0..8).map(|i| Observation { text: i / 2, annotator: i % 2, level: (i / 2 % 2) as u16 }).collect();
    let other_bodies = ["you are good", "you are bad", "here is good work", "here is bad work"];
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let auxiliary =
        AuxiliaryTask { texts: &other_bodies, observations: &others, annotators: 2, target, attributes: &[] };
    let none = Embeddings::none(4);
    let encoder = EncoderToTune { dir: folder.path(), options: &options, texts: &bodies };
    let apart = |tasks: &[AuxiliaryTask<'_>]| {
        let config = tuned(ModelKind::Shared, FreezePolicy::Full);
        let config = TrainConfig { epochs: 60, encoder_lr: 5e-3, head_lr: 5e-2, ..config };
        let trainer = Trainer::new(four(&none, &own), &[], Some(encoder), config).unwrap();
        let trained = trainer.with_auxiliary(tasks).unwrap().run(&Silent, |_| ()).unwrap();
        let x = trained.encoder().unwrap().unwrap().encode(&bodies[2..]).unwrap();
        x[0].iter().zip(&x[1]).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
    };
    let (alone, taught) = (apart(&[]), apart(&[auxiliary]));
    assert!(taught > 1.5 * alone, "{alone} {taught}");
}

#[test]
fn invalid_auxiliary_questions_are_refused() {
    let (none, observations, others) = (Embeddings::none(4), four_samples(), of_other_question());
    let (dir, options) = (tiny(), EncoderOptions::default());
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let config = tuned(ModelKind::Shared, FreezePolicy::Full);
    let trainer = Trainer::new(four(&none, &observations), &[], Some(encoder), config).unwrap();
    let says = |task: AuxiliaryTask<'_>| trainer.clone().with_auxiliary(&[task]).err().unwrap();
    assert!(matches!(says(other_question(&[])), ModelError::EmptySplit { .. }));
    let few = AuxiliaryTask { texts: &OTHER_BODIES[..2], ..other_question(&others) };
    assert!(matches!(says(few), ModelError::UnknownText { texts: 2, .. }));
    let nobody = AuxiliaryTask { annotators: 1, ..other_question(&others) };
    assert!(matches!(says(nobody), ModelError::UnknownAnnotator { .. }));
    let sim = simulate(10, 2, 2, 3, 5, 6);
    let config = TrainConfig::new(ModelKind::ShareRecFfn, FreezePolicy::Frozen);
    let frozen = Trainer::new(data(&sim), &[], None, config).unwrap();
    let error = frozen.with_auxiliary(&[other_question(&others)]).err().unwrap();
    assert!(matches!(error, ModelError::Choice { field: "tuning", .. }), "{error}");
}
