//! `words`.

use super::{count, encoder_choice, open_or_read, tell_switch};
use crate::args::Words;
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_workbench::{WordOfText, WordsOfText};
use serde_json::json;

pub(crate) fn words(args: &Words) -> Result<()> {
    let session = open_or_read(&args.project)?;
    let question = args.question.as_deref();
    let choice = encoder_choice(&args.encoder);
    if let Some(text) = &args.text_id {
        // A text that is not there is told before minutes are spent on the others.
        session.analysis.words_of_text(question, text)?;
    }
    let bar = Bar::new("texts");
    let ready = session.encoding.ensure_encoded(&choice, &bar);
    let ready = ready.and_then(|switch| Ok((switch, session.analysis.fit_words(question, &choice, &bar)?)));
    let written = match (&ready, &args.out) {
        (Ok(_), Some(out)) => Some(session.analysis.words_to_file(question, out, args.force, &bar)),
        _ => None,
    };
    drop(bar);
    let (switch, model) = ready?;
    tell_switch(switch);
    if let Some(written) = written {
        let written = written?;
        if args.json {
            return output::json(&json!({ "written": written, "model": model }));
        }
        return output::line(&format!(
            "Wrote {} of {} to {}, a row for each of {}",
            count(written.rows, "row"),
            count(written.texts, "text"),
            written.file.display(),
            count(model.types.len() as u64, "type")
        ));
    }
    let text = args.text_id.as_deref().unwrap_or_default();
    let found = session.analysis.words_of_text(question, text)?;
    if args.json {
        return output::json(&json!({ "text": found, "model": model }));
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
    let of_types = found
        .types
        .iter()
        .flat_map(|name| ["marked", "expected", "differ"].map(|figure| format!("{name}: {figure}")));
    let header: Vec<String> = std::iter::once("word".to_owned()).chain(of_types).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |word: &WordOfText| {
        let figures = word.types.iter().flat_map(|of| {
            [format!("{} of {}", of.marked_by.len(), found.answers), three(of.expected), three(of.differ)]
        });
        std::iter::once(word.word.clone()).chain(figures).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, found.words.iter().map(row).collect(), &numbers))
}
