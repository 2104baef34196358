//! What the model says of a label by posteriors that lack this very label.

use super::crossed::CrossedEffects;
use super::predictor::TextColumns;

impl CrossedEffects {
    /// The text's posterior without its label `at`, ready for prediction.
    pub(crate) fn text_without(&self, text: usize, at: usize) -> TextColumns {
        let (means, variance) = self.text_cavity(text, at);
        TextColumns::one(means, variance, self.features(text))
    }

    /// Probabilities of all levels for the annotator of label `at` of a text, the label taken out of the text's posterior and of
    /// the annotator's. `out` has K entries.
    pub(crate) fn own_without(&self, text: usize, at: usize, out: &mut [f64]) {
        let (means, variance) = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, attenuation) = given.meets(means, variance, own);
        self.link.probabilities(&scores, &given.intercepts, attenuation, out);
    }

    fn text_cavity(&self, text: usize, at: usize) -> (&[f64], f64) {
        let q = self.link.scores();
        let cavity = &self.cavity[text][at * (q + 1)..(at + 1) * (q + 1)];
        (&cavity[..q], cavity[q])
    }
}
