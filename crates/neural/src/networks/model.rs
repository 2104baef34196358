//! A trained network as an annotator model.

use super::network::Network;
use super::rows::Rows;
use candle_core::{Device, Tensor};
use dissensus_stats::data::Embeddings;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{AnnotatorModel, ModelKind, TextFeatures};
use std::ops::Range;
use std::sync::Arc;

/// Number of pairs predicted at once: bounds memory.
const BATCH_PAIRS: usize = 4096;

/// A network with the embeddings of the texts to predict.
pub struct NetworkModel {
    pub(super) network: Network,
    x: Arc<Embeddings>,
}

impl NetworkModel {
    pub(crate) fn new(network: Network, x: Arc<Embeddings>) -> Self {
        Self { network, x }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the same network over other texts, for example those that were added since.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`].
    pub fn over(self, x: Arc<Embeddings>) -> Result<Self, ModelError> {
        let expected = self.network.shape.dim;
        // Without an encoder a network is trained on one constant input.
        if x.dim != expected && !(x.dim == 0 && expected == 1) {
            return Err(ModelError::EmbeddingLength { expected, found: x.dim });
        }
        Ok(Self { x, ..self })
    }

    /// Computes the probabilities of pairs of a row of `x` and an annotator.
    fn of_rows(&self, x: Vec<f32>, texts: usize, rows: &Rows) -> Result<Vec<f32>, ModelError> {
        let x = if self.x.dim == 0 { vec![0.0; texts] } else { x };
        let x = Tensor::from_vec(x, (texts, self.network.shape.dim), &Device::Cpu)?;
        Ok(self.network.probabilities(&x, rows)?)
    }

    /// Computes the probabilities of pairs of a text of `rows` (texts x dim) and an annotator, pairs x
    /// levels.
    pub fn predict_new_texts(
        &self,
        rows: &[f32],
        pairs: &[(u32, u32)],
        progress: &dyn Progress,
    ) -> Result<Vec<f32>, ModelError> {
        let dim = self.x.dim;
        let mut out = Vec::with_capacity(pairs.len() * self.levels());
        for pairs in pairs.chunks(BATCH_PAIRS) {
            if progress.cancelled() {
                return Err(ModelError::Cancelled);
            }
            let row = |text: u32| &rows[text as usize * dim..(text as usize + 1) * dim];
            let x = pairs.iter().flat_map(|pair| row(pair.0).iter().copied()).collect();
            let rows = Rows {
                texts: (0..pairs.len() as u32).collect(),
                annotators: pairs.iter().map(|pair| Some(pair.1)).collect(),
                ..Rows::default()
            };
            out.extend(self.of_rows(x, pairs.len(), &rows)?);
        }
        Ok(out)
    }

    fn fill(&self, texts: &[u32], annotators: &[Option<u32>], out: &mut [f32]) {
        let levels = self.levels();
        let chunks = texts.chunks(BATCH_PAIRS).zip(annotators.chunks(BATCH_PAIRS));
        for ((texts, annotators), out) in chunks.zip(out.chunks_mut(BATCH_PAIRS * levels)) {
            let x = texts.iter().flat_map(|t| self.x.row(*t as usize).iter().copied()).collect();
            let rows = Rows {
                texts: (0..texts.len() as u32).collect(),
                annotators: annotators.to_vec(),
                ..Rows::default()
            };
            match self.of_rows(x, texts.len(), &rows) {
                Ok(p) => out.copy_from_slice(&p),
                // Models predict on the CPU with validated shapes: only a bug leads here.
                Err(error) => unreachable!("{error}"),
            }
        }
    }
}

impl AnnotatorModel for NetworkModel {
    fn kind(&self) -> ModelKind {
        self.network.spec.model
    }

    fn levels(&self) -> usize {
        self.network.shape.target.levels
    }

    fn texts(&self) -> usize {
        self.x.texts
    }

    fn annotators(&self) -> usize {
        self.network.shape.annotators
    }

    fn knows(&self, annotator: u32) -> bool {
        let alike = matches!(self.kind(), ModelKind::Majority | ModelKind::Shared);
        alike || self.network.knows(annotator)
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        self.fill(&[text], &[Some(annotator)], out);
    }

    fn predict_new_annotator(&self, text: u32, attributes: &[Option<u16>], out: &mut [f32]) {
        let rows = Rows {
            texts: vec![0],
            annotators: vec![None],
            one_hot: self.network.shape.one_hot.of_values(attributes),
            ..Rows::default()
        };
        match self.of_rows(self.x.row(text as usize).to_vec(), 1, &rows) {
            Ok(p) => out.copy_from_slice(&p),
            // As in `fill`.
            Err(error) => unreachable!("{error}"),
        }
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        let (x, expected) = (text.embedding, self.x.dim);
        if x.len() != expected {
            return Err(ModelError::EmbeddingLength { expected, found: x.len() });
        }
        let rows = Rows { texts: vec![0], annotators: vec![Some(annotator)], ..Rows::default() };
        out.copy_from_slice(&self.of_rows(x.to_vec(), 1, &rows)?);
        Ok(())
    }

    fn predict_pairs(&self, pairs: &[(u32, u32)], out: &mut [f32]) {
        let texts: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        let annotators: Vec<Option<u32>> = pairs.iter().map(|pair| Some(pair.1)).collect();
        self.fill(&texts, &annotators, out);
    }

    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        let (n, levels) = (texts.len(), self.levels());
        let rows: Vec<u32> = texts.map(|t| t as u32).collect();
        let mut p = vec![0.0; n * levels];
        self.fill(&rows, &vec![Some(annotator); n], &mut p);
        for (i, p) in p.chunks_exact(levels).enumerate() {
            p.iter().enumerate().for_each(|(c, p)| out[c * n + i] = *p);
        }
    }
}
