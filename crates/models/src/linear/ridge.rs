//! The ridge-penalised linear head under any link, its penalty chosen by cross-validation over texts.

use crate::linear::pca::PcaEmbeddings;
use crate::link::{Gradient, INTERCEPT_PRECISION, Link};
use dissensus_stats::data::Observation;
use dissensus_stats::math::{axpy, dot, lbfgs};
use rayon::prelude::*;

/// Candidate ridge penalties (lambda), the largest first: each fit starts from the previous one.
pub(crate) const PENALTIES: [f64; 9] = [1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1];
const STEPS: usize = 60;
const TOLERANCE: f64 = 1e-7;

/// Weights over rotated embeddings (q x dim, row-major) and link parameters.
#[derive(Clone, Debug)]
pub(crate) struct LinearHead {
    pub(crate) weights: Vec<f64>,
    pub(crate) link_parameters: Vec<f64>,
}

/// Training data of a head. Texts with the same intercepts for all annotators may be given as counts through
/// `weight`.
pub(crate) struct RidgeProblem<'a> {
    pub(crate) link: Link,
    pub(crate) x: &'a PcaEmbeddings,
    /// Sorted by text.
    pub(crate) observations: &'a [Observation],
    /// Random effects per annotator (annotators x random effects), or empty.
    pub(crate) random_effects: &'a [f64],
    /// Attenuation of the scores by the variance of the text and annotator effects.
    pub(crate) attenuation: f64,
    /// Centre of the weak prior of the link parameters, and starting point of fits; empty for those of the
    /// levels' frequencies.
    pub(crate) around: &'a [f64],
}

