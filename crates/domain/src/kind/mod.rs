//! Kinds of questions: what an answer is, which levels a question may have, how answers are written and
//! compared, and what annotator models learn from them.
//!
//! Everything that depends on the kind alone is decided here. Other crates ask for properties
//! ([`ScaleKind::rules`]) or, where they compute differently, match exhaustively on [`AnswerForm`] or
//! [`TargetKind`]; `cargo xtask test --only kinds` refuses matches on [`ScaleKind`] elsewhere.
//! To add a kind: a file with an implementation of [`QuestionKind`], a variant of [`ScaleKind`] and its line
//! in [`ScaleKind::rules`].

mod level;
mod multi_label;
mod spans;

pub(crate) use multi_label::options_of;
pub use multi_label::{contradicts_itself, option_names};

use crate::{Answer, AnswerError, LevelId, Scale, ScaleError};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use strum::VariantArray as _;

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
#[strum(serialize_all = "kebab-case", parse_err_ty = ScaleError, parse_err_fn = unknown_kind)]
pub enum ScaleKind {
    /// Two levels, the second of which means "yes".
    Binary,
    /// One of several unordered levels.
    Choice,
    /// Any subset of several options, each of them a yes/no question; see
    /// [`QuestionId::of_option`](crate::QuestionId::of_option). Formerly named `multi-choice`.
    #[serde(alias = "multi-choice")]
    #[strum(to_string = "multi-label", serialize = "multi-choice")]
    MultiLabel,
    /// One of several ordered levels, lowest first.
    Ordinal,
    /// Any number of passages of the text, each of one of several types. Whether a text has a
    /// passage of a type is a yes/no question, like the options of a multi-label question.
    Spans,
}

/// What an answer to a question consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray)]
pub enum AnswerForm {
    /// One level of the scale: [`Answer::Level`].
    Level,
    /// A set of options: [`Answer::Options`].
    Options,
    /// Passages of the text, each of a type: [`Answer::Spans`].
    Spans,
}

/// What an annotator model predicts: one level of a scale of this kind. A question whose answers are sets of
/// options or spans teaches one binary model for each option or type.
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
// Stored models hold the index of the variant of `ScaleKind`, as versions before this type wrote it.
#[serde(into = "ScaleKind", try_from = "ScaleKind")]
#[strum(serialize_all = "kebab-case")]
pub enum TargetKind {
    /// Two levels, the second of which means "yes".
    Binary,
    /// Unordered levels; named `choice` in files.
    #[strum(serialize = "choice")]
    Nominal,
    /// Ordered levels, lowest first.
    Ordinal,
}

impl TargetKind {
    /// Whether levels are ordered, lowest (or "no") first.
    pub fn is_ordered(self) -> bool {
        match self {
            Self::Binary | Self::Ordinal => true,
            Self::Nominal => false,
        }
    }

    /// Whether levels have a distance that counts: then the median sums up answers, measures of agreement and
    /// disagreement are those of ordered levels, and "at least this level" can be asked.
    pub fn has_distances(self) -> bool {
        match self {
            Self::Ordinal => true,
            Self::Binary | Self::Nominal => false,
        }
    }

    /// Whether there are exactly two levels, the second of which means "yes".
    pub fn is_yes_no(self) -> bool {
        match self {
            Self::Binary => true,
            Self::Nominal | Self::Ordinal => false,
        }
    }
}

impl From<TargetKind> for ScaleKind {
    fn from(kind: TargetKind) -> Self {
        match kind {
            TargetKind::Binary => Self::Binary,
            TargetKind::Nominal => Self::Choice,
            TargetKind::Ordinal => Self::Ordinal,
        }
    }
}

impl TryFrom<ScaleKind> for TargetKind {
    type Error = String;

    fn try_from(kind: ScaleKind) -> Result<Self, String> {
        match kind.rules().form() {
            AnswerForm::Level => Ok(kind.rules().target()),
            AnswerForm::Options | AnswerForm::Spans => {
                Err(format!("no model learns a {kind} answer as a level"))
            }
        }
    }
}

/// The rules of one kind of question.
pub trait QuestionKind: Sync {
    /// The kind in words, as printed in reports.
    fn title(&self) -> &'static str;

    fn form(&self) -> AnswerForm;

    /// What a model learns from answers to the question, or to each of its options or types.
    fn target(&self) -> TargetKind;

    /// Whether answers are levels in an order, lowest (or "no") first.
    fn is_ordered(&self) -> bool {
        !self.form().has_parts() && self.target().is_ordered()
    }

    /// Checks what this kind alone demands of the names of levels, options or types. That they are neither
    /// blank nor repeated is checked by [`Scale::new`].
    fn check_names(&self, names: &[String]) -> Result<(), ScaleError>;

