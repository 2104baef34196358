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

/// Row ids of questions are below this; the value above it encodes the option.
const OPTION: u32 = 1 << 25;

impl QuestionId {
    /// One option of this multi-label question, as the yes/no question that models, statistics and
    /// views use. It has no row of its own in the project: its labels are those of this question,
    /// and its name and scale are derived ([`crate::Question::option`]).
    pub fn of_option(self, option: u8) -> Self {
        Self(self.row().0 + (u32::from(option) + 1) * OPTION)
    }

    /// The question that this is, or that this is an option of.
    pub fn row(self) -> Self {
        Self(self.0 % OPTION)
    }

    /// The option of [`QuestionId::row`] that this is, if any.
    pub fn option(self) -> Option<u8> {
        (self.0 / OPTION).checked_sub(1).map(|option| option as u8)
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
    fn an_option_knows_its_question() {
        for row in [1, 7, OPTION - 1] {
            let question = QuestionId(row);
            assert_eq!((question.row(), question.option()), (question, None));
            for option in [0, 1, 63] {
                let asked = question.of_option(option);
                assert_eq!((asked.row(), asked.option()), (question, Some(option)));
                assert_eq!(asked.of_option(2), question.of_option(2), "an option has no options");
            }
        }
    }
}
