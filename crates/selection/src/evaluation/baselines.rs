//! Baselines that do not read the text: every model has to beat them.

use super::predicted::{Evaluation, Predicted};
use super::split::{SplitColumns, SplitSpec};
use super::test_set::TestSet;
use dissensus_stats::data::{
    ModelError, MostFrequentLevel, Observation, Target, TrainingData, check_observation,
};
use dissensus_stats::metrics::Scored;

/// Pseudo-count, in labels, of the shares of all annotators in each annotator's own.
const PRIOR_LABELS: f64 = 4.0;

/// Computes the baselines of a split, scored on the same labels as [`super::evaluate`] scores models:
/// - `own-most-frequent`: each annotator's most frequent training level, regardless of the text (the
///   baseline of LeWiDi 2025). One answer and no probabilities, so only measures of answers are available.
/// - `own-distribution`: the shares of levels among each annotator's training labels, shrunk towards those
///   of all annotators with the weight of four labels.
/// - `prior`: the shares of levels among all training labels, for all annotators.
pub fn baselines(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    at_least: Option<u16>,
    seed: u64,
) -> Result<Vec<Evaluation>, ModelError> {
    let ordinal = data.target.kind.has_distances() && at_least.is_none();
    let found = predict_baselines(data, split, columns, at_least, seed)?;
    Ok(found.iter().map(|baseline| baseline.evaluation(ordinal)).collect())
}

/// Predictions that [`baselines`] scores.
pub fn predict_baselines(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    at_least: Option<u16>,
    seed: u64,
) -> Result<Vec<Predicted>, ModelError> {
    let levels = if at_least.is_some() { 2 } else { data.target.levels };
    // The most frequent answer to "is the level this one or higher" need not be that of the most frequent
    // level.
    let asked = |labels: &[Observation]| -> Vec<Observation> {
        let level = |o: &Observation| at_least.map_or(o.level, |level| u16::from(o.level >= level));
        labels.iter().map(|o| Observation { level: level(o), ..*o }).collect()
    };
    let mut pooled: [Vec<Scored>; 3] = Default::default();
    for split in split.each() {
        let division = split.divide(data, columns, seed, 0.0)?;
        if division.test.labels() == 0 {
            continue;
        }
        let mut test = TestSet::new(asked(division.test.observations()));
        let found = predict_three(&asked(&division.train), data.annotators, levels, &mut test)?;
        pooled.iter_mut().zip(found).for_each(|(pooled, scored)| pooled.push(scored));
    }
    let baseline = |(name, parts): (&str, Vec<Scored>)| Predicted {
        answers_alone: name == NAMES[0],
        ..Predicted::new(name, Scored::pooled(parts))
    };
    Ok(NAMES.into_iter().zip(pooled).map(baseline).collect())
}

/// Computes the baselines for labels that are already divided, such as those of a run.
///
/// # Errors
/// A label with an annotator or a level that does not exist.
pub fn baselines_of(
    train: &[Observation],
    test: Vec<Observation>,
    target: Target,
) -> Result<Vec<Evaluation>, ModelError> {
    let ordinal = target.kind.has_distances();
    let annotators = train.iter().chain(&test).map(|o| o.annotator as usize + 1).max().unwrap_or(0);
    for (at, o) in train.iter().chain(&test).enumerate() {
        check_observation(at, o, usize::MAX, annotators, target.levels)?;
    }
    if train.is_empty() || test.is_empty() {
        return Ok(Vec::new());
    }
    let found = predict_three(train, annotators, target.levels, &mut TestSet::new(test))?;
    let of = |(name, scored): (&str, Scored)| {
        Predicted { answers_alone: name == NAMES[0], ..Predicted::new(name, scored) }.evaluation(ordinal)
    };
    Ok(NAMES.into_iter().zip(found).map(of).collect())
}

const NAMES: [&str; 3] = ["own-most-frequent", "own-distribution", "prior"];

fn predict_three(
    train: &[Observation],
    annotators: usize,
    levels: usize,
    test: &mut TestSet,
) -> Result<[Scored; 3], ModelError> {
    let counts = Counts::new(train, annotators, levels);
    let frequent = MostFrequentLevel::fit(train, levels);
    let one_answer = |annotator: u32, p: &mut [f32]| {
        p.fill(0.0);
        p[usize::from(frequent.predict(annotator))] = 1.0;
    };
    Ok([
        test.predicted(NAMES[0], levels, one_answer)?,
        test.predicted(NAMES[1], levels, |a, p| counts.own(a, p))?,
        test.predicted(NAMES[2], levels, |_, p| counts.overall(p))?,
    ])
}

/// Number of training labels of each annotator by level, and of all.
struct Counts {
    levels: usize,
    of_annotator: Vec<f64>,
    shares: Vec<f64>,
}

