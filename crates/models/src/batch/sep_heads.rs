//! `sep-heads`: one head per annotator, trained only on that annotator's labels.
//!
//! All heads share one penalty, chosen by the pooled held-out likelihood of all annotators' labels, so that
//! the comparison with the other models is a fair one. For annotators with fewer labels than
//! [`MAX_DUAL_LABELS`] the dual problem ([`DualRidge`]) is solved, which gives the same heads faster.

use super::Prepared;
use super::shared::{self, PlainHead, SharedHead};
use crate::linear::dual::{DualRidge, DualSolution, MAX_DUAL_LABELS};
use crate::linear::pca::PcaEmbeddings;
use crate::linear::ridge::{LinearHead, RidgeProblem, penalties};
use crate::link::{INTERCEPT_PRECISION, Link};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::Observation;
pub use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::data::{AnnotatorModel, ModelKind, TextFeatures};
use dissensus_stats::math::{axpy, dot};
use rayon::prelude::*;
use std::sync::Arc;

/// Largest number of annotators used to choose the penalty, evenly spaced.
const MAX_TUNING_ANNOTATORS: usize = 2000;

/// One head per annotator with labels; the shared head for all other annotators.
pub struct SepHeads {
    link: Link,
    fallback: SharedHead,
    heads: Vec<Option<AnnotatorHead>>,
    /// Shared with other models; scores are computed on demand, not stored for all texts.
    x: Arc<PcaEmbeddings>,
}

/// One annotator's head over rotated embeddings.
struct AnnotatorHead {
    /// q x dim.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
}

/// Fits all heads.
///
/// # Errors
/// [`ModelError::Cancelled`].
pub fn fit(prepared: &Prepared<'_>, progress: &dyn Progress) -> Result<SepHeads, ModelError> {
    let link = Link::new(prepared.target);
    let fallback = shared::fit(prepared);
    let mut by_annotator: Vec<Vec<Observation>> = vec![Vec::new(); prepared.annotators];
    for o in &prepared.observations {
        by_annotator[o.annotator as usize].push(*o);
    }
    step(progress, "sep-heads: penalty", 0.2)?;
    let lambda = choose_penalty(link, prepared, &by_annotator, progress)?;
    step(progress, "sep-heads: heads", 0.7)?;
    let heads = by_annotator
        .par_iter()
        .map(|labels| {
            let mut trial = Trial::new(link, prepared, labels, 0)?;
            Some(AnnotatorHead::new(link, trial.whole(lambda), prepared, labels))
        })
        .collect();
    Ok(SepHeads { link, fallback, heads, x: prepared.x.clone() })
}

/// One annotator's problem, in the smaller of the two spaces, with a fit for every held-out fold.
enum Trial<'a> {
    Dual(DualRidge, Vec<DualSolution>),
    Primal(RidgeProblem<'a>, Vec<LinearHead>),
}

/// A fit to all labels of one annotator.
enum Fit {
    Dual(DualSolution),
    Primal(LinearHead),
}

impl<'a> Trial<'a> {
    fn new(link: Link, prepared: &'a Prepared<'_>, labels: &'a [Observation], folds: usize) -> Option<Self> {
        if labels.is_empty() {
            return None;
        }
        if link.softmax || labels.len() > MAX_DUAL_LABELS || prepared.x.dim == 0 {
            let problem = RidgeProblem {
                link,
                x: &prepared.x,
                observations: labels,
                random_effects: &[],
                attenuation: 1.0,
                around: &[],
            };
            let starts = problem.starts(folds);
            return Some(Self::Primal(problem, starts));
        }
        let rows: Vec<&[f64]> = labels.iter().map(|o| prepared.x.row(o.text as usize)).collect();
        let head = DualRidge::new(link, &rows, labels.iter().map(|o| o.level).collect(), INTERCEPT_PRECISION);
        let starts = vec![head.start(); folds];
        Some(Self::Dual(head, starts))
    }

    fn whole(&mut self, lambda: f64) -> Fit {
        match self {
            Self::Primal(problem, _) => Fit::Primal(problem.fit_all(lambda)),
            Self::Dual(head, _) => {
                let mut solution = head.start();
                let all: Vec<usize> = (0..solution.alpha.len()).collect();
                head.fit(lambda, &mut solution, &all);
                Fit::Dual(solution)
            }
        }
    }

    /// Summed held-out log-likelihood.
    fn held_out(&mut self, lambda: f64, labels: &[Observation], fold: &[u8]) -> f64 {
        match self {
            Self::Primal(problem, heads) => problem.held_out(lambda, heads, fold),
            Self::Dual(head, solutions) => {
                let each = solutions.iter_mut().enumerate().map(|(f, solution)| {
                    let (outside, inside): (Vec<usize>, Vec<usize>) =
                        (0..labels.len()).partition(|&i| usize::from(fold[labels[i].text as usize]) == f);
                    if outside.is_empty() {
                        return 0.0;
                    }
                    head.fit(lambda, solution, &inside);
                    head.score(solution, &outside)
                });
                each.sum()
            }
        }
    }
}

