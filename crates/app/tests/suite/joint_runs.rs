//! Several questions learned together on one encoder: a run for each, divided together, and each complete
//! on its own afterwards.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{StopHalfWay, home, import_into, tiny};
use dissensus_api::{HeldHead, JointQuestion, NewLabel, RunDetail, RunInfo, TrainChoices, Tuning};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, LabelSource, LevelId, OptionSet, QuestionId, Scale, ScaleKind, Span, SpanSet,
    TextId, WorkState,
};
use dissensus_editing::CopyChoices;
use dissensus_editing::annotators;
use dissensus_editing::copy;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::jobs::Silent;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_store::{RunId, RunPart, Store};
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn body(text: u32) -> String {
    let word = ["good", "bad", "fair", "not fair", "ungood"][text as usize % 5];
    format!("this comment is {word} and {text}")
}

/// Labels of these texts by these people.
fn rows(
    texts: std::ops::Range<u32>,
    people: &[&str],
    split: Option<fn(u32) -> &'static str>,
    label: impl Fn(u32, u32) -> String,
) -> String {
    let mut csv = format!("text_id,text,annotator_id,label{}\n", if split.is_some() { ",split" } else { "" });
    for text in texts {
        for (nth, who) in people.iter().enumerate() {
            let part = split.map_or_else(String::new, |of| format!(",{}", of(text)));
            csv.push_str(&format!("t{text},{},{who},{}{part}\n", body(text), label(text, nth as u32)));
        }
    }
    csv
}

fn rude(text: u32, who: u32) -> String {
    let yes = text % 5 == 1 || (text + who).is_multiple_of(7);
    ["no", "yes"][usize::from(yes)].to_owned()
}

fn tone(text: u32, who: u32) -> String {
    (1 + (text + who) % 3).to_string()
}

const OPTIONS: u32 = 3;

