//! The steps, each as the command or the window takes it.

use crate::error::BenchError;
use crate::figures::{peak_mib, quantile_ms};
use dissensus_api::{DisagreementMeasure, DisagreementQuery, ImportChoices, NewLabel, TextOrder};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_project::event::Event;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_store::Store;
use dissensus_training::encoding::adopt_embeddings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Components of the made-up embeddings.
const DIM: usize = 384;
/// Labels given once the models are live.
const LIVE_LABELS: usize = 60;
/// Between two labels given while the models are fitted: often at first, then as people label.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];
/// So many with the first pause.
const OFTEN: usize = 40;
/// The longest that a fit is waited for.
const FIT_AT_MOST: Duration = Duration::from_secs(600);

/// One step.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LargeStep {
    /// `dissensus data import` into a new project.
    Import,
    /// The same file once more.
    ImportAgain,
    /// `dissensus analyse agreement`.
    Agreement,
    /// The window opens it, whose check at the end of the last step is known.
    Open,
    /// The window opens it, and nothing says that it was ever checked.
    OpenUnchecked,
    /// Every text gets an embedding (made up).
    Embed,
    /// As `Open`, with these embeddings.
    OpenEmbedded,
}

impl LargeStep {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [
        Self::Import,
        Self::ImportAgain,
        Self::Agreement,
        Self::Open,
        Self::OpenUnchecked,
        Self::Embed,
        Self::OpenEmbedded,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What a table calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::ImportAgain => "the same file again",
            Self::Agreement => "agreement",
            Self::Open => "open in the window",
            Self::OpenUnchecked => "open, check included",
            Self::Embed => "embeddings made up",
            Self::OpenEmbedded => "open, with embeddings",
        }
    }

    /// What is promised at a million labels.
    pub fn bar_seconds(self) -> Option<f64> {
        match self {
            Self::Import => Some(10.0),
            Self::ImportAgain => Some(15.0),
            Self::Agreement => Some(5.0),
            Self::Open | Self::OpenUnchecked | Self::OpenEmbedded => Some(3.0),
            Self::Embed => None,
        }
    }

    /// The memory that is promised at a million labels, in MiB.
    pub fn bar_mib(self) -> Option<f64> {
        match self {
            Self::Open | Self::OpenUnchecked | Self::OpenEmbedded => Some(1536.0),
            Self::Import | Self::ImportAgain | Self::Agreement | Self::Embed => None,
        }
    }
}

/// What a step took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepTimes {
    /// Which step.
    pub step: LargeStep,
    /// From its beginning until it was done; of an opening, until the first text and the list of annotators were there.
    pub seconds: f64,
    /// The process's highest memory in MiB until the models were fitted and labels given, where the system tells.
    pub peak_mib: Option<f64>,
    /// Labels, texts and annotators in the project, where the step has read them.
    pub holds: Option<[u32; 3]>,
    /// Labels given after an opening.
    pub labelling: Option<LabellingTimes>,
}

/// Labels given in a project that was just opened: each from the call until it is on disk and the next text is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabellingTimes {
    /// The very first one, which nobody has prepared.
    pub first_ms: f64,
    /// The models were still being fitted when it was there.
    pub first_during_fit: bool,
    /// How many were given while the models were fitted, and the slowest of them.
    pub during_fit: usize,
    /// See `during_fit`.
    pub during_fit_max_ms: f64,
    /// Seconds from opening until the models were there.
    pub fit_seconds: f64,
    /// Median with live models: on disk, learned, all measures up to date.
    pub live_median_ms: f64,
    /// 99th percentile of the same.
    pub live_p99_ms: f64,
    /// Ranking all texts by disagreement, once.
    pub ranking_ms: f64,
}

impl StepTimes {
    fn new(step: LargeStep, started: Instant) -> Self {
        let seconds = started.elapsed().as_secs_f64();
        Self { step, seconds, peak_mib: peak_mib(), holds: None, labelling: None }
    }
}

/// Takes a step with the project in `folder`.
pub(super) fn take(step: LargeStep, folder: &Path, file: &Path) -> Result<StepTimes, BenchError> {
    let path = folder.join("large.dissensus");
    let home = Home::inside(&folder.join("home"), Vec::new());
    let started = Instant::now();
    match step {
        LargeStep::Import | LargeStep::ImportAgain => {
            let session = match step {
                LargeStep::Import => Session::create(&path, &home)?,
                _ => Session::open(&path, &home)?,
            };
            let unwatched: Arc<dyn Progress> = Arc::new(Silent);
            session.exchange.import(file, &ImportChoices::default(), &unwatched)?;
            session.close();
            Ok(StepTimes::new(step, started))
        }
        LargeStep::Agreement => {
            let session = Session::open_to_read(&path, &home)?;
            let question = session.project.question(None)?.id;
            session.analysis.agreement(question)?;
            session.analysis.reliability(question, &Silent)?;
            session.close();
            Ok(StepTimes::new(step, started))
        }
        LargeStep::Embed => {
            embed(&path)?;
            // So that the opening after it finds a record of the file as it is now.
            Session::open(&path, &home)?.close();
            Ok(StepTimes::new(step, started))
        }
        LargeStep::Open | LargeStep::OpenEmbedded => open(step, &path, home, started),
        LargeStep::OpenUnchecked => {
            let elsewhere = Home::inside(&folder.join("another-home"), Vec::new());
            open(step, &path, elsewhere, started)
        }
    }
}

