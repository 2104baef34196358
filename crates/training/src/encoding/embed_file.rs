//! Embeddings of texts that are not in a project.

use super::encoders::EncoderChoice;
use super::text_encoder::TextEncoder;
use super::text_file::{CheckedTexts, TextFileChoices};
use dissensus_exchange::VectorWriter;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Summary of a written file of embeddings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmbeddedFile {
    /// The file of embeddings.
    pub file: PathBuf,
    /// The file of ids that belongs to a `.npy`.
    pub ids_file: Option<PathBuf>,
    /// The encoder version.
    pub encoder: String,
    /// The device of the computation.
    pub device: String,
    /// Texts, one embedding each.
    pub texts: u64,
    /// Components of an embedding.
    pub dim: usize,
    /// Bad rows that were left out.
    pub bad_rows: u64,
    /// Tokens computed.
    pub tokens: u64,
    /// Texts truncated at the encoder's longest input.
    pub cut: u64,
    /// Texts longer than the encoder reads at once whose embedding is the mean over windows.
    pub averaged: u64,
    /// Seconds of encoding, without opening the encoder.
    pub seconds: f64,
    /// A note, for example on a device that could not be used.
    pub note: Option<String>,
}

/// Writes an embedding of each text of a file, in the file's order, atomically: `.npy`, `.parquet` or
/// `.jsonl` by the extension of `out`. With `replace` existing files of these names are overwritten.
///
/// # Errors
/// A file that exists already (without `replace`) or is the input file; one that cannot be read or has bad
/// rows; no encoder; a text that cannot be encoded; a full disk; cancellation.
pub fn embed_file(
    home: &Home,
    texts: &TextFileChoices,
    out: &Path,
    replace: bool,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<EmbeddedFile, ProjectError> {
    VectorWriter::check(out)?;
    let ids = VectorWriter::ids_path(out);
    let outputs: Vec<&Path> = std::iter::once(out).chain(ids.as_deref()).collect();
    check_outputs(&outputs, &[texts.path.as_path()], replace)?;
    embed(home, texts, out, replace, choice, progress).map_err(ProjectError::all_or_nothing)
}

fn embed(
    home: &Home,
    texts: &TextFileChoices,
    out: &Path,
    replace: bool,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<EmbeddedFile, ProjectError> {
    let checked = CheckedTexts::open(texts, progress)?;
    let opened = TextEncoder::open(home, choice, progress)?;
    let encoder = opened.encoder();
    let version = encoder.version();
    let mut file = VectorWriter::create(out, checked.texts(), version.dim)?;
    let started = Instant::now();
    let done = checked.encode(encoder, progress, |text, embedding| Ok(file.write(&text.id, &embedding)?))?;
    file.finish(replace)?;
    Ok(EmbeddedFile {
        file: out.to_owned(),
        ids_file: VectorWriter::ids_path(out),
        encoder: version.key(),
        device: encoder.device_name().to_owned(),
        texts: checked.texts(),
        dim: version.dim,
        bad_rows: checked.bad(),
        tokens: done.tokens as u64,
        cut: done.cut as u64,
        averaged: done.averaged as u64,
        seconds: started.elapsed().as_secs_f64(),
        note: encoder.device_note().map(str::to_owned),
    })
}