/// The penalty with the best pooled held-out likelihood, from the largest down; two worse ones in a row end
/// the search.
fn choose_penalty(
    link: Link,
    prepared: &Prepared<'_>,
    by_annotator: &[Vec<Observation>],
    progress: &dyn Progress,
) -> Result<f64, ModelError> {
    let labelled: Vec<&Vec<Observation>> = by_annotator.iter().filter(|labels| !labels.is_empty()).collect();
    let many = labelled.len().min(MAX_TUNING_ANNOTATORS);
    let mut trials: Vec<(&Vec<Observation>, Trial<'_>)> = (0..many)
        .into_par_iter()
        .map(|i| labelled[i * labelled.len() / many])
        .filter_map(|labels| Some((labels, Trial::new(link, prepared, labels, prepared.folds)?)))
        .collect();
    let tried = penalties(prepared.x.dim);
    let (mut best, mut worse) = ((f64::MIN, tried[0]), 0);
    for (at, &lambda) in tried.iter().enumerate() {
        step(progress, "sep-heads: penalty", 0.2 + 0.5 * at as f32 / tried.len() as f32)?;
        // Collected first, so that the sum does not depend on the order of completion.
        let sums: Vec<f64> = trials
            .par_iter_mut()
            .map(|(labels, trial)| trial.held_out(lambda, labels, &prepared.fold))
            .collect();
        let sum: f64 = sums.iter().sum();
        if sum > best.0 {
            (best, worse) = ((sum, lambda), 0);
        } else {
            worse += 1;
            if worse == 2 {
                break;
            }
        }
    }
    Ok(best.1)
}

impl AnnotatorHead {
    fn new(link: Link, fit: Fit, prepared: &Prepared<'_>, labels: &[Observation]) -> Self {
        let (weights, link_parameters) = match fit {
            Fit::Primal(head) => (head.weights, head.link_parameters),
            Fit::Dual(solution) => {
                let mut weights = vec![0.0; prepared.x.dim];
                for (o, alpha) in labels.iter().zip(&solution.alpha) {
                    axpy(*alpha, prepared.x.row(o.text as usize), &mut weights);
                }
                (weights, solution.link_parameters)
            }
        };
        let mut intercepts = vec![0.0; link.intercepts()];
        link.intercepts_of(&link_parameters, &[], &mut intercepts);
        Self { weights, intercepts }
    }

    /// Probabilities at a rotated embedding.
    fn fill(&self, link: Link, x: &[f64], out: &mut [f32]) {
        let u: Vec<f64> = match x.len() {
            0 => vec![0.0; link.scores()],
            dim => self.weights.chunks_exact(dim).map(|w| dot(w, x)).collect(),
        };
        let mut p = vec![0.0; link.levels];
        link.probabilities(&u, &self.intercepts, 1.0, &mut p);
        out.iter_mut().zip(p).for_each(|(o, p)| *o = p as f32);
    }
}

impl SepHeads {
    pub(crate) fn fallback(&self) -> &SharedHead {
        &self.fallback
    }

    /// The annotators' own heads over raw embeddings.
    pub(crate) fn raw_heads(&self) -> Vec<Option<PlainHead>> {
        let (q, dim) = (self.link.scores(), self.x.dim);
        let raw = |head: &AnnotatorHead| {
            let each = (0..q).map(|c| self.x.to_raw_weights(&head.weights[c * dim..(c + 1) * dim]));
            let (weights, constants): (Vec<Vec<f64>>, Vec<f64>) = each.unzip();
            PlainHead {
                link: self.link,
                dim,
                weights: weights.concat(),
                constants,
                intercepts: head.intercepts.clone(),
                scores: Vec::new(),
            }
        };
        self.heads.par_iter().map(|head| head.as_ref().map(raw)).collect()
    }

    fn head(&self, annotator: u32) -> Option<&AnnotatorHead> {
        self.heads.get(annotator as usize).and_then(Option::as_ref)
    }
}

impl AnnotatorModel for SepHeads {
    fn kind(&self) -> ModelKind {
        ModelKind::SepHeads
    }

    fn levels(&self) -> usize {
        self.fallback.levels()
    }

    fn texts(&self) -> usize {
        self.fallback.texts()
    }

    fn annotators(&self) -> usize {
        self.heads.len()
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        match self.head(annotator) {
            None => self.fallback.predict(text, annotator, out),
            Some(head) if self.x.dim == 0 => head.fill(self.link, &[], out),
            Some(head) => head.fill(self.link, self.x.row(text as usize), out),
        }
    }

    fn knows(&self, annotator: u32) -> bool {
        self.head(annotator).is_some()
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        let x = text.embedding;
        match self.head(annotator) {
            None => self.fallback.plain().fill_from_embedding(x, out),
            Some(head) => {
                head.fill(self.link, &self.x.transform(x)?, out);
                Ok(())
            }
        }
    }
}
