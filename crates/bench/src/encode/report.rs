//! What `dissensus-bench encode` prints; `--json` prints exactly this.

use serde::Serialize;
use std::path::PathBuf;

/// The engines on the same texts.
#[derive(Clone, Debug, Serialize)]
pub struct EncodeBench {
    /// Texts.
    pub texts: usize,
    /// Tokens of them after cutting, special tokens counted and padding not.
    pub tokens: usize,
    /// Threads of every engine.
    pub threads: usize,
    /// Times that each encoded all texts.
    pub rounds: usize,
    /// The engine whose embeddings the cosines are taken with.
    pub reference: &'static str,
    /// Tokens of the one text whose latency is measured.
    pub latency_tokens: usize,
    /// The engines, ours first.
    pub engines: Vec<EngineSpeed>,
    /// Peers that were asked for and could not run.
    pub missing: Vec<MissingEngine>,
    /// Peak memory on a file of many texts, where one was named.
    pub memory: Option<EncodeMemory>,
}

/// One engine's figures.
#[derive(Clone, Debug, Serialize)]
pub struct EngineSpeed {
    /// Its name.
    pub engine: &'static str,
    /// Tokens of all texts by the time of its best round, from text to embedding.
    pub tokens_per_second: f64,
    /// Texts by that time.
    pub texts_per_second: f64,
    /// Its speed over that of sentence-transformers, where both ran.
    pub over_sentence_transformers: Option<f64>,
    /// Its speed over that of onnxruntime in fp32, where both ran.
    pub over_onnxruntime: Option<f64>,
    /// The least cosine of any text's embedding with the reference's.
    pub worst_cosine: Option<f64>,
    /// The mean of these cosines.
    pub mean_cosine: Option<f64>,
    /// Highest resident memory of its process while it encoded, in MiB; none where the system does not tell.
    pub peak_mib: Option<f64>,
    /// Median milliseconds from one text to its embedding.
    pub latency_ms: Option<f64>,
    /// That time over onnxruntime's in fp32: below 1 it is quicker.
    pub latency_over_onnxruntime: Option<f64>,
}

/// A peer that could not run.
#[derive(Clone, Debug, Serialize)]
pub struct MissingEngine {
    /// Its name.
    pub engine: &'static str,
    /// Why.
    pub why: String,
}

/// Peak memory while many texts are encoded.
#[derive(Clone, Debug, Serialize)]
pub struct EncodeMemory {
    /// The file.
    pub file: PathBuf,
    /// Different texts in it.
    pub texts: usize,
    /// Ours and onnxruntime's.
    pub engines: Vec<EngineMemory>,
}

/// One engine's memory, in a process that did nothing else.
#[derive(Clone, Debug, Serialize)]
pub struct EngineMemory {
    /// Its name.
    pub engine: &'static str,
    /// Highest resident memory while it encoded, in MiB; none where the system does not tell.
    pub peak_mib: Option<f64>,
    /// The one run's time.
    pub seconds: f64,
}
