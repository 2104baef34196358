//! Predicted scores of questions correlated with one another, in imported projects.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, import_into, tiny};
use dissensus_analysis::question_correlation;
use dissensus_api::{
    AuxiliaryQuestion, ColumnChoices, CorrelationChoice, CorrelationFigure, HeldHead, ImportChoices,
    JointQuestion, NewLabel, QuestionCorrelation, RunInfo, ScorePair, TrainChoices,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, LabelSource, OptionSet, QuestionId, Scale, ScaleKind, TextId, WorkState,
};
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TEXTS: u32 = 120;
const PEOPLE: u32 = 4;

/// Mixed well enough to depend on neither (splitmix64).
fn mixed(a: u32, b: u32) -> u64 {
    let mut mixed = u64::from(a) * 1_000_003 + u64::from(b) + 0x9e37_79b9_7f4a_7c15;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Half of the texts contain the word "bad".
fn body(text: u32) -> String {
    let word = if text.is_multiple_of(2) { "bad ungood" } else { "good fair" };
    format!("{word} comment {} {text}", mixed(text, 7) % 1_000_000)
}

fn import_pairs(session: &Session, question: &str, rows: impl Iterator<Item = (u32, u32, String)>) {
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for (text, who, label) in rows {
        writeln!(csv, "t{text},{},p{who},{label}", body(text)).unwrap();
    }
    import_into(session, question, &csv);
}

fn pairs(texts: std::ops::Range<u32>) -> impl Iterator<Item = (u32, u32)> {
    texts.flat_map(|text| (0..PEOPLE).map(move |who| (text, who)))
}

/// "rude" (yes or no) of the first 80 texts and "harm" (1 to 3) of the last 80, of which they share 40;
/// both depend on the text. One annotator has chosen options of "mood" on the first 20.
fn project(folder: &Path) -> Session {
    let session = Session::create(&folder.join("p.dissensus"), &home(folder)).unwrap();
    let often = |text: u32, who: u32, question: u32| !mixed(text * 8 + who, question).is_multiple_of(5);
    let rude = |(text, who): (u32, u32)| {
        let yes = text.is_multiple_of(2) == often(text, who, 1);
        (text, who, ["no", "yes"][usize::from(yes)].to_owned())
    };
    let harm = |(text, who): (u32, u32)| {
        let level = if text.is_multiple_of(2) == often(text, who, 2) { 3 } else { 1 };
        (text, who, if mixed(text, who).is_multiple_of(7) { 2 } else { level }.to_string())
    };
    import_pairs(&session, "rude", pairs(0..80).map(rude));
    import_pairs(&session, "harm", pairs(40..TEXTS).map(harm));
    let scale = Scale::new(ScaleKind::MultiLabel, ["anger", "joy"]).unwrap();
    questions::add(&session.project, AddQuestion::new("mood", "", scale)).unwrap();
    for text in 0..20 {
        let options = OptionSet::new([u8::from(text % 2 == 1)]).unwrap();
        record(&session, id(&session, "mood"), text + 1, Answer::Options(options));
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn record(session: &Session, question: QuestionId, text: u32, answer: Answer) {
    let (text, annotator) = (TextId(text), AnnotatorId(1));
    let new = NewLabel { question, text, annotator, answer, duration_ms: None };
    record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
}

fn id(session: &Session, name: &str) -> QuestionId {
    questions::find(&session.project, Some(name)).unwrap().id
}

fn of(session: &Session, names: &[&str]) -> CorrelationChoice {
    CorrelationChoice { questions: names.iter().map(|name| id(session, name)).collect(), runs: Vec::new() }
}

fn correlate(session: &Session, choice: &CorrelationChoice) -> QuestionCorrelation {
    question_correlation::correlate(&session.analysis, choice, &Silent).unwrap()
}

fn value(figure: Option<CorrelationFigure>) -> f64 {
    figure.unwrap().value
}

#[test]
fn questions_are_correlated_over_partly_labelled_texts() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let found = correlate(&session, &CorrelationChoice::default());
    let names: Vec<&str> = found.scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, ["rude", "harm", "mood: anger", "mood: joy"]);
    assert_eq!(found.scores[1].score, "mean level, 1 (1) to 3 (3)");
    assert_eq!((found.texts, found.copies, found.annotators, found.folds), (TEXTS, 0, PEOPLE, Some(5)));
    let learned: Vec<u32> = found.scores.iter().map(|score| score.learned).collect();
    assert_eq!(learned, [80, 80, 20, 20]);
    assert_eq!(
        found.pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>(),
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    );
    let both = found.pairs[0];
    assert_eq!(both.learned, (40, 40, 40, 0));
    assert_eq!((both.held_out.texts, both.unlabelled.texts, both.as_learned.texts), (TEXTS, 0, TEXTS));
    assert_eq!(both.unlabelled.pearson, None);
    // Both depend on the text, which the tiny encoder represents.
    let spearman = both.held_out.spearman.unwrap();
    let (low, high) = spearman.interval.unwrap();
    assert!(
        spearman.value > 0.6 && low > 0.4 && low < spearman.value && spearman.value < high,
        "{spearman:?}"
    );
    assert!(both.as_learned.pearson.unwrap().interval.is_none());
    // Texts of only harm have labels of neither rude nor mood.
    let rude_and_anger = found.pairs[1];
    assert_eq!(rude_and_anger.learned, (20, 60, 0, 40));
    assert_eq!(rude_and_anger.unlabelled.texts, 40);
    let again = correlate(&session, &CorrelationChoice::default());
    assert_eq!((again.pairs, again.scores), (found.pairs, found.scores), "the same numbers each time");
    let two = correlate(&session, &of(&session, &["harm", "rude"]));
    assert_eq!(two.scores.iter().map(|score| score.name.as_str()).collect::<Vec<_>>(), ["harm", "rude"]);
}

/// Labels that depend only on the text's number, the same for both questions: "a" and "b" agree on every
/// text, independently of its body.
#[test]
fn held_out_correlation_ignores_shared_label_noise() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let coin = |(text, who): (u32, u32)| (text, who, ["no", "yes"][(mixed(text, 3) % 2) as usize].to_owned());
    import_pairs(&session, "a", pairs(0..TEXTS).map(coin));
    import_pairs(&session, "b", pairs(0..TEXTS).map(coin));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let found = correlate(&session, &CorrelationChoice::default());
    let ScorePair { held_out, as_learned, .. } = found.pairs[0];
    assert!(value(as_learned.spearman) > 0.8, "{as_learned:?}");
    // Models trained on equal labels predict the same for every text, whatever they learned: only the text
    // is held out, not what the labels of other texts have in common by chance. This is documented in the
    // help.
    assert!(value(held_out.pearson) > 0.99);
    let points = held_out_points(&session, &CorrelationChoice::default());
    let observed = |text: &TextId| (mixed(text.0 - 1, 3) % 2) as f64;
    let x: Vec<f64> = points.0.iter().map(observed).collect();
    let r = dissensus_stats::metrics::pearson(&x, &points.1).unwrap();
    assert!(r.abs() < 0.3, "the held-out score knows nothing of the text's own labels: {r}");
}

