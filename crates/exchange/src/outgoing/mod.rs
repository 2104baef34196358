//! Writing files that annotation tools read: what each of them holds, what it cannot hold, and the file.
//!
//! [`divide`] says before anything is written what will be in the file and what is lost, counted by [`LossReason`]; [`ToolFormat::write`]
//! writes what is kept, and nothing else. Reading the file again gives what was kept.

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
use dissensus_domain::{Progress, Scale, ScaleKind};
use scales::Used;
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
    /// Label Studio's JSON: tasks with everybody's annotations.
    LabelStudio,
    /// Prodigy's JSON Lines: one line for each person, text and question.
    Prodigy,
    /// A ZIP archive with a file of JSON Lines for each person, as doccano exports it.
    Doccano,
    /// The JSON of the shared task on learning with disagreements, as of 2025.
    Lewidi,
    /// `task,worker,label`, as crowd-kit and most programs for aggregation take it.
    CrowdKit,
    /// One row a text, one column a person, as programs for reliability take it.
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

    /// Its name for people.
    pub fn title(self) -> &'static str {
        self.writer().title()
    }

    /// How names of its files end, without the point.
    pub fn ending(self) -> &'static str {
        self.writer().ending()
    }

    /// What it holds of that which not every format holds.
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

/// One format: what it can hold, and how it is written.
pub(crate) trait Writer: Debug + Sync {
    /// Its name for people.
    fn title(&self) -> &'static str;

    /// How names of its files end, without the point.
    fn ending(&self) -> &'static str;

    /// What it holds. What is not listed is lost, and counted under that reason.
    fn holds(&self) -> &'static [LossReason];

    /// Whether a person who put a text off can have answered another question about it.
    fn skips_beside_answers(&self) -> bool {
        true
    }

    /// Whether a time, in milliseconds since 1970-01-01 UTC, can be written so that it is read as the same.
    fn holds_time(&self, _at_ms: i64) -> bool {
        true
    }

    /// The name of the question in the file, where that is not its own.
    fn question(&self, _kind: ScaleKind) -> Option<&'static str> {
        None
    }

    /// The id of a person as the file can have it.
    fn person<'a>(&self, id: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(id)
    }

    /// Whether each person has a file of their own, named after them: on some systems capitals do not count in it.
    fn people_are_files(&self) -> bool {
        false
    }

    /// Whether a key of a text's metadata can stand in the file beside the answers of these people.
    fn takes_key(&self, key: &str, _people: &[&str]) -> bool {
        !STANDARD.contains(&key)
    }

    /// The kind and the levels that a reader of the file comes to; none where it comes to no scale.
    fn told(&self, _scale: &Scale, used: &Used) -> Option<(ScaleKind, Vec<String>)> {
        used.guess()
    }

    /// Writes what was kept.
    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()>;
}

/// Tells how far the writing is, now and then, and hears that it should stop.
pub(crate) fn tell(progress: &dyn Progress, done: usize, all: usize) -> io::Result<()> {
    if done.is_multiple_of(256) {
        progress.report(done as u64, Some(all as u64), "writing");
        if progress.cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    Ok(())
}

/// An id as JSON: a whole number where it is written as one, and as tools expect it, else a string.
pub(crate) fn id_value(id: &str) -> serde_json::Value {
    match id.parse::<i64>() {
        Ok(number) if number.to_string() == id => number.into(),
        _ => id.into(),
    }
}
