//! Models of marked words: fitted on a fixed encoder, or learned together with it; and what is shown while
//! labels change.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

mod leaving;

use crate::support::{OpenSession, StopHalfWay, Stopped, home, tiny};
use dissensus_analysis::EvaluateChoices;
use dissensus_analysis::evaluation;
use dissensus_analysis::word_models;
use dissensus_analysis::word_table;
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, ImportChoices, JointQuestion, NewLabel, RunDetail, TrainChoices,
    WordHeat, WordNeeds,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, LabelSource, LevelId, QuestionId, ScaleKind, Span, SpanSet, TextId, WorkState,
};
use dissensus_editing::copy;
use dissensus_editing::questions;
use dissensus_editing::{CopyChoices, QuestionChange};
use dissensus_encoder::{DeviceChoice, Pooling};
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::undo;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_test_support::TestProject;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const TEXTS: u32 = 100;

/// "this comment is", a word, "and", a number: six words.
fn body(text: u32) -> String {
    let word = ["good", "bad", "fair", "work", "here"][text as usize % 5];
    format!("this comment is {word} and {text}")
}

/// Three people: all mark "bad" as an insult, the third every word with the second type too.
fn marks(text: u32, who: u32) -> Answer {
    let mut spans = Vec::new();
    if text % 5 == 1 {
        spans.push(Span { start: 16, end: 19, kind: LevelId(0) });
    }
    if who == 3 {
        spans.push(Span { start: 0, end: body(text).chars().count() as u32, kind: LevelId(1) });
    }
    Answer::Spans(SpanSet::new(spans).unwrap())
}

fn label(session: &Session, question: QuestionId, text: u32, who: u32, answer: Answer) {
    let (text, annotator) = (TextId(text), AnnotatorId(who));
    let new = NewLabel { question, text, annotator, answer, duration_ms: None };
    record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
}

/// A hundred texts (numbers from 1), of which the first `answered` are answered by three people to "where"
/// (passages) and by two to "rude" (yes or no).
fn project(folder: &Path, answered: u32) -> Session {
    let of_all = |people: u32| (1..=answered).flat_map(move |text| (1..=people).map(move |who| (text, who)));
    let session = TestProject::new()
        .texts_with(TEXTS, body)
        .annotators(["a", "b", "c"])
        .question("where", ScaleKind::Spans, ["insult", "all"])
        .answers(of_all(3).map(|(text, who)| (text, who, marks(text, who))))
        .binary("rude", ["no", "yes"])
        .labels(of_all(2).map(|(text, who)| (text, who, u16::from(text % 5 == 1))))
        .session(&folder.join("p.dissensus"));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn id(session: &Session, name: &str) -> QuestionId {
    questions::find(&session.project, Some(name)).unwrap().id
}

fn set_levels(session: &Session, question: &str, names: &[&str]) {
    let question = questions::find(&session.project, Some(question)).unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let levels = Some(questions::levels_named(&question, &names));
    let change = QuestionChange { levels, ..QuestionChange::default() };
    questions::edit(&session.project, question.id, &change).unwrap();
}

fn undo(session: &Session, who: u32) {
    let of = [id(session, "where")];
    let undone = undo::undo(&session.labelling, AnnotatorId(who), of, LabelSource::Command).unwrap();
    assert!(undone.is_some());
}

fn heat(session: &Session, of_type: &str, text: u32, reading_as: Option<u32>) -> WordHeat {
    let query = DisagreementQuery {
        question: id(session, of_type),
        by: DisagreementMeasure::Pairwise,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    word_models::heat(&session.analysis, &query, TextId(text), reading_as.map(AnnotatorId), false).unwrap()
}

fn expected(heat: &WordHeat) -> Vec<f64> {
    heat.words.iter().map(|word| word.expected.unwrap()).collect()
}

#[test]
fn word_model_follows_answers_and_retractions() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 40);
    assert_eq!(heat(&session, "where: insult", 1, None).needs, Some(WordNeeds::Fit));
    let report =
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap();
    assert_eq!((report.answers, report.texts, report.tuned), (120, TEXTS, false));

    // On an unlabelled text the marked word stands out, and the person who marks everything differs from
    // the others.
    let before = heat(&session, "where: insult", 41, None);
    assert_eq!((before.words.len(), before.answers, before.people, before.needs), (6, 0, 3, None));
    let p = expected(&before);
    assert!((0..6).all(|word| word == 3 || p[3] > 2.0 * p[word]), "{p:?}");
    let all = heat(&session, "where: all", 41, None);
    assert!(all.words.iter().all(|word| word.differ.unwrap() > 0.3), "one of three marks every word");

    // An answer moves its text, and undo restores it.
    let other = expected(&heat(&session, "where: insult", 46, None));
    let answer = SpanSet::new([Span { start: 0, end: 4, kind: LevelId(0) }]).unwrap();
    label(&session, id(&session, "where"), 41, 1, Answer::Spans(answer));
    let after = heat(&session, "where: insult", 41, None);
    assert_eq!(after.words[0].marked_by, [AnnotatorId(1)]);
    assert!(expected(&after)[0] > p[0] && expected(&after)[3] < p[3], "{:?}", expected(&after));
    undo(&session, 1);
    // The mode is searched from the last one on, and found to the ninth digit.
    let near = |text: u32, before: &[f64]| {
        let now = expected(&heat(&session, "where: insult", text, None));
        assert!(
            now.iter().zip(before).all(|(now, before)| (now - before).abs() < 1e-9),
            "{now:?} {before:?}"
        );
    };
    near(41, &p);
    near(46, &other);

    // Labels of another question, and skips, have no effect.
    label(&session, id(&session, "rude"), 41, 1, Answer::from_level(1));
    near(41, &p);
}

