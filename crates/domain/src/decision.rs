//! Decisions: what people agreed on about a text after talking about it. They stand beside labels and change none.

use crate::{Answer, QuestionId, TextId};
use serde::{Deserialize, Serialize};

/// What came of talking about a text.
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
    /// Somebody slipped: a label is not what its author meant.
    Slip,
    /// The guideline does not say what to answer here.
    GuidelineGap,
    /// The text can be read in several ways.
    Ambiguous,
    /// People see it differently, and both are right: all labels are kept as they are.
    RealDifference,
    /// The decision before holds no more.
    Reopened,
}

impl Outcome {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A decision about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The question.
    pub question: QuestionId,
    /// The text.
    pub text: TextId,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// What came of it.
    pub outcome: Outcome,
    /// The answer that was decided on, where one was: a layer of its own, nobody's label.
    pub answer: Option<Answer>,
    /// Why.
    pub comment: String,
    /// Who decided.
    pub by: String,
}