impl Counts {
    fn new(train: &[Observation], annotators: usize, levels: usize) -> Self {
        let (mut of_annotator, mut shares) = (vec![0.0; annotators * levels], vec![0.0; levels]);
        for o in train {
            of_annotator[o.annotator as usize * levels + usize::from(o.level)] += 1.0;
            shares[usize::from(o.level)] += 1.0 / train.len() as f64;
        }
        Self { levels, of_annotator, shares }
    }

    fn own(&self, annotator: u32, out: &mut [f32]) {
        let own = &self.of_annotator[annotator as usize * self.levels..][..self.levels];
        let all: f64 = own.iter().sum::<f64>() + PRIOR_LABELS;
        for ((out, own), share) in out.iter_mut().zip(own).zip(&self.shares) {
            *out = ((own + PRIOR_LABELS * share) / all) as f32;
        }
    }

    fn overall(&self, out: &mut [f32]) {
        out.iter_mut().zip(&self.shares).for_each(|(out, share)| *out = *share as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::{Split, TargetKind};
    use dissensus_stats::data::{Embeddings, Target};

    #[test]
    fn baselines_use_only_training_labels() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        // Annotator 0 mostly gave level 3, annotator 1 level 0, annotator 2 nothing in training.
        let train = [o(0, 0, 3), o(1, 0, 3), o(2, 0, 2), o(0, 1, 0), o(1, 1, 0), o(2, 1, 0), o(3, 1, 1)];
        let test = [o(4, 0, 3), o(4, 1, 1), o(4, 2, 0)];
        let parts: Vec<Option<Split>> =
            (0..5).map(|t| Some(if t == 4 { Split::Test } else { Split::Train })).collect();
        let columns = SplitColumns { parts: &parts, ..SplitColumns::default() };
        let labels = [train.as_slice(), &test].concat();
        let data = TrainingData {
            embeddings: &Embeddings::none(5),
            observations: &labels,
            annotators: 3,
            target: Target { kind: TargetKind::Ordinal, levels: 4 },
            attributes: &[],
        };
        let found = baselines(&data, SplitSpec::Column, columns, None, 0).unwrap();
        let names: Vec<&str> = found.iter().map(|e| e.model.as_str()).collect();
        assert_eq!(names, ["own-most-frequent", "own-distribution", "prior"]);
        let frequent = &found[0].scores;
        // Answers 3, 0 and, without any known label, 0: the most frequent of all.
        assert!((frequent.accuracy.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((frequent.normalized_absolute_distance.unwrap() - 1.0 / 3.0 / 4.0).abs() < 1e-12);
        assert_eq!((frequent.log_loss, frequent.wasserstein, frequent.manhattan), (None, None, None));
        let shares = [3.0 / 7.0, 1.0 / 7.0, 1.0 / 7.0, 2.0 / 7.0f64];
        let own = [(2.0 + 4.0 * shares[3]) / 7.0, (1.0 + 4.0 * shares[1]) / 8.0, shares[0]];
        let loss = -own.iter().map(|p| p.ln()).sum::<f64>() / 3.0;
        assert!((found[1].scores.log_loss.unwrap() - loss).abs() < 1e-6);
        let loss = -[shares[3], shares[1], shares[0]].iter().map(|p| p.ln()).sum::<f64>() / 3.0;
        assert!((found[2].scores.log_loss.unwrap() - loss).abs() < 1e-6);
        let binary = baselines(&data, SplitSpec::Column, columns, Some(2), 0).unwrap();
        assert!((binary[0].scores.accuracy.unwrap() - 1.0).abs() < 1e-12);
        assert!(binary.iter().all(|e| e.scores.mae.is_none()));
    }

    #[test]
    fn binarised_baseline_uses_the_most_frequent_answer() {
        // Level 0 three times and 2, 3 and 4 twice each: six of nine are at least 2.
        let levels = [0, 0, 0, 2, 2, 3, 3, 4, 4u16];
        let o = |(text, level): (usize, &u16)| Observation { text: text as u32, annotator: 0, level: *level };
        let mut labels: Vec<Observation> = levels.iter().enumerate().map(o).collect();
        labels.push(Observation { text: 9, annotator: 0, level: 4 });
        let parts: Vec<Option<Split>> =
            (0..10).map(|t| Some(if t == 9 { Split::Test } else { Split::Train })).collect();
        let columns = SplitColumns { parts: &parts, ..SplitColumns::default() };
        let data = TrainingData {
            embeddings: &Embeddings::none(10),
            observations: &labels,
            annotators: 1,
            target: Target { kind: TargetKind::Ordinal, levels: 5 },
            attributes: &[],
        };
        let of = |at_least| predict_baselines(&data, SplitSpec::Column, columns, at_least, 0).unwrap();
        assert_eq!(of(None)[0].scored.predicted(), [0]);
        let binary = of(Some(2));
        assert_eq!((binary[0].scored.truth(), binary[0].scored.predicted()), (vec![1], vec![1]));
        assert!(binary[1..].iter().all(|one| (one.scored.probabilities[1] - 6.0 / 9.0).abs() < 1e-6));
    }
}
