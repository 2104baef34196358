//! The same body under two ids: on one side of every division, and reported for the official one.

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use crate::support::{create, evaluate_levels, import_csv, on_cpu, tiny};
use dissensus_analysis::{EvaluateChoices, Evaluation};
use dissensus_api::{ImportChoices, TrainChoices};
use dissensus_app::session::Session;
use dissensus_editing::questions;
use dissensus_encoder::DeviceChoice;
use dissensus_project::jobs::Silent;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::runs;
use std::fmt::Write;
use tempfile::TempDir;

/// 60 texts, the last 30 officially for the test, of which ten repeat a training text with other case and
/// white space; five annotators.
fn project(folder: &TempDir) -> Session {
    let mut csv = String::from("text_id,text,annotator,label,split\n");
    for text in 0..60u32 {
        let part = if text < 30 { "train" } else { "test" };
        let body = match text {
            30..40 => format!("  Text  NUMBER {}", text - 30),
            _ => format!("text number {text}"),
        };
        for who in 0..5u32 {
            let level = (text.wrapping_mul(2_654_435_761).wrapping_add(who * 977) >> 11) % 2;
            writeln!(csv, "t{text},{body},a{who},{level},{part}").unwrap();
        }
    }
    let session = create(&folder.path().join("p.dissensus"));
    import_csv(&session, &csv, &ImportChoices::default());
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn evaluate(session: &Session, split: SplitSpec) -> Evaluation {
    let choices = EvaluateChoices {
        question: None,
        models: vec![ModelKind::Shared, ModelKind::Multilevel],
        split,
        seed: 1,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    evaluate_levels(&session.analysis, &choices, &Silent).unwrap()
}

#[test]
fn copies_in_the_official_split_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(&folder);
    let found = evaluate(&session, SplitSpec::Column);
    assert_eq!((found.split.test_texts, found.split.copies_in_training), (30, 10), "it stays as it is");
    let without = found.without_copies.unwrap();
    assert_eq!((without.texts, without.labels), (20, 100));
    assert_eq!(without.models.len(), 2);
    assert!(without.models.iter().chain(&without.baselines).all(|model| model.scores.n_labels == 100));
    let loss = |models: &[dissensus_selection::evaluation::Evaluation]| models[1].scores.log_loss.unwrap();
    assert_ne!(loss(&without.models), loss(&found.models));
    for split in ["by-text:0.7", "k-fold:5", "stratified:0.7"] {
        let found = evaluate(&session, split.parse().unwrap());
        assert_eq!(found.split.copies_in_training, 0, "{split}");
        assert!(found.without_copies.is_none());
    }
}

#[test]
fn run_splits_like_evaluate_and_reports_copies() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(&folder);
    let question = questions::find(&session.project, None).unwrap().id;
    let run = |split: &str| {
        let choices = runs::choices_for(&session.runs, question, ModelKind::Shared, "frozen").unwrap();
        let choices = TrainChoices { split: split.parse().unwrap(), seed: 1, ..choices };
        runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap()
    };
    // Validation labels drawn from the official training labels are part of these in baselines.
    let choices = runs::choices_for(&session.runs, question, ModelKind::ShareRecFfn, "frozen").unwrap();
    let choices = TrainChoices { split: SplitSpec::Column, seed: 1, max_steps: 4, ..choices };
    let network = runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(network.sizes.validation_labels > 0);
    let found = evaluate(&session, SplitSpec::Column);
    for (ours, theirs) in network.baselines.iter().zip(&found.baselines) {
        let loss = ours.metrics.iter().find(|metric| metric.key == "log_loss").map(|metric| metric.value);
        assert_eq!((&ours.name, loss), (&theirs.model, theirs.scores.log_loss));
    }
    assert_eq!(network.baselines.len(), 3);
    for split in ["by-text:0.7", "stratified:0.6", "column"] {
        let (run, found) = (run(split), evaluate(&session, split.parse().unwrap()));
        let metric = run.info.scores.as_ref().unwrap().metrics.iter().find(|m| m.key == "log_loss").unwrap();
        assert_eq!(Some(metric.value), found.models[0].scores.log_loss, "{split}");
        let reported = run.notes.iter().any(|note| note.contains("body of 10 texts of the test also occurs"));
        assert_eq!(reported, split == "column", "{:?}", run.notes);
    }
}
