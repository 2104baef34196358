//! Training runs: what is stored, resuming after an interruption, and comparing only like with like.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{encoded_sample, evaluate_levels, offensiveness, on_cpu};
use dissensus_analysis::EvaluateChoices;
use dissensus_analysis::train;
use dissensus_api::{ImportChoices, NewLabel, RunDetail, RunInfo, TrainChoices, Tuning, WorkState};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, OptionSet, Scale, ScaleKind, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use dissensus_transfer::exchange;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

fn choices(session: &Session, model: ModelKind, tuning: &str) -> TrainChoices {
    let choices = runs::choices_for(&session.runs, offensiveness(session), model, tuning).unwrap();
    TrainChoices { epochs: 2, ..choices }
}

fn run(session: &Session, choices: &TrainChoices) -> RunDetail {
    runs::train(&session.runs, choices, DeviceChoice::Cpu, &Silent).unwrap()
}

fn metric(run: &RunInfo, key: &str) -> f64 {
    run.scores.as_ref().unwrap().metrics.iter().find(|m| m.key == key).unwrap().value
}

#[test]
fn every_model_gives_a_comparable_run() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    for kind in ModelKind::ALL {
        let detail = run(&session, &choices(&session, kind, "frozen"));
        let info = &detail.info;
        assert_eq!((info.state, info.model), (WorkState::Finished, kind));
        let scores = info.scores.as_ref().unwrap();
        assert!(scores.metrics.len() >= 12, "{kind}");
        let loss = scores.metrics.iter().find(|m| m.key == "log_loss").unwrap();
        assert!(loss.low.unwrap() < loss.value && loss.value < loss.high.unwrap() && !loss.higher_is_better);
        assert_eq!(detail.classes.len(), 5);
        let in_table: u32 = detail.confusion.iter().flatten().sum();
        assert_eq!((in_table, detail.sizes.test_labels), (scores.labels, scores.labels));
        assert_eq!(detail.annotators.len() as u32, scores.annotators);
        assert!(!info.data_changed && !info.resumable);
    }
    let runs = runs::list(&session.runs).unwrap();
    assert_eq!(runs.len(), 6);
    let of = |kind: ModelKind| runs.iter().find(|run| run.model == kind).unwrap();
    let (multilevel, shared) = (of(ModelKind::Multilevel), of(ModelKind::Shared));
    assert!(metric(multilevel, "log_loss") < metric(shared, "log_loss"));
    let found = runs::compare_runs(&session.runs, shared.id, multilevel.id).unwrap();
    let loss = found.metrics.iter().find(|m| m.key == "log_loss").unwrap();
    assert!((loss.b - loss.a - (metric(multilevel, "log_loss") - metric(shared, "log_loss"))).abs() < 1e-12);
    assert!(loss.p.unwrap() < 0.05 && loss.high.unwrap() < 0.0, "{loss:?}");
    assert_eq!(found.annotators.len(), 8);

    let other = TrainChoices { seed: 7, ..choices(&session, ModelKind::Shared, "frozen") };
    let other = run(&session, &other);
    let error = runs::compare_runs(&session.runs, other.info.id, shared.id).unwrap_err();
    assert_eq!(error.code(), "not-comparable");
    assert_eq!(runs::compare_runs(&session.runs, 99, shared.id).unwrap_err().code(), "no-such-run");
}

#[test]
fn figures_of_a_run_match_evaluate() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let detail = run(&session, &choices(&session, ModelKind::Multilevel, "frozen"));
    let evaluated = evaluate_levels(
        &session.analysis,
        &EvaluateChoices {
            question: Some("offensiveness".into()),
            models: vec![ModelKind::Multilevel],
            split: SplitSpec::ByText(0.7),
            seed: 0,
            at_least: None,
            tuning: "frozen".into(),
            encoder: on_cpu(),
            prediction_sets: false,
            without_slips: false,
        },
        &Silent,
    )
    .unwrap();
    assert_eq!(evaluated.models[0].scores.log_loss.unwrap(), metric(&detail.info, "log_loss"));
    // So are its baselines, and they are the same in a comparison with another run on the same labels;
    // validation labels trained a network.
    let network = run(&session, &choices(&session, ModelKind::ShareRecFfn, "frozen"));
    let comparison = runs::compare_runs(&session.runs, network.info.id, detail.info.id).unwrap();
    for found in [&detail.baselines, &network.baselines, &comparison.baselines] {
        assert_eq!(found.len(), evaluated.baselines.len());
        for (ours, theirs) in found.iter().zip(&evaluated.baselines) {
            assert_eq!(ours.name, theirs.model);
            let defined = theirs.scores.values().into_iter().filter_map(|(key, value)| Some((key, value?)));
            let ours: Vec<(&str, f64)> = ours.metrics.iter().map(|m| (m.key.as_str(), m.value)).collect();
            assert_eq!(ours, defined.collect::<Vec<_>>());
        }
    }
}

