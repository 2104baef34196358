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

dissensus_domain::errors! {
    /// An error of a use case: what is wrong, where, and what to do.
    #[derive(Debug)]
    pub enum ProjectError {
        Store(StoreError) => [0], transparent;
        Exchange(ExchangeError) => [0], transparent;
        Encoder(EncoderError) => [0], transparent;
        Perspectives(ModelError) => "model", transparent;
        Study(#[from] StudyError) => [0], transparent;
        Panel(#[from] PanelError) => [0], transparent;
        Guideline(#[from] GuidelineError) => [0], transparent;
        Form(#[from] dissensus_domain::FormError) => "form", transparent;
        Remark(#[from] dissensus_domain::RemarkError) => "remark", transparent;
        Scale(#[from] dissensus_domain::ScaleError) => "no-scale", transparent;
        Io { path: PathBuf, doing: &'static str, source: std::io::Error } => "io", "{doing} {path} failed: {source}";
        NoHome => "no-home",
            "this system names no home folder: set DISSENSUS_HOME to a folder for settings and encoders";
        NoProject => "no-project", "no project is open: open or make one first";
        Setting { name: &'static str, value: String, allowed: String } => "setting",
            "the setting {name} cannot be {value}: it takes {allowed}";
        InSheet { sheet: String, others: Vec<String>, source: Box<ProjectError> } => [source],
            "{source} (in the sheet \"{sheet}\"; others that could be read: {})" (others.join(", "));
        IsSummary(PathBuf) => "is-summary",
            "{0} holds labels summed up, as `data export --rows` writes them, and does not import: export the labels themselves";
        LabelsChange => "labels-change",
            "labels were given or taken in while they were summed up, so nothing was written: try again when nobody labels";
        FinishedToday => "finished-today", "the study ends the day here: it goes on tomorrow";
        Sample(&'static str) => "sample", "the sample project's {0} is damaged: this is a fault of the program";
        NoSuchText(String) => "no-such-text", "there is no text \"{0}\" in this project";
        TextNotFitted(String) => "text-not-fitted",
            "text \"{0}\" was imported after the model was fitted: the next fit has it, so ask again when that has ended";
        NoSuchAnnotator { name: String, known: String } => "no-such-annotator",
            "there is no annotator \"{name}\" in this project; it has {known}";
        NoSuchQuestion { name: String, known: String } => "no-such-question",
            "there is no question \"{name}\" in this project; it has {known}";
        WhichQuestion(String) => "which-question",
            "this project has several questions: name one of {0} (--question NAME)";
        NoQuestion => "no-question", "this project asks nothing yet: import labels or add a question";
        OneOption { question: String, options: usize, first: String } => "one-option",
            "\"{question}\" has {options} options or types of spans, and this is told of one of them at a time: name it, such as --question \"{first}\"";
        Spans(SpansError) => "not-on-scale", transparent;
        StratifiedOptions(String) => "stratified-options",
            "a stratified split divides each option of \"{0}\" otherwise: use by-text or grouped, or name one option";
        CannotSayNotOffered(String) => "cannot-say-not-offered",
            "\"{0}\" does not offer to say that one cannot say: its author can (dissensus data question P {0} --cannot-say on)";
        OtherLevels(u32) => "other-levels",
            "the levels of its question were added, removed or put in another order since run {0} was trained: train again";
        Rearranged => "levels-rearranged",
            "levels are rearranged while a window follows their question: close the project and open it again";
        Wording(#[from] dissensus_domain::WordingError) => "wording", transparent;
        NoSpans(String) => "no-spans",
            "\"{0}\" is no type of spans: words are marked in answers to questions with spans alone";
        NoOptions(String) => "no-options",
            "\"{0}\" is no multi-label question: whole sets of options are told of these alone";
        ColumnTwice(String) => "column-twice",
            "two columns would be called \"{0}\": name fewer annotators at a time, or rename an option";
        WholeQuestion { option: String, question: String } => "whole-question",
            "\"{option}\" is one option: answer \"{question}\" with all options that apply";
        NotOnScale { value: String, question: String, levels: String } => "not-on-scale",
            "\"{value}\" is not on the scale of \"{question}\": it has {levels}";
        Words { what: &'static str, given: String, why: String } => "words",
            "cannot read \"{given}\" as {what}: {why}";
        LabelReplaced { annotator: String, text: String, given: String, current: String, by: &'static str } => "label-replaced",
            "nothing was undone: {by} has replaced the last label that {annotator} gave, {given} on {text}, by {current}. To change it, label that text again";
        NearName { name: String, known: String } => "near-name",
            "nobody here is called \"{name}\", and \"{known}\" looks alike: give that name, or say that this is another person (--new-annotator)";
        NearWithdrawn(String) => "near-name",
            "nobody here is called \"{0}\", and somebody who has withdrawn went by a name that looks alike: if this is that person, nothing of theirs is kept; if it is another one, say so (--new-annotator)";
        Name { what: &'static str, name: String, why: &'static str } => "name", "the {what} name \"{name}\" {why}";
        NoSuchAttribute { name: String, value: String, hint: String } => "no-such-attribute",
            "no annotator has {name} = \"{value}\"{hint}";
        EmptyGroup(&'static str) => "empty-group",
            "nobody is chosen for group {0}: name an attribute's value, such as gender=Woman, or people";
        GroupsOverlap { names: String, people: usize } => "groups-overlap",
            "{names} {} in both groups: nobody can be compared with themselves, so choose groups that share nobody" (if *.people == 1 { "is" } else { "are" });
        BadRows { count: u64, rows: u64, listed: String, rest: Option<Box<ProjectError>>, problems: Vec<RowError> } => "bad-rows",
            "{count} of {} cannot be imported, so nothing was" (counted(*.rows, "row"));
        SeveralReadings { path: PathBuf, listed: String } => "several-readings",
            "{path} can be read in several ways, and nothing says which is meant: choose one";
        NoCommonColumn { path: PathBuf, other: PathBuf } => "no-common-column",
            "no column of {path} has the ids of {other}: name it with --on COLUMN, or --on COLUMN=OTHER where it is called otherwise there";
        FileChanged { path: PathBuf, counted: u64, found: u64 } => "file-changed",
            "{path} changed while it was read, so nothing was imported: {counted} bad rows were counted first and {found} then; import it again";
        NoRows(PathBuf) => "no-rows", "{0} has a header and no rows: there is nothing to make a scale from";
        BadTexts { path: PathBuf, count: u64, rows: u64, listed: String } => "bad-rows",
            "{count} of {} of {path} cannot be read, so nothing was written" (counted(*.rows, "row"));
        NoTexts(PathBuf) => "no-rows", "{0} has no texts, so nothing was written";
        TextsChanged(PathBuf) => "file-changed",
            "{0} changed while it was read, so nothing was written: run it again";
        KeptEmbeddings { path: PathBuf, reason: String } => "kept-embeddings",
            "{path} cannot keep embeddings: {reason}";
        SameFile(PathBuf) => "same-file", "{0} is the file that is read: name another one to write to";
        NoScale { column: String, source: dissensus_domain::ScaleError } => "no-scale",
            "the labels in column \"{column}\" make no scale: {source}{}" (if_free_text(source, column));
        OtherScale { question: String, has: String } => "other-scale",
            "the question \"{question}\" exists with the scale {has}: leave out the scale, or name another question";
        SeveralQuestions { path: PathBuf, names: Vec<String> } => "several-questions",
            "{path} answers {} questions ({}) and cannot be read as answers to one: leave out the name of a question" (names.len(), names.join(", "));
        EncoderChanged { stored: String, dir: PathBuf, found: String } => "encoder-changed",
            "the embeddings of this project were made by {stored}, and the encoder at {dir} is {found} now";
        EncoderSwitched => "encoder-switched",
            "another encoder came into use meanwhile, and stays in use: choose again to change it";
        EncoderNotOfModel => "encoder-switched",
            "another program gave this project another encoder since its model was fitted, so nothing was written: run it again";
        OneEncoder => "encoders-to-choose",
            "name two encoders or more to choose from, such as --choose-encoder all-MiniLM-L6-v2,all-mpnet-base-v2";
        NoRepeats { question: String, occasion: Option<u16>, there: Vec<u16> } => "no-repeats",
            "{question} has no answers of {}: {}" (asked_occasion(*occasion), existing_occasions(there));
        EncoderTwice(String) => "encoders-to-choose",
            "`{0}` is the same encoder as another one of those to choose from: name each once";
        EncoderLearned(String) => "encoder-learned",
            "`{0}` was trained on labels of this project, which are left out of its figure, so that it would be compared by other labels than the rest: compare runs instead (runs compare)";
        OtherEncoder { run: u32, encoder: String } => "encoder-not-in-use",
            "run {run} was trained on embeddings of {encoder}, which this project does not use now: encode with that encoder first";
        NotEncoded(PathBuf) => "not-encoded",
            "the texts of this project have no embeddings yet: run `dissensus models encode {0}`";
        NothingToEncode => "nothing-to-encode", "every text has its embedding already: there is nothing to encode";
        NoLabels(String) => "no-labels", "the question \"{0}\" has no labels yet: nothing can be learned or measured";
        EmptySplit(&'static str) => "split",
            "this project has no texts whose split is {0}: import with --split COLUMN, or use by-text:0.7";
        NoSuchRun(u32) => "no-such-run",
            "there is no run {0} in this project: `dissensus models runs list` shows them";
        NoScores(u32) => "no-scores", "run {0} has no figures: only a finished run can predict or be compared";
        NotComparable(&'static str) => "not-comparable", "these runs cannot be compared: {0}";
        CannotPredict(u32) => "cannot-predict",
            "run {0} cannot predict for the project: only a finished run of multilevel learns label by label, and its files must be there";
        Auxiliary { path: PathBuf, reason: String } => "auxiliary", "the auxiliary project {path} {reason}";
        Joint(String) => "joint", "these questions cannot be learned together: {0}";
        NoTable { run: u32, why: String } => "no-table", "there can be no table of run {run}: {why}";
        Freeze(String) => "freeze", "this cannot be frozen: {0}";
        NotCorrelated(String) => "not-correlated", "nothing can be correlated: {0}";
        AuxiliaryLabels { run: u32, path: PathBuf, reason: String } => "not-resumable",
            "run {run} cannot go on: {path}, which holds the labels of its auxiliary questions, cannot be read ({reason}). Start a new one";
        WordLabels { run: u32, path: PathBuf, reason: String } => "not-resumable",
            "{path}, which holds words of run {run}, cannot be read ({reason}). Train a new run";
        NotResumable { run: u32, reason: &'static str } => "not-resumable",
            "run {run} cannot be resumed: {reason}. Start a new one";
        NoRunFiles { run: u32, path: PathBuf } => "run-files-missing",
            "the files of run {run} are not at {path}: they belong beside the project, in the folder of its name and \".runs\". Move them there, or train again";
        ForeignRunFiles { run: u32, path: PathBuf, reason: String } => "run-files-foreign",
            "the files at {path} are not those of run {run}: {reason}. They were not used and not changed";
        NoRunOfEncoder(uuid::Uuid) => "no-such-run",
            "the encoder of this project was tuned by the run {0}, which this project does not have: choose another encoder";
        EncoderInUse(u32) => "encoder-in-use",
            "the project uses the encoder that run {0} tuned: choose another encoder first, then delete the run";
        EncoderNeeded { run: u32, unfinished: u32 } => "encoder-in-use",
            "run {unfinished} started on the encoder that run {run} tuned and has not finished: resume or delete run {unfinished} first";
        EncoderOfProject { path: PathBuf, reason: String } => "encoder-of-project", "{path} {reason}";
        UnfinishedEncoder(u32) => "run-unfinished", "run {0} has not finished: its encoder cannot be used yet";
        DamagedRun(u32) => "run-damaged", "what the project keeps of run {0} is damaged: train again";
        ReportKind(PathBuf) => "report-kind",
            "{0} has no ending that says what to write: use .html, .csv, .json or .tex";
        DamagedTrainingData { path: PathBuf, reason: String } => "training-data-damaged",
            "{path} says what trained this encoder and cannot be read ({reason}): figures could be of texts that trained it. Take the folder of the run again, or delete this file if the encoder was never trained on texts of this project";
        Internal(String) => "internal", "something went wrong inside the program: {0}";
        Blind { annotator: String } => "blind",
            "{annotator} has not labelled this text yet: predictions are hidden until then";
        Stays { what: String, why: String } => "stays", "the {what} cannot be removed: {why}";
        NoImport => "no-import",
            "there is no import that can be taken out: each project keeps what its last five imports added, and none is left";
        Busy(&'static str) => "busy", "{0} is under way already: wait for it or cancel it";
        Closing => "closing", "the project is being closed: open it again first";
        Panicked { what: &'static str, message: String } => "panic",
            "{what} stopped because of a fault of the program ({message}); what was confirmed before is kept. Please report this with the diagnostics";
        NoThread => "no-thread", "the system would not start another thread: close other programs and try again";
        ExportExists(PathBuf) => "export-exists",
            "{0} exists already: choose another name, or give --force to replace it";
        NothingPasted => "no-rows",
            "there are no rows to paste: copy rows of a table, or lines of text, and paste them again";
        SpanRowsInJson => "span-rows",
            "JSON Lines has the spans of an answer as a list, which needs no rows: name the file .csv or .tsv, or leave the choice out";
        DecisionsInConll => "conll",
            "a CoNLL file holds answers alone: write decisions to a .csv, .tsv or .jsonl file";
        NoSpansToExport => "span-rows",
            "no question to export is answered with spans: leave the choice of their rows out, or name another question";
        NoConll => "conll",
            "a CoNLL file holds spans alone: name a question that is answered with spans, or write .csv or .jsonl";
        NotInConll { count: u64, all: u64, first: String } => "conll",
            "{count} of {all} answers cannot be in a CoNLL file, because spans overlap or begin or end with white space (the first: {first}): write .jsonl, or .csv with --spans rows, or leave them out with --leave-out-overlaps";
        NotABundle(PathBuf) => "not-a-bundle",
            "{0} exists already and is no bundle, or holds other files too, so it is not replaced: choose another name";
        NotAReport(PathBuf) => "not-a-report",
            "{0} exists already and is no report, or holds other files too, so it is not replaced: choose another name";
        ReportChanged { dir: PathBuf, files: Vec<String> } => "report-changed",
            "{dir} is a report in which files were changed since it was made ({}), and it is not replaced: keep these elsewhere first, or choose another name" (files.join(", "));
        Bundle { path: PathBuf, reason: String } => "bundle", "the bundle {path} cannot be used: {reason}";
        NotInBundle(String) => "not-in-bundle", "{0}";
        TooManyPredictions(u64) => "too-many-predictions",
            "{0} probabilities are more than this computer has memory for: choose some of the annotators, or fewer texts at a time";
        QuestionTwice(String) => "question-twice",
            "\"{0}\" would stand in the bundle twice, by two models: a bundle answers each question by one";
        CannotBundle { run: u32, reason: String } => "cannot-bundle", "run {run} cannot be bundled: {reason}";
        CopyExists(PathBuf) => "project-exists",
            "{0} exists already: choose another name for the copy, or give --force to replace that file";
        RunsExist(PathBuf) => "export-exists",
            "{0} exists already, and the files of runs never replace others: choose another name for the copy, or remove that folder";
        NotForLewidi(String, &'static str) => "not-for-lewidi",
            "a LeWiDi submission is of one level a label, and levels are whole numbers: {0} {1}";
        NotAFileName(String) => "not-a-file-name", "no file can be named after \"{0}\": give another name";
        Cancelled => "cancelled", "stopped on your wish; what was finished is kept";
        CancelledUnwritten => "cancelled", "stopped on your wish; nothing was written";
    }
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

fn asked_occasion(occasion: Option<u16>) -> String {
    occasion.map_or_else(|| "a later occasion".to_owned(), |one| format!("occasion {one}"))
}

fn existing_occasions(there: &[u16]) -> String {
    if there.is_empty() {
        return "there are no repeated answers".to_owned();
    }
    let listed: Vec<_> = there.iter().map(ToString::to_string).collect();
    format!("there are answers of occasion {}", listed.join(", "))
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