#[test]
fn own_expected_marks_are_hidden_until_answered() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 30);
    word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
        .unwrap();
    // Three people; the reader is excluded.
    let hidden = heat(&session, "where: all", 50, Some(3));
    assert_eq!((hidden.people, hidden.reader_left_out), (2, true));
    let shown = heat(&session, "where: all", 50, None);
    assert_eq!((shown.people, shown.reader_left_out), (3, false));
    assert!(expected(&hidden)[0] < expected(&shown)[0], "without the one who marks everything");
    label(&session, id(&session, "where"), 50, 3, marks(50, 3));
    assert_eq!(heat(&session, "where: all", 50, Some(3)).people, 3);
    undo(&session, 3);
    assert_eq!(heat(&session, "where: all", 50, Some(3)).people, 2);
}

/// Signals that it was reached, and waits to be released.
#[derive(Default)]
struct Gate {
    reached: AtomicBool,
    open: AtomicBool,
}

impl Progress for Gate {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        self.reached.store(true, Ordering::SeqCst);
        while !self.open.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn concurrent_word_fits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 30);
    let (gate, choice) = (Gate::default(), EncoderChoice::default());
    std::thread::scope(|scope| {
        let fit = scope.spawn(|| {
            word_models::fit_words(&session.analysis, id(&session, "where"), &choice, &gate).unwrap()
        });
        while !gate.reached.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let error =
            word_models::fit_words(&session.analysis, id(&session, "where"), &choice, &Silent).unwrap_err();
        assert_eq!(error.code(), "busy");
        // The window is not blocked, and labels given now are not lost to the model.
        label(&session, id(&session, "where"), 31, 1, marks(31, 1));
        label(&session, id(&session, "where"), 1, 1, Answer::Spans(SpanSet::new([]).unwrap()));
        gate.open.store(true, Ordering::SeqCst);
        fit.join().unwrap();
    });
    let found = heat(&session, "where: insult", 31, None);
    let same_words = heat(&session, "where: insult", 36, None);
    assert!(expected(&found)[3] > expected(&same_words)[3], "the answer counts");
    assert_eq!(heat(&session, "where: insult", 1, None).answers, 3);
}

