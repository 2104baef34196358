//! Leave-one-out predictions: probabilities of a label by posteriors that exclude this very label.

use super::crossed::{CrossedEffects, TextCavity};
use super::predictor::TextColumns;
use super::text_scale::ScaleNode;
use dissensus_stats::math::quadrature::FIVE;
use dissensus_stats::math::{attenuation, axpy};

/// Smallest weight of a scale when predicting all annotators.
const MIN_WEIGHT: f64 = 1e-3;

impl CrossedEffects {
    /// Probabilities of all levels for the annotator of label `at` of a text, with the label removed from the
    /// posteriors of the text and of the annotator, computed as predictions are: at the median of the text's
    /// scale. `out` has K entries.
    pub(super) fn own_without_as_predicted(&self, text: usize, at: usize, out: &mut [f64]) {
        let TextCavity { means, variance, noise } = self.text_cavity(text, at);
        let (given, own) = self.label_given_annotator(text, self.labels[text][at]);
        let (scores, attenuation) = given.combine(means, variance, own + noise);
        self.link.probabilities(&scores, &given.intercepts, attenuation, out);
    }

    /// A text without each of its labels in turn, integrated over the uncertainty of its scale.
    pub(crate) fn leave_out_labels(&self, text: usize) -> TextWithoutLabels<'_> {
        let nodes = match self.scales_without(text) {
            Some(nodes) => nodes.into_iter().map(|of| of.into_iter().map(Node::from).collect()).collect(),
            None => (0..self.labels[text].len())
                .map(|at| {
                    let TextCavity { means, variance, noise } = self.text_cavity(text, at);
                    vec![Node { weight: 1.0, means: means.to_vec(), variance, noise }]
                })
                .collect(),
        };
        TextWithoutLabels { crossed: self, text, nodes }
    }
}

/// Posterior of a text's scores at one scale.
struct Node {
    weight: f64,
    means: Vec<f64>,
    variance: f64,
    /// Noise that the scale adds to a label.
    noise: f64,
}

impl From<ScaleNode> for Node {
    fn from(node: ScaleNode) -> Self {
        Self { weight: node.weight, means: vec![node.mean], variance: node.variance, noise: node.noise }
    }
}

/// A text without each of its labels in turn.
pub(crate) struct TextWithoutLabels<'a> {
    crossed: &'a CrossedEffects,
    text: usize,
    /// Labels x scales; one scale where the model has no scales of texts.
    nodes: Vec<Vec<Node>>,
}

