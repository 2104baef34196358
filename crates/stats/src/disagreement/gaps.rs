//! Gaps between groups of annotators on a text, shrunk according to their variation between texts.

use super::block::BLOCK;
use super::labels_apart::{LabelsApart, Side as OnSide};
use super::significance::{Side, difference_p_value, false_discovery_rate};
use crate::data::AnnotatorModel;
use crate::math::distributions::normal_quantile;
use crate::metrics::CONFIDENCE_LEVEL;
use rayon::prelude::*;
use std::ops::Range;

/// Smallest variance of a label, even where a model is certain of it.
const MIN_VARIANCE: f64 = 1e-3;
/// Probability that at least one of a text's intervals misses the gap.
const MISSED: f64 = 1.0 - CONFIDENCE_LEVEL;

/// Two sides to compare: each is one or more groups, by their indices in the list of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPair {
    /// Groups on the first side, in order.
    pub first: Vec<u32>,
    /// Groups on the second side, in order.
    pub second: Vec<u32>,
}

/// How far one person's mean level on a text moves, in levels, with one standard deviation of its uncertain
/// parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelStep {
    /// By the text's score, which all people share.
    pub text: f64,
    /// By the person's severity.
    pub severity: f64,
    /// Moves with each independent direction of the uncertainty of groups' slopes, which all people share;
    /// empty where groups have none.
    pub groups: Vec<f64>,
}

/// The gap between two groups on one text: how much higher the second answers, in levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupGap {
    /// Predicted gap between the groups' people, plus the posterior mean of the difference of their labels
    /// from the predictions.
    pub gap: f64,
    /// Its interval: the intervals of all pairs on a text have a joint coverage of 95 % (Bonferroni), so that
    /// the widest gap may be selected. `None` with fewer than [`GroupGaps::MIN_TEXTS`] texts that both
    /// sides labelled.
    pub interval: Option<(f64, f64)>,
    /// Number of labels of the first side and of the second.
    pub labels: [u32; 2],
    /// Two-sided p value of the labels' difference from the predictions; `None` unless both sides gave
    /// labels.
    pub p: Option<f64>,
    /// Whether the gap is significant after correction for all texts and pairs, by the test that was chosen
    /// ([`GroupGaps::estimate`], [`GroupGaps::by_labels`]); its interval then excludes 0, and the labels
    /// differ in the direction of the gap.
    pub significant: bool,
}

/// Distribution over texts of the gap between two sides, beyond the prediction for their people.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prior {
    mean: f64,
    mean_variance: f64,
    variance: f64,
    /// One standard error above `variance`, used for intervals.
    upper: f64,
}

/// One label and the prediction for its annotator.
struct Answer {
    annotator: u32,
    level: u16,
    /// Probabilities of the levels that the labels are tested against: without slopes where groups have
    /// slopes, which already include the difference.
    p: Vec<f64>,
    /// Mean and variance of the prediction.
    mean: f64,
    variance: f64,
}

/// Difference of the labels of both sides from the predictions, and its variance.
#[derive(Clone, Copy, Debug)]
struct Beyond {
    difference: f64,
    variance: f64,
}

/// Labels of both sides of a pair on one text.
struct BothSides {
    text: u32,
    pair: usize,
    beyond: Beyond,
    p: f64,
}

/// Gaps between groups of annotators, estimated from all texts.
#[derive(Clone, Debug)]
pub struct GroupGaps {
    members: Vec<Vec<u32>>,
    /// Groups of each annotator.
    groups_of: Vec<Vec<u32>>,
    pairs: Vec<GroupPair>,
    /// Number of texts that both sides of each pair labelled.
    shared: Vec<usize>,
    priors: Vec<Option<Prior>>,
    test: Test,
}

/// The test of a gap.
#[derive(Clone, Debug)]
enum Test {
    /// Labels are further apart than predicted for their annotators.
    Beyond {
        /// Largest significant p value.
        limit: f64,
        /// Text and pair of all significant p values.
        significant: Vec<(u32, usize)>,
    },
    /// Labels are further apart than those of groups drawn at random.
    Labels(LabelsApart),
}

