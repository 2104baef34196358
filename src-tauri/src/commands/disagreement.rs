//! The texts in the Findings view.

use super::with_session;
use dissensus_api::{
    DisagreementQuery, DisagreementRow, ExplainQuery, ExplainedWords, Explanation, NearText, Problem,
    Ranking, TextDetail, WordHeat, WordModelReport,
};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use tauri::AppHandle;

/// Texts in the order of predicted disagreement.
#[tauri::command]
#[specta::specta]
pub(crate) async fn disagreement_ranking(
    app: AppHandle,
    query: DisagreementQuery,
) -> Result<Ranking, Problem> {
    with_session(app, move |session| session.analysis.ranking(&query)).await
}

/// Current rows of some of these texts.
#[tauri::command]
#[specta::specta]
pub(crate) async fn disagreement_rows(
    app: AppHandle,
    query: DisagreementQuery,
    texts: Vec<TextId>,
) -> Result<Vec<DisagreementRow>, Problem> {
    with_session(app, move |session| session.analysis.rows(&query, &texts)).await
}

/// Details of one text for the people selected by the query, except the prediction for the current
/// annotator before their answer, unless `show_hidden` is set.
#[tauri::command]
#[specta::specta]
pub(crate) async fn text_detail(
    app: AppHandle,
    query: DisagreementQuery,
    text: TextId,
    group_by: Option<String>,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<TextDetail, Problem> {
    with_session(app, move |session| {
        session.analysis.text_detail(&query, text, group_by.as_deref(), reading_as, show_hidden)
    })
    .await
}

/// The nearest texts on which people agreed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn nearest_agreed_texts(
    app: AppHandle,
    question: QuestionId,
    text: TextId,
) -> Result<Vec<NearText>, Problem> {
    with_session(app, move |session| session.analysis.nearest_agreed_texts(question, text)).await
}

/// Explains the predicted answers of one or two people to a text. Nothing is returned for the current
/// annotator before their answer, unless `show_hidden` is set.
#[tauri::command]
#[specta::specta]
pub(crate) async fn explain(
    app: AppHandle,
    query: ExplainQuery,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<Explanation, Problem> {
    with_session(app, move |session| session.analysis.explain(&query, reading_as, show_hidden)).await
}

/// The words that contribute to the score of the text. A job: it reports progress by events and can be
/// cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn explain_words(
    app: AppHandle,
    query: ExplainQuery,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<ExplainedWords, Problem> {
    with_session(app, move |session| session.analysis.explain_words_as_job(&query, reading_as, show_hidden))
        .await
}

/// Who marked each word of a text with the type of spans `query.question`, and predictions of it. Nothing
/// is predicted for the current annotator before their answer, unless `show_hidden` is set.
#[tauri::command]
#[specta::specta]
pub(crate) async fn word_heat(
    app: AppHandle,
    query: DisagreementQuery,
    text: TextId,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<WordHeat, Problem> {
    with_session(app, move |session| session.analysis.word_heat(&query, text, reading_as, show_hidden)).await
}

/// Fits a model of which words people mark. A job: it reports progress by events and can be cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn fit_words(app: AppHandle, question: QuestionId) -> Result<WordModelReport, Problem> {
    with_session(app, move |session| session.analysis.fit_words_as_job(question)).await
}
