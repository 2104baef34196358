//! Removing what was added by mistake: an unused question, text or person, or the additions of the last
//! import.

use super::Project;
use crate::error::EditingError;
use crate::withdraw;
use dissensus_api::{Removal, RemovalCounts, RemovalPreview, Removed};
use dissensus_domain::{AnnotatorId, JobKind, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_project::pseudonyms::Pseudonyms;
use dissensus_store::{Removable, Run, StoreError};
use serde_json::Value;

/// What would be removed together with something, and whether that is possible.
///
/// # Errors
/// It is not in the project, or there is no import that can be removed; the open project is a task
/// packet, or the file cannot be read.
pub fn preview(cx: &Project, what: &Removal) -> Result<RemovalPreview, ProjectError> {
    cx.context.whole_project()?;
    let store = &cx.context.store;
    if *what == Removal::LastImport {
        let last = store.last_import()?.ok_or(EditingError::NoImport)?;
        let counts = RemovalCounts {
            questions: last.questions.len() as u32,
            texts: last.texts.0,
            annotators: last.annotators.len() as u32,
            answers: last.answers,
            attributes: last.attributes,
        };
        return Ok(RemovalPreview {
            name: last.file,
            stays: runs_with(cx, &last.questions, last.texts.1, &last.annotators)?,
            imported_at: Some(last.at_ms as f64),
            counts,
        });
    }
    let (name, counts) = (name_of_removal(cx, what)?, one(what));
    let Some(removable) = removable(what) else { return Err(EditingError::NoImport.into()) };
    let dependents = store.dependents_of(removable)?;
    let stays = match dependents.is_empty() {
        false => Some(format!("it stays, because of {dependents}")),
        true => runs_of(cx, what)?,
    };
    Ok(RemovalPreview { name, stays, imported_at: None, counts })
}

/// Removes something. For an import everything is removed that has not been used since. Where a window
/// is open on the project, it has to be reopened for this, so that nothing in memory refers to it.
/// Merging a copy of the project that still has it brings it back.
///
/// # Errors
/// Those of [`preview`]; something depends on it, or a training run used it. Nothing was
/// removed then.
pub fn remove(cx: &Project, what: &Removal) -> Result<Removed, ProjectError> {
    if cx.context.works_in_background() {
        return Err(ProjectError::Internal("something is removed while a window follows it".to_owned()));
    }
    let preview = preview(cx, what)?;
    if let Some(why) = preview.stays {
        return Err(EditingError::Stays { what: title(what, &preview.name), why }.into());
    }
    let title = title(what, &preview.name);
    let (gone, kept) = cx.context.as_job(JobKind::Remove, &title, |_| remove_items(cx, what))?;
    // It is gone: from here on nothing may report it as failed.
    cx.context.reload();
    if let Removal::Annotator(_) = what {
        withdraw::forget_on_this_computer(cx, &preview.name);
    }
    go_on("forgetting what was chosen", withdraw::forget_choices(cx));
    go_on("forgetting pseudonyms", Pseudonyms::forget_removed(&cx.context));
    Ok(Removed { name: preview.name, gone, kept })
}

fn remove_items(cx: &Project, what: &Removal) -> Result<(RemovalCounts, RemovalCounts), ProjectError> {
    let store = &cx.context.store;
    let Some(removable) = removable(what) else {
        let taken = store.write(|tx| tx.remove_last_import())?;
        let gone = RemovalCounts {
            questions: taken.questions,
            texts: taken.texts,
            annotators: taken.annotators,
            answers: taken.answers,
            attributes: taken.attributes,
        };
        let kept = RemovalCounts {
            questions: taken.retained_questions,
            texts: taken.retained_texts,
            annotators: taken.retained_annotators,
            answers: taken.retained_answers,
            attributes: 0,
        };
        return Ok((gone, kept));
    };
    store.write(move |tx| tx.remove(&[removable]))?;
    Ok((one(what), RemovalCounts::default()))
}

fn name_of_removal(cx: &Project, what: &Removal) -> Result<String, ProjectError> {
    let store = &cx.context.store;
    let unknown = |what, id: u32| StoreError::Unknown { what, name: id.to_string() };
    Ok(match what {
        Removal::Question(id) => {
            let question = store.questions()?.into_iter().find(|question| question.id == *id);
            question.ok_or_else(|| unknown("question", id.0))?.name
        }
        Removal::Text(id) => store.text(*id)?.ok_or_else(|| unknown("text", id.0))?.external_id,
        Removal::Annotator(id) => {
            store.annotator(*id)?.ok_or_else(|| unknown("annotator", id.0))?.external_id
        }
        Removal::LastImport => store.last_import()?.ok_or(EditingError::NoImport)?.file,
    })
}

fn runs_of(cx: &Project, what: &Removal) -> Result<Option<String>, ProjectError> {
    match what {
        Removal::Question(id) => runs_with(cx, &[*id], None, &[]),
        Removal::Text(id) => runs_with(cx, &[], Some(*id), &[]),
        Removal::Annotator(id) => runs_with(cx, &[], None, &[*id]),
        Removal::LastImport => Ok(None),
    }
}

/// Describes the training runs that use one of these: a run refers to texts and people by their rows,
/// and to its question by its row.
fn runs_with(
    cx: &Project,
    questions: &[QuestionId],
    text: Option<TextId>,
    annotators: &[AnnotatorId],
) -> Result<Option<String>, ProjectError> {
    let knows = |run: &Run| {
        let of_question = questions.iter().any(|id| asks(&run.asked.configuration, *id));
        // Runs of format 2 do not record what they started with.
        let Some(start) = &run.start else {
            return of_question || text.is_some() || !annotators.is_empty();
        };
        let last = start["last_text"].as_u64().unwrap_or(u64::MAX);
        let people: Vec<u64> =
            start["annotators"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        of_question
            || text.is_some_and(|id| u64::from(id.0) <= last)
            || annotators.iter().any(|id| people.contains(&u64::from(id.0)))
    };
    let mut runs: Vec<u32> =
        cx.context.store.runs()?.iter().filter(|run| knows(run)).map(|run| run.id.0).collect();
    runs.sort_unstable();
    Ok(match runs.as_slice() {
        [] => None,
        [run] => Some(format!("training run {run} was started with it: delete that run first")),
        [first, .., last] => Some(format!(
            "{} training runs ({first} to {last}) were started with it: delete them first",
            runs.len()
        )),
    })
}

/// Whether a run was about a question, on its own or with others.
fn asks(configuration: &Value, question: QuestionId) -> bool {
    let of =
        |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok()).map(|id| QuestionId(id).row());
    let joint = configuration["joint"].as_array().into_iter().flatten();
    of(&configuration["question"]) == Some(question)
        || joint.into_iter().any(|one| of(&one["question"]) == Some(question))
}

fn removable(what: &Removal) -> Option<Removable> {
    match what {
        Removal::Question(id) => Some(Removable::Question(*id)),
        Removal::Text(id) => Some(Removable::Text(*id)),
        Removal::Annotator(id) => Some(Removable::Annotator(*id)),
        Removal::LastImport => None,
    }
}

fn one(what: &Removal) -> RemovalCounts {
    let mut counts = RemovalCounts::default();
    match what {
        Removal::Question(_) => counts.questions = 1,
        Removal::Text(_) => counts.texts = 1,
        Removal::Annotator(_) => counts.annotators = 1,
        Removal::LastImport => {}
    }
    counts
}

/// Title of the log entry on a removal.
fn title(what: &Removal, name: &str) -> String {
    match what {
        Removal::Question(_) => format!("question {name}"),
        Removal::Text(_) => format!("text {name}"),
        Removal::Annotator(_) => format!("annotator {name}"),
        Removal::LastImport => format!("import of {name}"),
    }
}