/// The next session shows a model of words with the current answers, in the project and in its copies.
#[test]
fn word_model_is_restored_in_reopened_projects_and_copies() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 30);
    word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
        .unwrap();
    // Answers after the fit count: one new, one changed, one taken back.
    label(&session, id(&session, "where"), 41, 1, marks(41, 1));
    label(&session, id(&session, "where"), 2, 2, Answer::Spans(SpanSet::new([]).unwrap()));
    label(&session, id(&session, "where"), 42, 2, marks(42, 2));
    undo(&session, 2);
    let (path, copy) = (folder.path().join("p.dissensus"), folder.path().join("copy.dissensus"));
    copy::save_copy(&session.project, &copy, CopyChoices::default(), &Silent).unwrap();
    let shown = |session: &Session| {
        [2, 41, 42, 99].map(|text| {
            let heat = heat(session, "where: insult", text, None);
            (expected(&heat), heat.fitted_on.unwrap(), heat.answers)
        })
    };
    let before = shown(&session);
    assert_eq!((before[1].1.answers, before[1].1.now), (90, 91));
    drop(session);
    for file in [&path, &copy] {
        let session = Session::open(file, &home(folder.path())).unwrap();
        // Concurrent requests read it once, and all get the same.
        let found: Vec<_> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..4).map(|_| scope.spawn(|| shown(&session))).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for one in &found {
            for ((p, fitted_on, answers), (before, of_before, answers_before)) in one.iter().zip(&before) {
                assert_eq!((fitted_on, answers), (of_before, answers_before));
                let near = p.iter().zip(before).all(|(now, before)| (now - before).abs() < 1e-9);
                assert!(near, "{p:?} {before:?}");
            }
        }
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap();
        assert_eq!(heat(&session, "where: insult", 41, None).fitted_on.unwrap().answers, 91);
    }
}

#[test]
fn stored_word_model_must_match_encoder_texts_and_types() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 30);
    word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
        .unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let more = folder.path().join("more.csv");
    std::fs::write(&more, "text_id,text\nlate,this comment is bad\n").unwrap();
    exchange::import(&session.exchange, &more, &ImportChoices::default(), Some(&silent)).unwrap();
    drop(session);
    let path = folder.path().join("p.dissensus");
    let session = Session::open(&path, &home(folder.path())).unwrap();
    let needs = |text: u32| heat(&session, "where: insult", text, None).needs;
    assert_eq!(
        (needs(41), needs(TEXTS + 1)),
        (None, Some(WordNeeds::Fit)),
        "the words of a later text were not read"
    );

    // With other pooling the project has other words, regardless of the stored file.
    let pooled = EncoderChoice { pooling: Some(Pooling::Max), ..tiny() };
    session.encoding.encode(&pooled, &Silent).unwrap();
    assert_eq!(needs(41), Some(WordNeeds::Fit));
    let as_before = EncoderChoice { pooling: Some(Pooling::Mean), ..tiny() };
    session.encoding.encode(&as_before, &Silent).unwrap();
    assert_eq!(needs(41), None, "and they are there again with the encoder that read them");
}

#[test]
fn stored_word_model_remains_without_answers() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 12);
    word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
        .unwrap();
    (0..12).for_each(|_| (1..=3).for_each(|who| undo(&session, who)));
    let before = heat(&session, "where: insult", 41, None);
    drop(session);
    let session = Session::open(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let after = heat(&session, "where: insult", 41, None);
    assert_eq!((after.needs, after.answers), (None, 0));
    assert_eq!(after.fitted_on, before.fitted_on);
    assert!(expected(&after).iter().zip(expected(&before)).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn words_are_shown_by_id_and_written_to_a_table_of_all_texts() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 30);
    let analysis = &session.analysis;
    let marked = word_table::read(analysis, Some("where"), "t1").unwrap();
    assert_eq!(
        (marked.people, marked.words[3].types[0].expected),
        (0, None),
        "without a model who marked it alone"
    );
    word_models::fit_words(analysis, id(&session, "where"), &EncoderChoice::default(), &Silent).unwrap();
    let found = word_table::read(analysis, Some("where"), "t1").unwrap();
    assert_eq!((found.answers, found.people, found.types.len()), (3, 3, 2));
    let bad = &found.words[3];
    assert_eq!((bad.word.as_str(), bad.start, bad.end), ("bad", 16, 19));
    assert_eq!((bad.types[0].marked_by.len(), &bad.types[1].marked_by[..]), (3, &["c".to_owned()][..]));
    assert!(bad.types[0].expected.unwrap() > 0.5);
    assert_eq!(word_table::read(analysis, Some("where"), "nobody").unwrap_err().code(), "no-such-text");
    assert!(word_table::read(analysis, Some("rude"), "t1").is_err());

    let out = folder.path().join("words.csv");
    let written = word_table::write(analysis, Some("where"), &out, false, &Silent).unwrap();
    assert_eq!((written.texts, written.rows), (u64::from(TEXTS), u64::from(TEXTS) * 6 * 2));
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text.lines().next().unwrap(), "text_id,start,end,word,type,marked,answers,expected,differ");
    assert!(text.lines().any(|line| line.starts_with("t1,16,19,bad,insult,3,3,")), "{text}");
    assert_eq!(text.lines().count() as u32, 1 + TEXTS * 6 * 2);
    // Nothing is replaced without a request, and nothing is half written.
    assert_eq!(
        word_table::write(analysis, Some("where"), &out, false, &Silent).unwrap_err().code(),
        "export-exists"
    );
    let other = folder.path().join("other.csv");
    assert!(word_table::write(analysis, Some("where"), &other, false, &Stopped).is_err());
    assert!(!other.exists());
}

