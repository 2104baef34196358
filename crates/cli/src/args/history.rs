//! Arguments of `history`.

use clap::{Args, ValueHint};
use dissensus_domain::HistoryKind;
use dissensus_project::clock::moment_from;
use std::path::PathBuf;
use strum::VariantArray;

/// `history`: the log of the project.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus history P.dissensus
  dissensus history P.dissensus --since 2026-03-01 --annotator ana --kind answer,retraction
  dissensus history P.dissensus --text-id 42 --hide-names --json

Kinds: answer, imported-answer, retraction, skip, flag, note, repeat, decision, guideline, question, person, packet, check, panel, job, run,
setting, noted, withdrawal.

Newest first. Times are those of the clock at which something was done, shown where you are. A copy is the file in which it was done: \"this
copy\", \"copy of ana\" where it came in with ana's packet, \"another copy (4f2a)\" where it came in with a whole copy. Questions, texts and
people that were added, and a name or an attribute that somebody was added with, have no time and are told by the import that brought them.
What a person who withdrew did is nowhere. With --hide-names people have pseudonyms, and what jobs worked on is left out; what people wrote
stays as they wrote it.")]
pub(crate) struct History {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Not before this day or moment: 2026-03-01, 2026-03-01T14:00, 2026-03-01T14:00+01:00
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<f64>,
    /// Not after this day or moment
    #[arg(long, value_name = "TIME", value_parser = until)]
    pub(crate) until: Option<f64>,
    /// What this person did, or what was done about them
    #[arg(long)]
    pub(crate) annotator: Option<String>,
    /// What is about this text
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: Option<String>,
    /// What is about this question
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Entries of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = kind)]
    pub(crate) kind: Vec<HistoryKind>,
    /// With these words in what was written, in a name, or as the id of the text
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) search: String,
    /// Show pseudonyms in place of names
    #[arg(long)]
    pub(crate) hide_names: bool,
    /// How many entries to show
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn kind(written: &str) -> Result<HistoryKind, String> {
    written.parse().map_err(|_| {
        let names: Vec<&str> = HistoryKind::VARIANTS.iter().map(|kind| kind.name()).collect();
        format!("there is no such kind; there are {}", names.join(", "))
    })
}

fn since(written: &str) -> Result<f64, String> {
    moment(written, false)
}

fn until(written: &str) -> Result<f64, String> {
    moment(written, true)
}

fn moment(written: &str, end: bool) -> Result<f64, String> {
    moment_from(written, end).ok_or_else(|| {
        "write a day (2026-03-01) or a moment (2026-03-01T14:00, 2026-03-01T14:00+01:00)".to_owned()
    })
}