/// Texts and first scores of a job's result.
fn held_out_points(session: &Session, choice: &CorrelationChoice) -> (Vec<TextId>, Vec<f64>) {
    finished(session, question_correlation::start(&session.analysis, choice.clone()).unwrap());
    let points = question_correlation::points(&session.analysis, choice, 0, 1).unwrap();
    (points.texts, points.x)
}

fn finished(session: &Session, job: u32) -> WorkState {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        let jobs = jobs::list(&session.project).unwrap();
        let state = jobs.iter().find(|info| info.id == job).unwrap().state;
        if state != WorkState::Running {
            return state;
        }
        assert!(Instant::now() < until, "the job does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn job_result_is_valid_until_labels_change() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let choice = of(&session, &["rude", "harm"]);
    assert!(question_correlation::last_result(&session.analysis, &choice).is_none());
    // Two concurrent requests are one.
    let job = question_correlation::start(&session.analysis, choice.clone()).unwrap();
    let again = question_correlation::start(&session.analysis, choice.clone()).unwrap();
    assert_eq!(finished(&session, job), WorkState::Finished);
    assert_eq!(finished(&session, again), WorkState::Finished);
    let found = question_correlation::last_result(&session.analysis, &choice).unwrap();
    assert!(!found.stale && found.pairs.len() == 1);
    assert!(question_correlation::last_result(&session.analysis, &CorrelationChoice::default()).is_none());
    let points = question_correlation::points(&session.analysis, &choice, 0, 1).unwrap();
    assert_eq!((points.all, points.texts.len(), points.x.len(), points.y.len()), (TEXTS, 120, 120, 120));
    assert_eq!(points.learned.iter().filter(|learned| **learned == 3).count(), 40);
    assert!(
        points.x.iter().all(|x| (0.0..=1.0).contains(x)) && points.y.iter().all(|y| (1.0..=3.0).contains(y))
    );
    assert!(question_correlation::points(&session.analysis, &choice, 0, 2).is_none());
    record(&session, id(&session, "rude"), 119, Answer::from_level(1));
    assert!(question_correlation::last_result(&session.analysis, &choice).unwrap().stale);
    // A label of another question does not affect these.
    let next = question_correlation::start(&session.analysis, choice.clone()).unwrap();
    assert_eq!(finished(&session, next), WorkState::Finished);
    record(&session, id(&session, "mood"), 50, Answer::Options(OptionSet::default()));
    let found = question_correlation::last_result(&session.analysis, &choice).unwrap();
    assert!(!found.stale);
    assert_eq!(found.pairs[0].learned, (41, 39 + 1, 39, 0));
}

#[test]
fn impossible_correlations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let code = |choice: &CorrelationChoice| {
        let error = question_correlation::correlate(&session.analysis, choice, &Silent).unwrap_err();
        (error.code().to_owned(), error.to_string())
    };
    assert_eq!(code(&CorrelationChoice::default()).0, "not-correlated");
    import_pairs(&session, "rude", pairs(0..9).map(|(t, w)| (t, w, ["no", "yes"][t as usize % 2].into())));
    assert!(code(&CorrelationChoice::default()).1.contains("two questions with labels"));
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("harm", "", scale)).unwrap();
    assert_eq!(code(&CorrelationChoice::default()).0, "not-correlated");
    assert_eq!(code(&of(&session, &["rude", "harm"])).0, "no-labels");
    assert_eq!(code(&of(&session, &["rude", "rude"])).0, "not-correlated");
    assert_eq!(code(&CorrelationChoice { runs: vec![7], ..CorrelationChoice::default() }).0, "no-such-run");
    let error = question_correlation::start(&session.analysis, CorrelationChoice::default()).unwrap_err();
    assert_eq!(error.code(), "not-correlated");
    // With one label of the other question, nothing is left to score it without that label.
    record(&session, id(&session, "harm"), 1, Answer::from_level(1));
    let found = correlate(&session, &CorrelationChoice::default());
    assert_eq!(found.pairs[0].learned, (1, 8, 0, 0));
    assert_eq!(found.pairs[0].held_out.pearson.and_then(|figure| figure.interval), None);
}

