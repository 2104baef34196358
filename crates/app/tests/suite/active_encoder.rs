//! The encoder of a project, and that no score is based on what trained it.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{copy_folder, encoded_sample, evaluate_levels, home, offensiveness, on_cpu, tiny};
use dissensus_analysis::agreement;
use dissensus_analysis::annotators;
use dissensus_analysis::encoder_comparison;
use dissensus_analysis::learning_curve;
use dissensus_analysis::pooling;
use dissensus_analysis::prediction_file;
use dissensus_analysis::ranking;
use dissensus_analysis::{EvaluateChoices, Evaluation, WrittenPredictions};
use dissensus_api::{DisagreementMeasure, DisagreementQuery, ImportChoices, TrainChoices};
use dissensus_app::session::Session;
use dissensus_domain::TextId;
use dissensus_editing::CopyChoices;
use dissensus_editing::copy;
use dissensus_editing::questions;
use dissensus_encoder::{DeviceChoice, Pooling};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::{EncoderChoice, TextFileChoices};
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn with_pooling(pooling: Pooling) -> EncoderChoice {
    EncoderChoice { pooling: Some(pooling), ..EncoderChoice::default() }
}

/// A finished run of `multilevel`, its encoder tuned for one epoch.
fn tuned(session: &Session, seed: u32) -> u32 {
    let asked =
        runs::choices_for(&session.runs, offensiveness(session), ModelKind::Multilevel, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, seed, ..asked };
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id
}

fn version(session: &Session) -> String {
    session.encoding.state().unwrap().version.unwrap()
}

fn run_in_use(session: &Session) -> Option<u32> {
    session.live.active_model(offensiveness(session)).unwrap().run
}

/// Does something once, in the middle of the work that it observes.
struct Meanwhile<F: FnOnce() + Send>(Mutex<Option<F>>);

impl<F: FnOnce() + Send> Progress for Meanwhile<F> {
    fn report(&self, done: u64, _: Option<u64>, _: &str) {
        if done > 0
            && let Some(work) = self.0.lock().unwrap().take()
        {
            work();
        }
    }
}

#[test]
fn encoding_that_ends_after_a_run_is_used_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let run = tuned(&session, 0);
    let meanwhile = Meanwhile(Mutex::new(Some(|| runs::use_run(&session.runs, Some(run)).unwrap())));
    let done = session.encoding.encode(&with_pooling(Pooling::Cls), &meanwhile).unwrap();
    assert!(!done.in_use && done.note.unwrap().contains("stays in use"));
    assert_eq!(run_in_use(&session), Some(run));
    assert_ne!(version(&session), done.encoder);
    let active = session.live.active_model(offensiveness(&session)).unwrap();
    assert!(active.tuned);
    // Going back restores the encoder that was in use before, not the one of the late encoding.
    runs::use_run(&session.runs, None).unwrap();
    assert!(version(&session).contains("/mean/"), "{}", version(&session));
}

#[test]
fn choosing_another_encoder_ends_use_of_a_run_permanently() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let run = tuned(&session, 0);
    runs::use_run(&session.runs, Some(run)).unwrap();
    session.encoding.encode(&EncoderChoice { pooling: Some(Pooling::Cls), ..tiny() }, &Silent).unwrap();
    let cls = version(&session);
    assert!(cls.contains("/cls/"));
    assert_eq!(run_in_use(&session), None);
    assert!(!runs::detail(&session.runs, run).unwrap().info.predicts);
    runs::use_run(&session.runs, None).unwrap();
    assert_eq!(version(&session), cls, "what was chosen last stays");
}

#[test]
fn active_model_reports_encoder_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let question = offensiveness(&session);
    let before = session.live.active_model(question).unwrap();
    assert_eq!((before.run, before.tuned, before.fitted_on), (None, false, None));
    session.live.fit(question, &Silent).unwrap();
    let live = session.live.active_model(question).unwrap();
    assert_eq!((live.model.as_str(), live.fitted_on, live.labels), ("multilevel", Some(728), 728));
    assert!(live.fitted_at.is_some() && live.encoder == Some(version(&session)));

    let run = tuned(&session, 0);
    runs::use_run(&session.runs, Some(run)).unwrap();
    let waiting = session.live.active_model(question).unwrap();
    assert_eq!(
        (waiting.run, waiting.fitted_on),
        (Some(run), None),
        "the model on the old embeddings is not it"
    );
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    session.live.fit(question, &Silent).unwrap();
    let fitted = session.live.active_model(question).unwrap();
    assert_eq!((fitted.run, fitted.tuned, fitted.fitted_on), (Some(run), true, Some(728)));
    assert_ne!(fitted.encoder, live.encoder);
}

