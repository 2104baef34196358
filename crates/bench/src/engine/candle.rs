//! candle-transformers' BERT with the encoder's own tokenizer, mean pooling.

use crate::error::BenchError;
use candle_core::{DType, Device, Result as CandleResult, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use dissensus_encoder::EncoderVersion;
use std::cmp::Reverse;
use std::path::Path;
use tokenizers::{Tokenizer, TruncationParams};

const NAME: &str = "candle-transformers";
/// Texts per batch, as in the library's examples.
const BATCH: usize = 32;

pub(super) struct CandleBert {
    model: BertModel,
    tokenizer: Tokenizer,
    normalised: bool,
}

impl CandleBert {
    /// Loads the encoder in `dir`, with the truncation and normalization of `version`.
    pub(super) fn open(dir: &Path, version: &EncoderVersion) -> Result<Self, BenchError> {
        let read = |name: &str| {
            let path = dir.join(name);
            std::fs::read(&path).map_err(BenchError::io("reading", &path))
        };
        let config: Config = serde_json::from_slice(&read("config.json")?).map_err(failed)?;
        let mut tokenizer = Tokenizer::from_bytes(read("tokenizer.json")?).map_err(failed)?;
        let cut = TruncationParams { max_length: version.max_tokens, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(cut)).map_err(failed)?;
        let weights = read("model.safetensors")?;
        let model = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(failed)?;
        Ok(Self { model, tokenizer, normalised: version.normalised })
    }

    /// Token ids of each text.
    pub(super) fn ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, BenchError> {
        let encodings = self.tokenizer.encode_batch(texts.to_vec(), true).map_err(failed)?;
        Ok(encodings.iter().map(|encoding| encoding.get_ids().to_vec()).collect())
    }

    pub(super) fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, BenchError> {
        let ids = self.ids(texts)?;
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|text| Reverse(ids[*text].len()));
        let mut all = vec![Vec::new(); ids.len()];
        for batch in order.chunks(BATCH) {
            let texts: Vec<&[u32]> = batch.iter().map(|text| ids[*text].as_slice()).collect();
            for (text, embedding) in batch.iter().zip(self.embed(&texts).map_err(failed)?) {
                all[*text] = embedding;
            }
        }
        Ok(all)
    }

    fn embed(&self, texts: &[&[u32]]) -> CandleResult<Vec<Vec<f32>>> {
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let shape = (texts.len(), longest);
        let padded = |value: &dyn Fn(&[u32], usize) -> u32| -> CandleResult<Tensor> {
            let values: Vec<u32> =
                texts.iter().flat_map(|text| (0..longest).map(move |at| value(text, at))).collect();
            Tensor::from_vec(values, shape, &Device::Cpu)
        };
        let ids = padded(&|text, at| text.get(at).copied().unwrap_or(0))?;
        let mask = padded(&|text, at| u32::from(at < text.len()))?;
        let states = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let mut embeddings = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let mean = states.get(at)?.narrow(0, 0, text.len())?.mean(0)?;
            let mean = if self.normalised {
                let length = mean.sqr()?.sum_all()?.sqrt()?;
                mean.broadcast_div(&length)?
            } else {
                mean
            };
            embeddings.push(mean.to_vec1::<f32>()?);
        }
        Ok(embeddings)
    }
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Peer { peer: NAME, why: error.to_string() }
}
