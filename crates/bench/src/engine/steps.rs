//! Training steps of the product: whole steps of a classifier on top of a fine-tuned encoder.

use std::path::Path;
use std::time::Instant;

use candle_core::{DType, Tensor, Var};
use candle_nn::loss::cross_entropy;

use super::options;
use crate::error::BenchError;
use dissensus_encoder::{AdamW, AdamWSettings, EncoderError, FreezePolicy, LayerRates, Trainable};

/// Warm-up steps that are not counted: they fault memory in and fill caches.
const WARM_STEPS: usize = 2;
const CLASSES: usize = 2;
const RATE: f64 = 2e-5;

/// Seconds of each of `steps` training steps: dropout as in config.json, mean pooling, a linear head for two
/// classes, mean cross-entropy, AdamW. `ids` are the token ids of the batch's texts; their classes alternate.
pub(crate) fn step_times(
    dir: &Path,
    policy: &FreezePolicy,
    ids: &[Vec<u32>],
    steps: usize,
    threads: usize,
) -> Result<Vec<f64>, BenchError> {
    let encoder = Trainable::open(dir, &options(Some(threads)), policy, 1)?;
    let compute = |source| EncoderError::Compute { device: encoder.device_name(), source };
    let shape = (encoder.version().dim, CLASSES);
    let head = Var::zeros(shape, DType::F32, encoder.device()).map_err(compute)?;
    let bias = Var::zeros(CLASSES, DType::F32, encoder.device()).map_err(compute)?;
    let classes: Vec<u32> = (0..ids.len()).map(|text| (text % CLASSES) as u32).collect();
    let mut optimizer = AdamW::new(AdamWSettings::default());
    let mut seconds = Vec::with_capacity(WARM_STEPS + steps);
    for step in 0..WARM_STEPS + steps {
        let start = Instant::now();
        let parameters = [("head.weight", &head), ("head.bias", &bias)];
        let gradients = encoder.gradients(ids, Some(step as u32), &parameters, |embeddings, share| {
            let logits = embeddings.matmul(head.as_tensor())?.broadcast_add(bias.as_tensor())?;
            let target = Tensor::new(&classes[share.clone()], embeddings.device())?;
            // The mean of a share, weighted so that the shares add up to the mean of the batch.
            cross_entropy(&logits, &target)? * (share.len() as f64 / ids.len() as f64)
        })?;
        let rates = LayerRates::even(RATE);
        optimizer.step(&gradients, |group| rates.of(group, encoder.layers())).map_err(compute)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds.split_off(WARM_STEPS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_every_policy_are_timed() {
        let dir = crate::engine::tiny();
        let ids: Vec<Vec<u32>> = (0..4).map(|text| (0..6).map(|at| 5 + text * 7 + at).collect()).collect();
        for name in ["full", "last-1", "lora"] {
            let times = step_times(&dir, &name.parse().unwrap(), &ids, 2, 2).unwrap();
            assert!(times.len() == 2 && times.iter().all(|time| *time > 0.0), "{name}: {times:?}");
        }
        let error = step_times(&dir, &"last-9".parse().unwrap(), &ids, 2, 2).unwrap_err();
        assert!(matches!(&error, BenchError::Encoder(e) if e.code() == "encoder-policy"), "{error}");
    }
}
