//! Cached keys and values of texts, which later rows attend to.

use std::cell::RefCell;
use std::sync::Arc;

use candle_core::{DType, Device, Result as CandleResult, Tensor};

use super::varlen::NEVER;
use crate::attention_mask::AttentionMask;

/// Keys and values of one text in every layer, each `[tokens, 2 * kv_heads * size]`, the keys first,
/// without a graph.
#[derive(Debug, Default)]
pub(crate) struct TextKeyValues {
    layers: Vec<Tensor>,
}

impl TextKeyValues {
    pub(super) fn push(&mut self, of_layer: Tensor) {
        self.layers.push(of_layer);
    }

    /// Splits keys and values of several texts, row after row, by text. `lengths`: number of tokens of
    /// each.
    pub(super) fn of_texts(&self, lengths: &[usize]) -> CandleResult<Vec<Self>> {
        let mut first = 0;
        let text = |length: &usize| {
            // A separate copy: a view would retain the rows of all texts in memory.
            let layers = self.layers.iter().map(|layer| layer.narrow(0, first, *length)?.force_contiguous());
            let layers = layers.collect::<CandleResult<_>>()?;
            first += length;
            Ok(Self { layers })
        };
        lengths.iter().map(text).collect()
    }

    /// Memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.layers.iter().map(|layer| layer.elem_count() * layer.dtype().size_in_bytes()).sum()
    }
}

/// Keys and values of a batch's texts.
pub(crate) struct Past {
    texts: Vec<Arc<TextKeyValues>>,
    lengths: Vec<usize>,
    masks: RefCell<Vec<(AttentionMask, Tensor)>>,
}

impl Past {
    /// `lengths`: number of tokens of each text.
    pub(crate) fn new(texts: Vec<Arc<TextKeyValues>>, lengths: Vec<usize>) -> Self {
        Self { texts, lengths, masks: RefCell::default() }
    }

    /// Number of tokens of each text.
    pub(crate) fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    /// Keys and values of a layer, each `[texts, kv_heads, longest, size]`; padding is zero.
    pub(crate) fn layer(&self, layer: usize, kv_heads: usize) -> CandleResult<[Tensor; 2]> {
        let longest = self.longest();
        let padded = |text: &Arc<TextKeyValues>| {
            let Some(own) = text.layers.get(layer) else {
                candle_core::bail!("no keys and values of layer {layer} were cached");
            };
            own.pad_with_zeros(0, 0, longest - own.dim(0)?)
        };
        let all = Tensor::stack(&self.texts.iter().map(padded).collect::<CandleResult<Vec<_>>>()?, 0)?;
        let size = all.dim(2)? / (2 * kv_heads);
        let all = all.reshape((self.texts.len(), longest, 2 * kv_heads, size))?.transpose(1, 2)?;
        let part = |from| all.narrow(1, from, kv_heads)?.contiguous();
        Ok([part(0)?, part(kv_heads)?])
    }

    /// Mask to add to the scores of `new` rows after each text: 0 where a row sees a key, hugely negative
    /// elsewhere: `[texts, 1, new, longest + new]`.
    pub(crate) fn mask(&self, reach: AttentionMask, new: usize, device: &Device) -> CandleResult<Tensor> {
        if let Some((_, mask)) = self.masks.borrow().iter().find(|(known, _)| *known == reach) {
            return Ok(mask.clone());
        }
        let longest = self.longest();
        let mut mask = Vec::with_capacity(self.lengths.len() * new * (longest + new));
        for length in &self.lengths {
            for row in 0..new {
                let seen = reach.keys(length + row, length + new);
                let before = (0..longest).map(|key| key < *length && seen.contains(&key));
                let own = (0..new).map(|key| seen.contains(&(length + key)));
                mask.extend(before.chain(own).map(|sees| if sees { 0.0 } else { NEVER }));
            }
        }
        let mask = Tensor::from_vec(mask, (self.lengths.len(), 1, new, longest + new), device)?;
        let mask = mask.to_dtype(DType::F32)?;
        self.masks.borrow_mut().push((reach, mask.clone()));
        Ok(mask)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Storage;

    use super::*;

    #[test]
    fn cached_text_does_not_retain_the_batch() {
        let layer = Tensor::arange(0f32, 12.0, &Device::Cpu).unwrap().reshape((6, 2)).unwrap();
        let together = TextKeyValues { layers: vec![layer.clone(), layer] };
        let texts = together.of_texts(&[1, 3, 2]).unwrap();
        let second: Vec<Vec<f32>> = texts[1].layers[0].to_vec2().unwrap();
        assert_eq!(second, [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]);
        for (text, tokens) in texts.iter().zip([1, 3, 2]) {
            assert_eq!(text.bytes(), 2 * tokens * 2 * 4);
            for layer in &text.layers {
                let Storage::Cpu(storage) = &*layer.storage_and_layout().0 else { panic!("on the CPU") };
                assert_eq!(storage.as_slice::<f32>().unwrap().len(), tokens * 2);
            }
        }
    }
}