/// 90 texts: "rude" asked about 60 of them, "tone" about 60, 30 of which are the same, and "feelings", any
/// of three, about the first 50.
fn project(folder: &Path, split: Option<fn(u32) -> &'static str>) -> Session {
    let session = Session::create(&folder.join("p.dissensus"), &home(folder)).unwrap();
    import_into(&session, "rude", &rows(0..60, &["a", "b", "c"], split, rude));
    import_into(&session, "tone", &rows(30..90, &["c", "d"], split, tone));
    let scale = Scale::new(ScaleKind::MultiLabel, (0..OPTIONS).map(|n| format!("f{n}"))).unwrap();
    questions::add(&session.project, AddQuestion::new("feelings", "", scale)).unwrap();
    let question = id(&session, "feelings");
    for text in 1..=50 {
        record(&session, question, text, 1, options(text));
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn options(text: u32) -> Answer {
    let chosen = (0..OPTIONS).filter(|option| (text + option).is_multiple_of(option + 2));
    Answer::Options(OptionSet::new(chosen.map(|option| option as u8)).unwrap())
}

fn record(session: &Session, question: QuestionId, text: u32, annotator: u32, answer: Answer) {
    let (text, annotator) = (TextId(text), AnnotatorId(annotator));
    let new = NewLabel { question, text, annotator, answer, duration_ms: None };
    record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
}

fn id(session: &Session, name: &str) -> QuestionId {
    questions::find(&session.project, Some(name)).unwrap().id
}

fn choices(session: &Session, model: ModelKind, tuning: &str, names: &[&str]) -> TrainChoices {
    let question = id(session, names[0]);
    let joint = names.iter().map(|name| JointQuestion { question: id(session, name), weight: 1.0 }).collect();
    let choices = runs::choices_for(&session.runs, question, model, tuning).unwrap();
    TrainChoices { epochs: 2, patience: 0, encoder_lr: 1e-3, split: SplitSpec::ByText(0.6), joint, ..choices }
}

/// The runs of a training, in the order of their questions.
fn all(session: &Session, first: &RunDetail) -> Vec<RunDetail> {
    let mut numbers = first.info.trained_with.clone();
    numbers.push(first.info.id);
    numbers.sort_unstable();
    numbers.into_iter().map(|number| runs::detail(&session.runs, number).unwrap()).collect()
}

fn train(session: &Session, choices: &TrainChoices) -> Vec<RunDetail> {
    let first = runs::train(&session.runs, choices, DeviceChoice::Cpu, &Silent).unwrap();
    all(session, &first)
}

fn names(runs: &[RunDetail]) -> Vec<&str> {
    runs.iter().map(|run| run.info.question_name.as_str()).collect()
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

fn predicted(session: &Session, runs: &[RunDetail]) -> Vec<Vec<f32>> {
    let who = annotators::list(&session.project).unwrap()[2].id;
    let of = |run: &RunDetail| {
        runs::predict(&session.runs, &[run.info.id], who, TextToPredict::New("you are bad"), &Silent)
            .unwrap()
            .swap_remove(0)
    };
    runs.iter().map(|run| of(run).probabilities).collect()
}

fn texts_of(folder: &Path, run: u32, part: RunPart) -> BTreeSet<TextId> {
    let store = Store::open_reader(folder.join("p.dissensus")).unwrap();
    store.run_labels(RunId(run), part).unwrap().labels.iter().map(|label| label.text).collect()
}

fn files(folder: &Path, run: &RunInfo) -> PathBuf {
    folder.join("p.dissensus.runs").join(&run.uid)
}

const QUESTIONS: [&str; 3] = ["rude", "tone", "feelings"];
const LEARNED: [&str; 5] = ["rude", "tone", "feelings: f0", "feelings: f1", "feelings: f2"];

#[test]
fn joint_runs_share_encoder_and_split() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let asked = choices(&session, ModelKind::SepHeads, "last-1", &QUESTIONS);
    let runs = train(&session, &asked);
    assert_eq!(names(&runs), LEARNED);
    let weights: Vec<f64> = runs[0].choices.joint.iter().map(|joint| joint.weight).collect();
    // A question with options has the same weight as another one.
    assert_eq!(weights, [1.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
    let part = |part: RunPart| -> BTreeSet<TextId> {
        runs.iter().flat_map(|run| texts_of(folder.path(), run.info.id, part)).collect()
    };
    let (taught, chosen, scored) = (part(RunPart::Train), part(RunPart::Validation), part(RunPart::Test));
    assert!(taught.is_disjoint(&scored) && taught.is_disjoint(&chosen) && chosen.is_disjoint(&scored));
    assert_eq!(taught.len() + chosen.len() + scored.len(), 90);
    for run in &runs {
        assert_eq!((run.info.joint, run.info.trained_with.len()), (5, 4));
        let own = run.info.scores.as_ref().unwrap();
        assert_eq!(own.texts as usize, texts_of(folder.path(), run.info.id, RunPart::Test).len());
        assert!(own.metrics.iter().any(|m| m.key == "log_loss" && m.value.is_finite()));
        let reported = run.notes.last().unwrap();
        assert!(
            reported.contains("Learned together") && reported.contains("also have a label of another"),
            "{reported}"
        );
    }
    // All curves are of the same steps, with the one common training loss and each question's own
    // validation loss.
    let [a, b] = [&runs[0], &runs[1]].map(|run| &run.info.epochs);
    assert!(a.iter().zip(b).all(|(a, b)| (a.step, a.train_loss, a.best) == (b.step, b.train_loss, b.best)));
    assert!(a.iter().zip(b).all(|(a, b)| a.validation_loss.unwrap() != b.validation_loss.unwrap()));
    // One encoder, complete in each folder.
    let weights = |run: &RunDetail| files(folder.path(), &run.info).join("encoder/model.safetensors");
    for run in &runs {
        assert_eq!(std::fs::read(weights(run)).unwrap(), std::fs::read(weights(&runs[0])).unwrap());
        assert!(!files(folder.path(), &run.info).join("checkpoints").exists());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let inodes: BTreeSet<u64> =
            runs.iter().map(|run| std::fs::metadata(weights(run)).unwrap().ino()).collect();
        assert_eq!(inodes.len(), 1, "the weights lie there once");
    }
    // The next training run of its kind is not joined to these.
    let next =
        runs::defaults(&session.runs, asked.question, ModelKind::SepHeads, asked.tuning.clone()).unwrap();
    assert!(next.joint.is_empty() && next.epochs == 2);
}

#[test]
fn joint_runs_stay_usable_when_others_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    for model in [ModelKind::Multilevel, ModelKind::ShareRecFfn] {
        let runs = train(&session, &choices(&session, model, "last-1", &["rude", "tone", "feelings: f1"]));
        let says = predicted(&session, &runs);
        // In a joint request the text is read once, with the same results.
        let numbers: Vec<u32> = runs.iter().map(|run| run.info.id).collect();
        let who = annotators::list(&session.project).unwrap()[2].id;
        let asked =
            runs::predict(&session.runs, &numbers, who, TextToPredict::New("you are bad"), &Silent).unwrap();
        assert_eq!(asked.iter().map(|one| one.run).collect::<Vec<_>>(), numbers);
        for (one, alone) in asked.iter().zip(&says) {
            let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
            assert!(one.probabilities.iter().zip(alone).all(near), "{one:?} {alone:?}");
        }
        assert_eq!(runs::delete(&session.runs, runs[0].info.id).unwrap(), [runs[0].info.id]);
        assert!(!files(folder.path(), &runs[0].info).exists());
        assert_eq!(predicted(&session, &runs[1..]), says[1..]);
        let left = runs::detail(&session.runs, runs[1].info.id).unwrap();
        assert_eq!((left.info.joint, left.info.trained_with), (3, vec![runs[2].info.id]));
        if model == ModelKind::Multilevel {
            runs::use_run(&session.runs, Some(runs[1].info.id)).unwrap();
            session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
            assert_eq!(runs::in_use(&session.runs).unwrap(), Some(runs[1].info.id));
            // The encoder of the other run is the same one.
            runs::use_run(&session.runs, Some(runs[2].info.id)).unwrap();
            runs::use_run(&session.runs, None).unwrap();
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let copy = elsewhere.path().join("copy.dissensus");
        let with_runs = CopyChoices { runs: true, ..CopyChoices::default() };
        copy::save_copy(&session.project, &copy, with_runs, &Silent).unwrap();
        let copied = Session::open(&copy, &home(elsewhere.path())).unwrap();
        assert_eq!(predicted(&copied, &runs[1..]), says[1..]);
        drop(copied);
        let report = folder.path().join(format!("{model}.html"));
        runs::export(&session.runs, &[runs[1].info.id, runs[2].info.id], &report, false).unwrap();
        assert!(std::fs::read_to_string(&report).unwrap().contains("Learned together"));
    }
}

#[test]
fn interrupted_training_resumes_to_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = project(folder.path(), None);
    for (model, tuning) in
        [(ModelKind::Multilevel, "last-1"), (ModelKind::SepHeads, "lora"), (ModelKind::ShareRecDcn, "frozen")]
    {
        let asked = choices(&session, model, tuning, &QUESTIONS);
        let whole = train(&session, &asked);
        let error =
            runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
        assert_eq!(error.code(), "cancelled");
        let stopped: Vec<RunInfo> = runs::list(&session.runs).unwrap().into_iter().take(5).collect();
        assert!(stopped.iter().all(|run| run.resumable && run.state == WorkState::Cancelled));
        record(&session, id(&session, "rude"), 3, 4, Answer::from_level(1));
        record(&session, id(&session, "feelings"), 60, 1, options(60));
        drop(session);
        session = Session::open(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
        // Any of them can be resumed for all.
        let resumed = runs::resume_here(&session.runs, stopped[2].id, &Silent).unwrap();
        let resumed = all(&session, &resumed);
        assert_eq!(names(&resumed), LEARNED);
        for (resumed, whole) in resumed.iter().zip(&whole) {
            assert_eq!(figures(resumed), figures(whole), "{model} {}", whole.info.question_name);
        }
        assert_eq!(predicted(&session, &resumed), predicted(&session, &whole), "{model}");
    }
}

#[test]
fn unfinished_joint_training_is_deleted_or_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let asked = choices(&session, ModelKind::Shared, "last-1", &["rude", "tone"]);
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &StopHalfWay::default()).unwrap_err();
    let [second, first] = &runs::list(&session.runs).unwrap()[..] else { panic!("two runs") };
    assert_eq!(runs::delete(&session.runs, second.id).unwrap(), [first.id, second.id]);
    assert!(
        runs::list(&session.runs).unwrap().is_empty() && !folder.path().join("p.dissensus.runs").exists()
    );
    // Both rows are there from the first moment, or neither.
    let runs = train(&session, &asked);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].info.started_at, runs[1].info.started_at);
}

