//! `multilevel`: shared head, text effects and annotators' own links, each shrunk as far as the data say.

use super::Prepared;
use super::shared::{raw_scores, scores_of};
use crate::data::AttributeEvidence;
use crate::data::FitOptions;
use crate::data::PerspectivesError;
use crate::data::progress::{Progress, step};
use crate::data::{AnnotatorModel, ModelKind};
use crate::linear::head::{CrossFit, HeadProblem};
use crate::math::flatten;
use crate::mixed::Crossed;
use crate::mixed::crowd::Crowd;
use crate::mixed::link::Link;
use crate::mixed::neighbours::{self, Neighbours};
use crate::mixed::points::Point;
use crate::mixed::predictor::{PersonView, Scratch, TextColumns};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rounds of expectation maximisation after each estimate of the head.
const EM_ROUNDS: usize = 12;
/// Principal axes that slopes may use, besides the shared score itself.
const SLOPE_AXES: usize = 6;

/// What turns a raw embedding into scores and slope features.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EncoderToScore {
    pub(crate) dim: usize,
    /// q x dim.
    pub(crate) weights: Vec<f64>,
    pub(crate) constants: Vec<f64>,
    /// axes x dim.
    axes: Vec<f64>,
    axis_constants: Vec<f64>,
    /// Mean and inverse standard deviation of the shared score, for the slope on it.
    score_mean: f64,
    score_scale: f64,
    /// What texts that read alike add to the score.
    neighbours: Option<Neighbours>,
}

impl EncoderToScore {
    /// No encoder: every score is 0.
    pub(crate) fn constant(link: Link) -> Self {
        Self {
            dim: 0,
            weights: Vec::new(),
            constants: vec![0.0; link.scores()],
            axes: Vec::new(),
            axis_constants: Vec::new(),
            score_mean: 0.0,
            score_scale: 0.0,
            neighbours: None,
        }
    }

    /// Says what does not fit together in a head that was read from bytes.
    pub(crate) fn check(&self, link: Link, slope_dim: usize) -> Result<(), &'static str> {
        let fits = self.weights.len() == link.scores() * self.dim
            && self.constants.len() == link.scores()
            && self.axes.len() == self.axis_constants.len() * self.dim
            && (slope_dim < 2 || slope_dim == self.axis_constants.len() + 1)
            && self.neighbours.as_ref().is_none_or(|n| n.fits(self.dim));
        if fits { Ok(()) } else { Err("its head does not fit together") }
    }

    /// Scores of a raw embedding, and its first `slopes` features (none, the score alone, or all).
    pub(crate) fn apply(&self, x: &[f32], slopes: usize) -> Result<(Vec<f64>, Vec<f64>), PerspectivesError> {
        let mut u = raw_scores(&self.weights, &self.constants, self.dim, x)?;
        if let Some(neighbours) = &self.neighbours {
            u[0] += neighbours.at(x);
        }
        let mut z = Vec::new();
        if slopes > 0 {
            z.push((u[0] - self.score_mean) * self.score_scale);
        }
        if slopes > 1 {
            z.extend(raw_scores(&self.axes, &self.axis_constants, self.dim, x)?);
        }
        Ok((u, z))
    }
}

/// The fitted model.
#[derive(Clone, Debug)]
pub(crate) struct Multilevel {
    pub(crate) head: EncoderToScore,
    pub(crate) crossed: Crossed,
    pub(crate) columns: TextColumns,
    points: Vec<Point>,
    views: Vec<PersonView>,
    crowd: Crowd,
    average: PersonView,
}