impl RidgeProblem<'_> {
    fn theta(&self, annotator: u32) -> &[f64] {
        if self.random_effects.is_empty() {
            return &[];
        }
        let w = self.link.random_effects();
        &self.random_effects[annotator as usize * w..(annotator as usize + 1) * w]
    }

    fn start(&self) -> LinearHead {
        let weights = vec![0.0; self.link.scores() * self.x.dim];
        if !self.around.is_empty() {
            return LinearHead { weights, link_parameters: self.around.to_vec() };
        }
        let mut counts = vec![0.0; self.link.levels];
        for o in self.observations {
            counts[usize::from(o.level)] += 1.0;
        }
        LinearHead { weights, link_parameters: self.link.fixed_effects_from(&counts) }
    }

    /// Fits the observations that `include` allows (by text) at the penalty `lambda`, starting from `head`,
    /// with a weak prior of the link parameters around `prior_mean`.
    fn fit(&self, lambda: f64, head: &mut LinearHead, prior_mean: &[f64], include: &dyn Fn(u32) -> bool) {
        let (nw, nb) = (head.weights.len(), head.link_parameters.len());
        let kept: f64 = self.observations.iter().filter(|o| include(o.text)).count() as f64;
        let mut x = head.weights.clone();
        x.extend_from_slice(&head.link_parameters);
        // A quarter is the largest curvature of one logistic label; the softmax and cumulative ones are close
        // to it.
        let curvature = 0.2 * kept * self.attenuation * self.attenuation;
        let mut inverse = Vec::with_capacity(nw + nb);
        for i in 0..nw {
            inverse.push(1.0 / (curvature * self.x.explained_variance[i % self.x.dim.max(1)] + lambda));
        }
        inverse.extend(std::iter::repeat_n(1.0 / (curvature + 1.0), nb));
        lbfgs::minimise(&mut x, &inverse, STEPS, TOLERANCE, |x, g| {
            self.objective(lambda, prior_mean, x, g, include)
        });
        head.weights.copy_from_slice(&x[..nw]);
        head.link_parameters.copy_from_slice(&x[nw..]);
    }

    fn objective(
        &self,
        lambda: f64,
        prior_mean: &[f64],
        x: &[f64],
        g: &mut [f64],
        include: &dyn Fn(u32) -> bool,
    ) -> f64 {
        let (link, dim, q) = (self.link, self.x.dim, self.link.scores());
        let (weights, link_parameters) = x.split_at(q * dim);
        let (gw, gb) = g.split_at_mut(q * dim);
        let mut value = 0.0;
        for (g, w) in gw.iter_mut().zip(weights) {
            *g = lambda * w;
            value += 0.5 * lambda * w * w;
        }
        for ((g, b), a) in gb.iter_mut().zip(link_parameters).zip(prior_mean) {
            *g = INTERCEPT_PRECISION * (b - a);
            value += 0.5 * INTERCEPT_PRECISION * (b - a) * (b - a);
        }
        let mut data = DataPass::new(self, link_parameters);
        for group in self.observations.chunk_by(|a, b| a.text == b.text) {
            if !include(group[0].text) {
                continue;
            }
            let row = if dim > 0 { self.x.row(group[0].text as usize) } else { &[] };
            for (c, u) in data.u.iter_mut().enumerate() {
                *u = dot(&weights[c * dim..(c + 1) * dim], row);
            }
            value -= data.text(group);
            for (c, s) in data.score.iter().enumerate() {
                axpy(-s, row, &mut gw[c * dim..(c + 1) * dim]);
            }
        }
        for (g, p) in gb.iter_mut().zip(&data.parameter) {
            *g -= p;
        }
        debug_assert_eq!(link.intercepts(), prior_mean.len());
        value
    }

    /// Mean log-likelihood of the observations that `include` allows.
    fn score(&self, head: &LinearHead, include: &dyn Fn(u32) -> bool) -> (f64, usize) {
        let dim = self.x.dim;
        let mut data = DataPass::new(self, &head.link_parameters);
        let (mut sum, mut n) = (0.0, 0);
        for group in self.observations.chunk_by(|a, b| a.text == b.text) {
            if !include(group[0].text) {
                continue;
            }
            let row = if dim > 0 { self.x.row(group[0].text as usize) } else { &[] };
            for (c, u) in data.u.iter_mut().enumerate() {
                *u = dot(&head.weights[c * dim..(c + 1) * dim], row);
            }
            sum += data.text(group);
            n += group.len();
        }
        (sum, n)
    }

    /// Fits a head on the complement of every fold and on all texts, at the penalty that predicts held-out
    /// texts best. `fold[text]` is below `folds`.
    pub(crate) fn cross_fit(&self, fold: &[u8], folds: usize) -> CrossFit {
        let prior_mean = self.start();
        let mut heads = vec![prior_mean.clone(); folds + 1];
        let mut best: Option<(f64, Vec<LinearHead>)> = None;
        let mut worse = 0;
        for &lambda in penalties(self.x.dim) {
            let sums: Vec<(f64, usize)> = heads
                .par_iter_mut()
                .enumerate()
                .map(|(f, head)| {
                    let inside = |text: u32| usize::from(fold[text as usize]) != f;
                    let outside = |text: u32| usize::from(fold[text as usize]) == f;
                    self.fit(lambda, head, &prior_mean.link_parameters, &inside);
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
        let whole = heads.pop().unwrap_or(prior_mean);
        CrossFit { heads, whole }
    }

    /// Fits heads on all observations at every penalty, the largest first.
    pub(crate) fn path(&self) -> Vec<LinearHead> {
        let prior_mean = self.start();
        let mut head = prior_mean.clone();
        let each = penalties(self.x.dim).iter().map(|&lambda| {
            self.fit(lambda, &mut head, &prior_mean.link_parameters, &|_| true);
            head.clone()
        });
        each.collect()
    }

    /// Mean log-likelihood of all observations by the heads that did not see their text's fold.
    pub(crate) fn held_out_score(&self, cross: &CrossFit, fold: &[u8]) -> f64 {
        let each = cross
            .heads
            .iter()
            .enumerate()
            .map(|(f, head)| self.score(head, &|text: u32| usize::from(fold[text as usize]) == f));
        let (sum, n) = each.fold((0.0, 0), |total, (sum, n)| (total.0 + sum, total.1 + n));
        sum / n.max(1) as f64
    }

    /// The penalised loss of a head on all observations.
    #[cfg(test)]
    pub(crate) fn loss(&self, lambda: f64, head: &LinearHead) -> f64 {
        let mut x = head.weights.clone();
        x.extend_from_slice(&head.link_parameters);
        let mut gradient = vec![0.0; x.len()];
        self.objective(lambda, &self.start().link_parameters, &x, &mut gradient, &|_| true)
    }

    /// Fits one head at a given penalty, on all observations.
    pub(crate) fn fit_all(&self, lambda: f64) -> LinearHead {
        let mut head = self.start();
        let prior_mean = head.link_parameters.clone();
        self.fit(lambda, &mut head, &prior_mean, &|_| true);
        head
    }

    /// Starting points for the heads of every fold's complement at the first penalty.
    pub(crate) fn starts(&self, folds: usize) -> Vec<LinearHead> {
        vec![self.start(); folds]
    }

    /// Summed held-out log-likelihood at one penalty, starting from `heads` (one per fold).
    pub(crate) fn held_out(&self, lambda: f64, heads: &mut [LinearHead], fold: &[u8]) -> f64 {
        let prior_mean = self.start();
        let each = heads.iter_mut().enumerate().map(|(f, head)| {
            let inside = |text: u32| usize::from(fold[text as usize]) != f;
            let outside = |text: u32| usize::from(fold[text as usize]) == f;
            self.fit(lambda, head, &prior_mean.link_parameters, &inside);
            self.score(head, &outside).0
        });
        each.sum()
    }
}

pub(crate) fn penalties(dim: usize) -> &'static [f64] {
    // Without an encoder there is nothing to penalise.
    if dim == 0 { &PENALTIES[..1] } else { &PENALTIES }
}

/// Heads from cross-validation.
pub(crate) struct CrossFit {
    /// One per fold, fitted without it.
    pub(crate) heads: Vec<LinearHead>,
    /// Fitted to all observations.
    pub(crate) whole: LinearHead,
}

/// Buffers of one pass over the observations.
struct DataPass<'a> {
    problem: &'a RidgeProblem<'a>,
    link_parameters: &'a [f64],
    common: Vec<f64>,
    intercepts: Vec<f64>,
    u: Vec<f64>,
    label_gradient: Gradient,
    /// Summed derivative with respect to the scores of the current text.
    score: Vec<f64>,
    /// Summed derivative with respect to the link parameters.
    parameter: Vec<f64>,
}

