//! `predict` of a question with spans, of one text.

use super::given_answers::{show_answers, with_answers};
use super::live_model::{bar_of, make_live};
use super::word_print::show_words;
use super::{count, encoder_choice};
use crate::args::Predict;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_domain::{Annotator, Question};
use dissensus_workbench::{OptionPrediction, Session, WordsOfText};
use serde_json::{Map, Value, json};

/// Whether the annotator marks anything of each type, and of a text that is not the project's which words the annotator, or everybody, would mark.
pub(super) fn predict_spans(
    session: &Session,
    question: &Question,
    annotator: Option<&Annotator>,
    args: &Predict,
) -> Result<()> {
    if annotator.is_none() && args.text.is_none() {
        bail!(
            "name an annotator (--annotator NAME), or see who marked which words and who would with `dissensus words PROJECT --question \"{}\" --text-id {}`",
            question.name,
            args.text_id.as_deref().unwrap_or_default()
        );
    }
    // This also sees to it that there are embeddings of the encoder that reads the words.
    make_live(session, question.id, &args.encoder)?;
    let types = match annotator {
        Some(annotator) => types(session, question, annotator, args)?,
        None => Vec::new(),
    };
    let words = match &args.text {
        Some(text) => {
            let bar = Bar::new("texts");
            let choice = encoder_choice(&args.encoder);
            let who = annotator.map(|who| who.id);
            let found = session.analysis.words_of_new_text(question, who, text, &choice, &bar);
            drop(bar);
            Some(found?)
        }
        None => None,
    };
    if args.json {
        let document = document(question, annotator, args, &types, words.as_ref());
        return output::json(&with_answers(session, question, args, document)?);
    }
    if let Some(annotator) = annotator {
        output::line(&format!("How likely {} marks something of each type, one by one", annotator.name))?;
        let row = |one: &OptionPrediction| {
            vec![one.option.clone(), format!("{:.3}", one.probability), bar_of(one.probability)]
        };
        let rows = types.iter().map(row).collect();
        output::line(&output::table(&[question.name.as_str(), "probability", ""], rows, &[1]))?;
    }
    if let Some(words) = &words {
        output::line(&match annotator {
            Some(annotator) => format!("\nWords that {} would mark", annotator.name),
            None => format!("Words that {} would mark", count(words.people.into(), "annotator")),
        })?;
        show_words(words)?;
    }
    show_answers(session, question, args)
}

fn types(
    session: &Session,
    question: &Question,
    annotator: &Annotator,
    args: &Predict,
) -> Result<Vec<OptionPrediction>> {
    Ok(match (&args.text_id, &args.text) {
        (Some(id), _) => session.analysis.predict_options(question, annotator.id, id)?,
        (None, text) => {
            let choice = encoder_choice(&args.encoder);
            let text = session.encoding.embed(text.as_deref().unwrap_or_default(), &choice)?;
            session.analysis.predict_options_of_new_text(question, annotator.id, &text)?
        }
    })
}

fn document(
    question: &Question,
    annotator: Option<&Annotator>,
    args: &Predict,
    types: &[OptionPrediction],
    words: Option<&WordsOfText>,
) -> Value {
    let probabilities: Map<String, Value> =
        types.iter().map(|one| (one.option.clone(), json!(one.probability))).collect();
    json!({
        "annotator": annotator.map(|who| &who.external_id),
        "question": question.name,
        "text_id": args.text_id,
        "text": args.text,
        "probabilities": if annotator.is_some() { json!(probabilities) } else { Value::Null },
        "types": words.map(|words| &words.types),
        "people": words.map(|words| words.people),
        "words": words.map(|words| &words.words),
    })
}
