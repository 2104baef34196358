//! The interval of a text's disagreement under the posteriors of its score, of annotators and of shared
//! parameters.

use super::model::LiveModel;
use crate::mixed::predictor::{Scratch, TextColumns};
use crate::mixed::{CrossedEffects, SharedMoves};
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::disagreement::{Measure, NodeSums, UsualSplit};
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::quadratic;
use dissensus_stats::math::distributions::normal_quantile;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;

/// Points of the text's posterior at which disagreement is computed.
const QUANTILES: usize = 21;

/// Step of a Fibonacci lattice with this many points: scales cover their posterior as evenly as scores do,
/// independently of each other.
const STEPS: usize = 13;
/// The quantile at the middle of the posterior.
const MIDDLE: usize = QUANTILES / 2;

impl LiveModel {
    /// The interval ([`CONFIDENCE_LEVEL`]) of a measure of one text over the annotators of `mask` (all of
    /// them with `None`): the quantiles of the measure over the posteriors of the text's score and scale
    /// (evenly spaced quantiles, on a lattice; for choice scales all scores move along the average's
    /// contrast), widened on either side by the uncertainty of each annotator's effects, of groups' slopes
    /// and of the shared parameters (to first order), and extended to include `estimate` where needed. Where
    /// texts have no scales of their own, the upper end uses the largest variation of scales that labels do
    /// not rule out: people may be further apart on a text than the model assumes, for example in camps.
    /// Given labels replace predictions. For [`Measure::Surprising`] with `usual`, the curve of all texts.
    ///
    /// `None` for [`Measure::Between`], whose uncertainty is about the spread of all people and hardly about
    /// the text, for the measures that are not based on pairs of answers, and where the scale does not have
    /// the measure.
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
        let (n, sums) = (people.n, people.sums.single_node());
        let value = |i: usize| {
            let value = by.of_pairs(sums, i, n)?;
            let usually = match by {
                Measure::Surprising => usual?.at(sums.mean_level(i, n)),
                _ => 0.0,
            };
            Some((value - usually) as f32)
        };
        let values: Vec<f32> = (0..people.points()).map(value).collect::<Option<_>>()?;
        let middle = values[MIDDLE];
        // First the model's own scale, then, where there are more points, scales that vary as much as labels
        // allow: few labels never rule out that people are further apart than the model assumes, and that
        // only raises disagreement.
        let ends: Vec<(f32, f32)> = values.chunks_exact(QUANTILES).map(ends).collect();
        let (low, high) = (ends[0].0, ends.iter().fold(f32::MIN, |high, ends| high.max(ends.1)));
        let others =
            normal_quantile(0.5 + CONFIDENCE_LEVEL / 2.0) as f32 * people.variance(usual)?.sqrt() as f32;
        let reach = |to: f32| (middle - to).hypot(others);
        let (least, most) = by.range();
        let (low, high) = ((middle - reach(low)).max(least), (middle + reach(high)).min(most));
        Some((low.min(estimate), high.max(estimate)))
    }

    fn people_on(&self, text: u32, by: Measure, mask: Option<&[bool]>) -> PeopleOnText<'_> {
        let crossed = &self.model.crossed;
        let columns = columns(crossed, text as usize);
        let levels = self.levels();
        let lens = by.lens(self.is_ordinal());
        let points = columns.len() - 1;
        let mut sums = NodeSums::single(levels, lens, points);
        let (mut people, mut n) = (Vec::new(), 0);
        let mut p = vec![0.0; points * levels];
        let mut scratch = Scratch::default();
        let labels = &crossed.labels[text as usize];
        for (annotator, predictor) in self.model.predictors().iter().enumerate() {
            if mask.is_some_and(|mask| mask.get(annotator) != Some(&true)) {
                continue;
            }
            n += 1;
            let label = labels
                .binary_search_by_key(&(annotator as u32), |label| label.annotator)
                .ok()
                .map(|at| labels[at].level);
            predictor.fill(&columns, 1..points + 1, &mut p, &mut scratch);
            let known: Vec<(u32, u16)> =
                label.map_or_else(Vec::new, |level| (0..points as u32).map(|i| (i, level)).collect());
            sums.add(0, 0, 0..points, &mut p, &known, 1.0);
            if label.is_none() {
                let seen = p.chunks_exact(points).take(lens.levels(levels));
                people.push((annotator, seen.map(|p| f64::from(p[MIDDLE])).collect()));
            }
        }
        PeopleOnText { model: self, text: text as usize, columns, sums, people, n, by }
    }
}

