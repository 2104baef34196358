//! `shared`: one head on all annotators' labels, independent of the annotator.

use super::Prepared;
use crate::linear::ridge::{LinearHead, RidgeProblem};
use crate::link::Link;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::Observation;
use dissensus_stats::data::{AnnotatorModel, ModelKind, TextFeatures};
use serde::{Deserialize, Serialize};

/// One head for all annotators, with its scores of every text.
#[derive(Clone, Debug)]
pub struct SharedHead {
    kind: ModelKind,
    annotators: usize,
    plain: PlainHead,
}

/// A head over raw embeddings with stored scores of its texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlainHead {
    pub(crate) link: Link,
    pub(crate) dim: usize,
    /// q x dim over raw embeddings.
    pub(crate) weights: Vec<f64>,
    /// q constants.
    pub(crate) constants: Vec<f64>,
    pub(crate) intercepts: Vec<f64>,
    /// texts x q.
    pub(crate) scores: Vec<f64>,
}

impl PlainHead {
    pub(crate) fn new(link: Link, prepared: &Prepared<'_>, head: &LinearHead, with_scores: bool) -> Self {
        let (q, dim) = (link.scores(), prepared.x.dim);
        let mut intercepts = vec![0.0; link.intercepts()];
        link.intercepts_of(&head.link_parameters, &[], &mut intercepts);
        let (mut weights, mut constants) = (Vec::new(), Vec::new());
        for c in 0..q {
            let (w, constant) = prepared.x.to_raw_weights(&head.weights[c * dim..(c + 1) * dim]);
            weights.extend(w);
            constants.push(constant);
        }
        let scores = if with_scores { scores_of(link, prepared, &head.weights) } else { Vec::new() };
        Self { link, dim, weights, constants, intercepts, scores }
    }

    /// The same head without scores of texts.
    pub(crate) fn without_texts(&self) -> Self {
        Self { scores: Vec::new(), ..self.clone() }
    }

    /// Checks that the sizes of a deserialised head are consistent.
    pub(crate) fn fits(&self) -> bool {
        let q = self.link.scores();
        self.link.levels >= 2
            && self.weights.len() == q * self.dim
            && self.constants.len() == q
            && self.intercepts.len() == self.link.intercepts()
            && self.scores.is_empty()
    }

    pub(crate) fn fill_from_scores(&self, u: &[f64], out: &mut [f32]) {
        let mut p = vec![0.0; self.link.levels];
        self.link.probabilities(u, &self.intercepts, 1.0, &mut p);
        for (o, p) in out.iter_mut().zip(p) {
            *o = p as f32;
        }
    }

    pub(crate) fn fill_from_embedding(&self, x: &[f32], out: &mut [f32]) -> Result<(), ModelError> {
        self.fill_from_scores(&raw_scores(&self.weights, &self.constants, self.dim, x)?, out);
        Ok(())
    }
}

/// Scores of a raw embedding under q raw weight rows.
pub(crate) fn raw_scores(
    weights: &[f64],
    constants: &[f64],
    dim: usize,
    x: &[f32],
) -> Result<Vec<f64>, ModelError> {
    if x.len() != dim {
        return Err(ModelError::EmbeddingLength { expected: dim, found: x.len() });
    }
    Ok(constants
        .iter()
        .enumerate()
        .map(|(c, k)| {
            k + weights[c * dim..(c + 1) * dim].iter().zip(x).map(|(w, &x)| w * f64::from(x)).sum::<f64>()
        })
        .collect())
}

/// Scores of all texts (texts x q) under rotated weights.
pub(crate) fn scores_of(link: Link, prepared: &Prepared<'_>, weights: &[f64]) -> Vec<f64> {
    let (q, dim) = (link.scores(), prepared.x.dim);
    let mut scores = vec![0.0; prepared.x.texts * q];
    if dim > 0 {
        for (text, out) in scores.chunks_exact_mut(q).enumerate() {
            for (c, u) in out.iter_mut().enumerate() {
                *u = dissensus_stats::math::dot(&weights[c * dim..(c + 1) * dim], prepared.x.row(text));
            }
        }
    }
    scores
}

/// Fits the shared head of `prepared`.
pub fn fit(prepared: &Prepared<'_>) -> SharedHead {
    of(ModelKind::Shared, prepared, &prepared.observations)
}

/// Fits one head on any sorted observations.
pub(crate) fn of(kind: ModelKind, prepared: &Prepared<'_>, observations: &[Observation]) -> SharedHead {
    let link = Link::new(prepared.target);
    let problem = RidgeProblem {
        link,
        x: &prepared.x,
        observations,
        random_effects: &[],
        attenuation: 1.0,
        around: &[],
    };
    let cross = problem.cross_fit(&prepared.fold, prepared.folds);
    SharedHead {
        kind,
        annotators: prepared.annotators,
        plain: PlainHead::new(link, prepared, &cross.whole, true),
    }
}

impl SharedHead {
    pub(crate) fn plain(&self) -> &PlainHead {
        &self.plain
    }
}

impl AnnotatorModel for SharedHead {
    fn kind(&self) -> ModelKind {
        self.kind
    }

    fn levels(&self) -> usize {
        self.plain.link.levels
    }

    fn texts(&self) -> usize {
        self.plain.scores.len() / self.plain.link.scores()
    }

    fn annotators(&self) -> usize {
        self.annotators
    }

    fn predict(&self, text: u32, _annotator: u32, out: &mut [f32]) {
        let q = self.plain.link.scores();
        self.plain.fill_from_scores(&self.plain.scores[text as usize * q..(text as usize + 1) * q], out);
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        _annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        self.plain.fill_from_embedding(text.embedding, out)
    }
}
