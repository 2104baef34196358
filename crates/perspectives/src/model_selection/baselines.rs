//! What can be said of a label without reading the text: what every model has to beat.

use super::evaluate::Evaluation;
use super::split::{SplitColumns, SplitSpec};
use crate::data::{MostFrequentLevel, Observation, PerspectivesError, TrainingData};
use crate::metrics::{Scored, Scores, dichotomize};
use dissensus_domain::ScaleKind;

/// Labels that the shares of all annotators count for, beside each annotator's own.
const PRIOR_LABELS: f64 = 4.0;

/// The baselines of a split, scored on the same labels as [`super::evaluate`] scores models:
/// - `own-most-frequent`: each annotator's most frequent training level, whatever the text (the baseline of LeWiDi 2025). One
///   answer and no probabilities, so only measures of answers are there.
/// - `own-distribution`: the shares of levels among each annotator's training labels, shrunk towards those of all as if four
///   more labels had these.
/// - `prior`: the shares of levels among all training labels, for everybody.
///
/// # Errors
/// As [`SplitSpec::divide`].
pub fn baselines(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    at_least: Option<u16>,
    seed: u64,
) -> Result<Vec<Evaluation>, PerspectivesError> {
    let levels = data.target.levels;
    let mut pooled: [Vec<Scored>; 3] = Default::default();
    for split in split.each() {
        let mut division = split.divide(data, columns, seed, 0.0)?;
        if division.test.labels() == 0 {
            continue;
        }
        let counts = Counts::of(&division.train, data.annotators, levels);
        let frequent = MostFrequentLevel::fit(&division.train, levels);
        let one_answer = |annotator: u32, p: &mut [f32]| {
            p.fill(0.0);
            p[usize::from(frequent.predict(annotator))] = 1.0;
        };
        pooled[0].push(division.test.predicted("own-most-frequent", levels, one_answer)?);
        pooled[1].push(division.test.predicted("own-distribution", levels, |a, p| counts.own(a, p))?);
        pooled[2].push(division.test.predicted("prior", levels, |_, p| counts.everybody(p))?);
    }
    let ordinal = data.target.kind == ScaleKind::Ordinal && at_least.is_none();
    let names = ["own-most-frequent", "own-distribution", "prior"];
    let baseline = |(name, parts): (&str, Vec<Scored>)| {
        let mut scored = Scored::pooled(parts);
        if let Some(level) = at_least {
            scored = dichotomize(&scored, level);
        }
        let scores = Scores::of(&scored, ordinal);
        let scores = if name == "own-most-frequent" { scores.of_answers() } else { scores };
        Evaluation { model: name.to_owned(), scores }
    };
    Ok(names.into_iter().zip(pooled).map(baseline).collect())
}

/// Training labels of each annotator by level, and of all.
struct Counts {
    levels: usize,
    of_annotator: Vec<f64>,
    shares: Vec<f64>,
}

impl Counts {
    fn of(train: &[Observation], annotators: usize, levels: usize) -> Self {
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

    fn everybody(&self, out: &mut [f32]) {
        out.iter_mut().zip(&self.shares).for_each(|(out, share)| *out = *share as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Embeddings, Target};
    use dissensus_domain::Split;

    #[test]
    fn baselines_look_at_training_labels_alone() {
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
            target: Target { kind: ScaleKind::Ordinal, levels: 4 },
            attributes: &[],
        };
        let found = baselines(&data, SplitSpec::Column, columns, None, 0).unwrap();
        let names: Vec<&str> = found.iter().map(|e| e.model.as_str()).collect();
        assert_eq!(names, ["own-most-frequent", "own-distribution", "prior"]);
        let frequent = &found[0].scores;
        // Answers 3, 0 and, of whom nothing is known, 0: of everybody the most frequent.
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
}
