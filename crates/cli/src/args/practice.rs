//! Arguments of `practice`, and of pass marks.

use clap::{Args, ValueHint};
use dissensus_domain::AfterFailing;
use std::path::PathBuf;
use strum::VariantArray as _;

/// `practice`: texts that people practise on before the others.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus practice P.dissensus --text-id 42 --value 5 --reason \"a plain insult, whoever says it\"
  dissensus practice P.dissensus --from practice.csv --question offensive
  dissensus practice P.dissensus --pass 0.8 --within 1 --then practise
  dissensus practice P.dissensus --results
  dissensus practice P.dissensus --text-id 42 --remove
  dissensus practice ada.dissensus
  dissensus label ada.dissensus --annotator ada --text-id 42 --value 4 --practice

A person answers the practice texts before the others, in a packet and in the project alike, and is told after each answer whether it was
right, the right answer and the reason. At the end it is said whether the mark was reached, and what the study's author decided for those
who fall short: go-on (their labels are kept and marked), practise (another round in another order), or stop (no more texts are asked).
Without a mark that was set, 80 % must be right and everybody goes on.

What is answered in practice is no label: no model, count or export of labels sees it. A text that is practised on is asked of nobody else,
and a text that was handed out cannot be practised on. By the right answers and the mark that hold now, earlier rounds are judged too.
`study` tells how each person stands, and an export has a column practice. Of a packet: its texts, without right answers.")]
pub(crate) struct Practice {
    /// The project file, or a packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// A text to practise on
    #[arg(long, conflicts_with = "from")]
    pub(crate) text_id: Option<String>,
    /// Its right answer, by its name
    #[arg(long, requires = "text_id", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// Why it is the right one; shown after a person's own answer
    #[arg(long, requires = "value", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
    /// The text is practised on no more
    #[arg(long, requires = "text_id", conflicts_with = "value")]
    pub(crate) remove: bool,
    /// Set those of a CSV file with the columns text_id and label, and perhaps reason
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// The share of the practice texts that must be right, between 0 and 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) pass: Option<f64>,
    /// On ordered levels an answer so many levels away counts as right
    #[arg(long, value_name = "N")]
    pub(crate) within: Option<u16>,
    /// What happens to somebody below the mark: go-on, practise or stop
    #[arg(long, value_parser = after_failing)]
    pub(crate) then: Option<AfterFailing>,
    /// What came of it, each person who has begun
    #[arg(long)]
    pub(crate) results: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn share(argument: &str) -> Result<f64, String> {
    match argument.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share is a number from 0 to 1".to_owned()),
    }
}

pub(super) fn after_failing(argument: &str) -> Result<AfterFailing, String> {
    let names: Vec<&str> = AfterFailing::VARIANTS.iter().map(|then| then.into()).collect();
    argument.parse().map_err(|_| format!("this is one of {}", names.join(", ")))
}
