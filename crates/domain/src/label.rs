//! Labels: one annotator's answer to one question on one text.

use crate::{AnnotatorId, Answer, EventId, TextId};
use serde::{Deserialize, Serialize};

/// Where a label came from.
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
pub enum LabelSource {
    /// Given by a person in the window.
    Window,
    /// Given through the `dissensus label record` command.
    Command,
    /// Read from another tool's file.
    Import,
    /// Made by a program for a demonstration; no person judged.
    Simulated,
}

impl LabelSource {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether a person gave it in this program, rather than that it was read from a file or made up.
    pub fn is_given(self) -> bool {
        matches!(self, Self::Window | Self::Command)
    }
}

/// The current answer of one annotator to one question on one text. See [`crate::current_answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentLabel {
    /// The event.
    pub id: EventId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// The answer.
    pub answer: Answer,
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn names_go_both_ways() {
        for source in LabelSource::VARIANTS {
            assert_eq!(LabelSource::from_name(source.name()), Some(*source));
        }
        assert_eq!(LabelSource::Window.name(), "window");
        assert_eq!(LabelSource::from_name("dream"), None);
    }
}