/// All annotators on one text.
struct PeopleOnText<'a> {
    model: &'a LiveModel,
    text: usize,
    columns: TextColumns,
    /// One column per quantile.
    sums: NodeSums,
    /// Annotators who have not labelled the text, and their distributions at its middle.
    people: Vec<(usize, Vec<f64>)>,
    n: usize,
    by: Measure,
}

/// First-order changes of a measure.
#[derive(Default)]
struct Moves {
    /// Its variance from annotators' individual effects.
    own: f64,
    /// Change with each direction of the uncertainty of groups' slopes.
    groups: Vec<f64>,
    /// Change with each direction of the uncertainty of shared parameters.
    parameters: Vec<f64>,
}

impl PeopleOnText<'_> {
    /// Variance of the measure over the posteriors of people's effects, groups' slopes and shared parameters,
    /// to first order: people are independent given the text, their groups and the parameters, and the
    /// measure is a mean over pairs, linear in each person's distribution.
    fn variance(&self, usual: Option<&UsualSplit>) -> Option<f64> {
        let Moves { own, groups, parameters } = self.moves(usual)?;
        Some(
            own + dissensus_stats::math::dot(&groups, &groups)
                + dissensus_stats::math::dot(&parameters, &parameters),
        )
    }

    /// Points of the text's posterior.
    fn points(&self) -> usize {
        self.columns.len() - 1
    }

    fn moves(&self, usual: Option<&UsualSplit>) -> Option<Moves> {
        let Self { model, text, by, n, .. } = *self;
        let crossed = &model.model.crossed;
        let mut moves = Moves::default();
        if n < 2 {
            return Some(moves);
        }
        let sums = self.sums.single_node();
        let total: Vec<f64> = sums.mean(MIDDLE, n).map(|p| p * n as f64).collect();
        let slope = match by {
            Measure::Surprising => usual?.slope(sums.mean_level(MIDDLE, n)) / n as f64,
            _ => 0.0,
        };
        let (levels, lens) = (total.len(), by.lens(model.is_ordinal()));
        let distance = |c: usize, d: usize| by.distance(c, d, n, levels, model.is_ordinal());
        let scale = 2.0 / (n as f64 * (n as f64 - 1.0));
        let shared = SharedMoves::new(crossed, text);
        moves.parameters = vec![0.0; shared.directions()];
        for (annotator, base) in &self.people {
            let seen: Vec<f64> = (0..levels)
                .map(|c| {
                    let others: f64 = (0..levels).map(|d| distance(c, d) * (total[d] - base[d])).sum();
                    scale * others - slope * c as f64
                })
                .collect();
            let by_level: Vec<f64> = (0..model.levels()).map(|c| seen[lens.seen(c)]).collect();
            let predictor = &model.model.predictors()[*annotator];
            // Column 0 is the text at its mean, with a known score.
            let slopes = predictor.logit_slopes(&self.columns, 1 + MIDDLE, &by_level);
            let by_effect = crossed.by_effects(*annotator, text, &slopes);
            moves.own += quadratic(&crossed.annotators[*annotator].covariance, &by_effect);
            let all: f64 = slopes.iter().map(|slope| slope.logit).sum();
            let groups = crossed.shifts_with_groups(*annotator, text);
            moves.groups.resize(groups.len().max(moves.groups.len()), 0.0);
            axpy(all, &groups, &mut moves.groups[..groups.len()]);
            shared.add(*annotator, &slopes, &by_effect, &mut moves.parameters);
        }
        Some(moves)
    }
}

