//! Uncertainty of scores on whole sets of options, and of their differences between models.

use super::predicted_sets::PredictedSets;
use dissensus_domain::OptionSet;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, Observation};
use dissensus_stats::metrics::{BinaryLogLoss, Cluster, MIN_RARE, MultiLabelScores, Resampled, Thresholds};
use std::collections::BTreeSet;

/// Keys of the metrics: with options that are more likely than not, and with tuned thresholds.
const KEYS: [&str; 9] = [
    "micro_f1",
    "macro_f1",
    "jaccard",
    "subset_accuracy",
    "hamming_loss",
    "log_loss",
    "tuned_micro_f1",
    "tuned_macro_f1",
    "tuned_jaccard",
];

/// Predictions of one model for the test answers.
struct Answers {
    truth: Vec<OptionSet>,
    probabilities: Vec<f32>,
    likely: Vec<OptionSet>,
    tuned: Option<Vec<OptionSet>>,
    options: usize,
    has_probabilities: bool,
}

impl PredictedSets {
    /// Computes the scores on whole sets, and the same without groups of texts, annotators and answers, for
    /// confidence intervals; with one annotator (aggregated labels) over texts only. Macro-F1 has an
    /// interval where every option is chosen on at least ten texts.
    ///
    /// # Errors
    /// [`ModelError::NotProbability`], [`ModelError::Cancelled`].
    pub fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError> {
        let (truth, probabilities, options) = (self.truth(), self.probabilities(), self.options().len());
        let answers = Answers {
            likely: Thresholds::half(options).answers(&probabilities),
            tuned: self.tuned(),
            has_probabilities: !self.options()[0].answers_alone,
            truth,
            probabilities,
            options,
        };
        let observations: Vec<Observation> =
            self.options()[0].scored.observations.iter().map(|o| Observation { level: 0, ..*o }).collect();
        // A computation without some answers is a part of this one, so that it cannot fail where this does
        // not.
        let whole = answers.metrics(&|_| true)?;
        let enough = enough(&observations);
        let rare = answers.texts_of_rarest(&observations) >= MIN_RARE;
        let supported = KEYS.iter().map(|key| enough && (rare || !key.ends_with("macro_f1"))).collect();
        let whole = KEYS.into_iter().zip(whole).collect();
        let without = |keep: &(dyn Fn(usize) -> bool + Sync)| {
            answers.metrics(&|at| keep(at)).unwrap_or_else(|_| vec![None; KEYS.len()])
        };
        Resampled::over(observations, whole, supported, seed, without, progress)
    }
}

/// Whether there are enough texts and annotators to estimate the error of a figure.
fn enough(observations: &[Observation]) -> bool {
    let different = |of: fn(&Observation) -> u32| observations.iter().map(of).collect::<BTreeSet<_>>().len();
    let (texts, annotators) = (different(|o| o.text), different(|o| o.annotator));
    texts >= Cluster::Texts.least() && (annotators == 1 || annotators >= Cluster::Annotators.least())
}

impl Answers {
    /// Metrics in the order of [`KEYS`], over the answers for which `keep` is true.
    fn metrics(&self, keep: &dyn Fn(usize) -> bool) -> Result<Vec<Option<f64>>, ModelError> {
        let places: Vec<usize> = (0..self.truth.len()).filter(|at| keep(*at)).collect();
        let of = |sets: &[OptionSet]| -> Vec<OptionSet> { places.iter().map(|at| sets[*at]).collect() };
        let truth = of(&self.truth);
        let likely = MultiLabelScores::new(&truth, &of(&self.likely), self.options)?;
        let tuned = self.tuned.as_ref().map(|tuned| MultiLabelScores::new(&truth, &of(tuned), self.options));
        let tuned = tuned.transpose()?.unwrap_or_default();
        let log_loss = match self.has_probabilities {
            true => {
                let row = |at: &usize| &self.probabilities[at * self.options..(at + 1) * self.options];
                let rows: Vec<f32> = places.iter().flat_map(row).copied().collect();
                BinaryLogLoss::new(&truth, &rows, self.options)?.all
            }
            false => None,
        };
        Ok(vec![
            likely.micro_f1,
            likely.macro_f1,
            likely.jaccard,
            likely.subset_accuracy,
            likely.hamming_loss,
            log_loss,
            tuned.micro_f1,
            tuned.macro_f1,
            tuned.jaccard,
        ])
    }

