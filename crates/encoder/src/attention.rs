//! Self-attention over texts that are packed one after the other in the rows of one matrix.

use candle_core::{D, Device, Result as CandleResult, Tensor};

use crate::fused::masked_softmax;

/// How one batch's rows are laid out as texts; made once a batch, used by every layer.
pub(crate) struct Attention {
    lengths: Vec<usize>,
    longest: usize,
    heads: usize,
    /// None where all texts are equally long: then nothing is padded and nothing masked.
    padding: Option<Padding>,
}

struct Padding {
    /// Row of each padded place, row 0 for padding: `[texts * longest]`.
    spread: Tensor,
    /// Padded place of each row: `[rows]`.
    gather: Tensor,
    /// 0 for real keys and minus infinity for padding: `[texts, 1, 1, longest]`.
    mask: Tensor,
}

impl Attention {
    pub(crate) fn plan(lengths: &[usize], heads: usize, device: &Device) -> CandleResult<Self> {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let even = lengths.iter().all(|n| *n == longest);
        let padding = if even { None } else { Some(Padding::plan(lengths, longest, device)?) };
        Ok(Self { lengths: lengths.to_vec(), longest, heads, padding })
    }

    /// From stacked queries, keys and values, `[rows, 3 * hidden]`, to the attended values, `[rows, hidden]`.
    /// Queries come scaled.
    pub(crate) fn apply(&self, stacked: &Tensor) -> CandleResult<Tensor> {
        let hidden = stacked.dim(1)? / 3;
        let texts = self.lengths.len();
        let padded = match &self.padding {
            None => stacked.clone(),
            Some(padding) => stacked.index_select(&padding.spread, 0)?,
        };
        let split = padded.reshape((texts, self.longest, 3, self.heads, hidden / self.heads))?;
        let part = |i: usize| split.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2)?.contiguous();
        let (query, key, value) = (part(0)?, part(1)?, part(2)?);
        let scores = query.matmul(&key.transpose(D::Minus1, D::Minus2)?)?;
        let mask = self.padding.as_ref().map(|padding| &padding.mask);
        let context = masked_softmax(scores, &self.lengths, mask)?.matmul(&value)?;
        let context = context.transpose(1, 2)?.reshape((texts * self.longest, hidden))?;
        match &self.padding {
            None => Ok(context),
            Some(padding) => context.index_select(&padding.gather, 0),
        }
    }
}

impl Padding {
    fn plan(lengths: &[usize], longest: usize, device: &Device) -> CandleResult<Self> {
        let mut spread = vec![0u32; lengths.len() * longest];
        let mut mask = vec![f32::NEG_INFINITY; lengths.len() * longest];
        let mut gather = Vec::with_capacity(lengths.iter().sum());
        for (text, length) in lengths.iter().enumerate() {
            for place in text * longest..text * longest + length {
                spread[place] = gather.len() as u32;
                mask[place] = 0.0;
                gather.push(place as u32);
            }
        }
        let rows = gather.len();
        Ok(Self {
            spread: Tensor::from_vec(spread, lengths.len() * longest, device)?,
            gather: Tensor::from_vec(gather, rows, device)?,
            mask: Tensor::from_vec(mask, (lengths.len(), 1, 1, longest), device)?,
        })
    }
}
