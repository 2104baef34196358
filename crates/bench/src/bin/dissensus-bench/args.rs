//! The command line of the benchmarks.

use clap::{Args, Parser, Subcommand, ValueHint};
use dissensus_bench::LargeStep;
use std::path::PathBuf;

/// Benchmarks of Dissensus: speed on this machine, and quality against held-out labels
#[derive(Parser, Debug)]
#[command(
    name = "dissensus-bench",
    version,
    max_term_width = 100,
    after_help = "Examples:
  cargo xtask bench encode --peers
  cargo xtask bench live --texts 1000 --json

Results go to standard output, progress to standard error."
)]
pub(crate) struct Cli {
    /// Log to standard error: error, warn, info, debug, trace, or a filter such as dissensus_store=debug
    /// [default: RUST_LOG]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    #[command(subcommand)]
    pub(crate) benchmark: Benchmark,
}

/// How a benchmark prints its result.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Benchmark {
    /// Embeddings per second on the CPU
    Encode(Encode),
    /// Milliseconds per training step on the CPU
    Train(Train),
    /// Quality of disagreement measures, against labels of held-out annotators
    Disagreement(Disagreement),
    /// Quality of panel verdicts, on texts held out from every model
    Panel(Panel),
    /// A large project: import, agreement, opening it, labels while models are fitted
    Large(Large),
    /// Latency of one label: on disk, model refitted, ranking up to date
    Live(Live),
    /// Latency of one answer about spans
    LiveSpans(LiveSpans),
    /// Slopes of groups of people on simulated projects: found where groups differ, and not elsewhere
    GroupSlopes(GroupSlopes),
    /// A study with many annotators: task packets written, opened, submitted and merged
    Study(Study),
    /// Predictions and disagreement of all annotators on all texts
    Predict(Predict),
    /// Labels imported per second
    Import(Import),
    /// The same labels imported in every shape of a table
    ImportShapes(ImportShapes),
    /// One step of `large`, in a process of its own
    #[command(hide = true)]
    LargeStep {
        /// Name of the step
        step: LargeStep,
        /// Folder of the project
        folder: PathBuf,
        /// The file of labels
        file: PathBuf,
    },
    /// Answer a benchmark's requests with one of our engines, one line of JSON each
    #[command(hide = true)]
    Worker,
}

#[derive(Args, Debug)]
#[command(
    after_help = "--peers creates a Python environment with pinned versions in the cache folder (once; about 3 GB).
If that fails, the reason is printed and the other engines are measured."
)]
pub(crate) struct Encode {
    /// A file with texts [default: the comments of the sample project]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Maximum number of texts to encode
    #[arg(long)]
    pub(crate) limit: Option<usize>,
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Rounds per engine; the best one counts
    #[arg(long, default_value_t = 2)]
    pub(crate) rounds: usize,
    /// Threads per engine [default: the number of cores]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Also measure sentence-transformers, onnxruntime and candle-transformers, in turns with ours
    #[arg(long)]
    pub(crate) peers: bool,
    /// Also measure peak memory on the texts of this file, ours and onnxruntime's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) memory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Train {
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Texts per batch
    #[arg(long, default_value_t = 16)]
    pub(crate) batch: usize,
    /// Tokens per text
    #[arg(long, default_value_t = 64)]
    pub(crate) tokens: usize,
    /// Steps per round; their median counts
    #[arg(long, default_value_t = 5)]
    pub(crate) steps: usize,
    /// Rounds per engine; the best one counts
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Threads per engine [default: the number of cores]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Also measure PyTorch, in turns with ours
    #[arg(long)]
    pub(crate) peers: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Disagreement {
    /// A file with labels
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Number of random divisions of the labels: of each text's annotators into halves, and of the texts
    #[arg(long, default_value_t = 5)]
    pub(crate) divisions: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Panel {
    /// A file with labels of several annotators per text
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Members of a panel, drawn from those who labelled the text
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) members: u32,
    /// Panels per text
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) panels: u32,
    /// Number of seeds; each holds out another 30 % of the texts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Large {
    /// A file with labels [default: synthetic labels, the same on every machine]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Labels in the synthetic file
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) labels: usize,
    /// Texts in it
    #[arg(long, default_value_t = 200_000)]
    pub(crate) texts: usize,
    /// Annotators in it
    #[arg(long, default_value_t = 2_000)]
    pub(crate) annotators: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Live {
    /// Texts in the synthetic project
    #[arg(long, default_value_t = 10_000)]
    pub(crate) texts: usize,
    /// Annotators in it
    #[arg(long, default_value_t = 262)]
    pub(crate) annotators: usize,
    /// Levels of its scale
    #[arg(long, default_value_t = 5)]
    pub(crate) levels: usize,
    /// Use a multi-label question with this many options instead, 2 to 64
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=64))]
    pub(crate) options: Option<u8>,
    /// Labels to record
    #[arg(long, default_value_t = 500)]
    pub(crate) clicks: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct LiveSpans {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct GroupSlopes {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Study {
    /// Annotators, each with a task packet
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) people: u32,
    /// Texts per annotator
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) texts: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Predict {
    /// Also 100,000 texts x 17,000 annotators, binary, as a rate
    #[arg(long)]
    pub(crate) large: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A file with labels [default: 50,000 synthetic labels]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Also measure a Python script with csv and sqlite3, in turns with ours
    #[arg(long)]
    pub(crate) peers: bool,
    /// Runs of each
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ImportShapes {
    /// Labels in each file
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) labels: usize,
    /// Runs of each
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
