//! Why a benchmark could not run.

use dissensus_encoder::EncoderError;
use dissensus_exchange::ExchangeError;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelError;
use dissensus_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// What kept a benchmark from running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A use case.
    #[error(transparent)]
    Application(#[from] ProjectError),
    /// The project file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of texts or labels.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// An encoder.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// A model of annotators.
    #[error(transparent)]
    Perspectives(#[from] ModelError),
    /// A made-up question has no scale.
    #[error(transparent)]
    Scale(#[from] dissensus_domain::ScaleError),
    /// A file or folder of ours.
    #[error("{doing} {} failed: {source}", .path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// An option out of its range.
    #[error("{name} cannot be {value}: it takes {allowed}")]
    Option {
        /// Which one.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        allowed: &'static str,
    },
    /// Another program could not run.
    #[error("{peer} did not run: {why}")]
    Peer {
        /// The other program.
        peer: &'static str,
        /// What happened.
        why: String,
    },
}

impl BenchError {
    /// The error of an operation on a file, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { path, doing, source }
    }
}
