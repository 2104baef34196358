//! One open project: a bundle of its parts.

use dissensus_analysis::Analysis;
use dissensus_analysis::bundles::Bundles;
use dissensus_analysis::overview;
use dissensus_analysis::panels::Panels;
use dissensus_analysis::summaries::Summaries;
use dissensus_analysis::texts::Texts;
use dissensus_api::Overview;
use dissensus_domain::AnnotatorId;
use dissensus_editing::Project;
use dissensus_editing::withdraw;
use dissensus_labelling::Labelling;
use dissensus_labelling::guideline::Guidelines;
use dissensus_labelling::practice::Practice;
use dissensus_labelling::watch;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_report::{PaperReports, Parts};
use dissensus_store::Store;
use dissensus_training::background::Background;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use dissensus_training::runs::Runs;
use dissensus_training::saved_runs::SavedRuns;
use dissensus_transfer::exchange::Exchange;
use dissensus_transfer::study::Study;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One open project: a bundle of its parts. Every method of a part may be called from any thread.
pub struct Session {
    /// Contents, annotators and questions.
    pub project: Project,
    /// Recording of labels.
    pub labelling: Labelling,
    /// Models that learn label by label.
    pub live: LiveModels,
    /// The encoder and its embeddings.
    pub encoding: Encoding,
    /// Automatic encoding and fitting.
    pub background: Background,
    pub runs: Runs,
    /// Figures on labels, annotators and models.
    pub analysis: Analysis,
    /// Export of models.
    pub bundles: Bundles,
    /// Import and export of other tools' files.
    pub exchange: Exchange,
    /// Instructions for annotators.
    pub guideline: Guidelines,
    /// A study with several people: task packets and submissions.
    pub study: Study,
    /// Decisions of panels.
    pub panels: Panels,
    /// Labels aggregated by text or by person.
    pub summaries: Summaries,
    /// Reports for a paper's appendix.
    pub paper: PaperReports,
    /// Lists of texts.
    pub texts: Texts,
    pub(crate) context: Arc<Context>,
    /// What is done before the file is closed.
    before_closing: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Session {
    /// Creates a project file and opens it.
    ///
    /// # Errors
    /// The file exists, or its folder cannot be written.
    pub fn create(path: &Path, home: &Home) -> Result<Self, ProjectError> {
        Self::on(Store::create_recorded(path, &home.check_records())?, home)
    }

    /// Opens a project for labelling, importing and encoding.
    ///
    /// # Errors
    /// The file is missing, not a project, newer than this program, damaged, read-only or open elsewhere;
    /// each has its own code and the file is unchanged.
    pub fn open(path: &Path, home: &Home) -> Result<Self, ProjectError> {
        let unwatched: Arc<dyn Progress> = Arc::new(Silent);
        Self::open_reporting(path, home, &unwatched)
    }

    /// Opens a project like [`Session::open`], and reports to `progress` while one of an earlier format is
    /// copied and upgraded.
    ///
    /// # Errors
    /// Those of [`Session::open`]; cancellation, after which the file is as it was.
    pub fn open_reporting(
        path: &Path,
        home: &Home,
        progress: &Arc<dyn Progress>,
    ) -> Result<Self, ProjectError> {
        Self::on(Store::open_recorded(path, &home.check_records(), progress)?, home)
    }

    /// Opens a project read-only, also while it is open elsewhere.
    ///
    /// # Errors
    /// Those of [`Session::open`], except that a project may be open elsewhere or read-only.
    pub fn open_to_read(path: &Path, home: &Home) -> Result<Self, ProjectError> {
        Self::on(Store::open_reader_recorded(path, &home.check_records())?, home)
    }

    fn on(store: Store, home: &Home) -> Result<Self, ProjectError> {
        let context = Arc::new(Context::open(store, home)?);
        let index = context.index();
        tracing::info!(
            texts = index.texts().len(),
            annotators = index.annotators().len(),
            questions = index.questions().len(),
            reader = context.is_reader(),
            "project opened"
        );
        let saved_runs = SavedRuns::new(&context);
        let encoding = Encoding::new(&context, &saved_runs);
        let live = LiveModels::new(&context, &encoding);
        let background = Background::new(&context, &encoding, &live);
        let project = Project::of(&context, &encoding, &live);
        if !context.is_reader() {
            go_on("finishing what a withdrawal left to do", withdraw::finish_erasing(&project));
        }
        let practice = Practice::new(&context);
        let labelling = Labelling::new(&context, &project, &live, &practice)?;
        let runs = Runs::new(&context, &saved_runs, &encoding, &background);
        let analysis = Analysis::new(&context, &encoding, &live, &runs, &practice);
        let bundles = Bundles::new(&context, &encoding, &live, &runs, &analysis);
        let exchange = Exchange::new(&context, &labelling, &practice, &background);
        let guideline = Guidelines::new(&context);
        let study = Study::new(&context, &project, &labelling, &practice, &background);
        let panels = Panels::new(&context, &encoding, &analysis);
        let summaries = Summaries::new(&context, &live, &analysis);
        let paper = PaperReports::new(
            &context,
            &Parts {
                project: &project,
                encoding: &encoding,
                live: &live,
                runs: &runs,
                analysis: &analysis,
                exchange: &exchange,
                guideline: &guideline,
                study: &study,
            },
        );
        let texts = Texts::new(&context, &encoding, &labelling, &practice);
        Ok(Self {
            project,
            labelling,
            live,
            encoding,
            background,
            runs,
            analysis,
            bundles,
            exchange,
            guideline,
            study,
            panels,
            summaries,
            paper,
            texts,
            context,
            before_closing: Mutex::default(),
        })
    }

    /// The project's contents, everyone's progress, and the next steps for `reading_as`, the current
    /// annotator.
    pub fn overview(&self, reading_as: Option<AnnotatorId>) -> Result<Overview, ProjectError> {
        let (texts, left) = self.texts.to_answer(reading_as)?;
        overview::summarize(&self.analysis, texts, left)
    }

    /// Follows changes by other programs to a read-only project and notifies listeners; a writable project
    /// has no other writers.
    pub fn follow_others(&self) {
        if self.context.is_reader() {
            watch::watch_file(&self.labelling);
        }
    }

    /// Calls `listener` for every event from now on, on the thread that caused it; it must be quick.
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) {
        self.context.listeners.add(listener);
    }

    /// Does `work` once before the file is closed, for any reason: a server on the project ends there, while
    /// it can still write.
    pub fn before_closing(&self, work: impl FnOnce() + Send + 'static) {
        lock(&self.before_closing).push(Box::new(work));
    }

    /// Ends jobs and threads and closes the file. Confirmed data is on disk.
    pub fn close(&self) {
        let before = std::mem::take(&mut *lock(&self.before_closing));
        // The last first: a server ends before the project is backed up.
        for work in before.into_iter().rev() {
            work();
        }
        self.context.threads.close();
        self.context.jobs.cancel_all();
        self.context.threads.join();
        self.live.save_heads();
        // An I/O error here does not affect confirmed data: it stays in the journal.
        go_on("closing the file", self.context.store.close());
        tracing::info!("project closed");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}