impl GroupGaps {
    /// Minimum number of texts labelled by both sides to estimate the variation of gaps, and thus intervals.
    pub const MIN_TEXTS: usize = 10;
    /// False discovery rate among the significant gaps.
    pub const FALSE_DISCOVERIES: f64 = 0.05;
    /// False discovery rate where the strict and the lenient are compared in addition to the groups: half for
    /// each of the two comparisons, so that the rate over both is [`GroupGaps::FALSE_DISCOVERIES`].
    pub const NEXT_TO_SEVERITY: f64 = 0.025;

    /// Estimates, for each of `pairs`, mean and variance over texts of the labels' difference from the
    /// predictions (DerSimonian and Laird 1986: the variance by the method of moments, 0 where labels vary no
    /// more than single labels do). `groups` are annotators' indices; an annotator can be in several. Levels
    /// must have an order. Costs one prediction per label.
    ///
    /// A gap is significant where labels show a difference beyond people's severities (including their own
    /// slopes, unless groups have slopes): its `p` is significant after the correction of Benjamini and
    /// Yekutieli (2001) over all texts and pairs: comparisons of pairs that share a group depend on each
    /// other.
    pub fn estimate(model: &dyn AnnotatorModel, groups: Vec<Vec<u32>>, pairs: Vec<GroupPair>) -> Self {
        let (mut gaps, found) = Self::without_test(model, groups, pairs);
        let p: Vec<f64> = found.iter().map(|found| found.p).collect();
        let discovered = false_discovery_rate(&p, Self::FALSE_DISCOVERIES);
        let limit = p
            .iter()
            .zip(discovered)
            .filter(|(_, is_discovered)| *is_discovered)
            .map(|(p, _)| *p)
            .fold(0.0, f64::max);
        let significant = found.iter().filter(|found| found.p <= limit);
        let significant = significant.map(|found| (found.text, found.pair)).collect();
        gaps.test = Test::Beyond { limit, significant };
        gaps
    }

    /// Like [`GroupGaps::estimate`], but a gap is significant where the labels of the two sides are further
    /// apart than those of groups drawn at random from the same people. This tests which side answers higher
    /// on a text, whether only there or everywhere. Of the significant texts and pairs, a share of
    /// `false_discoveries` is expected to be false.
    pub fn by_labels(
        model: &dyn AnnotatorModel,
        groups: Vec<Vec<u32>>,
        pairs: Vec<GroupPair>,
        false_discoveries: f64,
    ) -> Self {
        let (mut gaps, _) = Self::without_test(model, groups, pairs);
        let mut labels = vec![Vec::new(); model.texts()];
        for annotator in 0..model.annotators() as u32 {
            for (text, level) in model.known_labels(annotator) {
                labels[*text as usize].push((annotator, *level));
            }
        }
        let sides: Vec<Vec<OnSide>> = (0..gaps.pairs.len())
            .map(|pair| {
                (0..model.annotators() as u32).map(|annotator| gaps.side_of(pair, annotator)).collect()
            })
            .collect();
        gaps.test = Test::Labels(LabelsApart::estimate(&labels, &sides, false_discoveries));
        gaps
    }

    fn without_test(
        model: &dyn AnnotatorModel,
        groups: Vec<Vec<u32>>,
        pairs: Vec<GroupPair>,
    ) -> (Self, Vec<BothSides>) {
        let mut groups_of = vec![Vec::new(); model.annotators()];
        for (group, members) in (0u32..).zip(&groups) {
            members.iter().for_each(|a| groups_of[*a as usize].push(group));
        }
        let (shared, priors) = (vec![0; pairs.len()], vec![None; pairs.len()]);
        let test = Test::Labels(LabelsApart::default());
        let mut gaps = Self { members: groups, groups_of, pairs, shared, priors, test };
        let found: Vec<BothSides> = in_blocks(0..model.texts(), |block| gaps.both_sides(model, block));
        let mut of_pairs: Vec<Vec<Beyond>> = vec![Vec::new(); gaps.pairs.len()];
        found.iter().for_each(|found| of_pairs[found.pair].push(found.beyond));
        gaps.shared = of_pairs.iter().map(Vec::len).collect();
        gaps.priors = of_pairs.iter().map(|found| prior(found)).collect();
        (gaps, found)
    }