#[test]
fn run_on_an_unavailable_encoder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked =
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, "frozen").unwrap();
    let run = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    runs::use_run(&session.runs, Some(run)).unwrap();
    assert_eq!(run_in_use(&session), Some(run));
    session.encoding.encode(&with_pooling(Pooling::Max), &Silent).unwrap();
    assert_eq!(run_in_use(&session), None, "its encoder is not in use any more");
    let error = runs::use_run(&session.runs, Some(run)).unwrap_err();
    assert_eq!(error.code(), "encoder-not-in-use");
    assert!(version(&session).contains("/max/"));
}

/// What is shown about all texts and annotators, measured and predicted.
fn shown(session: &Session) -> (Vec<TextId>, String, String) {
    let question = offensiveness(session);
    session.live.fit(question, &Silent).unwrap();
    let query = DisagreementQuery {
        question,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    let ranked = ranking::rank(&session.analysis, &query).unwrap().texts;
    let rows = ranking::read_rows(&session.analysis, &query, &ranked).unwrap();
    let report = annotators::measure(&session.analysis, question).unwrap();
    (ranked, format!("{rows:?}"), format!("{report:?}"))
}

/// The sample before anything is encoded.
fn not_encoded(folder: &TempDir) -> Session {
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    Session::open(&path, &home(folder.path())).unwrap()
}

/// What is shown about the sample when it was encoded at once.
fn shown_of_the_sample() -> (Vec<TextId>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    shown(&encoded_sample(&folder))
}

/// Requests everything that depends on embeddings after the first texts are encoded, and stops after
/// `stop_after` texts.
struct AskEarly<'a> {
    session: &'a Session,
    asked: AtomicBool,
    stop_after: u64,
    stop: AtomicBool,
}

impl<'a> AskEarly<'a> {
    fn new(session: &'a Session, stop_after: u64) -> Self {
        Self { session, asked: AtomicBool::new(false), stop_after, stop: AtomicBool::new(false) }
    }
}

