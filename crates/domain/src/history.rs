//! What the log of a project tells of: everything that was done, by kind.

use serde::{Deserialize, Serialize};

/// A kind of entry of a project's log.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum HistoryKind {
    /// An answer that somebody gave in the window or by the command.
    Answer,
    /// An answer that was read from a file, or made by a program.
    ImportedAnswer,
    /// An answer was taken back.
    Retraction,
    /// A text was skipped, or a skip taken off.
    Skip,
    /// A text was flagged, or a flag taken off.
    Flag,
    /// Something was said beside an answer.
    Note,
    /// An answer of a later occasion, what was said beside it, and whether it counts.
    Repeat,
    /// What was decided about a text.
    Decision,
    /// A version of the guideline.
    Guideline,
    /// A question changed: names of its levels, where it is asked, what can be said beside an answer.
    Question,
    /// A name or an attribute of a person changed.
    Person,
    /// A packet was handed out or handed in.
    Packet,
    /// The right answer of an attention check was set or taken off.
    Check,
    /// A panel was saved, or is kept no longer.
    Panel,
    /// Long work: an import, an export, copies taken in, an encoding.
    Job,
    /// A training run or an evaluation.
    Run,
    /// A setting of the study.
    Setting,
    /// What was noted of a person beside their labels: what they were shown, for instance.
    Noted,
    /// Somebody withdrew.
    Withdrawal,
}

impl HistoryKind {
    /// The name used in SQL and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
