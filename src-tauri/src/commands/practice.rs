//! Practice: a person's round in the Label view, and its settings in the Project view.

use super::with_session;
use dissensus_api::{
    CheckRuleInfo, NewPracticeAnswer, NewPracticeRule, NewPracticeText, PracticeFeedback, PracticeSetup,
    PracticeState, PracticeTask, Problem,
};
use dissensus_domain::{AnnotatorId, Answer, CheckRule, QuestionId};
use tauri::AppHandle;

/// A person's progress in practice, and the allowed next step; `None` without practice.
#[tauri::command]
#[specta::specta]
pub(crate) async fn practice_state(
    app: AppHandle,
    annotator: AnnotatorId,
) -> Result<Option<PracticeState>, Problem> {
    with_session(app, move |session| session.labelling.practice(annotator)).await
}

/// The next text to practise on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn next_practice(
    app: AppHandle,
    annotator: AnnotatorId,
) -> Result<Option<PracticeTask>, Problem> {
    with_session(app, move |session| session.labelling.next_practice(annotator)).await
}

/// Records an answer in practice, and returns whether it was right; it is on disk then.
#[tauri::command]
#[specta::specta]
pub(crate) async fn record_practice(
    app: AppHandle,
    answer: NewPracticeAnswer,
) -> Result<PracticeFeedback, Problem> {
    with_session(app, move |session| session.labelling.record_practice(&answer)).await
}

/// The practice texts, the pass mark, and people's results.
#[tauri::command]
#[specta::specta]
pub(crate) async fn practice_setup(app: AppHandle) -> Result<PracticeSetup, Problem> {
    with_session(app, move |session| session.study.practice()).await
}

/// Sets the right answer of a practice text, or removes it. The text is named by its id in files.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_practice_text(
    app: AppHandle,
    question: QuestionId,
    text_id: String,
    answer: Option<Answer>,
    reason: String,
) -> Result<PracticeSetup, Problem> {
    with_session(app, move |session| {
        let (text, _) = session.project.text_named(&text_id)?;
        session.study.set_practice(&[NewPracticeText { question, text, answer, reason }])?;
        session.study.practice()
    })
    .await
}

/// Sets the pass mark of practice, or what happens below it; missing values are unchanged.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_practice_rule(
    app: AppHandle,
    rule: NewPracticeRule,
) -> Result<PracticeSetup, Problem> {
    with_session(app, move |session| {
        session.study.set_practice_rule(&rule)?;
        session.study.practice()
    })
    .await
}

/// The pass mark of attention checks.
#[tauri::command]
#[specta::specta]
pub(crate) async fn check_rule(app: AppHandle) -> Result<CheckRuleInfo, Problem> {
    with_session(app, |session| session.study.check_rule()).await
}

/// Sets the pass mark of attention checks, or removes it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_check_rule(
    app: AppHandle,
    rule: Option<CheckRule>,
) -> Result<CheckRuleInfo, Problem> {
    with_session(app, move |session| session.study.set_check_rule(rule)).await
}
