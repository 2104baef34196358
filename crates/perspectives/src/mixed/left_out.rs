//! What the model says of a label by posteriors that lack this very label.

use super::crossed::{CrossedEffects, TextCavity};
use super::predictor::TextColumns;
use crate::math::attenuation;
use crate::mixed::quadrature::FIVE;

impl CrossedEffects {
    /// The text's posterior without its label `at`, ready for prediction.
    pub(crate) fn text_without(&self, text: usize, at: usize) -> TextColumns {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        TextColumns::one(means, variance, noise, self.features(text))
    }

    /// Probabilities of all levels for the annotator of label `at` of a text, the label taken out of the text's posterior and of
    /// the annotator's. `out` has K entries.
    pub(crate) fn own_without(&self, text: usize, at: usize, out: &mut [f64]) {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, attenuation) = given.meets(means, variance, own + noise);
        self.link.probabilities(&scores, &given.intercepts, attenuation, out);
    }

    /// The chance that the annotator of label `at` of a text, who answered `level`, answers so again where nothing but the text's score and the
    /// annotator's own link, known without this label, is common to both answers: `E p^2 / E p` over what is not known of these.
    pub(crate) fn repeat_chance_without(&self, text: usize, at: usize, level: u16) -> f64 {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, _) = given.meets(means, variance, own);
        let sd = given.variance(variance, own).sqrt();
        let mut p = vec![0.0; self.link.levels];
        let (mut once, mut twice) = (0.0, 0.0);
        for (x, weight) in FIVE {
            // On a choice scale the doubt moves the answered level against all others.
            let moved = |(c, u): (usize, &f64)| {
                if scores.len() == 1 || c == usize::from(level) { u + x * sd } else { *u }
            };
            let scores: Vec<f64> = scores.iter().enumerate().map(moved).collect();
            self.link.probabilities(&scores, &given.intercepts, attenuation(noise), &mut p);
            let p = p[usize::from(level)];
            once += weight * p;
            twice += weight * p * p;
        }
        twice / once
    }
}
