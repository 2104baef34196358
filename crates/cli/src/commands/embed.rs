//! `models embed`: embeddings of texts without a project.

use super::{count, encoder_choice, home, note};
use crate::args::{Embed, TextColumnArgs};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_training::encoding::{TextFileChoices, embed_file};
use std::path::Path;

pub(crate) fn embed(args: &Embed) -> Result<()> {
    let texts = text_file(&args.input, &args.columns);
    let bar = Bar::new("texts");
    let done = embed_file(&home()?, &texts, &args.out, args.force, &encoder_choice(&args.encoder), &bar);
    drop(bar);
    let done = done?;
    if args.output.json {
        return output::json(&done);
    }
    if let Some(sentence) = &done.note {
        note(sentence);
    }
    print_left_out(done.bad_rows);
    let long = match (done.cut, done.averaged) {
        (0, 0) => String::new(),
        (0, averaged) => format!(", {averaged} longer than the encoder reads at once: averaged over windows"),
        (cut, _) => format!(", {cut} cut at the encoder's longest input"),
    };
    let ids =
        done.ids_file.as_ref().map_or_else(String::new, |ids| format!(" and their ids to {}", ids.display()));
    output::line(&format!(
        "Wrote embeddings of {} to {}{ids}: {} components by {} on {} in {:.1} s{long}",
        count(done.texts, "text"),
        done.file.display(),
        done.dim,
        done.encoder,
        done.device,
        done.seconds
    ))
}

/// Text file choices from the arguments.
pub(super) fn text_file(path: &Path, columns: &TextColumnArgs) -> TextFileChoices {
    TextFileChoices {
        path: path.to_owned(),
        text: columns.text_column.clone(),
        text_id: columns.text_id_column.clone(),
        skip_bad: columns.skip_bad,
        keep: None,
    }
}

/// Reports how many invalid rows of a text file were skipped.
pub(super) fn print_left_out(rows: u64) {
    if rows > 0 {
        note(&format!("left out {}", count(rows, "bad row")));
    }
}
