//! `sep-heads`: one head per annotator, trained on that person's labels alone.
//!
//! All heads share one penalty strength, chosen by the pooled held-out likelihood of everybody's labels, so that the
//! comparison with the other models is a fair one. People with fewer labels than [`MOST_LABELS`] have their heads found
//! among their own texts ([`OwnHead`]), which gives the same heads sooner.

use super::Prepared;
use super::shared::{self, SharedHead};
use crate::data::Observation;
use crate::data::PerspectivesError;
use crate::data::progress::{Progress, step};
use crate::data::{AnnotatorModel, ModelKind};
use crate::linear::head::{BASE_PRECISION, Head, HeadProblem, strengths};
use crate::linear::own_head::{MOST_LABELS, Mixture, OwnHead};
use crate::linear::rotate::Rotated;
use crate::math::{axpy, dot};
use crate::mixed::link::Link;
use rayon::prelude::*;
use std::sync::Arc;

/// The strength is chosen by this many annotators at most, evenly spaced: tens of thousands of labels tell one number.
const MOST_JUDGES: usize = 2000;

/// One head per annotator with labels; the shared head for everybody else.
pub(crate) struct SepHeads {
    link: Link,
    fallback: SharedHead,
    heads: Vec<Option<RotatedHead>>,
    /// Shared with other models; scores are computed when asked for, not stored for all texts.
    x: Arc<Rotated>,
}

/// One person's head over rotated embeddings.
struct RotatedHead {
    /// q x dim.
    weights: Vec<f64>,
    offsets: Vec<f64>,
}

/// Fits all heads.
///
/// # Errors
/// [`PerspectivesError::Cancelled`].
pub(crate) fn fit(
    prepared: &Prepared<'_>,
    progress: &mut dyn Progress,
) -> Result<SepHeads, PerspectivesError> {
    let link = Link::new(prepared.target);
    let fallback = shared::fit(prepared);
    let mut own: Vec<Vec<Observation>> = vec![Vec::new(); prepared.annotators];
    for o in &prepared.observations {
        own[o.annotator as usize].push(*o);
    }
    step(progress, "sep-heads: strength", 0.2)?;
    let lambda = strength(link, prepared, &own, progress)?;
    step(progress, "sep-heads: heads", 0.7)?;
    let heads = own
        .par_iter()
        .map(|labels| {
            let mut trial = Trial::new(link, prepared, labels, 0)?;
            Some(RotatedHead::new(link, trial.whole(lambda), prepared, labels))
        })
        .collect();
    Ok(SepHeads { link, fallback, heads, x: prepared.x.clone() })
}

/// One person's problem, in whichever of the two spaces is smaller, with a fit for every fold left out.
enum Trial<'a> {
    Own(OwnHead, Vec<Mixture>),
    Embeddings(HeadProblem<'a>, Vec<Head>),
}

/// A fit to all labels of one person.
enum Fit {
    Own(Mixture),
    Embeddings(Head),
}

impl<'a> Trial<'a> {
    fn new(link: Link, prepared: &'a Prepared<'_>, labels: &'a [Observation], folds: usize) -> Option<Self> {
        if labels.is_empty() {
            return None;
        }
        if link.softmax || labels.len() > MOST_LABELS || prepared.x.dim == 0 {
            let problem =
                HeadProblem { link, x: &prepared.x, observations: labels, deviations: &[], flatten: 1.0 };
            let starts = problem.starts(folds);
            return Some(Self::Embeddings(problem, starts));
        }
        let rows: Vec<&[f64]> = labels.iter().map(|o| prepared.x.row(o.text as usize)).collect();
        let head = OwnHead::new(link, &rows, labels.iter().map(|o| o.level).collect(), BASE_PRECISION);
        let starts = vec![head.start(); folds];
        Some(Self::Own(head, starts))
    }

