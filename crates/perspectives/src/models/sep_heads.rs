//! `sep-heads`: one head per annotator, trained on that person's labels alone.
//!
//! All heads share one penalty strength, chosen by the pooled held-out likelihood of everybody's labels, so that the
//! comparison with the other models is a fair one.

use super::shared::{self, PlainHead, SharedHead};
use super::{AnnotatorModel, ModelKind, Prepared};
use crate::PerspectivesError;
use crate::data::Observation;
use crate::head::{HeadProblem, STRENGTHS};
use crate::link::Link;
use crate::progress::{Progress, step};
use rayon::prelude::*;

/// One head per annotator with labels; the shared head for everybody else.
pub(crate) struct SepHeads {
    fallback: SharedHead,
    heads: Vec<Option<PlainHead>>,
    /// Shared with other models; per-annotator scores are computed when asked for, not stored for all texts.
    embeddings: std::sync::Arc<crate::math::rotate::Rotated>,
    /// q x dim rotated weights per annotator.
    weights: Vec<Vec<f64>>,
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
    let lambda = strength(link, prepared, &own);
    step(progress, "sep-heads: heads", 0.7)?;
    let fitted: Vec<Option<(PlainHead, Vec<f64>)>> = own
        .par_iter()
        .map(|labels| {
            let head = problem(link, prepared, labels)?.fit_all(lambda);
            Some((PlainHead::new(link, prepared, &head, false), head.weights))
        })
        .collect();
    let mut heads = Vec::with_capacity(fitted.len());
    let mut weights = Vec::with_capacity(fitted.len());
    for fit in fitted {
        let (head, w) = fit.map_or((None, Vec::new()), |(h, w)| (Some(h), w));
        heads.push(head);
        weights.push(w);
    }
    Ok(SepHeads { fallback, heads, embeddings: prepared.x.clone(), weights })
}

fn problem<'a>(link: Link, prepared: &'a Prepared<'_>, labels: &'a [Observation]) -> Option<HeadProblem<'a>> {
    (!labels.is_empty()).then_some(HeadProblem {
        link,
        x: &prepared.x,
        observations: labels,
        deviations: &[],
        flatten: 1.0,
    })
}

/// The strength with the best pooled held-out likelihood.
fn strength(link: Link, prepared: &Prepared<'_>, own: &[Vec<Observation>]) -> f64 {
    let sums = own
        .par_iter()
        .filter_map(|labels| {
            Some(problem(link, prepared, labels)?.held_out(&prepared.fold, prepared.folds).0)
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold(vec![0.0; STRENGTHS.len()], |mut total, sums| {
            total.iter_mut().zip(sums).for_each(|(t, s)| *t += s);
            total
        });
    let mut best = 0;
    for (at, sum) in sums.iter().enumerate() {
        if *sum > sums[best] {
            best = at;
        }
    }
    STRENGTHS[best]
}

impl SepHeads {
    fn head(&self, annotator: u32) -> Option<&PlainHead> {
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
        let Some(head) = self.head(annotator) else {
            return self.fallback.predict(text, annotator, out);
        };
        let dim = self.embeddings.dim;
        let w = &self.weights[annotator as usize];
        let mut u = vec![0.0; head.link.scores()];
        if dim > 0 {
            for (c, u) in u.iter_mut().enumerate() {
                *u = crate::math::dot(&w[c * dim..(c + 1) * dim], self.embeddings.row(text as usize));
            }
        }
        head.fill_from_scores(&u, out);
    }

    fn predict_embedding(&self, x: &[f32], annotator: u32, out: &mut [f32]) -> Result<(), PerspectivesError> {
        self.head(annotator).unwrap_or_else(|| self.fallback.plain()).fill_from_embedding(x, out)
    }
}
