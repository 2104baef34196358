//! Packed texts, one after the other in the rows of a matrix, and the padded layout that attention on other
//! devices and in training needs.

use std::cell::{OnceCell, RefCell};

use candle_core::{Device, Result as CandleResult, Tensor};

use crate::attention_mask::AttentionMask;

/// Replaces minus infinity in masks, so that a fully masked row, which padding is, does not become NaN.
pub(super) const NEVER: f32 = -1e30;

/// The layout of a batch.
pub(crate) struct VarlenLayout {
    lengths: Vec<usize>,
    /// For each text, the position of its first row: above 0 where rows continue others.
    starts: Vec<usize>,
    longest: usize,
    device: Device,
    padding: OnceCell<Option<Padding>>,
    masks: RefCell<Vec<(AttentionMask, Option<Tensor>)>>,
}

struct Padding {
    /// Row of each padded position, row 0 for padding: `[texts * longest]`.
    pad_indices: Tensor,
    /// Padded position of each row: `[rows]`.
    unpad_indices: Tensor,
}

impl VarlenLayout {
    pub(crate) fn new(lengths: &[usize], device: &Device) -> Self {
        Self::starting_at(lengths, vec![0; lengths.len()], device)
    }

    /// The same for rows that begin at position `starts` of their texts, one for each text.
    pub(crate) fn starting_at(lengths: &[usize], starts: Vec<usize>, device: &Device) -> Self {
        Self {
            starts,
            longest: lengths.iter().copied().max().unwrap_or(0),
            lengths: lengths.to_vec(),
            device: device.clone(),
            padding: OnceCell::new(),
            masks: RefCell::default(),
        }
    }

    /// Number of tokens of each text.
    pub(crate) fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Number of tokens of the longest text.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    pub(crate) fn texts(&self) -> usize {
        self.lengths.len()
    }

    /// Position of each row in its text, from 0.
    pub(crate) fn row_places(&self) -> impl Iterator<Item = usize> {
        self.lengths.iter().zip(&self.starts).flat_map(|(length, start)| *start..start + length)
    }

    /// Position of each row in its text, counted from `first`: `[rows]`.
    pub(crate) fn places(&self, first: u32) -> CandleResult<Tensor> {
        let places: Vec<u32> = self.row_places().map(|place| first + place as u32).collect();
        let rows = places.len();
        Tensor::from_vec(places, rows, &self.device)
    }

    /// Converts `[rows, n]` to `[texts, longest, n]`. Values in padding are finite and have no meaning.
    pub(crate) fn pad(&self, x: &Tensor) -> CandleResult<Tensor> {
        let x = match self.padding()? {
            None => x.clone(),
            Some(padding) => x.index_select(&padding.pad_indices, 0)?,
        };
        let width = x.dim(1)?;
        x.reshape((self.texts(), self.longest, width))
    }

    /// Converts `[texts, longest, n]` to `[rows, n]`: the inverse of [`VarlenLayout::pad`].
    pub(crate) fn unpad(&self, x: &Tensor) -> CandleResult<Tensor> {
        let flat = x.flatten(0, 1)?;
        match self.padding()? {
            None => Ok(flat),
            Some(padding) => flat.index_select(&padding.unpad_indices, 0),
        }
    }

    /// Mask to add to scores: 0 where a query sees a key, hugely negative elsewhere:
    /// `[texts, 1, longest, longest]`, or `[texts, 1, 1, longest]` where only padding is masked. `None`:
    /// nothing is masked.
    pub(crate) fn mask(&self, reach: AttentionMask) -> CandleResult<Option<Tensor>> {
        if let Some((_, mask)) = self.masks.borrow().iter().find(|(known, _)| *known == reach) {
            return Ok(mask.clone());
        }
        let mask = self.make_mask(reach)?;
        self.masks.borrow_mut().push((reach, mask.clone()));
        Ok(mask)
    }

    /// 0 for real tokens and hugely negative for padding: `[texts, longest]`. `None`: there is no padding.
    pub(crate) fn key_mask(&self) -> CandleResult<Option<Tensor>> {
        let mask = self.mask(AttentionMask::FULL)?;
        mask.map(|mask| mask.reshape((self.texts(), self.longest))).transpose()
    }

    /// 1 for real tokens and 0 for padding: `[texts, longest]`. `None`: there is no padding.
    pub(crate) fn key_weights(&self) -> CandleResult<Option<Tensor>> {
        // Whether the mask is 0.
        self.key_mask()?.map(|mask| mask.eq(0.0)?.to_dtype(mask.dtype())).transpose()
    }

    fn make_mask(&self, reach: AttentionMask) -> CandleResult<Option<Tensor>> {
        let even = self.lengths.iter().all(|n| *n == self.longest);
        if reach == AttentionMask::FULL && even {
            return Ok(None);
        }
        let queries = if reach == AttentionMask::FULL { 1 } else { self.longest };
        let mut mask = Vec::with_capacity(self.texts() * queries * self.longest);
        for length in &self.lengths {
            for query in 0..queries {
                let seen = reach.keys(query, *length);
                mask.extend((0..self.longest).map(|key| if seen.contains(&key) { 0.0 } else { NEVER }));
            }
        }
        Tensor::from_vec(mask, (self.texts(), 1, queries, self.longest), &self.device).map(Some)
    }

    fn padding(&self) -> CandleResult<Option<&Padding>> {
        if let Some(padding) = self.padding.get() {
            return Ok(padding.as_ref());
        }
        let even = self.lengths.iter().all(|n| *n == self.longest);
        let padding = if even { None } else { Some(self.make_padding()?) };
        Ok(self.padding.get_or_init(|| padding).as_ref())
    }

    fn make_padding(&self) -> CandleResult<Padding> {
        let places = self.texts() * self.longest;
        let mut pad_indices = vec![0u32; places];
        let mut unpad_indices = Vec::with_capacity(self.lengths.iter().sum());
        for (text, length) in self.lengths.iter().enumerate() {
            let first = text * self.longest;
            for (i, row) in pad_indices[first..first + length].iter_mut().enumerate() {
                *row = unpad_indices.len() as u32;
                unpad_indices.push((first + i) as u32);
            }
        }
        let rows = unpad_indices.len();
        Ok(Padding {
            pad_indices: Tensor::from_vec(pad_indices, places, &self.device)?,
            unpad_indices: Tensor::from_vec(unpad_indices, rows, &self.device)?,
        })
    }
}
