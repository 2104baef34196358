//! Runs that train a soft prompt: the encoder is unchanged, and what was learned is stored with the run.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{StopHalfWay, encoder, evaluate_levels, home, offensiveness, on_cpu, sample_in};
use dissensus_analysis::EvaluateChoices;
use dissensus_api::{RunDetail, TrainChoices};
use dissensus_app::session::Session;
use dissensus_editing::annotators;
use dissensus_encoder::DeviceChoice;
use dissensus_project::jobs::Silent;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn family(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/families").join(name)
}

/// The sample, encoded by a tiny encoder that reads 20 tokens at once.
fn sample(folder: &TempDir, name: &str) -> Session {
    let session = sample_in(folder);
    session.encoding.encode(&encoder(&family(name)), &Silent).unwrap();
    session
}

fn open(folder: &Path) -> Session {
    Session::open(&folder.join("sample.dissensus"), &home(folder)).unwrap()
}

fn choices(session: &Session, model: ModelKind, tuning: &str) -> TrainChoices {
    let choices = runs::choices_for(&session.runs, offensiveness(session), model, tuning).unwrap();
    TrainChoices { epochs: 2, patience: 0, ..choices }
}

fn trained(session: &Session, asked: &TrainChoices) -> RunDetail {
    runs::train(&session.runs, asked, DeviceChoice::Cpu, &Silent).unwrap()
}

/// All results of a run, to the last digit.
fn figures(run: &RunDetail) -> (Vec<u64>, Vec<Option<u64>>) {
    let metrics = &run.info.scores.as_ref().unwrap().metrics;
    (
        metrics.iter().map(|metric| metric.value.to_bits()).collect(),
        run.info.epochs.iter().map(|epoch| epoch.validation_loss.map(f64::to_bits)).collect(),
    )
}

