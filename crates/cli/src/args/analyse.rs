//! `dissensus analyse`: figures about labels, annotators and predictions.

mod disagreement;
mod panel;

pub(crate) use disagreement::{Disagreement, MeasureArg};
pub(crate) use panel::{Panel, PanelBy};

use super::parse::{METHODS, RemovedOccasion, chance, not_blank, occasion, pair};
use super::shared::{EncoderArgs, OutputArgs, ProjectArg, QuestionArg};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum AnalyseCommand {
    /// Rank texts by how much annotators would disagree
    Disagreement(Disagreement),
    /// Measure agreement (Krippendorff's alpha, Fleiss, Cohen, Gwet)
    Agreement(Agreement),
    /// Compare annotators: labels, severity, agreement, accuracy, anomalies
    Annotators(Annotators),
    /// Explain the prediction for one annotator and text
    Explain(Explain),
    /// Attribute disagreement to texts, annotators and their attributes
    WhoDiffers(WhoDiffers),
    /// Compare two groups of annotators over all texts
    CompareGroups(CompareGroups),
    /// Predict the verdicts of a panel of annotators
    Panel(Panel),
    /// Show which words of a text annotators mark, or would mark
    Words(Words),
    /// Correlate the predicted scores of questions over all texts
    CorrelateQuestions(CorrelateQuestions),
    /// Measure how often annotators repeat their answer in re-annotation
    Repeats(Repeats),
    /// List labels that look like slips
    Slips(Slips),
    /// Aggregate the labels of each text (majority, Dawid-Skene, MACE, GLAD)
    Aggregate(Aggregate),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse agreement P.dissensus
  dissensus analyse agreement P.dissensus --pairs 20 --json")]
pub(crate) struct Agreement {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Also Cohen's kappa of every pair of annotators with at least this many texts in common
    #[arg(long, value_name = "TEXTS")]
    pub(crate) pairs: Option<usize>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus analyse annotators P.dissensus --json")]
pub(crate) struct Annotators {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse explain P.dissensus --annotator ana --text-id 42
  dissensus analyse explain P.dissensus --annotator ana --with ben --text-id 42 --words
  dissensus analyse explain P.dissensus --annotator ana --text \"You call that a recipe?\" --json

Prints logits that add up to the model's score, and the labels with the largest influence on it.")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Whose prediction to explain
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: String,
    #[command(flatten)]
    pub(crate) what: ExplainedText,
    /// A second annotator, to explain the difference between the two
    #[arg(long, value_name = "NAME")]
    pub(crate) with: Option<String>,
    /// Ignore the annotators' own labels of this text
    #[arg(long, conflicts_with = "text")]
    pub(crate) without_own: bool,
    /// Also measure the effect of leaving out each word
    #[arg(long)]
    pub(crate) words: bool,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExplainedText {
    /// A text of the project
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: Option<String>,
    /// Any text, which need not be in the project
    #[arg(long, value_parser = not_blank)]
    pub(crate) text: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse who-differs P.dissensus
  dissensus analyse who-differs P.dissensus --question offensiveness --json

p values are corrected for the number of attributes. See also: `analyse compare-groups`.")]
pub(crate) struct WhoDiffers {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Number of annotators to show at each end
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse compare-groups P.dissensus --a gender=Woman --b gender=Man
  dissensus analyse compare-groups P.dissensus --a age=18-24 --a age=25-29 --b age=60-64 --json
  dissensus analyse compare-groups P.dissensus --a annotator=ana --a annotator=ben --b gender=Man

Values of one attribute are alternatives; different attributes must all match. annotator=ID adds one person.
Each group needs five people, who are in that group only, and both groups need ten texts in common.")]
pub(crate) struct CompareGroups {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Members of the first group; may be repeated
    #[arg(long, required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) a: Vec<(String, String)>,
    /// Members of the second group; may be repeated
    #[arg(long, required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) b: Vec<(String, String)>,
    /// Number of texts to show on which A answers higher, and on which B does
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse words P.dissensus --text-id t17
  dissensus analyse words P.dissensus --question passages --type insult --text-id t17
  dissensus analyse words P.dissensus --question passages --out words.csv

First fits a model of words to all answers; this takes minutes unless the encoder was tuned on words.")]
pub(crate) struct Words {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The question with spans, or one of its types: "passages: insult" [default: the only question]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Option<String>,
    /// Only spans of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) of_type: Option<String>,
    /// The text
    #[arg(long, value_name = "ID", required_unless_present = "out")]
    pub(crate) text_id: Option<String>,
    /// Write a table of all texts (.csv, .tsv, .jsonl, .parquet, .xlsx), one row per word and type
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "text_id")]
    pub(crate) out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse correlate-questions P.dissensus
  dissensus analyse correlate-questions P.dissensus --questions offensive,emotions --json
  dissensus analyse correlate-questions P.dissensus --run 3,4

A score is the mean predicted level over annotators, or the mean probability of yes or of an option.")]
pub(crate) struct CorrelateQuestions {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The questions [default: all with labels]; repeat the option for names that contain a comma
    #[arg(long, value_name = "QUESTION,QUESTION")]
    pub(crate) questions: Vec<String>,
    /// Use the scores of these finished runs, one per question, instead of the current models
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',', conflicts_with = "questions")]
    pub(crate) run: Vec<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse repeats P.dissensus
  dissensus analyse repeats P.dissensus --remove 2
  dissensus analyse repeats P.dissensus --remove all

`study assign --repeat` asks texts again, and `data import --occasion` imports re-annotations.")]
pub(crate) struct Repeats {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Remove the answers of an annotation round (2, 3, ...), or of all rounds after the first
    #[arg(long, value_name = "ROUND|all", value_parser = occasion)]
    pub(crate) remove: Option<RemovedOccasion>,
    /// Number of annotators to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Also estimate how much of the model's residual variance is stable over rounds (fits the models)
    #[arg(long)]
    pub(crate) stable_share: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse slips P.dissensus
  dissensus analyse slips P.dissensus --annotator ana --below 0.01

A slip is improbable for its annotator and for everybody else. Labels that only fit their annotator are \
listed as contested.")]
pub(crate) struct Slips {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Only labels of this annotator
    #[arg(long, value_name = "NAME")]
    pub(crate) annotator: Option<String>,
    /// Probability at or below which a label is unusual for its annotator
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.05, value_parser = chance)]
    pub(crate) below: f64,
    /// Number of slips and of contested labels to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Include unusual labels that chance explains (by default, at most a tenth of the list)
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus analyse aggregate P.dissensus
  dissensus analyse aggregate P.dissensus --method mace --json")]
pub(crate) struct Aggregate {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Aggregation method
    #[arg(long, value_parser = METHODS, default_value = "dawid-skene")]
    pub(crate) method: String,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Number of texts and annotators to show; --json prints all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
