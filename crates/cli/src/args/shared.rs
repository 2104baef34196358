//! Arguments that many commands share.

use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// The project file of a command.
#[derive(Args, Debug)]
pub(crate) struct ProjectArg {
    /// The project file
    #[arg(id = "project", value_name = "PROJECT", value_hint = ValueHint::FilePath)]
    pub(crate) path: PathBuf,
}

/// The question of a command that works on one.
#[derive(Args, Debug)]
pub(crate) struct QuestionArg {
    /// The question [default: the only one in the project]
    #[arg(id = "question", long = "question", value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// How a command prints its result.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// How long a command waits for a project that is open elsewhere.
#[derive(Args, Debug)]
pub(crate) struct WaitArg {
    /// Wait up to this many seconds while another program has the project open
    #[arg(id = "wait", long = "wait", value_name = "SECONDS", default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) seconds: u64,
}

/// The passphrase of encrypted files that a command reads.
#[derive(Args, Debug)]
pub(crate) struct PassphraseArg {
    /// Read the passphrase of encrypted files from the first line of this file
    /// [default: $DISSENSUS_PASSPHRASE, else asked for]
    #[arg(id = "passphrase_file", long = "passphrase-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// Whether and with which passphrase a command encrypts the file that it writes.
#[derive(Args, Debug)]
pub(crate) struct EncryptArgs {
    /// Encrypt what is written with a passphrase, for any tool of the age format
    #[arg(long)]
    pub(crate) encrypt: bool,
    /// Encrypt with the passphrase in the first line of this file
    /// [default with --encrypt: $DISSENSUS_PASSPHRASE, else asked for]
    #[arg(id = "passphrase_file", long = "passphrase-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// Commands that take a project and nothing else.
#[derive(Args, Debug)]
pub(crate) struct Reading {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which encoder to use, and how.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Encoder")]
pub(crate) struct EncoderArgs {
    /// A name, a folder (config.json, tokenizer.json, model.safetensors), a .gguf file, a model hub
    /// repository (owner/name), or another project whose tuned encoder to reuse: FILE.dissensus, or
    /// FILE.dissensus#RUN for that of one run [default: the project's encoder, else all-MiniLM-L6-v2]
    #[arg(long, value_name = "NAME|DIR|PROJECT")]
    pub(crate) encoder: Option<String>,
    /// How token vectors are combined into one text vector
    /// [default: the project's setting for this encoder, else the encoder's own]
    #[arg(long, value_enum)]
    pub(crate) pooling: Option<PoolingArg>,
    /// Device to compute on; auto picks cuda, then metal, then cpu
    #[arg(long, value_enum, default_value_t)]
    pub(crate) device: DeviceArg,
    /// Numerical precision; fast means 8-bit on CPUs with AVX-512 VNNI or AVX-VNNI, fp32 on other CPUs and
    /// 16-bit on a GPU [default: the project's setting for this encoder, else fp32]
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
    /// How to encode texts longer than the encoder's limit: average over overlapping windows, or truncate
    /// [default: the project's setting for this encoder, else average]
    #[arg(long, value_enum)]
    pub(crate) long_texts: Option<LongTextsArg>,
    /// Text to put before every text, such as "query: "; "" for none
    /// [default: the project's setting for this encoder, else the encoder's default prompt]
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Put the prompt of this name before every text (from the encoder's config_sentence_transformers.json)
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    pub(crate) prompt_name: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum LongTextsArg {
    Average,
    Truncate,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PoolingArg {
    Mean,
    Cls,
    Last,
    Max,
    Mean2,
    Max2,
    Pooler,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PrecisionArg {
    Fp32,
    Fast,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum DeviceArg {
    #[default]
    Auto,
    Cpu,
    Cuda,
    Metal,
}

/// Arguments of [`TextsFileArgs`] that go with `--texts`. Clap does not require what conflicts with another
/// argument, so that these need a group that conflicts with that one too.
pub(crate) const OF_TEXTS_FILE: [&str; 5] = ["out", "text_column", "text_id_column", "skip_bad", "force"];

/// A file of texts that a command reads in addition to a project, and the file that it writes about them.
#[derive(Args, Debug)]
pub(crate) struct TextsFileArgs {
    /// Use every text of this file: a table (CSV, TSV, JSON Lines, Parquet, XLSX, ODS), or one text per line
    /// (.txt)
    #[arg(long, value_name = "FILE", requires = "out", value_hint = ValueHint::FilePath)]
    pub(crate) texts: Option<PathBuf>,
    /// With --texts: the file to write; its extension sets the format: .csv, .tsv, .jsonl, .parquet or .xlsx
    #[arg(long, value_name = "FILE", requires = "texts", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// With --texts: column that holds the text [default: detected]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_column: Option<String>,
    /// With --texts: column that holds the text id [default: detected]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_id_column: Option<String>,
    /// With --texts: skip rows that cannot be read; without it, such rows stop the command before it writes
    /// anything
    #[arg(long, requires = "texts")]
    pub(crate) skip_bad: bool,
    /// With --texts: replace an existing file
    #[arg(long, requires = "texts")]
    pub(crate) force: bool,
}

/// Which columns of a file hold texts and their ids.
#[derive(Args, Debug, Default)]
pub(crate) struct TextColumnArgs {
    /// Column that holds the text [default: detected]
    #[arg(long, visible_alias = "text", value_name = "COLUMN")]
    pub(crate) text_column: Option<String>,
    /// Column that holds the text id [default: detected]
    #[arg(long, visible_alias = "text-id", value_name = "COLUMN")]
    pub(crate) text_id_column: Option<String>,
    /// Skip rows that cannot be read; without it, such rows stop the command before it writes anything
    #[arg(long)]
    pub(crate) skip_bad: bool,
}
