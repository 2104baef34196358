//! `predict` of a question with spans, of one text.

use super::encoder_choice;
use super::given_answers::{show_answers, with_answers};
use super::predictions::{bar_of, make_live};
use crate::args::Predict;
use crate::output;
use anyhow::Result;
use dissensus_domain::{Annotator, Question};
use dissensus_workbench::{OptionPrediction, Session};
use serde_json::{Map, Value, json};

/// Whether the annotator marks anything of each type.
pub(super) fn predict_spans(
    session: &Session,
    question: &Question,
    annotator: &Annotator,
    args: &Predict,
) -> Result<()> {
    let choice = encoder_choice(&args.encoder);
    make_live(session, question.id, &args.encoder)?;
    let found = match (&args.text_id, &args.text) {
        (Some(id), _) => session.analysis.predict_options(question, annotator.id, id)?,
        (None, text) => {
            let text = session.encoding.embed(text.as_deref().unwrap_or_default(), &choice)?;
            session.analysis.predict_options_of_new_text(question, annotator.id, &text)?
        }
    };
    if args.json {
        let probabilities: Map<String, Value> =
            found.iter().map(|one| (one.option.clone(), json!(one.probability))).collect();
        let document = json!({
            "annotator": annotator.external_id,
            "question": question.name,
            "text_id": args.text_id,
            "text": args.text,
            "probabilities": probabilities,
        });
        return output::json(&with_answers(session, question, args, document)?);
    }
    output::line(&format!("How likely {} marks something of each type, one by one", annotator.name))?;
    let row = |one: &OptionPrediction| {
        vec![one.option.clone(), format!("{:.3}", one.probability), bar_of(one.probability)]
    };
    let rows = found.iter().map(row).collect();
    output::line(&output::table(&[question.name.as_str(), "probability", ""], rows, &[1]))?;
    show_answers(session, question, args)
}
