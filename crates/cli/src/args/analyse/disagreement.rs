//! Arguments of `analyse disagreement`.

use crate::args::parse::{groups, pair};
use crate::args::shared::{EncoderArgs, OutputArgs, ProjectArg, QuestionArg};
use clap::{Args, ValueEnum};

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum MeasureArg {
    /// Split, combined with the text's own labels (default)
    #[default]
    Combined,
    /// Expected squared distance between two annotators' answers, 0 (all the same) to 1 (half at each end)
    Split,
    /// Probability that two annotators are at least two levels apart
    FarApart,
    /// Probability that one annotator is at --cut or above and another is below
    OppositeSides,
    /// Share of the predicted variance that is between annotators, 0 to 1
    Between,
    /// Split beyond what is usual for texts with the same mean, -1 to 1
    Surprising,
    /// Largest difference between the mean levels of two groups of annotators, in levels
    GroupGap,
    /// Probability that two annotators give different answers
    Pairwise,
    /// Jensen-Shannon divergence between annotators, in bits
    Divergence,
    /// Mean entropy within annotators, in bits
    Uncertainty,
    /// Split of the given labels without predictions, 0 to 1; only texts with two labels or more
    Labels,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse disagreement P.dissensus --top 20
  dissensus analyse disagreement P.dissensus --by opposite-sides --cut 4
  dissensus analyse disagreement P.dissensus --by group-gap --groups gender=Man:Woman
  dissensus analyse disagreement P.dissensus --attributes gender=Woman,age=18-24 --json

Given labels count as they are; missing ones are predicted. A text's band is the range of ranks that its \
95 % interval covers.")]
pub(crate) struct Disagreement {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Number of texts to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Measure to rank by
    #[arg(long, value_enum, default_value_t)]
    pub(crate) by: MeasureArg,
    /// With --by opposite-sides: the lowest level of the upper side [default: the middle of the scale]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) cut: Option<String>,
    /// With --by group-gap: the two groups [default: each attribute value against the others; the largest gap
    /// counts]
    #[arg(long, value_name = "NAME=VALUE:VALUE", value_parser = groups)]
    pub(crate) groups: Option<(String, String, String)>,
    /// Only annotators with these attribute values
    #[arg(long, value_delimiter = ',', value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) attributes: Vec<(String, String)>,
    /// Only texts that contain this
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
    /// Only texts with labels
    #[arg(long)]
    pub(crate) labelled: bool,
    /// Also test whether some texts divide annotators more than others with the same mean (slow)
    #[arg(long)]
    pub(crate) text_dispersion: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}
