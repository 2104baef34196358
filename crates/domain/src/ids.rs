//! Row ids in one project file. They have no meaning outside the file.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub u32);
    };
}

id!(
    /// A text in this project.
    TextId
);
id!(
    /// An annotator in this project.
    AnnotatorId
);
id!(
    /// A question in this project, or one option of a multi-label question: see [`QuestionId::of_option`].
    QuestionId
);
id!(
    /// An event in this file; later events have larger ids.
    EventId
);

/// A level of a question: an option of a multi-label question or a type of spans, too. It is the level's row
/// in the file, which does not change when levels are renamed, reordered, added or removed; [`crate::Scale`]
/// converts it to a name and to the position on the scale. Copies of a project may use different ids for a
/// level that was added after they were separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LevelId(pub u16);

impl LevelId {
    pub const NO: Self = Self(0);
    pub const YES: Self = Self(1);
}

impl std::fmt::Display for LevelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u16> for LevelId {
    fn from(row: u16) -> Self {
        Self(row)
    }
}

/// Row ids of questions are below this; the value above it encodes the option.
const OPTION: u32 = 1 << 25;

impl QuestionId {
    /// One option of this multi-label question, as the yes/no question that models, statistics and
    /// views use. It has no row of its own in the project: its labels are those of this question,
    /// and its name and scale are derived ([`crate::Question::option`]).
    pub fn of_option(self, option: impl Into<LevelId>) -> Self {
        Self(self.row().0 + (u32::from(option.into().0) + 1) * OPTION)
    }

    /// The question that this is, or that this is an option of.
    pub fn row(self) -> Self {
        Self(self.0 % OPTION)
    }

    /// The option of [`QuestionId::row`] that this is, if any.
    pub fn option(self) -> Option<LevelId> {
        (self.0 / OPTION).checked_sub(1).map(|option| LevelId(option as u16))
    }
}

/// Lets functions that accept several questions accept one.
impl AsRef<[Self]> for QuestionId {
    fn as_ref(&self) -> &[Self] {
        std::slice::from_ref(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_stores_its_question() {
        for row in [1, 7, OPTION - 1] {
            let question = QuestionId(row);
            assert_eq!((question.row(), question.option()), (question, None));
            for option in [LevelId(0), LevelId(1), LevelId(99)] {
                let asked = question.of_option(option);
                assert_eq!((asked.row(), asked.option()), (question, Some(option)));
                assert_eq!(asked.of_option(2), question.of_option(2), "an option has no options");
            }
        }
    }
}
