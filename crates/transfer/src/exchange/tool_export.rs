//! Exports labels for another tool: collected as of one moment, divided into what its format can represent
//! and what is lost, and written once the user has been informed of the losses.

use super::Exchange;
use super::choices::{ExportChoices, Exported, Pseudonymised};
use super::export::NotesAndMarks;
use super::mask::Mask;
use super::study::StudyColumns;
use crate::exchange::export;
use crate::exchange::study;
use dissensus_domain::{Annotator, AnnotatorId, LabelSource, Note, Question, QuestionId, Text, TextId};
use dissensus_exchange::{
    Divided, Loss, ToolAnswer, ToolFormat, ToolLabels, ToolPerson, ToolQuestion, ToolText, divide,
};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_store::{ExportScope, Snapshot};
use std::collections::HashMap;
use std::path::Path;

/// Options for exporting labels for another tool.
#[derive(Clone, Debug, Default)]
pub struct ToolExportChoices {
    /// Only this question.
    pub question: Option<String>,
    /// Leave out the labels of annotators below the pass mark of practice or of attention checks.
    pub leave_out_failed: bool,
    /// Anonymised: pseudonyms instead of ids, and nothing that could identify annotators.
    pub pseudonyms: Option<Pseudonymised>,
}

/// Labels that can be written for another tool, and what its format cannot represent.
#[derive(Clone, Debug)]
pub struct ToolExport {
    format: ToolFormat,
    divided: Divided,
    exported: Exported,
}

impl ToolExport {
    pub fn format(&self) -> ToolFormat {
        self.format
    }

    /// The losses, in the order of reasons; they will not be in the file.
    pub fn losses(&self) -> &[Loss] {
        &self.divided.losses
    }

    /// The question of a file that has one question only.
    pub fn question(&self) -> Option<&str> {
        match self.divided.kept.questions.as_slice() {
            [only] => Some(&only.name),
            _ => None,
        }
    }

    /// Counts of what is written: answers, those that are left out, and effects of pseudonymisation.
    pub fn exported(&self) -> &Exported {
        &self.exported
    }

    /// Number of texts and annotators in the file, in this order.
    pub fn texts_and_people(&self) -> (usize, usize) {
        (self.divided.kept.texts.len(), self.divided.kept.people.len())
    }

    /// Writes the file, which appears whole or not at all.
    ///
    /// # Errors
    /// A file that exists (without `replace`), an extension that is not that of the format, labels none of
    /// which the format can represent, a full disk, or cancellation.
    pub fn write(
        &self,
        path: &Path,
        replace: bool,
        progress: &dyn Progress,
    ) -> Result<Exported, ProjectError> {
        if path.exists() && !replace {
            return Err(ProjectError::ExportExists(path.to_owned()));
        }
        self.format.write(path, &self.divided.kept, replace, progress)?;
        Ok(self.exported.clone())
    }
}

/// Collects all current labels (of one question, or of all), re-annotations and marks for another tool,
/// as of one moment, and determines what its format cannot represent. Nothing is written.
///
/// # Errors
/// No such question, a damaged project, or cancellation.
pub fn for_tool(
    cx: &Exchange,
    format: ToolFormat,
    choices: &ToolExportChoices,
    progress: &dyn Progress,
) -> Result<ToolExport, ProjectError> {
    let Collected { labels, exported } = collected(cx, choices, progress)?;
    let divided = divide(labels, format);
    let lost = divided.losses.iter().filter(|loss| loss.reason.is_of_answers()).map(|loss| loss.count);
    let answers = answers_in(&divided.kept);
    let exported = Exported { answers, left_out: lost.sum(), ..exported };
    Ok(ToolExport { format, divided, exported })
}

