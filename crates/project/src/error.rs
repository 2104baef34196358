//! Errors of use cases, each with a stable code.

use crate::words::counted;
use dissensus_api::Problem;
use dissensus_domain::{AnswerError, Question};
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
        Refused(Refusal) => [0], transparent;
        Form(#[from] dissensus_domain::FormError) => "form", transparent;
        Remark(#[from] dissensus_domain::NoteError) => "remark", transparent;
        Scale(#[from] dissensus_domain::ScaleError) => "no-scale", transparent;
        Io { path: PathBuf, doing: &'static str, source: std::io::Error } => "io", "{doing} {path} failed: {source}";
        NoHome => "no-home",
            "this system names no home folder: set DISSENSUS_HOME to a folder for settings and encoders";
        NoProject => "no-project", "no project is open: open or make one first";
        Setting { name: &'static str, value: String, allowed: String } => "setting",
            "the setting {name} cannot be {value}: it takes {allowed}";
        InSheet { sheet: String, others: Vec<String>, source: Box<ProjectError> } => [source],
            "{source} (in the sheet \"{sheet}\"; others that could be read: {})" (others.join(", "));
        Sample(&'static str) => "sample", "the sample project's {0} is damaged: this is a fault of the program";
        NoSuchText(String) => "no-such-text", "there is no text \"{0}\" in this project";
        NoSuchAnnotator { name: String, known: String } => "no-such-annotator",
            "there is no annotator \"{name}\" in this project; it has {known}";
        NoSuchQuestion { name: String, known: String } => "no-such-question",
            "there is no question \"{name}\" in this project; it has {known}";
        WhichQuestion(String) => "which-question",
            "this project has several questions: name one of {0} (--question NAME)";
        NoQuestion => "no-question", "this project has no question yet: import labels or add a question";
        OneOption { question: String, options: usize, first: String } => "one-option",
            "\"{question}\" has {options} options or types of spans, and this works on one of them at a time: name it, such as --question \"{first}\"";
        Wording(#[from] dissensus_domain::WordingError) => "wording", transparent;
        WholeQuestion { option: String, question: String } => "whole-question",
            "\"{option}\" is one option: answer \"{question}\" with all options that apply";
        InPacket => "in-packet",
            "this is the packet of one person, and only that person answers in it: nothing can be added here";
        OtherPerson(String) => "packet-of-other",
            "this packet is for \"{0}\": answer under that name, or ask for a packet of your own";
        IsPacket => "is-packet", "this is a packet for one person: plan and merge in the project that handed it out";
        NotOnScale { value: String, question: String, levels: String } => "not-on-scale",
            "\"{value}\" is not on the scale of \"{question}\": it has {levels}";
        LevelRemoved { question: String, levels: String } => "level-removed",
            "a level of this answer is not on the scale of \"{question}\" any more: it has {levels}; answer again";
        NearName { name: String, known: String } => "near-name",
            "nobody here is called \"{name}\", and \"{known}\" looks alike: give that name, or say that this is another person (--new-annotator)";
        NearWithdrawn(String) => "near-name",
            "nobody here is called \"{0}\", and somebody who has withdrawn had a name that looks alike: if this is that person, nothing of theirs is stored; if it is another one, say so (--new-annotator)";
        Name { what: &'static str, name: String, why: &'static str } => "name", "the {what} name \"{name}\" {why}";
        BadRows { count: u64, rows: u64, listed: String, rest: Option<Box<ProjectError>>, problems: Vec<RowError> } => "bad-rows",
            "{count} of {} cannot be imported, so nothing was" (counted(*.rows, "row"));
        SameFile(PathBuf) => "same-file", "{0} is the file that is read: name another one to write to";
        NoLabels(String) => "no-labels", "the question \"{0}\" has no labels yet: nothing can be learned or measured";
        EmptySplit(&'static str) => "split",
            "this project has no texts whose split is {0}: import with --split COLUMN, or use by-text:0.7";
        NoGroups(String) => "split",
            "the split {0} keeps groups of texts together, and no text of this project has a group: import with --group COLUMN, or \
             use by-text:0.7";
        OtherLevels(u32) => "other-levels",
            "levels of its question were added, removed or reordered since run {0} was trained: train again";
        LevelsChanged(String) => "levels-rearranged",
            "levels of \"{0}\" were added, removed or moved meanwhile: try again";
        Internal(String) => "internal", "something went wrong inside the program: {0}";
        Busy(&'static str) => "busy", "{0} is already running: wait for it or cancel it";
        Closing => "closing", "the project is being closed: open it again first";
        Panicked { what: &'static str, message: String } => "panic",
            "{what} stopped because of a fault of the program ({message}); what was confirmed before is stored. Please report this with the diagnostics";
        NoThread => "no-thread", "the system would not start another thread: close other programs and try again";
        ExportExists(PathBuf) => "export-exists",
            "{0} exists already: choose another name, or give --force to replace it";
        NotAFileName(String) => "not-a-file-name", "no file can be named after \"{0}\": give another name";
        Cancelled => "cancelled", "stopped at your request; what was finished is stored";
        CancelledUnwritten => "cancelled", "stopped at your request; nothing was written";
    }
}

/// An error of a crate that uses this one, of which only code and sentence matter from here on.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    code: &'static str,
    message: String,
    detail: Option<String>,
}

impl Refusal {
    fn code(&self) -> &'static str {
        self.code
    }
}

impl ProjectError {
    /// Keeps code, sentence and detail of an error of a use case.
    pub fn refused(code: &'static str, error: &dyn std::fmt::Display, detail: Option<String>) -> Self {
        Self::Refused(Refusal { code, message: error.to_string(), detail })
    }

    /// Creates an internal error.
    pub fn internal(error: &dyn std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }

    /// Marks work whose only result is a file: cancellation leaves nothing behind.
    pub fn all_or_nothing(self) -> Self {
        if matches!(self, Self::Cancelled) { Self::CancelledUnwritten } else { self }
    }

    /// Further information beyond the message.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::BadRows { listed, count, rows, .. } if count == rows => {
                Some(format!("{listed}\nFix these rows."))
            }
            Self::BadRows { listed, rest, .. } => Some(match rest {
                None => format!(
                    "{listed}\nFix these rows, or import the others with --skip-bad (in the window: Skip bad rows)."
                ),
                Some(rest) => {
                    format!("{listed}\nFix these rows. The others cannot be imported without them: {rest}.")
                }
            }),
            Self::Refused(refusal) => refusal.detail.clone(),
            _ => None,
        }
    }

    /// The error in the form that the window shows.
    pub fn problem(&self) -> Problem {
        Problem { code: self.code().to_owned(), message: self.to_string(), detail: self.detail() }
    }
}

/// Converts errors of lower crates; cancellation in any of them is cancellation of the use case.
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

    /// Creates the error for an answer that does not fit a question. A level that is not on the scale was
    /// removed after it was shown.
    pub fn unfit_answer(error: &AnswerError, question: &Question) -> Self {
        match error {
            AnswerError::LevelOutside { .. }
            | AnswerError::OptionOutside { .. }
            | AnswerError::TypeOutside { .. } => Self::LevelRemoved {
                question: question.name.clone(),
                levels: question.scale.levels().join(", "),
            },
            other => Self::off_scale(&other.to_string(), question),
        }
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        error.problem()
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
    fn cancel_of_any_crate_is_a_cancel() {
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