/// A run's model is calibrated on texts that no question trained its encoder on.
#[test]
fn every_run_knows_the_training_texts_of_all_questions() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let runs = train(&session, &choices(&session, ModelKind::Multilevel, "last-1", &["rude", "tone"]));
    let taught: BTreeSet<TextId> =
        runs.iter().flat_map(|run| texts_of(folder.path(), run.info.id, RunPart::Train)).collect();
    for run in &runs {
        runs::use_run(&session.runs, Some(run.info.id)).unwrap();
        session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
        let again = TrainChoices {
            joint: Vec::new(),
            question: run.info.question,
            split: SplitSpec::ByText(0.1),
            ..runs::choices_for(&session.runs, run.info.question, ModelKind::Shared, "frozen").unwrap()
        };
        let frozen =
            runs::train(&session.runs, &TrainChoices { seed: 7, ..again }, DeviceChoice::Cpu, &Silent)
                .unwrap();
        let scored = texts_of(folder.path(), frozen.info.id, RunPart::Test);
        assert!(scored.is_disjoint(&taught), "{}", run.info.question_name);
        assert!(frozen.info.scores.unwrap().left_out_texts > 0);
    }
}

#[test]
fn question_with_options_trains_every_option() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let whole =
        TrainChoices { joint: Vec::new(), ..choices(&session, ModelKind::Shared, "full", &["feelings"]) };
    assert_eq!(names(&train(&session, &whole)), &LEARNED[2..]);
    let sets = runs::trained_sets(&session.runs, runs::list(&session.runs).unwrap()[0].id).unwrap();
    assert_eq!((sets.len(), sets[0].question.as_str(), sets[0].runs.len()), (1, "feelings", 3));
    for (option, one) in sets[0].runs.iter().zip(&sets[0].scores.as_questions) {
        let own = runs::detail(&session.runs, *option).unwrap().info.scores.unwrap();
        let metric = own.metrics.iter().find(|metric| metric.key == "log_loss").unwrap().value;
        assert!((one.scores.log_loss.unwrap() - metric).abs() < 1e-9, "the prediction of the option's run");
    }
    assert!(sets[0].scores.likely.micro_f1.is_some() && sets[0].scores.tuned.is_some());
    // A dozen held-out texts are too few to estimate correlations between options: this is noted, and the
    // most likely set is that of independent ones.
    assert!(sets[0].options_together.as_ref().unwrap().contains("independent of each other"));
    assert_eq!(sets[0].scores.together.as_ref().unwrap().likely, sets[0].scores.likely);
    // Without one of its options there is no complete question.
    runs::delete(&session.runs, sets[0].runs[1]).unwrap();
    assert!(runs::trained_sets(&session.runs, sets[0].runs[0]).unwrap().is_empty());
    // Without a common trainable encoder each head is solved separately.
    let frozen = TrainChoices {
        joint: Vec::new(),
        ..choices(&session, ModelKind::Multilevel, "frozen", &["feelings"])
    };
    let runs = train(&session, &frozen);
    assert_eq!(names(&runs), &LEARNED[2..]);
    assert!(runs[0].notes.last().unwrap().contains("by itself"));
    // One question in the list is a run like any other.
    let one = choices(&session, ModelKind::Shared, "last-1", &["rude"]);
    let listed = train(&session, &one);
    let alone = train(&session, &TrainChoices { joint: Vec::new(), ..one });
    assert_eq!((listed.len(), listed[0].info.joint), (1, 0));
    assert_eq!(figures(&listed[0]), figures(&alone[0]));
    // Types of passages are yes/no questions too.
    let scale = Scale::new(ScaleKind::Spans, ["insult", "threat"]).unwrap();
    questions::add(&session.project, AddQuestion::new("where", "", scale)).unwrap();
    for text in 1..=50 {
        let kind = (text % 2) as u16;
        let spans = (text % 3 > 0).then_some(Span { start: 0, end: 4, kind: LevelId(kind) });
        record(&session, id(&session, "where"), text, 2, Answer::Spans(SpanSet::new(spans).unwrap()));
    }
    let runs = train(&session, &choices(&session, ModelKind::Shared, "last-1", &["where", "rude"]));
    assert_eq!(names(&runs), ["where: insult", "where: threat", "rude"]);
    // A yes can have a larger weight.
    let weighed = TrainChoices {
        pos_weight: 5.0,
        ..choices(&session, ModelKind::Shared, "last-1", &["where", "tone"])
    };
    assert!(train(&session, &weighed)[0].info.scores.is_some());
}

