//! Arguments of `models evaluate`.

use crate::args::parse::split;
use crate::args::shared::{EncoderArgs, OutputArgs, ProjectArg, QuestionArg};
use clap::{Args, ValueEnum};
use dissensus_selection::evaluation::SplitSpec;

/// Annotator models, from simple to complex.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelArg {
    /// One head, trained on the majority label of each text
    Majority,
    /// One head, trained on all labels
    Shared,
    /// One head for each annotator
    SepHeads,
    /// Text and annotator vectors through a feed-forward network
    ShareRecFfn,
    /// Text and annotator vectors through a Deep & Cross Network
    ShareRecDcn,
    /// Shared head, annotator and text effects with learned shrinkage
    Multilevel,
    /// Every model that supports the question's scale
    All,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models evaluate P.dissensus
  dissensus models evaluate P.dissensus --models shared,multilevel --seed 3 --json
  dissensus models evaluate P.dissensus --split column
  dissensus models evaluate P.dissensus --at-least 3
  dissensus models evaluate P.dissensus --new-annotators 0,1,2,5,10,20")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Models to compare
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub(crate) models: Vec<ModelArg>,
    /// How to split labels into training and test labels: by-text:SHARE, stratified:SHARE, grouped:SHARE (by
    /// the texts' groups), random:SHARE, by-annotator:SHARE (unseen annotators), by-text-and-annotator:SHARE,
    /// k-fold:FOLDS (all folds, scored together), k-fold:FOLDS/FOLD, or column (the official split). SHARE is
    /// the training share [default: column if there is an official split, else by-text:0.7]
    #[arg(long, value_parser = split)]
    pub(crate) split: Option<SplitSpec>,
    /// Which encoder layers to train: frozen, last-K, lora, lora-RANK, full, or prompt-N for a soft prompt of
    /// N vectors. All but frozen train each model as a run
    #[arg(long, default_value = "frozen")]
    pub(crate) tuning: String,
    /// Random seed of the split and the models, up to 4294967295
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// Score an ordinal question as yes/no: is the label LEVEL or higher?
    #[arg(long, value_name = "LEVEL")]
    pub(crate) at_least: Option<String>,
    /// Measure cold start: hold out some annotators, and train on this many labels of each, such as
    /// 0,1,2,5,10,20
    #[arg(long, value_delimiter = ',', value_name = "LABELS", conflicts_with_all = ["split", "tuning"])]
    pub(crate) new_annotators: Vec<usize>,
    /// With --new-annotators: also hold out this share of the texts [default: none]
    #[arg(long, value_name = "SHARE", requires = "new_annotators")]
    pub(crate) new_texts: Option<f64>,
    /// Also measure coverage and size of 90 % prediction sets (conformal, by multilevel)
    #[arg(long, conflicts_with_all = ["new_annotators", "tuning"])]
    pub(crate) prediction_sets: bool,
    /// Leave out, on texts with a slip (`label decide --outcome slip --value ...`), the labels of all people
    /// that are not the decided answer
    #[arg(long, conflicts_with = "new_annotators")]
    pub(crate) without_slips: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}
