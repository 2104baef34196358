//! Labels: appended, never overwritten.

use crate::{AnnotatorId, LabelId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

/// Where a label came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// Given by a person in the window.
    Window,
    /// Given through the `dissensus label` command.
    Command,
    /// Read from another tool's file.
    Import,
    /// Made by a program for a demonstration; no person judged.
    Simulated,
}

impl LabelSource {
    /// The name used in SQL and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Command => "command",
            Self::Import => "import",
            Self::Simulated => "simulated",
        }
    }

    /// The source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Window, Self::Command, Self::Import, Self::Simulated].into_iter().find(|s| s.name() == name)
    }
}

/// One event in the history of labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelEvent {
    /// Grows with time: the larger of two ids is the newer event.
    pub id: LabelId,
    /// The question answered.
    pub question: QuestionId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// Index of the level on the question's scale; `None` for a retraction.
    pub level: Option<u16>,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// How long the annotator looked at the text, in milliseconds, where it is known.
    pub duration_ms: Option<u32>,
    /// Where it came from.
    pub source: LabelSource,
    /// The event that this one takes back; `Some` exactly for retractions.
    pub retracts: Option<LabelId>,
}

/// The newest label of one annotator for one question on one text that was not taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentLabel {
    /// The event.
    pub id: LabelId,
    /// The text judged.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// Index of the level on the question's scale.
    pub level: u16,
}

/// The current label among the events of *one* annotator, question and text: the newest that no other event retracts.
/// A retracted label uncovers the one before it.
pub fn current_label(events: &[LabelEvent]) -> Option<&LabelEvent> {
    events
        .iter()
        .filter(|e| e.level.is_some() && !events.iter().any(|r| r.retracts == Some(e.id)))
        .max_by_key(|e| e.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u32, level: Option<u16>, retracts: Option<u32>) -> LabelEvent {
        LabelEvent {
            id: LabelId(id),
            question: QuestionId(1),
            text: TextId(1),
            annotator: AnnotatorId(1),
            level,
            at_ms: 0,
            duration_ms: None,
            source: LabelSource::Window,
            retracts: retracts.map(LabelId),
        }
    }

    #[test]
    fn the_newest_label_is_current_and_undo_uncovers_the_one_before() {
        let mut events = vec![event(1, Some(0), None), event(2, Some(3), None)];
        assert_eq!(current_label(&events).and_then(|e| e.level), Some(3));
        events.push(event(3, None, Some(2)));
        assert_eq!(current_label(&events).and_then(|e| e.level), Some(0));
        events.push(event(4, None, Some(1)));
        assert_eq!(current_label(&events), None);
    }

    #[test]
    fn names_go_both_ways() {
        for source in [LabelSource::Window, LabelSource::Command, LabelSource::Import, LabelSource::Simulated]
        {
            assert_eq!(LabelSource::from_name(source.name()), Some(source));
        }
        assert_eq!(LabelSource::from_name("dream"), None);
    }
}
