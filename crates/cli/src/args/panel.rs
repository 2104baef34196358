//! Arguments of `panel`.

use super::EncoderArgs;
use clap::{Args, ValueEnum, ValueHint};
use dissensus_domain::{PanelRule, PanelShare};
use std::path::PathBuf;

/// `panel`: what a panel of people is expected to decide.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus panel P.dissensus --members ada,ben,cleo --text-id 42
  dissensus panel P.dissensus --size 12 --where gender=Woman:0.5 --rule majority
  dissensus panel P.dissensus --size 9 --where age=18-24:0.3 --where age=25-34:0.3 --rule quorum:0.5@4 --name young
  dissensus panel P.dissensus --saved young --beside board --by apart
  dissensus panel P.dissensus --saved young --texts new.csv --out verdicts.csv

Rules:
  majority       the level that most members give; \"no majority\" where two or more tie
  mean           the level next to the members' mean, halves going up; median: the middle answer, of two the lower (both for ordered levels)
  veto:L         one member at level L or above is enough (yes/no: who says yes); without L the top level
  quorum:M@L     M members at level L or above: a number (3), a share (0.5 or 50%); without an order of the levels: who give L

Members read the same text: what is not known of it is drawn once for all of them. \"Sure\" is the probability of the likeliest
verdict, \"range\" what it would be were the text known exactly (95 %); where that is nearly anything, there is too little to tell.
Answers that a member gave to a text stand. --size draws from the people with labels on the question: the seed's first panel is
shown, and --draws more tell how often another panel of the same shares would decide otherwise. Each person is drawn by seed and id, so that
a person who joins later changes a panel by one member at most where no shares are asked for. Shares become members by largest
remainder; people without a value count to all others of it.")]
#[command(group(clap::ArgGroup::new("who").args(["members", "size", "saved", "list", "forget"]).required(true)))]
pub(crate) struct Panel {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Who sits on it
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) members: Vec<String>,
    /// Draw so many members
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) size: Option<u32>,
    /// With --size: a share of the members has this value; as often as you like
    #[arg(long = "where", value_name = "NAME=VALUE:SHARE", value_parser = share, requires = "size")]
    pub(crate) shares: Vec<PanelShare>,
    /// With --size: what draws the members
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// Panels drawn beside the first one of --size, or of a saved recipe
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) draws: u32,
    /// How answers become a verdict [default: majority, or that of --saved]
    #[arg(long)]
    pub(crate) rule: Option<PanelRule>,
    /// The question [default: the only one, or that of --saved]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Take the panel that is saved under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) saved: Option<String>,
    /// Set the saved panel of this name beside it, under the same rule
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "forget"])]
    pub(crate) beside: Option<String>,
    /// Save the panel in the project under this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "forget"])]
    pub(crate) name: Option<String>,
    /// List the panels that are saved
    #[arg(long)]
    pub(crate) list: bool,
    /// Save the panel of this name no longer
    #[arg(long, value_name = "NAME")]
    pub(crate) forget: Option<String>,
    /// One text of the project
    #[arg(long, value_name = "ID", conflicts_with_all = ["texts", "list", "forget"])]
    pub(crate) text_id: Option<String>,
    /// Which texts to show first
    #[arg(long, value_enum, default_value_t)]
    pub(crate) by: PanelBy,
    /// How many texts to show
    #[arg(long, default_value_t = 20)]
    pub(crate) top: usize,
    /// Every text of this file: CSV, TSV, JSON Lines, or one text a line (.txt)
    #[arg(long, value_name = "FILE", requires = "out", value_hint = ValueHint::FilePath, conflicts_with_all = ["list", "forget"])]
    pub(crate) texts: Option<PathBuf>,
    /// With --texts: the file to write; its ending says how: .csv, .tsv, .jsonl, .parquet or .xlsx
    #[arg(long, value_name = "FILE", requires = "texts", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// With --texts: the column of the texts [default: the one that looks like it]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_column: Option<String>,
    /// With --texts: the column of the texts' ids [default: the one that looks like it]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_id_column: Option<String>,
    /// With --texts: leave out rows that cannot be read; without it they are told and nothing is written
    #[arg(long, requires = "texts")]
    pub(crate) skip_bad: bool,
    /// With --texts: replace a file that is there
    #[arg(long, requires = "texts")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which texts of the project come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PanelBy {
    /// The least sure verdict
    #[default]
    Unsure,
    /// The verdict that depends most on who of the recipe sits on the panel
    Members,
    /// The verdict that differs most from that of --beside
    Apart,
}

fn share(argument: &str) -> Result<PanelShare, String> {
    let wrong = || format!("\"{argument}\" is not NAME=VALUE:SHARE, such as gender=Woman:0.5");
    // A value may have colons of its own, a share has none.
    let (named, share) = argument.rsplit_once(':').ok_or_else(wrong)?;
    let (attribute, value) = super::pair(named).map_err(|_| wrong())?;
    let share = match share.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => share.trim().parse(),
    };
    let share = share.map_err(|_| wrong())?;
    if (0.0..=1.0).contains(&share) && !value.is_empty() {
        Ok(PanelShare { attribute, value, share })
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_nonsense_is_refused() {
        let of = |attribute: &str, value: &str, share| PanelShare {
            attribute: attribute.into(),
            value: value.into(),
            share,
        };
        assert_eq!(share("gender=Woman:0.5"), Ok(of("gender", "Woman", 0.5)));
        assert_eq!(share("shift = 9:00-17:00 : 25%"), Ok(of("shift", "9:00-17:00", 0.25)));
        for wrong in [
            "gender",
            "gender=Woman",
            "gender=Woman:2",
            "gender=Woman:-1",
            "gender=:0.5",
            "=x:0.5",
            "gender=Woman:NaN",
        ] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
