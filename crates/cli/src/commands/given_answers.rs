//! What was really answered to a text, beside what is predicted of it.

use crate::args::Predict;
use crate::output;
use anyhow::Result;
use dissensus_domain::Question;
use dissensus_workbench::{GivenAnswer, Session};
use serde_json::{Value, json};

/// Answers to the text of the project that is asked about; none of any other.
fn answers(session: &Session, question: &Question, args: &Predict) -> Result<Vec<GivenAnswer>> {
    match &args.text_id {
        Some(text) => Ok(session.analysis.answers_to(question, text)?),
        None => Ok(Vec::new()),
    }
}

/// A prediction as `--json` has it, with what was answered: null of a text that is not the project's.
pub(super) fn with_answers(
    session: &Session,
    question: &Question,
    args: &Predict,
    mut document: Value,
) -> Result<Value> {
    document["answers"] = match args.text_id {
        Some(_) => json!(answers(session, question, args)?),
        None => Value::Null,
    };
    Ok(document)
}

/// Prints who answered what, where it is a text of the project.
pub(super) fn show_answers(session: &Session, question: &Question, args: &Predict) -> Result<()> {
    if args.text_id.is_none() {
        return Ok(());
    }
    let given = answers(session, question, args)?;
    if given.is_empty() {
        return output::line("\nNobody has answered it");
    }
    let rows = given.into_iter().map(|one| vec![one.annotator, one.answer]).collect();
    output::line(&format!("\n{}", output::table(&["annotator", "answered"], rows, &[])))
}
