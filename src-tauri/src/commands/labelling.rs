//! The Label view.

use super::with_session;
use dissensus_api::{
    Beside, LabelReceipt, LabelTask, NewLabel, Problem, Progress, RemarkInfo, RemarkQuery, TextOrder, Undone,
};
use dissensus_domain::{AnnotatorId, LabelSource, QuestionId, Remark, TextId};
use tauri::AppHandle;

/// The next text to label in an order, other than `after`, for the first of the questions.
#[tauri::command]
#[specta::specta]
pub(crate) async fn next_text(
    app: AppHandle,
    annotator: AnnotatorId,
    questions: Vec<QuestionId>,
    order: TextOrder,
    after: Option<TextId>,
) -> Result<Option<LabelTask>, Problem> {
    with_session(app, move |session| session.labelling.next_text(annotator, questions, order, after)).await
}

/// One text as this annotator sees it in an annotation round: 1, or a later one where a task packet asks it
/// again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn label_task(
    app: AppHandle,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
) -> Result<LabelTask, Problem> {
    with_session(app, move |session| session.labelling.task_on(annotator, question, text, occasion)).await
}

/// The text this many positions after (or before) in file order.
#[tauri::command]
#[specta::specta]
pub(crate) async fn neighbour_text(
    app: AppHandle,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    step: i32,
) -> Result<Option<LabelTask>, Problem> {
    with_session(app, move |session| session.labelling.neighbour_text(annotator, question, text, step)).await
}

/// An annotator's progress on the questions on the screen.
#[tauri::command]
#[specta::specta]
pub(crate) async fn progress(
    app: AppHandle,
    annotator: AnnotatorId,
    questions: Vec<QuestionId>,
) -> Result<Progress, Problem> {
    with_session(app, move |session| session.labelling.progress(annotator, questions)).await
}

/// Records a label; it is on disk when this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn record_label(
    app: AppHandle,
    label: NewLabel,
    beside: Beside,
) -> Result<LabelReceipt, Problem> {
    let source = LabelSource::Window;
    with_session(app, move |session| {
        session.labelling.record_with(&label, &beside, source).map(|recorded| recorded.receipt)
    })
    .await
}

/// Records a re-annotation of a text in a task packet; it is on disk when this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn record_again(
    app: AppHandle,
    label: NewLabel,
    beside: Beside,
    occasion: u16,
) -> Result<LabelReceipt, Problem> {
    let source = LabelSource::Window;
    with_session(app, move |session| session.labelling.record_again_with(&label, &beside, occasion, source))
        .await
}

/// Records only a note on a text, in place of an earlier one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remark_text(
    app: AppHandle,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    beside: Beside,
) -> Result<(), Problem> {
    let source = LabelSource::Window;
    with_session(app, move |session| session.labelling.remark(annotator, question, text, &beside, source))
        .await
}

/// Stores a note on this computer that was typed but not submitted; `None` deletes it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn keep_draft(
    app: AppHandle,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    occasion: u16,
    typed: Option<Remark>,
) -> Result<(), Problem> {
    with_session(app, move |session| {
        session.labelling.keep_draft(annotator, question, text, occasion, typed.as_ref())
    })
    .await
}

/// People's notes and flags.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remarks(app: AppHandle, query: RemarkQuery) -> Result<Vec<RemarkInfo>, Problem> {
    with_session(app, move |session| session.project.remarks(&query)).await
}

/// Takes back the annotator's last label of these questions, if any.
#[tauri::command]
#[specta::specta]
pub(crate) async fn undo_label(
    app: AppHandle,
    annotator: AnnotatorId,
    questions: Vec<QuestionId>,
) -> Result<Option<Undone>, Problem> {
    with_session(app, move |session| session.labelling.undo(annotator, questions, LabelSource::Window)).await
}

/// Skips the unanswered questions about a text.
#[tauri::command]
#[specta::specta]
pub(crate) async fn skip_text(
    app: AppHandle,
    annotator: AnnotatorId,
    questions: Vec<QuestionId>,
    text: TextId,
) -> Result<Progress, Problem> {
    with_session(app, move |session| session.labelling.skip(annotator, questions, text)).await
}

/// Flags a text for a second look, or removes the flag.
#[tauri::command]
#[specta::specta]
pub(crate) async fn flag_text(
    app: AppHandle,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    on: bool,
) -> Result<Progress, Problem> {
    with_session(app, move |session| session.labelling.flag(annotator, question, text, on)).await
}