impl Multilevel {
    pub(crate) fn fit(
        prepared: &Prepared<'_>,
        options: &FitOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, PerspectivesError> {
        let (head, crossed) = fit_effects(prepared, options, progress)?;
        Ok(Self::from_parts(head, crossed))
    }

    pub(crate) fn from_parts(head: EncoderToScore, crossed: Crossed) -> Self {
        let views: Vec<PersonView> = crossed.people.iter().map(|p| PersonView::new(&crossed, p)).collect();
        Self {
            columns: TextColumns::new(&crossed),
            points: Point::all(&crossed),
            crowd: Crowd::new(crossed.link, crossed.slope_dim, &views),
            views,
            average: PersonView::average(&crossed),
            head,
            crossed,
        }
    }

    pub(crate) fn views(&self) -> &[PersonView] {
        &self.views
    }

    /// Everybody, for one text at a time.
    pub(crate) fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// Takes over one text's new posterior.
    pub(crate) fn refresh_text(&mut self, text: usize) {
        let q = self.crossed.link.scores();
        self.columns.set(text, &self.crossed.u[text * q..(text + 1) * q], self.crossed.v[text]);
        self.points.iter_mut().for_each(|point| point.set(&self.crossed, text));
    }

    /// The columns that part `part` of the disagreement's sums is predicted from: all doubt in the first one, the text's
    /// own score held in the others.
    pub(crate) fn part(&self, part: usize) -> &TextColumns {
        part.checked_sub(1).map_or(&self.columns, |point| &self.points[point].columns)
    }

    /// Takes over one annotator's new posterior and gives back the old view.
    pub(crate) fn refresh_person(&mut self, annotator: usize) -> PersonView {
        let view = PersonView::new(&self.crossed, &self.crossed.people[annotator]);
        self.crowd.set(annotator, &view);
        std::mem::replace(&mut self.views[annotator], view)
    }

    /// Makes the last person of the effects predictable.
    pub(crate) fn push_person(&mut self) {
        self.crowd.push(&self.average);
        self.views.push(self.average.clone());
    }

    /// Adds a text by its raw embedding.
    pub(crate) fn push_text(&mut self, x: &[f32]) -> Result<(), PerspectivesError> {
        let (u, z) = self.head.apply(x, self.crossed.slope_dim)?;
        self.columns.push(&u, self.crossed.text_var, &z);
        self.crossed.push_text(&u, &z);
        let text = self.crossed.texts() - 1;
        self.points.iter_mut().for_each(|point| point.push(&self.crossed, text));
        Ok(())
    }

    /// All texts' probabilities under one view, level-major.
    pub(crate) fn fill_view(&self, view: &PersonView, out: &mut [f32]) {
        view.fill(&self.columns, 0..self.columns.len(), out, &mut Scratch::default());
    }

    pub(crate) fn labels_of(&self, annotator: u32) -> &[(u32, u16)] {
        self.crossed.people.get(annotator as usize).map_or(&[], |p| &p.labels)
    }

    /// Groups of weighted views of an annotator whose intercepts lie at the nodes of their posterior.
    pub(crate) fn bald_views(&self, annotator: u32, nodes: &[(f64, f64)]) -> Vec<Vec<(f64, PersonView)>> {
        let view = self.view(annotator);
        let groups = if self.crossed.link.softmax { self.crossed.link.levels } else { 1 };
        (0..groups)
            .map(|g| {
                let only = self.crossed.link.softmax.then_some(g);
                nodes.iter().map(|&(x, weight)| (weight, view.moved(only, x))).collect()
            })
            .collect()
    }

    fn view(&self, annotator: u32) -> &PersonView {
        self.views.get(annotator as usize).unwrap_or(&self.average)
    }
}

/// The head and the effects: rounds of head given people, people given out-of-fold scores.
pub(crate) fn fit_effects(
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &mut dyn Progress,
) -> Result<(EncoderToScore, Crossed), PerspectivesError> {
    let link = Link::new(prepared.target);
    let first = crate::mixed::first_doubt(link);
    let rounds = options.rounds.max(1);
    let mut crossed: Option<Crossed> = None;
    let mut cross = None;
    for round in 0..rounds {
        step(progress, "multilevel: shared head", round as f32 / rounds as f32)?;
        let deviations = crossed.as_ref().map(Crossed::deviations).unwrap_or_default();
        let doubt = crossed.as_ref().map_or(first, Crossed::mean_doubt);
        let problem = HeadProblem {
            link,
            x: &prepared.x,
            observations: &prepared.observations,
            deviations: &deviations,
            flatten: flatten(doubt),
        };
        let fitted = problem.cross_fit(&prepared.fold, prepared.folds);
        step(progress, "multilevel: annotators", (round as f32 + 0.7) / rounds as f32)?;
        let scores = out_of_fold(link, prepared, &fitted);
        let mut next = match crossed.take() {
            None => Crossed::new(link, scores, prepared.annotators, &prepared.observations),
            Some(mut before) => {
                before.scores = scores;
                before
            }
        };
        next.base.clone_from(&fitted.whole.base);
        next.maximise(EM_ROUNDS);
        crossed = Some(next);
        cross = Some(fitted);
    }
    let (Some(mut crossed), Some(cross)) = (crossed, cross) else { return Err(PerspectivesError::Cancelled) };
    step(progress, "multilevel: texts that read alike", 0.9)?;
    let neighbours = learn_neighbours(prepared, &mut crossed);
    if neighbours.is_some() {
        crossed.maximise(EM_ROUNDS);
    }
    if !prepared.attributes.is_empty() {
        step(progress, "multilevel: attributes", 0.93)?;
        let evidence = crossed.try_attributes(prepared.attributes, options.seed);
        if evidence.is_some_and(|evidence| evidence.used) {
            crossed.maximise(EM_ROUNDS);
        }
    }
    let mut head = encoder(link, prepared, &cross, &crossed);
    if let Some((weights, neighbours)) = neighbours {
        (head.weights, head.constants) = unrotated(link, prepared, &weights);
        head.neighbours = Some(neighbours);
    }
    if options.slopes && prepared.x.dim > 0 && !link.softmax {
        step(progress, "multilevel: slopes", 0.95)?;
        let (z, dim) = slope_features(prepared, &head, &crossed);
        crossed.try_slopes(&z, dim, &prepared.fold, prepared.folds);
    }
    Ok((head, crossed))
}

/// Scores of labelled texts from the head that did not see them; of all others from the head that saw everything.
fn out_of_fold(link: Link, prepared: &Prepared<'_>, cross: &CrossFit) -> Vec<f64> {
    let q = link.scores();
    let mut scores = scores_of(link, prepared, &cross.whole.weights);
    let mut labelled = vec![false; prepared.x.texts];
    prepared.observations.iter().for_each(|o| labelled[o.text as usize] = true);
    for (f, head) in cross.heads.iter().enumerate() {
        let held_out = scores_of(link, prepared, &head.weights);
        for text in (0..prepared.x.texts).filter(|&t| labelled[t] && usize::from(prepared.fold[t]) == f) {
            scores[text * q..(text + 1) * q].copy_from_slice(&held_out[text * q..(text + 1) * q]);
        }
    }
    scores
}

fn learn_neighbours(prepared: &Prepared<'_>, crossed: &mut Crossed) -> Option<(Vec<f64>, Neighbours)> {
    if prepared.x.dim == 0 {
        return None;
    }
    let scale = prepared.x.scale * prepared.x.scale;
    neighbours::learn(crossed, |t| prepared.x.row(t), |t| prepared.embeddings.row(t), scale)
}

fn encoder(link: Link, prepared: &Prepared<'_>, cross: &CrossFit, crossed: &Crossed) -> EncoderToScore {
    let (q, dim) = (link.scores(), prepared.x.dim);
    let (weights, constants) = unrotated(link, prepared, &cross.whole.weights);
    let (mut axes, mut axis_constants) = (Vec::new(), Vec::new());
    for j in 0..slope_axes(prepared) {
        let mut pick = vec![0.0; dim];
        pick[j] = 1.0 / prepared.x.spectrum[j].sqrt();
        let (w, k) = prepared.x.unrotate(&pick);
        axes.extend(w);
        axis_constants.push(k);
    }
    let texts = crossed.texts().max(1) as f64;
    let score_mean = (0..crossed.texts()).map(|t| crossed.scores[t * q]).sum::<f64>() / texts;
    let spread =
        (0..crossed.texts()).map(|t| (crossed.scores[t * q] - score_mean).powi(2)).sum::<f64>() / texts;
    let score_scale = if spread > 1e-9 { spread.sqrt().recip() } else { 0.0 };
    EncoderToScore {
        dim,
        weights,
        constants,
        axes,
        axis_constants,
        score_mean,
        score_scale,
        neighbours: None,
    }
}

/// Weights (q x dim) and constants over raw embeddings.
fn unrotated(link: Link, prepared: &Prepared<'_>, rotated: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = prepared.x.dim;
    let (mut weights, mut constants) = (Vec::new(), Vec::new());
    for c in 0..link.scores() {
        let (w, k) = prepared.x.unrotate(&rotated[c * dim..(c + 1) * dim]);
        weights.extend(w);
        constants.push(k);
    }
    (weights, constants)
}

fn slope_axes(prepared: &Prepared<'_>) -> usize {
    prepared.x.spectrum.iter().take(SLOPE_AXES).take_while(|s| **s > 1e-9).count()
}

/// The shared score and the first principal axes, each with unit variance.
fn slope_features(prepared: &Prepared<'_>, head: &EncoderToScore, crossed: &Crossed) -> (Vec<f64>, usize) {
    let axes = slope_axes(prepared);
    let mut z = Vec::with_capacity(crossed.texts() * (axes + 1));
    for text in 0..crossed.texts() {
        z.push((crossed.scores[text] - head.score_mean) * head.score_scale);
        z.extend((0..axes).map(|j| prepared.x.row(text)[j] / prepared.x.spectrum[j].sqrt()));
    }
    (z, axes + 1)
}

impl AnnotatorModel for Multilevel {
    fn kind(&self) -> ModelKind {
        ModelKind::Multilevel
    }

