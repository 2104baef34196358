//! Runs as stored by earlier versions.

use crate::session::Session;
use dissensus_api::{HeldHead, JointQuestion, NewLabel, RunDetail, TrainChoices, Tuning};
use dissensus_domain::{Answer, LevelId, Question, QuestionId, Scale, ScaleKind, TextId, WorkState};
use dissensus_editing::{AddQuestion, QuestionChange, annotators, questions};
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record::record_label;
use dissensus_project::clock::now_ms;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_store::{NewRun, RunId, RunPart};
use dissensus_training::encoding::{EncoderChoice, NgramLimits};
use dissensus_training::runs;
use dissensus_training::runs::Runs;
use dissensus_training::runs::TextToPredict;
use dissensus_training::runs::defaults::last_key;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tempfile::TempDir;

/// The sample, encoded by a tiny encoder.
fn sample(folder: &TempDir) -> Session {
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let encoder = Some(tiny.to_string_lossy().into_owned());
    session.encoding.encode(&EncoderChoice { encoder, ..EncoderChoice::default() }, &Silent).unwrap();
    session
}

fn choices(session: &Session, model: ModelKind) -> TrainChoices {
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    runs::choices_for(&session.runs, question, model, "frozen").unwrap()
}

/// The row of a run that was requested without today's limits.
fn row(runs: &Runs, choices: &TrainChoices) -> RunId {
    runs.context
        .store
        .add_run(&NewRun {
            configuration: serde_json::to_value(choices).unwrap(),
            seed: u64::from(choices.seed),
            device: "cpu".to_owned(),
            started_ms: now_ms(),
            data_sha256: Some(runs::labels_sha256(runs, choices.question).unwrap()),
        })
        .unwrap()
}

/// Stops halfway.
#[derive(Default)]
struct StopHalfWay(AtomicBool);

impl Progress for StopHalfWay {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        if doing == "training" && total.is_some_and(|total| done > total / 2) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn run_with_choices_outside_todays_ranges_still_works() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    let model = ModelKind::ShareRecFfn;
    let asked = TrainChoices {
        validation: 0.005,
        epochs: 2_000_000,
        max_steps: 40,
        evaluate_every: 5,
        patience: 0,
        layers: 0,
        rank: 0,
        max_grad_norm: 2e9,
        ..choices(&session, model)
    };
    assert_eq!(runs::start(runs, &asked).unwrap_err().code(), "setting");
    let id = row(runs, &asked);
    runs.context.store.set_setting(&last_key(model, &Tuning::Frozen), &asked).unwrap();
    let stop = StopHalfWay::default();
    let stopped = runs::carry_out(runs, id, DeviceChoice::Cpu, &stop).unwrap_err();
    assert_eq!(stopped.code(), "cancelled", "{stopped}");
    assert!(runs::list(runs).unwrap()[0].resumable);
    let resumed = runs::resume_here(runs, id.0, &Silent).unwrap();
    assert_eq!((resumed.choices.validation, resumed.choices.layers), (0.005, 0));
    assert!(resumed.info.scores.is_some());
    let who = annotators::list(&session.project).unwrap()[0].id;
    assert!(
        runs::predict(runs, &[id.0], who, TextToPredict::New("You fool"), &Silent)
            .unwrap()
            .swap_remove(0)
            .knows_annotator
    );

    let next = runs::defaults(runs, asked.question, model, Tuning::Frozen).unwrap();
    assert_eq!((next.validation, next.max_steps, next.max_grad_norm), (0.01, 40, 1e9));
    let trained = runs::train(runs, &next, DeviceChoice::Cpu, &Silent).unwrap();
    assert_eq!(trained.choices, next);
}