impl Progress for AskEarly<'_> {
    fn report(&self, done: u64, _: Option<u64>, _: &str) {
        if done > 0 && !self.asked.swap(true, Ordering::Relaxed) {
            let state = self.session.encoding.state().unwrap();
            assert!(0 < state.encoded && state.encoded < state.total, "{state:?}");
            shown(self.session);
        }
        self.stop.fetch_or(done >= self.stop_after, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[test]
fn figures_during_encoding_are_recomputed_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let session = not_encoded(&folder);
    let early = AskEarly::new(&session, u64::MAX);
    session.encoding.encode(&tiny(), &early).unwrap();
    assert!(early.asked.into_inner());
    let expected = shown_of_the_sample();
    assert_eq!(shown(&session), expected);
    session.close();
    let path = folder.path().join("sample.dissensus");
    let again = Session::open(&path, &home(folder.path())).unwrap();
    assert_eq!(shown(&again), expected, "what was stored in the project");
}

#[test]
fn stopped_encoding_leaves_embeddings_but_no_stored_model() {
    let expected = shown_of_the_sample();
    for stop_after in [1, 100, 168] {
        let folder = tempfile::tempdir().unwrap();
        let session = not_encoded(&folder);
        let stopped = session.encoding.encode(&tiny(), &AskEarly::new(&session, stop_after));
        assert!(matches!(stopped, Err(ProjectError::Cancelled)), "{stopped:?}");
        let encoded = u64::from(session.encoding.state().unwrap().encoded);
        assert!(encoded >= stop_after && (encoded == 168) == (stop_after == 168), "{encoded}");
        let now = shown(&session);
        assert_eq!(now == expected, encoded == 168, "stopped after {stop_after}");
        session.close();
        let path = folder.path().join("sample.dissensus");
        let again = Session::open(&path, &home(folder.path())).unwrap();
        assert_eq!(shown(&again), now, "stopped after {stop_after}");
        again.encoding.encode(&tiny(), &Silent).unwrap();
        assert_eq!(shown(&again), expected, "stopped after {stop_after}");
    }
}

/// Stops once a given step is reported.
struct StopAt {
    doing: &'static str,
    stop: AtomicBool,
}

impl Progress for StopAt {
    fn report(&self, _: u64, _: Option<u64>, doing: &str) {
        if doing.contains(self.doing) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[test]
fn cancelled_choice_of_pooling_keeps_the_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let before = version(&session);
    // "texts/s": in the middle of encoding with the second pooling (the first one is done).
    let stop = StopAt { doing: "texts/s", stop: AtomicBool::new(false) };
    let choose = |progress: &dyn Progress| {
        pooling::choose(
            &session.analysis,
            Some("offensiveness"),
            None,
            0,
            &EncoderChoice::default(),
            progress,
        )
    };
    assert!(matches!(choose(&stop), Err(ProjectError::Cancelled)));
    assert_eq!(version(&session), before);
    let found = choose(&Silent).unwrap();
    assert!(version(&session).contains(&format!("/{}/", found.chosen)), "{found:?} {}", version(&session));
}

/// A copy of the tiny encoder with another pooling, which makes it another encoder by name.
fn other_tiny(folder: &TempDir) -> String {
    let from = PathBuf::from(tiny().encoder.unwrap());
    let to = folder.path().join("other-tiny");
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(&from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    std::fs::create_dir(to.join("1_Pooling")).unwrap();
    let pooling = r#"{"word_embedding_dimension": 32, "pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": false}"#;
    std::fs::write(to.join("1_Pooling/config.json"), pooling).unwrap();
    let modules = r#"[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]"#;
    std::fs::write(to.join("modules.json"), modules).unwrap();
    to.to_string_lossy().into_owned()
}

#[test]
fn encoder_is_chosen_by_held_out_labels_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let before = version(&session);
    let names = [tiny().encoder.unwrap(), other_tiny(&folder)];
    let choose = |names: &[String], progress: &dyn Progress| {
        let choice = EncoderChoice::default();
        encoder_comparison::choose(
            &session.analysis,
            names,
            Some("offensiveness"),
            None,
            0,
            &choice,
            progress,
        )
    };
    let refused = |names: &[String]| choose(names, &Silent).unwrap_err();
    assert_eq!(refused(&names[..1]).code(), "encoders-to-choose");
    let twice = [names[0].clone(), names[0].clone()];
    assert!(refused(&twice).to_string().contains("name each once"), "{}", refused(&twice));
    let stop = StopAt { doing: "texts/s", stop: AtomicBool::new(false) };
    assert!(matches!(choose(&names, &stop), Err(ProjectError::Cancelled)));
    assert_eq!(version(&session), before);
    let found = choose(&names, &Silent).unwrap();
    // The project's own stays unless the other is clearly better.
    assert_eq!(found.incumbent, names[0]);
    assert_eq!(found.tried.len(), 2);
    assert!(found.tried[0].log_loss <= found.tried[1].log_loss);
    let chosen = found.tried.iter().find(|tried| tried.encoder == found.chosen).unwrap();
    assert_eq!(version(&session), chosen.version);
    assert!(found.tried.iter().all(|tried| tried.log_loss > 0.2 && tried.log_loss < 3.0), "{found:?}");
}

/// On its own training texts an encoder would always win; without them its losses are of other labels.
#[test]
fn encoder_tuned_on_the_projects_labels_is_no_candidate() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let before = version(&session);
    tuned(&session, 0);
    let copy = folder.path().join("copy");
    copy_encoder(folder.path(), &copy);
    let learned = copy.to_string_lossy().into_owned();
    let names = [tiny().encoder.unwrap(), learned.clone()];
    let (choice, split) = (EncoderChoice::default(), Some(SplitSpec::ByText(0.7)));
    let choose = |seed: u64| {
        encoder_comparison::choose(
            &session.analysis,
            &names,
            Some("offensiveness"),
            split,
            seed,
            &choice,
            &Silent,
        )
    };
    // It has learned from some of the training texts of another split, and from all of those that it was
    // trained on.
    let refused = choose(1).unwrap_err();
    assert_eq!(refused.code(), "encoder-learned");
    assert!(refused.to_string().starts_with(&format!("`{learned}`")), "{refused}");
    assert!(matches!(
        choose(0),
        Err(ProjectError::Perspectives(ModelError::SeenByEncoder { unseen: 0, .. }))
    ));
    assert_eq!(version(&session), before);
}

fn evaluate(session: &Session, split: SplitSpec, seed: u32) -> Result<Evaluation, ProjectError> {
    let choices = EvaluateChoices {
        question: Some("offensiveness".into()),
        models: vec![ModelKind::Shared],
        split,
        seed,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    evaluate_levels(&session.analysis, &choices, &Silent)
}

#[test]
fn texts_that_trained_the_encoder_are_not_scored() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let split = SplitSpec::ByText(0.5);
    let plain = evaluate(&session, split, 1).unwrap();
    assert_eq!(plain.split.left_out_texts, 0);
    let asked =
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, split, ..asked };
    let run = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    runs::use_run(&session.runs, Some(run.info.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();

    // The same split as the run's: all its test texts are unseen.
    let same = evaluate(&session, split, 0).unwrap();
    assert_eq!((same.split.test_texts as u32, same.split.left_out_texts), (run.sizes.test_texts, 0));
    // Another one: what trained or validated the encoder is excluded, and that is reported.
    let seen = run.sizes.train_texts + run.sizes.validation_texts;
    let other = evaluate(&session, split, 1).unwrap();
    assert!(other.split.left_out_texts > 20, "{:?}", other.split);
    assert_eq!(other.split.test_texts + other.split.left_out_texts, plain.split.test_texts);
    assert!(other.split.test_texts as u32 <= run.sizes.test_texts);
    // The figures in People are measured on unseen texts only, with a note.
    let all = agreement::measure_target(&session.analysis, offensiveness(&session)).unwrap();
    // Also while severity and the map are still missing.
    let early = annotators::measure(&session.analysis, offensiveness(&session)).unwrap();
    assert!(early.remark.is_some() && early.held_out_note.is_some(), "{:?}", early.remark);
    session.live.fit(offensiveness(&session), &Silent).unwrap();
    let report = annotators::measure(&session.analysis, offensiveness(&session)).unwrap();
    let scored: u32 = report.annotators.iter().map(|a| a.held_out_labels).sum();
    assert_eq!(scored, run.sizes.test_labels, "of {} labels", all.labels);
    assert!(report.held_out_note.unwrap().starts_with(&format!("{seen} texts are left out")));
    // Training that continues from it, frozen or tuned, excludes them as well.
    for tuning in ["frozen", "last-1"] {
        let next =
            runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, tuning).unwrap();
        let next = TrainChoices { epochs: 1, seed: 1, split, ..next };
        let next = runs::train(&session.runs, &next, DeviceChoice::Cpu, &Silent).unwrap();
        assert_eq!(next.sizes.test_texts as usize, other.split.test_texts, "{tuning}");
        assert!(next.notes.iter().any(|note| note.contains("left out of the test")), "{:?}", next.notes);
        let listed =
            runs::list(&session.runs).unwrap().into_iter().find(|run| run.id == next.info.id).unwrap();
        assert_eq!(listed.scores.unwrap().left_out_texts as usize, other.split.left_out_texts, "{tuning}");
    }
    // Too few unseen texts for a figure: refused, with the reason.
    let error = evaluate(&session, SplitSpec::ByText(0.95), 1).unwrap_err();
    assert!(error.to_string().contains("tuned on the labels of this project"), "{error}");
}

#[test]
fn copy_of_a_tuned_encoder_is_recognised_without_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let run = tuned(&session, 0);
    let copy = folder.path().join("copy");
    copy_encoder(folder.path(), &copy);
    runs::delete(&session.runs, run).unwrap();
    let choice =
        EncoderChoice { encoder: Some(copy.to_string_lossy().into_owned()), ..with_pooling(Pooling::Max) };
    session.encoding.encode(&choice, &Silent).unwrap();
    let evaluated = evaluate(&session, SplitSpec::ByText(0.5), 1).unwrap();
    assert!(evaluated.split.left_out_texts > 20, "{:?}", evaluated.split);
}

