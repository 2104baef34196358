//! How far apart groups of annotators are on a text, shrunk by how much such gaps vary between texts.

use super::block::BLOCK;
use crate::data::AnnotatorModel;
use rayon::prelude::*;
use std::ops::Range;

/// Fewer labelled texts of both groups say nothing about how gaps vary.
const FEWEST_TEXTS: usize = 10;
/// A label of which a model is certain still varies so much.
const LEAST_VARIANCE: f64 = 1e-3;
/// Share of false ones among the gaps that are said to stand.
const FALSE_DISCOVERIES: f64 = 0.05;
/// Half of the width of a 90 % interval, in standard deviations.
const NINETY: f64 = 1.644_853_626_951_472_2;

/// Two sides to compare: each is one or more groups, by their places in the list of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPair {
    /// Groups on the first side.
    pub first: Vec<usize>,
    /// Groups on the second side.
    pub second: Vec<usize>,
}

/// The gap between two groups on one text: how much higher the second answers, in levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupGap {
    /// Mean of its posterior: what the model predicts of the groups' people, and what their labels say beyond it.
    pub gap: f64,
    /// Its 90 % interval.
    pub interval: (f64, f64),
    /// The first side and the second.
    pub sides: [GroupOnText; 2],
    /// Two-sided p value of the labels for a gap of 0, from labels alone and not shrunk; `None` unless both sides gave some.
    pub p: Option<f64>,
}

/// One or more groups on one text, as sums over their people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupOnText {
    /// How many people.
    pub people: u32,
    /// Sum of the levels predicted of them, counted from 0.
    predicted: f64,
    /// How many labels they gave.
    pub labels: u32,
    /// Sum of those labels, levels counted from 0.
    sum: f64,
    /// Sum of labels less what is predicted of those who gave them.
    residual: f64,
    /// Sum of the variances predicted of those labels.
    variance: f64,
}

impl GroupOnText {
    /// Mean level predicted of these people, counted from 0; 0 for nobody.
    pub fn predicted(&self) -> f64 {
        self.predicted / f64::from(self.people.max(1))
    }

    /// Mean label; `None` without labels.
    pub fn observed(&self) -> Option<f64> {
        (self.labels > 0).then(|| self.sum / f64::from(self.labels))
    }

    fn join(mut self, other: &Self) -> Self {
        self.people += other.people;
        self.predicted += other.predicted;
        self.labels += other.labels;
        self.sum += other.sum;
        self.residual += other.residual;
        self.variance += other.variance;
        self
    }
}

/// How the gap between two sides is distributed over texts, beyond what the model predicts of their people.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prior {
    mean: f64,
    mean_variance: f64,
    variance: f64,
}

/// What all texts say about the gaps between some groups of annotators.
#[derive(Clone, Debug)]
pub struct GroupGaps {
    /// Groups of each annotator.
    groups_of: Vec<Vec<u16>>,
    sizes: Vec<u32>,
    pairs: Vec<GroupPair>,
    priors: Vec<Prior>,
    limit: f64,
}

impl GroupGaps {
    /// Estimates, for each of `pairs`, mean and variance over texts of what labels say beyond the predictions (DerSimonian and
    /// Laird 1986: the variance by the method of moments, 0 where labels vary no more than single labels make them). `groups` are annotators'
    /// indices; an annotator can be in several. Levels must have an order. Costs one prediction a label.
    pub fn estimate(model: &dyn AnnotatorModel, groups: &[Vec<u32>], pairs: Vec<GroupPair>) -> Self {
        let mut groups_of = vec![Vec::new(); model.annotators()];
        for (group, members) in groups.iter().enumerate() {
            members.iter().filter(|a| (**a as usize) < model.annotators()).for_each(|a| {
                groups_of[*a as usize].push(group as u16);
            });
        }
        let sizes = groups.iter().map(|members| members.len() as u32).collect();
        let mut gaps = Self { groups_of, sizes, pairs, priors: Vec::new(), limit: 0.0 };
        let mut texts = gaps.empty(model.texts());
        gaps.add_labels(model, 0..model.texts(), &mut texts);
        let mut p = Vec::new();
        for pair in &gaps.pairs {
            let found: Vec<(f64, f64)> = texts.iter().filter_map(|text| beyond(sides(text, pair))).collect();
            gaps.priors.push(prior(&found));
            p.extend(texts.iter().filter_map(|text| p_value(sides(text, pair))));
        }
        let standing = false_discovery_rate(&p, p.len(), FALSE_DISCOVERIES);
        let largest = p.iter().zip(standing).filter(|(_, stands)| *stands).map(|(p, _)| *p).reduce(f64::max);
        gaps.limit = largest.unwrap_or(0.0);
        gaps
    }