    /// The largest number of texts that both sides of a pair labelled; gaps have intervals from
    /// [`GroupGaps::MIN_TEXTS`] on.
    pub fn shared_texts(&self) -> usize {
        self.shared.iter().copied().max().unwrap_or(0)
    }

    /// The only texts on which the gap of a pair can be significant beyond the predictions.
    pub fn possible_texts(&self, pair: usize) -> impl Iterator<Item = u32> {
        let significant: &[(u32, usize)] = match &self.test {
            Test::Beyond { significant, .. } => significant,
            Test::Labels(_) => &[],
        };
        significant.iter().filter(move |(_, of)| *of == pair).map(|(text, _)| *text)
    }

    /// The gap of one pair on every text of `texts`, in levels, computed in parallel. Costs the same as
    /// [`GroupGaps::widest`].
    ///
    /// # Panics
    /// The same as [`GroupGaps::widest`], and if there is no such pair.
    pub fn of_pair(&self, model: &dyn AnnotatorModel, pair: usize, texts: Range<usize>) -> Vec<f32> {
        in_blocks(texts, |block| {
            let predicted = self.predicted(model, block.clone());
            let answers = self.answers(model, block);
            let gap = |(predicted, answers): (Vec<f64>, Vec<Answer>)| {
                self.gap(pair, &predicted, self.beyond(pair, &answers)) as f32
            };
            predicted.into_iter().zip(answers).map(gap).collect()
        })
    }

    /// The size of the widest gap on every text of `texts`, in levels, computed in parallel; NaN without
    /// pairs. Costs a prediction for each text and annotator.
    ///
    /// # Panics
    /// If the model has other annotators or fewer texts than the one used for the estimate.
    pub fn widest(&self, model: &dyn AnnotatorModel, texts: Range<usize>) -> Vec<f32> {
        in_blocks(texts, |block| {
            let predicted = self.predicted(model, block.clone());
            let answers = self.answers(model, block);
            let of_text = |(predicted, answers): (Vec<f64>, Vec<Answer>)| {
                let gap = |at| self.gap(at, &predicted, self.beyond(at, &answers)).abs() as f32;
                (0..self.pairs.len()).map(gap).fold(f32::NAN, f32::max)
            };
            predicted.into_iter().zip(answers).map(of_text).collect()
        })
    }

    /// The gaps of all pairs on one text, in their order. `steps` are those of every annotator on this text.
    ///
    /// # Panics
    /// The same as [`GroupGaps::widest`], and if there are fewer `steps` than annotators.
    pub fn on_text(&self, model: &dyn AnnotatorModel, text: usize, steps: &[LevelStep]) -> Vec<GroupGap> {
        let predicted = self.predicted(model, text..text + 1).remove(0);
        let answers = self.answers(model, text..text + 1).remove(0);
        let of_pair = |at: usize| {
            let beyond = self.beyond(at, &answers);
            let gap = self.gap(at, &predicted, beyond);
            let reach =
                |prior: Prior| self.quantile() * (spread(prior, beyond) + self.doubt(at, steps)).sqrt();
            let interval = self.priors[at].map(reach).map(|reach| (gap - reach, gap + reach));
            let p = beyond.map(|_| self.p_value(at, &answers));
            let apart = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            let higher = beyond.and_then(|_| self.shown_higher(at, &answers, p?));
            let significant = apart && higher.is_some_and(|second| second == (gap > 0.0));
            let labels = self.sides(at, &answers).map(|side| side.len() as u32);
            GroupGap { gap, interval, labels, p, significant }
        };
        (0..self.pairs.len()).map(of_pair).collect()
    }

