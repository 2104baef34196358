//! `dissensus study mask`: what is masked in texts that are handed out.

use super::parse::not_blank;
use super::shared::{OutputArgs, ProjectArg};
use clap::{Args, ValueHint};
use dissensus_domain::MaskRule;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study mask P.dissensus --on email,web,user,phone,account --dry-run
  dissensus study mask P.dissensus --on email,phone --words names.txt
  dissensus study mask P.dissensus --names
  dissensus study mask P.dissensus --except May
  dissensus study mask P.dissensus --mask-nothing

Rules: email, web, user (@name, u/name), phone, account (IBAN and payment cards), words (your own list) and \
pattern (your own regular expression). Packets and pages that are handed out from then on have █ in place of \
each character; the project keeps the texts, and spans keep their places. Packets that were handed out \
before stay as they are. What no rule finds is not masked, and neither are text ids and the guideline.")]
pub(crate) struct Mask {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Switch rules on
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rule)]
    pub(crate) on: Vec<MaskRule>,
    /// Switch rules off
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rule)]
    pub(crate) off: Vec<MaskRule>,
    /// Mask the words of this file, one word or name in each line, instead of the earlier list
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "words_from")]
    pub(crate) words: Option<PathBuf>,
    /// Mask the values of this column of the texts, such as their author, instead of the earlier list
    #[arg(long, value_name = "COLUMN")]
    pub(crate) words_from: Option<String>,
    /// Mask words only where they have the same capitals
    #[arg(long, conflicts_with = "any_case")]
    pub(crate) exact: bool,
    /// Mask words whatever their capitals, which is the default
    #[arg(long)]
    pub(crate) any_case: bool,
    /// Mask what this regular expression matches
    #[arg(long, value_name = "REGEX", value_parser = not_blank)]
    pub(crate) pattern: Option<String>,
    /// Leave this finding as it is, written as in the texts; may be repeated
    #[arg(long, value_name = "FOUND", value_parser = not_blank)]
    pub(crate) except: Vec<String>,
    /// Leave these findings as they are only in the text with this id
    #[arg(long, value_name = "ID", requires = "except")]
    pub(crate) except_in: Option<String>,
    /// Forget all exceptions
    #[arg(long)]
    pub(crate) no_exceptions: bool,
    /// Mask nothing, and forget all rules
    #[arg(long, conflicts_with_all = ["on", "words", "words_from", "pattern", "except"])]
    pub(crate) mask_nothing: bool,
    /// List words that may be names: with a capital inside of sentences, and never in small letters
    #[arg(long, conflicts_with_all = ["on", "off", "words", "words_from", "pattern", "except", "mask_nothing"])]
    pub(crate) names: bool,
    /// List only findings of this rule
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub(crate) rule: Option<MaskRule>,
    /// List only findings that contain this
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub(crate) search: String,
    /// Number of findings to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: u32,
    /// Show what the rules would find, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl Mask {
    /// Whether it changes the rules.
    pub(crate) fn changes(&self) -> bool {
        !self.on.is_empty()
            || !self.off.is_empty()
            || self.words.is_some()
            || self.words_from.is_some()
            || self.exact
            || self.any_case
            || self.pattern.is_some()
            || !self.except.is_empty()
            || self.no_exceptions
            || self.mask_nothing
    }
}

fn rule(name: &str) -> Result<MaskRule, String> {
    use strum::VariantArray as _;
    let names = || MaskRule::VARIANTS.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    name.parse().map_err(|_| format!("the rules are {}", names()))
}