    /// Number of texts on which the rarest option is chosen.
    fn texts_of_rarest(&self, observations: &[Observation]) -> usize {
        let texts = |option: usize| {
            let chosen = self.truth.iter().zip(observations).filter(|(set, _)| set.contains(option as u8));
            chosen.map(|(_, o)| o.text).collect::<BTreeSet<_>>().len()
        };
        (0..self.options).map(texts).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Predicted;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::metrics::Scored;

    /// Two options of which the first is predicted with probability `sure`, with a number of texts and
    /// annotators.
    fn sets(texts: u32, people: u32, sure: f32) -> PredictedSets {
        let option = |nth: u32| {
            let mut scored = Scored { levels: 2, ..Scored::default() };
            for (text, annotator) in (0..texts).flat_map(|text| (0..people).map(move |who| (text, who))) {
                let level = u16::from((text * 7 + annotator * 3 + nth) % 5 < 2);
                scored.observations.push(Observation { text, annotator, level });
                // Wrong on every ninth text.
                let right = !(text + nth).is_multiple_of(9);
                let p = if right == (level == 1) { sure } else { 1.0 - sure };
                scored.probabilities.extend([1.0 - p, p]);
            }
            Predicted::new("multilevel", scored)
        };
        PredictedSets::new(vec![option(0), option(1)]).unwrap()
    }

    #[test]
    fn intervals_contain_figures_and_differences() {
        let (better, worse) = (sets(60, 6, 0.9), sets(60, 6, 0.6));
        let own = better.resampled(1, &Silent).unwrap();
        assert_eq!(own.sampled(), "texts and annotators");
        let evaluation = better.evaluation().unwrap();
        let intervals = own.intervals(0.9).unwrap();
        let (low, high) = intervals["micro_f1"];
        let f1 = evaluation.likely.micro_f1.unwrap();
        assert!(low < f1 && f1 < high && high - low < 0.3, "{low} {f1} {high}");
        let found = own.less(&worse.resampled(1, &Silent).unwrap(), 0.9).unwrap();
        let loss = found["log_loss"];
        let expected = evaluation.log_loss.unwrap() - worse.evaluation().unwrap().log_loss.unwrap();
        assert!((loss.difference - expected).abs() < 1e-9, "{loss:?}");
        assert!(loss.high.unwrap() < 0.0, "the one that is surer is better: {loss:?}");
        // They predict the same sets.
        let same = found["jaccard"];
        assert_eq!((same.difference, same.low), (0.0, None));
        assert!(!found.contains_key("tuned_micro_f1"), "nothing was tuned");
    }

    #[test]
    fn single_annotator_or_few_texts_have_no_interval() {
        let one = sets(60, 1, 0.9).resampled(1, &Silent).unwrap();
        assert_eq!(one.sampled(), "texts");
        assert!(one.intervals(0.9).unwrap().contains_key("jaccard"));
        for too_few in [sets(10, 6, 0.9), sets(60, 3, 0.9)] {
            assert!(too_few.resampled(1, &Silent).unwrap().intervals(0.9).unwrap().is_empty());
        }
        // An option on few texts is not enough for the mean over options.
        let rare = sets(22, 1, 0.9).resampled(1, &Silent).unwrap().intervals(0.9).unwrap();
        assert!(rare.contains_key("micro_f1") && !rare.contains_key("macro_f1"), "{rare:?}");
    }
}
