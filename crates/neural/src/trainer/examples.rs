//! Training examples: for each text the rows of its labels, weighted, smoothed, or as a distribution.

use super::config::TrainConfig;
use crate::networks::Rows;
use dissensus_stats::data::Observation;
use dissensus_stats::data::{ModelKind, Target, majority_level};
use dissensus_stats::math::random::generator;
use rand::RngExt;

/// Share of labels for which `share-rec` does not see the annotator's identity in training, and, drawn
/// independently, the attributes: so that it learns to predict for annotators of whom both, only the
/// attributes, or nothing is known.
const HIDDEN: f64 = 0.1;

/// The rows of all training texts.
#[derive(Clone, Debug)]
pub(crate) struct Examples {
    /// Texts with labels, ascending.
    pub(crate) texts: Vec<u32>,
    /// First row of each text, and one past the last.
    starts: Vec<usize>,
    annotators: Vec<Option<u32>>,
    /// Target distributions, rows x levels.
    targets: Vec<f32>,
    /// Weight of each row.
    weights: Vec<f32>,
    levels: usize,
    /// Whether some identities and attributes are hidden.
    hides: bool,
}

impl Examples {
    /// Creates examples from sorted observations.
    pub(crate) fn new(
        observations: &[Observation],
        target: Target,
        annotators: usize,
        config: &TrainConfig,
    ) -> Self {
        let (model, levels) = (config.network.model, target.levels);
        let weights = ClassWeights::new(observations, target, annotators, config);
        let mut examples = Self {
            texts: Vec::new(),
            starts: vec![0],
            annotators: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
            levels,
            hides: matches!(model, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn),
        };
        for group in observations.chunk_by(|a, b| a.text == b.text) {
            examples.texts.push(group[0].text);
            if model == ModelKind::Majority {
                let level = majority_level(group, levels);
                examples.push(None, &[(level, 1.0)], weights.of(0, level), config.label_smoothing);
            } else if config.soft_labels && model == ModelKind::Shared {
                // Each label has its own weight, within a text as between texts.
                let weight_of = |o: &Observation| weights.of(o.annotator, o.level);
                let all: f32 = group.iter().map(weight_of).sum();
                let shares: Vec<(u16, f32)> = group.iter().map(|o| (o.level, weight_of(o) / all)).collect();
                examples.push(None, &shares, all / group.len() as f32, config.label_smoothing);
            } else {
                for o in group {
                    let weight = weights.of(o.annotator, o.level);
                    examples.push(Some(o.annotator), &[(o.level, 1.0)], weight, config.label_smoothing);
                }
            }
            examples.starts.push(examples.annotators.len());
        }
        examples
    }

    fn push(&mut self, annotator: Option<u32>, shares: &[(u16, f32)], weight: f32, smoothing: f64) {
        let smoothing = smoothing as f32;
        let first = self.targets.len();
        self.targets.extend(std::iter::repeat_n(weight * smoothing / self.levels as f32, self.levels));
        for (level, share) in shares {
            self.targets[first + usize::from(*level)] += weight * (1.0 - smoothing) * share;
        }
        self.annotators.push(annotator);
        self.weights.push(weight);
    }

    /// The rows of these texts (indices into [`Examples::texts`]), text by text. `seed` determines which
    /// identities and attributes are hidden.
    pub(crate) fn rows(&self, places: &[usize], seed: u64) -> Rows {
        self.rows_at((0..).zip(places.iter().copied()), seed)
    }

    /// The same where a position in the batch differs from the index: the position of each, ascending, and
    /// its index.
    pub(crate) fn rows_at(&self, places: impl Iterator<Item = (u32, usize)>, seed: u64) -> Rows {
        let mut rows = Rows::default();
        let (mut identities, mut attributes) = (generator(seed, 5), generator(seed, 6));
        for (nth, place) in places {
            let span = self.starts[place]..self.starts[place + 1];
            rows.targets.extend_from_slice(&self.targets[span.start * self.levels..span.end * self.levels]);
            for annotator in &self.annotators[span] {
                if self.hides {
                    let shown = |rng: &mut rand_chacha::ChaCha8Rng| rng.random::<f64>() >= HIDDEN;
                    rows.annotators.push(annotator.filter(|_| shown(&mut identities)));
                    rows.attributes_of.push(annotator.filter(|_| shown(&mut attributes)));
                } else {
                    rows.annotators.push(*annotator);
                }
                rows.texts.push(nth);
            }
        }
        rows
    }

