//! What `schema` takes.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus schema annotators
  dissensus schema runs show
  dissensus schema > schemas.json

Schemas are of draft 2020-12. A command that prints different documents by its options has all of them under anyOf.")]
pub(crate) struct Schema {
    /// A command that takes --json [default: all of them, in one JSON object by their names]
    pub(crate) command: Vec<String>,
}