    /// Checks what is demanded of names that are new. Projects have names that were given before.
    ///
    /// # Errors
    /// An answer with one of these names would read back as another one.
    fn check_new_names(&self, _names: &[String]) -> Result<(), ScaleError> {
        Ok(())
    }

    /// The names on the scale of a column with these distinct values.
    fn names_from_values(&self, values: BTreeSet<String>) -> Vec<String>;

    /// Checks that `answer`, which is not "cannot say", is valid on `scale`, which is of this kind.
    fn check(&self, answer: &Answer, scale: &Scale) -> Result<(), AnswerError>;

    /// Why the question does not take "cannot say"; `None` if it does.
    fn refuses_cannot_say(&self) -> Option<&'static str> {
        None
    }

    /// Parses a cell that is not "cannot say"; `None` if it is no answer on `scale`.
    fn parse(&self, cell: &str, scale: &Scale) -> Option<Answer>;

    /// Whether an answer counts as right where `right` is expected. On ordinal scales it may be up to
    /// `within` levels away.
    fn is_right(&self, _scale: &Scale, right: &Answer, given: &Answer, _within: u16) -> bool {
        right == given
    }
}

impl ScaleKind {
    pub fn rules(self) -> &'static dyn QuestionKind {
        match self {
            Self::Binary => &level::Levels(TargetKind::Binary),
            Self::Choice => &level::Levels(TargetKind::Nominal),
            Self::Ordinal => &level::Levels(TargetKind::Ordinal),
            Self::MultiLabel => &multi_label::MultiLabel,
            Self::Spans => &spans::Spans,
        }
    }

    /// The name used on the command line, in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name in project files. A multi-label question is still `multi-choice` there, so that files need no
    /// migration for it and earlier versions can open one with up to six options.
    pub fn name_in_file(self) -> &'static str {
        match self {
            Self::MultiLabel => "multi-choice",
            other => other.name(),
        }
    }

    /// All kinds in a sentence, each as `word` puts it: "binary, choice, multi-label, ordinal or spans".
    pub fn listed(word: impl Fn(Self) -> String) -> String {
        let words: Vec<String> = Self::VARIANTS.iter().map(|kind| word(*kind)).collect();
        match words.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
            _ => words.concat(),
        }
    }

    /// Guesses the kind from the distinct values of a column; see [`Scale::guess`].
    pub(crate) fn guess(values: &BTreeSet<String>) -> Self {
        if spans::reads_as_answers(values) {
            Self::Spans
        } else if multi_label::reads_as_answers(values) {
            Self::MultiLabel
        } else {
            level::guess(values).into()
        }
    }
}

impl AnswerForm {
    /// What the names on a scale are called.
    pub fn part(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Options => "option",
            Self::Spans => "type",
        }
    }

    /// Whether each name on the scale is a yes/no question of its own: options and types of spans.
    pub fn has_parts(self) -> bool {
        match self {
            Self::Level => false,
            Self::Options | Self::Spans => true,
        }
    }

    /// Whether an answer is a set of the names on the scale, written and compared as a whole.
    pub fn is_set(self) -> bool {
        match self {
            Self::Options => true,
            Self::Level | Self::Spans => false,
        }
    }

    /// Whether an answer marks words of the text, so that models of words learn it.
    pub fn marks_words(self) -> bool {
        match self {
            Self::Spans => true,
            Self::Level | Self::Options => false,
        }
    }
}

impl Answer {
    /// The name of the answer on a scale with these names; `None` if a name is missing.
    pub(crate) fn format<'a>(&self, scale: &'a Scale) -> Option<Cow<'a, str>> {
        match self {
            Self::Level(level) => scale.name_of(*level).map(Cow::Borrowed),
            Self::Options(set) => {
                Some(Cow::Owned(multi_label::set_name(scale.levels(), scale.columns_of(*set).bits())))
            }
            Self::Spans(spans) => scale.name_of_spans(spans).map(Cow::Owned),
            Self::CannotSay => Some(Cow::Borrowed(crate::CANNOT_SAY)),
        }
    }

    /// Whether the answer is this level, or includes this option or type of span.
    pub fn includes(&self, level: LevelId) -> bool {
        match self {
            Self::Level(given) => *given == level,
            Self::Options(set) => set.includes(level),
            Self::Spans(spans) => spans.as_slice().iter().any(|span| span.kind == level),
            Self::CannotSay => false,
        }
    }
}

/// The refusal of an answer of another form than that of `scale`.
fn other_form(answer: &Answer, scale: &Scale) -> AnswerError {
    let answer = match answer {
        Answer::Level(_) => "a level",
        Answer::Options(_) => "a set of options",
        Answer::Spans(_) => "spans",
        Answer::CannotSay => "\"cannot say\"",
    };
    AnswerError::OtherKind { scale: scale.kind(), answer }
}

fn unknown_kind(name: &str) -> ScaleError {
    ScaleError::UnknownKind(name.to_owned(), ScaleKind::listed(|kind| kind.name().to_owned()))
}