/// Runs of all options store the correlations between them, unaffected by later labels, and their pages
/// show these.
#[test]
fn runs_of_all_options_store_correlations() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    let mood = |text: u32, _: u32| {
        let sets = ["glad", "sad; tired", "glad; new", "sad; tired; new"];
        sets[usize::from(text * 7 % 13 < 6) + 2 * usize::from(text % 5 < 2)].to_owned()
    };
    let split = |text: u32| if text.is_multiple_of(4) { "test" } else { "train" };
    import_into(&session, "moods", &rows(0..400, &["gold"], Some(split), mood));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let runs = train(
        &session,
        &runs::choices_for(&session.runs, id(&session, "moods"), ModelKind::Shared, "frozen").unwrap(),
    );
    let reported = |session: &Session| runs::trained_sets(&session.runs, runs[0].info.id).unwrap().remove(0);
    let sets = reported(&session);
    let together = sets.scores.together.as_ref().unwrap();
    assert!(together.used == 1 && together.learned_from >= 100, "{together:?}");
    assert!(together.set_log_loss.unwrap() < sets.scores.set_log_loss.unwrap() - 0.5);
    let sentence = sets.options_together.clone().unwrap();
    assert!(sentence.contains("sad and tired (+"), "{sentence}");
    assert!(runs.iter().all(|run| run.notes.contains(&sentence)));
    // After other labels, and after reopening.
    record(&session, id(&session, "moods"), 2, 1, Answer::Options(OptionSet::default()));
    drop(session);
    let again = reported(&Session::open(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap());
    assert_eq!((again.scores, again.options_together), (sets.scores, Some(sentence)));
}

