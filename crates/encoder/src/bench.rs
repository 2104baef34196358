//! What `dissensus bench encode` times in this crate: our own way from texts to embeddings, and candle-transformers' BERT
//! with our tokenizer and pooling. Needs the feature `bench`.

mod train;

pub use train::step_times;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use candle_core::{DType, Device, Result as CandleResult, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::batches::BatchPlan;
use crate::encoder::Encoder;
use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder, WEIGHTS};
use crate::options::{DeviceChoice, EncoderOptions, LongTexts, Pooling, PrecisionChoice};
use crate::pooling::pool;
use crate::tokens::{Input, Tokens};

/// Texts in one of the peer's batches, as its examples have it.
const PEER_BATCH: usize = 32;

/// An engine that runs in this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Ours, as the product encodes a project.
    Fp32,
    /// The same in the fast precision.
    Fast,
    /// candle-transformers' BERT, its texts sorted by length too, in batches of 32 padded to the longest.
    CandleTransformers,
}

impl EngineKind {
    /// All of them, ours first.
    pub const ALL: [Self; 3] = [Self::Fp32, Self::Fast, Self::CandleTransformers];

    /// The name in the benchmark's table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "dissensus fp32",
            Self::Fast => "dissensus fast",
            Self::CandleTransformers => "candle-transformers",
        }
    }

    /// Whether it is an engine of the product.
    #[must_use]
    pub fn is_ours(self) -> bool {
        self != Self::CandleTransformers
    }

    /// Whether the encoder of this name is offered by it: one of the catalogue may lose too much by the fast precision.
    #[must_use]
    pub fn is_offered(self, encoder: &str) -> bool {
        let known = crate::catalogue::Catalogue::embedded()
            .ok()
            .and_then(|catalogue| catalogue.get(encoder).cloned());
        self != Self::Fast || known.is_none_or(|known| known.fast)
    }

    /// The engine of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An engine with its weights loaded, on the CPU, mean pooling.
pub struct Engine {
    inner: Inner,
}

enum Inner {
    Ours(Box<Encoder>),
    Peer(Box<Peer>),
}

/// One timed run over all texts.
#[derive(Clone, Debug)]
pub struct EncodeRun {
    /// From text to embedding.
    pub seconds: f64,
    /// The embeddings in the texts' order.
    pub embeddings: Vec<Vec<f32>>,
    /// The process's highest resident memory during the run, in MiB; None where the system does not tell.
    pub peak_mib: Option<f64>,
}

impl Engine {
    /// Loads the encoder in `dir`. `threads` are ours alone: candle-transformers takes the process's rayon threads.
    ///
    /// # Errors
    /// As [`Encoder::open`]; candle-transformers also where the folder holds no BERT.
    pub fn open(kind: EngineKind, dir: &Path, threads: usize) -> Result<Self, EncoderError> {
        let inner = match kind {
            EngineKind::Fp32 => Inner::Ours(Box::new(Encoder::open(dir, &options(Some(threads)))?)),
            EngineKind::Fast => {
                let options = EncoderOptions { precision: PrecisionChoice::Fast, ..options(Some(threads)) };
                Inner::Ours(Box::new(Encoder::open(dir, &options)?))
            }
            EngineKind::CandleTransformers => {
                Inner::Peer(Box::new(Peer::open(dir, &Encoder::open(dir, &options(Some(1)))?)?))
            }
        };
        Ok(Self { inner })
    }

    /// Tokens of all texts after cutting, special tokens counted and padding not.
    ///
    /// # Errors
    /// As [`Encoder::count_tokens`].
    pub fn count_tokens(&self, texts: &[&str]) -> Result<usize, EncoderError> {
        Ok(match &self.inner {
            Inner::Ours(encoder) => encoder.count_tokens(texts)?.iter().sum(),
            Inner::Peer(peer) => peer.ids(texts)?.iter().map(Vec::len).sum(),
        })
    }

    /// Encodes all texts once, with the clock and the memory watched.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode(&self, texts: &[&str]) -> Result<EncodeRun, EncoderError> {
        let memory = Peak::reset();
        let start = Instant::now();
        let embeddings = match &self.inner {
            Inner::Ours(encoder) => stream_all(encoder, texts)?,
            Inner::Peer(peer) => peer.encode(texts)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(EncodeRun { seconds, embeddings, peak_mib: memory.read() })
    }

    /// The milliseconds of each of `runs` runs on one text, after one that is not counted.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn latency(&self, text: &str, runs: usize) -> Result<Vec<f64>, EncoderError> {
        let once = || -> Result<f64, EncoderError> {
            let start = Instant::now();
            match &self.inner {
                Inner::Ours(encoder) => encoder.encode(&[text])?,
                Inner::Peer(peer) => peer.encode(&[text])?,
            };
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        once()?;
        (0..runs).map(|_| once()).collect()
    }
}

