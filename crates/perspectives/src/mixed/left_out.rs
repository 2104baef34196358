//! What the model says of a label by posteriors that lack this very label.

use super::crossed::{CrossedEffects, TextCavity};
use super::predictor::TextColumns;
use super::text_scale::{log_of, noise as noise_of};
use crate::math::{attenuation, axpy};
use crate::mixed::quadrature::{FIVE, THREE};

impl CrossedEffects {
    /// The text's posterior without its label `at`, ready for prediction.
    pub(crate) fn text_without(&self, text: usize, at: usize) -> TextColumns {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        TextColumns::one(means, variance, noise, self.features(text))
    }

    /// Probabilities of all levels for the annotator of label `at` of a text, the label taken out of the text's posterior and of
    /// the annotator's, over what is not known of the text's scale. `out` has K entries.
    pub(crate) fn own_without(&self, text: usize, at: usize, out: &mut [f64]) {
        let TextCavity { noise, .. } = self.text_cavity(text, at);
        let mut p = vec![0.0; self.link.levels];
        out.fill(0.0);
        for (noise, weight) in self.scale_points(text, noise) {
            self.own_without_at(text, at, noise, &mut p);
            axpy(weight, &p, out);
        }
    }

    /// The same at the median of the scale, as predictions are made.
    pub(super) fn own_without_as_predicted(&self, text: usize, at: usize, out: &mut [f64]) {
        let TextCavity { noise, .. } = self.text_cavity(text, at);
        self.own_without_at(text, at, noise, out);
    }

    fn own_without_at(&self, text: usize, at: usize, noise: f64, out: &mut [f64]) {
        let TextCavity { means, variance, .. } = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, attenuation) = given.meets(means, variance, own + noise);
        self.link.probabilities(&scores, &given.intercepts, attenuation, out);
    }

    /// What a text's scale adds to the noise of a label where it adds `noise` at its median: nodes and weights of Gauss-Hermite quadrature
    /// over the logarithm, whose variance is that given all labels.
    fn scale_points(&self, text: usize, noise: f64) -> Vec<(f64, f64)> {
        let Some(scales) = &self.scales else { return vec![(noise, 1.0)] };
        let (log, sd) = (log_of(noise), scales.of(text).1.sqrt());
        THREE.iter().map(|(x, weight)| (noise_of(log + x * sd), *weight)).collect()
    }

    /// The chance that the annotator of label `at` of a text, who answered `level`, answers so again where nothing but the text's score and scale
    /// and the annotator's own link, known without this label, is common to both answers: `E p^2 / E p` over what is not known of these.
    pub(crate) fn repeat_chance_without(&self, text: usize, at: usize, level: u16) -> f64 {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, _) = given.meets(means, variance, own);
        let sd = given.variance(variance, own).sqrt();
        let mut p = vec![0.0; self.link.levels];
        let (mut once, mut twice) = (0.0, 0.0);
        let scales = self.scale_points(text, noise);
        for (x, of_score) in FIVE {
            // On a choice scale the doubt moves the answered level against all others.
            let moved = |(c, u): (usize, &f64)| {
                if scores.len() == 1 || c == usize::from(level) { u + x * sd } else { *u }
            };
            let scores: Vec<f64> = scores.iter().enumerate().map(moved).collect();
            for (noise, of_scale) in &scales {
                self.link.probabilities(&scores, &given.intercepts, attenuation(*noise), &mut p);
                let (p, weight) = (p[usize::from(level)], of_score * of_scale);
                once += weight * p;
                twice += weight * p * p;
            }
        }
        twice / once
    }
}

#[cfg(test)]
mod tests {
    use crate::mixed::text_scale_simulation::fitted;

    /// Labels whose level has a small chance by `own`, and how many of them that says there would be.
    fn improbable(own: impl Fn(usize, usize, &mut [f64]), levels: &[Vec<u16>]) -> (f64, f64) {
        let mut p = vec![0.0; 5];
        let (mut given, mut expected) = (0.0, 0.0);
        for (text, levels) in levels.iter().enumerate() {
            for (at, level) in levels.iter().enumerate() {
                own(text, at, &mut p);
                let rare: Vec<usize> = (0..5).filter(|l| p[*l] < 0.02).collect();
                expected += rare.iter().map(|l| p[*l]).sum::<f64>();
                given += f64::from(u8::from(rare.contains(&usize::from(*level))));
            }
        }
        (given, expected)
    }

    /// The median of a scale would make tails too thin: what it thinks rare would be given far more often than it says.
    #[test]
    fn as_many_improbable_labels_are_given_as_are_expected_where_scales_differ() {
        let (mut whole, mut median) = ((0.0, 0.0), (0.0, 0.0));
        let add = |sum: &mut (f64, f64), (given, expected): (f64, f64)| {
            *sum = (sum.0 + given, sum.1 + expected);
        };
        for seed in 0..8 {
            let crossed = fitted(0.5, seed).with_scales();
            let levels: Vec<Vec<u16>> =
                crossed.labels.iter().map(|labels| labels.iter().map(|l| l.level).collect()).collect();
            add(&mut whole, improbable(|t, at, p| crossed.own_without(t, at, p), &levels));
            add(&mut median, improbable(|t, at, p| crossed.own_without_as_predicted(t, at, p), &levels));
        }
        println!("given, expected: {whole:?}; at the median of the scale: {median:?}");
        assert!(whole.0 / whole.1 < 1.25 && whole.0 / whole.1 > 0.8, "{whole:?}");
        assert!(median.0 / median.1 > 1.25, "{median:?}");
    }
}