#[test]
fn impossible_joint_training_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("unasked", "", scale)).unwrap();
    let good = choices(&session, ModelKind::Shared, "last-1", &["rude", "tone"]);
    let message_of = |asked: &TrainChoices| {
        let error = runs::train(&session.runs, asked, DeviceChoice::Cpu, &Silent).unwrap_err();
        format!("{}: {error}", error.code())
    };
    let of = |names: &[&str]| choices(&session, ModelKind::Shared, "last-1", names);
    let weighing = |weight: f64| {
        let mut asked = good.clone();
        asked.joint[1].weight = weight;
        asked
    };
    for (asked, expected) in [
        (of(&["rude", "rude"]), "joint: these questions cannot be learned together: \"rude\" is named twice"),
        (
            of(&["feelings", "feelings: f1"]),
            "\"feelings: f1\" is named twice, by itself or with its whole question",
        ),
        (of(&["feelings: f1", "feelings"]), "is named twice"),
        (of(&["rude", "unasked"]), "no-labels"),
        (weighing(0.0), "the weight of \"tone\" is 0, and every weight is more than 0"),
        (weighing(-1.0), "is -1"),
        (weighing(f64::NAN), "is NaN"),
        (
            TrainChoices { split: SplitSpec::Stratified(0.6), ..good.clone() },
            "stratified:0.6 depends on the answers to one question",
        ),
        (TrainChoices { split: SplitSpec::Random(0.6), ..good.clone() }, "leaves a text on both sides"),
        (TrainChoices { split: SplitSpec::ByAnnotator(0.6), ..good.clone() }, "leaves a text on both sides"),
        (
            TrainChoices { split: SplitSpec::ByText(0.01), ..good.clone() },
            "has no label in the training of by-text:0.01",
        ),
        (TrainChoices { pos_weight: 3.0, ..of(&["tone"]) }, "pos_weight"),
    ] {
        let found = message_of(&asked);
        assert!(found.contains(expected), "{found}\n{expected}");
    }
    let unknown = JointQuestion { question: QuestionId(99), weight: 1.0 };
    assert!(message_of(&TrainChoices { joint: vec![unknown], ..good.clone() }).starts_with("no-question"));
    let left = runs::list(&session.runs).unwrap();
    // Errors known beforehand create no run; those found when labels are divided leave a failed one.
    assert!(left.iter().all(|run| run.state == WorkState::Failed && !run.resumable), "{left:?}");
    assert_eq!(left.len(), 2);
}

