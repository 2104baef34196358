//! Columns about a study next to its labels: written for other tools to read, and not read back.

use crate::time::format_ms;

/// The columns about a study, in order. They are written after the columns of notes, by which a reader
/// distinguishes them from columns of the same name in other files.
pub(crate) const STUDY_COLUMNS: [&str; 9] = [
    "practice",
    "attention_checks",
    "decision",
    "decided_answer",
    "decision_comment",
    "decided_by",
    "decided_at",
    WORDING,
    CONSENT,
];

const WORDING: &str = "wording";
const CONSENT: &str = "consent_version";

/// How many of them are about the annotator; the others are about the decision on the text.
const OF_PERSON: usize = 2;

/// Which of these columns a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyLayout {
    /// `practice`: whether the annotator passed the practice.
    pub practice: bool,
    /// `attention_checks`: whether the annotator passed the attention checks.
    pub checks: bool,
    /// `decision`, `decided_answer`, `decision_comment`, `decided_by` and `decided_at`.
    pub decisions: bool,
    /// `wording`: the number of the wording of the question that was on screen.
    pub wordings: bool,
    /// `consent_version`: the number of the consent text that the annotator had agreed to.
    pub consents: bool,
}

impl StudyLayout {
    /// Whether there is any of them.
    pub(crate) fn any(self) -> bool {
        self.practice || self.checks || self.decisions || self.wordings || self.consents
    }

    pub(crate) fn has(self, column: &str) -> bool {
        match STUDY_COLUMNS.iter().position(|name| *name == column) {
            Some(0) => self.practice,
            Some(1) => self.checks,
            Some(_) if column == WORDING => self.wordings,
            Some(_) if column == CONSENT => self.consents,
            Some(_) => self.decisions,
            None => false,
        }
    }
}

/// The decision on a text.
#[derive(Clone, Copy, Debug)]
pub struct DecisionCells<'a> {
    /// The result of the decision.
    pub outcome: &'a str,
    /// The name of the decided answer, where there is one.
    pub answer: Option<&'a str>,
    /// The reason.
    pub comment: &'a str,
    pub by: &'a str,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

/// The values of the study columns for one label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyCells([Option<String>; STUDY_COLUMNS.len()]);

impl StudyCells {
    /// No values.
    pub const NONE: &'static Self = &Self([const { None }; STUDY_COLUMNS.len()]);

    /// The cells about the annotator.
    pub fn of_person(practice: Option<&str>, checks: Option<&str>) -> Self {
        let mut cells = Self::default();
        cells.0[0] = practice.map(str::to_owned);
        cells.0[1] = checks.map(str::to_owned);
        cells
    }

    /// Adds the decision on the text.
    #[must_use]
    pub fn with_decision(mut self, decision: &DecisionCells<'_>) -> Self {
        let DecisionCells { outcome, answer, comment, by, at_ms } = *decision;
        let cells = [Some(outcome), answer, Some(comment), Some(by)].map(|cell| cell.map(str::to_owned));
        let cells = cells.into_iter().chain([Some(format_ms(at_ms))]);
        for (cell, value) in self.0[OF_PERSON..].iter_mut().zip(cells) {
            *cell = value;
        }
        self
    }

    /// Adds the number of the wording that was on screen.
    #[must_use]
    pub fn with_wording(mut self, number: Option<u32>) -> Self {
        self.0[STUDY_COLUMNS.len() - 2] = number.map(|number| number.to_string());
        self
    }

    /// Adds the number of the consent text that the annotator had agreed to.
    #[must_use]
    pub fn with_consent(mut self, number: Option<u32>) -> Self {
        self.0[STUDY_COLUMNS.len() - 1] = number.map(|number| number.to_string());
        self
    }

    /// Removes what others must not see: who decided and when, and the comment, which is free text, unless
    /// notes are written too.
    #[must_use]
    pub fn masked(mut self, notes: bool) -> Self {
        for (cell, name) in self.0.iter_mut().zip(STUDY_COLUMNS) {
            if ["decided_by", "decided_at"].contains(&name) || (name == "decision_comment" && !notes) {
                *cell = None;
            }
        }
        self
    }

    pub(crate) fn value(&self, column: &str) -> Option<&str> {
        let at = STUDY_COLUMNS.iter().position(|name| *name == column)?;
        self.0[at].as_deref().filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_author_and_time_are_masked() {
        let (outcome, answer, comment, by) = ("slip", Some("4"), "ben meant 4", "ana");
        let decision_cells = DecisionCells { outcome, answer, comment, by, at_ms: 0 };
        let cells = StudyCells::of_person(Some("failed"), None).with_decision(&decision_cells);
        let shown = |cells: &StudyCells| STUDY_COLUMNS.map(|name| cells.value(name).unwrap_or("").to_owned());
        assert_eq!(
            shown(&cells),
            ["failed", "", "slip", "4", "ben meant 4", "ana", "1970-01-01T00:00:00Z", "", ""]
        );
        assert_eq!(
            shown(&cells.clone().masked(true)),
            ["failed", "", "slip", "4", "ben meant 4", "", "", "", ""]
        );
        assert_eq!(shown(&cells.masked(false)), ["failed", "", "slip", "4", "", "", "", "", ""]);
        let worded = StudyCells::default().with_wording(Some(2)).with_consent(Some(3)).masked(false);
        assert_eq!((worded.value("wording"), worded.value("consent_version")), (Some("2"), Some("3")));
    }
}