impl<'a> DataPass<'a> {
    fn new(problem: &'a RidgeProblem<'a>, link_parameters: &'a [f64]) -> Self {
        let link = problem.link;
        let mut common = vec![0.0; link.intercepts()];
        link.intercepts_of(link_parameters, &[], &mut common);
        Self {
            problem,
            link_parameters,
            intercepts: common.clone(),
            common,
            u: vec![0.0; link.scores()],
            label_gradient: Gradient::default(),
            score: vec![0.0; link.scores()],
            parameter: vec![0.0; link.intercepts()],
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
                self.intercepts.copy_from_slice(&self.common);
            } else {
                link.intercepts_of(self.link_parameters, theta, &mut self.intercepts);
            }
            value += link.log_likelihood(
                &self.u,
                &self.intercepts,
                self.problem.attenuation,
                o.level,
                &mut self.label_gradient,
            );
            axpy(1.0, &self.label_gradient.score, &mut self.score);
            self.add_parameters(theta);
        }
        value
    }

    /// Offset j decreases with every gap before it: its derivative belongs to the shift and to those gaps.
    fn add_parameters(&mut self, theta: &[f64]) {
        let link = self.problem.link;
        if link.softmax {
            axpy(1.0, &self.label_gradient.intercept, &mut self.parameter);
            return;
        }
        let mut later = 0.0;
        for j in (1..link.intercepts()).rev() {
            later += self.label_gradient.intercept[j];
            if later != 0.0 {
                let phi =
                    self.link_parameters[j] + theta.get(link.random_effect_of(j)).copied().unwrap_or(0.0);
                self.parameter[j] -= later * phi.min(20.0).exp();
            }
        }
        self.parameter[0] += later + self.label_gradient.intercept[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Embeddings, Target};
    use serde_json::Value;

    /// First rows of predictions of scikit-learn's `LogisticRegression` and statsmodels' `OrderedModel`.
    fn compare(name: &str, kind: TargetKind, levels: usize, lambda: f64) {
        let reference: Value =
            serde_json::from_str(include_str!("../../../stats/tests/fixtures/reference.json")).unwrap();
        let heads = &reference["heads"];
        let x: Vec<f32> = serde_json::from_value(heads["x"].clone()).unwrap();
        let y: Vec<u16> = serde_json::from_value(heads[name].clone()).unwrap();
        let theirs: Vec<Vec<f64>> = serde_json::from_value(heads[format!("{name}_p")].clone()).unwrap();
        let x = PcaEmbeddings::new(&Embeddings::new(3, x).unwrap());
        let observations: Vec<Observation> = y
            .iter()
            .enumerate()
            .map(|(t, &level)| Observation { text: t as u32, annotator: 0, level })
            .collect();
        let link = Link::new(Target { kind, levels });
        let problem = RidgeProblem {
            link,
            x: &x,
            observations: &observations,
            random_effects: &[],
            attenuation: 1.0,
            around: &[],
        };
        let head = problem.fit_all(lambda);
        let mut intercepts = vec![0.0; link.intercepts()];
        link.intercepts_of(&head.link_parameters, &[], &mut intercepts);
        let mut p = vec![0.0; levels];
        assert_eq!(theirs.len(), 5);
        for (t, theirs) in theirs.iter().enumerate() {
            let u: Vec<f64> =
                (0..link.scores()).map(|c| dot(&head.weights[c * 3..(c + 1) * 3], x.row(t))).collect();
            link.probabilities(&u, &intercepts, 1.0, &mut p);
            for (ours, theirs) in p.iter().zip(theirs) {
                // The weak prior of the link parameters, which the references do not have, changes the third
                // digit.
                assert!((ours - theirs).abs() < 2e-3, "{name} {t}: {ours} against {theirs}");
            }
        }
    }

    #[test]
    fn binary_heads_match_scikit_learn() {
        compare("binary", TargetKind::Binary, 2, 3.0);
    }

    #[test]
    fn choice_heads_match_scikit_learn() {
        compare("choice", TargetKind::Nominal, 3, 3.0);
    }

    #[test]
    fn ordinal_heads_match_statsmodels() {
        compare("ordinal", TargetKind::Ordinal, 4, 1e-6);
    }
}