/// The text at its posterior mean, and at the quantiles of its posterior; for models without scales of texts,
/// then again at these quantiles with scales that vary as much as labels do not rule out.
fn columns(crossed: &CrossedEffects, text: usize) -> TextColumns {
    let q = crossed.link.scores();
    let mean = &crossed.u[text * q..(text + 1) * q];
    let sd = crossed.v[text].sqrt();
    let mut columns = TextColumns::one(mean, 0.0, crossed.noise(text), crossed.features(text));
    let mut push = |noise: &dyn Fn(f64) -> f64| {
        for i in 0..QUANTILES {
            let quantile = |at: usize| normal_quantile((at as f64 + 0.5) / QUANTILES as f64);
            let scale = (MIDDLE + STEPS * (i + QUANTILES - MIDDLE)) % QUANTILES;
            let x = sd * quantile(i);
            let moved: Vec<f64> = mean.iter().enumerate().map(|(c, m)| m + x * contrast(c, q)).collect();
            columns.push(&moved, 0.0, noise(quantile(scale)), crossed.features(text));
        }
    };
    push(&|x| crossed.noise_at(text, x));
    if let Some(scale) = crossed.scale_not_ruled_out(text) {
        push(&|x| scale.noise_at(x));
    }
    columns
}

/// Ends of the interval of sorted or unsorted values at evenly spaced quantiles.
fn ends(values: &[f32]) -> (f32, f32) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let missed = (1.0 - CONFIDENCE_LEVEL) / 2.0;
    (quantile(&sorted, missed), quantile(&sorted, 1.0 - missed))
}

