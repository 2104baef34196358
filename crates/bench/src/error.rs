//! Errors of the benchmarks.

use dissensus_encoder::EncoderError;
use dissensus_exchange::ExchangeError;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelError;
use dissensus_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

dissensus_domain::errors! {
    /// An error that stops a benchmark.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum BenchError {
        Application(#[from] ProjectError) => transparent;
        Store(#[from] StoreError) => transparent;
        Exchange(#[from] ExchangeError) => transparent;
        Encoder(#[from] EncoderError) => transparent;
        Perspectives(#[from] ModelError) => transparent;
        Scale(#[from] dissensus_domain::ScaleError) => transparent;
        Io { path: PathBuf, doing: &'static str, source: io::Error } => "{doing} {path} failed: {source}";
        Option { name: &'static str, value: String, allowed: &'static str } =>
            "{name} cannot be {value}: it takes {allowed}";
        Peer { peer: &'static str, why: String } => "{peer} did not run: {why}";
    }
}

impl BenchError {
    /// Wraps the error of a file operation, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { path, doing, source }
    }
}
