//! Labels of a text, printed next to its predictions.

use crate::args::Predict;
use crate::output;
use anyhow::Result;
use dissensus_analysis::GivenAnswer;
use dissensus_analysis::whole_answer;
use dissensus_app::session::Session;
use dissensus_domain::Question;

/// Answers to the given text; `None` if it is not in the project.
pub(super) fn answers(
    session: &Session,
    question: &Question,
    args: &Predict,
) -> Result<Option<Vec<GivenAnswer>>> {
    let text = args.text_id.as_deref();
    Ok(text.map(|text| whole_answer::given_answers(&session.analysis, question, text)).transpose()?)
}

/// Prints each annotator's answer if the text is in the project.
pub(super) fn show_answers(session: &Session, question: &Question, args: &Predict) -> Result<()> {
    let Some(given) = answers(session, question, args)? else { return Ok(()) };
    if given.is_empty() {
        return output::line("\nNobody has answered it");
    }
    let rows = given.into_iter().map(|one| vec![one.annotator, one.answer]).collect();
    output::line(&format!("\n{}", output::table(&["annotator", "answered"], rows, &[])))
}