/// Collects everything that can be written for another tool.
pub(super) fn collected(
    cx: &Exchange,
    choices: &ToolExportChoices,
    progress: &dyn Progress,
) -> Result<Collected, ProjectError> {
    let only = choices.question.as_deref().map(|name| export::asked_for_whole(cx, name)).transpose()?;
    let mask = match choices.pseudonyms {
        Some(request) => Some(Mask::new(&cx.context, only.as_ref().map(|question| question.id), request)?),
        None => None,
    };
    let study = study::study_columns(
        cx,
        &ExportChoices { leave_out_failed: choices.leave_out_failed, ..ExportChoices::default() },
    )?;
    let collected = cx
        .context
        .store
        .snapshot(|snapshot| Collecting::new(snapshot, only.as_ref(), &study)?.collect(snapshot, progress))?;
    let (mut labels, left_out_failed) = collected;
    if let Some(mask) = &mask {
        mask.labels(&mut labels);
    }
    let masked = mask.as_ref().map_or_else(Exported::default, Mask::done);
    let exported = Exported { answers: answers_in(&labels), left_out_failed, ..masked };
    Ok(Collected { labels, exported })
}

/// Labels as of one moment, pseudonymised if that is asked for.
pub(super) struct Collected {
    pub(super) labels: ToolLabels,
    pub(super) exported: Exported,
}

/// Counts answers; marks without an answer are not counted.
fn answers_in(labels: &ToolLabels) -> u64 {
    labels.answers.iter().filter(|answer| answer.answer.is_some()).count() as u64
}

/// Labels being collected.
struct Collecting<'a> {
    study: &'a StudyColumns,
    questions: Vec<Question>,
    notes_and_marks: NotesAndMarks,
    annotators: HashMap<AnnotatorId, Annotator>,
    labels: ToolLabels,
    texts: HashMap<TextId, usize>,
    people: HashMap<AnnotatorId, usize>,
    left_out_failed: u64,
}

impl<'a> Collecting<'a> {
    fn new(
        snapshot: &Snapshot<'_>,
        only: Option<&Question>,
        study: &'a StudyColumns,
    ) -> Result<Self, ProjectError> {
        let questions: Vec<Question> =
            snapshot.questions()?.into_iter().filter(|q| only.is_none_or(|only| only.id == q.id)).collect();
        let notes_and_marks = NotesAndMarks::new(snapshot, &questions)?;
        let annotators = snapshot.annotators()?.into_iter().map(|person| (person.id, person)).collect();
        let asked = |q: &Question| ToolQuestion { name: q.name.clone(), scale: q.scale.clone() };
        let labels = ToolLabels { questions: questions.iter().map(asked).collect(), ..ToolLabels::default() };
        let (texts, people) = (HashMap::new(), HashMap::new());
        Ok(Self { study, questions, notes_and_marks, annotators, labels, texts, people, left_out_failed: 0 })
    }

    fn collect(
        mut self,
        snapshot: &Snapshot<'_>,
        progress: &dyn Progress,
    ) -> Result<(ToolLabels, u64), ProjectError> {
        self.labels(snapshot, progress)?;
        self.marked(snapshot)?;
        self.repeats(snapshot)?;
        Ok((self.labels, self.left_out_failed))
    }

    fn labels(&mut self, snapshot: &Snapshot<'_>, progress: &dyn Progress) -> Result<(), ProjectError> {
        let mut total = 0;
        for question in &self.questions {
            total += u64::from(snapshot.label_count(question.id)?);
        }
        let mut rows = 0_u64;
        for (nth, question) in self.questions.clone().iter().enumerate() {
            snapshot.for_each_label(question.id, ExportScope::Current, |row| {
                rows += 1;
                if rows.is_multiple_of(512) {
                    progress.report(rows, Some(total), "collecting");
                    if progress.cancelled() {
                        return Err(ProjectError::Cancelled);
                    }
                }
                if self.study.leaves_out(row.event.annotator) {
                    self.left_out_failed += 1;
                    return Ok(());
                }
                let (note, flagged) = self.notes_and_marks.note_and_flag(&row);
                let answer = ToolAnswer {
                    question: nth,
                    occasion: 1,
                    answer: row.event.answer().cloned(),
                    at_ms: Some(row.event.at_ms),
                    duration_ms: row.event.duration_ms(),
                    note: note.cloned().unwrap_or_default(),
                    flagged,
                    guideline: row.event.guideline.is_some(),
                    shown: self.notes_and_marks.shown_before(row.event).any(),
                    simulated: row.event.source == LabelSource::Simulated,
                    ..ToolAnswer::default()
                };
                self.add(row.text, row.annotator.id, answer)
            })?;
        }
        Ok(())
    }

