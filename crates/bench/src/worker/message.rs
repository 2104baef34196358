//! What a worker is asked and what it answers; `peers.py` speaks the same.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One line to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Write the encoder as ONNX, in fp32 and int8.
    Export { encoder: PathBuf, fp32: PathBuf, int8: PathBuf },
    /// Make an engine ready.
    Load(Load),
    /// Encode the file of texts (a JSON list) once, and write the embeddings as little-endian floats.
    Encode { texts: PathBuf, embeddings: PathBuf },
    /// Encode one text `runs` times.
    Latency { text: String, runs: usize },
    /// Train on a batch of token ids for some steps; `policy` says what learns.
    Train { encoder: PathBuf, policy: String, ids: Vec<Vec<u32>>, steps: usize, threads: usize },
}

/// Which engine to load, and what it has to know to give the same embeddings as ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) engine: String,
    pub(crate) encoder: PathBuf,
    /// The exported file, for the engines that read one.
    pub(crate) onnx: Option<PathBuf>,
    pub(crate) threads: usize,
    pub(crate) max_tokens: usize,
    pub(crate) normalised: bool,
}

/// The answer where there is nothing to say.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {}

/// One run over all texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Encoded {
    pub(crate) seconds: f64,
    pub(crate) tokens: usize,
    pub(crate) peak_mib: Option<f64>,
}

/// The time of every run on one text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) milliseconds: Vec<f64>,
}

/// The time of every training step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trained {
    pub(crate) seconds: Vec<f64>,
}

/// The answer to a request that failed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) error: String,
}
