//! Encoding: our engines beside those that people use today, each in its own process, in turns on the same texts.

mod cosine;
mod field;
mod report;
mod turns;

pub use report::{EncodeBench, EncodeMemory, EngineMemory, EngineSpeed, MissingEngine};

use super::cores;
use super::worker::Launch;
use crate::encoding::encoders;
use crate::error::WorkbenchError;
use crate::home::Home;
use crate::jobs::Unwatched;
use dissensus_encoder::Encoder;
use dissensus_encoder::bench::options;
use dissensus_exchange::{Source, guess_roles, read_rows};
use field::{Field, Subject};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Tokens of the text whose latency is measured, or as near as the texts come: a comment of some length.
const LATENCY_TOKENS: usize = 40;
/// The engine that all embeddings are held against where it runs.
const REFERENCE: &str = "sentence-transformers";

/// What to encode, and beside whom.
#[derive(Clone, Debug, Default)]
pub struct EncodeChoices {
    /// Name or folder of the encoder; none: the default.
    pub encoder: Option<String>,
    /// A file with texts; none: the sample's comments.
    pub file: Option<PathBuf>,
    /// At most so many texts.
    pub limit: Option<usize>,
    /// Times that each engine encodes all texts; the best counts.
    pub rounds: usize,
    /// Threads of every engine; none: the machine's cores.
    pub threads: Option<usize>,
    /// Also the other engines.
    pub peers: bool,
    /// A file of many texts, for the peak memory of ours and of onnxruntime.
    pub memory: Option<PathBuf>,
}

/// Measures encoding. `program` is the `dissensus` command, of which our engines are started (`dissensus bench worker`).
/// A peer that cannot run is told to `say` in one line and left out, and so are all Python peers where their environment
/// cannot be made; progress goes there too.
///
/// # Errors
/// No encoder, a file that cannot be read, or our own engine fails.
pub fn encode(
    home: &Home,
    program: &Path,
    choices: &EncodeChoices,
    say: &dyn Fn(&str),
) -> Result<EncodeBench, WorkbenchError> {
    let dir = encoders::find_or_fetch(home, choices.encoder.as_deref(), None, &Unwatched)?.dir;
    let texts = texts(choices)?;
    let threads = choices.threads.unwrap_or_else(cores).max(1);
    let folder = tempfile::tempdir().map_err(|source| io(&std::env::temp_dir(), source))?;
    let subject = subject(dir, &texts, threads)?;
    let mut field = Field::new(subject, Launch::ours(program, threads), folder.path(), say);
    field.enter_ours()?;
    if choices.peers {
        field.enter_peers(home.cache());
    }
    let laps = turns::run(&mut field, &texts, choices.rounds.max(1))?;
    let memory = match &choices.memory {
        Some(file) => Some(turns::memory(&mut field, file, &texts_of(file)?)?),
        None => None,
    };
    report::made(&field, &laps, texts.len(), choices.rounds.max(1), memory)
}

/// What every engine has to know, and the text for the latency.
fn subject(dir: PathBuf, texts: &[String], threads: usize) -> Result<Subject, WorkbenchError> {
    let encoder = Encoder::open(&dir, &options(Some(threads)))?;
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let counts = encoder.count_tokens(&borrowed)?;
    let middle = counts.iter().zip(texts).min_by_key(|(count, _)| count.abs_diff(LATENCY_TOKENS));
    let (latency_tokens, latency_text) =
        middle.map_or((0, String::new()), |(count, text)| (*count, text.clone()));
    let version = encoder.version().clone();
    Ok(Subject { dir, version, threads, tokens: counts.iter().sum(), latency_tokens, latency_text })
}

fn texts(choices: &EncodeChoices) -> Result<Vec<String>, WorkbenchError> {
    let mut texts = match &choices.file {
        Some(file) => texts_of(file)?,
        None => crate::sample::comments()?,
    };
    texts.truncate(choices.limit.unwrap_or(usize::MAX));
    if texts.is_empty() {
        let value = "no text".to_owned();
        return Err(WorkbenchError::Setting {
            name: "file",
            value,
            allowed: "a file with at least one text".into(),
        });
    }
    Ok(texts)
}

/// The different texts of a file, in its order.
fn texts_of(file: &Path) -> Result<Vec<String>, WorkbenchError> {
    let source = Source::open(file)?;
    let rows = read_rows(&source, &guess_roles(&source)?)?;
    let mut seen = HashSet::new();
    let texts = rows.filter_map(Result::ok).filter_map(|row| row.text);
    Ok(texts.filter(|text| seen.insert(text.clone())).collect())
}

fn io(path: &Path, source: std::io::Error) -> WorkbenchError {
    WorkbenchError::Io { path: path.to_owned(), doing: "writing", source }
}
