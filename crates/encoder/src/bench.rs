//! Our encoding speed beside candle-transformers' BERT in the same process on the same texts; what
//! `dissensus bench encode` prints. Needs the feature `bench`.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use candle_core::{DType, Device, Result as CandleResult, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde::Serialize;

use crate::folder::{CONFIG, Folder, WEIGHTS};
use crate::pool::pool;
use crate::tokens::Tokens;
use crate::{BatchPlan, DeviceChoice, Encoder, EncoderError, EncoderOptions, Pooling};

/// Texts in one of the peer's batches, as its examples have it.
const PEER_BATCH: usize = 32;

/// One engine's speed on the same texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineSpeed {
    /// `dissensus fp32` or `candle-transformers`.
    pub engine: String,
    /// Tokens of all texts, special tokens counted and padding not, by the time it took.
    pub tokens_per_second: f64,
    /// Texts by the time it took.
    pub texts_per_second: f64,
    /// The least cosine of any text's embedding with candle-transformers' embedding of it; None where that did not run.
    pub worst_cosine: Option<f64>,
    /// The process's highest resident memory while this engine was loaded and ran, in MiB; None where the system does
    /// not tell.
    pub peak_mib: Option<f64>,
}

/// The engines on the same texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EncodeBench {
    /// Texts.
    pub texts: usize,
    /// Tokens of them after cutting, special tokens counted.
    pub tokens: usize,
    /// The engines, ours first.
    pub engines: Vec<EngineSpeed>,
}

/// Encodes `texts` on the CPU, mean pooling, from text to embedding; loading is not timed. With `peers`, in turns with
/// candle-transformers' own model, its texts sorted by length too, in batches of 32 padded to the longest. Each runs
/// `rounds` times (at least once), and its best round counts, which is the fairest on a machine that others use.
///
/// # Errors
/// As [`Encoder::open`] and [`Encoder::encode`].
pub fn encode(
    dir: &Path,
    texts: &[&str],
    threads: Option<usize>,
    rounds: usize,
    peers: bool,
) -> Result<EncodeBench, EncoderError> {
    let options = EncoderOptions {
        pooling: Some(Pooling::Mean),
        device: DeviceChoice::Cpu,
        threads,
        ..EncoderOptions::default()
    };
    let ours = Encoder::open(dir, &options)?;
    let peer = if peers { Some(Peer::open(dir, &ours)?) } else { None };
    let tokens: usize = ours.count_tokens(texts)?.iter().sum();
    let (mut our_best, mut peer_best) = (Run::default(), Run::default());
    for _ in 0..rounds.max(1) {
        if let Some(peer) = &peer {
            peer_best.keep_better(timed(|| peer.encode(texts))?);
        }
        our_best.keep_better(timed(|| encode_all(&ours, texts))?);
    }
    let speed = |engine: &str, run: &Run, worst_cosine: Option<f64>| EngineSpeed {
        engine: engine.to_owned(),
        tokens_per_second: tokens as f64 / run.seconds,
        texts_per_second: texts.len() as f64 / run.seconds,
        worst_cosine,
        peak_mib: run.peak_mib,
    };
    let worst = peers.then(|| worst_cosine(&our_best.embeddings, &peer_best.embeddings));
    let mut engines = vec![speed("dissensus fp32", &our_best, worst)];
    if peers {
        engines.push(speed("candle-transformers", &peer_best, Some(1.0)));
    }
    Ok(EncodeBench { texts: texts.len(), tokens, engines })
}

#[derive(Default)]
struct Run {
    seconds: f64,
    embeddings: Vec<Vec<f32>>,
    peak_mib: Option<f64>,
}

impl Run {
    fn keep_better(&mut self, other: Self) {
        if self.embeddings.is_empty() || other.seconds < self.seconds {
            *self = other;
        }
    }
}

fn timed(work: impl FnOnce() -> Result<Vec<Vec<f32>>, EncoderError>) -> Result<Run, EncoderError> {
    let memory = Peak::reset();
    let start = Instant::now();
    let embeddings = work()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Run { seconds, embeddings, peak_mib: memory.read() })
}

/// Through the job form, as the product encodes a project.
fn encode_all(encoder: &Encoder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
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
        let tokens =
            Tokens::open(&folder, version.max_tokens, config.max_position_embeddings, config.vocab_size)?;
        let path = folder.path(WEIGHTS);
        let bytes = std::fs::read(&path).map_err(|source| EncoderError::Read { path, source })?;
        let model = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|source| EncoderError::Compute { device: "cpu", source })?;
        Ok(Self { model, tokens, dim: version.dim, normalised: version.normalised })
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let ids: Vec<Vec<u32>> = self.tokens.tokenize(texts, 0)?.into_iter().map(|t| t.ids).collect();
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

fn worst_cosine(ours: &[Vec<f32>], theirs: &[Vec<f32>]) -> f64 {
    let cosine = |a: &[f32], b: &[f32]| {
        let dot = |x: &[f32], y: &[f32]| -> f64 {
            x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    ours.iter().zip(theirs).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min)
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
        let bench = encode(&dir, &texts, Some(2), 1, true).unwrap();
        assert_eq!(bench.texts, 4);
        assert_eq!(bench.engines.len(), 2);
        for engine in &bench.engines {
            assert!(engine.worst_cosine.is_some_and(|cosine| cosine > 0.999_99), "{engine:?}");
            assert!(engine.tokens_per_second > 0.0);
        }
    }

    #[test]
    fn without_peers_only_ours_is_measured() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
        let bench = encode(&dir, &["good"], Some(1), 1, false).unwrap();
        let engines: Vec<&str> = bench.engines.iter().map(|engine| engine.engine.as_str()).collect();
        assert_eq!(engines, ["dissensus fp32"]);
        assert_eq!(bench.engines[0].worst_cosine, None);
    }
}