    /// The pairs, in the order in which [`GroupGaps::gaps`] gives them.
    pub fn pairs(&self) -> &[GroupPair] {
        &self.pairs
    }

    /// The largest p value that stands after correction for all texts and pairs (false discovery rate 5 %, see
    /// [`false_discovery_rate`]); 0 where none does.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Every group on every text of `texts`, in parallel. Costs a prediction for each text and annotator.
    ///
    /// # Panics
    /// If the model has other annotators or fewer texts than it had.
    pub fn of_texts(&self, model: &dyn AnnotatorModel, texts: Range<usize>) -> Vec<Vec<GroupOnText>> {
        let blocks: Vec<Range<usize>> =
            texts.clone().step_by(BLOCK).map(|from| from..(from + BLOCK).min(texts.end)).collect();
        blocks.into_par_iter().flat_map_iter(|block| self.of_block(model, block)).collect()
    }

    fn empty(&self, texts: usize) -> Vec<Vec<GroupOnText>> {
        let groups = self.sizes.iter().map(|people| GroupOnText { people: *people, ..Default::default() });
        vec![groups.collect(); texts]
    }

    fn of_block(&self, model: &dyn AnnotatorModel, block: Range<usize>) -> Vec<Vec<GroupOnText>> {
        let (n, levels) = (block.len(), model.levels());
        let mut all = self.empty(n);
        let mut p = vec![0.0f32; n * levels];
        for (annotator, groups) in self.groups_of.iter().enumerate().filter(|(_, groups)| !groups.is_empty())
        {
            model.predict_column(annotator as u32, block.clone(), &mut p);
            for (i, text) in all.iter_mut().enumerate() {
                let mean: f64 = (1..levels).map(|c| c as f64 * f64::from(p[c * n + i])).sum();
                groups.iter().for_each(|group| text[usize::from(*group)].predicted += mean);
            }
        }
        self.add_labels(model, block, &mut all);
        all
    }

    /// Adds what the labels on `texts` say.
    fn add_labels(&self, model: &dyn AnnotatorModel, texts: Range<usize>, all: &mut [Vec<GroupOnText>]) {
        let mut p = vec![0.0f32; model.levels()];
        for (annotator, groups) in self.groups_of.iter().enumerate().filter(|(_, groups)| !groups.is_empty())
        {
            let known = model.known_labels(annotator as u32);
            let from = known.partition_point(|(text, _)| (*text as usize) < texts.start);
            for (text, level) in known[from..].iter().take_while(|(text, _)| (*text as usize) < texts.end) {
                model.predict(*text, annotator as u32, &mut p);
                let (mean, second) = p.iter().enumerate().fold((0.0, 0.0), |(first, second), (c, p)| {
                    let (level, p) = (c as f64, f64::from(*p));
                    (first + level * p, second + level * level * p)
                });
                for group in groups {
                    let group = &mut all[*text as usize - texts.start][usize::from(*group)];
                    group.labels += 1;
                    group.sum += f64::from(*level);
                    group.residual += f64::from(*level) - mean;
                    group.variance += (second - mean * mean).max(LEAST_VARIANCE);
                }
            }
        }
    }

    /// The two sides of every pair and the gap between them on one text, from what [`GroupGaps::of_texts`] says of it.
    pub fn gaps(&self, text: &[GroupOnText]) -> Vec<GroupGap> {
        self.pairs.iter().zip(&self.priors).map(|(pair, prior)| gap(sides(text, pair), *prior)).collect()
    }
}

fn sides(text: &[GroupOnText], pair: &GroupPair) -> [GroupOnText; 2] {
    [&pair.first, &pair.second]
        .map(|side| side.iter().fold(GroupOnText::default(), |sum, group| sum.join(&text[*group])))
}

/// What labels say beyond the predictions, and its variance; `None` unless both sides gave labels.
fn beyond([a, b]: [GroupOnText; 2]) -> Option<(f64, f64)> {
    if a.labels == 0 || b.labels == 0 {
        return None;
    }
    let (na, nb) = (f64::from(a.labels), f64::from(b.labels));
    Some((b.residual / nb - a.residual / na, a.variance / (na * na) + b.variance / (nb * nb)))
}

/// Of the difference of mean labels, normal with the variances that are predicted of single labels.
fn p_value(sides: [GroupOnText; 2]) -> Option<f64> {
    let (_, variance) = beyond(sides)?;
    let difference = sides[1].observed()? - sides[0].observed()?;
    Some(libm::erfc(difference.abs() / (2.0 * variance).sqrt()))
}