#[test]
fn tuned_encoder_is_stored_and_predicts_when_used() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let before = session.encoding.state().unwrap().version.unwrap();
    let detail = run(&session, &choices(&session, ModelKind::Multilevel, "full"));
    let info = detail.info;
    assert_eq!(info.epochs.len(), 2);
    assert!(info.epochs.iter().all(|e| e.validation_loss.is_some() && !e.gradients.is_empty()));
    assert!(info.usable && !info.predicts);
    let files = folder.path().join(format!("sample.dissensus.runs/{}", info.uid));
    let encoder = files.join("encoder");
    for file in ["model.safetensors", "tokenizer.json", "config.json"] {
        assert!(encoder.join(file).is_file(), "{file}");
    }
    assert!(!files.join("checkpoints").exists());

    let frozen = run(&session, &choices(&session, ModelKind::SepHeads, "frozen")).info.id;
    let predicted = || {
        let text = "You call that a recipe?";
        runs::predict(&session.runs, &[frozen], AnnotatorId(2), TextToPredict::New(text), &Silent)
            .unwrap()
            .swap_remove(0)
            .probabilities
    };
    let by_the_encoder_of_before = predicted();

    runs::use_run(&session.runs, Some(info.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let tuned = session.encoding.state().unwrap();
    assert_ne!(tuned.version.as_ref().unwrap(), &before);
    assert!(runs::detail(&session.runs, info.id).unwrap().info.predicts);
    assert_eq!(predicted(), by_the_encoder_of_before, "a frozen run keeps its encoder");
    runs::use_run(&session.runs, Some(info.id)).unwrap();
    train::train(&session.analysis, Some("offensiveness"), &Silent).unwrap();
    runs::use_run(&session.runs, None).unwrap();
    assert_eq!(session.encoding.state().unwrap().version.unwrap(), before);

    let shared = run(&session, &choices(&session, ModelKind::Shared, "last-1"));
    assert_eq!(runs::use_run(&session.runs, Some(shared.info.id)).unwrap_err().code(), "cannot-predict");
    runs::use_run(&session.runs, Some(info.id)).unwrap();
    runs::delete(&session.runs, info.id).unwrap();
    assert_eq!(session.encoding.state().unwrap().version.unwrap(), before, "back to the encoder of before");
    assert!(!encoder.exists());
    assert_eq!(runs::detail(&session.runs, info.id).unwrap_err().code(), "no-such-run");
}

/// Stops at the second evaluation.
struct StopAfterFirst(AtomicBool);

impl Progress for StopAfterFirst {
    fn report(&self, done: u64, total: Option<u64>, _: &str) {
        if total.is_some_and(|total| done > total / 2) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn stopped_run_resumes_to_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = TrainChoices { epochs: 4, ..choices(&session, ModelKind::SepHeads, "last-1") };
    let whole = run(&session, &asked);
    let stop = StopAfterFirst(AtomicBool::new(false));
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &stop).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    assert!(stopped.resumable && stopped.state == WorkState::Cancelled && stopped.scores.is_none());
    assert_eq!(runs::resume(&session.runs, whole.info.id).unwrap_err().code(), "not-resumable");
    let mended = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
    let losses = |run: &RunDetail| {
        run.info.epochs.iter().map(|e| (e.step, e.train_loss, e.validation_loss)).collect::<Vec<_>>()
    };
    assert_eq!(losses(&whole), losses(&mended));
    assert_eq!(metric(&whole.info, "log_loss"), metric(&mended.info, "log_loss"));
}

#[test]
fn frozen_run_fails_if_texts_are_not_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let file = folder.path().join("more.csv");
    std::fs::write(&file, "text_id,text\nmore-1,one more\n").unwrap();
    let asked = choices(&session, ModelKind::Multilevel, "frozen");
    let (say, received) = mpsc::channel();
    let (exchange, once) = (session.exchange.clone(), AtomicBool::new(false));
    session.subscribe(move |event| match event {
        // The run was requested and is about to begin.
        Event::Job(_) if !once.swap(true, Ordering::Relaxed) => {
            let silent: Arc<dyn Progress> = Arc::new(Silent);
            exchange::import(&exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
        }
        Event::Run(info) if info.state != WorkState::Running => drop(say.send(info.clone())),
        _ => {}
    });
    let id = runs::start(&session.runs, &asked).unwrap();
    let ended = received.recv_timeout(Duration::from_secs(120)).unwrap();
    assert_eq!((ended.id, ended.state), (id, WorkState::Failed));
    assert_eq!(ended.problem.unwrap().code, "not-encoded");
}

#[test]
fn background_run_reports_progress_during_labelling() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let (say, received) = mpsc::channel();
    session.subscribe(move |event| {
        if let Event::Run(info) = event {
            let _ = say.send(info.clone());
        }
    });
    let asked =
        TrainChoices { epochs: 6, patience: 0, ..choices(&session, ModelKind::ShareRecFfn, "frozen") };
    let id = runs::start(&session.runs, &asked).unwrap();
    assert_eq!(runs::start(&session.runs, &asked).unwrap_err().code(), "busy");
    let who = annotators::add(&session.project, "Robin", &Default::default()).unwrap().id;
    let label = NewLabel {
        question: asked.question,
        text: TextId(1),
        annotator: who,
        answer: Answer::from_level(2),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &label).unwrap();
    let mut epochs = 0;
    let last = loop {
        let info = received.recv_timeout(Duration::from_secs(120)).unwrap();
        assert!(info.epochs.len() >= epochs);
        epochs = info.epochs.len();
        if info.state != WorkState::Running {
            break info;
        }
    };
    assert_eq!((last.id, last.state, epochs), (id, WorkState::Finished, 6));
    assert!(runs::list(&session.runs).unwrap()[0].data_changed, "a label came after it began");
}