/// A finished run and the same again, with the data that an earlier version would have stored.
fn again(session: &Session, change: impl FnOnce(&mut Value, &mut Value), labels: bool) -> [RunDetail; 2] {
    let runs = &session.runs;
    let asked = choices(session, ModelKind::Multilevel);
    let first = runs::train(runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    let store = &runs.context.store;
    let kept = store.run(RunId(first.info.id)).unwrap().unwrap();
    let (mut metrics, mut start) = (kept.metrics.unwrap(), kept.start.unwrap());
    change(&mut metrics, &mut start);
    let id = row(runs, &asked);
    if labels {
        let part = |part: RunPart| (part, store.run_labels(kept.id, part).unwrap().labels);
        let parts = [RunPart::Train, RunPart::Validation, RunPart::Test].map(part).to_vec();
        store.set_run_start(id, start, parts).unwrap();
    }
    store.finish_run(id, WorkState::Finished, Some(metrics), now_ms()).unwrap();
    [first, runs::detail(runs, id.0).unwrap()]
}

#[test]
fn texts_excluded_from_an_earlier_run_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let older = |metrics: &mut Value, start: &mut Value| {
        metrics.as_object_mut().unwrap().remove("left_out_texts");
        start["left_out"] = json!(12);
    };
    let [first, older] = again(&session, older, true);
    assert_eq!(first.info.scores.unwrap().left_out_texts, 0);
    assert_eq!(older.info.scores.unwrap().left_out_texts, 12);
}

#[test]
fn baseline_of_an_earlier_run_uses_its_training_labels() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    // Always right, which is impossible without seeing the test labels.
    let by_hindsight = |metrics: &mut Value, _: &mut Value| {
        for annotator in metrics["report"]["annotators"].as_array_mut().unwrap() {
            annotator["baseline"] = json!(1.0);
        }
    };
    let [first, older] = again(&session, by_hindsight, true);
    assert!(first.annotators.len() > 1 && first.annotators.iter().all(|a| a.baseline < 1.0));
    assert_eq!(older.annotators, first.annotators);
    // Without its labels it cannot be computed.
    let [_, unknown] = again(&session, by_hindsight, false);
    assert!(unknown.annotators.iter().all(|a| a.baseline == 1.0));
    assert!(unknown.notes.iter().any(|note| note.contains("baseline")), "{:?}", unknown.notes);
}

#[test]
fn tuned_answer_is_stored_and_not_compared_with_older_runs() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    for model in [ModelKind::Shared, ModelKind::SepHeads] {
        runs::train(runs, &choices(&session, model), DeviceChoice::Cpu, &Silent).unwrap();
    }
    let compares_macro_f1 = || {
        let metrics = runs::compare_runs(runs, 1, 2).unwrap().metrics;
        assert!(metrics.iter().any(|metric| metric.key == "macro_f1_median"));
        metrics.iter().any(|metric| metric.key == "macro_f1")
    };
    assert!(compares_macro_f1());
    // The stored scores give the same answers.
    let scored = runs::scored(runs, 1).unwrap();
    let outcome = runs.kept.get(1).unwrap().outcome;
    let f1 = dissensus_stats::metrics::Scores::new(&scored, true).macro_f1;
    assert!(scored.tuned.is_some() && f1 == outcome.report.as_ref().unwrap().scores.macro_f1);
    assert!(!runs::detail(runs, 1).unwrap().notes.iter().any(|note| note.contains("most likely level")));
    // As stored by a version without tuning.
    let mut before = serde_json::to_value(outcome).unwrap();
    before.as_object_mut().unwrap().remove("f1_rule");
    runs.context.store.finish_run(RunId(1), WorkState::Finished, Some(before), now_ms()).unwrap();
    assert_eq!(runs::scored(runs, 1).unwrap().tuned, None);
    assert!(!compares_macro_f1());
    assert!(runs::detail(runs, 1).unwrap().notes.iter().any(|note| note.contains("most likely level")));
}

#[test]
fn run_uses_its_ngrams_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    let who = annotators::list(&session.project).unwrap()[0].id;
    let train = || {
        let choices = choices(&session, ModelKind::Multilevel);
        runs::train(runs, &choices, DeviceChoice::Cpu, &Silent).unwrap().info.id
    };
    let says = |run: u32| {
        runs::predict(runs, &[run], who, TextToPredict::New("you absolute idiot"), &Silent)
            .unwrap()
            .swap_remove(0)
            .probabilities
    };
    let with_words = train();
    let before = says(with_words);
    let few = NgramLimits { texts: 10, ..NgramLimits::default() };
    session.encoding.limit_ngrams(few);
    assert!(session.encoding.embeddings().unwrap().0.ngrams.is_none());
    assert_eq!(says(with_words), before);
    // New runs start without it, and continue without it when the limit changes.
    let without = train();
    let plain = says(without);
    assert_ne!(plain, before);
    session.encoding.limit_ngrams(NgramLimits::default());
    assert!(session.encoding.embeddings().unwrap().0.ngrams.is_some());
    assert_eq!(says(without), plain);
}