/// With the official split a text is on one side for all questions; a body on both sides of two questions
/// is refused.
#[test]
fn official_split_applies_to_all_questions() {
    let folder = tempfile::tempdir().unwrap();
    let part: fn(u32) -> &'static str = |text| ["train", "train", "test"][text as usize % 3];
    let session = project(folder.path(), Some(part));
    let asked = TrainChoices {
        split: SplitSpec::Column,
        ..choices(&session, ModelKind::Shared, "last-1", &["rude", "tone", "feelings"])
    };
    let runs = train(&session, &asked);
    for run in &runs {
        let scored = texts_of(folder.path(), run.info.id, RunPart::Test);
        // Texts are numbered from 1.
        assert!(scored.iter().all(|text| text.0 % 3 == 0) && !scored.is_empty());
    }
    // The body of a text that "rude" is tested on gets into the training of "tone" under another id.
    let csv = format!("text_id,text,annotator_id,label,split\nu1,  {} ,d,2,train\n", body(2).to_uppercase());
    import_into(&session, "tone", &csv);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err().to_string();
    assert!(error.contains("official split has 1 of the texts") && error.contains("split column"), "{error}");
    // Within one question it is reported, as usual.
    let alone = TrainChoices { question: id(&session, "tone"), joint: Vec::new(), ..asked };
    assert_eq!(train(&session, &alone).len(), 1);
}

/// Runs on one frozen encoder, trained separately, are combined: a text is read once, and every run
/// predicts the same as on its own.
#[test]
fn runs_on_one_frozen_encoder_predict_together() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), None);
    let alone = |model: ModelKind, name: &str| {
        let asked = TrainChoices { joint: Vec::new(), ..choices(&session, model, "frozen", &[name]) };
        train(&session, &asked).swap_remove(0)
    };
    let runs = [
        alone(ModelKind::Multilevel, "rude"),
        alone(ModelKind::ShareRecFfn, "tone"),
        alone(ModelKind::SepHeads, "feelings: f2"),
    ];
    let numbers: Vec<u32> = runs.iter().rev().map(|run| run.info.id).collect();
    let who = annotators::list(&session.project).unwrap()[2].id;
    let asked =
        runs::predict(&session.runs, &numbers, who, TextToPredict::New("you are bad"), &Silent).unwrap();
    let says = predicted(&session, &runs);
    for (one, alone) in asked.iter().rev().zip(&says) {
        assert_eq!(one.probabilities.len(), alone.len());
        assert!(one.probabilities.iter().zip(alone).all(|(a, b)| (a - b).abs() < 1e-6), "{one:?} {alone:?}");
    }
    let of_text =
        runs::predict(&session.runs, &numbers, who, TextToPredict::OfProject("t3"), &Silent).unwrap();
    for (one, run) in of_text.iter().zip(&numbers) {
        let alone = runs::predict(&session.runs, &[*run], who, TextToPredict::OfProject("t3"), &Silent)
            .unwrap()
            .swap_remove(0);
        assert!(one.probabilities.iter().zip(&alone.probabilities).all(|(a, b)| (a - b).abs() < 1e-6));
    }
    assert_eq!(
        runs::predict(&session.runs, &[numbers[0], 99], who, TextToPredict::New("x"), &Silent)
            .unwrap_err()
            .code(),
        "no-such-run"
    );
}

/// Questions without a common text train one encoder all the same, with a note.
#[test]
fn questions_without_common_texts_train_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    import_into(&session, "rude", &rows(0..40, &["a", "b"], None, rude));
    import_into(&session, "tone", &rows(40..80, &["c"], None, tone));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    for run in train(&session, &choices(&session, ModelKind::Multilevel, "last-1", &["rude", "tone"])) {
        let reported = run.notes.last().unwrap();
        assert!(reported.contains("no training text of this one has a label of another"), "{reported}");
        assert!(run.info.scores.is_some());
    }
}

