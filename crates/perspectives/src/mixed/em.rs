//! Variances and average offsets by expectation maximisation.

use super::Crossed;
use crate::mixed::link::Link;
use rayon::prelude::*;

/// Where the variance of text effects starts.
pub(crate) const FIRST_TEXT_VAR: f64 = 0.7;
/// Where the variances of annotators' shifts and of their thresholds start; also where few annotators stay near.
const FIRST_SHIFT_VAR: f64 = 1.0;
const FIRST_GAP_VAR: f64 = 0.1;
/// How many made-up annotators and texts with the first variances stand beside the real ones.
const PSEUDO: f64 = 2.0;

/// The starting covariance of deviations.
pub(crate) fn first_prior(link: Link) -> Vec<f64> {
    let d = link.deviations();
    let mut prior = vec![0.0; d * d];
    for i in 0..d {
        prior[i * d + i] = first_variance(link, i);
    }
    prior
}

fn first_variance(link: Link, i: usize) -> f64 {
    if i == 0 || link.softmax { FIRST_SHIFT_VAR } else { FIRST_GAP_VAR }
}

impl Crossed {
    /// `rounds` of: texts given people, people given texts, variances given both.
    pub(crate) fn maximise(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.update_all_texts();
            self.update_text_variance();
            self.update_all_people();
            self.centre_people();
            self.update_prior();
        }
        self.settle_strangers();
        self.update_all_texts();
    }

    /// Gives people without labels the prior as it is now, so that they are predicted like anybody new.
    fn settle_strangers(&mut self) {
        let prior = self.full_prior();
        for annotator in 0..self.people.len() {
            if self.people[annotator].labels.is_empty() {
                self.people[annotator].theta = self.start(annotator);
                self.people[annotator].covariance.clone_from(&prior);
            }
        }
    }

    pub(crate) fn update_all_texts(&mut self) {
        let fitted: Vec<_> = (0..self.texts()).into_par_iter().map(|t| self.fitted_text(t)).collect();
        for (text, posterior) in fitted.into_iter().enumerate() {
            self.set_text(text, posterior);
        }
    }

    pub(crate) fn update_all_people(&mut self) {
        let precision = self.full_precision();
        let fitted: Vec<_> =
            (0..self.people.len()).into_par_iter().map(|a| self.fitted_person(a, &precision)).collect();
        for (person, (theta, covariance)) in self.people.iter_mut().zip(fitted) {
            person.theta = theta;
            person.covariance = covariance;
        }
    }

    fn update_text_variance(&mut self) {
        let q = self.link.scores();
        let (mut sum, mut n) = (PSEUDO * FIRST_TEXT_VAR, PSEUDO);
        for (text, labels) in self.labels.iter().enumerate() {
            if labels.is_empty() {
                continue;
            }
            let square: f64 =
                (text * q..(text + 1) * q).map(|i| (self.u[i] - self.scores[i]).powi(2)).sum::<f64>()
                    / q as f64;
            sum += square + self.v[text];
            n += 1.0;
        }
        self.text_var = (sum / n).max(1e-4);
    }

    /// Moves what all annotators have in common into the average (the mean step of the maximisation).
    fn centre_people(&mut self) {
        let d = self.link.deviations();
        let known = self.people.iter().filter(|p| !p.labels.is_empty()).count();
        if known < 2 {
            return;
        }
        let mut mean = vec![0.0; d];
        for (a, person) in self.people.iter().enumerate().filter(|(_, p)| !p.labels.is_empty()) {
            for ((m, t), start) in mean.iter_mut().zip(&person.theta).zip(self.start(a)) {
                *m += (t - start) / known as f64;
            }
        }
        for (i, b) in self.base.iter_mut().enumerate() {
            *b += mean[self.link.deviation_of(i)];
        }
        for person in self.people.iter_mut().filter(|p| !p.labels.is_empty()) {
            for (t, m) in person.theta.iter_mut().zip(&mean) {
                *t -= m;
            }
        }
    }

    fn update_prior(&mut self) {
        let (d, w) = (self.link.deviations(), self.width());
        let mut sum = vec![0.0; d * d];
        let mut n = PSEUDO;
        for i in 0..d {
            sum[i * d + i] = PSEUDO * first_variance(self.link, i);
        }
        for (a, person) in self.people.iter().enumerate().filter(|(_, p)| !p.labels.is_empty()) {
            n += 1.0;
            let away: Vec<f64> = person.theta.iter().zip(self.start(a)).map(|(t, m)| t - m).collect();
            for i in 0..d {
                for j in 0..d {
                    sum[i * d + j] += away[i] * away[j] + person.covariance[i * w + j];
                }
            }
        }
        sum.iter_mut().for_each(|s| *s /= n);
        for i in 0..d {
            sum[i * d + i] += 1e-4; // keeps the inverse sound when everybody is alike
        }
        self.prior = sum;
    }
}