    /// Total weight of the rows of these texts.
    pub(crate) fn weight(&self, places: &[usize]) -> f64 {
        let spans = places.iter().map(|p| &self.weights[self.starts[*p]..self.starts[*p + 1]]);
        spans.flatten().map(|w| f64::from(*w)).sum()
    }
}

/// Weights that balance levels: `n / (levels x n_level)` (scikit-learn's "balanced"); for `sep-heads`
/// within each annotator's labels. Or a given weight of yes in a yes/no question.
struct ClassWeights {
    /// Weights, annotators x levels; empty if all are 1.
    of: Vec<f32>,
    levels: usize,
    apart: bool,
}

impl ClassWeights {
    fn new(observations: &[Observation], target: Target, annotators: usize, config: &TrainConfig) -> Self {
        let (apart, levels) = (config.network.model == ModelKind::SepHeads, target.levels);
        if !config.class_weights {
            let yes = config.pos_weight as f32;
            let of = if target.kind.is_yes_no() { vec![1.0, yes] } else { Vec::new() };
            return Self { of, levels, apart: false };
        }
        let groups = if apart { annotators } else { 1 };
        let mut counts = vec![0.0f32; groups * levels];
        let one = |o: &Observation| if apart { o.annotator as usize } else { 0 };
        if config.network.model == ModelKind::Majority {
            for group in observations.chunk_by(|a, b| a.text == b.text) {
                counts[usize::from(majority_level(group, levels))] += 1.0;
            }
        } else {
            observations.iter().for_each(|o| counts[one(o) * levels + usize::from(o.level)] += 1.0);
        }
        let mut of = vec![1.0; counts.len()];
        for (weights, counts) in of.chunks_exact_mut(levels).zip(counts.chunks_exact(levels)) {
            let all: f32 = counts.iter().sum();
            // Levels that this annotator never gave are not balanced.
            let used = counts.iter().filter(|n| **n > 0.0).count() as f32;
            for (weight, n) in weights.iter_mut().zip(counts).filter(|(_, n)| **n > 0.0) {
                *weight = all / (used * n);
            }
        }
        Self { of, levels, apart }
    }

