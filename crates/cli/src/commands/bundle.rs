//! `models bundle`, and `models predict --bundle`.

use super::prediction_tables::{prediction_choices, print_predictions, texts_to_predict};
use super::{count, encoder_choice, note, open_or_read, print_switch};
use crate::args::{Bundle as BundleArgs, Predict};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::bundles::{Bundle, BundleChoices};
use std::path::Path;

pub(crate) fn bundle(args: &BundleArgs) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let choices = BundleChoices {
        questions: args.question.clone(),
        runs: args.run.clone(),
        with_ids: args.ids,
        replace: args.force,
    };
    let bar = Bar::new("steps");
    let written = session.bundles.write(&choices, &args.dir, &encoder_choice(&args.encoder), &bar);
    drop(bar);
    let (written, switch) = written?;
    print_switch(switch);
    if written.embeddings_held > 0 {
        note(&format!(
            "it holds {} of labelled texts (one of a text for each question or option), with which new texts are compared; from an embedding some of what a text says can be guessed",
            count(written.embeddings_held as u64, "embedding")
        ));
    }
    if written.words_held > 0 {
        note(&format!(
            "it holds a weight and a hash of {} of labelled texts: who tries a word learns whether it is among them, and of a rare one whether it was marked",
            count(written.words_held as u64, "word")
        ));
    }
    if args.output.json {
        return output::json(&written);
    }
    output::line(&format!(
        "Wrote {} ({:.1} MB): {}{} for {}, on {}",
        written.folder.display(),
        written.bytes as f64 / 1e6,
        written.words.iter().map(|name| format!("the words of {name}, ")).collect::<String>(),
        written.sets.iter().chain(&written.questions).cloned().collect::<Vec<_>>().join(", "),
        count(written.annotators as u64, "annotator"),
        written.encoders.join(", ")
    ))
}

/// Predicts every text of a file with a bundle.
pub(super) fn predict(dir: &Path, texts: &Path, out: &Path, args: &Predict) -> Result<()> {
    let bundle = Bundle::open(dir)?;
    if let Some(notice) = bundle.notice() {
        note(notice);
    }
    let choices = prediction_choices(args);
    let device = encoder_choice(&args.encoder).device;
    let bar = Bar::new("texts");
    let written = bundle.predict(&choices, &texts_to_predict(texts, args), out, device, &bar);
    drop(bar);
    print_predictions(&written?, args.output.json)
}
