//! Result of `dissensus-bench encode`, as printed and as `--json`.

use serde::Serialize;
use std::path::PathBuf;

/// Figures of all engines on the same texts.
#[derive(Clone, Debug, Serialize)]
pub struct EncodeBench {
    /// Number of texts.
    pub texts: usize,
    /// Number of tokens after truncation, with special tokens and without padding.
    pub tokens: usize,
    /// Threads per engine.
    pub threads: usize,
    /// Number of times that each engine encoded all texts.
    pub rounds: usize,
    /// The engine whose embeddings are the reference for the cosines.
    pub reference: &'static str,
    /// Number of tokens of the text whose latency is measured.
    pub latency_tokens: usize,
    /// The engines, ours first.
    pub engines: Vec<EngineSpeed>,
    /// Peers that were requested and could not run.
    pub missing: Vec<MissingEngine>,
    /// Peak memory on a file of many texts, if one was given.
    pub memory: Option<EncodeMemory>,
}

/// One engine's figures.
#[derive(Clone, Debug, Serialize)]
pub struct EngineSpeed {
    pub engine: &'static str,
    /// Tokens per second in the best round, from text to embedding.
    pub tokens_per_second: f64,
    /// Texts per second in the best round.
    pub texts_per_second: f64,
    /// Speed divided by that of sentence-transformers, if both ran.
    pub over_sentence_transformers: Option<f64>,
    /// Speed divided by that of onnxruntime in fp32, if both ran.
    pub over_onnxruntime: Option<f64>,
    /// Lowest cosine between a text's embedding and the reference embedding.
    pub worst_cosine: Option<f64>,
    /// The mean of these cosines.
    pub mean_cosine: Option<f64>,
    /// Peak resident memory of the process while it encoded, in MiB; `None` where the system does not report
    /// it.
    pub peak_mib: Option<f64>,
    /// Median milliseconds from one text to its embedding.
    pub latency_ms: Option<f64>,
    /// That latency divided by onnxruntime's in fp32: below 1, this engine is faster.
    pub latency_over_onnxruntime: Option<f64>,
}

/// A peer that could not run.
#[derive(Clone, Debug, Serialize)]
pub struct MissingEngine {
    pub engine: &'static str,
    pub why: String,
}

/// Peak memory while many texts are encoded.
#[derive(Clone, Debug, Serialize)]
pub struct EncodeMemory {
    pub file: PathBuf,
    /// Number of distinct texts in the file.
    pub texts: usize,
    /// Our engine and onnxruntime.
    pub engines: Vec<EngineMemory>,
}

/// Memory of one engine in a process that did nothing else.
#[derive(Clone, Debug, Serialize)]
pub struct EngineMemory {
    pub engine: &'static str,
    /// Peak resident memory while it encoded, in MiB; `None` where the system does not report it.
    pub peak_mib: Option<f64>,
    /// Seconds of the single run.
    pub seconds: f64,
}
