//! Engines that run in this process: the product's own encoder, and candle-transformers' BERT.

mod candle;
mod steps;

pub(crate) use steps::step_times;

use crate::error::BenchError;
use crate::figures::Peak;
use candle::CandleBert;
use dissensus_encoder::{
    BatchPlan, Catalogue, DeviceChoice, Encoder, EncoderError, EncoderOptions, LongTexts, Pooling,
    PrecisionChoice,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// An engine that runs in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EngineKind {
    /// Our encoder, as the product encodes a project.
    Fp32,
    /// Our encoder in the fast precision.
    Fast,
    /// candle-transformers' BERT; texts sorted by length as well, in batches of 32 padded to the longest.
    CandleTransformers,
}

impl EngineKind {
    /// All engines, ours first.
    pub(crate) const ALL: [Self; 3] = [Self::Fp32, Self::Fast, Self::CandleTransformers];

    /// The name in the benchmark's table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "dissensus fp32",
            Self::Fast => "dissensus fast",
            Self::CandleTransformers => "candle-transformers",
        }
    }

    /// Whether it is an engine of the product.
    pub(crate) fn is_ours(self) -> bool {
        self != Self::CandleTransformers
    }

    /// Whether the engine offers this encoder: some in the catalogue lose too much in the fast precision.
    pub(crate) fn is_offered(self, encoder: &str) -> bool {
        let known = Catalogue::embedded().ok().and_then(|catalogue| catalogue.get(encoder).cloned());
        self != Self::Fast || known.is_none_or(|known| known.fast)
    }

    /// Returns the engine with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An engine with its weights loaded, on the CPU, with mean pooling.
pub(crate) struct Engine {
    inner: Inner,
}

enum Inner {
    Ours(Box<Encoder>),
    Candle(Box<CandleBert>),
}

/// One timed run over all texts.
#[derive(Clone, Debug)]
pub(crate) struct EncodeRun {
    /// Time from text to embedding.
    pub(crate) seconds: f64,
    /// Embeddings in the order of the texts.
    pub(crate) embeddings: Vec<Vec<f32>>,
    /// Peak resident memory of the process during the run, in MiB; `None` where the system does not report
    /// it.
    pub(crate) peak_mib: Option<f64>,
}

impl Engine {
    /// Loads the encoder in `dir`. `threads` applies to our engines only: candle-transformers uses the
    /// process's rayon threads.
    ///
    /// # Errors
    /// Fails as `Encoder::open` does; candle-transformers also if the folder contains no BERT.
    pub(crate) fn open(kind: EngineKind, dir: &Path, threads: usize) -> Result<Self, BenchError> {
        let ours = |precision| {
            let options = EncoderOptions { precision, ..options(Some(threads)) };
            Ok::<_, EncoderError>(Inner::Ours(Box::new(Encoder::open(dir, &options)?)))
        };
        let inner = match kind {
            EngineKind::Fp32 => ours(options(None).precision)?,
            EngineKind::Fast => ours(PrecisionChoice::Fast)?,
            EngineKind::CandleTransformers => {
                let version = Encoder::open(dir, &options(Some(1)))?.version().clone();
                Inner::Candle(Box::new(CandleBert::open(dir, &version)?))
            }
        };
        Ok(Self { inner })
    }

    /// Number of tokens in all texts after truncation, with special tokens and without padding.
    pub(crate) fn count_tokens(&self, texts: &[&str]) -> Result<usize, BenchError> {
        Ok(match &self.inner {
            Inner::Ours(encoder) => encoder.count_tokens(texts)?.iter().sum(),
            Inner::Candle(peer) => peer.ids(texts)?.iter().map(Vec::len).sum(),
        })
    }

    /// Encodes all texts once and measures time and memory.
    pub(crate) fn encode(&self, texts: &[&str]) -> Result<EncodeRun, BenchError> {
        let memory = Peak::reset();
        let start = Instant::now();
        let embeddings = match &self.inner {
            Inner::Ours(encoder) => stream_all(encoder, texts)?,
            Inner::Candle(peer) => peer.encode(texts)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(EncodeRun { seconds, embeddings, peak_mib: memory.read() })
    }

    /// Milliseconds of each of `runs` runs on one text, after one warm-up run.
    pub(crate) fn latency(&self, text: &str, runs: usize) -> Result<Vec<f64>, BenchError> {
        let once = || -> Result<f64, BenchError> {
            let start = Instant::now();
            match &self.inner {
                Inner::Ours(encoder) => encoder.encode(&[text])?,
                Inner::Candle(peer) => peer.encode(&[text])?,
            };
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        once()?;
        (0..runs).map(|_| once()).collect()
    }
}

/// Options of our encoder in this benchmark: the same pooling as for every other engine.
pub(crate) fn options(threads: Option<usize>) -> EncoderOptions {
    EncoderOptions {
        pooling: Some(Pooling::Mean),
        device: DeviceChoice::Cpu,
        // As the peers do.
        long_texts: LongTexts::Truncate,
        threads,
        ..EncoderOptions::default()
    }
}

/// Encodes as a job, the way the product encodes a project.
fn stream_all(encoder: &Encoder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
    let mut all = vec![Vec::new(); texts.len()];
    encoder.encode_stream(texts, &BatchPlan::default(), |batch| {
        for (index, embedding) in batch.indices.into_iter().zip(batch.embeddings) {
            all[index] = embedding;
        }
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

#[cfg(test)]
pub(crate) fn tiny() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_agree_on_the_tiny_checkpoint() {
        let texts = ["this is not fair", "good", "", "you are bad and this comment is not good at all"];
        let kinds = [EngineKind::Fp32, EngineKind::CandleTransformers];
        let [ours, peer] = kinds.map(|kind| Engine::open(kind, &tiny(), 2).unwrap());
        assert_eq!(ours.count_tokens(&texts).unwrap(), peer.count_tokens(&texts).unwrap());
        let (ours, peer) = (ours.encode(&texts).unwrap(), peer.encode(&texts).unwrap());
        assert_eq!(ours.embeddings.len(), texts.len());
        assert!(ours.seconds > 0.0 && peer.seconds > 0.0);
        for (a, b) in ours.embeddings.iter().flatten().zip(peer.embeddings.iter().flatten()) {
            assert!((a - b).abs() < 1e-4, "{a} is not {b}");
        }
    }

    #[test]
    fn engines_truncate_long_texts_equally() {
        let long = "this is not fair ".repeat(40);
        let kinds = [EngineKind::Fp32, EngineKind::CandleTransformers];
        let [ours, peer] = kinds.map(|kind| Engine::open(kind, &tiny(), 1).unwrap());
        assert_eq!(ours.count_tokens(&[&long]).unwrap(), peer.count_tokens(&[&long]).unwrap());
    }

    #[test]
    fn every_measured_run_has_a_latency() {
        let engine = Engine::open(EngineKind::Fp32, &tiny(), 1).unwrap();
        let times = engine.latency("this is not fair", 3).unwrap();
        assert!(times.len() == 3 && times.iter().all(|time| *time > 0.0), "{times:?}");
    }

    #[test]
    fn engines_are_found_by_their_names() {
        for kind in EngineKind::ALL {
            assert_eq!(EngineKind::named(kind.name()), Some(kind));
        }
        assert_eq!(EngineKind::named("dissensus"), None);
    }
}
