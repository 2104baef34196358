//! Requests to a worker and its responses; `peers.py` uses the same format.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A request to a worker, on one line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Export the encoder as ONNX, in fp32 and int8.
    Export { encoder: PathBuf, fp32: PathBuf, int8: PathBuf },
    /// Load an engine.
    Load(Load),
    /// Encode the file of texts (a JSON list) once, and write the embeddings as little-endian floats.
    Encode { texts: PathBuf, embeddings: PathBuf },
    /// Encode one text `runs` times.
    Latency { text: String, runs: usize },
    /// Train on a batch of token ids for some steps; `policy` selects the parts that are trained.
    Train { encoder: PathBuf, policy: String, ids: Vec<Vec<u32>>, steps: usize, threads: usize },
}

/// Which engine to load, and the settings with which it gives the same embeddings as ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) engine: String,
    pub(crate) encoder: PathBuf,
    /// The exported file, for engines that read one.
    pub(crate) onnx: Option<PathBuf>,
    pub(crate) threads: usize,
    pub(crate) max_tokens: usize,
    pub(crate) normalised: bool,
}

/// An empty response.
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