/// From `(what labels say beyond the predictions, its variance)` of texts.
fn prior(found: &[(f64, f64)]) -> Prior {
    if found.len() < FEWEST_TEXTS {
        return Prior { mean: 0.0, mean_variance: 0.0, variance: 0.0 };
    }
    let weight = |extra: f64| found.iter().map(|(_, v)| 1.0 / (v + extra)).sum::<f64>();
    let mean = |extra: f64| found.iter().map(|(d, v)| d / (v + extra)).sum::<f64>() / weight(extra);
    let (total, centre) = (weight(0.0), mean(0.0));
    let q: f64 = found.iter().map(|(d, v)| (d - centre).powi(2) / v).sum();
    let squares: f64 = found.iter().map(|(_, v)| 1.0 / (v * v)).sum();
    let variance = ((q - (found.len() - 1) as f64) / (total - squares / total)).max(0.0);
    Prior { mean: mean(variance), mean_variance: 1.0 / weight(variance), variance }
}

fn gap(sides: [GroupOnText; 2], prior: Prior) -> GroupGap {
    let (mean, variance) = match beyond(sides) {
        Some((beyond, variance)) => {
            let share = prior.variance / (prior.variance + variance);
            let left = (1.0 - share) * (1.0 - share) * prior.mean_variance;
            (prior.mean + share * (beyond - prior.mean), share * variance + left)
        }
        None => (prior.mean, prior.variance + prior.mean_variance),
    };
    let gap = sides[1].predicted() - sides[0].predicted() + mean;
    let reach = NINETY * variance.sqrt();
    GroupGap { gap, interval: (gap - reach, gap + reach), sides, p: p_value(sides) }
}

/// Which of `p` stand when so many comparisons were made (`comparisons`, at least as many as there are values): the procedure of
/// Benjamini and Yekutieli 2001, which keeps the expected share of false ones among them below `rate` however the comparisons depend on one
/// another.
pub fn false_discovery_rate(p: &[f64], comparisons: usize, rate: f64) -> Vec<bool> {
    let many = comparisons.max(p.len()).max(1);
    let harmonic: f64 = (1..=many).map(|i| 1.0 / i as f64).sum();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let stands = |(rank, at): (usize, &usize)| p[*at] <= rate * (rank + 1) as f64 / (many as f64 * harmonic);
    let last = order.iter().enumerate().filter(|x| stands(*x)).map(|(rank, _)| rank + 1).max().unwrap_or(0);
    let mut standing = vec![false; p.len()];
    order[..last].iter().for_each(|at| standing[*at] = true);
    standing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_text(predicted: f64, labels: u32, mean_residual: f64) -> GroupOnText {
        let n = f64::from(labels);
        GroupOnText {
            people: 1,
            predicted,
            labels,
            sum: n * (predicted + mean_residual),
            residual: n * mean_residual,
            variance: n,
        }
    }

    #[test]
    fn labels_that_vary_no_more_than_they_must_leave_the_prediction() {
        // Residual gaps of +-1 with variance 1/4 + 1/4 each vary by 1 over texts: a half is beyond them.
        let gap_of = |d: f64| [on_text(1.0, 4, 0.0), on_text(1.2, 4, d)];
        let texts = |d: f64| -> Vec<(f64, f64)> {
            (0..40).map(|i| beyond(gap_of(if i % 2 == 0 { d } else { -d })).unwrap()).collect()
        };
        let varied = prior(&texts(1.0));
        assert!((varied.variance - (40.0 / 39.0 - 0.5)).abs() < 0.06, "{varied:?}");
        assert!(varied.mean.abs() < 1e-12);
        let quiet = prior(&texts(0.5));
        assert_eq!(quiet.variance, 0.0);
        assert!((gap(gap_of(2.0), quiet).gap - 0.2).abs() < 1e-9, "no text differs from the others");
        let found = gap(gap_of(1.0), varied);
        assert!(found.gap > 0.2 && found.gap < 1.2 && found.interval.0 < found.gap, "{found:?}");
        let unlabelled = gap([on_text(1.0, 0, 0.0), on_text(1.2, 3, 0.0)], varied);
        assert!((unlabelled.gap - 0.2).abs() < 1e-9 && unlabelled.p.is_none());
        let width = |gap: GroupGap| gap.interval.1 - gap.interval.0;
        assert!(width(unlabelled) > width(found));
    }

    /// By hand: adjusted values p m (1 + 1/2 + 1/3 + 1/4) / rank of 0.0001, 0.004, 0.02 are 0.00083, 0.0167, 0.0556.
    #[test]
    fn the_procedure_of_benjamini_and_yekutieli() {
        let p = [0.02, 0.0001, 0.5, 0.004];
        assert_eq!(false_discovery_rate(&p, 4, 0.05), [false, true, false, true]);
        assert_eq!(false_discovery_rate(&p, 4, 0.056), [true, true, false, true]);
        // The same values among many comparisons.
        assert_eq!(false_discovery_rate(&p, 400, 0.05), [false; 4]);
    }
}