    /// Adds texts that an annotator marked or noted something on, and did not answer.
    fn marked(&mut self, snapshot: &Snapshot<'_>) -> Result<(), ProjectError> {
        let mut marked: Vec<((QuestionId, TextId, AnnotatorId), ToolAnswer)> = Vec::new();
        for (key, one) in self.notes_and_marks.unanswered() {
            let (question, _, annotator) = *key;
            if self.study.leaves_out(annotator) {
                continue;
            }
            let answer = ToolAnswer {
                question: self.number(question)?,
                occasion: 1,
                at_ms: Some(one.at_ms),
                note: one.marks.note.clone(),
                skipped: one.marks.skipped,
                flagged: one.marks.flagged,
                ..ToolAnswer::default()
            };
            let is_marked = answer.skipped || answer.flagged || answer.note != Note::default();
            marked.extend(is_marked.then_some((*key, answer)));
        }
        let order = snapshot.order()?;
        marked.sort_by_key(|((question, text, annotator), _)| order.of(*question, *text, *annotator));
        for ((_, text, annotator), answer) in marked {
            self.add_to(snapshot, text, annotator, answer)?;
        }
        Ok(())
    }

    /// Adds re-annotations.
    fn repeats(&mut self, snapshot: &Snapshot<'_>) -> Result<(), ProjectError> {
        let order = snapshot.order()?;
        for (nth, question) in self.questions.clone().iter().enumerate() {
            let mut repeats = snapshot.repeats(question.id)?;
            repeats.sort_by_key(|one| order.of(one.question, one.text, one.annotator));
            for repeat in repeats {
                if self.study.leaves_out(repeat.annotator) {
                    self.left_out_failed += 1;
                    continue;
                }
                let shown = &self.notes_and_marks.shown;
                let answer = ToolAnswer {
                    question: nth,
                    occasion: repeat.occasion,
                    at_ms: Some(repeat.at_ms),
                    guideline: repeat.details.guideline.is_some(),
                    shown: shown.before(repeat.question, repeat.text, repeat.annotator, repeat.at_ms).any(),
                    simulated: repeat.source == LabelSource::Simulated,
                    answer: Some(repeat.answer),
                    note: repeat.details.note,
                    ..ToolAnswer::default()
                };
                self.add_to(snapshot, repeat.text, repeat.annotator, answer)?;
            }
        }
        Ok(())
    }

    fn number(&self, question: QuestionId) -> Result<usize, ProjectError> {
        let place = self.questions.iter().position(|asked| asked.id == question);
        place.ok_or_else(|| ProjectError::internal(&"a mark names a question that is not there"))
    }

    fn add_to(
        &mut self,
        snapshot: &Snapshot<'_>,
        text: TextId,
        annotator: AnnotatorId,
        answer: ToolAnswer,
    ) -> Result<(), ProjectError> {
        let there = snapshot.text(text)?;
        let there =
            there.ok_or_else(|| ProjectError::internal(&"an answer names a text that is not there"))?;
        self.add(&there, annotator, answer)
    }

    fn add(&mut self, text: &Text, annotator: AnnotatorId, answer: ToolAnswer) -> Result<(), ProjectError> {
        let Self { labels, texts, people, annotators, .. } = self;
        let text_place = *texts.entry(text.id).or_insert_with(|| {
            labels.texts.push(ToolText {
                id: text.external_id.clone(),
                body: text.body.clone(),
                split: text.split.clone(),
                group: text.group.clone(),
                metadata: text.metadata.clone(),
            });
            labels.texts.len() - 1
        });
        let Some(person) = annotators.get(&annotator) else {
            return Err(ProjectError::internal(&"an answer names a person who is not there"));
        };
        let person_place = *people.entry(annotator).or_insert_with(|| {
            let (id, attributes) = (person.external_id.clone(), person.attributes.clone());
            labels.people.push(ToolPerson { id, attributes });
            labels.people.len() - 1
        });
        labels.answers.push(ToolAnswer { text: text_place, person: person_place, ..answer });
        Ok(())
    }
}