#[test]
fn older_copy_reads_training_data_from_the_encoder_folder() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let before = folder.path().join("before.dissensus");
    copy::save_copy(&session.project, &before, CopyChoices::default(), &Silent).unwrap();
    let sizes = {
        let run = tuned(&session, 0);
        runs::detail(&session.runs, run).unwrap().sizes
    };
    let copy = folder.path().join("copy");
    copy_encoder(folder.path(), &copy);
    let handed_on = std::fs::read_to_string(copy.join("training_data.json")).unwrap();
    let names = dissensus_editing::annotators::list(&session.project).unwrap();
    assert!(names.iter().all(|annotator| !handed_on.contains(&annotator.external_id)), "{handed_on}");
    session.close();
    let older = Session::open(&before, &home(folder.path())).unwrap();
    let choice = |pooling| EncoderChoice {
        encoder: Some(copy.to_string_lossy().into_owned()),
        ..with_pooling(pooling)
    };
    older.encoding.encode(&choice(Pooling::Mean), &Silent).unwrap();
    older.live.fit(offensiveness(&older), &Silent).unwrap();
    let seen = sizes.train_texts + sizes.validation_texts;
    let report = annotators::measure(&older.analysis, offensiveness(&older)).unwrap();
    assert!(report.held_out_note.unwrap().starts_with(&format!("{seen} texts are left out")));
    assert!(evaluate(&older, SplitSpec::ByText(0.5), 1).unwrap().split.left_out_texts > 20);

    // The same bodies in another project are recognised.
    let path = folder.path().join("other.dissensus");
    sample::create(&path).unwrap();
    let other = Session::open(&path, &home(folder.path())).unwrap();
    other.encoding.encode(&choice(Pooling::Mean), &Silent).unwrap();
    assert!(evaluate(&other, SplitSpec::ByText(0.5), 1).unwrap().split.left_out_texts > 20);

    // An unreadable record is no reason to trust the figures.
    std::fs::write(copy.join("training_data.json"), "{").unwrap();
    let error = older.encoding.encode(&choice(Pooling::Max), &Silent).unwrap_err();
    assert_eq!(error.code(), "training-data-damaged");
}

