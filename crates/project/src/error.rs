//! Errors of use cases, each with a stable code.

use crate::guideline_error::GuidelineError;
use crate::panel_error::PanelError;
use crate::study_error::StudyError;
use crate::words::counted;
use dissensus_api::Problem;
use dissensus_domain::{Question, SpansError};
use dissensus_encoder::EncoderError;
use dissensus_exchange::{ExchangeError, RowError};
use dissensus_stats::data::ModelError;
use dissensus_store::StoreError;
use std::path::PathBuf;

/// An error of a use case: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Exchange(ExchangeError),
    #[error(transparent)]
    Encoder(EncoderError),
    #[error(transparent)]
    Perspectives(ModelError),
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Panel(#[from] PanelError),
    #[error(transparent)]
    Guideline(#[from] GuidelineError),
    /// An invalid attribute form, or invalid answers to it.
    #[error(transparent)]
    Form(#[from] dissensus_domain::FormError),
    /// An invalid note.
    #[error(transparent)]
    Remark(#[from] dissensus_domain::RemarkError),
    /// An invalid scale.
    #[error(transparent)]
    Scale(#[from] dissensus_domain::ScaleError),
    /// An I/O error on a file or folder.
    #[error("{doing} {path} failed: {source}")]
    Io {
        path: PathBuf,
        /// The operation, such as "writing".
        doing: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The system has no home folder.
    #[error("this system names no home folder: set DISSENSUS_HOME to a folder for settings and encoders")]
    NoHome,
    /// A command that needs an open project was called without one.
    #[error("no project is open: open or make one first")]
    NoProject,
    /// A setting outside its range.
    #[error("the setting {name} cannot be {value}: it takes {allowed}")]
    Setting {
        name: &'static str,
        /// The given value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// An error in one sheet of a workbook with several.
    #[error("{source} (in the sheet \"{sheet}\"; others that could be read: {})", .others.join(", "))]
    InSheet {
        /// The sheet that was read.
        sheet: String,
        /// The other sheets.
        others: Vec<String>,
        /// The error in the sheet.
        source: Box<ProjectError>,
    },
    /// An aggregated table, which contains neither labels nor texts nor people.
    #[error("{} holds labels summed up, as `data export --rows` writes them, and does not import: export the labels themselves", .0.display())]
    IsSummary(PathBuf),
    /// Labels were given while they were aggregated.
    #[error(
        "labels were given or taken in while they were summed up, so nothing was written: try again when nobody labels"
    )]
    LabelsChange,
    /// The study's limit is reached and cannot be exceeded.
    #[error("the study ends the day here: it goes on tomorrow")]
    FinishedToday,
    /// The built-in sample is inconsistent.
    #[error("the sample project's {0} is damaged: this is a fault of the program")]
    Sample(&'static str),
    /// There is no text of that name.
    #[error("there is no text \"{0}\" in this project")]
    NoSuchText(String),
    /// A text that was imported after the fit of the model.
    #[error(
        "text \"{0}\" was imported after the model was fitted: the next fit has it, so ask again when that has ended"
    )]
    TextNotFitted(String),
    /// There is no annotator of that name.
    #[error("there is no annotator \"{name}\" in this project; it has {known}")]
    NoSuchAnnotator {
        name: String,
        /// Existing annotators, shortened.
        known: String,
    },
    /// There is no question of that name.
    #[error("there is no question \"{name}\" in this project; it has {known}")]
    NoSuchQuestion {
        name: String,
        /// Existing questions.
        known: String,
    },
    /// A project with several questions, and none was named.
    #[error("this project has several questions: name one of {0} (--question NAME)")]
    WhichQuestion(String),
    /// A project without questions.
    #[error("this project asks nothing yet: import labels or add a question")]
    NoQuestion,
    /// A multi-label question where one of its options is needed.
    #[error(
        "\"{question}\" has {options} options or types of spans, and this is told of one of them at a time: name it, such as --question \"{first}\""
    )]
    OneOption {
        question: String,
        /// Number of its options.
        options: usize,
        /// Its first option, as a question.
        first: String,
    },
    /// A value that is not a list of spans of the question.
    #[error(transparent)]
    Spans(SpansError),
    /// A stratified split of a whole multi-label question.
    #[error(
        "a stratified split divides each option of \"{0}\" otherwise: use by-text or grouped, or name one option"
    )]
    StratifiedOptions(String),
    /// The question does not allow "cannot say".
    #[error(
        "\"{0}\" does not offer to say that one cannot say: its author can (dissensus data question P {0} --cannot-say on)"
    )]
    CannotSayNotOffered(String),
    /// A run was trained on levels other than those of its question.
    #[error(
        "the levels of its question were added, removed or put in another order since run {0} was trained: train again"
    )]
    OtherLevels(u32),
    /// The levels of a question are rearranged while a window is open on it.
    #[error(
        "levels are rearranged while a window follows their question: close the project and open it again"
    )]
    Rearranged,
    /// Invalid help or definitions of a question.
    #[error(transparent)]
    Wording(#[from] dissensus_domain::WordingError),
    /// A question without spans, or a whole question where a type of spans is needed.
    #[error("\"{0}\" is no type of spans: words are marked in answers to questions with spans alone")]
    NoSpans(String),
    /// A question without options where an answer with options is needed.
    #[error("\"{0}\" is no multi-label question: whole sets of options are told of these alone")]
    NoOptions(String),
    /// Two columns of a table with the same name.
    #[error("two columns would be called \"{0}\": name fewer annotators at a time, or rename an option")]
    ColumnTwice(String),
    /// An option where the whole question is answered.
    #[error("\"{option}\" is one option: answer \"{question}\" with all options that apply")]
    WholeQuestion {
        /// The option, as a question.
        option: String,
        /// Its question.
        question: String,
    },
    /// The level is not on the scale.
    #[error("\"{value}\" is not on the scale of \"{question}\": it has {levels}")]
    NotOnScale {
        value: String,
        question: String,
        /// The levels of the question.
        levels: String,
    },
    /// Text that cannot be parsed as a condition of a question, or as a new name of a level.
    #[error("cannot read \"{given}\" as {what}: {why}")]
    Words {
        /// The expected kind of text: `a condition`, `a new name`.
        what: &'static str,
        given: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The label that an undo would take back is no longer current.
    #[error(
        "nothing was undone: {by} has replaced the last label that {annotator} gave, {given} on {text}, by {current}. To change it, \
         label that text again"
    )]
    LabelReplaced {
        annotator: String,
        text: String,
        given: String,
        /// The current label.
        current: String,
        /// What replaced it.
        by: &'static str,
    },
    /// A new annotator whose name looks like that of an existing one.
    #[error(
        "nobody here is called \"{name}\", and \"{known}\" looks alike: give that name, or say that this is another person \
         (--new-annotator)"
    )]
    NearName {
        name: String,
        /// External id of the person with a similar name.
        known: String,
    },
    /// A new name that looks like that of an annotator who withdrew.
    #[error(
        "nobody here is called \"{0}\", and somebody who has withdrawn went by a name that looks alike: if this is that person, nothing of \
         theirs is kept; if it is another one, say so (--new-annotator)"
    )]
    NearWithdrawn(String),
    /// A name that is blank or taken.
    #[error("the {what} name \"{name}\" {why}")]
    Name {
        /// The kind of name: annotator, question, ...
        what: &'static str,
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An attribute value that no annotator has.
    #[error("no annotator has {name} = \"{value}\"{hint}")]
    NoSuchAttribute {
        name: String,
        value: String,
        /// Existing values.
        hint: String,
    },
    /// A group without a selection of people.
    #[error("nobody is chosen for group {0}: name an attribute's value, such as gender=Woman, or people")]
    EmptyGroup(&'static str),
    /// Groups of a comparison that overlap.
    #[error("{names} {} in both groups: nobody can be compared with themselves, so choose groups that share nobody", if *.people == 1 { "is" } else { "are" })]
    GroupsOverlap {
        /// The first few names.
        names: String,
        /// Number of people in both.
        people: usize,
    },
    /// Bad rows, which were not to be skipped.
    #[error("{count} of {} cannot be imported, so nothing was", counted(*.rows, "row"))]
    BadRows {
        count: u64,
        /// Total number of rows.
        rows: u64,
        /// The first few bad rows, one per line.
        listed: String,
        /// Why the other rows cannot be imported without them, if so.
        rest: Option<Box<ProjectError>>,
        /// The first bad rows.
        problems: Vec<RowError>,
    },
    /// A table with several possible readings, none of which is clearly the best.
    #[error("{} can be read in several ways, and nothing says which is meant: choose one", .path.display())]
    SeveralReadings {
        path: PathBuf,
        /// The readings, one per line.
        listed: String,
    },
    /// Two files without a common column.
    #[error("no column of {} has the ids of {}: name it with --on COLUMN, or --on COLUMN=OTHER where it is called otherwise there", .path.display(), .other.display())]
    NoCommonColumn {
        path: PathBuf,
        /// The file to join.
        other: PathBuf,
    },
    /// The file changed between the check and the import.
    #[error(
        "{} changed while it was read, so nothing was imported: {counted} bad rows were counted first and {found} then; import it again", .path.display()
    )]
    FileChanged {
        path: PathBuf,
        /// Number of bad rows found by the check.
        counted: u64,
        /// Number of bad rows found on writing.
        found: u64,
    },
    /// A file with only a header.
    #[error("{0} has a header and no rows: there is nothing to make a scale from")]
    NoRows(PathBuf),
    /// Bad rows in a file of texts, which were not to be skipped.
    #[error("{count} of {} of {path} cannot be read, so nothing was written", counted(*.rows, "row"), path = .path.display())]
    BadTexts {
        path: PathBuf,
        /// Number of bad rows.
        count: u64,
        /// Total number of rows.
        rows: u64,
        /// The first few bad rows, one per line.
        listed: String,
    },
    /// A file of texts without any.
    #[error("{0} has no texts, so nothing was written")]
    NoTexts(PathBuf),
    /// A file of texts changed between two reads.
    #[error("{0} changed while it was read, so nothing was written: run it again")]
    TextsChanged(PathBuf),
    /// Embeddings cannot be stored with a table that is being written.
    #[error("{} cannot keep embeddings: {reason}", path.display())]
    KeptEmbeddings {
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// The output would overwrite the input.
    #[error("{0} is the file that is read: name another one to write to")]
    SameFile(PathBuf),
    /// Labels without a matching scale.
    #[error("the labels in column \"{column}\" make no scale: {source}{}", if_free_text(source, column))]
    NoScale {
        column: String,
        /// Why there is no scale.
        source: dissensus_domain::ScaleError,
    },
    /// A scale was given for a question that has one.
    #[error(
        "the question \"{question}\" exists with the scale {has}: leave out the scale, or name another question"
    )]
    OtherScale {
        question: String,
        /// Its existing scale.
        has: String,
    },
    /// A file of an annotation tool with answers to several questions, read as answers to one.
    #[error("{path} answers {} questions ({}) and cannot be read as answers to one: leave out the name of a question", names.len(), names.join(", "))]
    SeveralQuestions {
        path: PathBuf,
        /// Its questions.
        names: Vec<String>,
    },
    /// The encoder differs from the one of the embeddings.
    #[error("the embeddings of this project were made by {stored}, and the encoder at {dir} is {found} now")]
    EncoderChanged {
        /// The version of the embeddings.
        stored: String,
        dir: PathBuf,
        /// The version in the folder.
        found: String,
    },
    /// Another encoder was selected while a pooling was chosen.
    #[error("another encoder came into use meanwhile, and stays in use: choose again to change it")]
    EncoderSwitched,
    /// Another encoder was selected after the predicting model was fitted.
    #[error(
        "another program gave this project another encoder since its model was fitted, so nothing was written: run it again"
    )]
    EncoderNotOfModel,
    /// Fewer than two encoders to choose from.
    #[error(
        "name two encoders or more to choose from, such as --choose-encoder all-MiniLM-L6-v2,all-mpnet-base-v2"
    )]
    OneEncoder,
    /// There is no answer of this annotation round to take back.
    #[error(
        "{question} has no answers of {}: {}",
        occasion.map_or_else(|| "a later occasion".to_owned(), |one| format!("occasion {one}")),
        match there.as_slice() {
            [] => "there are no repeated answers".to_owned(),
            some => format!(
                "there are answers of occasion {}",
                some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ),
        }
    )]
    NoRepeats {
        question: String,
        /// The annotation round; any later one with `None`.
        occasion: Option<u16>,
        /// Annotation rounds that have answers.
        there: Vec<u16>,
    },
    /// An encoder was named twice among those to choose from.
    #[error("`{0}` is the same encoder as another one of those to choose from: name each once")]
    EncoderTwice(String),
    /// An encoder to choose from was trained on the labels that would be used for the choice.
    #[error(
        "`{0}` was trained on labels of this project, which are left out of its figure, so that it would be compared by other labels than the rest: \
         compare runs instead (runs compare)"
    )]
    EncoderLearned(String),
    /// A run with an encoder that the project does not use.
    #[error(
        "run {run} was trained on embeddings of {encoder}, which this project does not use now: \
         encode with that encoder first"
    )]
    OtherEncoder {
        run: u32,
        /// Key of its encoder version.
        encoder: String,
    },
    /// A project without the necessary embeddings.
    #[error("the texts of this project have no embeddings yet: run `dissensus models encode {}`", .0.display())]
    NotEncoded(PathBuf),
    /// There is nothing to encode.
    #[error("every text has its embedding already: there is nothing to encode")]
    NothingToEncode,
    /// There are no labels to learn from.
    #[error("the question \"{0}\" has no labels yet: nothing can be learned or measured")]
    NoLabels(String),
    /// A column split of a project without one.
    #[error("this project has no texts whose split is {0}: import with --split COLUMN, or use by-text:0.7")]
    EmptySplit(&'static str),
    /// There is no run of that number.
    #[error("there is no run {0} in this project: `dissensus models runs list` shows them")]
    NoSuchRun(u32),
    /// A run that is not finished.
    #[error("run {0} has no figures: only a finished run can predict or be compared")]
    NoScores(u32),
    /// Runs without common labels to compare on.
    #[error("these runs cannot be compared: {0}")]
    NotComparable(&'static str),
    /// A run whose model cannot predict live.
    #[error(
        "run {0} cannot predict for the project: only a finished run of multilevel learns label by label, and its files must be there"
    )]
    CannotPredict(u32),
    /// A question that cannot be used as an auxiliary question of a run.
    #[error("the auxiliary project {} {reason}", .path.display())]
    Auxiliary {
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// Questions that cannot be learned together on one encoder.
    #[error("these questions cannot be learned together: {0}")]
    Joint(String),
    /// A run for which no table of predictions can be written.
    #[error("there can be no table of run {run}: {why}")]
    NoTable {
        /// Its number.
        run: u32,
        /// Why not.
        why: String,
    },
    /// A part of a model that cannot be frozen.
    #[error("this cannot be frozen: {0}")]
    Freeze(String),
    /// Questions whose predicted scores cannot be correlated.
    #[error("nothing can be correlated: {0}")]
    NotCorrelated(String),
    /// The labels of a run's auxiliary questions can no longer be read.
    #[error("run {run} cannot go on: {}, which holds the labels of its auxiliary questions, cannot be read ({reason}). Start a new one", .path.display())]
    AuxiliaryLabels {
        run: u32,
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The marked words of a run can no longer be read.
    #[error("{}, which holds words of run {run}, cannot be read ({reason}). Train a new run", .path.display())]
    WordLabels {
        run: u32,
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A run that cannot be resumed.
    #[error("run {run} cannot be resumed: {reason}. Start a new one")]
    NotResumable {
        run: u32,
        /// Why not.
        reason: &'static str,
    },
    /// The files of a run are missing.
    #[error(
        "the files of run {run} are not at {}: they belong beside the project, in the folder of its name and \".runs\". \
         Move them there, or train again", path.display()
    )]
    NoRunFiles {
        run: u32,
        /// Their expected path.
        path: PathBuf,
    },
    /// The files at a run's path are not its own.
    #[error("the files at {} are not those of run {run}: {reason}. They were not used and not changed", path.display())]
    ForeignRunFiles {
        run: u32,
        /// The folder.
        path: PathBuf,
        /// How that was detected.
        reason: String,
    },
    /// The project uses an encoder tuned by a run that does not exist in it.
    #[error(
        "the encoder of this project was tuned by the run {0}, which this project does not have: choose another encoder"
    )]
    NoRunOfEncoder(uuid::Uuid),
    /// The run to delete has tuned the project's current encoder.
    #[error(
        "the project uses the encoder that run {0} tuned: choose another encoder first, then delete the run"
    )]
    EncoderInUse(u32),
    /// An unfinished run started from the encoder of the run to delete.
    #[error(
        "run {unfinished} started on the encoder that run {run} tuned and has not finished: resume or delete run {unfinished} first"
    )]
    EncoderNeeded {
        /// The run to delete.
        run: u32,
        /// The unfinished one.
        unfinished: u32,
    },
    /// A project that was named for its encoder has none.
    #[error("{} {reason}", path.display())]
    EncoderOfProject {
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The encoder of an unfinished run.
    #[error("run {0} has not finished: its encoder cannot be used yet")]
    UnfinishedEncoder(u32),
    /// The stored results of a run cannot be read.
    #[error("what the project keeps of run {0} is damaged: train again")]
    DamagedRun(u32),
    /// A report of an unsupported kind.
    #[error("{} has no ending that says what to write: use .html, .csv, .json or .tex", .0.display())]
    ReportKind(PathBuf),
    /// The training data record of a tuned encoder cannot be read.
    #[error(
        "{} says what trained this encoder and cannot be read ({reason}): figures could be of texts that trained it. Take the \
         folder of the run again, or delete this file if the encoder was never trained on texts of this project", path.display()
    )]
    DamagedTrainingData {
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An internal error.
    #[error("something went wrong inside the program: {0}")]
    Internal(String),
    /// A prediction that could influence the annotator.
    #[error("{annotator} has not labelled this text yet: predictions are hidden until then")]
    Blind {
        /// Name of the current annotator.
        annotator: String,
    },
    /// Something depends on what is to be removed.
    #[error("the {what} cannot be removed: {why}")]
    Stays {
        /// The hidden prediction.
        what: String,
        /// What depends on it.
        why: String,
    },
    /// There is no import that can be removed.
    #[error(
        "there is no import that can be taken out: each project keeps what its last five imports added, and none is left"
    )]
    NoImport,
    /// An exclusive activity is already running.
    #[error("{0} is under way already: wait for it or cancel it")]
    Busy(&'static str),
    /// The project is being closed.
    #[error("the project is being closed: open it again first")]
    Closing,
    /// The work panicked.
    #[error(
        "{what} stopped because of a fault of the program ({message}); what was confirmed before is kept. \
         Please report this with the diagnostics"
    )]
    Panicked {
        what: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// A background thread could not be started.
    #[error("the system would not start another thread: close other programs and try again")]
    NoThread,
    /// The export would replace a file.
    #[error("{} exists already: choose another name, or give --force to replace it", .0.display())]
    ExportExists(PathBuf),
    /// Nothing but white space was pasted.
    #[error("there are no rows to paste: copy rows of a table, or lines of text, and paste them again")]
    NothingPasted,
    /// One row per span was requested for JSON Lines.
    #[error(
        "JSON Lines has the spans of an answer as a list, which needs no rows: name the file .csv or .tsv, or leave the choice out"
    )]
    SpanRowsInJson,
    /// Decisions in a file format that holds only answers.
    #[error("a CoNLL file holds answers alone: write decisions to a .csv, .tsv or .jsonl file")]
    DecisionsInConll,
    /// One row per span was requested for questions without spans.
    #[error(
        "no question to export is answered with spans: leave the choice of their rows out, or name another question"
    )]
    NoSpansToExport,
    /// CoNLL was requested for questions without spans.
    #[error(
        "a CoNLL file holds spans alone: name a question that is answered with spans, or write .csv or .jsonl"
    )]
    NoConll,
    /// Answers that CoNLL cannot represent.
    #[error(
        "{count} of {all} answers cannot be in a CoNLL file, because spans overlap or begin or end with white space (the first: {first}): write .jsonl, or .csv with --spans rows, or leave them out with --leave-out-overlaps"
    )]
    NotInConll {
        count: u64,
        /// Total number of answers.
        all: u64,
        /// The first such answer.
        first: String,
    },
    /// A folder that is not a bundle would be replaced by one.
    #[error("{} exists already and is no bundle, or holds other files too, so it is not replaced: choose another name", .0.display())]
    NotABundle(PathBuf),
    /// An existing folder, file or link that is not a report.
    #[error("{} exists already and is no report, or holds other files too, so it is not replaced: choose another name", .0.display())]
    NotAReport(PathBuf),
    /// A report that was changed since.
    #[error("{} is a report in which files were changed since it was made ({}), and it is not replaced: keep these elsewhere first, or choose another name", .dir.display(), .files.join(", "))]
    ReportChanged {
        dir: PathBuf,
        /// The changed files.
        files: Vec<String>,
    },
    /// A bundle that is damaged or was changed.
    #[error("the bundle {} cannot be used: {reason}", .path.display())]
    Bundle {
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Something that a bundle does not contain was requested.
    #[error("{0}")]
    NotInBundle(String),
    /// Too many predictions for the memory.
    #[error(
        "{0} probabilities are more than this computer has memory for: choose some of the annotators, or fewer texts at a time"
    )]
    TooManyPredictions(u64),
    /// A question that would be in a bundle twice.
    #[error("\"{0}\" would stand in the bundle twice, by two models: a bundle answers each question by one")]
    QuestionTwice(String),
    /// A run whose model cannot be exported.
    #[error("run {run} cannot be bundled: {reason}")]
    CannotBundle {
        run: u32,
        /// Why not.
        reason: String,
    },
    /// A copy of the project would replace a file.
    #[error("{} exists already: choose another name for the copy, or give --force to replace that file", .0.display())]
    CopyExists(PathBuf),
    /// A copy of the runs would replace a folder.
    #[error(
        "{} exists already, and the files of runs never replace others: choose another name for the copy, or remove that folder",
        .0.display()
    )]
    RunsExist(PathBuf),
    /// A question that the shared task LeWiDi does not support.
    #[error("a LeWiDi submission is of one level a label, and levels are whole numbers: {0} {1}")]
    NotForLewidi(String, &'static str),
    /// An invalid file name.
    #[error("no file can be named after \"{0}\": give another name")]
    NotAFileName(String),
    /// Cancelled by the user.
    #[error("stopped on your wish; what was finished is kept")]
    Cancelled,
    /// Cancelled by the user while a file was written that appears complete or not at all.
    #[error("stopped on your wish; nothing was written")]
    CancelledUnwritten,
}

