//! `multilevel` while an encoder is tuned: a linear head and annotators' deviations that stay as the last fit left them.

use super::dense::Chance;
use super::head::HeadSpec;
use crate::mixed::link::Link;
use candle_core::{DType, Device, Result, Tensor, Var};

/// `outputs = base + theta_a`, to which the text adds its scores. Head and base learn; deviations are fitted in turn.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    link: Link,
    /// `[dim, scores]`
    weight: Var,
    /// `[width]`
    base: Var,
    /// annotators x width, added to the outputs.
    deviations: Vec<f32>,
}

impl Offsets {
    pub(crate) fn new(link: Link, dim: usize, start: &[f32], device: &Device) -> Result<Self> {
        Ok(Self {
            link,
            weight: Var::zeros((dim, link.scores()), DType::F32, device)?,
            base: Var::from_slice(start, start.len(), device)?,
            deviations: Vec::new(),
        })
    }

    /// Takes over a fit: weights (scores x dim) and base over the embeddings as the network sees them, and everybody's
    /// deviations (annotators x deviations).
    pub(crate) fn refit(&mut self, weights: &[f64], base: &[f64], deviations: &[f64]) -> Result<()> {
        let (dim, scores) = self.weight.dims2()?;
        let transposed: Vec<f32> =
            (0..dim * scores).map(|i| weights[(i % scores) * dim + i / scores] as f32).collect();
        self.weight.set(&Tensor::from_vec(transposed, (dim, scores), self.weight.device())?)?;
        let base: Vec<f32> = base.iter().map(|b| *b as f32).collect();
        self.base.set(&Tensor::from_slice(&base, base.len(), self.base.device())?)?;
        let (link, d) = (self.link, self.link.deviations());
        self.deviations = deviations
            .chunks_exact(d)
            .flat_map(|theta| (0..link.offsets()).map(move |j| theta[link.deviation_of(j)] as f32))
            .collect();
        Ok(())
    }

    /// `x` `[n, dim]` for these annotators; somebody unknown is average.
    pub(crate) fn apply(
        &self,
        spec: &HeadSpec,
        x: &Tensor,
        annotators: &[Option<u32>],
        chance: Option<Chance>,
    ) -> Result<Tensor> {
        let width = self.link.offsets();
        let x = Chance::dropout(chance, x.clone(), spec.embedding_dropout, 0)?;
        let mut scores = x.matmul(self.weight.as_tensor())?;
        if !self.link.softmax && width > 1 {
            // The score shifts all levels: it is part of the first output only.
            let rest = Tensor::zeros((annotators.len(), width - 1), DType::F32, x.device())?;
            scores = Tensor::cat(&[&scores, &rest], 1)?;
        }
        let mut theta = Vec::with_capacity(annotators.len() * width);
        for annotator in annotators {
            let at = annotator.map_or(usize::MAX, |a| a as usize).saturating_mul(width);
            match self.deviations.get(at..at.saturating_add(width)) {
                Some(row) => theta.extend_from_slice(row),
                None => theta.extend(std::iter::repeat_n(0.0, width)),
            }
        }
        let theta = Tensor::from_vec(theta, (annotators.len(), width), x.device())?;
        scores.broadcast_add(self.base.as_tensor())? + theta
    }

    pub(crate) fn named(&self, out: &mut Vec<(String, Var)>) {
        out.push(("weight".into(), self.weight.clone()));
        out.push(("base".into(), self.base.clone()));
    }

    pub(crate) fn deviations(&self) -> &[f32] {
        &self.deviations
    }

    pub(crate) fn set_deviations(&mut self, deviations: Vec<f32>) {
        self.deviations = deviations;
    }
}