#[test]
fn encoder_tuned_by_another_project_is_found_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    // It stays open: reading takes no lock.
    let tuning = encoded_sample(&folder);
    let file = folder.path().join("sample.dissensus").to_str().unwrap().to_owned();
    let path = folder.path().join("other.dissensus");
    sample::create(&path).unwrap();
    let other = Session::open(&path, &home).unwrap();
    other.encoding.encode(&tiny(), &Silent).unwrap();
    let named = |name: String| EncoderChoice { encoder: Some(name), ..EncoderChoice::default() };
    let refused = |name: String| {
        let before = version(&other);
        let error = other.encoding.encode(&named(name), &Silent).unwrap_err();
        assert_eq!(version(&other), before);
        (error.code(), error.to_string())
    };

    let (code, words) = refused(file.clone());
    assert_eq!(code, "encoder-of-project");
    assert!(words.contains("uses no encoder that it has tuned"), "{words}");
    assert_eq!(refused(format!("{file}#1")).0, "no-such-run");
    assert!(refused(format!("{file}#one")).1.contains("has no run \"one\""));
    let asked =
        runs::choices_for(&tuning.runs, offensiveness(&tuning), ModelKind::Multilevel, "frozen").unwrap();
    let frozen = runs::train(&tuning.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    assert!(refused(format!("{file}#{frozen}")).1.contains("tuned no encoder"));
    let own = path.to_str().unwrap().to_owned();
    assert!(refused(own).1.contains("is this project"));
    assert!(refused(format!("{file}.dissensus")).1.contains("is not there"));

    let run = tuned(&tuning, 0);
    let record = encoder_below(folder.path()).join("training_data.json");
    let kept = std::fs::read_to_string(&record).unwrap();
    let before_bodies = kept.replace("\"bodies\"", "\"unknown\"");
    std::fs::write(&record, before_bodies).unwrap();
    assert!(refused(format!("{file}#{run}")).1.contains("which texts trained them"));
    std::fs::write(&record, kept).unwrap();
    other.encoding.encode(&named(format!("{file}#{run}")), &Silent).unwrap();
    let by_run = version(&other);
    assert_ne!(by_run.split('/').nth(1), Some("tiny"));
    // Its labels of the same texts are not unseen here.
    assert!(evaluate(&other, SplitSpec::ByText(0.5), 1).unwrap().split.left_out_texts > 20);
    other.encoding.encode(&tiny(), &Silent).unwrap();
    runs::use_run(&tuning.runs, Some(run)).unwrap();
    other.encoding.encode(&named(file), &Silent).unwrap();
    assert_eq!(version(&other), by_run);

    // Without the other project existing embeddings stay, and the next text reports what is missing.
    tuning.close();
    std::fs::remove_dir_all(folder.path().join("sample.dissensus.runs")).unwrap();
    assert!(other.encoding.state().unwrap().problem.is_none());
    assert_eq!(
        other.encoding.encode(&EncoderChoice::default(), &Silent).unwrap_err().code(),
        "encoder-no-folder"
    );
}