impl ProjectError {
    /// Creates an internal error.
    pub fn internal(error: &dyn std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }

    /// Marks work whose only result is a file: a cancel leaves nothing behind.
    pub fn all_or_nothing(self) -> Self {
        if matches!(self, Self::Cancelled) { Self::CancelledUnwritten } else { self }
    }

    /// A stable code in kebab-case; scripts and the window may rely on it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Exchange(error) => exchange_code(error),
            Self::Encoder(error) => error.code(),
            Self::Perspectives(_) => "model",
            Self::Study(error) => error.code(),
            Self::Panel(error) => error.code(),
            Self::Guideline(error) => error.code(),
            Self::Form(_) => "form",
            Self::Remark(_) => "remark",
            Self::Scale(_) | Self::NoScale { .. } => "no-scale",
            Self::OtherScale { .. } => "other-scale",
            Self::SeveralQuestions { .. } => "several-questions",
            Self::Io { .. } => "io",
            Self::NoHome => "no-home",
            Self::NoProject => "no-project",
            Self::Setting { .. } => "setting",
            Self::InSheet { source, .. } => source.code(),
            Self::IsSummary(_) => "is-summary",
            Self::LabelsChange => "labels-change",
            Self::FinishedToday => "finished-today",
            Self::Sample(_) => "sample",
            Self::NoSuchText(_) => "no-such-text",
            Self::TextNotFitted(_) => "text-not-fitted",
            Self::NoSuchAnnotator { .. } => "no-such-annotator",
            Self::NoSuchQuestion { .. } => "no-such-question",
            Self::WhichQuestion(_) => "which-question",
            Self::NoQuestion => "no-question",
            Self::OneOption { .. } => "one-option",
            Self::Spans(_) => "not-on-scale",
            Self::CannotSayNotOffered(_) => "cannot-say-not-offered",
            Self::OtherLevels(_) => "other-levels",
            Self::Rearranged => "levels-rearranged",
            Self::Wording(_) => "wording",
            Self::StratifiedOptions(_) => "stratified-options",
            Self::NoSpans(_) => "no-spans",
            Self::NoOptions(_) => "no-options",
            Self::ColumnTwice(_) => "column-twice",
            Self::WholeQuestion { .. } => "whole-question",
            Self::NotOnScale { .. } => "not-on-scale",
            Self::Words { .. } => "words",
            Self::LabelReplaced { .. } => "label-replaced",
            Self::NearName { .. } | Self::NearWithdrawn(_) => "near-name",
            Self::Name { .. } => "name",
            Self::NoSuchAttribute { .. } => "no-such-attribute",
            Self::EmptyGroup(_) => "empty-group",
            Self::GroupsOverlap { .. } => "groups-overlap",
            Self::BadRows { .. } | Self::BadTexts { .. } => "bad-rows",
            Self::SeveralReadings { .. } => "several-readings",
            Self::NoCommonColumn { .. } => "no-common-column",
            Self::FileChanged { .. } | Self::TextsChanged(_) => "file-changed",
            Self::NoRows(_) | Self::NoTexts(_) | Self::NothingPasted => "no-rows",
            Self::KeptEmbeddings { .. } => "kept-embeddings",
            Self::SameFile(_) => "same-file",
            Self::EncoderChanged { .. } => "encoder-changed",
            Self::EncoderSwitched | Self::EncoderNotOfModel => "encoder-switched",
            Self::OneEncoder | Self::EncoderTwice(_) => "encoders-to-choose",
            Self::NoRepeats { .. } => "no-repeats",
            Self::EncoderLearned(_) => "encoder-learned",
            Self::OtherEncoder { .. } => "encoder-not-in-use",
            Self::NotEncoded(_) => "not-encoded",
            Self::NothingToEncode => "nothing-to-encode",
            Self::NoLabels(_) => "no-labels",
            Self::EmptySplit(_) => "split",
            Self::NoSuchRun(_) => "no-such-run",
            Self::NoScores(_) => "no-scores",
            Self::NotComparable(_) => "not-comparable",
            Self::CannotPredict(_) => "cannot-predict",
            Self::Auxiliary { .. } => "auxiliary",
            Self::Joint(_) => "joint",
            Self::NoTable { .. } => "no-table",
            Self::Freeze(_) => "freeze",
            Self::NotCorrelated(_) => "not-correlated",
            Self::NotResumable { .. } | Self::AuxiliaryLabels { .. } | Self::WordLabels { .. } => {
                "not-resumable"
            }
            Self::NoRunFiles { .. } => "run-files-missing",
            Self::ForeignRunFiles { .. } => "run-files-foreign",
            Self::NoRunOfEncoder(_) => "no-such-run",
            Self::EncoderOfProject { .. } => "encoder-of-project",
            Self::EncoderInUse(_) | Self::EncoderNeeded { .. } => "encoder-in-use",
            Self::UnfinishedEncoder(_) => "run-unfinished",
            Self::DamagedRun(_) => "run-damaged",
            Self::DamagedTrainingData { .. } => "training-data-damaged",
            Self::ReportKind(_) => "report-kind",
            Self::Internal(_) => "internal",
            Self::Blind { .. } => "blind",
            Self::Stays { .. } => "stays",
            Self::NoImport => "no-import",
            Self::Busy(_) => "busy",
            Self::Closing => "closing",
            Self::Panicked { .. } => "panic",
            Self::NoThread => "no-thread",
            Self::ExportExists(_) | Self::RunsExist(_) => "export-exists",
            Self::SpanRowsInJson | Self::NoSpansToExport => "span-rows",
            Self::NoConll | Self::NotInConll { .. } | Self::DecisionsInConll => "conll",
            Self::NotABundle(_) => "not-a-bundle",
            Self::NotAReport(_) => "not-a-report",
            Self::ReportChanged { .. } => "report-changed",
            Self::Bundle { .. } => "bundle",
            Self::NotInBundle(_) => "not-in-bundle",
            Self::TooManyPredictions(_) => "too-many-predictions",
            Self::QuestionTwice(_) => "question-twice",
            Self::CannotBundle { .. } => "cannot-bundle",
            Self::CopyExists(_) => "project-exists",
            Self::NotForLewidi(..) => "not-for-lewidi",
            Self::NotAFileName(_) => "not-a-file-name",
            Self::Cancelled | Self::CancelledUnwritten => "cancelled",
        }
    }

    /// Further information beyond the message.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::SeveralReadings { listed, .. } => Some(listed.clone()),
            Self::BadRows { listed, count, rows, .. } if count == rows => Some(format!("{listed}\nFix these rows.")),
            Self::BadRows { listed, rest, .. } => Some(match rest {
                None => format!(
                    "{listed}\nFix these rows, or import the others with --skip-bad (in the window: Skip bad rows)."
                ),
                Some(rest) => format!("{listed}\nFix these rows. The others cannot be imported without them: {rest}."),
            }),
            Self::BadTexts { listed, .. } => {
                Some(format!("{listed}\nFix these rows, or leave them out with --skip-bad."))
            }
            Self::EncoderChanged { .. } => Some(
                "Encode again to use the new encoder (both are kept), or put the old encoder back in its place.".into(),
            ),
            _ => None,
        }
    }

    /// The error in the form that the window shows.
    pub fn problem(&self) -> Problem {
        Problem { code: self.code().to_owned(), message: self.to_string(), detail: self.detail() }
    }
}

