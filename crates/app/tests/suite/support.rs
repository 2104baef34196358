//! Fixtures of all tests: folders, sessions, the sample project, imports and observers.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_analysis::agreement;
use dissensus_analysis::evaluation;
use dissensus_analysis::{
    Analysis, EvaluateChoices, Evaluation, OptionAgreements, OptionEvaluation, QuestionAgreement,
    QuestionEvaluation, SpanAgreements,
};
use dissensus_api::{ImportChoices, ImportReport};
use dissensus_app::session::Session;
use dissensus_domain::{Question, QuestionId};
use dissensus_editing::questions;
use dissensus_encoder::DeviceChoice;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_store::{CopyTarget, PacketKey, Store, StoreError, Submission};
use dissensus_test_support::TestProject;
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A temporary folder with projects, files to import, and the application's home.
pub(crate) struct TestFolder(TempDir);

impl TestFolder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn home(&self) -> Home {
        home(self)
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A new project, `NAME.dissensus`.
    pub(crate) fn project(&self, name: &str) -> Session {
        Session::create(&self.path(&format!("{name}.dissensus")), &self.home()).unwrap()
    }

    /// The sample project.
    pub(crate) fn sample(&self) -> Session {
        sample_in(self)
    }
}

impl AsRef<Path> for TestFolder {
    fn as_ref(&self) -> &Path {
        self.0.path()
    }
}

/// The application's home in this folder.
pub(crate) fn home(folder: impl AsRef<Path>) -> Home {
    Home::inside(&folder.as_ref().join("home"), Vec::new())
}

/// A new project, with the home next to it.
pub(crate) fn create(file: &Path) -> Session {
    Session::create(file, &home(file.parent().unwrap())).unwrap()
}

/// Opens a project with the home next to it.
pub(crate) fn open(file: &Path) -> Session {
    open_in(file.parent().unwrap(), file)
}

/// Opens a project with the home in this folder.
pub(crate) fn open_in(folder: &Path, file: &Path) -> Session {
    Session::open(file, &home(folder)).unwrap()
}

/// Opens a project that a test has built.
pub(crate) trait OpenSession {
    fn session(self, file: &Path) -> Session;
}

impl OpenSession for TestProject {
    fn session(self, file: &Path) -> Session {
        self.create(file).close().unwrap();
        open(file)
    }
}

/// The sample project, `sample.dissensus`.
pub(crate) fn sample_in(folder: impl AsRef<Path>) -> Session {
    let path = folder.as_ref().join("sample.dissensus");
    sample::create(&path).unwrap();
    open(&path)
}

/// The sample project and its question with five levels.
pub(crate) fn sample_with_question(folder: impl AsRef<Path>) -> (Session, QuestionId) {
    let session = sample_in(folder);
    let question = offensiveness(&session);
    (session, question)
}

/// The sample project, encoded by a tiny encoder.
pub(crate) fn encoded_sample(folder: impl AsRef<Path>) -> Session {
    let session = sample_in(folder);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

/// The question with five levels of the sample project.
pub(crate) fn offensiveness(session: &Session) -> QuestionId {
    questions::find(&session.project, Some("offensiveness")).unwrap().id
}

/// Folder of an encoder with a few words and random weights.
pub(crate) fn tiny_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny")
}

/// Encoding by [`tiny_folder`].
pub(crate) fn tiny() -> EncoderChoice {
    encoder(&tiny_folder())
}

/// Encoding by the encoder of this folder.
pub(crate) fn encoder(folder: &Path) -> EncoderChoice {
    let encoder = Some(folder.to_string_lossy().into_owned());
    EncoderChoice { encoder, device: DeviceChoice::Cpu, ..EncoderChoice::default() }
}

/// Imports a file.
pub(crate) fn import(session: &Session, file: &Path, choices: &ImportChoices) -> ImportReport {
    try_import(session, file, choices).unwrap()
}

/// Imports a file that may be refused.
pub(crate) fn try_import(
    session: &Session,
    file: &Path,
    choices: &ImportChoices,
) -> Result<ImportReport, ProjectError> {
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, file, choices, Some(&silent))
}

