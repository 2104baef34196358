//! Facts: what a study sets, and what is noted of people beside their labels. Of several about the same the latest holds.

use crate::{AnnotatorId, QuestionId, TextId};
use serde_json::Value;

/// What a fact tells.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum FactKind {
    /// Whether annotators see how others see a text once they have answered: true or false, of the whole project.
    Reveal,
    /// That somebody was shown how others see a text, and what of it. Each time is one.
    Shown,
    /// What people are asked about themselves: an `AttributeForm`, of the whole project.
    AttributeForm,
    /// What somebody answered to it, each attribute with its time.
    FormAnswers,
    /// A text that is practised on: the right answer to a question about it, and why.
    PracticeText,
    /// The pass mark of practice, of the whole project.
    PracticeRule,
    /// What somebody answered in practice. Each time is one.
    PracticeAnswer,
    /// Which round of practice somebody has to finish before anything else.
    PracticeAgain,
    /// The pass mark of attention checks, of the whole project.
    CheckRule,
    /// What a question asks from then on: its text.
    Prompt,
    /// What is written beside a question: a [`QuestionHelp`](crate::QuestionHelp).
    Help,
    /// The levels of a question: [`Levels`](crate::Levels).
    Levels,
    /// What the study sets for the care of its people: a limit a day, whether it is strict, no colours.
    Care,
    /// From which level on an answer to a question says that a text is harmful.
    Harmful,
    /// How many texts somebody leaves out; which ones is nobody's but that person's.
    LeftOut,
    /// Whether a question offers to say that one cannot say: true or false.
    CannotSay,
}

impl FactKind {
    /// The name used in SQL.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it goes into packets: those about the packet's questions, texts and person, and those about none.
    pub fn is_handed_out(self) -> bool {
        match self {
            Self::Reveal
            | Self::AttributeForm
            | Self::FormAnswers
            | Self::PracticeText
            | Self::PracticeRule
            | Self::PracticeAnswer
            | Self::PracticeAgain
            | Self::Prompt
            | Self::Help
            | Self::Levels
            | Self::Care
            | Self::Harmful
            | Self::CannotSay => true,
            Self::Shown | Self::CheckRule | Self::LeftOut => false,
        }
    }

    /// Whether it is noted of a person while they work, so that it comes back with what they hand in. All others are set by the study.
    pub fn is_of_person(self) -> bool {
        match self {
            Self::Reveal
            | Self::AttributeForm
            | Self::PracticeText
            | Self::PracticeRule
            | Self::PracticeAgain
            | Self::CheckRule
            | Self::Prompt
            | Self::Help
            | Self::Levels
            | Self::Care
            | Self::Harmful
            | Self::CannotSay => false,
            Self::Shown | Self::FormAnswers | Self::PracticeAnswer | Self::LeftOut => true,
        }
    }

    /// Whether it says what a question is: these are taken over before answers to it are.
    pub fn is_of_question(self) -> bool {
        matches!(self, Self::Prompt | Self::Help | Self::Levels | Self::CannotSay)
    }
}

/// That something holds from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it tells.
    pub kind: FactKind,
    /// The question it is about, where it is about one.
    pub question: Option<QuestionId>,
    /// The text.
    pub text: Option<TextId>,
    /// The person.
    pub annotator: Option<AnnotatorId>,
    /// Since when, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// What holds; null where nothing does any more.
    pub value: Value,
}

impl Fact {
    /// A fact about the project as a whole.
    pub fn of_project(kind: FactKind, at_ms: i64, value: impl Into<Value>) -> Self {
        Self { kind, question: None, text: None, annotator: None, at_ms, value: value.into() }
    }

    /// What it is about.
    pub fn subject(&self) -> (FactKind, Option<QuestionId>, Option<TextId>, Option<AnnotatorId>) {
        (self.kind, self.question, self.text, self.annotator)
    }
}
