//! Study columns next to exported labels: whether annotators reached the pass marks, and decisions on texts.

use super::Exchange;
use super::choices::{DecisionLayer, ExportChoices};
use dissensus_domain::{AnnotatorId, Decision, Outcome, PassStatus, Question, QuestionId, TextId};
use dissensus_exchange::{DecisionCells, StudyCells, StudyLayout};
use dissensus_project::error::ProjectError;
use std::collections::{BTreeMap, HashMap};

/// The data for the study columns.
pub(super) struct StudyColumns {
    people: HashMap<AnnotatorId, (Option<PassStatus>, Option<PassStatus>)>,
    /// The valid decisions.
    decisions: BTreeMap<(QuestionId, TextId), Decision>,
    layout: StudyLayout,
    leave_out_failed: bool,
    only_decisions: bool,
}

/// Collects the data on annotators, and on texts if asked for.
pub(super) fn study_columns(cx: &Exchange, choices: &ExportChoices) -> Result<StudyColumns, ProjectError> {
    let book = cx.practice.book()?;
    let (practice, marked) = (book.is_there(), book.check_rule.is_some());
    let index = cx.context.index();
    let mut people = HashMap::new();
    if practice || marked {
        let everybody: Vec<AnnotatorId> = index.annotators().iter().map(|person| person.id).collect();
        let checks = if marked { cx.practice.checks_of_all(&everybody)? } else { BTreeMap::new() };
        for who in everybody {
            let practised = book.result(who).map(|result| result.status);
            people.insert(who, (practised, checks.get(&who).map(|checks| checks.status)));
        }
    }
    let mut decisions = BTreeMap::new();
    if choices.decisions.is_some() {
        for question in index.questions() {
            for decision in cx.context.store.decisions(question.id)? {
                // Sorted by text; the last one is valid.
                decisions.insert((question.id, decision.text), decision);
            }
        }
        decisions.retain(|_, decision| decision.outcome != Outcome::Reopened);
    }
    let only_decisions = choices.decisions == Some(DecisionLayer::Only);
    let layout = StudyLayout {
        practice: practice && !only_decisions,
        checks: people.values().any(|(_, checks)| checks.is_some()) && !only_decisions,
        decisions: choices.decisions.is_some(),
        wordings: choices.wordings && !only_decisions,
        consents: !cx.context.store.consents()?.versions().is_empty() && !only_decisions,
    };
    let leave_out_failed = choices.leave_out_failed;
    Ok(StudyColumns { people, decisions, layout, leave_out_failed, only_decisions })
}

impl StudyColumns {
    /// The columns that are needed.
    pub(super) fn layout(&self) -> StudyLayout {
        self.layout
    }

    /// Whether decisions are written instead of labels.
    pub(super) fn only_decisions(&self) -> bool {
        self.only_decisions
    }

    /// The valid decisions.
    pub(super) fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.values()
    }

    /// Whether the labels of an annotator must not be written.
    pub(super) fn leaves_out(&self, annotator: AnnotatorId) -> bool {
        let failed = |status: Option<PassStatus>| status == Some(PassStatus::Failed);
        let of = self.people.get(&annotator);
        self.leave_out_failed && of.is_some_and(|(practice, checks)| failed(*practice) || failed(*checks))
    }

    /// The study columns for a label of an annotator, or for a row without one.
    pub(super) fn cells(
        &self,
        question: &Question,
        text: TextId,
        annotator: Option<AnnotatorId>,
    ) -> StudyCells {
        let status = annotator.and_then(|who| self.people.get(&who).copied());
        let (practice, checks) = status.unwrap_or_default();
        let cells = StudyCells::of_person(practice.map(PassStatus::name), checks.map(PassStatus::name));
        let Some(decision) = self.decisions.get(&(question.id, text)) else { return cells };
        let answer = decision.answer.as_ref().and_then(|answer| question.scale.name_of_answer(answer));
        cells.with_decision(&DecisionCells {
            outcome: decision.outcome.name(),
            answer: answer.as_deref(),
            comment: &decision.comment,
            by: &decision.by,
            at_ms: decision.at_ms,
        })
    }
}