/// What the benchmark opens our encoder with: the same pooling for every engine.
#[must_use]
pub fn options(threads: Option<usize>) -> EncoderOptions {
    EncoderOptions {
        pooling: Some(Pooling::Mean),
        device: DeviceChoice::Cpu,
        // As the peers do.
        long_texts: LongTexts::Truncate,
        threads,
        ..EncoderOptions::default()
    }
}

/// Through the job form, as the product encodes a project.
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

/// candle-transformers' BERT with our tokenizer and pooling.
struct Peer {
    model: BertModel,
    tokens: Tokens,
    dim: usize,
    normalised: bool,
}

impl Peer {
    fn open(dir: &Path, ours: &Encoder) -> Result<Self, EncoderError> {
        let folder = Folder::open(dir)?;
        let config: Config = serde_json::from_value(folder.json(CONFIG)?)
            .map_err(|e| folder.bad_json(CONFIG, &e.to_string()))?;
        let version = ours.version();
        let tokens = Tokens::open(
            &folder,
            Input::truncated(version.max_tokens),
            config.max_position_embeddings,
            config.vocab_size,
        )?;
        let path = folder.path(WEIGHTS);
        let bytes = std::fs::read(&path).map_err(|source| EncoderError::Read { path, source })?;
        let model = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|source| EncoderError::Compute { device: "cpu", source })?;
        Ok(Self { model, tokens, dim: version.dim, normalised: version.normalised })
    }

    fn ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, EncoderError> {
        Ok(self.tokens.tokenize(texts, 0)?.into_iter().flat_map(|text| text.windows).collect())
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let ids = self.ids(texts)?;
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(ids[*i].len()));
        let mut all = vec![Vec::new(); ids.len()];
        for batch in order.chunks(PEER_BATCH) {
            let texts: Vec<&[u32]> = batch.iter().map(|i| ids[*i].as_slice()).collect();
            let embeddings =
                self.embed(&texts).map_err(|source| EncoderError::Compute { device: "cpu", source })?;
            for (i, embedding) in batch.iter().zip(embeddings) {
                all[*i] = embedding;
            }
        }
        Ok(all)
    }

    fn embed(&self, texts: &[&[u32]]) -> CandleResult<Vec<Vec<f32>>> {
        let longest = texts.iter().map(|t| t.len()).max().unwrap_or(0);
        let shape = (texts.len(), longest);
        let padded = |value: &dyn Fn(&[u32], usize) -> u32| -> CandleResult<Tensor> {
            let values: Vec<u32> =
                texts.iter().flat_map(|t| (0..longest).map(move |i| value(t, i))).collect();
            Tensor::from_vec(values, shape, &Device::Cpu)
        };
        let ids = padded(&|text, i| text.get(i).copied().unwrap_or(0))?;
        let mask = padded(&|text, i| u32::from(i < text.len()))?;
        let states = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let mut embeddings = Vec::with_capacity(texts.len());
        for (i, text) in texts.iter().enumerate() {
            let rows = states.get(i)?.narrow(0, 0, text.len())?.flatten_all()?.to_vec1::<f32>()?;
            embeddings.extend(pool(&rows, &[text.len()], self.dim, Pooling::Mean, self.normalised));
        }
        Ok(embeddings)
    }
}

/// The process's highest resident memory since it was last reset, by Linux's /proc.
struct Peak {
    known: bool,
}

impl Peak {
    fn reset() -> Self {
        Self { known: fs::write("/proc/self/clear_refs", "5").is_ok() }
    }

    fn read(&self) -> Option<f64> {
        if !self.known {
            return None;
        }
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
        let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_agree_on_the_tiny_checkpoint() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
        let texts = ["this is not fair", "good", "", "you are bad and this comment is not good at all"];
        let kinds = [EngineKind::Fp32, EngineKind::CandleTransformers];
        let [ours, peer] = kinds.map(|kind| Engine::open(kind, &dir, 2).unwrap());
        assert_eq!(ours.count_tokens(&texts).unwrap(), peer.count_tokens(&texts).unwrap());
        let (ours, peer) = (ours.encode(&texts).unwrap(), peer.encode(&texts).unwrap());
        assert_eq!(ours.embeddings.len(), texts.len());
        assert!(ours.seconds > 0.0 && peer.seconds > 0.0);
        for (a, b) in ours.embeddings.iter().flatten().zip(peer.embeddings.iter().flatten()) {
            assert!((a - b).abs() < 1e-4, "{a} is not {b}");
        }
    }

    #[test]
    fn every_counted_run_has_its_latency() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
        let engine = Engine::open(EngineKind::Fp32, &dir, 1).unwrap();
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