/// Converts errors of lower crates; a cancel in any of them is a cancel of the use case.
macro_rules! from_errors {
    ($($error:ident in $variant:ident, cancelled as $cancelled:pat,)*) => {
        $(impl From<$error> for ProjectError {
            fn from(error: $error) -> Self {
                match error {
                    $cancelled => Self::Cancelled,
                    other => Self::$variant(other),
                }
            }
        })*
    };
}

from_errors! {
    StoreError in Store, cancelled as StoreError::CopyCancelled(_),
    ExchangeError in Exchange, cancelled as ExchangeError::Cancelled { .. },
    EncoderError in Encoder, cancelled as EncoderError::Cancelled,
    ModelError in Perspectives, cancelled as ModelError::Cancelled,
}

impl ProjectError {
    /// Creates the error for an invalid answer to a question.
    pub fn off_scale(value: &str, question: &Question) -> Self {
        Self::NotOnScale {
            value: value.to_owned(),
            question: question.name.clone(),
            levels: question.scale.levels().join(", "),
        }
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        error.problem()
    }
}

/// Advice for a column of free text.
fn if_free_text(error: &dissensus_domain::ScaleError, column: &str) -> String {
    match error {
        dissensus_domain::ScaleError::TooMany(_) => {
            format!(
                " What people wrote in their own words can be a note beside the label (--note '{column}')"
            )
        }
        _ => String::new(),
    }
}

