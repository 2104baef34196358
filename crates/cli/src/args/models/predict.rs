//! Arguments of `models predict` and `models predictions`.

use crate::args::parse::not_blank;
use crate::args::shared::{EncoderArgs, OF_TEXTS_FILE, OutputArgs, ProjectArg, QuestionArg, TextsFileArgs};
use clap::{ArgGroup, Args, ValueEnum, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models predict P.dissensus --annotator ana --text-id 42
  dissensus models predict P.dissensus --annotator ana --text \"You call that a recipe?\"
  dissensus models predict P.dissensus --annotator ana --text-id 42 --run 3,4
  dissensus models predict P.dissensus --question emotions --text \"What a day\"
  dissensus models predict P.dissensus --texts new.csv --out predicted.parquet
  dissensus models predict P.dissensus --texts new.txt --out predicted.csv --annotators ana,ben
  dissensus models predict --bundle rude-model --texts new.csv --out predicted.csv")]
#[command(group(ArgGroup::new("predicted").args(["text_id", "text", "texts"]).required(true).multiple(false)))]
#[command(group(ArgGroup::new("of_file").args(OF_TEXTS_FILE).args(["annotators", "resume", "bundle"]).multiple(true)
    .conflicts_with_all(["text_id", "text"])))]
pub(crate) struct Predict {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "bundle")]
    pub(crate) project: Option<PathBuf>,
    /// With --texts: use a folder written by `models bundle` instead of a project
    #[arg(long, value_name = "DIR", requires = "texts", value_hint = ValueHint::DirPath,
        conflicts_with_all = ["project", "run", "encoder", "pooling", "precision", "long_texts", "prompt", "prompt_name"])]
    pub(crate) bundle: Option<PathBuf>,
    /// Whose answer to predict; may be omitted for multi-label questions and for the words of a --text
    #[arg(long, value_name = "NAME", conflicts_with = "texts")]
    pub(crate) annotator: Option<String>,
    /// Predict for this text of the project
    #[arg(long, value_name = "ID")]
    pub(crate) text_id: Option<String>,
    /// Predict for this text, which need not be in the project
    #[arg(long, value_parser = not_blank)]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) file: TextsFileArgs,
    /// With --texts: whose answers to predict [default: everybody's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "texts")]
    pub(crate) annotators: Vec<String>,
    /// With --texts: keep embeddings in OUT.embeddings until OUT is complete, so that the command can be
    /// continued after an interruption (not for the words of questions with spans)
    #[arg(long, requires = "texts")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Use the models of these runs instead of the current model; with --texts and several runs, one table
    /// each (OUT-1, OUT-2)
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus models predictions P.dissensus predicted.parquet
  dissensus models predictions P.dissensus predicted.csv --annotators ana,ben
  dissensus models predictions P.dissensus submission --format lewidi-submission --set CSC
  dissensus models predictions P.dissensus submission --format lewidi-submission --set CSC --run 3

One row per text and annotator. The column `observed` marks rows whose answer the model was trained on: \
leave them out when you measure accuracy.")]
pub(crate) struct Predictions {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The file to write (.csv, .tsv, .jsonl, .parquet or .xlsx), or the folder for --format
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) out: PathBuf,
    /// Write the files of a shared task for the official test texts instead of a table
    #[arg(long, value_enum)]
    pub(crate) format: Option<PredictionsFormat>,
    /// Whose answers to predict [default: everybody's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "format")]
    pub(crate) annotators: Vec<String>,
    /// With --format: the data set in the file names: CSC, MP, Par [default: the question's name]
    #[arg(long, requires = "format")]
    pub(crate) set: Option<String>,
    /// Use the models of these runs instead of the current model; several runs give one table each (OUT-1,
    /// OUT-2). With --format a single run [default there: multilevel, fitted on the official training texts]
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    /// With --format: random seed of the model, up to 4294967295
    #[arg(long, default_value_t = 0, conflicts_with = "run")]
    pub(crate) seed: u32,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PredictionsFormat {
    /// SET_test_soft.tsv and SET_test_pe.tsv of LeWiDi 2025
    LewidiSubmission,
}
