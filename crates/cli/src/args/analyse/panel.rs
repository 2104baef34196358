//! Arguments of `analyse panel`.

use crate::args::parse::panel_share;
use crate::args::shared::{EncoderArgs, OF_TEXTS_FILE, OutputArgs, ProjectArg, TextsFileArgs};
use clap::{ArgGroup, Args, ValueEnum};
use dissensus_domain::{PanelRule, PanelShare};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse panel P.dissensus --members ada,ben,cleo --text-id 42
  dissensus analyse panel P.dissensus --size 12 --where gender=Woman:0.5 --rule majority
  dissensus analyse panel P.dissensus --size 9 --where age=18-24:1 --rule quorum:3@4 --name young
  dissensus analyse panel P.dissensus --saved young --compare board --by apart
  dissensus analyse panel P.dissensus --saved young --texts new.csv --out verdicts.csv

Rules:
  majority     the most frequent level; \"no majority\" if there is a tie
  mean         the level closest to the members' mean
  median       the middle answer, or the lower one of two
  veto:L       one member at level L or above is enough (yes/no: one yes); without L, the top level
  quorum:M@L   M members at level L or above; M is a number (3) or a share (0.5, 50%)")]
#[command(group(ArgGroup::new("who").args(["members", "size", "saved", "list", "forget"]).required(true)))]
#[command(group(ArgGroup::new("of_file").args(OF_TEXTS_FILE).multiple(true)
    .conflicts_with_all(["text_id", "list", "forget"])))]
pub(crate) struct Panel {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Members of the panel
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) members: Vec<String>,
    /// Draw this many members at random from the annotators
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) size: Option<u32>,
    /// With --size: share of members that have this attribute value; may be repeated
    #[arg(long = "where", value_name = "NAME=VALUE:SHARE", value_parser = panel_share, requires = "size")]
    pub(crate) shares: Vec<PanelShare>,
    /// With --size: random seed for drawing members
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// Number of other panels of the same composition to draw, to measure how much the verdict depends on the
    /// members
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) draws: u32,
    /// How answers become a verdict, see below [default: majority, or the rule of --saved]
    #[arg(long)]
    pub(crate) rule: Option<PanelRule>,
    /// The question [default: the only one in the project, or that of --saved]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Use the saved panel of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) saved: Option<String>,
    /// Compare with the saved panel of this name, under the same rule
    #[arg(long, alias = "beside", value_name = "NAME")]
    pub(crate) compare: Option<String>,
    /// Save the panel in the project under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// List saved panels
    #[arg(long, conflicts_with_all = ["compare", "name", "text_id", "texts"])]
    pub(crate) list: bool,
    /// Delete the saved panel of this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["compare", "name", "text_id", "texts"])]
    pub(crate) forget: Option<String>,
    /// Only this text of the project
    #[arg(long, value_name = "ID", conflicts_with = "texts")]
    pub(crate) text_id: Option<String>,
    /// How to sort texts
    #[arg(long, value_enum, default_value_t)]
    pub(crate) by: PanelBy,
    /// Number of texts to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) file: TextsFileArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

/// Which texts of the project come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PanelBy {
    /// The least certain verdict
    #[default]
    Unsure,
    /// The verdict that depends most on the members drawn
    Members,
    /// The verdict that differs most from that of --compare
    Apart,
}