fn exchange_code(error: &ExchangeError) -> &'static str {
    match error {
        ExchangeError::NotFound { .. } => "file-missing",
        ExchangeError::Directory { .. } | ExchangeError::NotAFile { .. } => "file-kind",
        ExchangeError::Empty { .. } => "file-empty",
        ExchangeError::Unreadable { .. } => "file-unreadable",
        ExchangeError::UnknownFormat { .. }
        | ExchangeError::NoSuchEncoding { .. }
        | ExchangeError::NotInEncoding { .. }
        | ExchangeError::LineEnds { .. }
        | ExchangeError::Package { .. }
        | ExchangeError::NoAnswers { .. }
        | ExchangeError::NothingReadable { .. }
        | ExchangeError::SeveralFormats { .. }
        | ExchangeError::NoSuchFormat { .. }
        | ExchangeError::OtherFormat { .. }
        | ExchangeError::OtherEnding { .. } => "file-format",
        ExchangeError::NothingToWrite { .. } => "nothing-to-export",
        ExchangeError::DiskFull { .. } => "disk-full",
        ExchangeError::Taken { .. } => "export-exists",
        ExchangeError::Unwritable { .. } => "file-unwritable",
        _ => "columns",
    }
}

impl From<dissensus_render::RenderError> for ProjectError {
    fn from(error: dissensus_render::RenderError) -> Self {
        Self::Internal(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_is_a_cancel_in_whichever_crate_it_was_heard() {
        let all: [ProjectError; 4] = [
            StoreError::CopyCancelled("p".into()).into(),
            ExchangeError::Cancelled { path: "f".into() }.into(),
            EncoderError::Cancelled.into(),
            ModelError::Cancelled.into(),
        ];
        for error in all {
            assert!(matches!(error, ProjectError::Cancelled), "{error}");
        }
    }
}
