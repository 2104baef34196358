//! `multilevel` while an encoder is tuned: a linear head, and annotators' random effects that are fixed
//! between fits.

use super::dense::DropoutRng;
use super::head::HeadSpec;
use candle_core::{DType, Device, Result, Tensor, Var};
use dissensus_models::link::Link;

/// Computes `outputs = fixed effects + theta_a`, plus the scores of the text. The head and the fixed
/// effects learn by gradient; random effects are fitted alternately.
#[derive(Clone, Debug)]
pub(crate) struct MixedHead {
    link: Link,
    weight: Var,
    fixed_effects: Var,
    /// annotators x width, added to the outputs.
    random_effects: Vec<f32>,
}

impl MixedHead {
    pub(crate) fn new(link: Link, dim: usize, start: &[f32], device: &Device) -> Result<Self> {
        Ok(Self {
            link,
            weight: Var::zeros((dim, link.scores()), DType::F32, device)?,
            fixed_effects: Var::from_slice(start, start.len(), device)?,
            random_effects: Vec::new(),
        })
    }

    /// Adopts a fit: weights (scores x dim) and fixed effects over the embeddings as the network sees them,
    /// and all annotators' random effects (annotators x random effects).
    pub(crate) fn refit(
        &mut self,
        weights: &[f64],
        fixed_effects: &[f64],
        random_effects: &[f64],
    ) -> Result<()> {
        let (dim, scores) = self.weight.dims2()?;
        let transposed: Vec<f32> =
            (0..dim * scores).map(|i| weights[(i % scores) * dim + i / scores] as f32).collect();
        self.weight.set(&Tensor::from_vec(transposed, (dim, scores), self.weight.device())?)?;
        let fixed_effects: Vec<f32> = fixed_effects.iter().map(|b| *b as f32).collect();
        self.fixed_effects.set(&Tensor::from_slice(
            &fixed_effects,
            fixed_effects.len(),
            self.fixed_effects.device(),
        )?)?;
        let (link, d) = (self.link, self.link.random_effects());
        self.random_effects = random_effects
            .chunks_exact(d)
            .flat_map(|theta| (0..link.intercepts()).map(move |j| theta[link.random_effect_of(j)] as f32))
            .collect();
        Ok(())
    }

    /// Applies the head to `x` `[n, dim]` for these annotators; an unknown annotator gets only the fixed
    /// effects.
    pub(crate) fn apply(
        &self,
        spec: &HeadSpec,
        x: &Tensor,
        annotators: &[Option<u32>],
        dropout: Option<DropoutRng>,
    ) -> Result<Tensor> {
        let width = self.link.intercepts();
        let x = DropoutRng::dropout(dropout, x.clone(), spec.embedding_dropout, 0)?;
        let mut scores = x.matmul(self.weight.as_tensor())?;
        if !self.link.softmax && width > 1 {
            // The score shifts all levels: it is added only to the first output.
            let rest = Tensor::zeros((annotators.len(), width - 1), DType::F32, x.device())?;
            scores = Tensor::cat(&[&scores, &rest], 1)?;
        }
        let mut theta = Vec::with_capacity(annotators.len() * width);
        for annotator in annotators {
            let at = annotator.map_or(usize::MAX, |a| a as usize).saturating_mul(width);
            match self.random_effects.get(at..at.saturating_add(width)) {
                Some(row) => theta.extend_from_slice(row),
                None => theta.extend(std::iter::repeat_n(0.0, width)),
            }
        }
        let theta = Tensor::from_vec(theta, (annotators.len(), width), x.device())?;
        scores.broadcast_add(self.fixed_effects.as_tensor())? + theta
    }

    pub(crate) fn named(&self, out: &mut Vec<(String, Var)>) {
        out.push(("weight".into(), self.weight.clone()));
        out.push(("base".into(), self.fixed_effects.clone()));
    }

    pub(crate) fn random_effects(&self) -> &[f32] {
        &self.random_effects
    }

    pub(crate) fn set_random_effects(&mut self, random_effects: Vec<f32>) {
        self.random_effects = random_effects;
    }
}
