//! The steps, each run the way the command or the window does it.

use crate::error::BenchError;
use crate::figures::{peak_mib, quantile_ms};
use dissensus_analysis::aggregation;
use dissensus_analysis::agreement;
use dissensus_analysis::ranking;
use dissensus_api::{DisagreementMeasure, DisagreementQuery, ImportChoices, NewLabel, TextOrder};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_editing::annotators;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_project::event::Event;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_store::Store;
use dissensus_training::encoding::adopt_embeddings;
use dissensus_transfer::exchange;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Dimension of the simulated embeddings.
const DIM: usize = 384;
/// Number of labels recorded once the models are live.
const LIVE_LABELS: usize = 60;
/// Pauses between two labels while the models are fitted: short at first, then realistic.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];
/// Number of labels with the first pause.
const OFTEN: usize = 40;
/// Maximum time to wait for a fit.
const MAX_FIT_TIME: Duration = Duration::from_secs(600);

/// One step.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LargeStep {
    /// `dissensus data import` into a new project.
    Import,
    /// Import of the same file once more.
    ImportAgain,
    /// `dissensus analyse agreement`.
    Agreement,
    /// Opening in the window; the file check at the end of the previous step is on record.
    Open,
    /// Opening in the window, with no record that the file was ever checked.
    OpenUnchecked,
    /// A simulated embedding for every text.
    Embed,
    /// As `Open`, with these embeddings.
    OpenEmbedded,
}

impl LargeStep {
    /// All steps, in order.
    pub const ALL: [Self; 7] = [
        Self::Import,
        Self::ImportAgain,
        Self::Agreement,
        Self::Open,
        Self::OpenUnchecked,
        Self::Embed,
        Self::OpenEmbedded,
    ];

    /// Name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Name in a table.
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

    /// The promised time at a million labels.
    pub fn bar_seconds(self) -> Option<f64> {
        match self {
            Self::Import => Some(10.0),
            Self::ImportAgain => Some(15.0),
            Self::Agreement => Some(5.0),
            Self::Open | Self::OpenUnchecked | Self::OpenEmbedded => Some(3.0),
            Self::Embed => None,
        }
    }

    /// The promised peak memory at a million labels, in MiB.
    pub fn bar_mib(self) -> Option<f64> {
        match self {
            Self::Open | Self::OpenUnchecked | Self::OpenEmbedded => Some(1536.0),
            Self::Import | Self::ImportAgain | Self::Agreement | Self::Embed => None,
        }
    }
}

/// Figures of one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepTimes {
    pub step: LargeStep,
    /// From start to end of the step; for an opening, until the first text and the list of annotators are
    /// ready.
    pub seconds: f64,
    /// Peak memory of the process in MiB, including fits and labels, where the system reports it.
    pub peak_mib: Option<f64>,
    /// Number of labels, texts and annotators in the project, if the step reads them.
    pub holds: Option<[u32; 3]>,
    /// Times of labels recorded after an opening.
    pub labelling: Option<LabellingTimes>,
}

/// Times to record labels in a newly opened project, each from the call until it is on disk and the next text
/// is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabellingTimes {
    /// The very first label, which nothing was prepared for.
    pub first_ms: f64,
    /// Whether the models were still being fitted when it was recorded.
    pub first_during_fit: bool,
    /// Number of labels recorded while the models were fitted.
    pub during_fit: usize,
    /// The slowest of them.
    pub during_fit_max_ms: f64,
    /// Seconds from opening until the models were fitted.
    pub fit_seconds: f64,
    /// Median with live models: on disk, model updated, all measures up to date.
    pub live_median_ms: f64,
    /// 99th percentile of the same.
    pub live_p99_ms: f64,
    /// Time to rank all texts by disagreement once.
    pub ranking_ms: f64,
}

impl StepTimes {
    fn new(step: LargeStep, started: Instant) -> Self {
        let seconds = started.elapsed().as_secs_f64();
        Self { step, seconds, peak_mib: peak_mib(), holds: None, labelling: None }
    }
}

/// Runs a step with the project in `folder`.
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
            exchange::import(&session.exchange, file, &ImportChoices::default(), Some(&unwatched))?;
            session.close();
            Ok(StepTimes::new(step, started))
        }
        LargeStep::Agreement => {
            let session = Session::open_to_read(&path, &home)?;
            let question = questions::find(&session.project, None)?.id;
            agreement::measure_target(&session.analysis, question)?;
            aggregation::estimate_reliability(&session.analysis, question, &Silent)?;
            session.close();
            Ok(StepTimes::new(step, started))
        }
        LargeStep::Embed => {
            embed(&path)?;
            // So that the next opening finds a record of the file in its current state.
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

/// Opens the project as the window does: the file, then background work, then what the first view requests.
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
    let question = questions::find(&session.project, None)?.id;
    let annotator =
        annotators::list(&session.project)?.first().map_or(AnnotatorId(0), |annotator| annotator.id);
    jobs::list(&session.project)?;
    let mut desk = Desk::new(&session, question, annotator)?;
    let seconds = started.elapsed().as_secs_f64();

    let first = desk.label()?;
    let first_during_fit = !fitted.load(Ordering::Relaxed);
    let mut during = Vec::new();
    while !fitted.load(Ordering::Relaxed) {
        if started.elapsed() > MAX_FIT_TIME {
            let why = format!("the models were not fitted within {} s", MAX_FIT_TIME.as_secs());
            return Err(BenchError::Peer { peer: "the fit", why });
        }
        std::thread::sleep(PAUSES[usize::from(during.len() >= OFTEN)]);
        during.push(desk.label()?);
    }
    let fit_seconds = started.elapsed().as_secs_f64();
    let mut live = (0..LIVE_LABELS).map(|_| desk.label()).collect::<Result<Vec<_>, _>>()?;
    let ranking = Instant::now();
    ranking::rank(
        &session.analysis,
        &DisagreementQuery {
            question,
            by: DisagreementMeasure::Split,
            cut: None,
            groups: None,
            search: None,
            attributes: Default::default(),
            labelled_only: false,
        },
    )?;
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

/// A simulated annotator who labels the text that the window shows.
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
        progress::count(&session.labelling, annotator, question)?;
        let text = next_text(session, annotator, question, None)?;
        Ok(Self { session, question, annotator, given: 0, text })
    }

    /// Records one label and returns the time until it is on disk and the next text is ready.
    fn label(&mut self) -> Result<Duration, BenchError> {
        let started = Instant::now();
        record::record_label(
            &self.session.labelling,
            &NewLabel {
                question: self.question,
                annotator: self.annotator,
                text: self.text,
                answer: Answer::from_level((self.given % 2) as u16),
                duration_ms: Some(1_500),
            },
        )?;
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
    let task = next_text::choose(&session.labelling, annotator, question, TextOrder::File, after)?;
    let nothing_left = || BenchError::Option {
        name: "FILE",
        value: "no text to label".to_owned(),
        allowed: "a file whose first annotator has not labelled everything",
    };
    task.map(|task| task.text).ok_or_else(nothing_left)
}