#[test]
fn ngrams_are_omitted_above_either_limit() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let words = |limits: NgramLimits| {
        session.encoding.limit_ngrams(limits);
        session.encoding.embeddings().unwrap().0.ngrams.clone()
    };
    let all = words(NgramLimits::default()).unwrap();
    let exact = NgramLimits { texts: all.len(), entries: all.entries() };
    assert_eq!(words(exact).as_ref(), Some(&all));
    assert_eq!(words(NgramLimits { texts: exact.texts - 1, ..exact }), None);
    assert_eq!(words(NgramLimits { entries: exact.entries - 1, ..exact }), None);
}

/// The encoder learns from training labels; the predicting model is calibrated on validation labels, in
/// `train` and in `predict` alike.
#[test]
fn tuned_run_predicts_with_the_model_that_was_scored() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let asked = runs::choices_for(runs, question, ModelKind::Multilevel, "last-1").unwrap();
    let train = |validation: f64| {
        let asked = TrainChoices { epochs: 1, validation, ..asked.clone() };
        runs::train(runs, &asked, DeviceChoice::Cpu, &Silent).unwrap()
    };
    let run = train(0.4);
    assert!(run.sizes.validation_texts >= 30, "{:?}", run.sizes);
    let uncalibrated = |notes: &[String]| notes.iter().any(|note| note.contains("to calibrate"));
    assert!(!uncalibrated(&run.notes), "{:?}", run.notes);
    let learned = format!("also learned the {} validation labels", run.sizes.validation_labels);
    assert!(run.notes.iter().any(|note| note.contains(&learned)), "{:?}", run.notes);
    let id = RunId(run.info.id);
    let store = &runs.context.store;
    let test = store.run_labels(id, RunPart::Test).unwrap();
    let levels = test.probabilities.len() / test.labels.len();
    for (label, kept) in test.labels.iter().zip(test.probabilities.chunks_exact(levels)).step_by(20) {
        let body = store.text(label.text).unwrap().unwrap().body;
        let again = runs::predict(runs, &[id.0], label.annotator, TextToPredict::New(&body), &Silent)
            .unwrap()
            .swap_remove(0)
            .probabilities;
        assert!(again.iter().zip(kept).all(|(a, b)| (a - b).abs() < 2e-3), "{again:?} {kept:?}");
    }
    // A training text is predicted with what its labels taught, like a model's row.
    let learned = store.run_labels(id, RunPart::Train).unwrap().labels;
    let changes = learned.iter().step_by(learned.len() / 3 + 1).filter(|label| {
        let text = store.text(label.text).unwrap().unwrap();
        let row = runs::predict(
            runs,
            &[id.0],
            label.annotator,
            TextToPredict::OfProject(&text.external_id),
            &Silent,
        )
        .unwrap()
        .swap_remove(0);
        let new = runs::predict(runs, &[id.0], label.annotator, TextToPredict::New(&text.body), &Silent)
            .unwrap()
            .swap_remove(0);
        row.probabilities.iter().zip(&new.probabilities).any(|(a, b)| (a - b).abs() > 1e-3)
    });
    assert!(changes.count() > 0);
    // In use, too few validation texts are not all texts that the encoder has not learned from: the test
    // texts are labelled as well.
    runs::use_run(runs, Some(id.0)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let tuned_on = session.encoding.embeddings().unwrap().0.tuned_on.clone().unwrap();
    assert_eq!(tuned_on.iter().filter(|tuned| **tuned).count(), run.sizes.train_texts as usize);
    session.live.refit(question, &Silent).unwrap();
    let limits = session.live.estimation(question).unwrap().unwrap().limits;
    assert!(!limits.iter().any(|limit| limit == "tuned_on_all_texts"), "{limits:?}");
    // A run that continues tuning knows which texts it had learned from before.
    let further = train(0.4);
    let data = runs::run_data(runs, &runs.kept.get(further.info.id).unwrap()).unwrap();
    let before = runs::before_tuning(runs, &data).unwrap().tuned_on.unwrap();
    assert_eq!(before.iter().filter(|tuned| **tuned).count(), run.sizes.train_texts as usize);
    runs::use_run(runs, None).unwrap();
    // As stored by a version without calibration: what it was fitted to then, without validation labels.
    let label = test.labels[0];
    let body = store.text(label.text).unwrap().unwrap().body;
    let says = || {
        runs::predict(runs, &[id.0], label.annotator, TextToPredict::New(&body), &Silent)
            .unwrap()
            .swap_remove(0)
            .probabilities
    };
    let calibrated = says();
    let mut older = serde_json::to_value(runs.kept.get(id.0).unwrap().outcome).unwrap();
    older.as_object_mut().unwrap().remove("calibrated").unwrap();
    store.finish_run(id, WorkState::Finished, Some(older), now_ms()).unwrap();
    assert_ne!(says(), calibrated);
    let few = train(0.05);
    assert!(uncalibrated(&few.notes), "{:?} {:?}", few.sizes, few.notes);
}

