//! The ridge-penalised linear head under any link, its strength chosen by cross-validation over texts.

use crate::data::Observation;
use crate::linear::rotate::Rotated;
use crate::math::{axpy, dot, lbfgs};
use crate::mixed::link::{Link, Slopes};
use rayon::prelude::*;

/// Penalties tried, strongest first: each fit starts from the one before.
pub(crate) const STRENGTHS: [f64; 9] = [1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1];
/// Precision of the weak pull of link parameters towards the observed shares; keeps one-class data finite.
pub(crate) const BASE_PRECISION: f64 = 0.05;
const STEPS: usize = 60;
const TOLERANCE: f64 = 1e-7;

/// Weights over rotated embeddings (q x dim, row-major) and link parameters.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) weights: Vec<f64>,
    pub(crate) base: Vec<f64>,
}

/// What a head is fitted to. Texts with the same offsets for everybody may be given as counts through `weight`.
pub(crate) struct HeadProblem<'a> {
    pub(crate) link: Link,
    pub(crate) x: &'a Rotated,
    /// Sorted by text.
    pub(crate) observations: &'a [Observation],
    /// Deviations per annotator (annotators x deviations), or empty.
    pub(crate) deviations: &'a [f64],
    /// How much scores are flattened, for what the head cannot know about a text.
    pub(crate) flatten: f64,
}

