//! Auxiliary questions of other projects for a run's encoder: scored texts are not trained on, and a run
//! resumes regardless of later changes to them.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{StopHalfWay, encoder, evaluate_levels, home, import_into, on_cpu, tiny};
use dissensus_analysis::EvaluateChoices;
use dissensus_api::{AuxiliaryQuestion, ImportChoices, NewLabel, RunDetail, TrainChoices};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, TextId};
use dissensus_editing::CopyChoices;
use dissensus_editing::annotators;
use dissensus_editing::copy;
use dissensus_editing::questions;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_store::{RunId, RunPart, Store};
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn body(text: u32) -> String {
    let word = ["good", "bad", "fair", "not fair", "ungood"][text as usize % 5];
    format!("this comment is {word} and {text}")
}

/// Labels of these texts by everyone, as a CSV file. `bodies` returns the spelling of a body.
fn rows(
    texts: impl IntoIterator<Item = u32>,
    annotators: &[&str],
    bodies: impl Fn(u32) -> String,
    level: impl Fn(u32, usize) -> usize,
) -> String {
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in texts {
        for (i, annotator) in annotators.iter().enumerate() {
            let label = ["no", "yes"][level(text, i)];
            csv.push_str(&format!("t{text},{},{annotator},{label}\n", bodies(text)));
        }
    }
    csv
}

fn usual(text: u32, annotator: usize) -> usize {
    usize::from(text % 5 == 1 || (text + annotator as u32).is_multiple_of(7))
}

/// A new project with these labels.
fn project(folder: &TempDir, name: &str, question: &str, csv: &str) -> (Session, PathBuf) {
    let path = folder.path().join(name);
    let session = Session::create(&path, &home(folder)).unwrap();
    import_into(&session, question, csv);
    (session, path)
}

const OWN: [&str; 3] = ["a", "b", "c"];
const OTHERS: [&str; 4] = ["k", "l", "m", "n"];
/// Number of texts of the trained project.
const TEXTS: u32 = 60;

