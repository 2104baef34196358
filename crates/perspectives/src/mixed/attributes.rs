//! Attributes of annotators as predictors of where a new annotator starts.
//!
//! Deviations get the prior `theta_a ~ N(B z_a, prior)`, `z_a` the values a person has, each beside the others (one-hot),
//! centred. `B` is a ridge regression by generalised least squares: what a person's own labels say about them
//! (the posterior without its prior) is an observation of `B z_a` with the variance of that and of people around it.
//! The strength is the one under which people left out gain most, and nothing is used unless they gain by more than
//! two standard errors.

use super::Crossed;
use super::person::PersonLabel;
use crate::data::{Attribute, AttributeEvidence};
use crate::math::axpy;
use crate::math::cholesky::Factor;
use crate::mixed::link::Slopes;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Variances of effects tried, as shares of the prior variance of the deviation.
const TRIED: [f64; 4] = [0.01, 0.03, 0.1, 0.3];
/// How many standard errors the gain must lie above zero.
const SURE: f64 = 2.0;
/// Groups of annotators left out in turn.
const FOLDS: usize = 5;
/// With fewer people who have labels and a known value there is nothing to leave out.
const LEAST_PEOPLE: usize = 20;

/// Effects of attribute values on deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttributeEffects {
    /// Where each attribute's values start among the columns, and after the last one their number.
    starts: Vec<usize>,
    /// Share of people who have each value.
    centre: Vec<f64>,
    /// values x deviations.
    effects: Vec<f64>,
}

impl AttributeEffects {
    /// Where somebody with these values (one entry an attribute) is expected; what is not known tells nothing.
    pub(crate) fn mean(&self, values: &[Option<u16>], deviations: usize) -> Vec<f64> {
        let mut mean = vec![0.0; deviations];
        for (range, value) in self.starts.windows(2).zip(values) {
            let Some(value) = value else { continue };
            for at in range[0]..range[1] {
                let z = f64::from(u8::from(at - range[0] == usize::from(*value))) - self.centre[at];
                axpy(z, &self.effects[at * deviations..(at + 1) * deviations], &mut mean);
            }
        }
        mean
    }

    /// Whether the parts fit together.
    pub(crate) fn fits(&self, deviations: usize) -> bool {
        let values = self.starts.last().copied().unwrap_or(0);
        self.centre.len() == values
            && self.effects.len() == values * deviations
            && self.starts.windows(2).all(|w| w[0] <= w[1])
    }
}

/// One-hot values of people with labels.
struct Design {
    starts: Vec<usize>,
    centre: Vec<f64>,
    /// Annotators who have labels and a known value.
    people: Vec<usize>,
    /// people x values, centred.
    rows: Vec<Vec<f64>>,
}

impl Design {
    fn new(attributes: &[Attribute], crossed: &Crossed) -> Self {
        let mut starts = vec![0];
        for attribute in attributes {
            starts.push(starts[starts.len() - 1] + attribute.values.len());
        }
        let known = |a: &usize| attributes.iter().any(|attribute| attribute.of[*a].is_some());
        let people: Vec<usize> = (0..crossed.people.len())
            .filter(|&a| !crossed.people[a].labels.is_empty())
            .filter(known)
            .collect();
        let values = starts[starts.len() - 1];
        let (mut centre, mut rows) = (vec![0.0; values], vec![vec![0.0; values]; people.len()]);
        for (attribute, start) in attributes.iter().zip(&starts) {
            let have = people.iter().filter(|&&a| attribute.of[a].is_some()).count().max(1) as f64;
            for &a in &people {
                if let Some(value) = attribute.of[a] {
                    centre[start + usize::from(value)] += 1.0 / have;
                }
            }
            for (row, &a) in rows.iter_mut().zip(&people) {
                if let Some(value) = attribute.of[a] {
                    for (at, z) in row[*start..start + attribute.values.len()].iter_mut().enumerate() {
                        *z = f64::from(u8::from(at == usize::from(value))) - centre[start + at];
                    }
                }
            }
        }
        Self { starts, centre, people, rows }
    }

    fn effects(&self, effects: Vec<f64>) -> AttributeEffects {
        AttributeEffects { starts: self.starts.clone(), centre: self.centre.clone(), effects }
    }
}

/// What one person's labels say about one deviation, without the prior: value and weight.
#[derive(Clone, Copy)]
struct Said {
    value: f64,
    weight: f64,
}

