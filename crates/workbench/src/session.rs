//! One open project and everything that is live in it.

use crate::core::Core;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::home::Home;
use crate::log::go_on;
use crate::names::checked_name;
use crate::project::Index;
use crate::view::{
    AnnotatorInfo, AppSettings, AttributeInfo, EncodingState, JobInfo, JobState, ProjectChoices, ProjectInfo,
    QuestionInfo,
};
use dissensus_domain::{AnnotatorId, Attributes, Question, QuestionId, Scale};
use dissensus_store::{NewAnnotator, NewQuestion, Store, WorkState};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const CHOICES_KEY: &str = "choices";

/// One open project. Every method may be called from any thread.
pub struct Session {
    pub(crate) core: Arc<Core>,
}

impl Session {
    /// Makes a project file and opens it.
    ///
    /// # Errors
    /// The file exists, or its folder cannot be written.
    pub fn create(path: &Path, home: &Home) -> Result<Self, WorkbenchError> {
        Self::on(Store::create_recorded(path, &home.check_records())?, home)
    }

    /// Opens a project to label, import and encode.
    ///
    /// # Errors
    /// The file is missing, no project, newer than this program, damaged, read-only or open elsewhere; each has its own code
    /// and the file is unchanged.
    pub fn open(path: &Path, home: &Home) -> Result<Self, WorkbenchError> {
        Self::on(Store::open_recorded(path, &home.check_records())?, home)
    }

    /// Opens a project to read, also while it is open elsewhere.
    ///
    /// # Errors
    /// As [`Session::open`], but a project open elsewhere or read-only is no error.
    pub fn open_to_read(path: &Path, home: &Home) -> Result<Self, WorkbenchError> {
        Self::on(Store::open_reader_recorded(path, &home.check_records())?, home)
    }

    fn on(store: Store, home: &Home) -> Result<Self, WorkbenchError> {
        let core = Core::open(store, home)?;
        let index = core.index();
        tracing::info!(
            texts = index.texts().len(),
            annotators = index.annotators().len(),
            questions = index.questions().len(),
            reader = core.store.is_reader(),
            "project opened"
        );
        Ok(Self { core: Arc::new(core) })
    }

    /// Where the project file is.
    pub fn path(&self) -> &Path {
        self.core.store.path()
    }

    /// True where the project was opened to read.
    pub fn is_reader(&self) -> bool {
        self.core.store.is_reader()
    }

