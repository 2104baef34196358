//! Facts: study settings, and records about annotators other than labels. The latest fact about a
//! subject is in effect.

use crate::{AnnotatorId, QuestionId, TextId};
use serde_json::Value;

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
    /// Whether annotators see the answers of others after giving their own: true or false,
    /// project-wide.
    Reveal,
    /// The language of the desk: the tag of a [`Language`](crate::Language), or null; project-wide.
    Language,
    /// Records that an annotator was shown the answers of others to a text, and which part. Every
    /// occurrence is a fact.
    Shown,
    /// The attribute form (`AttributeForm`), project-wide.
    AttributeForm,
    /// The answers of an annotator to the attribute form, each attribute with its time.
    FormAnswers,
    /// A practice text: the right answer to a question about it, and why.
    PracticeText,
    /// The pass mark of practice, project-wide.
    PracticeRule,
    /// A practice answer of an annotator. Every occurrence is a fact.
    PracticeAnswer,
    /// The practice round that an annotator must finish before anything else.
    PracticeAgain,
    /// The pass mark of attention checks, project-wide.
    CheckRule,
    /// The prompt of a question.
    Prompt,
    /// The help text of a question: a [`QuestionHelp`](crate::QuestionHelp).
    Help,
    /// The levels of a question: [`Levels`](crate::Levels).
    Levels,
    /// The text that people agree to before they answer; null asks for no agreement; project-wide.
    Consent,
    /// Records that an annotator agreed to a version of that text: its SHA-256. Every occurrence is a fact.
    ConsentGiven,
    /// Settings that protect annotators: daily limit, whether it is strict, greyscale.
    Care,
    /// The level from which an answer to a question marks a text as harmful.
    Harmful,
    /// How many texts an annotator left out. Which ones is private to the annotator.
    LeftOut,
    /// Whether a question offers "cannot say": true or false.
    CannotSay,
    /// The names of the levels of a question, as set by earlier versions.
    LevelNames,
    /// The condition on which a question is asked: a [`Condition`](crate::Condition).
    Condition,
    /// The notes that a question offers: a [`RemarkForm`](crate::RemarkForm).
    RemarkForm,
    /// The name of an annotator.
    AnnotatorName,
    /// An attribute of an annotator; the key is the attribute.
    AnnotatorAttribute,
    /// A decision about a text: a [`Decision`](crate::Decision).
    Decision,
    /// The right answer of an attention check: an [`AttentionCheck`](crate::AttentionCheck).
    AttentionCheck,
    /// A saved panel: a [`Panel`](crate::Panel); the key is its name.
    Panel,
    /// A page that enrols people without a server: a [`JoinPage`](crate::JoinPage); the key is its id. With
    /// the id and a part as key: that somebody has or had this part.
    JoinPage,
    /// What is masked in texts that are handed out: [`MaskRules`](crate::MaskRules), project-wide.
    MaskRules,
    /// The version of the rules that masks the texts of a task packet or a page for everybody; the key is the
    /// packet or page.
    PacketMasks,
    /// The submission of a task packet; the key is the packet.
    HandIn,
    /// An annotator withdrew; the key is a hash of the annotator.
    Withdrawal,
    /// A name of an annotator who withdrew; the key is a hash of the name.
    WithdrawnName,
    /// A task packet of an annotator who withdrew; the key is the packet.
    WithdrawnPacket,
}

impl FactKind {
    /// The name used in SQL.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is included in task packets: those about the packet's questions, texts and
    /// annotator, and those about none.
    pub fn is_in_packets(self) -> bool {
        match self {
            Self::Reveal
            | Self::Language
            | Self::AttributeForm
            | Self::FormAnswers
            | Self::PracticeText
            | Self::PracticeRule
            | Self::PracticeAnswer
            | Self::PracticeAgain
            | Self::Prompt
            | Self::Help
            | Self::Levels
            | Self::Consent
            | Self::ConsentGiven
            | Self::Care
            | Self::Harmful
            | Self::CannotSay
            | Self::LevelNames
            | Self::Condition
            | Self::RemarkForm => true,
            Self::Shown
            | Self::CheckRule
            | Self::LeftOut
            | Self::AnnotatorName
            | Self::AnnotatorAttribute
            | Self::Decision
            | Self::AttentionCheck
            | Self::Panel
            | Self::JoinPage
            | Self::MaskRules
            | Self::PacketMasks
            | Self::HandIn
            | Self::Withdrawal
            | Self::WithdrawnName
            | Self::WithdrawnPacket => false,
        }
    }

    /// Whether it is recorded about an annotator while they work, and therefore included in
    /// submissions. All other facts are set by the study.
    pub fn is_of_person(self) -> bool {
        matches!(
            self,
            Self::Shown | Self::FormAnswers | Self::PracticeAnswer | Self::ConsentGiven | Self::LeftOut
        )
    }

    /// Whether it is a setting of the study, other than the definition of a question.
    pub fn is_setting(self) -> bool {
        matches!(
            self,
            Self::Reveal
                | Self::Language
                | Self::AttributeForm
                | Self::PracticeText
                | Self::PracticeRule
                | Self::PracticeAgain
                | Self::CheckRule
                | Self::Consent
                | Self::Care
                | Self::Harmful
                | Self::MaskRules
        )
    }

    /// Whether it defines a question. Such facts are merged before the answers to the question.
    pub fn is_of_question(self) -> bool {
        matches!(
            self,
            Self::Prompt
                | Self::Help
                | Self::Levels
                | Self::CannotSay
                | Self::LevelNames
                | Self::Condition
                | Self::RemarkForm
        )
    }
}

/// A value that is in effect from a point in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub kind: FactKind,
    /// The question it is about, if any.
    pub question: Option<QuestionId>,
    pub text: Option<TextId>,
    pub annotator: Option<AnnotatorId>,
    /// What else it is about, such as the name of a panel or of an attribute.
    pub key: Option<String>,
    /// Start of the effect, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The value; null to remove it.
    pub value: Value,
}

impl Fact {
    /// Creates a fact about the whole project.
    pub fn of_project(kind: FactKind, at_ms: i64, value: impl Into<Value>) -> Self {
        Self { kind, question: None, text: None, annotator: None, key: None, at_ms, value: value.into() }
    }
}
