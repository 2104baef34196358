//! The interval of a text's disagreement under the posterior of its score.

use super::model::LiveModel;
use crate::data::AnnotatorModel;
use crate::disagreement::{Measure, NodeSums, UsualSplit};
use crate::math::distributions::normal_quantile;
use crate::mixed::CrossedEffects;
use crate::mixed::predictor::{Scratch, TextColumns};

/// Points of the text's posterior at which disagreement is computed.
const QUANTILES: usize = 21;

/// Steps of a Fibonacci lattice of so many points: scales run through their posterior as evenly as scores do, whatever the other is.
const STEPS: usize = 13;
/// The quantile at the middle of the posterior.
const MIDDLE: usize = QUANTILES / 2;
/// The 95 % quantile of a standard normal.
const NINETY: f64 = 1.644_853_626_951_472_2;

impl LiveModel {
    /// The 90 % interval of a measure of one text over the annotators of `mask` (all of them with `None`): from its 5 % to its 95 %
    /// quantile while the text's score and its scale, where it has one, run through their posteriors (evenly spaced quantiles, on a lattice; for choice
    /// scales all scores move along the average's contrast), then widened on either side by what is not known of each annotator's severity (to first order) and where needed to
    /// hold `estimate`. Who labelled the text stands with the label given. Of [`Measure::Surprising`] with `usual`, the curve of all texts.
    ///
    /// `None` for [`Measure::Between`], whose doubt is about the spread of all people and hardly about the text, for the measures that do not follow from
    /// pairs of answers, and where the scale does not have it.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn interval(
        &self,
        text: u32,
        by: Measure,
        mask: Option<&[bool]>,
        estimate: f32,
        usual: Option<&UsualSplit>,
    ) -> Option<(f32, f32)> {
        if by == Measure::Between {
            return None;
        }
        let people = self.people_on(text, by, mask);
        let mut values = Vec::with_capacity(QUANTILES);
        let n = people.steps.len();
        let sums = people.sums.single_node();
        for i in 0..QUANTILES {
            let value = by.of_pairs(sums, i, n)?;
            let usually = match by {
                Measure::Surprising => usual?.at(sums.mean_level(i, n)),
                _ => 0.0,
            };
            values.push((value - usually) as f32);
        }
        let middle = values[MIDDLE];
        values.sort_by(f32::total_cmp);
        let (low, high) = (quantile(&values, 0.05), quantile(&values, 0.95));
        let severities = NINETY as f32 * people.variance(by, usual)?.sqrt() as f32;
        let reach = |to: f32| (middle - to).hypot(severities);
        let (least, most) = by.range();
        let (low, high) = ((middle - reach(low)).max(least), (middle + reach(high)).min(most));
        Some((low.min(estimate), high.max(estimate)))
    }

    fn people_on(&self, text: u32, by: Measure, mask: Option<&[bool]>) -> PeopleOnText {
        let crossed = &self.model.crossed;
        let columns = columns(crossed, text as usize);
        let levels = self.levels();
        let lens = by.lens(self.is_ordinal());
        let mut people = PeopleOnText {
            sums: NodeSums::single(levels, lens, QUANTILES),
            steps: Vec::new(),
            ordinal: self.is_ordinal(),
        };
        let mut p = vec![0.0; QUANTILES * levels];
        let mut moved = vec![0.0; levels];
        let mut scratch = Scratch::default();
        let labels = &crossed.labels[text as usize];
        for (annotator, predictor) in self.model.predictors().iter().enumerate() {
            if mask.is_some_and(|mask| mask.get(annotator) != Some(&true)) {
                continue;
            }
            let label = labels
                .binary_search_by_key(&(annotator as u32), |label| label.annotator)
                .ok()
                .map(|at| labels[at].level);
            let mut step = vec![0.0; lens.levels(levels)];
            if label.is_none() {
                for (sign, x) in [(0.5, 1.0), (-0.5, -1.0)] {
                    predictor.moved(None, x).fill(&columns, 0..1, &mut moved, &mut scratch);
                    let seen = lens.through(&mut moved, 1);
                    step.iter_mut().zip(seen).for_each(|(step, p)| *step += sign * f64::from(*p));
                }
            }
            predictor.fill(&columns, 1..QUANTILES + 1, &mut p, &mut scratch);
            let known: Vec<(u32, u16)> =
                label.map_or_else(Vec::new, |level| (0..QUANTILES as u32).map(|i| (i, level)).collect());
            people.sums.add(0, 0, 0..QUANTILES, &mut p, &known, 1.0);
            let base = p.chunks_exact(QUANTILES).take(step.len()).map(|p| f64::from(p[MIDDLE])).collect();
            people.steps.push(Step { base, step });
        }
        people
    }
}