    /// The side that answers higher according to labels, the second (`true`) or the first; both gave labels.
    fn shown_higher(&self, pair: usize, answers: &[Answer], p: f64) -> OnSide {
        match &self.test {
            Test::Beyond { limit, .. } => (p <= *limit).then(|| self.beyond_tested(pair, answers) > 0.0),
            Test::Labels(apart) => {
                let on_side = |answer: &Answer| Some((self.side_of(pair, answer.annotator)?, answer.level));
                apart.higher(pair, answers.iter().filter_map(on_side))
            }
        }
    }

    /// Whether an annotator is on the second side of a pair; `None` on neither or both.
    fn side_of(&self, pair: usize, annotator: u32) -> OnSide {
        let GroupPair { first, second } = &self.pairs[pair];
        let on = |side: &[u32]| {
            self.groups_of[annotator as usize].iter().any(|group| side.binary_search(group).is_ok())
        };
        match (on(first), on(second)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    }

    /// Half-width of an interval, in standard deviations.
    fn quantile(&self) -> f64 {
        normal_quantile(1.0 - MISSED / (2.0 * self.pairs.len() as f64))
    }

    /// Sums over the members of every group of their predicted mean levels, by text.
    fn predicted(&self, model: &dyn AnnotatorModel, texts: Range<usize>) -> Vec<Vec<f64>> {
        let (n, levels) = (texts.len(), model.levels());
        let mut sums = vec![vec![0.0; self.members.len()]; n];
        let mut p = vec![0.0f32; n * levels];
        for (annotator, groups) in (0u32..).zip(&self.groups_of).filter(|(_, groups)| !groups.is_empty()) {
            model.predict_column(annotator, texts.clone(), &mut p);
            for (i, sums) in sums.iter_mut().enumerate() {
                let mean: f64 = (1..levels).map(|c| c as f64 * f64::from(p[c * n + i])).sum();
                groups.iter().for_each(|group| sums[*group as usize] += mean);
            }
        }
        sums
    }

    /// The labels that members of groups gave, by text.
    fn answers(&self, model: &dyn AnnotatorModel, texts: Range<usize>) -> Vec<Vec<Answer>> {
        let mut answers: Vec<Vec<Answer>> = texts.clone().map(|_| Vec::new()).collect();
        let mut p = vec![0.0f32; model.levels()];
        for (annotator, _) in (0u32..).zip(&self.groups_of).filter(|(_, groups)| !groups.is_empty()) {
            let known = model.known_labels(annotator);
            let from = known.partition_point(|(text, _)| (*text as usize) < texts.start);
            for (text, level) in known[from..].iter().take_while(|(text, _)| (*text as usize) < texts.end) {
                model.predict(*text, annotator, &mut p);
                let mut answer = Answer::new(annotator, *level, &p);
                if model.predict_without_groups(*text, annotator, &mut p) {
                    answer.p = Answer::new(annotator, *level, &p).p;
                }
                answers[*text as usize - texts.start].push(answer);
            }
        }
        answers
    }

    fn both_sides(&self, model: &dyn AnnotatorModel, block: Range<usize>) -> Vec<BothSides> {
        let mut found = Vec::new();
        let texts = (block.start as u32..).zip(self.answers(model, block));
        for (text, answers) in texts.filter(|(_, answers)| answers.len() > 1) {
            for pair in 0..self.pairs.len() {
                if let Some(beyond) = self.beyond(pair, &answers) {
                    found.push(BothSides { text, pair, beyond, p: self.p_value(pair, &answers) });
                }
            }
        }
        found
    }

    /// The answers on either side of a pair.
    fn sides<'a>(&self, pair: usize, answers: &'a [Answer]) -> [Vec<&'a Answer>; 2] {
        let GroupPair { first, second } = &self.pairs[pair];
        [first, second].map(|side| {
            let of = |annotator: u32| &self.groups_of[annotator as usize];
            let within =
                |answer: &&Answer| of(answer.annotator).iter().any(|g| side.binary_search(g).is_ok());
            answers.iter().filter(within).collect()
        })
    }

