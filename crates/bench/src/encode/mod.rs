//! Encoding speed: our engines and those in common use, each in its own process, in turns on the same texts.

mod cosine;
mod field;
mod report;
mod summary;
mod turns;

pub use report::{EncodeBench, EncodeMemory, EngineMemory, EngineSpeed, MissingEngine};

use crate::engine::options;
use crate::error::BenchError;
use crate::figures::cores;
use crate::worker::Launch;
use dissensus_encoder::{Encoder, FreezePolicy, Trainable};
use dissensus_exchange::{Source, guess_roles, read_rows};
use dissensus_project::home::Home;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_training::encoding::encoder_folder;
use field::{Field, Subject};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Target length, in tokens, of the text whose latency is measured (about one comment); the text with the
/// nearest length is used.
const LATENCY_TOKENS: usize = 40;

/// What to encode, and which engines to compare.
#[derive(Clone, Debug, Default)]
pub struct EncodeChoices {
    /// Name or folder of the encoder; `None` for the default.
    pub encoder: Option<String>,
    /// A file with texts; `None` for the comments of the sample project.
    pub file: Option<PathBuf>,
    /// Maximum number of texts.
    pub limit: Option<usize>,
    /// Number of times that each engine encodes all texts; the best counts.
    pub rounds: usize,
    /// Threads per engine; `None` for the number of cores.
    pub threads: Option<usize>,
    /// Also measure other tools.
    pub peers: bool,
    /// A file of many texts, to measure the peak memory of our engine and of onnxruntime.
    pub memory: Option<PathBuf>,
}

/// Measures encoding. `program` is `dissensus-bench`, which runs our engines (`dissensus-bench worker`). A
/// peer that cannot run is left out and reported to `say` in one line, as are all Python peers if their
/// environment cannot be created; progress goes to `say` as well.
///
/// # Errors
/// Fails if there is no encoder, a file cannot be read, or our own engine fails.
pub fn encode(
    home: &Home,
    program: &Path,
    choices: &EncodeChoices,
    say: &dyn Fn(&str),
) -> Result<EncodeBench, BenchError> {
    let dir = encoder_folder(home, choices.encoder.as_deref(), &Silent)?;
    let texts = texts(choices)?;
    let threads = choices.threads.unwrap_or_else(cores).max(1);
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let dir = readable_by_peers(dir, folder.path())?;
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
    summary::made(&field, &laps, texts.len(), choices.rounds.max(1), memory)
}

/// Returns the folder itself, or for a GGUF encoder a copy with the same weights in safetensors, so that
/// every engine reads the same numbers.
fn readable_by_peers(dir: PathBuf, place: &Path) -> Result<PathBuf, BenchError> {
    if dir.join("config.json").is_file() {
        return Ok(dir);
    }
    let trainable = Trainable::open(&dir, &options(Some(1)), &FreezePolicy::Frozen, 0)?;
    // The name must differ from the catalogue's, whose files this folder does not contain.
    let other = place.join(format!("{}-fp32", trainable.version().name));
    trainable.save(&other)?;
    Ok(other)
}

/// Measurement settings for every engine, and the text for the latency.
fn subject(dir: PathBuf, texts: &[String], threads: usize) -> Result<Subject, BenchError> {
    let encoder = Encoder::open(&dir, &options(Some(threads)))?;
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let counts = encoder.count_tokens(&borrowed)?;
    let middle = counts.iter().zip(texts).min_by_key(|(count, _)| count.abs_diff(LATENCY_TOKENS));
    let (latency_tokens, latency_text) =
        middle.map_or((0, String::new()), |(count, text)| (*count, text.clone()));
    let version = encoder.version().clone();
    Ok(Subject { dir, version, threads, tokens: counts.iter().sum(), latency_tokens, latency_text })
}

fn texts(choices: &EncodeChoices) -> Result<Vec<String>, BenchError> {
    let mut texts = match &choices.file {
        Some(file) => texts_of(file)?,
        None => sample::comments()?,
    };
    texts.truncate(choices.limit.unwrap_or(usize::MAX));
    if texts.is_empty() {
        let value = "no text".to_owned();
        return Err(BenchError::Option { name: "FILE", value, allowed: "a file with at least one text" });
    }
    Ok(texts)
}

/// Distinct texts of a file, in file order.
fn texts_of(file: &Path) -> Result<Vec<String>, BenchError> {
    let source = Source::open(file)?;
    let rows = read_rows(&source, &guess_roles(&source)?)?;
    let mut seen = HashSet::new();
    let texts = rows.filter_map(Result::ok).filter_map(|row| row.text);
    Ok(texts.filter(|text| seen.insert(text.clone())).collect())
}
