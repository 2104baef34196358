//! Arguments of `models train`.

use crate::args::parse::{auxiliary, frozen_part, model, split};
use crate::args::shared::{EncoderArgs, OutputArgs, ProjectArg, QuestionArg};
use clap::{Args, ValueHint};
use dissensus_api::{AuxiliaryQuestion, TrainOptions};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models train P.dissensus
  dissensus models train P.dissensus --split by-text:0.7 --seed 1
  dissensus models train P.dissensus --tuning full --auxiliary other.dissensus#rude
  dissensus models train P.dissensus --tuning full --questions emotions,offensive --weights 1,0.5

Without options, multilevel is fitted on all labels and becomes the project's model. With any option a \
training run is made, which is scored on test labels and listed by `models runs list`.")]
pub(crate) struct Train {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Model: majority, shared, sep-heads, share-rec-ffn, share-rec-dcn or multilevel [default for a run:
    /// multilevel]
    #[arg(long, value_parser = model)]
    pub(crate) model: Option<ModelKind>,
    /// Which encoder layers to train: frozen, last-K, lora, lora-RANK, full, or prompt-N for a soft prompt of
    /// N vectors [default for a run: frozen]
    #[arg(long)]
    pub(crate) tuning: Option<String>,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Questions to train jointly on one encoder, with a head for each (and for each option or span type);
    /// repeat the option for names that contain a comma
    #[arg(long, value_name = "QUESTION,QUESTION", conflicts_with_all = ["question", "auxiliary"])]
    pub(crate) questions: Vec<String>,
    /// Part to keep fixed; may be repeated: encoder (as with --tuning frozen), or QUESTION=RUN for the head
    /// of that run
    #[arg(long, value_name = "encoder|QUESTION=RUN", value_parser = frozen_part)]
    pub(crate) freeze: Vec<String>,
    /// Weights of the mean losses of --questions, in their order [default: 1 each]
    #[arg(
        long,
        value_name = "WEIGHT,WEIGHT",
        value_delimiter = ',',
        requires = "questions",
        allow_negative_numbers = true
    )]
    pub(crate) weights: Vec<f64>,
    /// How to split labels into training and test labels: see `models evaluate --help`; k-fold needs a fold
    /// [default: column if there is an official split, else by-text:0.7]
    #[arg(long, value_parser = split)]
    pub(crate) split: Option<SplitSpec>,
    /// Random seed of the run, up to 4294967295 [default for a run: 0]
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// Question of another project whose labels also train the encoder: FILE, or FILE#QUESTION if it has
    /// several; may be repeated. Needs --tuning
    #[arg(long, value_name = "PROJECT[#QUESTION]", value_parser = auxiliary, value_hint = ValueHint::FilePath)]
    pub(crate) auxiliary: Vec<AuxiliaryQuestion>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) options: TrainOptions,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}