    /// Tells `listener` of everything that happens from now on. It is called on the thread that did it and must be quick.
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) {
        self.core.listeners.add(listener);
    }

    /// What the project holds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn info(&self) -> Result<ProjectInfo, WorkbenchError> {
        let store = &self.core.store;
        let index = self.core.index();
        let mut labels: HashMap<QuestionId, u32> = HashMap::new();
        for count in store.annotator_counts()? {
            *labels.entry(count.question).or_default() += count.labels;
        }
        let questions =
            index.questions().iter().map(|q| question_info(q, labels.get(&q.id).copied().unwrap_or(0)));
        Ok(ProjectInfo {
            path: store.path().to_string_lossy().into_owned(),
            name: name_of(store.path()),
            texts: index.texts().len() as u32,
            annotators: index.annotators().len() as u32,
            labels: labels.values().sum(),
            questions: questions.collect(),
            attributes: attributes_in_use(&index),
            simulated_notice: store.setting(crate::sample::NOTICE_KEY)?,
            encoding: self.encoding_state()?,
            choices: store.setting(CHOICES_KEY)?.unwrap_or_default(),
        })
    }

    /// How far the embeddings are.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn encoding_state(&self) -> Result<EncodingState, WorkbenchError> {
        self.core.encoding_state()
    }

    /// Keeps what was chosen last, so that the project opens as it was left.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_choices(&self, choices: &ProjectChoices) -> Result<(), WorkbenchError> {
        Ok(self.core.store.set_setting(CHOICES_KEY, choices)?)
    }

    /// Takes over settings that hold for every project.
    pub fn apply_settings(&self, settings: &AppSettings) {
        self.core.settings.set(settings.clone());
    }

    /// Everyone, in the order they came.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn annotators(&self) -> Result<Vec<AnnotatorInfo>, WorkbenchError> {
        let mut labels: HashMap<AnnotatorId, u32> = HashMap::new();
        for count in self.core.store.annotator_counts()? {
            *labels.entry(count.annotator).or_default() += count.labels;
        }
        let index = self.core.index();
        let info = |a: &dissensus_domain::Annotator| AnnotatorInfo {
            id: a.id,
            external_id: a.external_id.clone(),
            name: a.name.clone(),
            attributes: a.attributes.clone(),
            simulated: a.simulated,
            labels: labels.get(&a.id).copied().unwrap_or(0),
        };
        Ok(index.annotators().iter().map(info).collect())
    }

    /// Adds a person. The name is also the external id.
    ///
    /// # Errors
    /// The name is blank, too long or taken.
    pub fn add_annotator(
        &self,
        name: &str,
        attributes: &Attributes,
    ) -> Result<AnnotatorInfo, WorkbenchError> {
        let name = checked_name("annotator", name)?;
        for (attribute, value) in attributes {
            checked_name("attribute", attribute)?;
            checked_name("attribute", value)?;
        }
        let taken = |a: &dissensus_domain::Annotator| a.external_id == name || a.name == name;
        if self.core.index().annotators().iter().any(taken) {
            return Err(WorkbenchError::Name { what: "annotator", name, why: "is taken: choose another" });
        }
        let new = NewAnnotator {
            external_id: name.clone(),
            name: name.clone(),
            attributes: attributes.clone(),
            simulated: false,
        };
        let id = self.core.store.write(move |tx| tx.add_annotator(&new))?;
        self.core.reload()?;
        self.core.live.welcome(self.core.index().annotators().len());
        self.core.listeners.send(&Event::Project);
        Ok(AnnotatorInfo {
            id,
            external_id: name.clone(),
            name,
            attributes: attributes.clone(),
            simulated: false,
            labels: 0,
        })
    }

    /// Adds a question to be asked of every text. Without a prompt, its name is asked.
    ///
    /// # Errors
    /// The name is blank, too long or taken, or the levels make no scale (one that came as JSON was not looked at yet).
    pub fn add_question(
        &self,
        name: &str,
        prompt: &str,
        scale: Scale,
    ) -> Result<QuestionInfo, WorkbenchError> {
        let name = checked_name("question", name)?;
        for level in scale.options() {
            checked_name("level", level)?;
        }
        if self.core.index().questions().iter().any(|q| q.name == name) {
            return Err(WorkbenchError::Name { what: "question", name, why: "is taken: choose another" });
        }
        let scale = Scale::new(scale.kind(), scale.levels())?;
        let prompt = if prompt.trim().is_empty() { name.clone() } else { prompt.trim().to_owned() };
        let new = NewQuestion { name, prompt, scale };
        let id = self.core.store.write(move |tx| tx.add_question(&new))?;
        self.core.keep_whole();
        self.core.reload()?;
        self.core.listeners.send(&Event::Project);
        self.fit_where_wanted(id);
        let index = self.core.index();
        index.question(id).map(|q| question_info(q, 0)).ok_or(WorkbenchError::NoQuestion)
    }

    /// The question with this name, or the only one.
    ///
    /// # Errors
    /// There is none of that name, none at all, or several and none was named.
    pub fn question(&self, name: Option<&str>) -> Result<Question, WorkbenchError> {
        let index = self.core.index();
        let names = || index.questions().iter().map(|q| q.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, index.questions()) {
            (_, []) => Err(WorkbenchError::NoQuestion),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(WorkbenchError::WhichQuestion(names())),
            (Some(name), all) => all
                .iter()
                .find(|q| q.name == name)
                .cloned()
                .ok_or_else(|| WorkbenchError::NoSuchQuestion { name: name.to_owned(), known: names() }),
        }
    }

    /// The annotator with this external id or, where nobody has it, with this name.
    ///
    /// # Errors
    /// There is nobody of that name.
    pub fn annotator(&self, name: &str) -> Result<dissensus_domain::Annotator, WorkbenchError> {
        let index = self.core.index();
        index.annotator_named(name).cloned().ok_or_else(|| {
            let few: Vec<&str> = index.annotators().iter().take(5).map(|a| a.external_id.as_str()).collect();
            let more = index.annotators().len().saturating_sub(few.len());
            let known = match (few.is_empty(), more) {
                (true, _) => "nobody yet".to_owned(),
                (false, 0) => few.join(", "),
                (false, more) => format!("{} and {more} more", few.join(", ")),
            };
            WorkbenchError::NoSuchAnnotator { name: name.to_owned(), known }
        })
    }

    /// Jobs at work, and the newest ones that ended, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn jobs(&self) -> Result<Vec<JobInfo>, WorkbenchError> {
        let running: BTreeMap<u32, JobInfo> =
            self.core.jobs.running().into_iter().map(|j| (j.id, j)).collect();
        let kept = self.core.store.jobs(20)?.into_iter();
        Ok(kept.map(|job| running.get(&job.id.0).cloned().unwrap_or_else(|| ended(job))).collect())
    }

    /// Asks a job to stop; it ends within a second. False where it is not running.
    pub fn cancel_job(&self, id: u32) -> bool {
        self.core.jobs.cancel(id)
    }

    /// Does what an open window wants without being asked: encodes what has no embedding and fits the models. Returns at once.
    pub fn start_background_work(&self) {
        self.core.in_background.store(true, Ordering::Relaxed);
        // No encoder or another encoding under way is told by `encoding_state`, not here.
        if self.is_reader() || self.start_encoding().is_err() {
            self.fit_in_background();
        }
    }

    /// Ends jobs and threads and closes the file. What was confirmed is on disk.
    pub fn close(&self) {
        self.core.closing.set();
        self.core.jobs.cancel_all();
        self.core.threads.join();
        self.core.keep_heads();
        // What the disk says now changes nothing that was confirmed: it stays in the journal.
        go_on("closing the file", self.core.store.close());
        tracing::info!("project closed");
    }

    /// Runs `work` on a thread that [`Session::close`] waits for.
    pub(crate) fn spawn(
        &self,
        what: &'static str,
        work: impl FnOnce(&Arc<Core>) + Send + 'static,
    ) -> Result<(), WorkbenchError> {
        self.core.threads.spawn(&self.core, what, work)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

fn question_info(question: &Question, labels: u32) -> QuestionInfo {
    QuestionInfo {
        id: question.id,
        name: question.name.clone(),
        prompt: question.prompt.clone(),
        scale: question.scale.clone(),
        labels,
    }
}

fn attributes_in_use(index: &Index) -> Vec<AttributeInfo> {
    let mut values: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for (name, value) in index.annotators().iter().flat_map(|a| &a.attributes) {
        *values.entry(name).or_default().entry(value).or_default() += 1;
    }
    let info = |(name, counts): (&str, BTreeMap<&str, u32>)| {
        let mut counts: Vec<(&str, u32)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        AttributeInfo {
            name: name.to_owned(),
            values: counts.into_iter().map(|(v, _)| v.to_owned()).collect(),
        }
    };
    values.into_iter().map(info).collect()
}

fn ended(job: dissensus_store::Job) -> JobInfo {
    let state = match job.state {
        WorkState::Running => JobState::Running,
        WorkState::Finished => JobState::Finished,
        WorkState::Cancelled => JobState::Cancelled,
        WorkState::Failed => JobState::Failed,
        WorkState::Interrupted => JobState::Interrupted,
    };
    JobInfo {
        id: job.id.0,
        kind: job.kind,
        title: job.title,
        state,
        done: job.done,
        total: job.total,
        seconds_left: None,
        note: job.note,
        problem: None,
    }
}

/// The file name without its ending.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_stem()
        .map_or_else(|| PathBuf::from(path).to_string_lossy().into(), |n| n.to_string_lossy().into_owned())
}