/// The names of the levels of a question, then the same with one more in front.
fn levels_and_one_more(session: &Session, question: &str) -> Vec<String> {
    let asked = questions::find(&session.project, Some(question)).unwrap();
    std::iter::once("one more".to_owned()).chain(asked.scale.levels().iter().cloned()).collect()
}

fn set_levels(session: &Session, question: &str, names: &[String]) {
    let asked = questions::find(&session.project, Some(question)).unwrap();
    let levels = Some(questions::levels_named(&asked, names));
    let change = QuestionChange { levels, ..QuestionChange::default() };
    assert!(questions::edit(&session.project, asked.id, &change).unwrap().rearranged);
}

/// Adds a level or option to a question in the first steps of a training, and counts these.
struct MoreLevels<'a>(&'a Session, &'a str, AtomicU64);

impl Progress for MoreLevels<'_> {
    fn report(&self, done: u64, _: Option<u64>, doing: &str) {
        if doing == "training" && self.2.swap(done, Ordering::Relaxed) == 0 {
            set_levels(self.0, self.1, &levels_and_one_more(self.0, self.1));
        }
    }
}

#[test]
fn training_ends_at_the_next_evaluation_once_levels_are_rearranged() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let asked = TrainChoices {
        max_steps: 40,
        evaluate_every: 5,
        patience: 0,
        ..choices(&session, ModelKind::ShareRecFfn)
    };
    let more = MoreLevels(&session, "offensiveness", AtomicU64::new(0));
    let error = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &more).unwrap_err();
    assert_eq!(error.code(), "other-levels", "{error}");
    let steps = more.2.into_inner();
    assert!((1..10).contains(&steps), "{steps} of 40 steps");
}

/// A multi-label question of the sample, whose first option some people choose.
fn topics(session: &Session) -> Question {
    let scale = Scale::new(ScaleKind::MultiLabel, ["art", "law"]).unwrap();
    questions::add(&session.project, AddQuestion::new("topics", "Which?", scale)).unwrap();
    let asked = questions::find(&session.project, Some("topics")).unwrap();
    for who in annotators::list(&session.project).unwrap().iter().take(3) {
        for text in 1..=60 {
            let answer = asked.scale.answer_named(if text % 3 == 0 { "law" } else { "art" }).unwrap();
            let new = NewLabel {
                question: asked.id,
                annotator: who.id,
                text: TextId(text),
                answer,
                duration_ms: None,
            };
            record_label(&session.labelling, &new).unwrap();
        }
    }
    asked
}

#[test]
fn training_of_an_option_finishes_while_others_are_added_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let option = topics(&session).options()[1].id;
    let asked = runs::choices_for(&session.runs, option, ModelKind::ShareRecFfn, "frozen").unwrap();
    let asked = TrainChoices { max_steps: 20, evaluate_every: 5, patience: 0, ..asked };
    let more = MoreLevels(&session, "topics", AtomicU64::new(0));
    let run = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &more).unwrap();
    assert_eq!(run.levels, ["no", "yes"]);
    let who = annotators::list(&session.project).unwrap()[0].id;
    let predict = || {
        runs::predict(&session.runs, &[run.info.id], who, TextToPredict::New("You fool"), &Silent).map(drop)
    };
    predict().unwrap();
    // An option that nobody chose is removed again.
    set_levels(&session, "topics", &["art", "law"].map(str::to_owned));
    let detail = runs::detail(&session.runs, run.info.id).unwrap();
    let classes: Vec<&str> = detail.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(classes, ["no", "yes"]);
    predict().unwrap();
}

