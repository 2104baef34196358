//! What `remove` takes.

use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  dissensus remove P.dissensus --question toxicty
  dissensus remove P.dissensus --question toxicty --yes
  dissensus remove P.dissensus --last-import --yes

A question, a text or a person goes only while nothing stands on it: no answer, none that was taken back, no packet, no decision, no training
run. The last import goes but for what somebody used since: answers that were changed or taken back stay with their history, and so does every
text, person and question on which something else stands. Each project keeps what its last five imports added. A copy of the project that still
has what was removed brings it back when it is merged. Somebody who has answers and wants them gone: dissensus withdraw.")]
pub(crate) struct Remove {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    #[command(flatten)]
    pub(crate) what: RemoveWhat,
    /// Remove it; without this, only what would go is shown
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct RemoveWhat {
    /// The question with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// The text with this id
    #[arg(long, value_name = "ID")]
    pub(crate) text: Option<String>,
    /// The person with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// What the last import added
    #[arg(long)]
    pub(crate) last_import: bool,
}