#[test]
fn training_texts_of_another_project_are_matched_by_body() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, csv: String| {
        let home = home(folder.path());
        let session = Session::create(&folder.path().join(name), &home).unwrap();
        let file = folder.path().join("in.csv");
        std::fs::write(&file, csv).unwrap();
        let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
        exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
        session
    };
    let csv = || rows(0..120, &["a", "b", "c"]);
    let tuning = of("p.dissensus", csv());
    tuning.encoding.encode(&tiny(), &Silent).unwrap();
    let question = questions::find(&tuning.project, None).unwrap().id;
    let asked = runs::choices_for(&tuning.runs, question, ModelKind::Shared, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, split: SplitSpec::ByText(0.7), ..asked };
    let run = runs::train(&tuning.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    let named = format!("{}#{run}", folder.path().join("p.dissensus").display());
    let left_out = |session: &Session| {
        let choice = EncoderChoice { encoder: Some(named.clone()), ..EncoderChoice::default() };
        session.encoding.encode(&choice, &Silent).unwrap();
        let choices = EvaluateChoices {
            question: None,
            models: vec![ModelKind::Shared],
            split: SplitSpec::ByText(0.5),
            seed: 3,
            at_least: None,
            tuning: "frozen".into(),
            encoder: on_cpu(),
            prediction_sets: false,
            without_slips: false,
        };
        evaluate_levels(&session.analysis, &choices, &Silent).unwrap().split.left_out_texts
    };

    // The same names, other texts.
    assert_eq!(left_out(&of("names.dissensus", csv().replace("words", "phrases"))), 0);
    // Other names, the same texts: 84 of the 120 trained it.
    let same = of("bodies.dissensus", csv().replace("\nt", "\nother-").replace("words", "Words "));
    assert!(left_out(&same) > 10);
    // The same for texts that are added later.
    let later = of("later.dissensus", rows(200..240, &["a", "b", "c"]));
    assert_eq!(left_out(&later), 0);
    let file = folder.path().join("in.csv");
    std::fs::write(&file, csv()).unwrap();
    let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    exchange::import(&later.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    assert!(left_out(&later) > 10);
    // And for a tuned run that begins before they are encoded.
    let unencoded = of("unencoded.dissensus", rows(200..240, &["a", "b", "c"]));
    assert_eq!(left_out(&unencoded), 0);
    std::fs::write(&file, csv()).unwrap();
    exchange::import(&unencoded.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    let question = questions::find(&unencoded.project, None).unwrap().id;
    let asked = runs::choices_for(&unencoded.runs, question, ModelKind::Shared, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, split: SplitSpec::ByText(0.5), ..asked };
    let run = runs::train(&unencoded.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(run.info.scores.unwrap().left_out_texts > 10);
}

/// A CSV file in which everyone labels each text.
fn rows(texts: std::ops::Range<u32>, annotators: &[&str]) -> String {
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in texts {
        for (i, annotator) in annotators.iter().enumerate() {
            let label = ["no", "yes"][(text as usize / 2 + i) % 2];
            csv.push_str(&format!("t{text},words {} and {text},{annotator},{label}\n", text % 7));
        }
    }
    csv
}

#[test]
fn texts_imported_later_are_matched_with_training_texts() {
    let folder = tempfile::tempdir().unwrap();
    let home = || home(folder.path());
    let import = |session: &Session, csv: String| {
        let file = folder.path().join("in.csv");
        std::fs::write(&file, csv).unwrap();
        let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
        exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    };
    let session = Session::create(&folder.path().join("p.dissensus"), &home()).unwrap();
    import(&session, rows(0..40, &["a", "b"]));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let before = folder.path().join("before.dissensus");
    copy::save_copy(&session.project, &before, CopyChoices::default(), &Silent).unwrap();
    import(&session, rows(0..80, &["a", "b", "c"]));
    session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    let question = questions::find(&session.project, None).unwrap().id;
    let asked = runs::choices_for(&session.runs, question, ModelKind::Shared, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, split: SplitSpec::ByText(0.7), ..asked };
    runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    let copy = folder.path().join("copy");
    copy_encoder(folder.path(), &copy);
    session.close();

    let older = Session::open(&before, &home()).unwrap();
    let folder_of = |dir: &Path| EncoderChoice {
        encoder: Some(dir.to_string_lossy().into_owned()),
        ..EncoderChoice::default()
    };
    older.encoding.encode(&folder_of(&copy), &Silent).unwrap();
    // From here on only the project's own record is left.
    std::fs::remove_file(copy.join("training_data.json")).unwrap();
    let left_out = |split| {
        let choices = EvaluateChoices {
            question: None,
            models: vec![ModelKind::Shared],
            split,
            seed: 3,
            at_least: None,
            tuning: "frozen".into(),
            encoder: on_cpu(),
            prediction_sets: false,
            without_slips: false,
        };
        evaluate_levels(&older.analysis, &choices, &Silent).map(|done| done.split.left_out_texts)
    };
    import(&older, rows(0..80, &["a", "b", "c"]));
    older.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    // 56 of 80 texts trained it: of the 56 that are tested here about 39, and never more than the 28 among
    // the first 40.
    let texts = left_out(SplitSpec::ByText(0.3)).unwrap();
    assert!(texts > 28, "{texts} of the imported texts are known to have trained it");
    // So did all annotators, including those imported later: none is new to it.
    let error = left_out(SplitSpec::ByAnnotator(0.5)).unwrap_err();
    assert!(error.to_string().contains("encoder in use was tuned"), "{error}");
}

#[test]
fn learning_curve_excludes_texts_that_trained_the_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let run = tuned(&session, 0);
    runs::use_run(&session.runs, Some(run)).unwrap();
    assert_eq!(session.encoding.state().unwrap().encoded, 0, "nothing is encoded with it yet");
    let choices = EvaluateChoices {
        question: Some("offensiveness".into()),
        models: vec![ModelKind::Shared],
        split: SplitSpec::ByText(0.7),
        seed: 0,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let curve = || learning_curve::measure(&session.analysis, &choices, &[0, 2], None, &Silent);
    // The curve does not use embeddings, so the encoder in use does not matter.
    assert!(curve().unwrap().n_texts > 10);
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    // All annotators trained this encoder: there is no new annotator to score.
    let error = curve().unwrap_err().to_string();
    assert!(error.contains("encoder in use was tuned"), "{error}");
}

#[test]
fn training_texts_are_excluded_once_the_encoder_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked =
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, split: SplitSpec::ByText(0.5), ..asked };
    let run = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id;
    runs::use_run(&session.runs, Some(run)).unwrap();
    assert_eq!(session.encoding.state().unwrap().encoded, 0, "nothing is encoded with it yet");
    let asked = TrainChoices { seed: 1, ..asked };
    let next = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(next.notes.iter().any(|note| note.contains("left out of the test")), "{:?}", next.notes);
}

#[test]
fn encoder_of_an_unfinished_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let asked =
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, "last-1").unwrap();
    let asked = TrainChoices { epochs: 1, ..asked };
    // Its encoder has been written by then.
    let stop = StopAt { doing: "scoring", stop: AtomicBool::new(false) };
    assert!(matches!(
        runs::train(&session.runs, &asked, DeviceChoice::Cpu, &stop),
        Err(ProjectError::Cancelled)
    ));
    let stopped = runs::list(&session.runs).unwrap().remove(0);
    let files = folder.path().join("sample.dissensus.runs").join(&stopped.uid);
    assert!(files.join("encoder").is_dir() && files.join("checkpoints").is_dir());
    let choice = EncoderChoice { encoder: Some(format!("run:{}", stopped.uid)), ..EncoderChoice::default() };
    assert_eq!(session.encoding.encode(&choice, &Silent).unwrap_err().code(), "run-unfinished");
    runs::resume_here(&session.runs, stopped.id, &Silent).unwrap();
    assert!(files.join("encoder").is_dir() && !files.join("checkpoints").exists());
    session.encoding.encode(&choice, &Silent).unwrap();
}