/// Imports rows of CSV, through a file next to the project.
pub(crate) fn import_csv(session: &Session, csv: &str, choices: &ImportChoices) -> ImportReport {
    let file = session.project.path().with_file_name("in.csv");
    std::fs::write(&file, csv).unwrap();
    import(session, &file, choices)
}

/// Imports a file with the columns and the question that are guessed.
pub(crate) fn import_as_guessed(session: &Session, file: &Path) -> ImportReport {
    import(session, file, &ImportChoices::default())
}

/// Imports rows of CSV into the question of this name.
pub(crate) fn import_into(session: &Session, question: &str, csv: &str) -> ImportReport {
    import_csv(session, csv, &into_question(question))
}

/// Choices for an import into the question of this name.
pub(crate) fn into_question(name: &str) -> ImportChoices {
    ImportChoices { question: Some(name.to_owned()), ..ImportChoices::default() }
}

/// Copies the files of a folder and of its subfolders.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// Stops work before it begins.
pub(crate) struct Stopped;

impl Progress for Stopped {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        true
    }
}

/// Stops a training halfway.
#[derive(Default)]
pub(crate) struct StopHalfWay(AtomicBool);

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

/// The project's encoder on the CPU.
pub(crate) fn on_cpu() -> EncoderChoice {
    EncoderChoice { device: DeviceChoice::Cpu, ..EncoderChoice::default() }
}

/// Evaluates models on a question with levels.
pub(crate) fn evaluate_levels(
    analysis: &Analysis,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<Evaluation, ProjectError> {
    match evaluation::evaluate(analysis, choices, progress)? {
        QuestionEvaluation::Levels(found) => Ok(*found),
        other => panic!("{other:?}"),
    }
}

/// Evaluates models on a multi-label question.
pub(crate) fn evaluate_options(
    analysis: &Analysis,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<OptionEvaluation, ProjectError> {
    match evaluation::evaluate(analysis, choices, progress)? {
        QuestionEvaluation::Options(found) => Ok(*found),
        other => panic!("{other:?}"),
    }
}

/// Agreement on a question with options.
pub(crate) fn option_agreement(
    analysis: &Analysis,
    question: &Question,
) -> Result<OptionAgreements, ProjectError> {
    match agreement::measure(analysis, question, &Silent)? {
        QuestionAgreement::Options(found) => Ok(*found),
        other => panic!("{other:?}"),
    }
}

/// Agreement on a question with spans.
pub(crate) fn span_agreement(
    analysis: &Analysis,
    question: &Question,
) -> Result<SpanAgreements, ProjectError> {
    match agreement::measure(analysis, question, &Silent)? {
        QuestionAgreement::Spans(found) => Ok(*found),
        other => panic!("{other:?}"),
    }
}

/// HMAC-SHA-256 under a packet's key.
pub(crate) fn authentication_code(key: &PacketKey, content: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).unwrap();
    mac.update(content);
    mac.finalize().into_bytes().to_vec()
}

/// Writes a submission of the former format: the packet's project file.
pub(crate) fn write_former_submission(packet: &Path, file: &Path, at_ms: i64, answers: u32) {
    let store = Store::open(packet).unwrap();
    let (own, key) = (store.own_packet().unwrap().unwrap(), store.own_packet_key().unwrap().unwrap());
    let inside = file.with_extension("inside");
    store.copy_to(&inside, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    let project = store.project_id().unwrap().0;
    store.close().unwrap();
    let copy = Store::open(&inside).unwrap();
    let noted = Submission { packet: own.id, at_ms, answers };
    copy.write(move |tx| -> Result<(), StoreError> {
        tx.add_submission(&noted)?;
        tx.forget_packet_key()
    })
    .unwrap();
    copy.close().unwrap();
    let content = std::fs::read(inside).unwrap();
    let head = format!(
        "dissensus hand-in 1\n{{\"project\":\"{project}\",\"packet\":\"{}\",\"at_ms\":{at_ms},\"bytes\":{}}}\n",
        own.id.0,
        content.len()
    );
    let code = authentication_code(&key, &[head.as_bytes(), &content].concat());
    std::fs::write(file, [head.as_bytes(), &code, &content].concat()).unwrap();
}