/// Texts of one thread are correlated: many texts of few threads have no interval, with a note.
#[test]
fn correlations_of_few_groups_have_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let file = folder.path().join("in.csv");
    for question in ["a", "b"] {
        let mut csv = "text_id,text,annotator_id,label,thread\n".to_owned();
        for (text, who) in pairs(0..60) {
            let label = if mixed(text, who).is_multiple_of(3) { "yes" } else { "no" };
            writeln!(csv, "t{text},{},p{who},{label},h{}", body(text), text % 12).unwrap();
        }
        std::fs::write(&file, csv).unwrap();
        let named = |column: &str| Some(column.to_owned());
        let columns = ColumnChoices {
            text_id: named("text_id"),
            text: named("text"),
            annotator: named("annotator_id"),
            label: named("label"),
            group: named("thread"),
            ..ColumnChoices::default()
        };
        let question = Some(question.to_owned());
        let choices = ImportChoices { question, columns: Some(columns), ..ImportChoices::default() };
        let silent: Arc<dyn Progress> = Arc::new(Silent);
        exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let found = correlate(&session, &CorrelationChoice::default());
    assert_eq!(found.pairs[0].held_out.texts, 60);
    assert!(found.pairs[0].held_out.pearson.is_some_and(|figure| figure.interval.is_none()));
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("intervals take 20 of them, and these texts form 12 groups")),
        "{:?}",
        found.notes
    );
}

/// Copies of a text count as one, and are not trained on where one of them is scored.
#[test]
fn correlations_count_copies_once() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let file = folder.path().join("in.csv");
    for question in ["a", "b"] {
        let mut csv = "text_id,text,annotator_id,label\n".to_owned();
        for (text, who) in pairs(0..60) {
            let label = if mixed(text / 2, 5).is_multiple_of(2) { "yes" } else { "no" };
            writeln!(csv, "t{text},{},p{who},{label}", body(text / 2)).unwrap();
        }
        std::fs::write(&file, csv).unwrap();
        let choices = ImportChoices { question: Some(question.into()), ..ImportChoices::default() };
        let silent: Arc<dyn Progress> = Arc::new(Silent);
        exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let found = correlate(&session, &CorrelationChoice::default());
    assert_eq!((found.texts, found.copies, found.pairs[0].held_out.texts), (30, 30, 30));
}

