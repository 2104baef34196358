//! `analyse words`.

use super::word_print::show_words;
use super::{count, encoder_choice, open_or_read, print_switch};
use crate::args::Words;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_analysis::word_models;
use dissensus_analysis::word_table;
use dissensus_analysis::{WordFile, WordsOfText};
use dissensus_api::WordModelReport;
use dissensus_app::session::Session;
use dissensus_domain::Question;
use dissensus_editing::questions;
use schemars::JsonSchema;
use serde::Serialize;

/// What `words --text-id --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct WordsShown {
    /// The model behind the expected marks.
    model: WordModelReport,
    /// The text's words.
    text: WordsOfText,
}

/// What `words --out --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct WordsWritten {
    /// The model behind the expected marks.
    model: WordModelReport,
    /// The table.
    written: WordFile,
}

pub(crate) fn words(args: &Words) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let named = asked_for(&session, args)?;
    let question = named.as_deref();
    let asked = questions::find(&session.project, question)?;
    let named_type = !asked.scale.form().marks_words();
    let choice = encoder_choice(&args.encoder);
    if let Some(text) = &args.text_id {
        // Reports a missing text before minutes are spent on the others.
        word_table::read(&session.analysis, question, text)?;
    }
    let bar = Bar::new("texts");
    let ready = session.encoding.ensure_encoded(&choice, &bar);
    let ready = ready
        .and_then(|switch| Ok((switch, word_models::fit_words(&session.analysis, asked.id, &choice, &bar)?)));
    let written = match (&ready, &args.out) {
        (Ok(_), Some(out)) => Some(word_table::write(&session.analysis, question, out, args.force, &bar)),
        _ => None,
    };
    drop(bar);
    let (switch, model) = ready?;
    print_switch(switch);
    if let Some(written) = written {
        let written = written?;
        if args.output.json {
            return output::json(&WordsWritten { model, written });
        }
        return output::line(&format!(
            "Wrote {} of {} to {}, a row for each of {}",
            count(written.rows, "row"),
            count(written.texts, "text"),
            written.file.display(),
            count(if named_type { 1 } else { model.types.len() as u64 }, "type")
        ));
    }
    let text = args.text_id.as_deref().unwrap_or_default();
    let found = word_table::read(&session.analysis, question, text)?;
    if args.output.json {
        return output::json(&WordsShown { model, text: found });
    }
    show(&found)
}

fn show(found: &WordsOfText) -> Result<()> {
    output::line(&format!(
        "\"{}\" of text {}: {}, and what is expected of {}",
        found.question,
        found.text_id,
        count(found.answers.into(), "answer"),
        count(found.people.into(), "annotator")
    ))?;
    show_words(found)
}

/// Name of the question with spans, or of one of its types: a type is given as `QUESTION: TYPE`, or
/// separately with its question.
fn asked_for(session: &Session, args: &Words) -> Result<Option<String>> {
    let Some(of_type) = &args.of_type else { return Ok(args.question.clone()) };
    let question = questions::find(&session.project, args.question.as_deref())?;
    if question.scale.index_of(of_type).is_none() || !question.scale.form().marks_words() {
        bail!(
            "\"{}\" has no type \"{of_type}\"; it has {}",
            question.name,
            question.scale.levels().join(", ")
        );
    }
    Ok(Some(format!("{}{}{}", question.name, Question::OPTION_OF, of_type.trim())))
}