/// Direction in which choice scores move against each other: even ones up while odd ones go down.
pub(super) fn contrast(score: usize, scores: usize) -> f64 {
    if scores == 1 || score.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The `p` quantile of sorted values at the quantiles `(i + 1/2) / n`, linearly interpolated (definition 5 of
/// Hyndman and Fan 1996).
fn quantile(sorted: &[f32], p: f64) -> f32 {
    let at = (p * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract() as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Multilevel, TextScorer};
    use crate::mixed::group_slope_simulation::{Design, FEATURES, USUAL};
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::Target;
    use dissensus_stats::data::progress::Silent;

    fn live(crossed: CrossedEffects) -> LiveModel {
        let target = Target { kind: TargetKind::Ordinal, levels: 5 };
        let head = TextScorer::constant(crossed.link);
        LiveModel::from_model(Multilevel::from_parts(head, crossed), target, Vec::new(), 0)
    }

    /// The models moved a step forwards and backwards in each direction.
    fn both_ways(directions: usize, moved: impl Fn(usize, f64) -> LiveModel) -> Vec<[LiveModel; 2]> {
        (0..directions).map(|direction| [1.0, -1.0].map(|sign| moved(direction, sign))).collect()
    }

    /// How fast the measure of a text grows from the second model to the first.
    fn slope([forwards, backwards]: &[LiveModel; 2], text: u32, by: Measure, step: f64) -> f64 {
        let value = |model: &LiveModel| {
            let people = model.people_on(text, by, None);
            by.of_pairs(people.sums.single_node(), MIDDLE, people.n).unwrap()
        };
        (value(forwards) - value(backwards)) / (2.0 * step)
    }

    /// Computes the move of the measure when all members of a group react a little differently, by moving
    /// them.
    #[test]
    fn group_uncertainty_matches_finite_differences() {
        const STEP: f64 = 0.05;
        let mut sim = Design { difference: 1.0, own: 0.3, ..USUAL }.simulate(3);
        sim.crossed.select_slopes(&sim.z, FEATURES, &sim.fold, 5);
        let by = (&sim.fold[..], 5);
        let found =
            sim.crossed.select_group_slopes(&sim.attributes, (&sim.z, FEATURES), by, 1, &Silent).unwrap();
        assert_eq!(found.used, ["gender"]);
        let crossed = &sim.crossed;
        let directions = 2 * FEATURES;
        let moved = |direction: usize, sign: f64| {
            let mut moved = crossed.clone();
            for annotator in 0..moved.annotators.len() {
                let moves = crossed.moves_of(annotator);
                for (k, theta) in moved.annotators[annotator].theta.iter_mut().enumerate() {
                    *theta += sign * STEP * moves.get(k * directions + direction).unwrap_or(&0.0);
                }
            }
            live(moved)
        };
        let moved = both_ways(directions, moved);
        let model = live(crossed.clone());
        for by in [Measure::Pairwise, Measure::Split] {
            let (mut apart, mut whole) = (0.0, 0.0);
            for text in 0..40u32 {
                let derivatives = model.people_on(text, by, None).moves(None).unwrap().groups;
                assert_eq!(derivatives.len(), directions);
                for (moved, derivatives) in moved.iter().zip(derivatives) {
                    let found = slope(moved, text, by, STEP);
                    apart += (found - derivatives).powi(2);
                    whole += found.powi(2);
                }
            }
            // `said` is computed from moves of a whole standard deviation, these from a twentieth of one.
            assert!(apart <= 0.15f64.powi(2) * whole, "{by:?}: {apart:e} of {whole:e}");
            assert!(whole > 1e-5, "{by:?}: {whole:e}");
        }
    }

    /// Computes the move of the measure under other shared parameters by moving texts and annotators as a fit
    /// with these parameters does.
    #[test]
    fn parameter_uncertainty_matches_finite_differences() {
        const STEP: f64 = 0.05;
        const TEXTS: u32 = 20;
        let mut crossed = crate::mixed::text_scale_simulation::fitted(0.0, 4);
        crossed.estimate_parameter_uncertainty(&Silent).unwrap();
        crossed.uncertainty = crossed.uncertainty.without_variances();
        let width = crossed.width();
        let directions = crossed.uncertainty.directions();
        let moved = |direction: usize, sign: f64| {
            let by_row = |rows: &[f32]| -> Vec<f64> {
                let of = rows.chunks_exact(directions);
                of.map(|row| sign * STEP * f64::from(row[direction])).collect()
            };
            let known = &crossed.uncertainty;
            let mut moved = crossed.clone();
            axpy(1.0, &by_row(known.of_fixed_effects()), &mut moved.fixed_effects);
            for text in 0..TEXTS {
                moved.u[text as usize] += by_row(known.of_text(text as usize, 1).unwrap())[0];
            }
            for (annotator, effect) in moved.annotators.iter_mut().enumerate() {
                axpy(1.0, &by_row(known.of_annotator(annotator, width).unwrap()), &mut effect.theta);
            }
            live(moved)
        };
        let moved = both_ways(directions, moved);
        let model = live(crossed.clone());
        for by in [Measure::Pairwise, Measure::Split, Measure::OppositeSides { cut: 3 }] {
            let (mut apart, mut whole) = (0.0, 0.0);
            for text in 0..TEXTS {
                let derivatives = model.people_on(text, by, None).moves(None).unwrap().parameters;
                assert_eq!(derivatives.len(), directions);
                for (moved, derivatives) in moved.iter().zip(derivatives) {
                    let found = slope(moved, text, by, STEP);
                    apart += (found - derivatives).powi(2);
                    whole += found.powi(2);
                }
            }
            // Variances of intercepts also depend on gaps, which is left out here.
            assert!(apart <= 0.1f64.powi(2) * whole, "{by:?}: {apart:e} of {whole:e}");
            assert!(whole > 1e-5, "{by:?}: {whole:e}");
        }
    }

    /// The middle is paired with the middle, and every scale is used once.
    #[test]
    fn quadrature_covers_scales_and_scores() {
        let scales: Vec<usize> =
            (0..QUANTILES).map(|i| (MIDDLE + STEPS * (i + QUANTILES - MIDDLE)) % QUANTILES).collect();
        assert_eq!(scales[MIDDLE], MIDDLE);
        let mut sorted = scales.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..QUANTILES).collect::<Vec<_>>());
        let of = |from: usize| scales[from..from + 7].iter().sum::<usize>() as f64 / 7.0;
        assert!([0, 7, 14].iter().all(|from| (of(*from) - 10.0).abs() < 2.5), "{scales:?}");
    }

    /// 21 points at (i + 1/2) / 21: the 5 % quantile is 0.55 of the way from the first to the second.
    #[test]
    fn quantiles_interpolate_between_points() {
        let values: Vec<f32> = (0..QUANTILES).map(|i| i as f32).collect();
        assert!((quantile(&values, 0.05) - 0.55).abs() < 1e-6);
        assert!((quantile(&values, 0.95) - 19.45).abs() < 1e-6);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (0.0, 20.0));
    }
}