#[test]
fn labels_of_an_earlier_run_are_unchanged_where_levels_had_been_moved() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    set_levels(&session, "offensiveness", &levels_and_one_more(&session, "offensiveness"));
    let asked = questions::find(&session.project, Some("offensiveness")).unwrap();
    let store = &runs.context.store;
    // As an earlier version stored it: keys of levels without ids, and a hash of their positions.
    let mut labels = store.current_labels(asked.id).unwrap();
    for label in &mut labels {
        let position = asked.scale.index_of_answer(&label.answer).unwrap();
        label.answer = Answer::Level(LevelId(position));
    }
    let mut configuration = serde_json::to_value(choices(&session, ModelKind::Shared)).unwrap();
    configuration["level_keys"] = json!(store.level_keys(asked.id).unwrap());
    let earlier = NewRun {
        configuration,
        seed: 0,
        device: "cpu".to_owned(),
        started_ms: now_ms(),
        data_sha256: Some(runs::sha256_of(labels)),
    };
    store.add_run(&earlier).unwrap();
    let changed = || runs::list(runs).unwrap()[0].data_changed;
    assert!(!changed());
    let who = annotators::list(&session.project).unwrap()[0].id;
    let (first, last) = (asked.scale.id_at(1).unwrap(), asked.scale.id_at(2).unwrap());
    let now = store.current_label(asked.id, TextId(1), who).unwrap().map(|label| label.answer);
    let answer = Answer::Level(if now == Some(Answer::Level(first)) { last } else { first });
    let new = NewLabel { question: asked.id, annotator: who, text: TextId(1), answer, duration_ms: None };
    record_label(&session.labelling, &new).unwrap();
    assert!(changed());
}

#[test]
fn earlier_run_names_options_of_all_its_questions_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let runs = &session.runs;
    let topics = topics(&session);
    let scale = Scale::new(ScaleKind::MultiLabel, ["low", "high"]).unwrap();
    questions::add(&session.project, AddQuestion::new("pitch", "Which?", scale)).unwrap();
    for name in ["topics", "pitch"] {
        set_levels(&session, name, &levels_and_one_more(&session, name));
    }
    let pitch = questions::find(&session.project, Some("pitch")).unwrap().id;
    let store = &runs.context.store;
    // Both trained together on their options at position 1 and 2, by an earlier version.
    let positions = [topics.id.of_option(LevelId(1)), pitch.of_option(LevelId(2))];
    let add = |question: QuestionId, held: Vec<HeldHead>| {
        let joint = positions.map(|question| JointQuestion { question, weight: 1.0 }).to_vec();
        let asked = TrainChoices { question, joint, held, ..choices(&session, ModelKind::Shared) };
        let mut configuration = serde_json::to_value(asked).unwrap();
        configuration["level_keys"] = json!(store.level_keys(question).unwrap());
        configuration["group"] = json!("both");
        let run = NewRun {
            configuration,
            seed: 0,
            device: "cpu".to_owned(),
            started_ms: now_ms(),
            data_sha256: None,
        };
        store.add_run(&run).unwrap()
    };
    let first = add(positions[0], Vec::new());
    let second = add(positions[1], vec![HeldHead { question: positions[0], run: first.0 }]);
    let named = |question: &str, option: &str| {
        let asked = questions::find(&session.project, Some(question)).unwrap();
        asked.id.of_option(asked.scale.id_named(option).unwrap())
    };
    let by_id = [named("topics", "art"), named("pitch", "high")];
    for (run, own) in [(first, by_id[0]), (second, by_id[1])] {
        let found = runs::detail(runs, run.0).unwrap().choices;
        assert_eq!(found.question, own);
        assert_eq!(found.joint.iter().map(|joint| joint.question).collect::<Vec<_>>(), by_id);
        assert!(found.held.iter().all(|held| held.question == by_id[0]));
    }
}