#[test]
fn last_choices_are_offered_in_the_window_only() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let fresh =
        runs::defaults(&session.runs, offensiveness(&session), ModelKind::ShareRecDcn, Tuning::Frozen)
            .unwrap();
    assert_eq!(
        fresh,
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::ShareRecDcn, "frozen").unwrap()
    );
    let asked = TrainChoices { epochs: 1, batch: 32, ..fresh.clone() };
    run(&session, &asked);
    assert_eq!(
        runs::defaults(&session.runs, offensiveness(&session), ModelKind::ShareRecDcn, Tuning::Frozen)
            .unwrap(),
        asked
    );
    assert_eq!(
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::ShareRecDcn, "frozen").unwrap(),
        fresh
    );
}

#[test]
fn failed_run_stores_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = TrainChoices {
        // The weights grow a thousandfold in every step.
        head_lr: 10.0,
        weight_decay: 100.0,
        epochs: 50,
        patience: 0,
        warmup: 0.0,
        max_grad_norm: 0.0,
        ..choices(&session, ModelKind::ShareRecDcn, "frozen")
    };
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err();
    assert!(error.to_string().contains("stopped being a number at step"), "{error}");
    let kept = runs::list(&session.runs).unwrap().remove(0);
    assert_eq!(kept.state, WorkState::Failed);
    assert_eq!(kept.problem.unwrap().message, error.to_string());

    for (bad, field) in [
        (TrainChoices { split: SplitSpec::Column, ..asked.clone() }, "train"),
        (TrainChoices { split: SplitSpec::KFold { folds: 200, fold: Some(1) }, ..asked.clone() }, "200"),
        (TrainChoices { head_lr: -1.0, ..asked.clone() }, "head_lr"),
    ] {
        let error = runs::train(&session.runs, &bad, DeviceChoice::Cpu, &Silent).unwrap_err();
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn option_trains_like_a_binary_question() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat"]).unwrap();
    let question =
        questions::add(&session.project, AddQuestion::new("harm", "What is in it?", scale)).unwrap();
    for i in 0..120_u32 {
        let answer = Answer::Options(OptionSet::from_bits(u64::from((i * 7 + i / 40) % 4)));
        let (annotator, text) = (AnnotatorId(1 + i % 3), TextId(1 + i / 3));
        let new = NewLabel { annotator, text, question: question.id, answer, duration_ms: None };
        record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
    }
    let threat = &question.options[1];
    assert_eq!(threat.name, "harm: threat");
    for kind in ModelKind::ALL {
        let choices = TrainChoices {
            epochs: 2,
            ..runs::choices_for(&session.runs, threat.id, kind, "frozen").unwrap()
        };
        let detail = run(&session, &choices);
        let names: Vec<&str> = detail.classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(
            (names, detail.info.question_name.as_str()),
            (vec!["no", "yes"], "harm: threat"),
            "{kind}"
        );
        let whole = runs::choices_for(&session.runs, question.id, kind, "frozen").unwrap();
        let first = run(&session, &TrainChoices { epochs: 2, ..whole });
        let other = runs::detail(&session.runs, first.info.trained_with[0]).unwrap();
        assert_eq!(
            [first, other.clone()].map(|run| run.info.question_name),
            ["harm: rude", "harm: threat"].map(str::to_owned)
        );
        // On a frozen encoder an option learns nothing from the other one.
        assert_eq!(other.info.scores.unwrap().metrics, detail.info.scores.unwrap().metrics, "{kind}");
    }
}