impl TextWithoutLabels<'_> {
    /// Probabilities of all levels for the annotator of label `at`, with the label removed from the
    /// posteriors of the text and of the annotator. `out` has K entries.
    pub(crate) fn own(&self, at: usize, out: &mut [f64]) {
        let crossed = self.crossed;
        let (given, own) = crossed.label_given_annotator(self.text, crossed.labels[self.text][at]);
        let mut p = vec![0.0; crossed.link.levels];
        out.fill(0.0);
        for Node { weight, means, variance, noise } in &self.nodes[at] {
            if crossed.link.softmax {
                let (scores, attenuation) = given.combine(means, *variance, own + noise);
                crossed.link.probabilities(&scores, &given.intercepts, attenuation, &mut p);
                axpy(*weight, &p, out);
                continue;
            }
            // A quadrature: the approximation used for predictions makes tails too wide.
            let (scores, _) = given.combine(means, *variance, own);
            let sd = given.variance(*variance, own).sqrt();
            for (x, of_score) in FIVE {
                let score = [scores[0] + x * sd];
                crossed.link.probabilities(&score, &given.intercepts, attenuation(*noise), &mut p);
                axpy(weight * of_score, &p, out);
            }
        }
    }

    /// The text without label `at`, ready for prediction: a column for each scale of non-negligible weight,
    /// and their weights, which sum to 1.
    pub(crate) fn columns(&self, at: usize) -> (TextColumns, Vec<f64>) {
        let mut columns = TextColumns::empty(self.crossed);
        let features = self.crossed.features(self.text);
        let nodes: Vec<&Node> = self.nodes[at].iter().filter(|n| n.weight > MIN_WEIGHT).collect();
        nodes.iter().for_each(|n| columns.push(&n.means, n.variance, n.noise, features));
        let all: f64 = nodes.iter().map(|n| n.weight).sum();
        (columns, nodes.iter().map(|n| n.weight / all).collect())
    }

    /// Probability that the annotator of label `at`, who answered `level`, gives the same answer again if
    /// only the text's score and scale and the annotator's own link, known without this label, are common to
    /// both answers: `E p^2 / E p` over their uncertainty.
    pub(crate) fn repeat_chance(&self, at: usize, level: u16) -> f64 {
        let crossed = self.crossed;
        let (given, own) = crossed.label_given_annotator(self.text, crossed.labels[self.text][at]);
        let mut p = vec![0.0; crossed.link.levels];
        let (mut once, mut twice) = (0.0, 0.0);
        for Node { weight: of_scale, means, variance, noise } in &self.nodes[at] {
            let (scores, _) = given.combine(means, *variance, own);
            let sd = given.variance(*variance, own).sqrt();
            for (x, of_score) in FIVE {
                // On a choice scale the uncertainty moves the answered level against all others.
                let moved = |(c, u): (usize, &f64)| {
                    if scores.len() == 1 || c == usize::from(level) { u + x * sd } else { *u }
                };
                let scores: Vec<f64> = scores.iter().enumerate().map(moved).collect();
                crossed.link.probabilities(&scores, &given.intercepts, attenuation(*noise), &mut p);
                let (p, weight) = (p[usize::from(level)], of_scale * of_score);
                once += weight * p;
                twice += weight * p * p;
            }
        }
        twice / once
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed::scalar_posterior::{ScoredLabel, integrate};
    use crate::mixed::text_scale::at_scales;
    use crate::mixed::text_scale_simulation::fitted;
    use dissensus_stats::math::quadrature::Hermite;

    /// Sums over labels: the number of labels with an improbable level, and the number expected under `p`.
    #[derive(Default)]
    struct Improbable {
        given: f64,
        expected: f64,
    }

    impl Improbable {
        fn add(&mut self, p: &[f64], level: u16) {
            let rare: Vec<usize> = (0..p.len()).filter(|l| p[*l] < 0.02).collect();
            self.expected += rare.iter().map(|l| p[*l]).sum::<f64>();
            self.given += f64::from(u8::from(rare.contains(&usize::from(level))));
        }

        fn share(&self) -> f64 {
            self.given / self.expected
        }
    }

    /// The median of a scale would make tails too thin: levels predicted to be rare would occur far more
    /// often than predicted.
    #[test]
    fn improbable_labels_occur_at_the_expected_rate() {
        let (mut whole, mut median) = (Improbable::default(), Improbable::default());
        let mut p = vec![0.0; 5];
        for seed in 0..8 {
            let crossed = fitted(0.5, seed).with_scales();
            for text in 0..crossed.texts() {
                let left_out = crossed.leave_out_labels(text);
                for (at, label) in crossed.labels[text].iter().enumerate() {
                    left_out.own(at, &mut p);
                    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                    whole.add(&p, label.level);
                    crossed.own_without_as_predicted(text, at, &mut p);
                    median.add(&p, label.level);
                }
            }
        }
        println!(
            "{} given where {:.1} are expected; at the median of the scale {} where {:.1}",
            whole.given, whole.expected, median.given, median.expected
        );
        assert!((0.5..1.2).contains(&whole.share()), "{}", whole.share());
        assert!(median.share() > 1.3, "{}", median.share());
    }

    /// The probability of a label given all others is the probability of all labels divided by that of the
    /// others.
    #[test]
    fn leave_one_out_probability_matches_the_joint_one() {
        let crossed = fitted(0.5, 3).with_scales();
        let rule = Hermite::new();
        let (mut p, mut of_rare, mut rare, mut at_median) = (vec![0.0; 5], 0.0, 0.0, 0.0);
        for text in 0..crossed.texts() {
            let prior = crossed.scales.as_ref().unwrap().prior_of(text);
            let labels: Vec<(ScoredLabel, f64)> =
                crossed.labels[text].iter().map(|l| crossed.label_given_annotator(text, *l)).collect();
            let log_evidence = |labels: &[ScoredLabel]| {
                let score = |labels: &[ScoredLabel]| {
                    integrate(crossed.link, crossed.scores[text], crossed.text_var, labels, &rule)
                };
                if labels.is_empty() { 0.0 } else { at_scales(prior, labels, score).log_evidence }
            };
            let all: Vec<ScoredLabel> = labels.into_iter().map(|(label, _)| label).collect();
            let left_out = crossed.leave_out_labels(text);
            for at in 0..all.len() {
                let mut others = all.clone();
                let level = usize::from(others.remove(at).level);
                let exact = log_evidence(&all) - log_evidence(&others);
                left_out.own(at, &mut p);
                let found = p[level].ln();
                assert!((found - exact).abs() < 0.25, "{text} {at}: {found} {exact}");
                if exact < 0.03f64.ln() {
                    crossed.own_without_as_predicted(text, at, &mut p);
                    (rare, of_rare) = (rare + 1.0, of_rare + (found - exact).abs());
                    at_median += (p[level].ln() - exact).abs();
                }
            }
        }
        assert!(
            rare >= 3.0 && of_rare / rare < 0.15 && at_median / rare > 0.4,
            "{rare} {of_rare} {at_median}"
        );
    }

    /// `E p^2 / E p` over score and scale, against sums on a fine grid of both.
    #[test]
    fn repeat_probability_integrates_over_the_scale() {
        let crossed = fitted(0.5, 3).with_scales();
        let (mut moved, mut p) = (0.0, vec![0.0; 5]);
        for text in 0..40 {
            let left_out = crossed.leave_out_labels(text);
            for (at, label) in crossed.labels[text].iter().enumerate() {
                let (given, own) = crossed.label_given_annotator(text, *label);
                let level = usize::from(label.level);
                let (mut once, mut twice) = (0.0, 0.0);
                for node in &left_out.nodes[at] {
                    let sd = given.variance(node.variance, own).sqrt();
                    for i in -60..=60 {
                        let x = f64::from(i) / 12.0;
                        let weight = node.weight * (-0.5 * x * x).exp();
                        let score = [given.combine(&node.means, 0.0, 0.0).0[0] + x * sd];
                        crossed.link.probabilities(
                            &score,
                            &given.intercepts,
                            attenuation(node.noise),
                            &mut p,
                        );
                        (once, twice) = (once + weight * p[level], twice + weight * p[level] * p[level]);
                    }
                }
                let found = left_out.repeat_chance(at, label.level);
                assert!((found / (twice / once) - 1.0).abs() < 0.03, "{found} {}", twice / once);
                let middle = left_out.nodes[at].iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).unwrap();
                let node = Node { weight: 1.0, means: middle.means.clone(), ..*middle };
                let of_one = TextWithoutLabels { crossed: &crossed, text, nodes: vec![vec![node]] };
                if at == 0 {
                    moved += (of_one.repeat_chance(0, label.level) - found).abs() / 40.0;
                }
            }
        }
        assert!(moved > 0.005, "{moved}");
    }

    #[test]
    fn leave_one_out_without_scales_is_close_to_prediction() {
        let crossed = fitted(0.0, 1);
        let (mut whole, mut median) = (vec![0.0; 5], vec![0.0; 5]);
        for text in 0..20 {
            for at in 0..crossed.labels[text].len() {
                crossed.leave_out_labels(text).own(at, &mut whole);
                crossed.own_without_as_predicted(text, at, &mut median);
                assert!(whole.iter().zip(&median).all(|(a, b)| (a - b).abs() < 0.02), "{whole:?} {median:?}");
            }
        }
    }
}