    fn of(&self, annotator: u32, level: u16) -> f32 {
        let group = if self.apart { annotator as usize } else { 0 };
        self.of.get(group * self.levels + usize::from(level)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_encoder::FreezePolicy;

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    const LABELS: [Observation; 5] = [
        Observation { text: 0, annotator: 0, level: 1 },
        Observation { text: 0, annotator: 1, level: 0 },
        Observation { text: 0, annotator: 2, level: 1 },
        Observation { text: 3, annotator: 0, level: 1 },
        Observation { text: 3, annotator: 2, level: 1 },
    ];

    const YES_NO: Target = Target { kind: TargetKind::Binary, levels: 2 };

    fn config(model: ModelKind) -> TrainConfig {
        TrainConfig::new(model, FreezePolicy::Frozen)
    }

    #[test]
    fn labels_are_rows_of_their_text() {
        let examples = Examples::new(&LABELS, YES_NO, 3, &config(ModelKind::SepHeads));
        assert_eq!(examples.texts, [0, 3]);
        let rows = examples.rows(&[1, 0], 0);
        assert_eq!(rows.texts, [0, 0, 1, 1, 1]);
        assert_eq!(rows.annotators, [Some(0), Some(2), Some(0), Some(1), Some(2)]);
        assert_eq!(rows.targets, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(examples.weight(&[0]), 3.0);
    }

    #[test]
    fn targets_are_majorities_distributions_or_smoothed() {
        let majority = Examples::new(&LABELS, YES_NO, 3, &config(ModelKind::Majority)).rows(&[0, 1], 0);
        assert_eq!((majority.targets.as_slice(), majority.annotators.len()), (&[0.0, 1.0, 0.0, 1.0][..], 2));
        let soft = TrainConfig { soft_labels: true, ..config(ModelKind::Shared) };
        let soft = Examples::new(&LABELS, YES_NO, 3, &soft).rows(&[0], 0);
        assert!((soft.targets[1] - 2.0 / 3.0).abs() < 1e-6);
        let smooth = TrainConfig { label_smoothing: 0.2, ..config(ModelKind::Shared) };
        let smooth = Examples::new(&LABELS, YES_NO, 3, &smooth).rows(&[1], 0);
        assert!((smooth.targets[0] - 0.1).abs() < 1e-6 && (smooth.targets[1] - 0.9).abs() < 1e-6);
    }

    #[test]
    fn class_weights_balance_levels() {
        let all = TrainConfig { class_weights: true, ..config(ModelKind::Shared) };
        let all = Examples::new(&LABELS, YES_NO, 3, &all);
        // Four of level 1, one of level 0: both sum to half of five.
        let rows = all.rows(&[0, 1], 0);
        let sum = |level: usize| rows.targets.iter().skip(level).step_by(2).sum::<f32>();
        assert!((sum(0) - 2.5).abs() < 1e-6 && (sum(1) - 2.5).abs() < 1e-6);
        // No annotator here used both levels: within an annotator there is nothing to balance.
        let each = TrainConfig { class_weights: true, ..config(ModelKind::SepHeads) };
        assert_eq!(Examples::new(&LABELS, YES_NO, 3, &each).weight(&[0, 1]), 5.0);
        let both = [o(0, 0, 0), o(1, 0, 0), o(2, 0, 0), o(3, 0, 1)];
        let each = TrainConfig { class_weights: true, ..config(ModelKind::SepHeads) };
        let each = Examples::new(&both, YES_NO, 1, &each);
        assert!((each.weight(&[3]) - 2.0).abs() < 1e-6 && (each.weight(&[0]) - 2.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn positive_weight_is_given_or_computed() {
        let given = TrainConfig { pos_weight: 4.0, ..config(ModelKind::Shared) };
        let given = Examples::new(&LABELS, YES_NO, 3, &given);
        let sum = |examples: &Examples, level: usize| {
            examples.rows(&[0, 1], 0).targets.iter().skip(level).step_by(2).sum::<f32>()
        };
        assert_eq!((sum(&given, 0), sum(&given, 1), given.weight(&[0, 1])), (1.0, 16.0, 17.0));
        let balanced = TrainConfig { class_weights: true, ..config(ModelKind::Shared) };
        let balanced = Examples::new(&LABELS, YES_NO, 3, &balanced);
        // One no, four yes: a yes has a quarter of the weight of a no.
        let (no, yes) = (sum(&balanced, 0), sum(&balanced, 1) / 4.0);
        assert!((yes / no - 0.25).abs() < 1e-6);
        // A text with one no and two yes, as shares: a yes has four times the weight of a no.
        let soft = TrainConfig { soft_labels: true, ..config(ModelKind::Shared) };
        let soft = Examples::new(&LABELS, YES_NO, 3, &TrainConfig { pos_weight: 4.0, ..soft });
        let targets = soft.rows(&[0], 0).targets;
        assert!((targets[1] / targets[0] - 8.0).abs() < 1e-5 && (soft.weight(&[0]) - 3.0).abs() < 1e-6);
        // A scale has no yes.
        let scale = Target { kind: TargetKind::Ordinal, levels: 2 };
        let scale =
            Examples::new(&LABELS, scale, 3, &TrainConfig { pos_weight: 4.0, ..config(ModelKind::Shared) });
        assert_eq!(scale.weight(&[0, 1]), 5.0);
    }

    #[test]
    fn share_rec_drops_identities_by_seed() {
        let labels: Vec<Observation> = (0..1000).map(|t| o(t, t % 7, 0)).collect();
        let examples = Examples::new(&labels, YES_NO, 7, &config(ModelKind::ShareRecFfn));
        let places: Vec<usize> = (0..1000).collect();
        let rows = examples.rows(&places, 3);
        let hidden = rows.annotators.iter().filter(|a| a.is_none()).count();
        assert!((60..140).contains(&hidden), "{hidden}");
        let unseen = rows.attributes_of.iter().filter(|a| a.is_none()).count();
        assert!((60..140).contains(&unseen), "{unseen}");
        let apart = rows.annotators.iter().zip(&rows.attributes_of);
        let only_attributes = apart.filter(|(who, whose)| who.is_none() && whose.is_some()).count();
        assert!(
            only_attributes > 50,
            "a new annotator of whom the attributes are known is learned: {only_attributes}"
        );
        assert_eq!(rows.annotators, examples.rows(&places, 3).annotators);
        assert_ne!(rows.annotators, examples.rows(&places, 4).annotators);
    }
}
