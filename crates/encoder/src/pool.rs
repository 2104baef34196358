//! From the hidden states of a text's tokens to its embedding.

use candle_core::{DType, Device, Result as CandleResult, Tensor, bail};

use crate::Pooling;
use crate::blocks::{Packing, Pass, States};
use crate::family::{TokenBatch, Transformer};

/// The smallest norm divided by, as in PyTorch's `normalize`.
const LEAST_NORM: f64 = 1e-12;

/// Embeddings of packed texts. `states` is `[lengths.sum(), dim]`, row by row; every length is at least 1.
pub(crate) fn pool(
    states: &[f32],
    lengths: &[usize],
    dim: usize,
    pooling: Pooling,
    normalised: bool,
) -> Vec<Vec<f32>> {
    let mut rest = states;
    lengths
        .iter()
        .map(|length| {
            let (text, after) = rest.split_at(length * dim);
            rest = after;
            let mut embedding = match pooling {
                Pooling::Mean | Pooling::Mean2 => mean(text, dim),
                Pooling::Max | Pooling::Max2 => largest(text, dim),
                Pooling::Cls | Pooling::Pooler => text[..dim].to_vec(),
            };
            if normalised {
                normalise(&mut embedding);
            }
            embedding
        })
        .collect()
}

/// Embeddings of a batch, `[texts, dim]`, by differentiable operations; otherwise as [`embed`].
pub(crate) fn pool_tensor(
    transformer: &dyn Transformer,
    batch: &TokenBatch,
    pass: &Pass,
    pooling: Pooling,
    normalised: bool,
) -> CandleResult<Tensor> {
    let states = transformer.forward(batch, pass)?;
    let state = source(&states, pooling);
    let pooled = match pooling {
        Pooling::Mean | Pooling::Mean2 => mean_weights(pass.packing(), state)?.matmul(state)?,
        Pooling::Max | Pooling::Max2 => masked_max(pass.packing(), state)?,
        Pooling::Cls => firsts(pass.packing(), state)?,
        Pooling::Pooler => match transformer.pooler() {
            None => bail!("this model has no pooler of its own"),
            Some(pooler) => pooler.apply(&firsts(pass.packing(), state)?, pass)?,
        },
    };
    if !normalised {
        return Ok(pooled);
    }
    let norm = pooled.sqr()?.sum_keepdim(1)?.sqrt()?.clamp(LEAST_NORM, f64::MAX)?;
    pooled.broadcast_div(&norm)
}

/// The hidden state that a pooling takes.
fn source(states: &States, pooling: Pooling) -> &Tensor {
    match pooling {
        Pooling::Mean2 | Pooling::Max2 => states.second_to_last(),
        Pooling::Mean | Pooling::Cls | Pooling::Max | Pooling::Pooler => states.last(),
    }
}

/// Embeddings of a batch's texts on the fast path.
pub(crate) fn embed(
    transformer: &dyn Transformer,
    batch: &TokenBatch,
    pass: &Pass,
    pooling: Pooling,
    normalised: bool,
) -> CandleResult<Vec<Vec<f32>>> {
    if pooling == Pooling::Pooler {
        return pool_tensor(transformer, batch, pass, pooling, normalised)?.to_dtype(DType::F32)?.to_vec2();
    }
    let states = transformer.forward(batch, pass)?;
    let state = source(&states, pooling).to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
    let (values, dim) = (state.flatten_all()?.to_vec1::<f32>()?, state.dim(1)?);
    Ok(pool(&values, &batch.lengths, dim, pooling, normalised))
}

/// `[texts, rows]`: one over its length where a row is the text's.
fn mean_weights(packing: &Packing, like: &Tensor) -> CandleResult<Tensor> {
    let rows: usize = packing.lengths().iter().sum();
    let mut weights = vec![0.0f32; packing.texts() * rows];
    let mut first = 0;
    for (text, length) in packing.lengths().iter().enumerate() {
        weights[text * rows + first..text * rows + first + length].fill(1.0 / *length as f32);
        first += length;
    }
    Tensor::from_vec(weights, (packing.texts(), rows), like.device())?.to_dtype(like.dtype())
}

