//! Embeddings of a batch: a transformer's forward pass, then pooling, with or without a graph.

use candle_core::{DType, Device, Result as CandleResult, Tensor, bail};

use super::{ForwardCtx, States, Transformer, VarlenLayout};
use crate::options::Pooling;
use crate::pooling::{MIN_NORM, pool};
use crate::token_batch::TokenBatch;

/// Computes embeddings of a batch, `[texts, dim]`, with differentiable operations; otherwise like
/// [`embed`].
pub(crate) fn pool_tensor(
    transformer: &dyn Transformer,
    batch: &TokenBatch,
    ctx: &ForwardCtx,
    pooling: Pooling,
    normalised: bool,
) -> CandleResult<Tensor> {
    let pooled = match transformer.read_out(batch, ctx)? {
        Some(read_out) => read_out,
        None => pooled(transformer, &transformer.forward(batch, ctx)?, ctx, pooling)?,
    };
    of_length_1(pooled, normalised)
}

/// Like [`pool_tensor`], with the last hidden states of the tokens, `[tokens, hidden]`, text after text,
/// from the same pass.
pub(crate) fn pool_tensor_and_states(
    transformer: &dyn Transformer,
    batch: &TokenBatch,
    ctx: &ForwardCtx,
    pooling: Pooling,
    normalised: bool,
) -> CandleResult<(Tensor, Tensor)> {
    let states = transformer.forward(batch, ctx)?;
    let pooled = pooled(transformer, &states, ctx, pooling)?;
    Ok((of_length_1(pooled, normalised)?, states.last().clone()))
}

fn of_length_1(pooled: Tensor, normalised: bool) -> CandleResult<Tensor> {
    if !normalised {
        return Ok(pooled);
    }
    let norm = pooled.sqr()?.sum_keepdim(1)?.sqrt()?.clamp(MIN_NORM, f64::MAX)?;
    pooled.broadcast_div(&norm)
}

fn pooled(
    transformer: &dyn Transformer,
    states: &States,
    ctx: &ForwardCtx,
    pooling: Pooling,
) -> CandleResult<Tensor> {
    let state = source(states, pooling);
    match pooling {
        Pooling::Mean | Pooling::Mean2 => mean_weights(ctx.packing(), state)?.matmul(state),
        Pooling::Max | Pooling::Max2 => masked_max(ctx.packing(), state),
        Pooling::Cls => firsts(ctx.packing(), state),
        Pooling::Last => lasts(ctx.packing(), state),
        Pooling::Pooler => match transformer.pooler() {
            None => bail!("this model has no pooler of its own"),
            Some(pooler) => pooler.apply(&firsts(ctx.packing(), state)?, ctx),
        },
    }
}

/// The hidden state that a pooling uses.
fn source(states: &States, pooling: Pooling) -> &Tensor {
    match pooling {
        Pooling::Mean2 | Pooling::Max2 => states.second_to_last(),
        Pooling::Mean | Pooling::Cls | Pooling::Last | Pooling::Max | Pooling::Pooler => states.last(),
    }
}

/// Computes embeddings of a batch's texts on the fast path.
pub(crate) fn embed(
    transformer: &dyn Transformer,
    batch: &TokenBatch,
    ctx: &ForwardCtx,
    pooling: Pooling,
    normalised: bool,
) -> CandleResult<Vec<Vec<f32>>> {
    if pooling == Pooling::Pooler {
        return pool_tensor(transformer, batch, ctx, pooling, normalised)?.to_dtype(DType::F32)?.to_vec2();
    }
    if let Some(read_out) = transformer.read_out(batch, ctx)? {
        let values = read_out.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
        let (values, dim) = (values.flatten_all()?.to_vec1::<f32>()?, values.dim(1)?);
        return Ok(pool(&values, &vec![1; batch.lengths.len()], dim, pooling, normalised));
    }
    let states = transformer.forward(batch, ctx)?;
    let state = source(&states, pooling).to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
    let (values, dim) = (state.flatten_all()?.to_vec1::<f32>()?, state.dim(1)?);
    Ok(pool(&values, &batch.lengths, dim, pooling, normalised))
}

/// Weights `[texts, rows]` of the mean: one over the text's length for its own rows, else zero.
fn mean_weights(packing: &VarlenLayout, like: &Tensor) -> CandleResult<Tensor> {
    let rows: usize = packing.lengths().iter().sum();
    let mut weights = vec![0.0f32; packing.texts() * rows];
    let mut first = 0;
    for (text, length) in packing.lengths().iter().enumerate() {
        weights[text * rows + first..text * rows + first + length].fill(1.0 / *length as f32);
        first += length;
    }
    Tensor::from_vec(weights, (packing.texts(), rows), like.device())?.to_dtype(like.dtype())
}

/// The last row of each text.
pub(super) fn lasts(packing: &VarlenLayout, state: &Tensor) -> CandleResult<Tensor> {
    let lasts: Vec<u32> = packing
        .lengths()
        .iter()
        .scan(0, |next, length| {
            *next += *length as u32;
            Some(*next - 1)
        })
        .collect();
    state.index_select(&Tensor::from_vec(lasts, packing.texts(), state.device())?, 0)
}

/// The first row of each text.
fn firsts(packing: &VarlenLayout, state: &Tensor) -> CandleResult<Tensor> {
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

/// The maximum of each component over each text's rows.
fn masked_max(packing: &VarlenLayout, state: &Tensor) -> CandleResult<Tensor> {
    let padded = packing.pad(state)?;
    let masked = match packing.key_mask()? {
        None => padded,
        Some(mask) => padded.to_dtype(DType::F32)?.broadcast_add(&mask.unsqueeze(2)?)?,
    };
    masked.max(1)?.to_dtype(state.dtype())
}