impl HeadProblem<'_> {
    fn theta(&self, annotator: u32) -> &[f64] {
        if self.deviations.is_empty() {
            return &[];
        }
        let w = self.link.deviations();
        &self.deviations[annotator as usize * w..(annotator as usize + 1) * w]
    }

    fn start(&self) -> Head {
        let mut counts = vec![0.0; self.link.levels];
        for o in self.observations {
            counts[usize::from(o.level)] += 1.0;
        }
        Head { weights: vec![0.0; self.link.scores() * self.x.dim], base: self.link.base_from(&counts) }
    }

    /// Fits the observations that `keep` allows (by text) at the strength `lambda`, from `head`, pulling the link
    /// parameters weakly towards `anchor`.
    fn fit(&self, lambda: f64, head: &mut Head, anchor: &[f64], keep: &dyn Fn(u32) -> bool) {
        let (nw, nb) = (head.weights.len(), head.base.len());
        let kept: f64 = self.observations.iter().filter(|o| keep(o.text)).count() as f64;
        let mut x = head.weights.clone();
        x.extend_from_slice(&head.base);
        // A quarter is the largest curvature of one logistic label; the softmax and cumulative ones are close to it.
        let curvature = 0.2 * kept * self.flatten * self.flatten;
        let mut inverse = Vec::with_capacity(nw + nb);
        for i in 0..nw {
            inverse.push(1.0 / (curvature * self.x.spectrum[i % self.x.dim.max(1)] + lambda));
        }
        inverse.extend(std::iter::repeat_n(1.0 / (curvature + 1.0), nb));
        lbfgs::minimise(&mut x, &inverse, STEPS, TOLERANCE, |x, g| {
            self.objective(lambda, anchor, x, g, keep)
        });
        head.weights.copy_from_slice(&x[..nw]);
        head.base.copy_from_slice(&x[nw..]);
    }

    fn objective(
        &self,
        lambda: f64,
        anchor: &[f64],
        x: &[f64],
        g: &mut [f64],
        keep: &dyn Fn(u32) -> bool,
    ) -> f64 {
        let (link, dim, q) = (self.link, self.x.dim, self.link.scores());
        let (weights, base) = x.split_at(q * dim);
        let (gw, gb) = g.split_at_mut(q * dim);
        let mut value = 0.0;
        for (g, w) in gw.iter_mut().zip(weights) {
            *g = lambda * w;
            value += 0.5 * lambda * w * w;
        }
        for ((g, b), a) in gb.iter_mut().zip(base).zip(anchor) {
            *g = BASE_PRECISION * (b - a);
            value += 0.5 * BASE_PRECISION * (b - a) * (b - a);
        }
        let mut pass = Pass::new(self, base);
        for group in self.observations.chunk_by(|a, b| a.text == b.text) {
            if !keep(group[0].text) {
                continue;
            }
            let row = if dim > 0 { self.x.row(group[0].text as usize) } else { &[] };
            for (c, u) in pass.u.iter_mut().enumerate() {
                *u = dot(&weights[c * dim..(c + 1) * dim], row);
            }
            value -= pass.text(group);
            for (c, s) in pass.score.iter().enumerate() {
                axpy(-s, row, &mut gw[c * dim..(c + 1) * dim]);
            }
        }
        for (g, p) in gb.iter_mut().zip(&pass.parameter) {
            *g -= p;
        }
        debug_assert_eq!(link.offsets(), anchor.len());
        value
    }

    /// Mean log-likelihood of the observations that `keep` allows.
    fn score(&self, head: &Head, keep: &dyn Fn(u32) -> bool) -> (f64, usize) {
        let dim = self.x.dim;
        let mut pass = Pass::new(self, &head.base);
        let (mut sum, mut n) = (0.0, 0);
        for group in self.observations.chunk_by(|a, b| a.text == b.text) {
            if !keep(group[0].text) {
                continue;
            }
            let row = if dim > 0 { self.x.row(group[0].text as usize) } else { &[] };
            for (c, u) in pass.u.iter_mut().enumerate() {
                *u = dot(&head.weights[c * dim..(c + 1) * dim], row);
            }
            sum += pass.text(group);
            n += group.len();
        }
        (sum, n)
    }

    /// The head of every fold's complement and of all texts, at the strength that predicts held-out texts best.
    /// `fold[text]` is below `folds`.
    pub(crate) fn cross_fit(&self, fold: &[u8], folds: usize) -> CrossFit {
        let anchor = self.start();
        let mut heads = vec![anchor.clone(); folds + 1];
        let mut best: Option<(f64, Vec<Head>)> = None;
        let mut worse = 0;
        for &lambda in strengths(self.x.dim) {
            let sums: Vec<(f64, usize)> = heads
                .par_iter_mut()
                .enumerate()
                .map(|(f, head)| {
                    let inside = |text: u32| usize::from(fold[text as usize]) != f;
                    let outside = |text: u32| usize::from(fold[text as usize]) == f;
                    self.fit(lambda, head, &anchor.base, &inside);
                    if f < folds { self.score(head, &outside) } else { (0.0, 0) }
                })
                .collect();
            let n: usize = sums.iter().map(|s| s.1).sum();
            let mean = sums.iter().map(|s| s.0).sum::<f64>() / n.max(1) as f64;
            if best.as_ref().is_none_or(|b| mean > b.0) {
                best = Some((mean, heads.clone()));
                worse = 0;
            } else {
                worse += 1;
                if worse == 2 {
                    break;
                }
            }
        }
        let mut heads = best.map_or(heads, |b| b.1);
        let whole = heads.pop().unwrap_or(anchor);
        CrossFit { heads, whole }
    }

    /// The penalised loss of a head on all observations.
    #[cfg(test)]
    pub(crate) fn loss(&self, lambda: f64, head: &Head) -> f64 {
        let mut x = head.weights.clone();
        x.extend_from_slice(&head.base);
        let mut gradient = vec![0.0; x.len()];
        self.objective(lambda, &self.start().base, &x, &mut gradient, &|_| true)
    }

    /// One head at a given strength, on all observations.
    pub(crate) fn fit_all(&self, lambda: f64) -> Head {
        let mut head = self.start();
        let anchor = head.base.clone();
        self.fit(lambda, &mut head, &anchor, &|_| true);
        head
    }

    /// Heads of every fold's complement before the first strength.
    pub(crate) fn starts(&self, folds: usize) -> Vec<Head> {
        vec![self.start(); folds]
    }

    /// Summed held-out log-likelihood at one strength, from where `heads` (one a fold) stand.
    pub(crate) fn held_out(&self, lambda: f64, heads: &mut [Head], fold: &[u8]) -> f64 {
        let anchor = self.start();
        let each = heads.iter_mut().enumerate().map(|(f, head)| {
            let inside = |text: u32| usize::from(fold[text as usize]) != f;
            let outside = |text: u32| usize::from(fold[text as usize]) == f;
            self.fit(lambda, head, &anchor.base, &inside);
            self.score(head, &outside).0
        });
        each.sum()
    }
}

pub(crate) fn strengths(dim: usize) -> &'static [f64] {
    // Without an encoder there is nothing to penalise.
    if dim == 0 { &STRENGTHS[..1] } else { &STRENGTHS }
}

/// Heads from cross-validation.
pub(crate) struct CrossFit {
    /// One per fold, fitted without it.
    pub(crate) heads: Vec<Head>,
    /// Fitted to everything.
    pub(crate) whole: Head,
}

/// Buffers of one pass over the observations.
struct Pass<'a> {
    problem: &'a HeadProblem<'a>,
    base: &'a [f64],
    common: Vec<f64>,
    offsets: Vec<f64>,
    u: Vec<f64>,
    slopes: Slopes,
    /// Summed derivative by the scores of the current text.
    score: Vec<f64>,
    /// Summed derivative by the link parameters.
    parameter: Vec<f64>,
}