    /// The labels' difference from the predictions; `None` unless both sides gave labels.
    fn beyond(&self, pair: usize, answers: &[Answer]) -> Option<Beyond> {
        let [a, b] = self.sides(pair, answers).map(|side| {
            let n = side.len() as f64;
            let residual: f64 = side.iter().map(|answer| f64::from(answer.level) - answer.mean).sum();
            let variance: f64 = side.iter().map(|answer| answer.variance).sum();
            (!side.is_empty()).then(|| (residual / n, variance / (n * n)))
        });
        let ((a, of_a), (b, of_b)) = (a?, b?);
        Some(Beyond { difference: b - a, variance: of_a + of_b })
    }

    /// How much higher the second side of a pair answered than predicted for the test; both gave labels.
    fn beyond_tested(&self, pair: usize, answers: &[Answer]) -> f64 {
        let [a, b] = self.sides(pair, answers).map(|side| {
            let mean = |p: &[f64]| p.iter().enumerate().map(|(c, p)| c as f64 * p).sum::<f64>();
            let residual = side.iter().map(|answer| f64::from(answer.level) - mean(&answer.p)).sum::<f64>();
            residual / side.len() as f64
        });
        b - a
    }

    /// The p value of a pair where both sides gave labels.
    fn p_value(&self, pair: usize, answers: &[Answer]) -> f64 {
        let [a, b] = self.sides(pair, answers).map(|side| Side {
            observed: side.iter().map(|answer| f64::from(answer.level)).sum::<f64>() / side.len() as f64,
            predicted: side.into_iter().map(|answer| &answer.p[..]).collect(),
        });
        difference_p_value([&a, &b])
    }

    /// Number of people on a side.
    fn people(&self, side: &[u32]) -> f64 {
        side.iter().map(|group| self.members[*group as usize].len()).sum::<usize>().max(1) as f64
    }

    fn gap(&self, pair: usize, predicted: &[f64], beyond: Option<Beyond>) -> f64 {
        let mean = |side: &[u32]| {
            side.iter().map(|group| predicted[*group as usize]).sum::<f64>() / self.people(side)
        };
        let GroupPair { first, second } = &self.pairs[pair];
        let more = self.priors[pair].map_or(0.0, |prior| match beyond {
            Some(beyond) => prior.mean + share(prior, beyond) * (beyond.difference - prior.mean),
            None => prior.mean,
        });
        mean(second) - mean(first) + more
    }

    /// Variance of the predicted gap of a pair, to first order: people's severities are independent given the
    /// text and groups' slopes.
    fn doubt(&self, pair: usize, steps: &[LevelStep]) -> f64 {
        let GroupPair { first, second } = &self.pairs[pair];
        let (mut text, mut severities, mut groups) = (0.0, 0.0, Vec::new());
        for (side, sign) in [(first, -1.0), (second, 1.0)] {
            let weight = sign / self.people(side);
            for annotator in side.iter().flat_map(|group| &self.members[*group as usize]) {
                let step = &steps[*annotator as usize];
                groups.resize(step.groups.len().max(groups.len()), 0.0);
                crate::math::axpy(weight, &step.groups, &mut groups[..step.groups.len()]);
                text += weight * step.text;
                severities += (weight * step.severity).powi(2);
            }
        }
        text * text + severities + crate::math::dot(&groups, &groups)
    }
}

impl Answer {
    fn new(annotator: u32, level: u16, p: &[f32]) -> Self {
        let total: f64 = p.iter().map(|p| f64::from(*p)).sum();
        let p: Vec<f64> = p.iter().map(|p| f64::from(*p) / total).collect();
        let (mean, second) = p.iter().enumerate().fold((0.0, 0.0), |(first, second), (c, p)| {
            let level = c as f64;
            (first + level * p, second + level * level * p)
        });
        Self { annotator, level, p, mean, variance: (second - mean * mean).max(MIN_VARIANCE) }
    }
}

