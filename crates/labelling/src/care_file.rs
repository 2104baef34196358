//! The file on this computer with a person's choices and what they have read.

use super::Labelling;
use dissensus_domain::AnnotatorId;
use dissensus_project::care_file::CareFile;
use dissensus_project::error::ProjectError;

pub(super) fn care_file(cx: &Labelling, annotator: AnnotatorId) -> Result<CareFile<'_>, ProjectError> {
    let person = id_of(cx, annotator)?;
    Ok(CareFile::new(&cx.context.home, cx.context.store.project_id()?, &person))
}

/// Identifies a person on this computer, across copies.
pub(super) fn id_of(cx: &Labelling, annotator: AnnotatorId) -> Result<String, ProjectError> {
    let index = cx.context.index();
    let row = index.annotator_row(annotator).and_then(|row| index.annotators().get(row as usize));
    let person = row.ok_or_else(|| ProjectError::internal(&"no such annotator"))?;
    Ok(person.external_id.clone())
}
