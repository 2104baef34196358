//! Arguments of `check-update`.

use super::shared::OutputArgs;
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus check-update
  dissensus check-update --json
  dissensus check-update --download dissensus_0.2.0_amd64.deb

The request says nothing about you or this computer. The answer must be signed with the key of releases; nothing \
is downloaded to be installed. A program that a store or package manager installed makes no request, and names \
the command that updates it.")]
pub(crate) struct CheckUpdate {
    /// Check that this downloaded file is whole and that of the newest release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) download: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