impl Crossed {
    /// Gives annotators prior means by their attributes if people left out gain by more than chance; else leaves everything
    /// as it was. `None` where there is too little to try. The caller re-estimates the rest if they are used.
    pub(crate) fn try_attributes(
        &mut self,
        attributes: &[Attribute],
        seed: u64,
    ) -> Option<AttributeEvidence> {
        let design = Design::new(attributes, self);
        if design.people.len() < LEAST_PEOPLE || design.centre.is_empty() {
            return None;
        }
        let d = self.link.deviations();
        let said: Vec<Vec<Said>> =
            (0..d).map(|i| design.people.iter().map(|&a| self.said(a, i)).collect()).collect();
        let fold = crate::data::folds::assign(design.people.len(), FOLDS, seed ^ 0xa77);
        let plain: Vec<f64> = design.people.par_iter().map(|&a| self.stranger(a, &vec![0.0; d])).collect();
        let labels: usize = design.people.iter().map(|&a| self.people[a].labels.len()).sum();
        let mut best: Option<(f64, f64, f64)> = None;
        for strength in TRIED {
            let effects: Vec<Vec<f64>> = (0..FOLDS)
                .into_par_iter()
                .map(|f| self.ridge(&design, &said, strength, |i| usize::from(fold[i]) != f))
                .collect();
            let gains: Vec<f64> = (0..design.people.len())
                .into_par_iter()
                .map(|i| {
                    let mean = product(&design.rows[i], &effects[usize::from(fold[i])], d);
                    self.stranger(design.people[i], &mean) - plain[i]
                })
                .collect();
            let (total, error) = super::slope::total_and_error(&gains);
            if best.is_none_or(|b| total > b.0) {
                best = Some((total, error, strength));
            }
        }
        let (total, error, strength) = best?;
        let used = total > SURE * error;
        if used {
            let effects = design.effects(self.ridge(&design, &said, strength, |_| true));
            let values = |a: usize| -> Vec<Option<u16>> { attributes.iter().map(|at| at.of[a]).collect() };
            self.prior_means = (0..self.people.len()).flat_map(|a| effects.mean(&values(a), d)).collect();
            self.attribute_effects = Some(effects);
        }
        let n = labels.max(1) as f64;
        let evidence = AttributeEvidence {
            gain: total / n,
            standard_error: error / n,
            used,
            annotators: design.people.len(),
            labels,
        };
        self.attribute_evidence = Some(evidence);
        Some(evidence)
    }

    /// Deviation `i` of a person as their labels alone tell it (diagonally), weighted by the inverse of its variance
    /// around what attributes could tell.
    fn said(&self, annotator: usize, i: usize) -> Said {
        let (d, w) = (self.link.deviations(), self.width());
        let person = &self.people[annotator];
        let prior = self.prior[i * d + i];
        let precision = (1.0 / person.covariance[i * w + i] - 1.0 / prior).max(1e-6);
        let value = person.theta[i] / person.covariance[i * w + i] / precision;
        Said { value, weight: 1.0 / (1.0 / precision + prior) }
    }

    /// Effects (values x deviations) from the people that `keep` allows.
    fn ridge(
        &self,
        design: &Design,
        said: &[Vec<Said>],
        strength: f64,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let (n, d) = (design.centre.len(), self.link.deviations());
        let mut effects = vec![0.0; n * d];
        for (i, said) in said.iter().enumerate() {
            let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n]);
            for at in 0..n {
                a[at * n + at] = 1.0 / (strength * self.prior[i * d + i]);
            }
            for (row, said) in
                design.rows.iter().zip(said).enumerate().filter(|(p, _)| keep(*p)).map(|(_, r)| r)
            {
                for (at, z) in row.iter().enumerate().filter(|(_, z)| **z != 0.0) {
                    axpy(said.weight * z, row, &mut a[at * n..(at + 1) * n]);
                }
                axpy(said.weight * said.value, row, &mut b);
            }
            Factor::new(&a, n).solve(&mut b);
            for (at, b) in b.iter().enumerate() {
                effects[at * d + i] = *b;
            }
        }
        effects
    }

    /// Log-likelihood of a person's labels, one by one, were nothing known of them but the `mean` of their deviations.
    fn stranger(&self, annotator: usize, mean: &[f64]) -> f64 {
        let (link, d) = (self.link, self.link.deviations());
        let mut offsets = vec![0.0; link.offsets()];
        link.offsets_of(&self.base, mean, &mut offsets);
        let own = if link.softmax {
            (0..d).map(|i| self.prior[i * d + i]).sum::<f64>() / d as f64
        } else {
            self.prior[0]
        };
        let mut unused = Slopes::default();
        let labels = self.people[annotator].labels.iter();
        labels
            .filter_map(|&(text, level)| self.person_label(annotator, text, level))
            .map(|l: PersonLabel<'_>| {
                let text = (1.0 / (l.flatten * l.flatten) - 1.0) * 8.0 / std::f64::consts::PI;
                link.log_likelihood(l.u, &offsets, crate::math::flatten(own + text), l.level, &mut unused)
            })
            .sum()
    }
}

/// A row of values times the effects.
fn product(row: &[f64], effects: &[f64], d: usize) -> Vec<f64> {
    let mut mean = vec![0.0; d];
    row.iter().zip(effects.chunks_exact(d)).for_each(|(z, e)| axpy(*z, e, &mut mean));
    mean
}
