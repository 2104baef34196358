//! `models predict` of one text, for a question with spans.

use super::given_answers::{answers, show_answers};
use super::live_model::{bar_of, embed_new_text, make_live, requested_text};
use super::word_print::show_words;
use super::{count, encoder_choice};
use crate::args::Predict;
use crate::by_name::ByName;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_analysis::multi_label;
use dissensus_analysis::word_predictions;
use dissensus_analysis::{GivenAnswer, OptionPrediction, WordOfText, WordsOfText};
use dissensus_app::session::Session;
use dissensus_domain::{Annotator, Question};
use schemars::JsonSchema;
use serde::Serialize;

/// What `predict --json` prints of a question with spans.
#[derive(Serialize, JsonSchema)]
pub(super) struct SpanPrediction<'a> {
    /// Id of the annotator; null for a prediction over all annotators.
    annotator: Option<&'a str>,
    /// Answers given by each annotator; null for a text that is not in the project.
    answers: Option<Vec<GivenAnswer>>,
    /// For a text that is not in the project: number of annotators that its words are predicted for.
    people: Option<u32>,
    /// For one annotator: probability that anything of each type is marked.
    probabilities: Option<ByName<f64>>,
    /// The question.
    question: &'a str,
    /// The text, if it was given on the command line.
    text: Option<&'a str>,
    /// Id of the text, if it is in the project.
    text_id: Option<&'a str>,
    /// For a text that is not in the project: the types, in the order of the figures of each word.
    types: Option<&'a [String]>,
    /// For a text that is not in the project: its words.
    words: Option<&'a [WordOfText]>,
}

/// Prints whether the annotator marks anything of each type, and for a text that is not in the project which
/// words the annotator, or all annotators, would mark.
pub(super) fn predict_spans(
    session: &Session,
    question: &Question,
    annotator: Option<&Annotator>,
    args: &Predict,
) -> Result<()> {
    if annotator.is_none() && args.text.is_none() {
        bail!(
            "name an annotator (--annotator NAME), or see who marked which words and who would with `dissensus analyse words PROJECT --question \"{}\" --text-id {}`",
            question.name,
            args.text_id.as_deref().unwrap_or_default()
        );
    }
    // This also ensures that embeddings exist of the encoder that reads the words.
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
            let found = word_predictions::predict(&session.analysis, question, who, text, &choice, &bar);
            drop(bar);
            Some(found?)
        }
        None => None,
    };
    if args.output.json {
        let answers = answers(session, question, args)?;
        return output::json(&document(question, annotator, args, &types, words.as_ref(), answers));
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
    let embedded = embed_new_text(session, args)?;
    let text = requested_text(args, embedded.as_ref());
    Ok(multi_label::predict(&session.analysis, question, annotator.id, text)?)
}

fn document<'a>(
    question: &'a Question,
    annotator: Option<&'a Annotator>,
    args: &'a Predict,
    types: &[OptionPrediction],
    words: Option<&'a WordsOfText>,
    answers: Option<Vec<GivenAnswer>>,
) -> SpanPrediction<'a> {
    let probability = |one: &OptionPrediction| (one.option.clone(), f64::from(one.probability));
    SpanPrediction {
        annotator: annotator.map(|who| who.external_id.as_str()),
        answers,
        people: words.map(|words| words.people),
        probabilities: annotator.map(|_| types.iter().map(probability).collect()),
        question: &question.name,
        text: args.text.as_deref(),
        text_id: args.text_id.as_deref(),
        types: words.map(|words| words.types.as_slice()),
        words: words.map(|words| words.words.as_slice()),
    }
}
