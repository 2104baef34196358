//! The probability that two annotators differ, integrated over the uncertainty of a text under `multilevel`.

use super::{Multilevel, TextScorer};
use crate::link::Link;
use crate::mixed::CrossedEffects;
use dissensus_domain::TargetKind;
use dissensus_stats::data::{AnnotatorModel, Target};
use dissensus_stats::disagreement::{RunningSums, Sums};
use dissensus_stats::math::sigmoid;

/// Three annotators without uncertainty, two texts with uncertain scores.
fn model(kind: TargetKind, levels: usize) -> Multilevel {
    let link = Link::new(Target { kind, levels });
    let scores = (0..2 * link.scores()).map(|i| 0.4 - 0.3 * i as f64).collect();
    let mut crossed = CrossedEffects::new(link, scores, 3, &[]);
    for (effect, shift) in crossed.annotators.iter_mut().zip([-1.0, 0.0, 1.5]) {
        effect.theta[0] = shift;
        effect.covariance.fill(0.0);
    }
    crossed.v = vec![0.3, 2.0];
    Multilevel::from_parts(TextScorer::constant(link), crossed)
}

fn sums(model: &Multilevel) -> Sums {
    Sums::of(model, 0..2, 0..3, false, |_| &[])
}

/// The integral by the trapezoid rule, using only the formulas of the binary link.
#[test]
fn disagreement_probability_matches_integration() {
    let model = model(TargetKind::Binary, 2);
    let found = sums(&model);
    for (text, (score, var)) in [(0.4, 0.3_f64), (0.1, 2.0)].into_iter().enumerate() {
        let (mut total, mut weights) = (0.0, 0.0);
        for step in -600..=600 {
            let x = f64::from(step) / 100.0;
            let weight = (-0.5 * x * x).exp();
            let p: Vec<f64> = [-1.0, 0.0, 1.5]
                .iter()
                .map(|shift| sigmoid(score + var.sqrt() * x + model.crossed.fixed_effects[0] + shift))
                .collect();
            let pairs = [(0, 1), (0, 2), (1, 2)];
            let differ = |(a, b): &(usize, usize)| p[*a] * (1.0 - p[*b]) + p[*b] * (1.0 - p[*a]);
            total += weight * pairs.iter().map(differ).sum::<f64>() / 3.0;
            weights += weight;
        }
        let ours = f64::from(found.get(text).pairwise);
        assert!((ours - total / weights).abs() < 0.004, "text {text}: {ours} against {}", total / weights);
    }
}

#[test]
fn text_uncertainty_is_not_disagreement() {
    for (kind, levels) in [(TargetKind::Binary, 2), (TargetKind::Ordinal, 5), (TargetKind::Nominal, 4)] {
        let model = model(kind, levels);
        let found = sums(&model);
        let mut marginals = RunningSums::new(levels, false, 2);
        let mut column = vec![0.0; 2 * levels];
        for annotator in 0..3 {
            model.predict_column(annotator, 0..2, &mut column);
            marginals.add(0..2, &column, 1.0);
        }
        marginals.count(3);
        for text in 0..2 {
            let (averaged, marginal) = (found.get(text).pairwise, marginals.get(text).pairwise);
            assert!(averaged < marginal, "{kind}: {averaged} against {marginal}");
            assert!(averaged > 0.1 * marginal);
        }
    }
}