fn predicted(session: &Session, run: u32) -> Vec<f32> {
    let annotator = annotators::list(&session.project).unwrap()[0].id;
    runs::predict(&session.runs, &[run], annotator, TextToPredict::New("You fool"), &Silent)
        .unwrap()
        .swap_remove(0)
        .probabilities
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

fn encoder_of(folder: &Path, run: &RunDetail) -> PathBuf {
    folder.join("sample.dissensus.runs").join(&run.info.uid).join("encoder")
}

#[test]
fn soft_prompt_belongs_to_its_run() {
    for (name, model) in
        [("llama", ModelKind::ShareRecFfn), ("gpt2", ModelKind::SepHeads), ("bert", ModelKind::Shared)]
    {
        let folder = tempfile::tempdir().unwrap();
        let before = contents(&family(name));
        let session = sample(&folder, name);
        let asked = choices(&session, model, "prompt-3");
        let (run, again) = (trained(&session, &asked), trained(&session, &asked));
        assert_eq!(figures(&run), figures(&again), "{name}: a seed gives one run");
        let other = trained(&session, &TrainChoices { seed: 1, ..asked });
        assert_ne!(figures(&run), figures(&other), "{name}");

        assert_eq!(contents(&family(name)), before, "{name}: nothing of the encoder has changed");
        let own = contents(&encoder_of(folder.path(), &run));
        assert_eq!(own["model.safetensors"], before["model.safetensors"]);
        assert!(own["soft_prompt.safetensors"].len() < 4096);
        assert_eq!((run.info.vectors, run.choices.vectors), (3, 3));
        // The model reads 20 tokens, of which the prompt takes three.
        let note = run.notes.iter().find(|note| note.contains("soft prompt of 3 vectors")).unwrap();
        assert!(note.contains("cut to 17 tokens"), "{note}");

        // Moved together, project and runs predict as before.
        let says = predicted(&session, run.info.id);
        drop(session);
        let elsewhere = tempfile::tempdir().unwrap();
        for part in ["sample.dissensus", "sample.dissensus.runs"] {
            std::fs::rename(folder.path().join(part), elsewhere.path().join(part)).unwrap();
        }
        assert_eq!(predicted(&open(elsewhere.path()), run.info.id), says, "{name}");
    }
}

#[test]
fn interrupted_run_resumes_to_the_same_numbers() {
    for (name, model) in [("llama", ModelKind::Multilevel), ("bert", ModelKind::SepHeads)] {
        let folder = tempfile::tempdir().unwrap();
        let session = sample(&folder, name);
        let asked = TrainChoices { epochs: 4, ..choices(&session, model, "prompt-2") };
        let whole = trained(&session, &asked);
        let error =
            runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
        assert_eq!(error.code(), "cancelled");
        let stopped = runs::list(&session.runs).unwrap().remove(0);
        drop(session);
        let session = open(folder.path());
        let resumed = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
        assert_eq!(figures(&resumed), figures(&whole), "{name}");
        assert_eq!(predicted(&session, resumed.info.id), predicted(&session, whole.info.id), "{name}");
    }
}

fn evaluation() -> EvaluateChoices {
    EvaluateChoices {
        question: Some("offensiveness".into()),
        models: vec![ModelKind::Shared],
        split: SplitSpec::ByText(0.5),
        seed: 1,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    }
}

fn left_out(session: &Session) -> usize {
    evaluate_levels(&session.analysis, &evaluation(), &Silent).unwrap().split.left_out_texts
}

#[test]
fn encoder_with_prompt_is_used_and_knows_training_texts() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder, "qwen2");
    let plain = session.encoding.state().unwrap().version.unwrap();
    let asked = choices(&session, ModelKind::Multilevel, "prompt-4");
    let run = trained(&session, &TrainChoices { split: SplitSpec::ByText(0.5), ..asked.clone() });
    runs::use_run(&session.runs, Some(run.info.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let version = session.encoding.state().unwrap().version.unwrap();
    assert!(version != plain && version.contains("/last/16"), "{version}");
    assert!(left_out(&session) > 20, "texts that taught the prompt are not scored with it");
    // Nothing else is trained on top of a prompt, which is reported.
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err();
    assert!(error.to_string().contains("has a soft prompt"), "{error}");
    // The encoder without it has learned nothing from them.
    runs::use_run(&session.runs, None).unwrap();
    let encoder = Some(family("qwen2").to_string_lossy().into_owned());
    session.encoding.encode(&EncoderChoice { encoder, ..EncoderChoice::default() }, &Silent).unwrap();
    assert_eq!(session.encoding.state().unwrap().version.unwrap(), plain);
    assert_eq!(left_out(&session), 0);
}

#[test]
fn each_evaluated_model_has_its_own_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder, "llama");
    let models = vec![ModelKind::Shared, ModelKind::Multilevel];
    let asked = EvaluateChoices { models, tuning: "prompt-2".into(), ..evaluation() };
    let found = evaluate_levels(&session.analysis, &asked, &Silent).unwrap();
    assert_eq!(found.models.len(), 2);
    assert_eq!(found.split.left_out_texts, 0);
    let error = evaluate_levels(
        &session.analysis,
        &EvaluateChoices { tuning: "prompt-65".into(), ..evaluation() },
        &Silent,
    );
    assert!(error.unwrap_err().to_string().contains("from 1 to 64"));
}

#[test]
fn invalid_prompts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder, "llama");
    for tuning in ["prompt-0", "prompt-65"] {
        let asked = choices(&session, ModelKind::Shared, tuning);
        let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err().to_string();
        assert!(error.contains("vectors") && error.contains("from 1 to 64"), "{error}");
    }
    for tuning in ["prompt", "prompt-x"] {
        let error =
            runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Shared, tuning).unwrap_err();
        assert!(error.to_string().contains("prompt-N"), "{error}");
    }
    let asked = choices(&session, ModelKind::Shared, "prompt-20");
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err();
    assert!(error.to_string().contains("no room for a text"), "{error}");
}
