//! Requested measures of all texts, cached until a prediction changes.

use super::comparison::Comparison;
use dissensus_api::GroupChoice;
use dissensus_domain::Attributes;
use dissensus_models::live::{CombinedOrder, LabelWeight, LiveModel, MIN_IN_A_CAMP};
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{
    Disagreement, Measure, UsualSplit, maximum, ranking, surprise, two_camps, usual_split,
};
use std::sync::Arc;

/// Cached comparisons: the one of the list's rows and the one that ranks.
const COMPARISONS: usize = 2;

/// The annotators whose answers are measured.
#[derive(Clone, Debug)]
pub struct Over {
    /// The attributes that selected them.
    pub attributes: Attributes,
    /// One entry per annotator of the model; `None` for everyone.
    pub mask: Option<Vec<bool>>,
}

impl Over {
    pub fn mask(&self) -> Option<&[bool]> {
        self.mask.as_deref()
    }
}

/// The measure of texts.
#[derive(Clone, Debug)]
pub enum TextMeasure {
    Measure(Measure),
    /// Split, combined with labels.
    Combined,
    /// The split of the labels, without predictions.
    Labels,
    /// The widest gap of a comparison.
    Gap(Arc<Comparison>),
}

impl TextMeasure {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Measure(a), Self::Measure(b)) => a == b,
            (Self::Labels, Self::Labels) | (Self::Combined, Self::Combined) => true,
            (Self::Gap(a), Self::Gap(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The measure of all texts.
#[derive(Debug)]
pub struct TextMeasures {
    /// The requested values; not a number if the scale does not have them.
    pub values: Vec<f32>,
    /// Mean levels; empty for unordered scales.
    pub means: Vec<f32>,
    pub splits: Vec<f32>,
    /// Number of labels by the measured annotators.
    pub labels: Vec<u32>,
    /// Mean and split of the labels, without predictions, by text; not a number with fewer than two labels,
    /// empty for unordered scales.
    pub observed: Vec<(f32, f32)>,
    /// The usual split of texts by mean level; needs enough texts.
    pub usual: Option<UsualSplit>,
    /// How much labels count.
    pub weight: LabelWeight,
    /// All texts in ranked order.
    pub order: Vec<u32>,
    /// Sizes of the groups of indistinguishable texts at the head of that order.
    pub ties: Vec<u32>,
}

impl TextMeasures {
    fn new(model: &LiveModel, asked: &TextMeasure, over: &Over, weight: LabelWeight) -> Self {
        let mask = over.mask();
        let all = match mask {
            None => model.disagreements(),
            Some(mask) => model.disagreements_of(mask),
        };
        let CombinedOrder { values, texts: order, ties } = match asked {
            TextMeasure::Combined => model.combined_order(&weight, &all, mask),
            _ => {
                let values = Self::values(model, asked, &all, mask);
                CombinedOrder { texts: ranking(&values), values, ties: Vec::new() }
            }
        };
        let texts = model.texts();
        Self {
            weight,
            order,
            ties,
            values,
            means: all.iter().filter_map(|d| d.mean_level).collect(),
            splits: all.iter().map(|d| d.split).collect(),
            labels: (0..texts as u32).map(|text| model.labels_on(text, mask) as u32).collect(),
            observed: if model.is_ordinal() { observed(model, mask) } else { Vec::new() },
            usual: usual_split(&all, model.levels()),
        }
    }

    /// The requested values, except for the combined order.
    fn values(
        model: &LiveModel,
        asked: &TextMeasure,
        all: &[Disagreement],
        mask: Option<&[bool]>,
    ) -> Vec<f32> {
        match asked {
            TextMeasure::Combined => Vec::new(),
            TextMeasure::Measure(Measure::Surprising) => surprise(all, model.levels()),
            TextMeasure::Measure(by) => all
                .iter()
                .map(|d| by.of(d))
                .collect::<Option<Vec<f32>>>()
                .unwrap_or_else(|| model.measure(*by, mask)),
            TextMeasure::Labels => observed(model, mask).into_iter().map(|(_, split)| split).collect(),
            TextMeasure::Gap(comparison) => comparison.widest(model, 0..model.texts()),
        }
    }
}

/// Whether these labels, counted by ordered level, form two camps.
pub fn form_camps(counts: &[u32]) -> bool {
    two_camps(counts, MIN_IN_A_CAMP)
}

/// Labels on each level of every text, by the annotators of `mask`.
fn counts(model: &LiveModel, mask: Option<&[bool]>) -> Vec<u32> {
    let mut counts = vec![0u32; model.texts() * model.levels()];
    for label in model.observations() {
        if mask.is_none_or(|mask| mask.get(label.annotator as usize) == Some(&true)) {
            counts[label.text as usize * model.levels() + usize::from(label.level)] += 1;
        }
    }
    counts
}

/// Mean and split of every text's labels by the annotators of `mask`; not a number with fewer than two. For
/// unordered levels the split is the probability that two labels differ divided by its maximum, and the mean
/// has no meaning.
fn observed(model: &LiveModel, mask: Option<&[bool]>) -> Vec<(f32, f32)> {
    let counts = counts(model, mask);
    let of = |counts: &[u32]| {
        let all: u32 = counts.iter().sum();
        let sum: f32 = (0u16..).zip(counts).map(|(level, count)| f32::from(level) * *count as f32).sum();
        let split = match model.is_ordinal() {
            true => split_of_labels(counts),
            false => differing_labels(counts),
        };
        split.map_or((f32::NAN, f32::NAN), |split| (sum / all as f32, split))
    };
    counts.chunks_exact(model.levels()).map(of).collect()
}

/// Mean squared distance of two of these labels, counted by level, divided by its maximum for as many
/// people; needs two.
pub fn split_of_labels(counts: &[u32]) -> Option<f32> {
    let people: u32 = counts.iter().sum();
    if people < 2 {
        return None;
    }
    let mut total = 0.0;
    for (c, a) in counts.iter().enumerate() {
        for (d, b) in counts.iter().enumerate() {
            total += f64::from(*a) * f64::from(*b) * (c as f64 - d as f64).powi(2);
        }
    }
    let n = f64::from(people);
    let most = maximum::squared_distance(people as usize, counts.len());
    Some((total / (n * (n - 1.0)) / most) as f32)
}

/// The probability that two of these labels differ, divided by its maximum for as many people; needs two.
pub fn differing_labels(counts: &[u32]) -> Option<f32> {
    let people: u32 = counts.iter().sum();
    if people < 2 {
        return None;
    }
    let pairs = |n: u32| f64::from(n) * (f64::from(n) - 1.0);
    let same: f64 = counts.iter().map(|count| pairs(*count)).sum();
    let most = maximum::differ(people as usize, counts.len());
    Some(((1.0 - same / pairs(people)) / most) as f32)
}

/// A live model's cache of requested measures.
#[derive(Default)]
pub(crate) struct MeasureCache {
    measured: Option<(Attributes, TextMeasure, Arc<TextMeasures>)>,
    /// The estimate over all texts hardly changes with one label: it is retained until the next fit.
    weight: Option<LabelWeight>,
    comparisons: Vec<(Attributes, Option<GroupChoice>, Arc<Comparison>)>,
}

impl MeasureCache {
    /// Drops measures of outdated predictions. Comparisons of groups over all texts hardly change with one
    /// label: they are retained until the next fit.
    pub(super) fn predictions_changed(&mut self) {
        self.measured = None;
    }

    /// Drops everything after people were added.
    pub(super) fn people_changed(&mut self) {
        *self = Self::default();
    }

    /// All texts by a measure, computed once as long as predictions do not change.
    pub(super) fn measured(
        &mut self,
        model: &LiveModel,
        asked: &TextMeasure,
        over: &Over,
    ) -> Arc<TextMeasures> {
        if let Some((attributes, kept, measured)) = &self.measured
            && *attributes == over.attributes
            && kept.is(asked)
        {
            return Arc::clone(measured);
        }
        let weight = match asked {
            TextMeasure::Combined => *self.weight.get_or_insert_with(|| model.label_weight()),
            _ => LabelWeight::default(),
        };
        let measured = Arc::new(TextMeasures::new(model, asked, over, weight));
        self.measured = Some((over.attributes.clone(), asked.clone(), Arc::clone(&measured)));
        measured
    }

    /// The comparison of `choice` among `over`, computed once per fit.
    pub(super) fn comparison(
        &mut self,
        choice: Option<&GroupChoice>,
        over: &Over,
        make: impl FnOnce() -> Comparison,
    ) -> Arc<Comparison> {
        let kept = self.comparisons.iter().find(|(a, c, _)| *a == over.attributes && c.as_ref() == choice);
        if let Some((_, _, comparison)) = kept {
            return Arc::clone(comparison);
        }
        let comparison = Arc::new(make());
        if self.comparisons.len() == COMPARISONS {
            self.comparisons.remove(0);
        }
        self.comparisons.push((over.attributes.clone(), choice.cloned(), Arc::clone(&comparison)));
        comparison
    }
}

/// The largest value of a measure for pairs of `people` on a scale of `levels`.
pub fn largest(by: Measure, people: usize, levels: usize) -> f32 {
    let most = match by {
        Measure::FarApart => maximum::far_apart(people, levels),
        Measure::OppositeSides { .. } => maximum::differ(people, 2),
        Measure::Pairwise => maximum::differ(people, levels),
        _ => 1.0,
    };
    most as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many comparisons are asked for, two stay, the last ones.
    #[test]
    fn last_two_comparisons_are_cached() {
        use dissensus_stats::data::progress::Silent;
        use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
        let fitted = |texts: u32| {
            let embeddings = Embeddings::none(texts as usize);
            let one = |text: u32, annotator: u32| Observation {
                text,
                annotator,
                level: ((text * 7 + annotator * 3) % 5) as u16,
            };
            let observations: Vec<Observation> =
                (0..texts).flat_map(|text| (0..12).map(move |annotator| one(text, annotator))).collect();
            let data = TrainingData {
                embeddings: &embeddings,
                observations: &observations,
                annotators: 12,
                target: Target { kind: dissensus_domain::TargetKind::Ordinal, levels: 5 },
                attributes: &[],
            };
            LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap()
        };
        let comparison = |model: &LiveModel| {
            let groups = vec![(0..6).collect(), (6..12).collect()];
            let pair = dissensus_stats::disagreement::GroupPair { first: vec![0], second: vec![1] };
            Comparison::new(model, groups, vec![pair], Vec::new())
        };
        let small = fitted(30);
        let choice = |n: usize| GroupChoice {
            attribute: n.to_string(),
            first: "a".to_owned(),
            second: "b".to_owned(),
        };
        let over = Over { attributes: Attributes::default(), mask: None };
        let mut kept = MeasureCache::default();
        let made: Vec<Arc<Comparison>> =
            (0..9).map(|n| kept.comparison(Some(&choice(n)), &over, || comparison(&small))).collect();
        assert_eq!(kept.comparisons.len(), COMPARISONS);
        let alive = made.iter().filter(|one| Arc::strong_count(one) > 1).count();
        assert_eq!(alive, COMPARISONS);
        let again = kept.comparison(Some(&choice(8)), &over, || panic!("it is stored"));
        assert!(Arc::ptr_eq(&again, &made[8]));
    }

    #[test]
    fn polarised_labels_have_maximal_split() {
        assert_eq!(split_of_labels(&[1, 0, 0]), None);
        assert_eq!(split_of_labels(&[3, 0, 3]), Some(1.0));
        assert_eq!(split_of_labels(&[4, 0, 0]), Some(0.0));
        // Squared distances of the 36 pairs sum to 288, and can to 20 x 16.
        assert!((split_of_labels(&[5, 0, 0, 1, 3]).unwrap() - 0.9).abs() < 1e-6);
        assert!((split_of_labels(&[1, 1, 6, 0, 1]).unwrap() - 0.25).abs() < 1e-6);
    }

    #[test]
    fn nominal_labels_differ_most_if_all_distinct() {
        assert_eq!(differing_labels(&[1, 0, 0]), None);
        assert_eq!(differing_labels(&[1, 1, 1]), Some(1.0));
        assert_eq!(differing_labels(&[4, 0, 0]), Some(0.0));
        // Of four labels on two levels, two of three pairs can differ at most.
        assert!((differing_labels(&[3, 1]).unwrap() - 0.75).abs() < 1e-6);
    }
}