impl<'a> Pass<'a> {
    fn new(problem: &'a HeadProblem<'a>, base: &'a [f64]) -> Self {
        let link = problem.link;
        let mut common = vec![0.0; link.offsets()];
        link.offsets_of(base, &[], &mut common);
        Self {
            problem,
            base,
            offsets: common.clone(),
            common,
            u: vec![0.0; link.scores()],
            slopes: Slopes::default(),
            score: vec![0.0; link.scores()],
            parameter: vec![0.0; link.offsets()],
        }
    }

    /// Log-likelihood of one text's labels at `self.u`; fills `score` and adds to `parameter`.
    fn text(&mut self, group: &[Observation]) -> f64 {
        let link = self.problem.link;
        let mut value = 0.0;
        self.score.fill(0.0);
        for o in group {
            let theta = self.problem.theta(o.annotator);
            if theta.is_empty() {
                self.offsets.copy_from_slice(&self.common);
            } else {
                link.offsets_of(self.base, theta, &mut self.offsets);
            }
            value +=
                link.log_likelihood(&self.u, &self.offsets, self.problem.flatten, o.level, &mut self.slopes);
            axpy(1.0, &self.slopes.score, &mut self.score);
            self.add_parameters(theta);
        }
        value
    }

    /// Offset j falls with every gap before it: its slope belongs to the shift and to those gaps.
    fn add_parameters(&mut self, theta: &[f64]) {
        let link = self.problem.link;
        if link.softmax {
            axpy(1.0, &self.slopes.offset, &mut self.parameter);
            return;
        }
        let mut later = 0.0;
        for j in (1..link.offsets()).rev() {
            later += self.slopes.offset[j];
            if later != 0.0 {
                let phi = self.base[j] + theta.get(link.deviation_of(j)).copied().unwrap_or(0.0);
                self.parameter[j] -= later * phi.min(20.0).exp();
            }
        }
        self.parameter[0] += later + self.slopes.offset[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Embeddings, Target};
    use dissensus_domain::ScaleKind;
    use serde_json::Value;

    /// First rows of predictions of scikit-learn's `LogisticRegression` and statsmodels' `OrderedModel`.
    fn compare(name: &str, kind: ScaleKind, levels: usize, lambda: f64) {
        let reference: Value =
            serde_json::from_str(include_str!("../../tests/fixtures/reference.json")).unwrap();
        let heads = &reference["heads"];
        let x: Vec<f32> = serde_json::from_value(heads["x"].clone()).unwrap();
        let y: Vec<u16> = serde_json::from_value(heads[name].clone()).unwrap();
        let theirs: Vec<Vec<f64>> = serde_json::from_value(heads[format!("{name}_p")].clone()).unwrap();
        let x = Rotated::new(&Embeddings::new(3, x).unwrap());
        let observations: Vec<Observation> = y
            .iter()
            .enumerate()
            .map(|(t, &level)| Observation { text: t as u32, annotator: 0, level })
            .collect();
        let link = Link::new(Target { kind, levels });
        let problem = HeadProblem { link, x: &x, observations: &observations, deviations: &[], flatten: 1.0 };
        let head = problem.fit_all(lambda);
        let mut offsets = vec![0.0; link.offsets()];
        link.offsets_of(&head.base, &[], &mut offsets);
        let mut p = vec![0.0; levels];
        assert_eq!(theirs.len(), 5);
        for (t, theirs) in theirs.iter().enumerate() {
            let u: Vec<f64> =
                (0..link.scores()).map(|c| dot(&head.weights[c * 3..(c + 1) * 3], x.row(t))).collect();
            link.probabilities(&u, &offsets, 1.0, &mut p);
            for (ours, theirs) in p.iter().zip(theirs) {
                // The weak pull of the link parameters, which the others do not have, moves the third digit.
                assert!((ours - theirs).abs() < 2e-3, "{name} {t}: {ours} against {theirs}");
            }
        }
    }

    #[test]
    fn binary_heads_are_those_of_scikit_learn() {
        compare("binary", ScaleKind::Binary, 2, 3.0);
    }

    #[test]
    fn choice_heads_are_those_of_scikit_learn() {
        compare("choice", ScaleKind::Choice, 3, 3.0);
    }

    #[test]
    fn ordinal_heads_are_those_of_statsmodels() {
        compare("ordinal", ScaleKind::Ordinal, 4, 1e-6);
    }
}