/// The first row of each text.
fn firsts(packing: &Packing, state: &Tensor) -> CandleResult<Tensor> {
    let starts: Vec<u32> = packing
        .lengths()
        .iter()
        .scan(0, |next, length| {
            let start = *next;
            *next += *length as u32;
            Some(start)
        })
        .collect();
    state.index_select(&Tensor::from_vec(starts, packing.texts(), state.device())?, 0)
}

/// The largest value of each component over each text's rows.
fn masked_max(packing: &Packing, state: &Tensor) -> CandleResult<Tensor> {
    let padded = packing.pad(state)?;
    let masked = match packing.key_mask()? {
        None => padded,
        Some(mask) => padded.to_dtype(DType::F32)?.broadcast_add(&mask.unsqueeze(2)?)?,
    };
    masked.max(1)?.to_dtype(state.dtype())
}

fn mean(text: &[f32], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; dim];
    for token in text.chunks_exact(dim) {
        for (s, v) in sum.iter_mut().zip(token) {
            *s += v;
        }
    }
    let tokens = (text.len() / dim) as f32;
    sum.iter_mut().for_each(|s| *s /= tokens);
    sum
}

fn largest(text: &[f32], dim: usize) -> Vec<f32> {
    let mut most = text[..dim].to_vec();
    for token in text[dim..].chunks_exact(dim) {
        for (m, v) in most.iter_mut().zip(token) {
            // What is not a number stays, to be told: `max` would pass over it.
            if !(m.is_nan() || *v <= *m) {
                *m = *v;
            }
        }
    }
    most
}

fn normalise(embedding: &mut [f32]) {
    // In 64 bits: the squares of large components would overflow 32, and a division by infinity leave only zeros.
    let norm = embedding.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt().max(LEAST_NORM);
    embedding.iter_mut().for_each(|v| *v = (f64::from(*v) / norm) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two texts of two and one tokens, dimension 2.
    const STATES: [f32; 6] = [1.0, -4.0, 3.0, -2.0, 5.0, 6.0];

    #[test]
    fn every_text_is_pooled_over_its_own_tokens() {
        let pooled = |pooling| pool(&STATES, &[2, 1], 2, pooling, false);
        assert_eq!(pooled(Pooling::Mean), [[2.0, -3.0], [5.0, 6.0]]);
        assert_eq!(pooled(Pooling::Max), [[3.0, -2.0], [5.0, 6.0]]);
        assert_eq!(pooled(Pooling::Cls), [[1.0, -4.0], [5.0, 6.0]]);
    }

    #[test]
    fn what_is_not_a_number_is_not_pooled_away() {
        for place in 0..3 {
            let mut states = [1.0, 2.0, 3.0];
            states[place] = f32::NAN;
            for pooling in [Pooling::Mean, Pooling::Max] {
                assert!(pool(&states, &[3], 1, pooling, false)[0][0].is_nan(), "{pooling} {place}");
            }
        }
    }

    #[test]
    fn large_components_are_normalised_too() {
        let unit = &pool(&[3e30, 4e30], &[1], 2, Pooling::Mean, true)[0];
        assert!((unit[0] - 0.6).abs() < 1e-6 && (unit[1] - 0.8).abs() < 1e-6, "{unit:?}");
    }

    #[test]
    fn a_zero_embedding_stays_zero_when_normalised() {
        assert_eq!(pool(&[0.0, 0.0], &[1], 2, Pooling::Mean, true), [[0.0, 0.0]]);
    }

    #[test]
    fn normalised_embeddings_have_length_one() {
        let unit = &pool(&[3.0, 4.0], &[1], 2, Pooling::Mean, true)[0];
        assert!((unit[0] - 0.6).abs() < 1e-6 && (unit[1] - 0.8).abs() < 1e-6);
    }
}