/// How one person's distribution moves with a standard deviation of what is not known of the severity.
struct Step {
    base: Vec<f64>,
    step: Vec<f64>,
}

/// Everybody on one text.
struct PeopleOnText {
    /// A text for each quantile.
    sums: NodeSums,
    steps: Vec<Step>,
    ordinal: bool,
}

impl PeopleOnText {
    /// Variance of a measure over the posteriors of people's severities, to first order: people are independent given the text, and
    /// the measure is a mean over pairs, linear in each person's distribution.
    fn variance(&self, by: Measure, usual: Option<&UsualSplit>) -> Option<f64> {
        let n = self.steps.len();
        if n < 2 {
            return Some(0.0);
        }
        let sums = self.sums.single_node();
        let total: Vec<f64> = sums.mean(MIDDLE, n).map(|p| p * n as f64).collect();
        let slope = match by {
            Measure::Surprising => usual?.slope(sums.mean_level(MIDDLE, n)) / n as f64,
            _ => 0.0,
        };
        let levels = total.len();
        let distance = |c: usize, d: usize| by.distance(c, d, n, levels, self.ordinal);
        let scale = 2.0 / (n as f64 * (n as f64 - 1.0));
        let mut variance = 0.0;
        for Step { base, step } in &self.steps {
            let mut moved = 0.0;
            for (c, step) in step.iter().enumerate() {
                let others: f64 = (0..levels).map(|d| distance(c, d) * (total[d] - base[d])).sum();
                moved += step * (scale * others - slope * c as f64);
            }
            variance += moved * moved;
        }
        Some(variance)
    }
}

/// The text at its posterior mean, and at the quantiles of its posterior.
fn columns(crossed: &CrossedEffects, text: usize) -> TextColumns {
    let q = crossed.link.scores();
    let mean = &crossed.u[text * q..(text + 1) * q];
    let sd = crossed.v[text].sqrt();
    let mut columns = TextColumns::one(mean, 0.0, crossed.noise(text), crossed.features(text));
    for i in 0..QUANTILES {
        let x = normal_quantile((i as f64 + 0.5) / QUANTILES as f64);
        let scale = (MIDDLE + STEPS * (i + QUANTILES - MIDDLE)) % QUANTILES;
        let noise = crossed.noise_at(text, normal_quantile((scale as f64 + 0.5) / QUANTILES as f64));
        let moved: Vec<f64> = mean.iter().enumerate().map(|(c, m)| m + sd * x * contrast(c, q)).collect();
        columns.push(&moved, 0.0, noise, crossed.features(text));
    }
    columns
}

/// Choice scores move against each other: even ones up while odd ones go down.
pub(super) fn contrast(score: usize, scores: usize) -> f64 {
    if scores == 1 || score.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The `p` quantile of sorted values that stand at the quantiles `(i + 1/2) / n`, linearly interpolated (definition 5 of
/// Hyndman and Fan 1996).
fn quantile(sorted: &[f32], p: f64) -> f32 {
    let at = (p * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle stands with the middle, and every scale is used once.
    #[test]
    fn scales_and_scores_fill_the_square() {
        let scales: Vec<usize> =
            (0..QUANTILES).map(|i| (MIDDLE + STEPS * (i + QUANTILES - MIDDLE)) % QUANTILES).collect();
        assert_eq!(scales[MIDDLE], MIDDLE);
        let mut sorted = scales.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..QUANTILES).collect::<Vec<_>>());
        let of = |from: usize| scales[from..from + 7].iter().sum::<usize>() as f64 / 7.0;
        assert!([0, 7, 14].iter().all(|from| (of(*from) - 10.0).abs() < 2.5), "{scales:?}");
    }

    /// 21 points at (i + 1/2) / 21: the 5 % quantile lies 0.55 of the way from the first to the second.
    #[test]
    fn quantiles_lie_between_the_points() {
        let values: Vec<f32> = (0..QUANTILES).map(|i| i as f32).collect();
        assert!((quantile(&values, 0.05) - 0.55).abs() < 1e-6);
        assert!((quantile(&values, 0.95) - 19.45).abs() < 1e-6);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (0.0, 20.0));
    }
}