#[test]
fn run_cannot_be_deleted_while_another_trains_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let first = tuned(&session, 0);
    runs::use_run(&session.runs, Some(first)).unwrap();
    let asked =
        runs::choices_for(&session.runs, offensiveness(&session), ModelKind::Multilevel, "last-1").unwrap();
    let asked = TrainChoices { epochs: 2, ..asked };
    let stop = StopAt { doing: "scoring", stop: AtomicBool::new(false) };
    assert!(matches!(
        runs::train(&session.runs, &asked, DeviceChoice::Cpu, &stop),
        Err(ProjectError::Cancelled)
    ));
    let second = runs::list(&session.runs).unwrap().remove(0).id;
    runs::use_run(&session.runs, None).unwrap();
    let error = runs::delete(&session.runs, first).unwrap_err();
    assert_eq!(error.code(), "encoder-in-use");
    assert!(error.to_string().contains(&format!("run {second} first")), "{error}");
    runs::resume_here(&session.runs, second, &Silent).unwrap();
    runs::delete(&session.runs, first).unwrap();
}

/// Copies the only tuned encoder below `folder`.
fn copy_encoder(folder: &Path, to: &Path) {
    copy_folder(&encoder_below(folder), to);
}

/// The folder of the first tuned encoder found.
fn encoder_below(folder: &Path) -> PathBuf {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().unwrap() == "encoder" {
                return path;
            }
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    panic!("no tuned encoder below {}", folder.display());
}

