//! Labels by names, as given to the command.

use super::Labelling;
use crate::reannotation;
use crate::record;
use crate::record::RecordLabel;
use crate::task;
use dissensus_api::{LabelDetails, NewLabel, Progress};
use dissensus_domain::{AnnotatorId, LabelSource, Note};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_project::error::ProjectError;

/// A recorded label, with names.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedLabel {
    pub annotator: String,
    pub text_id: String,
    pub question: String,
    pub value: String,
    /// False where the question's condition is not met: the label is stored, but not used for anything that
    /// depends on its question.
    pub asked: bool,
    /// True if the annotator was added with this label.
    pub new_annotator: bool,
    /// 1 for the label, or the later annotation round of this answer.
    pub occasion: u16,
    /// The annotator's progress after it.
    pub progress: Progress,
}

/// An annotator, by name.
#[derive(Clone, Copy, Debug)]
pub struct NamedAnnotator<'a> {
    /// External id or display name.
    pub name: &'a str,
    /// Whether an unknown name creates a new annotator even if a similar name exists.
    pub new: bool,
}

/// A label to record, with names.
#[derive(Clone, Debug)]
pub struct LabelByName<'a> {
    pub annotator: NamedAnnotator<'a>,
    pub text: &'a str,
    pub value: &'a str,
    /// The question; `None` where the project has only one.
    pub question: Option<&'a str>,
    /// From 2 on it is an answer of a later annotation round, stored separately from the label.
    pub occasion: u16,
    pub note: Note,
}

impl<'a> LabelByName<'a> {
    /// A label of the first round, without a note.
    pub fn new(annotator: &'a str, text: &'a str, value: &'a str, question: Option<&'a str>) -> Self {
        let annotator = NamedAnnotator { name: annotator, new: false };
        Self { annotator, text, value, question, occasion: 1, note: Note::default() }
    }
}

/// Records a label by names, as the command does: an unknown annotator is added.
///
/// # Errors
/// No such text, question or level, an invalid note, a new name that looks like an existing one
/// ([`ProjectError::NearName`]), or an I/O error.
pub fn record(cx: &Labelling, request: &LabelByName<'_>) -> Result<NamedLabel, ProjectError> {
    let &LabelByName { annotator, text, value, question, occasion, ref note } = request;
    note.trimmed().check()?;
    let question = questions::find(&cx.project, question)?;
    cx.context.index().whole(question.id)?;
    let answer = questions::answer_named(&question, value)?;
    let store = &cx.context.store;
    let text_id = store.text_by_external(text)?.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?.id;
    let known = cx.context.index().annotator_named(annotator.name).map(|a| a.id);
    // Check the packet's owner first: that annotator's practice state must not be visible to others.
    cx.context.may_answer(known.unwrap_or(AnnotatorId(0)))?;
    cx.practice.is_asked(text_id)?;
    // A refused label adds no annotator; a new annotator has not practised.
    cx.practice.may_label(known.unwrap_or(AnnotatorId(0)))?;
    let (annotator, annotator_name, new_annotator) = annotator_named_or_new(cx, annotator)?;
    // Looked up first: after this, a label on disk must not be reported as failed.
    let asked = task::is_asked(cx, annotator, question.id, text_id, occasion)?;
    let label = NewLabel { question: question.id, annotator, text: text_id, answer, duration_ms: None };
    let details = LabelDetails { note: note.clone(), guideline: None };
    let request = RecordLabel { label, details, source: LabelSource::Command };
    let progress = match occasion {
        ..=1 => record::record_label(cx, request)?.receipt.progress,
        again => reannotation::record(cx, &request, again)?.progress,
    };
    Ok(NamedLabel {
        annotator: annotator_name,
        text_id: text.to_owned(),
        question: question.name,
        value: value.trim().to_owned(),
        asked,
        new_annotator,
        occasion,
        progress,
    })
}

/// Finds the annotator of this name, or adds one: row, external id, and whether it is new.
pub(super) fn annotator_named_or_new(
    cx: &Labelling,
    NamedAnnotator { name, new }: NamedAnnotator<'_>,
) -> Result<(AnnotatorId, String, bool), ProjectError> {
    let known = cx.context.index().annotator_named(name).map(|a| (a.id, a.external_id.clone(), false));
    match known {
        Some(known) => Ok(known),
        None => {
            // A packet takes no new annotators: the error names its owner.
            cx.context.may_answer(AnnotatorId(0))?;
            let added = match new {
                true => annotators::add_new(&cx.project, name, &Default::default())?,
                false => annotators::add(&cx.project, name, &Default::default())?,
            };
            Ok((added.id, added.external_id, true))
        }
    }
}