#[test]
fn steps_determine_evaluations_and_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked = TrainChoices {
        epochs: 50,
        max_steps: 12,
        evaluate_every: 5,
        patience: 0,
        ..choices(&session, ModelKind::ShareRecFfn, "frozen")
    };
    let steps: Vec<u32> = run(&session, &asked).info.epochs.iter().map(|epoch| epoch.step).collect();
    assert_eq!(steps, [5, 10, 12]);
}

#[test]
fn report_format_follows_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let ids: Vec<u32> = [ModelKind::ShareRecFfn, ModelKind::Multilevel]
        .iter()
        .map(|kind| run(&session, &choices(&session, *kind, "frozen")).info.id)
        .collect();
    let write = |name: &str| {
        let path = folder.path().join(name);
        runs::export(&session.runs, &ids, &path, false).map(|()| std::fs::read_to_string(&path).unwrap())
    };
    let table = write("r.csv").unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows[0], "run,question,model,encoder,split,seed,metric,value,low,high,seconds,device");
    assert!(
        rows.iter().any(|row| row.starts_with("2,offensiveness,multilevel,frozen,by-text:0.7,0,log_loss,"))
    );
    let all: serde_json::Value = serde_json::from_str(&write("r.json").unwrap()).unwrap();
    assert_eq!(all[1]["info"]["model"], "multilevel");
    let people = annotators::list(&session.project).unwrap();
    let shown = all[0]["annotators"].as_array().unwrap();
    assert!(
        shown.len() == people.len() && shown.iter().all(|one| one["name"].as_str().unwrap().starts_with('A')),
        "{shown:?}"
    );
    let tex = write("r.tex").unwrap();
    assert!(tex.contains("\\begin{tabular}") && tex.contains("\\textbf{0."));
    assert_eq!(tex.matches(" \\\\").count(), 3);
    let page = write("r.html").unwrap();
    assert_eq!(page.matches("<svg").count(), 5, "learning curves, and two plots a run");
    assert!(!page.contains("<script") && !page.contains("http-equiv") && !page.contains("src="));
    // People have pseudonyms in it, and attribute values of fewer than five people are hidden.
    let cells = |page: &str, cell: &str| page.matches(&format!("<td>{cell}</td>")).count();
    assert!(people.iter().all(|one| cells(&page, &one.external_id) + cells(&page, &one.name) == 0));
    assert_eq!(cells(&page, "A1"), 2, "a row a run");
    // Eight people: the three who differ from the other five in moderating could be identified.
    assert!(!page.contains("People by their attributes") && page.contains("of attributes not shown"));
    let with_ids = folder.path().join("ids.html");
    runs::export(&session.runs, &ids, &with_ids, true).unwrap();
    let page = std::fs::read_to_string(&with_ids).unwrap();
    assert!(cells(&page, "A1") == 0 && people.iter().any(|one| cells(&page, &one.external_id) == 2));
    let error = write("r.docx").unwrap_err();
    assert_eq!(error.code(), "report-kind");
    assert!(!folder.path().join("r.docx").exists());
    assert_eq!(
        runs::export(&session.runs, &[77], &folder.path().join("x.csv"), false).unwrap_err().code(),
        "no-such-run"
    );
}
