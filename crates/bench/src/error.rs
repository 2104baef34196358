//! Errors of the benchmarks.

use dissensus_encoder::EncoderError;
use dissensus_exchange::ExchangeError;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelError;
use dissensus_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// An error that stops a benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    #[error(transparent)]
    Application(#[from] ProjectError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Perspectives(#[from] ModelError),
    /// The simulated question has no valid scale.
    #[error(transparent)]
    Scale(#[from] dissensus_domain::ScaleError),
    /// Reading or writing one of the benchmark's own files or folders failed.
    #[error("{doing} {} failed: {source}", .path.display())]
    Io {
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        source: io::Error,
    },
    /// The value of an option is out of range.
    #[error("{name} cannot be {value}: it takes {allowed}")]
    Option {
        name: &'static str,
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// Another program could not run.
    #[error("{peer} did not run: {why}")]
    Peer {
        peer: &'static str,
        /// Reason, as far as it is known.
        why: String,
    },
}

impl BenchError {
    /// Wraps the error of a file operation, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { path, doing, source }
    }
}
