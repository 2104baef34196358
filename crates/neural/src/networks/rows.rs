//! The labels of some texts, as rows of a forward pass.

use candle_core::{Device, Result, Tensor};
use std::ops::Range;

/// Rows of a forward pass, one for each label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Index of the text among the given embeddings.
    pub(crate) texts: Vec<u32>,
    /// The annotator; `None` for no one in particular.
    pub(crate) annotators: Vec<Option<u32>>,
    /// The annotator whose attributes are used, if not the label's; empty otherwise.
    pub(crate) attributes_of: Vec<Option<u32>>,
    /// One-hot attributes, rows x width, of people who are not among the annotators; empty for known
    /// annotators.
    pub(crate) one_hot: Vec<f32>,
    /// Weighted target distribution, rows x levels; empty for prediction.
    pub(crate) targets: Vec<f32>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The rows of a range of the texts, with indices counted from its start.
    pub(crate) fn of_texts(&self, range: Range<usize>, levels: usize) -> Self {
        let from = self.texts.partition_point(|t| (*t as usize) < range.start);
        let to = self.texts.partition_point(|t| (*t as usize) < range.end);
        Self {
            texts: self.texts[from..to].iter().map(|t| t - range.start as u32).collect(),
            annotators: self.annotators[from..to].to_vec(),
            attributes_of: self.attributes_of.get(from..to).unwrap_or_default().to_vec(),
            one_hot: Vec::new(),
            targets: self.targets[from * levels..to * levels].to_vec(),
        }
    }

    pub(crate) fn targets(&self, levels: usize, device: &Device) -> Result<Tensor> {
        Tensor::from_slice(&self.targets, (self.len(), levels), device)
    }

    pub(super) fn embeddings(&self, x: &Tensor) -> Result<Tensor> {
        let places = Tensor::from_slice(&self.texts, self.len(), x.device())?;
        x.contiguous()?.index_select(&places, 0)
    }
}
