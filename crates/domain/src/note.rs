//! Notes: free text, reasons and confidence that an annotator adds to an answer.

use serde::{Deserialize, Serialize};

/// Maximum length of a note, in characters.
pub const MAX_NOTE: usize = 10_000;

/// Maximum number of reasons that a question offers.
pub const MAX_REASONS: usize = 20;

/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 100;

/// A note on an answer. Every part is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// Free text.
    pub note: Option<String>,
    /// The selected reasons, by their wording, in the order in which the question offers them.
    pub reasons: Vec<String>,
    /// Confidence of the annotator, from 1 (a guess) to 5 (certain).
    pub confidence: Option<u8>,
}

crate::errors! {
    /// Why a note, or the definition of a question's notes, is invalid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum NoteError {
        Long(usize) => "the note has {0} characters; it can have {MAX_NOTE}";
        Confidence(u8) => "a confidence is a whole number from 1 (a guess) to 5 (certain), and not {0}";
        Many(usize) => "{0} reasons; a question can offer {MAX_REASONS}";
        Reason { reason: String, why: &'static str } => "\"{reason}\" is no reason: {why}";
    }
}

impl Note {
    pub fn is_empty(&self) -> bool {
        self.note.is_none() && self.reasons.is_empty() && self.confidence.is_none()
    }

    /// Removes surrounding white space from the note and the reasons, whose order does not change;
    /// a blank note becomes `None`.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let note = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
        let reasons = self.reasons.iter().map(|reason| reason.trim().to_owned()).collect();
        Self { note, reasons, confidence: self.confidence }
    }

    /// Checks the note.
    ///
    /// # Errors
    /// The note is too long, the confidence is not from 1 to 5, or reasons are too many, too long
    /// or repeated.
    pub fn check(&self) -> Result<(), NoteError> {
        let length = self.note.as_deref().map_or(0, |note| note.chars().count());
        if length > MAX_NOTE {
            return Err(NoteError::Long(length));
        }
        match self.confidence {
            Some(sure) if !(1..=5).contains(&sure) => return Err(NoteError::Confidence(sure)),
            _ => {}
        }
        check_reasons(&self.reasons)
    }
}

/// The reasons and confidence that a question offers. Free-text notes are always possible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteForm {
    /// Reasons to choose from, in display order.
    pub reasons: Vec<String>,
    /// Whether annotators are asked for their confidence.
    pub confidence: bool,
}

impl NoteForm {
    /// Checks the reasons.
    ///
    /// # Errors
    /// Reasons are too many, too long or repeated.
    pub fn check(&self) -> Result<(), NoteError> {
        check_reasons(&self.reasons)
    }
}

fn check_reasons(reasons: &[String]) -> Result<(), NoteError> {
    if reasons.len() > MAX_REASONS {
        return Err(NoteError::Many(reasons.len()));
    }
    for (at, reason) in reasons.iter().enumerate() {
        let why = if reason.trim().is_empty() {
            "it is blank"
        } else if reason.chars().count() > MAX_REASON {
            "it is longer than 100 characters"
        } else if reason.contains(';') {
            "it has a semicolon, which separates reasons in files"
        } else if crate::not_allowed_in_names(reason).is_some() {
            "it has a control character or one that is not seen"
        } else if reasons[..at].contains(reason) {
            "it is there twice"
        } else {
            continue;
        };
        return Err(NoteError::Reason { reason: reason.clone(), why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn oversized_notes_are_refused() {
        let with = |note: &str, reasons: &[&str], confidence| Note {
            note: Some(note.to_owned()),
            reasons: reasons.iter().map(|&r| r.to_owned()).collect(),
            confidence,
        };
        assert_eq!(with("irony?", &["quote", "slang"], Some(5)).check(), Ok(()));
        assert_eq!(with(&"x".repeat(MAX_NOTE + 1), &[], None).check(), Err(NoteError::Long(MAX_NOTE + 1)));
        assert_eq!(with("", &[], Some(0)).check(), Err(NoteError::Confidence(0)));
        assert_eq!(with("", &[], Some(6)).check(), Err(NoteError::Confidence(6)));
    }

    #[rstest]
    #[case(&["a", " "], "blank")]
    #[case(&["a; b"], "semicolon")]
    #[case(&["a\u{202e}"], "control")]
    #[case(&["a", "b", "a"], "twice")]
    fn reason_errors_are_specific(#[case] reasons: &[&str], #[case] why: &str) {
        let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
        let error = Note { reasons, ..Note::default() }.check().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn blank_note_is_empty() {
        let note = Note { note: Some(" \n".to_owned()), reasons: vec![" a ".to_owned()], confidence: None };
        assert_eq!(note.trimmed(), Note { reasons: vec!["a".to_owned()], ..Note::default() });
        assert!(Note::default().is_empty() && !note.trimmed().is_empty());
    }
}