fn choices(session: &Session, model: ModelKind, names: &[&str]) -> TrainChoices {
    let joint = names.iter().map(|name| JointQuestion { question: id(session, name), weight: 1.0 }).collect();
    let choices = runs::choices_for(&session.runs, id(session, names[0]), model, "full").unwrap();
    TrainChoices {
        epochs: 3,
        patience: 0,
        encoder_lr: 2e-3,
        head_lr: 2e-2,
        split: SplitSpec::ByText(0.8),
        validation: 0.5,
        joint,
        ..choices
    }
}

fn all(session: &Session, first: &RunDetail) -> Vec<RunDetail> {
    let mut numbers = first.info.trained_with.clone();
    numbers.push(first.info.id);
    numbers.sort_unstable();
    numbers.into_iter().map(|number| runs::detail(&session.runs, number).unwrap()).collect()
}

/// The same bits, for two ways to one training run.
fn scores(session: &Session, run: u32) -> String {
    let words = runs::trained_words(&session.runs, run).unwrap();
    assert_eq!(words.len(), 1);
    serde_json::to_string(&words[0].scores).unwrap()
}

#[test]
fn jointly_trained_words_predict_when_the_run_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 90);
    for model in [ModelKind::Shared, ModelKind::Multilevel] {
        let asked = choices(&session, model, &["where", "rude"]);
        let first = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
        let runs = all(&session, &first);
        let names: Vec<&str> = runs.iter().map(|run| run.info.question_name.as_str()).collect();
        assert_eq!(names, ["where: insult", "where: all", "rude"]);
        let words = runs::trained_words(&session.runs, runs[0].info.id).unwrap();
        let [words] = &words[..] else { panic!("{words:?}") };
        assert_eq!((words.question.as_str(), words.runs.len(), words.types.len()), ("where", 2, 2));
        let [train, validation, test] = words.answers;
        assert_eq!(train + validation + test, 270);
        let sizes = &runs[0].sizes;
        assert_eq!([sizes.train_labels, sizes.validation_labels, sizes.test_labels], words.answers);
        let (own, rate) = (words.scores.scores.token_log_loss, words.baselines[1].scores.token_log_loss);
        assert!(own.is_finite() && own > 0.0, "{own}");
        if model == ModelKind::Multilevel {
            assert!(own < 1.2 * rate, "{own} {rate}");
        }
        // The answer of one type is learned by its run, and a run of another question has no words.
        assert!(runs.iter().all(|run| run.info.scores.is_some()));
        assert!(runs[0].words.is_some() && runs[2].words.is_none());
    }
    // Once used, its head predicts words; it knows later answers, and nothing has to be fitted for that.
    let run =
        runs::list(&session.runs).unwrap().into_iter().find(|run| run.question_name == "rude").unwrap().id;
    runs::use_run(&session.runs, Some(run)).unwrap();
    session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    let report =
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap();
    assert!(report.tuned);
    assert!(report.answers < 270, "answers that it was learned from, not all");
    // Too few texts that the encoder has not seen: no figures, as for levels.
    let few = EvaluateChoices {
        question: Some("where".to_owned()),
        models: vec![ModelKind::Shared],
        split: SplitSpec::ByText(0.95),
        seed: 1,
        at_least: None,
        tuning: "frozen".to_owned(),
        encoder: EncoderChoice::default(),
        prediction_sets: false,
        without_slips: false,
    };
    let error = evaluation::evaluate(&session.analysis, &few, &Silent).unwrap_err();
    assert!(error.to_string().contains("tuned on the labels of this project"), "{error}");
    // Another run on that encoder does not affect what the encoder's own run learned about words.
    let frozen =
        runs::choices_for(&session.runs, id(&session, "rude"), ModelKind::Multilevel, "frozen").unwrap();
    let frozen = TrainChoices { split: SplitSpec::ByText(0.7), joint: Vec::new(), ..frozen };
    let frozen = runs::train(&session.runs, &frozen, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    runs::use_run(&session.runs, Some(frozen)).unwrap();
    assert!(
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap()
            .tuned
    );
    let p = expected(&heat(&session, "where: all", 95, None));
    assert_eq!(p.len(), 6);
    label(&session, id(&session, "where"), 95, 1, marks(95, 3));
    let after = expected(&heat(&session, "where: all", 95, None));
    assert!(after.iter().zip(&p).all(|(after, before)| after > before), "{after:?} {p:?}");
    // Its heads are of types by position: once these have moved, words are fitted anew, although the run in
    // use is of another question. Back again the heads are used.
    let tuned = || {
        let question = id(&session, "where");
        word_models::fit_words(&session.analysis, question, &EncoderChoice::default(), &Silent).unwrap().tuned
    };
    set_levels(&session, "where", &["all", "insult"]);
    assert!(!tuned());
    set_levels(&session, "where", &["insult", "all"]);
    assert!(tuned());
    set_levels(&session, "where", &["insult", "all", "irony"]);
    assert!(!tuned());
    set_levels(&session, "where", &["insult", "all"]);
    assert!(tuned());
    // Without its files words are fitted on the fixed encoder, or reported as unreadable.
    let files = std::fs::read_dir(folder.path().join("p.dissensus.runs")).unwrap().flatten();
    let learned: Vec<_> =
        files.map(|run| run.path().join("words.json")).filter(|path| path.is_file()).collect();
    assert_eq!(learned.len(), 6, "next to the encoder of every run");
    for path in &learned {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            !text.contains("comment") && !text.contains("bad"),
            "a run is handed on without words of texts"
        );
        std::fs::write(path, "{").unwrap();
    }
    let error =
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap_err();
    assert!(error.to_string().contains("words.json"), "{error}");
    learned.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let report =
        word_models::fit_words(&session.analysis, id(&session, "where"), &EncoderChoice::default(), &Silent)
            .unwrap();
    assert!(!report.tuned);
}