/// The trained project: 60 texts with labels, encoded by a tiny encoder.
fn own(folder: &TempDir) -> Session {
    // In an order opposite to the other projects': their rows differ.
    let csv = rows((0..TEXTS).rev(), &OWN, body, usual);
    let (session, _) = project(folder, "own.dissensus", "rude", &csv);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn asked(path: &Path, question: Option<&str>) -> AuxiliaryQuestion {
    let project = path.to_string_lossy().into_owned();
    AuxiliaryQuestion { project, question: question.map(str::to_owned) }
}

fn choices(session: &Session, tuning: &str, auxiliary: Vec<AuxiliaryQuestion>) -> TrainChoices {
    let question = questions::find(&session.project, Some("rude")).unwrap().id;
    let choices = runs::choices_for(&session.runs, question, ModelKind::Multilevel, tuning).unwrap();
    let split = SplitSpec::ByText(0.6);
    TrainChoices { epochs: 2, patience: 0, encoder_lr: 1e-3, split, auxiliary, ..choices }
}

fn train(session: &Session, choices: &TrainChoices) -> RunDetail {
    runs::train(&session.runs, choices, DeviceChoice::Cpu, &Silent).unwrap()
}

/// Bits of the test figures, and of training and validation loss at each step.
type Figures = (Vec<u64>, Vec<(u32, [Option<u64>; 2])>);

fn figures(run: &RunDetail) -> Figures {
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    let metrics = &run.info.scores.as_ref().unwrap().metrics;
    (
        metrics.iter().map(|m| m.value.to_bits()).collect(),
        run.info.epochs.iter().map(|e| (e.step, [bits(e.train_loss), bits(e.validation_loss)])).collect(),
    )
}

/// The other project has every body of this one in a slightly different spelling, and stays open in its
/// window meanwhile.
#[test]
fn scored_texts_are_not_trained_on_by_another_project() {
    let folder = tempfile::tempdir().unwrap();
    let session = own(&folder);
    let shouted = |text: u32| format!("  {} ", body(text).to_uppercase());
    let other = |name: &str, level: &dyn Fn(u32, usize) -> usize| {
        project(&folder, name, "harsh", &rows(0..90, &OTHERS, shouted, level))
    };
    let (window, path) = other("other.dissensus", &usual);
    let run = train(&session, &choices(&session, "last-1", vec![asked(&path, None)]));
    let sizes = &run.sizes;
    let of = &run.auxiliary[0];
    assert_eq!(of.left_out_texts, sizes.validation_texts + sizes.test_texts);
    assert_eq!(
        (of.texts, of.labels, of.annotators),
        (90 - of.left_out_texts, 4 * (90 - of.left_out_texts), 4)
    );
    assert_eq!((of.file.as_str(), of.question.as_str()), ("other.dissensus", "harsh"));
    let report_lines = format!("{} of its texts are left out", of.left_out_texts);
    assert!(
        run.notes.iter().any(|note| note.contains(&report_lines) && note.contains(&of.project)),
        "{:?}",
        run.notes
    );
    // It is reported again, and none of its files remain where the run has its own.
    assert_eq!(runs::detail(&session.runs, run.info.id).unwrap().auxiliary, run.auxiliary);
    let files = folder.path().join("own.dissensus.runs").join(&run.info.uid);
    assert!(!files.join("auxiliary.json").exists());
    // Left behind by a kill at the end of the run, it is not passed on.
    std::fs::write(files.join("auxiliary.json"), "[]").unwrap();
    let copy = folder.path().join("copy.dissensus");
    let with_runs = CopyChoices { runs: true, ..CopyChoices::default() };
    copy::save_copy(&session.project, &copy, with_runs, &Silent).unwrap();
    let copied = folder.path().join("copy.dissensus.runs").join(&run.info.uid);
    assert!(copied.join("run.json").exists() && !copied.join("auxiliary.json").exists());
    let card = std::fs::read_to_string(files.join("run.json")).unwrap();
    assert!(card.contains("other.dissensus") && !card.contains(&*folder.path().to_string_lossy()), "{card}");

    let store = Store::open_reader(folder.path().join("own.dissensus")).unwrap();
    let trained = store.run_labels(RunId(run.info.id), RunPart::Train).unwrap().labels;
    // Texts are numbered from 1 in the order of addition.
    let scored = |text: u32| text < TEXTS && trained.iter().all(|label| label.text != TextId(TEXTS - text));
    let flipped = |which: &dyn Fn(u32) -> bool, text: u32, annotator: usize| {
        if which(text) { 1 - usual(text, annotator) } else { usual(text, annotator) }
    };
    let again = |name: &str, level: &dyn Fn(u32, usize) -> usize| {
        let (_, path) = other(name, level);
        figures(&train(&session, &choices(&session, "last-1", vec![asked(&path, Some("harsh"))])))
    };
    let same = again("scored.dissensus", &|text, annotator| flipped(&scored, text, annotator));
    assert_eq!(same, figures(&run), "labels of texts that are scored changed the run");
    let not = again("taught.dissensus", &|text, annotator| {
        flipped(&|text| !scored(text) && text % 3 == 0, text, annotator)
    });
    assert_ne!(not, figures(&run), "labels of other texts changed nothing");
    let alone = figures(&train(&session, &choices(&session, "last-1", Vec::new())));
    assert_ne!(alone.0, figures(&run).0);
    // The stored labels are those of each body that is not scored, and no others.
    let asked = choices(&session, "last-1", vec![asked(&path, None)]);
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    let kept = folder.path().join("own.dissensus.runs").join(&stopped.uid).join("auxiliary.json");
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let found: BTreeSet<(String, usize, usize)> = kept[0]["observations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| {
            let body = kept[0]["bodies"][number(&o["text"])].as_str().unwrap().trim().to_lowercase();
            (body, number(&o["annotator"]), number(&o["level"]))
        })
        .collect();
    let expected = (0..90).filter(|text| !scored(*text)).flat_map(|text| {
        (0..OTHERS.len()).map(move |annotator| (body(text), annotator, usual(text, annotator)))
    });
    assert_eq!(found, expected.collect());
    // A later run does not take the other project's file from this one.
    let question = run.choices.question;
    let next =
        runs::defaults(&session.runs, question, ModelKind::Multilevel, run.choices.tuning.clone()).unwrap();
    assert!(next.auxiliary.is_empty() && next.epochs == 2);
    window.close();
}

