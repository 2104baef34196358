//! The text around a question: help, anchors at the ends of its scale, and definitions of its
//! levels.

use crate::LevelId;
use serde::{Deserialize, Serialize};

/// Help for answering a question. Every part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionHelp {
    /// Explanation of the question.
    pub text: String,
    /// Anchor at the low end of the scale, such as "not at all".
    pub low: String,
    /// Anchor at the high end, such as "extremely".
    pub high: String,
}

/// The current state of a level, an option or a type of span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// The initial name, which identifies the level in all copies of a project; it never changes.
    pub key: String,
    /// The display name.
    pub name: String,
    /// When to choose it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition: String,
}

/// The levels of a question from a point in time, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// How many levels the question had when it was added.
    pub began: u16,
    pub levels: Vec<Level>,
}

/// A requested change to a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelEdit {
    /// The level; `None` for a new one.
    pub from: Option<LevelId>,
    /// The display name.
    pub name: String,
    /// When to choose it; may be empty.
    pub definition: String,
}

crate::errors! {
    /// Why a text of a question is invalid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum WordingError {
        TooLong { what: &'static str, characters: usize, most: usize } =>
            "{what} has {characters} characters, and may have {most}: put more into the guideline";
    }
}

impl QuestionHelp {
    /// Maximum length of the help, in characters.
    pub const LONGEST_TEXT: usize = 4_000;
    /// Maximum length of the definition of a level, in characters.
    pub const LONGEST_DEFINITION: usize = 1_000;
    /// Maximum length of an anchor, in characters.
    pub const LONGEST_ANCHOR: usize = 80;

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.low.is_empty() && self.high.is_empty()
    }

    /// Removes surrounding white space.
    pub fn trimmed(&self) -> Self {
        let trimmed = |text: &str| text.trim().to_owned();
        Self { text: trimmed(&self.text), low: trimmed(&self.low), high: trimmed(&self.high) }
    }

    /// Checks the lengths.
    ///
    /// # Errors
    /// A part is too long.
    pub fn check(&self) -> Result<(), WordingError> {
        fits("the help", &self.text, Self::LONGEST_TEXT)?;
        fits("the anchor at the low end", &self.low, Self::LONGEST_ANCHOR)?;
        fits("the anchor at the high end", &self.high, Self::LONGEST_ANCHOR)
    }
}

impl LevelEdit {
    /// Checks the length of the definition.
    ///
    /// # Errors
    /// The definition is too long.
    pub fn check(&self) -> Result<(), WordingError> {
        fits("what a level means", &self.definition, QuestionHelp::LONGEST_DEFINITION)
    }
}

fn fits(what: &'static str, text: &str, most: usize) -> Result<(), WordingError> {
    match text.chars().count() {
        characters if characters > most => Err(WordingError::TooLong { what, characters, most }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_help_is_refused_by_part() {
        let help = QuestionHelp { low: "x".repeat(81), ..QuestionHelp::default() };
        assert!(help.check().unwrap_err().to_string().contains("the low end has 81 characters"));
        let definition = "ä".repeat(QuestionHelp::LONGEST_DEFINITION);
        let level = LevelEdit { from: None, name: "a".into(), definition };
        assert_eq!(level.check(), Ok(()), "characters count, not bytes");
        assert!(QuestionHelp { text: " ".into(), ..QuestionHelp::default() }.trimmed().is_empty());
    }

    #[test]
    fn levels_without_a_definition_are_short_json() {
        let level = Level { key: "1".into(), name: "mild".into(), definition: String::new() };
        let levels = Levels { began: 2, levels: vec![level] };
        let json = r#"{"began":2,"levels":[{"key":"1","name":"mild"}]}"#;
        assert_eq!(serde_json::to_string(&levels).unwrap(), json);
        assert_eq!(serde_json::from_str::<Levels>(json).unwrap(), levels);
    }
}
