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
    /// scales all scores move along the average's contrast), then widened on either side by what is not known of each annotator's severity and of groups' slopes (to first order) and where needed to
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
            let mut sd = predictor.shift_sd().max(f64::MIN_POSITIVE);
            if crossed.slope_dim > 0 {
                // From here on `step` is of a standard deviation of all that is the annotator's own on this text.
                let own = crossed.own_shift_sd(annotator, text as usize).max(f64::MIN_POSITIVE);
                step.iter_mut().for_each(|step| *step *= own / sd);
                sd = own;
            }
            predictor.fill(&columns, 1..QUANTILES + 1, &mut p, &mut scratch);
            let known: Vec<(u32, u16)> =
                label.map_or_else(Vec::new, |level| (0..QUANTILES as u32).map(|i| (i, level)).collect());
            people.sums.add(0, 0, 0..QUANTILES, &mut p, &known, 1.0);
            let base = p.chunks_exact(QUANTILES).take(step.len()).map(|p| f64::from(p[MIDDLE])).collect();
            let groups = match label {
                None => crossed.shifts_with_groups(annotator, text as usize),
                Some(_) => Vec::new(),
            };
            let groups = groups.into_iter().map(|shift| shift / sd).collect();
            people.steps.push(Step { base, step, groups });
        }
        people
    }
}

/// How one person's distribution moves with a standard deviation of what is not known of the severity.
struct Step {
    base: Vec<f64>,
    step: Vec<f64>,
    /// How many `step`s do to all logits what each direction of what is not known of groups' slopes does.
    groups: Vec<f64>,
}

/// Everybody on one text.
struct PeopleOnText {
    /// A text for each quantile.
    sums: NodeSums,
    steps: Vec<Step>,
    ordinal: bool,
}

impl PeopleOnText {
    /// Variance of a measure over the posteriors of people's severities and groups' slopes, to first order: people are independent given the text and
    /// their groups, and the measure is a mean over pairs, linear in each person's distribution.
    fn variance(&self, by: Measure, usual: Option<&UsualSplit>) -> Option<f64> {
        let (own, of_groups) = self.moves(by, usual)?;
        Some(own + crate::math::dot(&of_groups, &of_groups))
    }

    /// Variance of a measure by what is each person's own, and how far the measure moves with each direction of what is not known of groups' slopes.
    fn moves(&self, by: Measure, usual: Option<&UsualSplit>) -> Option<(f64, Vec<f64>)> {
        let n = self.steps.len();
        let (mut own, mut of_groups) = (0.0, Vec::new());
        if n < 2 {
            return Some((own, of_groups));
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
        for Step { base, step, groups } in &self.steps {
            let mut moved = 0.0;
            for (c, step) in step.iter().enumerate() {
                let others: f64 = (0..levels).map(|d| distance(c, d) * (total[d] - base[d])).sum();
                moved += step * (scale * others - slope * c as f64);
            }
            own += moved * moved;
            of_groups.resize(groups.len().max(of_groups.len()), 0.0);
            crate::math::axpy(moved, groups, &mut of_groups[..groups.len()]);
        }
        Some((own, of_groups))
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
    use crate::Silent;
    use crate::data::Target;
    use crate::mixed::group_slope_simulation::{Design, FEATURES, USUAL};
    use crate::models::{Multilevel, TextScorer};
    use dissensus_domain::ScaleKind;

    fn live(crossed: CrossedEffects) -> LiveModel {
        let target = Target { kind: ScaleKind::Ordinal, levels: 5 };
        let head = TextScorer::constant(crossed.link);
        LiveModel::from_model(Multilevel::from_parts(head, crossed), target, Vec::new(), 0)
    }

    /// What the measure would move if everybody of a group reacted a little differently, by moving them.
    #[test]
    fn a_doubt_about_groups_moves_a_measure_as_far_as_said() {
        const STEP: f64 = 0.05;
        let mut sim = Design { difference: 1.0, own: 0.3, ..USUAL }.simulate(3);
        sim.crossed.select_slopes(&sim.z, FEATURES, &sim.fold, 5);
        let by = (&sim.fold[..], 5);
        let found =
            sim.crossed.select_group_slopes(&sim.attributes, (&sim.z, FEATURES), by, 1, &Silent).unwrap();
        assert_eq!(found.used, ["gender"]);
        let crossed = &sim.crossed;
        let at = |crossed: &CrossedEffects, text: u32, by: Measure| {
            let people = live(crossed.clone()).people_on(text, by, None);
            (by.of_pairs(people.sums.single_node(), MIDDLE, people.steps.len()).unwrap(), people)
        };
        let directions = 2 * FEATURES;
        for by in [Measure::Pairwise, Measure::Split] {
            let (mut apart, mut whole) = (0.0, 0.0);
            for text in 0..40u32 {
                let (_, people) = at(crossed, text, by);
                let (_, said) = people.moves(by, None).unwrap();
                assert_eq!(said.len(), directions);
                let moved = |direction: usize, sign: f64| {
                    let mut moved = crossed.clone();
                    for annotator in 0..moved.annotators.len() {
                        let moves = crossed.moves_of(annotator);
                        for (k, theta) in moved.annotators[annotator].theta.iter_mut().enumerate() {
                            *theta += sign * STEP * moves.get(k * directions + direction).unwrap_or(&0.0);
                        }
                    }
                    at(&moved, text, by).0
                };
                for (direction, said) in said.into_iter().enumerate() {
                    let found = (moved(direction, 1.0) - moved(direction, -1.0)) / (2.0 * STEP);
                    apart += (found - said).powi(2);
                    whole += found.powi(2);
                }
            }
            // `said` follows from moves of a whole standard deviation, these from a twentieth of one.
            assert!(apart <= 0.15f64.powi(2) * whole, "{by:?}: {apart:e} of {whole:e}");
            assert!(whole > 1e-5, "{by:?}: {whole:e}");
        }
    }

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