/// One program fits and is about to read new texts; another one selects another pooling.
#[test]
fn new_texts_are_encoded_with_the_models_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let reader = Session::open_to_read(session.project.path(), &home(folder.path())).unwrap();
    let texts = folder.path().join("new.txt");
    std::fs::write(&texts, "A new text\n").unwrap();
    let texts = TextFileChoices { path: texts, ..TextFileChoices::default() };
    let out = folder.path().join("out.csv");
    let choices =
        PredictionChoices { question: Some("offensiveness".to_owned()), ..PredictionChoices::default() };
    let check = || prediction_file::check(&reader.analysis, &choices, Some(&texts), &out, &Silent).unwrap();
    let asked = check();
    reader.live.fit(asked.question(), &Silent).unwrap();
    session.encoding.encode(&with_pooling(Pooling::Cls), &Silent).unwrap();
    let refused = prediction_file::write(&reader.analysis, &asked, &tiny(), &Silent).unwrap_err();
    assert_eq!(refused.code(), "encoder-switched");
    assert!(!out.exists());
    // A new request uses the new one throughout.
    reader.live.fit(asked.question(), &Silent).unwrap();
    let written = prediction_file::write(&reader.analysis, &check(), &tiny(), &Silent).unwrap();
    assert!(matches!(&written, WrittenPredictions::Levels(file) if file.table.texts == 1), "{written:?}");
}