#[test]
fn run_resumes_without_the_other_project() {
    let folder = tempfile::tempdir().unwrap();
    let session = own(&folder);
    let (window, path) = project(&folder, "other.dissensus", "harsh", &rows(40..90, &OTHERS, body, usual));
    for (tuning, model) in [("last-1", ModelKind::Multilevel), ("lora", ModelKind::SepHeads)] {
        let asked = TrainChoices { model, ..choices(&session, tuning, vec![asked(&path, None)]) };
        let whole = train(&session, &asked);
        let stop =
            || runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
        assert_eq!(stop().code(), "cancelled");
        let stopped = runs::list(&session.runs).unwrap().remove(0);
        assert!(stopped.resumable);
        if model == ModelKind::Multilevel {
            import_into(&window, "harsh", &rows(90..120, &OTHERS, body, usual));
        } else {
            window.close();
            std::fs::rename(&path, folder.path().join("elsewhere.dissensus")).unwrap();
        }
        let resumed = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
        if model == ModelKind::Multilevel {
            // `whole` was trained before the import, like the interrupted run.
            assert_eq!(resumed.auxiliary, whole.auxiliary);
        }
        assert_eq!(figures(&resumed), figures(&whole), "{tuning}");
        let files = folder.path().join("own.dissensus.runs").join(&stopped.uid);
        assert!(!files.join("auxiliary.json").exists());
        if model == ModelKind::Multilevel {
            // Without the stored labels it reports an error and does not begin.
            stop();
            let stopped = runs::list(&session.runs).unwrap().remove(0);
            let kept = folder.path().join("own.dissensus.runs").join(&stopped.uid).join("auxiliary.json");
            let bytes = std::fs::read(&kept).unwrap();
            std::fs::write(&kept, &bytes[..bytes.len() / 2]).unwrap();
            let error = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap_err();
            assert!(
                error.code() == "not-resumable" && error.to_string().contains("auxiliary.json"),
                "{error}"
            );
            std::fs::remove_file(&kept).unwrap();
            let error = runs::resume_here(&session.runs, stopped.id, &Silent).unwrap_err();
            assert!(error.to_string().contains("auxiliary questions are not there"), "{error}");
        }
    }
}

