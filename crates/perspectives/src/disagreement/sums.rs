//! Everything the measures of texts are made of.

use super::{BLOCK, Disagreement, Pairs, Running};
use crate::models::AnnotatorModel;
use std::ops::Range;

/// Sums of what is predicted of annotators, and of what is predicted while a text's own score is held at each point of
/// the model's doubt about it (see [`Disagreement::pairwise`]).
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    marginal: Running,
    points: Vec<Pairs>,
    weights: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(model: &dyn AnnotatorModel, ordinal: bool, texts: usize) -> Self {
        let (levels, weights) = (model.levels(), model.points());
        Self {
            marginal: Running::new(levels, ordinal, texts),
            points: vec![Pairs::new(levels, texts); weights.len()],
            weights,
        }
    }

    /// Those of a range of texts over `chosen` annotators.
    pub(crate) fn of(
        model: &dyn AnnotatorModel,
        texts: Range<usize>,
        chosen: impl Iterator<Item = u32>,
        ordinal: bool,
    ) -> Self {
        let mut sums = Self::new(model, ordinal, texts.len());
        let mut block = vec![0.0; texts.len().min(BLOCK) * model.levels()];
        for annotator in chosen {
            for from in texts.clone().step_by(BLOCK) {
                let range = from..(from + BLOCK).min(texts.end);
                let own = from - texts.start..range.end - texts.start;
                let block = &mut block[..range.len() * model.levels()];
                for part in 0..sums.parts() {
                    match part.checked_sub(1) {
                        None => model.predict_column(annotator, range.clone(), block),
                        Some(point) => model.predict_column_at(point, annotator, range.clone(), block),
                    }
                    sums.add(part, own.clone(), block, 1.0);
                }
            }
            sums.count(1);
        }
        sums
    }

    /// What is added apart: part 0 is what is predicted, part `i` what is predicted at point `i - 1`.
    pub(crate) fn parts(&self) -> usize {
        1 + self.points.len()
    }

    pub(crate) fn texts(&self) -> usize {
        self.marginal.texts()
    }

    /// Adds one annotator's probabilities (level-major over `range`) to a part, or takes them out with `sign` -1.
    pub(crate) fn add(&mut self, part: usize, range: Range<usize>, block: &[f32], sign: f64) {
        match part.checked_sub(1) {
            None => self.marginal.add(range, block, sign),
            Some(point) => self.points[point].add(range, block, sign),
        }
    }

    /// Sets a text's sums to nothing; the annotators still stand behind them.
    pub(crate) fn clear(&mut self, text: usize) {
        self.marginal.clear(text);
        self.points.iter_mut().for_each(|point| point.clear(text));
    }

    /// Adds the probabilities of `n` annotators, at most [`BLOCK`] (level-major), on one text to a part.
    pub(crate) fn add_people(&mut self, part: usize, text: usize, block: &[f32], n: usize) {
        match part.checked_sub(1) {
            None => self.marginal.add_people(text, block, n),
            Some(point) => self.points[point].add_people(text, block, n),
        }
    }

    /// Says that `count` more annotators stand behind the sums.
    pub(crate) fn count(&mut self, count: usize) {
        self.marginal.count(count);
    }

    /// A text nobody has judged yet.
    pub(crate) fn push_text(&mut self) {
        self.marginal.push_text();
        self.points.iter_mut().for_each(Pairs::push_text);
    }

    /// Joins the texts of `other`, over the same annotators, behind these.
    pub(crate) fn append(&mut self, other: Self) {
        self.marginal.append(other.marginal);
        self.points.iter_mut().zip(other.points).for_each(|(a, b)| a.append(b));
    }

    /// The measures of one text.
    pub(crate) fn get(&self, text: usize) -> Disagreement {
        let marginal = self.marginal.get(text);
        if self.points.is_empty() {
            return marginal;
        }
        let n = self.marginal.annotators();
        let pairwise: f64 = self.weights.iter().zip(&self.points).map(|(w, p)| w * p.differ(text, n)).sum();
        Disagreement { pairwise: pairwise as f32, ..marginal }
    }

    /// Mean probabilities of one text's levels over annotators.
    pub(crate) fn mean(&self, text: usize) -> Vec<f32> {
        self.marginal.mean(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::effects::Crossed;
    use crate::link::Link;
    use crate::math::sigmoid;
    use crate::models::{EncoderToScore, Multilevel};
    use dissensus_domain::ScaleKind;

    /// Three people without doubt about themselves, two texts with doubt about their scores.
    fn model(kind: ScaleKind, levels: usize) -> Multilevel {
        let link = Link::new(Target { kind, levels });
        let scores = (0..2 * link.scores()).map(|i| 0.4 - 0.3 * i as f64).collect();
        let mut crossed = Crossed::new(link, scores, 3, &[]);
        for (person, shift) in crossed.people.iter_mut().zip([-1.0, 0.0, 1.5]) {
            person.theta[0] = shift;
            person.covariance.fill(0.0);
        }
        crossed.v = vec![0.3, 2.0];
        Multilevel::from_parts(EncoderToScore::constant(link), crossed)
    }

    fn sums(model: &Multilevel) -> Sums {
        Sums::of(model, 0..2, 0..3, false)
    }

    /// The integral by the trapezoid rule, from the formulas of the binary link alone.
    #[test]
    fn the_chance_to_differ_is_the_integral_over_the_text() {
        let model = model(ScaleKind::Binary, 2);
        let found = sums(&model);
        for (text, (score, var)) in [(0.4, 0.3_f64), (0.1, 2.0)].into_iter().enumerate() {
            let (mut total, mut weights) = (0.0, 0.0);
            for step in -600..=600 {
                let x = f64::from(step) / 100.0;
                let weight = (-0.5 * x * x).exp();
                let p: Vec<f64> = [-1.0, 0.0, 1.5]
                    .iter()
                    .map(|shift| sigmoid(score + var.sqrt() * x + model.crossed.base[0] + shift))
                    .collect();
                let pairs = [(0, 1), (0, 2), (1, 2)];
                let differ = |(a, b): &(usize, usize)| p[*a] * (1.0 - p[*b]) + p[*b] * (1.0 - p[*a]);
                total += weight * pairs.iter().map(differ).sum::<f64>() / 3.0;
                weights += weight;
            }
            let ours = f64::from(found.get(text).pairwise);
            assert!(
                (ours - total / weights).abs() < 0.004,
                "text {text}: {ours} against {}",
                total / weights
            );
        }
    }

    #[test]
    fn doubt_about_a_text_does_not_set_its_readers_apart() {
        for (kind, levels) in [(ScaleKind::Binary, 2), (ScaleKind::Ordinal, 5), (ScaleKind::Choice, 4)] {
            let found = sums(&model(kind, levels));
            for text in 0..2 {
                let (averaged, marginal) = (found.get(text).pairwise, found.marginal.get(text).pairwise);
                assert!(averaged < marginal, "{kind}: {averaged} against {marginal}");
                assert!(averaged > 0.1 * marginal);
            }
        }
    }
}