    fn levels(&self) -> usize {
        self.crossed.link.levels
    }

    fn texts(&self) -> usize {
        self.crossed.texts()
    }

    fn annotators(&self) -> usize {
        self.crossed.people.len()
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        let t = text as usize;
        self.view(annotator).fill(&self.columns, t..t + 1, out, &mut Scratch::default());
    }

    fn predict_embedding(&self, x: &[f32], annotator: u32, out: &mut [f32]) -> Result<(), PerspectivesError> {
        let (u, z) = self.head.apply(x, self.crossed.slope_dim)?;
        let column = TextColumns::one(&u, self.crossed.text_var, &z);
        self.view(annotator).fill(&column, 0..1, out, &mut Scratch::default());
        Ok(())
    }

    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.view(annotator).fill(&self.columns, texts, out, &mut Scratch::default());
    }

    fn knows(&self, annotator: u32) -> bool {
        !self.labels_of(annotator).is_empty()
    }

    fn predict_new_annotator(&self, text: u32, attributes: &[Option<u16>], out: &mut [f32]) {
        let t = text as usize;
        let view = PersonView::newcomer(&self.crossed, attributes);
        view.fill(&self.columns, t..t + 1, out, &mut Scratch::default());
    }

    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        self.crossed.attribute_evidence
    }

    fn points(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.weight).collect()
    }

    fn predict_column_at_node(&self, point: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.view(annotator).fill(&self.points[point].columns, texts, out, &mut Scratch::default());
    }
}
