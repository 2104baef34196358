//! Arguments of `schema`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus schema annotators
  dissensus schema runs show
  dissensus schema > schemas.json

Schemas use JSON Schema draft 2020-12. A command that prints different documents has all of them under anyOf.")]
pub(crate) struct Schema {
    /// A command, without its group: import, disagreement, runs show, ... [default: all, as one JSON object]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