/// Applies `of` to `texts`, block by block in parallel.
fn in_blocks<T: Send>(texts: Range<usize>, of: impl Fn(Range<usize>) -> Vec<T> + Send + Sync) -> Vec<T> {
    let blocks: Vec<Range<usize>> =
        texts.clone().step_by(BLOCK).map(|from| from..(from + BLOCK).min(texts.end)).collect();
    blocks.into_par_iter().flat_map_iter(of).collect()
}

/// Estimates the prior from the labels' differences on texts; `None` for fewer than
/// [`GroupGaps::MIN_TEXTS`].
fn prior(found: &[Beyond]) -> Option<Prior> {
    if found.len() < GroupGaps::MIN_TEXTS {
        return None;
    }
    let weight = |extra: f64| found.iter().map(|b| 1.0 / (b.variance + extra)).sum::<f64>();
    let mean =
        |extra: f64| found.iter().map(|b| b.difference / (b.variance + extra)).sum::<f64>() / weight(extra);
    let (total, centre) = (weight(0.0), mean(0.0));
    let q: f64 = found.iter().map(|b| (b.difference - centre).powi(2) / b.variance).sum();
    let squares: f64 = found.iter().map(|b| b.variance.powi(-2)).sum();
    let variance = ((q - (found.len() - 1) as f64) / (total - squares / total)).max(0.0);
    // Standard error from the expected information of the normal likelihood (Hardy and Thompson 1996).
    let information: f64 = found.iter().map(|b| (b.variance + variance).powi(-2)).sum::<f64>() / 2.0;
    let upper = variance + information.sqrt().recip();
    Some(Prior { mean: mean(variance), mean_variance: 1.0 / weight(variance), variance, upper })
}

/// Shrinkage factor of the labels' difference.
fn share(prior: Prior, beyond: Beyond) -> f64 {
    prior.variance / (prior.variance + beyond.variance)
}

/// Variance of the correction of the predicted gap, if gaps vary between texts by `upper`.
fn spread(prior: Prior, beyond: Option<Beyond>) -> f64 {
    match beyond {
        Some(beyond) => {
            let share = share(prior, beyond);
            let left = (1.0 - share) * (1.0 - share);
            share * share * beyond.variance + left * (prior.upper + prior.mean_variance)
        }
        None => prior.upper + prior.mean_variance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_within_chance_keep_the_prediction() {
        // Residual gaps of +-1 with variance 1/2 each vary by 1 over texts: a half is in excess of the
        // labels' variance.
        let texts = |d: f64| -> Vec<Beyond> {
            (0..40)
                .map(|i| if i % 2 == 0 { d } else { -d })
                .map(|d| Beyond { difference: d, variance: 0.5 })
                .collect()
        };
        let varied = prior(&texts(1.0)).unwrap();
        assert!((varied.variance - (40.0 / 39.0 - 0.5)).abs() < 1e-9, "{varied:?}");
        assert!(varied.mean.abs() < 1e-12);
        let quiet = prior(&texts(0.5)).unwrap();
        let labels = Beyond { difference: 2.0, variance: 0.5 };
        assert_eq!((quiet.variance, share(quiet, labels)), (0.0, 0.0), "no text differs from the others");
        // Even then there is uncertainty: sqrt(2 / (40 / 0.5^2)).
        assert!((quiet.upper - 0.5 * (2.0f64 / 40.0).sqrt()).abs() < 1e-9, "{quiet:?}");
        assert!(spread(varied, Some(labels)) < spread(varied, None));
        assert!(spread(quiet, Some(labels)) > 0.1);
        assert!(prior(&texts(1.0)[..GroupGaps::MIN_TEXTS - 1]).is_none());
    }
}
