//! What is written beside a question: help, anchors at the ends of its scale, and what each level means.

use serde::{Deserialize, Serialize};

/// What helps to answer a question. Every part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionHelp {
    /// What the question means.
    pub text: String,
    /// What stands at the low end of the scale, such as "not at all".
    pub low: String,
    /// What stands at the high end, such as "extremely".
    pub high: String,
}

/// A level of a question (an option, a type of spans) as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// The name that it began with, by which copies of a project know it; it never changes.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// When to choose it; empty where nothing is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition: String,
}

/// The levels of a question from a time on, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// How many levels the question was added with.
    pub began: u16,
    /// Those that it has.
    pub levels: Vec<Level>,
}

/// A level as somebody wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelEdit {
    /// Where it stands on the scale now; none of a level that is new.
    pub from: Option<u16>,
    /// What it is called.
    pub name: String,
    /// When to choose it; may be empty.
    pub definition: String,
}

/// Why something cannot be written beside a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordingError {
    /// Nobody reads as much beside a question.
    #[error("{what} has {characters} characters, and may have {most}: put more into the guideline")]
    TooLong {
        /// Which part.
        what: &'static str,
        /// How many it has.
        characters: usize,
        /// How many it may have.
        most: usize,
    },
}

impl QuestionHelp {
    /// The most characters of the help.
    pub const LONGEST_TEXT: usize = 4_000;
    /// The most characters of what a level means.
    pub const LONGEST_DEFINITION: usize = 1_000;
    /// The most characters of an anchor.
    pub const LONGEST_ANCHOR: usize = 80;

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.low.is_empty() && self.high.is_empty()
    }

    /// As it is kept: without white space around it.
    pub fn trimmed(&self) -> Self {
        let trimmed = |text: &str| text.trim().to_owned();
        Self { text: trimmed(&self.text), low: trimmed(&self.low), high: trimmed(&self.high) }
    }

    /// Makes sure that it fits beside a question.
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
    /// Makes sure that what it says fits.
    ///
    /// # Errors
    /// It is too long.
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
    fn what_is_too_long_is_told_by_its_part() {
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