/// A frozen head computes the same from an embedding as before, on an encoder that continued from that of
/// its run; impossible freezing is reported.
#[test]
fn frozen_head_is_that_of_the_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let part: fn(u32) -> &'static str = |text| ["train", "train", "test"][text as usize % 3];
    let session = project(folder.path(), Some(part));
    let of = |model, names: &[&str]| TrainChoices {
        split: SplitSpec::Column,
        ..choices(&session, model, "last-1", names)
    };
    let alone = |model, name: &str| {
        train(&session, &TrainChoices { joint: Vec::new(), ..of(model, &[name]) }).swap_remove(0)
    };
    let rude = alone(ModelKind::ShareRecFfn, "rude");
    let held = |run: u32, name: &str| vec![HeldHead { question: id(&session, name), run }];
    let asked =
        TrainChoices { held: held(rude.info.id, "rude"), ..of(ModelKind::ShareRecFfn, &["rude", "tone"]) };
    let runs = train(&session, &asked);
    let weights =
        |run: &RunDetail| std::fs::read(files(folder.path(), &run.info).join("network.safetensors")).unwrap();
    assert_eq!(weights(&rude), weights(&runs[0]), "every bit of the head");
    assert_ne!(weights(&rude), weights(&runs[1]));
    let notes = |run: &RunDetail| run.notes.join(" ");
    assert!(
        notes(&runs[0]).contains(&format!("held as run {} left it", rude.info.id)),
        "{}",
        notes(&runs[0])
    );
    assert!(!notes(&runs[1]).contains("held as run"));
    // The encoder below the frozen head has changed.
    let [before, after] = [&rude, &runs[0]].map(|run| predicted(&session, std::slice::from_ref(run)));
    assert_ne!(before, after);
    // With the official split no text that trained the head is scored; with another seed there would be
    // some, which are excluded.
    let taught: BTreeSet<TextId> = [RunPart::Train, RunPart::Validation]
        .into_iter()
        .flat_map(|part| texts_of(folder.path(), rude.info.id, part))
        .collect();
    let other = TrainChoices { split: SplitSpec::ByText(0.4), seed: 3, ..asked.clone() };
    for run in train(&session, &other) {
        let scored = texts_of(folder.path(), run.info.id, RunPart::Test);
        assert!(!scored.is_empty() && scored.iter().all(|text| !taught.contains(text)));
        assert!(notes(&run).contains("left out of the test: what was held"), "{}", notes(&run));
    }

    let multilevel = alone(ModelKind::Multilevel, "rude");
    let shared = alone(ModelKind::Shared, "rude");
    let solved =
        TrainChoices { joint: Vec::new(), ..choices(&session, ModelKind::Shared, "frozen", &["rude"]) };
    let solved = train(&session, &solved).swap_remove(0);
    let shared_asked = of(ModelKind::Shared, &["rude", "tone"]);
    for (asked, expected) in [
        (TrainChoices { held: held(rude.info.id, "tone"), ..asked.clone() }, "is not of \"tone\""),
        (TrainChoices { held: held(rude.info.id, "feelings: f1"), ..asked.clone() }, "does not learn"),
        (
            TrainChoices {
                held: [held(rude.info.id, "rude"), held(rude.info.id, "rude")].concat(),
                ..asked.clone()
            },
            "is named twice",
        ),
        (
            TrainChoices { held: held(rude.info.id, "rude"), ..shared_asked.clone() },
            "of share-rec-ffn, and this training of shared",
        ),
        (TrainChoices { held: held(multilevel.info.id, "rude"), ..shared_asked.clone() }, "fitted anew"),
        (
            TrainChoices { held: held(solved.info.id, "rude"), ..shared_asked.clone() },
            "was solved on embeddings",
        ),
        (
            TrainChoices {
                held: held(shared.info.id, "rude"),
                tuning: Tuning::Frozen,
                ..shared_asked.clone()
            },
            "stays as it is",
        ),
    ] {
        let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err();
        assert!(error.code() == "freeze" && error.to_string().contains(expected), "{error}\n{expected}");
    }
    let missing = TrainChoices { held: held(99, "rude"), ..asked.clone() };
    assert_eq!(
        runs::train(&session.runs, &missing, DeviceChoice::Cpu, &Silent).unwrap_err().code(),
        "no-such-run"
    );
    // A new annotator has answered: the head does not know them.
    import_into(
        &session,
        "rude",
        "text_id,text,annotator_id,label,split\nt1,this comment is bad and 1,new,yes,train\n",
    );
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap_err().to_string();
    assert!(error.contains("before some people were added"), "{error}");
    // What is frozen is named each time.
    let next =
        runs::choices_for(&session.runs, id(&session, "rude"), ModelKind::ShareRecFfn, "last-1").unwrap();
    assert!(next.held.is_empty());
}