    fn whole(&mut self, lambda: f64) -> Fit {
        match self {
            Self::Embeddings(problem, _) => Fit::Embeddings(problem.fit_all(lambda)),
            Self::Own(head, _) => {
                let mut mixture = head.start();
                let all: Vec<usize> = (0..mixture.alpha.len()).collect();
                head.fit(lambda, &mut mixture, &all);
                Fit::Own(mixture)
            }
        }
    }

    /// Summed held-out log-likelihood.
    fn held_out(&mut self, lambda: f64, labels: &[Observation], fold: &[u8]) -> f64 {
        match self {
            Self::Embeddings(problem, heads) => problem.held_out(lambda, heads, fold),
            Self::Own(head, mixtures) => {
                let each = mixtures.iter_mut().enumerate().map(|(f, mixture)| {
                    let (outside, inside): (Vec<usize>, Vec<usize>) =
                        (0..labels.len()).partition(|&i| usize::from(fold[labels[i].text as usize]) == f);
                    if outside.is_empty() {
                        return 0.0;
                    }
                    head.fit(lambda, mixture, &inside);
                    head.score(mixture, &outside)
                });
                each.sum()
            }
        }
    }
}

/// The strength with the best pooled held-out likelihood, strongest first; two worse ones in turn end the search.
fn strength(
    link: Link,
    prepared: &Prepared<'_>,
    own: &[Vec<Observation>],
    progress: &mut dyn Progress,
) -> Result<f64, PerspectivesError> {
    let labelled: Vec<&Vec<Observation>> = own.iter().filter(|labels| !labels.is_empty()).collect();
    let judges = labelled.len().min(MOST_JUDGES);
    let mut trials: Vec<(&Vec<Observation>, Trial<'_>)> = (0..judges)
        .into_par_iter()
        .map(|i| labelled[i * labelled.len() / judges])
        .filter_map(|labels| Some((labels, Trial::new(link, prepared, labels, prepared.folds)?)))
        .collect();
    let tried = strengths(prepared.x.dim);
    let (mut best, mut worse) = ((f64::MIN, tried[0]), 0);
    for (at, &lambda) in tried.iter().enumerate() {
        step(progress, "sep-heads: strength", 0.2 + 0.5 * at as f32 / tried.len() as f32)?;
        // Collected first, so that the sum does not depend on who finished when.
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

impl RotatedHead {
    fn new(link: Link, fit: Fit, prepared: &Prepared<'_>, labels: &[Observation]) -> Self {
        let (weights, base) = match fit {
            Fit::Embeddings(head) => (head.weights, head.base),
            Fit::Own(mixture) => {
                let mut weights = vec![0.0; prepared.x.dim];
                for (o, alpha) in labels.iter().zip(&mixture.alpha) {
                    axpy(*alpha, prepared.x.row(o.text as usize), &mut weights);
                }
                (weights, mixture.base)
            }
        };
        let mut offsets = vec![0.0; link.offsets()];
        link.offsets_of(&base, &[], &mut offsets);
        Self { weights, offsets }
    }

    /// Probabilities at a rotated embedding.
    fn fill(&self, link: Link, x: &[f64], out: &mut [f32]) {
        let u: Vec<f64> = match x.len() {
            0 => vec![0.0; link.scores()],
            dim => self.weights.chunks_exact(dim).map(|w| dot(w, x)).collect(),
        };
        let mut p = vec![0.0; link.levels];
        link.probabilities(&u, &self.offsets, 1.0, &mut p);
        out.iter_mut().zip(p).for_each(|(o, p)| *o = p as f32);
    }
}

impl SepHeads {
    fn head(&self, annotator: u32) -> Option<&RotatedHead> {
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

    fn predict_embedding(&self, x: &[f32], annotator: u32, out: &mut [f32]) -> Result<(), PerspectivesError> {
        match self.head(annotator) {
            None => self.fallback.plain().fill_from_embedding(x, out),
            Some(head) => {
                head.fill(self.link, &self.x.rotate(x)?, out);
                Ok(())
            }
        }
    }
}
