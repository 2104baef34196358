//! Writes files for annotation tools: what each format can represent, what it cannot, and the file.
//!
//! [`divide`] determines before anything is written what will be in the file and what is lost, counted by
//! [`LossReason`]; [`ToolFormat::write`] writes the remaining labels, and nothing else. Reading the file
//! again returns them.

mod crowd_kit;
mod divide;
mod doccano;
mod file;
mod label_studio;
mod labels;
mod lewidi;
mod losses;
mod occasions;
mod people;
mod prodigy;
mod scales;
mod wide;

pub use divide::{Divided, divide};
pub use labels::{ToolAnswer, ToolLabels, ToolPerson, ToolQuestion, ToolText};
pub use losses::{Loss, LossReason};

use crate::annotations::STANDARD;
use dissensus_domain::{AnswerForm, Progress, Scale, ScaleKind};
use scales::UsedNames;
use std::borrow::Cow;
use std::fmt::Debug;
use std::io::{self, Write};

/// A format of another tool that labels are written in.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum ToolFormat {
    /// Label Studio's JSON: tasks with the annotations of all annotators.
    LabelStudio,
    /// Prodigy's JSON Lines: one line for each annotator, text and question.
    Prodigy,
    /// A ZIP archive with a file of JSON Lines for each annotator, as doccano exports it.
    Doccano,
    /// The JSON of the shared task on learning with disagreements, as of 2025.
    Lewidi,
    /// `task,worker,label`, the input of crowd-kit and most programs for aggregation.
    CrowdKit,
    /// One row a text, one column an annotator, the input of programs for reliability.
    Wide,
}

impl ToolFormat {
    /// Every format, in the order in which they are listed.
    pub fn all() -> &'static [Self] {
        <Self as strum::VariantArray>::VARIANTS
    }

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        name.trim().to_lowercase().parse().ok()
    }

    /// Its display name.
    pub fn title(self) -> &'static str {
        self.writer().title()
    }

    /// The extension of its files, without the dot.
    pub fn ending(self) -> &'static str {
        self.writer().ending()
    }

    /// What it can represent that not every format can.
    pub fn holds(self) -> &'static [LossReason] {
        self.writer().holds()
    }

    pub(crate) fn writer(self) -> &'static dyn Writer {
        match self {
            Self::LabelStudio => &label_studio::LabelStudio,
            Self::Prodigy => &prodigy::Prodigy,
            Self::Doccano => &doccano::Doccano,
            Self::Lewidi => &lewidi::Lewidi,
            Self::CrowdKit => &crowd_kit::CrowdKit,
            Self::Wide => &wide::Wide,
        }
    }
}

/// One format: what it can represent, and how it is written.
pub(crate) trait Writer: Debug + Sync {
    /// Its display name.
    fn title(&self) -> &'static str;

    /// The extension of its files, without the dot.
    fn ending(&self) -> &'static str;

    /// What it can represent. Everything else is lost, and counted under its reason.
    fn holds(&self) -> &'static [LossReason];

    /// Whether an annotator who skipped a text can have answered another question about it.
    fn holds_skips_of_answered(&self) -> bool {
        true
    }

    /// Whether a time, in milliseconds since 1970-01-01 UTC, can be written so that it is read as the same.
    fn holds_time(&self, _at_ms: i64) -> bool {
        true
    }

    /// The name of the question in the file, where that is not its own.
    fn question(&self, _form: AnswerForm) -> Option<&'static str> {
        None
    }

    /// The id of an annotator in a form that the file can hold.
    fn person<'a>(&self, id: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(id)
    }

    /// Whether each annotator has a separate file, named after them: on some systems file names are
    /// case-insensitive.
    fn people_are_files(&self) -> bool {
        false
    }

    /// Whether a key of a text's metadata can be in the file together with the answers of these annotators.
    fn can_hold_key(&self, key: &str, _people: &[&str]) -> bool {
        !STANDARD.contains(&key)
    }

    /// The kind and the levels that a reader of the file derives; `None` if it derives no scale.
    fn derived_scale(&self, _scale: &Scale, used: &UsedNames) -> Option<(ScaleKind, Vec<String>)> {
        used.guess()
    }

    /// Writes the remaining labels.
    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()>;
}

/// Reports progress now and then; fails if the writing was cancelled.
pub(crate) fn report_progress(progress: &dyn Progress, done: usize, all: usize) -> io::Result<()> {
    if done.is_multiple_of(256) {
        progress.report(done as u64, Some(all as u64), "writing");
        if progress.cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    Ok(())
}

/// Returns an id as JSON: a whole number if it is written as one, as tools expect it, else a string.
pub(crate) fn id_value(id: &str) -> serde_json::Value {
    match id.parse::<i64>() {
        Ok(number) if number.to_string() == id => number.into(),
        _ => id.into(),
    }
}