#[test]
fn uncalibrated_words_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 60);
    let few = TrainChoices { validation: 0.2, ..choices(&session, ModelKind::Multilevel, &["where"]) };
    let run = runs::train(&session.runs, &few, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(
        run.notes.iter().any(|note| note.contains("its head for words is not calibrated")),
        "{:?}",
        run.notes
    );
    assert_eq!(runs::trained_words(&session.runs, run.info.id).unwrap()[0].answers[1], 0);
    // Without the run of one of its types the question is incomplete.
    runs::delete(&session.runs, run.info.id).unwrap();
    let other = runs::list(&session.runs).unwrap()[0].id;
    assert!(runs::trained_words(&session.runs, other).unwrap().is_empty());
}

#[test]
fn interrupted_word_training_resumes_to_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 60);
    let asked = choices(&session, ModelKind::Multilevel, &["where", "rude"]);
    let whole = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    let broken = runs::list(&session.runs).unwrap().into_iter().find(|run| run.resumable).unwrap().id;
    // Marks of training and test answers change, and new ones are added.
    for text in 1..=65 {
        label(&session, id(&session, "where"), text, 2, marks(text, 3));
    }
    let resumed = runs::resume_here(&session.runs, broken, &Silent).unwrap();
    assert_eq!(resumed.info.state, WorkState::Finished);
    assert_eq!(scores(&session, whole), scores(&session, resumed.info.id));

    // Without its training data it reports an error and does not resume.
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    let broken: Vec<_> = runs::list(&session.runs).unwrap().into_iter().filter(|run| run.resumable).collect();
    let runs = std::fs::read_dir(folder.path().join("p.dissensus.runs")).unwrap().flatten();
    let to_learn: Vec<_> =
        runs.map(|run| run.path().join("words_to_learn.json")).filter(|path| path.is_file()).collect();
    assert!(!to_learn.is_empty());
    to_learn.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let error = runs::resume_here(&session.runs, broken[0].id, &Silent).unwrap_err();
    assert!(error.to_string().contains("the marked words that it learns are not there"), "{error}");
}
