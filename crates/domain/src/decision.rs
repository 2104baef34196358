//! Decisions: what a team agreed on after discussing a text. They are stored in addition to labels
//! and change none.

use crate::{Answer, QuestionId, TextId};
use serde::{Deserialize, Serialize};

/// The outcome of discussing a text.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
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
pub enum Outcome {
    /// A mistake: a label is not what its author meant.
    Slip,
    /// The guideline does not cover this case.
    GuidelineGap,
    /// The text can be read in several ways.
    Ambiguous,
    /// A genuine difference of opinion: all labels remain as they are.
    RealDifference,
    /// Revokes the previous decision.
    Reopened,
}

impl Outcome {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub question: QuestionId,
    pub text: TextId,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub outcome: Outcome,
    /// The answer that was agreed on, if any. It is stored separately and is not a label of any
    /// annotator.
    pub answer: Option<Answer>,
    pub comment: String,
    pub by: String,
}