fn embed(path: &Path) -> Result<(), BenchError> {
    let store = Store::open(path)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let texts = store.text_ids()?;
    let made = texts.into_iter().map(|id| {
        let row: Vec<f32> = (0..DIM).map(|_| rng.random_range(-0.1..0.1)).collect();
        (id, row)
    });
    adopt_embeddings(&store, "made-up", DIM, made)?;
    Ok(store.close()?)
}

/// As the window does it: the project, then in the background what is missing, then what its first view asks for.
fn open(step: LargeStep, path: &Path, home: Home, started: Instant) -> Result<StepTimes, BenchError> {
    let workbench = Application::new(home);
    let info = workbench.open_project(&path.to_string_lossy())?;
    let session = workbench.open_session()?;
    let fitted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&fitted);
    session.subscribe(move |event| {
        if matches!(event, Event::Model { .. }) {
            seen.store(true, Ordering::Relaxed);
        }
    });
    session.background.start();
    let question = session.project.question(None)?.id;
    let annotator = session.project.annotators()?.first().map_or(AnnotatorId(0), |annotator| annotator.id);
    session.project.jobs()?;
    let mut desk = Desk::new(&session, question, annotator)?;
    let seconds = started.elapsed().as_secs_f64();

    let first = desk.label()?;
    let first_during_fit = !fitted.load(Ordering::Relaxed);
    let mut during = Vec::new();
    while !fitted.load(Ordering::Relaxed) {
        if started.elapsed() > FIT_AT_MOST {
            let why = format!("the models were not fitted within {} s", FIT_AT_MOST.as_secs());
            return Err(BenchError::Peer { peer: "the fit", why });
        }
        std::thread::sleep(PAUSES[usize::from(during.len() >= OFTEN)]);
        during.push(desk.label()?);
    }
    let fit_seconds = started.elapsed().as_secs_f64();
    let mut live = (0..LIVE_LABELS).map(|_| desk.label()).collect::<Result<Vec<_>, _>>()?;
    let ranking = Instant::now();
    session.analysis.ranking(&DisagreementQuery {
        question,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    })?;
    let labelling = LabellingTimes {
        first_ms: first.as_secs_f64() * 1e3,
        first_during_fit,
        during_fit: during.len(),
        during_fit_max_ms: quantile_ms(&mut during, 1.0),
        fit_seconds,
        ranking_ms: ranking.elapsed().as_secs_f64() * 1e3,
        live_median_ms: quantile_ms(&mut live, 0.5),
        live_p99_ms: quantile_ms(&mut live, 0.99),
    };
    let peak_mib = peak_mib();
    workbench.close_project();
    let holds = Some([info.labels, info.texts, info.annotators]);
    Ok(StepTimes { step, seconds, peak_mib, holds, labelling: Some(labelling) })
}

/// A person who labels what the window puts before them.
struct Desk<'a> {
    session: &'a Session,
    question: QuestionId,
    annotator: AnnotatorId,
    given: usize,
    /// The text on the screen.
    text: TextId,
}

impl<'a> Desk<'a> {
    fn new(session: &'a Session, question: QuestionId, annotator: AnnotatorId) -> Result<Self, BenchError> {
        session.labelling.progress(annotator, question)?;
        let text = next_text(session, annotator, question, None)?;
        Ok(Self { session, question, annotator, given: 0, text })
    }

    /// Gives one label; the time until it is on disk and the next text is there.
    fn label(&mut self) -> Result<Duration, BenchError> {
        let started = Instant::now();
        self.session.labelling.record_label(&NewLabel {
            question: self.question,
            annotator: self.annotator,
            text: self.text,
            answer: Answer::Level((self.given % 2) as u16),
            duration_ms: Some(1_500),
        })?;
        self.text = next_text(self.session, self.annotator, self.question, Some(self.text))?;
        self.given += 1;
        Ok(started.elapsed())
    }
}

fn next_text(
    session: &Session,
    annotator: AnnotatorId,
    question: QuestionId,
    after: Option<TextId>,
) -> Result<TextId, BenchError> {
    let task = session.labelling.next_text(annotator, question, TextOrder::File, after)?;
    let nothing_left = || BenchError::Option {
        name: "FILE",
        value: "no text to label".to_owned(),
        allowed: "a file whose first annotator has not labelled everything",
    };
    task.map(|task| task.text).ok_or_else(nothing_left)
}
