//! What a study says beside its labels: written for others to read, and not read back.

use crate::time::format_ms;

/// The columns of what a study says beside labels, in their order. They stand behind those of what was said beside answers, by which a reader
/// knows them from such columns of others.
pub(crate) const STUDY_COLUMNS: [&str; 8] = [
    "practice",
    "attention_checks",
    "decision",
    "decided_answer",
    "decision_comment",
    "decided_by",
    "decided_at",
    WORDING,
];

const WORDING: &str = "wording";

/// How many of them are of the person; the others are of what was decided about the text.
const OF_PERSON: usize = 2;

/// Which of these columns a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyLayout {
    /// `practice`: whether the person passed the practice.
    pub practice: bool,
    /// `attention_checks`: whether the person reached the mark of attention checks.
    pub checks: bool,
    /// `decision`, `decided_answer`, `decision_comment`, `decided_by` and `decided_at`.
    pub decisions: bool,
    /// `wording`: the number of the wording of the question that was on screen.
    pub wordings: bool,
}

impl StudyLayout {
    /// Whether there is any of them.
    pub(crate) fn any(self) -> bool {
        self.practice || self.checks || self.decisions || self.wordings
    }

    pub(crate) fn has(self, column: &str) -> bool {
        match STUDY_COLUMNS.iter().position(|name| *name == column) {
            Some(0) => self.practice,
            Some(1) => self.checks,
            Some(_) if column == WORDING => self.wordings,
            Some(_) => self.decisions,
            None => false,
        }
    }
}

/// What was decided about a text.
#[derive(Clone, Copy, Debug)]
pub struct DecisionCells<'a> {
    /// What came of it.
    pub outcome: &'a str,
    /// The name of the decided answer, where there is one.
    pub answer: Option<&'a str>,
    /// Why.
    pub comment: &'a str,
    /// Who decided.
    pub by: &'a str,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

/// What a study says beside one label, by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyCells([Option<String>; STUDY_COLUMNS.len()]);

impl StudyCells {
    /// Nothing.
    pub const NONE: &'static Self = &Self([const { None }; STUDY_COLUMNS.len()]);

    /// What is said of the person.
    pub fn of_person(practice: Option<&str>, checks: Option<&str>) -> Self {
        let mut cells = Self::default();
        cells.0[0] = practice.map(str::to_owned);
        cells.0[1] = checks.map(str::to_owned);
        cells
    }

    /// With what was decided about the text.
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

    /// With the number of the wording that was on screen.
    #[must_use]
    pub fn with_wording(mut self, number: Option<u32>) -> Self {
        self.0[STUDY_COLUMNS.len() - 1] = number.map(|number| number.to_string());
        self
    }

    /// For others: without who decided and when, and without the comment, which is free text, unless notes are written too.
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
    fn others_do_not_see_who_decided_and_when() {
        let (outcome, answer, comment, by) = ("slip", Some("4"), "ben meant 4", "ana");
        let said = DecisionCells { outcome, answer, comment, by, at_ms: 0 };
        let cells = StudyCells::of_person(Some("failed"), None).with_decision(&said);
        let shown = |cells: &StudyCells| STUDY_COLUMNS.map(|name| cells.value(name).unwrap_or("").to_owned());
        assert_eq!(
            shown(&cells),
            ["failed", "", "slip", "4", "ben meant 4", "ana", "1970-01-01T00:00:00Z", ""]
        );
        assert_eq!(
            shown(&cells.clone().masked(true)),
            ["failed", "", "slip", "4", "ben meant 4", "", "", ""]
        );
        assert_eq!(shown(&cells.masked(false)), ["failed", "", "slip", "4", "", "", "", ""]);
        let worded = StudyCells::default().with_wording(Some(2)).masked(false);
        assert_eq!(worded.value("wording"), Some("2"));
    }
}
