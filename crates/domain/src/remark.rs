//! What a person says beside an answer: a note, reasons, how sure they are.

use serde::{Deserialize, Serialize};

/// The longest note, in characters.
pub const MAX_NOTE: usize = 10_000;

/// The most reasons that a question offers.
pub const MAX_REASONS: usize = 20;

/// The longest reason, in characters.
const MAX_REASON: usize = 100;

/// What a person says beside an answer. All of it is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// In the person's own words.
    pub note: Option<String>,
    /// Of the reasons that the question offers, by their words, in the order in which they were offered.
    pub reasons: Vec<String>,
    /// How sure the person is, from 1 (a guess) to 5 (certain).
    pub confidence: Option<u8>,
}

/// What is wrong with a remark, or with what a question offers for remarks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemarkError {
    /// The note is too long.
    #[error("the note has {0} characters; it can have {MAX_NOTE}")]
    Long(usize),
    /// No confidence.
    #[error("a confidence is a whole number from 1 (a guess) to 5 (certain), and not {0}")]
    Confidence(u8),
    /// More reasons than a question can offer.
    #[error("{0} reasons; a question can offer {MAX_REASONS}")]
    Many(usize),
    /// No reason.
    #[error("\"{reason}\" is no reason: {why}")]
    Reason {
        /// What was given.
        reason: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Remark {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.note.is_none() && self.reasons.is_empty() && self.confidence.is_none()
    }

    /// Without white space around the note and around reasons, which stay in their order; a note of nothing is none.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let note = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
        let reasons = self.reasons.iter().map(|reason| reason.trim().to_owned()).collect();
        Self { note, reasons, confidence: self.confidence }
    }

    /// Makes sure that it can be kept.
    ///
    /// # Errors
    /// The note is too long, the confidence is not from 1 to 5, or there are too many, too long or equal reasons.
    pub fn check(&self) -> Result<(), RemarkError> {
        let length = self.note.as_deref().map_or(0, |note| note.chars().count());
        if length > MAX_NOTE {
            return Err(RemarkError::Long(length));
        }
        match self.confidence {
            Some(sure) if !(1..=5).contains(&sure) => return Err(RemarkError::Confidence(sure)),
            _ => {}
        }
        check_reasons(&self.reasons)
    }
}

/// What a question offers for remarks: notes always can be given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemarkForm {
    /// Reasons to choose from, in this order.
    pub reasons: Vec<String>,
    /// Whether the person is asked how sure they are.
    pub confidence: bool,
}

impl RemarkForm {
    /// Makes sure that it can be offered.
    ///
    /// # Errors
    /// There are too many, too long or equal reasons.
    pub fn check(&self) -> Result<(), RemarkError> {
        check_reasons(&self.reasons)
    }
}

fn check_reasons(reasons: &[String]) -> Result<(), RemarkError> {
    if reasons.len() > MAX_REASONS {
        return Err(RemarkError::Many(reasons.len()));
    }
    for (at, reason) in reasons.iter().enumerate() {
        let why = if reason.trim().is_empty() {
            "it is blank"
        } else if reason.chars().count() > MAX_REASON {
            "it is longer than 100 characters"
        } else if reason.contains(';') {
            "it has a semicolon, which stands between reasons in files"
        } else if crate::not_allowed_in_names(reason).is_some() {
            "it has a control character or one that is not seen"
        } else if reasons[..at].contains(reason) {
            "it is there twice"
        } else {
            continue;
        };
        return Err(RemarkError::Reason { reason: reason.clone(), why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_named() {
        let said = |note: &str, reasons: &[&str], confidence| Remark {
            note: Some(note.to_owned()),
            reasons: reasons.iter().map(|&r| r.to_owned()).collect(),
            confidence,
        };
        assert_eq!(said("irony?", &["quote", "slang"], Some(5)).check(), Ok(()));
        assert_eq!(said(&"x".repeat(MAX_NOTE + 1), &[], None).check(), Err(RemarkError::Long(MAX_NOTE + 1)));
        assert_eq!(said("", &[], Some(0)).check(), Err(RemarkError::Confidence(0)));
        assert_eq!(said("", &[], Some(6)).check(), Err(RemarkError::Confidence(6)));
        for (reasons, why) in [
            (&["a", " "][..], "blank"),
            (&["a; b"], "semicolon"),
            (&["a\u{202e}"], "control"),
            (&["a", "b", "a"], "twice"),
        ] {
            let told = said("", reasons, None).check().unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn a_note_of_white_space_is_none() {
        let said = Remark { note: Some(" \n".to_owned()), reasons: vec![" a ".to_owned()], confidence: None };
        assert_eq!(said.trimmed(), Remark { reasons: vec!["a".to_owned()], ..Remark::default() });
        assert!(Remark::default().is_empty() && !said.trimmed().is_empty());
    }
}