#[test]
fn runs_score_only_unseen_texts() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let train = |name: &str, model: ModelKind, tuning: &str| {
        let choices = runs::choices_for(&session.runs, id(&session, name), model, tuning).unwrap();
        let choices = TrainChoices { epochs: 2, patience: 0, split: SplitSpec::ByText(0.6), ..choices };
        runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap().info
    };
    let rude = train("rude", ModelKind::Multilevel, "frozen");
    let harm = train("harm", ModelKind::ShareRecFfn, "frozen");
    let choice = |runs: &[u32]| CorrelationChoice { questions: Vec::new(), runs: runs.to_vec() };
    let found = correlate(&session, &choice(&[rude.id, harm.id]));
    assert_eq!((found.folds, found.scores[0].run, found.scores[1].run), (None, Some(rude.id), Some(harm.id)));
    let pair = found.pairs[0];
    let (both, a, b, neither) = pair.learned;
    assert_eq!(both + a + b + neither, TEXTS);
    // About 48 of 80 texts train each run.
    assert!((40..=56).contains(&(both + a)) && (40..=56).contains(&(both + b)), "{:?}", pair.learned);
    assert_eq!(
        (pair.held_out.texts, pair.unlabelled.texts, pair.as_learned.texts),
        (neither, neither, TEXTS)
    );
    assert!(pair.held_out.spearman.is_some());
    let error = |runs: &[u32]| {
        question_correlation::correlate(&session.analysis, &choice(runs), &Silent).unwrap_err().to_string()
    };
    assert!(error(&[rude.id, rude.id]).contains("are both of \"rude\""));
    assert!(error(&[rude.id]).contains("runs of two questions"));
}

#[test]
fn auxiliary_training_texts_are_not_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let asked = |name: &str, split: SplitSpec, seed: u32| {
        let choices =
            runs::choices_for(&session.runs, id(&session, name), ModelKind::ShareRecFfn, "last-1").unwrap();
        TrainChoices { epochs: 1, patience: 0, split, seed, ..choices }
    };
    let train = |choices: &TrainChoices| {
        runs::train(&session.runs, choices, DeviceChoice::Cpu, &Silent).unwrap().info
    };
    let learned = |a: u32, b: u32| {
        let choice = CorrelationChoice { questions: Vec::new(), runs: vec![a, b] };
        let found = correlate(&session, &choice);
        let of = |run: u32| found.scores.iter().find(|score| score.run == Some(run)).unwrap().learned;
        (of(a), of(b))
    };
    // The first 40 texts have only labels of "rude": with an auxiliary question a run of "harm" has seen
    // them.
    let harm = asked("harm", SplitSpec::ByText(0.6), 0);
    let path = folder.path().join("p.dissensus").to_string_lossy().into_owned();
    let auxiliary = vec![AuxiliaryQuestion { project: path, question: Some("rude".to_owned()) }];
    let (alone, joint) = (train(&harm), train(&TrainChoices { auxiliary, ..harm }));
    let rude = train(&asked("rude", SplitSpec::ByText(0.6), 0));
    let (of_alone, of_rude) = learned(alone.id, rude.id);
    let (of_joint, _) = learned(joint.id, rude.id);
    assert!((40..=56).contains(&of_alone), "{of_alone}");
    assert!(of_joint >= of_alone + 40, "{of_joint} {of_alone}");

    // A frozen head was trained on other texts than the run that uses it.
    let joint = ["rude", "harm"].map(|name| JointQuestion { question: id(&session, name), weight: 1.0 });
    let together = TrainChoices { joint: joint.to_vec(), ..asked("rude", SplitSpec::ByText(0.3), 5) };
    let free = train(&together);
    let held = vec![HeldHead { question: id(&session, "rude"), run: rude.id }];
    let holding = train(&TrainChoices { held, ..together });
    let of_harm = |run: &RunInfo| run.trained_with[0];
    let (of_free, _) = learned(of_harm(&free), rude.id);
    let (of_holding, _) = learned(of_harm(&holding), rude.id);
    assert!(of_free < of_rude + 30, "{of_free} {of_rude}");
    assert!(of_holding > of_free + 10 && of_holding >= of_rude, "{of_holding} {of_free} {of_rude}");
}