fn evaluate(
    session: &Session,
    question: &str,
    split: SplitSpec,
    seed: u32,
) -> Result<(usize, usize), ProjectError> {
    let choices = EvaluateChoices {
        question: Some(question.into()),
        models: vec![ModelKind::Shared],
        split,
        seed,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let split = evaluate_levels(&session.analysis, &choices, &Silent)?.split;
    Ok((split.left_out_texts, split.test_texts))
}

/// Number of excluded test texts, and of scored ones.
fn left_out(session: &Session, question: &str, split: SplitSpec, seed: u32) -> (usize, usize) {
    evaluate(session, question, split, seed).unwrap()
}

/// Wherever the encoder is used, both projects know which of their texts it has learned from.
#[test]
fn both_projects_know_the_training_texts_of_the_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let session = own(&folder);
    // 30 texts without a label, which the other project has labels of.
    let texts: String = (100..130).map(|text| format!("u{text},{}\n", body(text))).collect();
    let file = folder.path().join("texts.csv");
    std::fs::write(&file, format!("text_id,text\n{texts}")).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    let (other, path) = project(&folder, "other.dissensus", "harsh", &rows(90..150, &OTHERS, body, usual));
    let run = train(&session, &choices(&session, "last-1", vec![asked(&path, None)]));
    assert_eq!((run.auxiliary[0].texts, run.auxiliary[0].left_out_texts), (60, 0));

    let tuned = folder.path().join("own.dissensus.runs").join(&run.info.uid).join("encoder");
    let handed_on = std::fs::read_to_string(tuned.join("training_data.json")).unwrap();
    assert!(handed_on.contains(&run.auxiliary[0].project) && !handed_on.contains("\"t90\""), "{handed_on}");
    import_into(&other, "harsh", &rows(150..250, &["k", "l", "m", "n", "new"], body, usual));
    other.encoding.encode(&tiny(), &Silent).unwrap();
    let (none, all) = left_out(&other, "harsh", SplitSpec::ByText(0.5), 1);
    assert_eq!(none, 0);
    other.encoding.encode(&encoder(&tuned), &Silent).unwrap();
    let (seen, tested) = left_out(&other, "harsh", SplitSpec::ByText(0.5), 1);
    assert!(seen > 15 && seen + tested == all, "{seen} of {all}");

    // Here texts with the same bodies get labels later.
    runs::use_run(&session.runs, Some(run.info.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let question = run.choices.question;
    let who = annotators::list(&session.project).unwrap()[0].id;
    for text in (TEXTS + 1..=TEXTS + 30).map(TextId) {
        let answer = Answer::from_level(u16::from(text.0 % 3 == 0));
        let label = NewLabel { question, text, annotator: who, answer, duration_ms: None };
        record::record_label(&session.labelling, RecordLabel::new(&label, LabelSource::Command)).unwrap();
    }
    let (seen, tested) = left_out(&session, "rude", SplitSpec::ByText(0.1), 5);
    // Of 90 texts 81 are tested: only the test texts of the run can be scored.
    assert!(tested as u32 <= run.sizes.test_texts && seen + tested == 81, "{seen} {tested}");
}

/// Texts of the official test split with labels in other projects, and texts of a group that is scored, are
/// not trained on either.
#[test]
fn texts_of_a_scored_group_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    // Of every three texts two have a label; they are a group, and in one part of the official split.
    let part = |text: u32| if text.is_multiple_of(4) { "test" } else { "train" };
    let line = |text: u32| format!("t{text},{},g{},{}", body(text), text / 3, part(text / 3));
    let mut csv = "text_id,text,group,split,annotator_id,label\n".to_owned();
    for text in (0..90).filter(|text| text % 3 != 2) {
        for (i, annotator) in OWN.iter().enumerate() {
            csv.push_str(&format!("{},{annotator},{}\n", line(text), ["no", "yes"][usual(text, i)]));
        }
    }
    let (session, path) = project(&folder, "own.dissensus", "rude", &csv);
    let mut csv = "text_id,text,group,split\n".to_owned();
    (0..90).filter(|text| text % 3 == 2).for_each(|text| csv.push_str(&format!("{}\n", line(text))));
    let file = folder.path().join("texts.csv");
    std::fs::write(&file, csv).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let (_, other) = project(&folder, "other.dissensus", "harsh", &rows(0..90, &OTHERS, body, usual));
    let store = Store::open_reader(&path).unwrap();
    for (split, by_groups) in [(SplitSpec::Column, false), (SplitSpec::Grouped(0.5), true)] {
        let choices = TrainChoices { split, ..choices(&session, "last-1", vec![asked(&other, None)]) };
        let run = train(&session, &choices);
        let labels = store.run_labels(RunId(run.info.id), RunPart::Train).unwrap().labels;
        let texts: BTreeSet<TextId> = labels.iter().map(|label| label.text).collect();
        let taught = run.auxiliary[0].texts as usize;
        if by_groups {
            // Two texts of each group have labels here, the third one does not.
            assert_eq!(taught, texts.len() / 2 * 3);
        } else {
            // Of the 30 groups 8 are the test; validation was drawn from labelled texts of the others.
            assert_eq!(taught, 66 - run.sizes.validation_texts as usize);
        }
        assert_eq!(run.auxiliary[0].left_out_texts as usize, 90 - taught);
    }
}

#[test]
fn held_out_people_are_excluded_from_auxiliary_questions() {
    let folder = tempfile::tempdir().unwrap();
    let people: Vec<String> = (0..12).map(|who| format!("p{who}")).collect();
    let people: Vec<&str> = people.iter().map(String::as_str).collect();
    let csv = rows(0..40, &people, body, usual);
    let (session, path) = project(&folder, "own.dissensus", "rude", &csv);
    import_into(&session, "harsh", &rows(40..80, &people, body, usual));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let same = vec![asked(&path, Some("harsh"))];
    let by_people =
        TrainChoices { split: SplitSpec::ByAnnotator(0.5), ..choices(&session, "last-1", same.clone()) };
    let run = train(&session, &by_people);
    let trained = run.auxiliary[0].annotators;
    assert!((2..=6).contains(&trained), "{trained}");
    assert_eq!(run.auxiliary[0].labels, 40 * trained);
    // Other labels of held-out annotators change nothing, those of training annotators do.
    let store = Store::open_reader(&path).unwrap();
    let labels = store.run_labels(RunId(run.info.id), RunPart::Train).unwrap().labels;
    let trained: BTreeSet<AnnotatorId> = labels.iter().map(|label| label.annotator).collect();
    let question = questions::find(&session.project, Some("harsh")).unwrap().id;
    let change = |who: AnnotatorId| {
        for text in (41..=80).step_by(3).map(TextId) {
            let answer = Answer::from_level(u16::from(text.0 % 2 == 0));
            let label = NewLabel { question, text, annotator: who, answer, duration_ms: None };
            record::record_label(&session.labelling, RecordLabel::new(&label, LabelSource::Command)).unwrap();
        }
    };
    let everybody = annotators::list(&session.project).unwrap();
    everybody.iter().filter(|who| !trained.contains(&who.id)).for_each(|who| change(who.id));
    assert_eq!(figures(&train(&session, &by_people)), figures(&run));
    change(*trained.first().unwrap());
    assert_ne!(figures(&train(&session, &by_people)), figures(&run));
    // In a split by text everyone's labels are used for training.
    let run = train(&session, &choices(&session, "last-1", same));
    assert_eq!(run.auxiliary[0].annotators, 12);
    // The project knows that its texts with the other question trained the encoder.
    runs::use_run(&session.runs, Some(run.info.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let error = evaluate(&session, "harsh", SplitSpec::ByText(0.5), 1).unwrap_err();
    assert!(error.to_string().contains("tuned on the labels of this project"), "{error}");
}

#[test]
fn unusable_auxiliary_questions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = own(&folder);
    let (other, path) = project(&folder, "other.dissensus", "harsh", &rows(90..130, &OTHERS, body, usual));
    import_into(&other, "sarcastic", &rows(90..100, &OTHERS, body, usual));
    let own_path = folder.path().join("own.dissensus");
    let copy = folder.path().join("copy.dissensus");
    copy::save_copy(&session.project, &copy, CopyChoices::default(), &Silent).unwrap();
    let empty = folder.path().join("empty.dissensus");
    drop(Session::create(&empty, &home(&folder)).unwrap());
    let no_project = folder.path().join("in.csv");
    let scored = folder.path().join("scored.dissensus");
    drop(project(&folder, "scored.dissensus", "harsh", &rows(0..TEXTS, &["x"], body, usual)));
    let says = |tuning: &str, auxiliary: Vec<AuxiliaryQuestion>| -> ProjectError {
        let asked = choices(&session, tuning, auxiliary);
        runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err()
    };
    let harsh = || asked(&path, Some("harsh"));
    for (tuning, auxiliary, words) in [
        ("frozen", vec![harsh()], "other.dissensus teaches nothing where the encoder is frozen"),
        ("full", vec![asked(&own_path, Some("rude"))], "is what the run itself learns"),
        ("full", vec![asked(&copy, None)], "copy.dissensus with this question is what the run itself learns"),
        ("full", vec![asked(&path, None)], "has several questions: name one of harsh, sarcastic"),
        ("full", vec![asked(&path, Some("rude"))], "has no question \"rude\": it has harsh, sarcastic"),
        ("full", vec![harsh(), harsh()], "named twice"),
        ("full", vec![asked(&empty, None)], "asks nothing"),
        ("full", vec![asked(&no_project, None)], "is not a Dissensus project"),
        ("full", vec![asked(&folder.path().join("gone.dissensus"), None)], "there is no project at"),
    ] {
        let error = says(tuning, auxiliary);
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(runs::list(&session.runs).unwrap().is_empty(), "a refused run leaves a row");
    // Every text with a label of the own question is scored or trained on: in a split by annotators, all
    // are scored.
    let by_people = TrainChoices {
        split: SplitSpec::ByAnnotator(0.7),
        ..choices(&session, "last-1", vec![asked(&scored, None)])
    };
    let error = runs::train(&session.runs, &by_people, DeviceChoice::Cpu, &Silent).unwrap_err();
    assert!(error.to_string().contains("no label of \"harsh\" that can teach"), "{error}");
}

/// Candidates in the window: every question with labels except the run's own, in any copy of the project.
#[test]
fn auxiliary_candidates_are_listed_with_label_counts() {
    let folder = tempfile::tempdir().unwrap();
    let session = own(&folder);
    let rude = questions::find(&session.project, Some("rude")).unwrap().id;
    import_into(&session, "kind", &rows(0..10, &OWN, body, usual));
    let (other, path) = project(&folder, "other.dissensus", "rude", &rows(0..20, &OTHERS, body, usual));
    import_into(&other, "fair", &rows(0..5, &OTHERS, body, usual));
    let offered = |path: &Path| -> Vec<(String, String, u32)> {
        let found = runs::auxiliary_candidates(&session.runs, rude, path).unwrap();
        assert!(found.iter().all(|one| Path::new(&one.project) == path));
        found.into_iter().map(|one| (one.file, one.question, one.labels)).collect()
    };
    let of = |file: &str, question: &str, labels: u32| (file.to_owned(), question.to_owned(), labels);
    let own = folder.path().join("own.dissensus");
    assert_eq!(offered(&own), [of("own.dissensus", "kind", 30)]);
    assert_eq!(offered(&path), [of("other.dissensus", "rude", 80), of("other.dissensus", "fair", 20)]);
    let copy = folder.path().join("copy.dissensus");
    copy::save_copy(&session.project, &copy, CopyChoices::default(), &Silent).unwrap();
    assert_eq!(offered(&copy), [of("copy.dissensus", "kind", 30)]);
    let none = folder.path().join("none.dissensus");
    assert!(runs::auxiliary_candidates(&session.runs, rude, &none).is_err());
}
