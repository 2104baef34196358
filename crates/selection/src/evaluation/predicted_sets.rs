//! Predictions of answers that are sets of options, combined from the predictions of every option.

use super::joint_sets::{SetsTogether, Together};
use super::predicted::{Evaluation, Predicted};
use dissensus_domain::OptionSet;
use dissensus_stats::data::ModelError;
use dissensus_stats::metrics::{BinaryLogLoss, MultiLabelScores, Scored, Thresholds};
use dissensus_stats::options::OptionCorrelations;
use serde::{Deserialize, Serialize};

/// One model's scores on whole sets of options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetEvaluation {
    pub model: String,
    /// Scores of the sets of options that are more likely than not.
    #[serde(flatten)]
    pub likely: MultiLabelScores,
    /// Scores of the sets of options predicted with thresholds tuned, option by option, on training or
    /// validation labels ([`dissensus_stats::metrics::F1Rule`]); absent without tuning.
    pub tuned: Option<MultiLabelScores>,
    /// Mean `-ln p` of the decisions about all options; absent for a model without probabilities.
    pub log_loss: Option<f64>,
    /// Mean `-ln p` of a whole set, in nats, with independent options: `log_loss` times the number of
    /// options.
    #[serde(default)]
    pub set_log_loss: Option<f64>,
    /// Results with correlated options; absent if these were not requested.
    #[serde(default)]
    pub together: Option<SetsTogether>,
    /// Mean of the area under the ROC curve of "annotators differ on this option" over the options for
    /// which it is defined; absent if there are none.
    pub disagreement_auroc: Option<f64>,
    /// Each option scored as a yes/no question, in their order.
    pub as_questions: Vec<Evaluation>,
}

/// Predictions of one model or baseline for every test answer to a multi-label question.
#[derive(Clone, Debug)]
pub struct PredictedSets {
    options: Vec<Predicted>,
    together: Option<Together>,
}

impl PredictedSets {
    /// Combines the predictions of one model for each option, in the order of the scale.
    ///
    /// # Errors
    /// [`ModelError::Length`] for no option or more than a set can hold, or where options are predicted for
    /// different answers.
    pub fn new(options: Vec<Predicted>) -> Result<Self, ModelError> {
        let most = usize::from(OptionSet::MAX);
        if !(1..=most).contains(&options.len()) {
            let (what, expected, found) = ("a set of options", most, options.len());
            return Err(ModelError::Length { what, expected, found });
        }
        let answers = |one: &Predicted| -> Vec<(u32, u32)> {
            one.scored.observations.iter().map(|o| (o.text, o.annotator)).collect()
        };
        let first = answers(&options[0]);
        for option in &options {
            let own = answers(option);
            if own != first || option.scored.levels != 2 {
                let (what, expected, found) = ("the answers to an option", first.len(), own.len());
                return Err(ModelError::Length { what, expected, found });
            }
        }
        Ok(Self { options, together: None })
    }

    /// Adds correlations between options. They are learned on labels that were held out for tuning,
    /// separately for each division, and never on test labels; `unit` returns the body or the group of a
    /// text, and texts of one unit are held out together. Without such labels nothing is added.
    ///
    /// # Errors
    /// [`ModelError::Length`] where options have different held-out answers.
    pub fn with_correlations(self, unit: impl Fn(u32) -> u32, seed: u64) -> Result<Self, ModelError> {
        let together = Together::learned(&self.options, unit, seed)?;
        Ok(Self { together, ..self })
    }

    /// Adds correlations between options that were learned before.
    ///
    /// # Errors
    /// [`ModelError::Length`] where they are for another number of options.
    pub fn correlated_by(self, found: OptionCorrelations) -> Result<Self, ModelError> {
        let together = Some(Together::known(&self.options, found)?);
        Ok(Self { together, ..self })
    }

    /// The predictions of each option.
    pub(super) fn options(&self) -> &[Predicted] {
        &self.options
    }

    pub fn model(&self) -> &str {
        &self.options[0].model
    }

    /// The answered sets, by text, then annotator.
    pub fn truth(&self) -> Vec<OptionSet> {
        self.sets(Scored::truth)
    }

    /// Probability of each option (answers x options, row-major).
    pub fn probabilities(&self) -> Vec<f32> {
        let answers = self.options[0].scored.observations.len();
        (0..answers).flat_map(|row| self.options.iter().map(move |one| one.scored.row(row)[1])).collect()
    }

    /// The tuned sets; `None` if an option has no tuned threshold.
    pub(super) fn tuned(&self) -> Option<Vec<OptionSet>> {
        let all = self.options.iter().all(|one| one.scored.tuned.is_some());
        all.then(|| self.sets(Scored::tuned_or_predicted))
    }

    /// Sets of the options for which `level` returns 1.
    fn sets(&self, level: impl Fn(&Scored) -> Vec<u16>) -> Vec<OptionSet> {
        let mut bits = vec![0_u64; self.options[0].scored.observations.len()];
        for (option, one) in self.options.iter().enumerate() {
            let chosen = level(&one.scored);
            bits.iter_mut().zip(chosen).for_each(|(bits, level)| *bits |= u64::from(level == 1) << option);
        }
        bits.into_iter().map(OptionSet::from_bits).collect()
    }

    /// Computes the scores on the answers to the texts for which `keep` is true.
    ///
    /// # Errors
    /// [`ModelError::NotProbability`].
    pub fn evaluation_of(&self, keep: impl Fn(u32) -> bool) -> Result<SetEvaluation, ModelError> {
        let kept = self.options.iter().map(|one| Predicted {
            scored: one.scored.filtered(|o| keep(o.text)),
            model: one.model.clone(),
            answers_alone: one.answers_alone,
            held_out: Vec::new(),
        });
        let together = self.together.as_ref().map(|together| {
            let texts = self.options[0].scored.observations.iter().map(|o| o.text);
            together.filtered(&texts.map(&keep).collect::<Vec<_>>())
        });
        Self { options: kept.collect(), together }.evaluation()
    }

    /// Computes the scores.
    ///
    /// # Errors
    /// [`ModelError::NotProbability`].
    pub fn evaluation(&self) -> Result<SetEvaluation, ModelError> {
        let (options, truth, p) = (self.options.len(), self.truth(), self.probabilities());
        let likely = MultiLabelScores::new(&truth, &Thresholds::half(options).answers(&p), options)?;
        let tuned = self.tuned().map(|sets| MultiLabelScores::new(&truth, &sets, options)).transpose()?;
        let first = &self.options[0];
        let log_loss = match first.answers_alone {
            true => None,
            false => BinaryLogLoss::new(&truth, &p, options)?.all,
        };
        let as_questions: Vec<Evaluation> =
            self.options.iter().map(|option| option.evaluation(false)).collect();
        let areas: Vec<f64> = as_questions.iter().filter_map(|one| one.scores.disagreement_auroc).collect();
        Ok(SetEvaluation {
            model: first.model.clone(),
            likely,
            tuned,
            log_loss,
            set_log_loss: log_loss.map(|loss| loss * options as f64),
            together: self.together.as_ref().map(|together| together.scores(&truth, options)).transpose()?,
            disagreement_auroc: (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64),
            as_questions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::HeldOutPart;
    use dissensus_stats::data::Observation;

    /// Three answers; `yes` are the probabilities of an option and `chosen` whether it was chosen.
    fn option(yes: [f32; 3], chosen: [u16; 3], tuned: Option<[u16; 3]>) -> Predicted {
        let keys = [(0, 0), (0, 1), (4, 0)];
        let observations =
            keys.iter().zip(chosen).map(|(&(text, annotator), level)| Observation { text, annotator, level });
        Predicted::new(
            "shared",
            Scored {
                observations: observations.collect(),
                probabilities: yes.iter().flat_map(|p| [1.0 - p, *p]).collect(),
                levels: 2,
                tuned: tuned.map(Vec::from),
            },
        )
    }

    #[test]
    fn options_form_sets() {
        let anger = option([0.9, 0.4, 0.1], [1, 1, 0], Some([1, 1, 0]));
        let joy = option([0.2, 0.6, 0.7], [0, 0, 1], Some([0, 0, 1]));
        let all = PredictedSets::new(vec![anger.clone(), joy.clone()]).unwrap();
        assert_eq!(all.truth().iter().map(|set| set.bits()).collect::<Vec<_>>(), [0b01, 0b01, 0b10]);
        assert_eq!(all.probabilities(), [0.9, 0.2, 0.4, 0.6, 0.1, 0.7]);
        let found = all.evaluation().unwrap();
        // {anger}, {joy}, {joy}: two of three are right, out of three chosen and three predicted.
        assert_eq!(found.likely.micro_f1, Some(2.0 / 3.0));
        assert_eq!(found.tuned.unwrap().subset_accuracy, Some(1.0));
        let expected = -(0.9f64 * 0.8 * 0.4 * 0.4 * 0.9 * 0.7).ln() / 6.0;
        assert!((found.log_loss.unwrap() - expected).abs() < 1e-6);
        // Annotators differ only on the first text, and not on an option with a defined AUROC: anger was
        // chosen by both.
        assert_eq!(found.disagreement_auroc, None);
        assert_eq!(found.as_questions.len(), 2);
        let rest = all.evaluation_of(|text| text == 4).unwrap();
        assert_eq!((rest.likely.answers, rest.likely.jaccard), (1, Some(1.0)));
        let untuned = PredictedSets::new(vec![anger, option([0.5; 3], [0; 3], None)]).unwrap();
        assert_eq!(untuned.evaluation().unwrap().tuned, None);
    }

    /// Held-out labels of two options that are always chosen together, on 100 texts.
    fn with_held_out(mut one: Predicted, shift: u32) -> Predicted {
        let rows = (0..100_u32).map(|text| Observation {
            text: text + 10 + shift,
            annotator: 0,
            level: u16::from(text % 2 == 0),
        });
        let scored =
            Scored { observations: rows.collect(), probabilities: vec![0.5; 200], levels: 2, tuned: None };
        one.held_out = vec![HeldOutPart { scored, tested: [0, 4].into() }];
        one
    }

    #[test]
    fn correlated_options_change_the_predicted_set() {
        let anger = with_held_out(option([0.9, 0.6, 0.1], [1, 1, 0], None), 0);
        let disgust = with_held_out(option([0.45, 0.45, 0.1], [1, 1, 0], None), 0);
        let sets =
            |options: Vec<Predicted>| PredictedSets::new(options).unwrap().with_correlations(|text| text, 0);
        let both = sets(vec![anger.clone(), disgust.clone()]).unwrap();
        let found = both.evaluation().unwrap();
        let together = found.together.unwrap();
        assert_eq!((together.used, together.factors, together.learned_from), (1, 1, 100));
        assert!(together.pairs[0].correlation > 0.6);
        assert_eq!(
            (together.likely.subset_accuracy, found.likely.subset_accuracy),
            (Some(2.0 / 3.0), Some(1.0 / 3.0))
        );
        assert!(together.set_log_loss.unwrap() < found.set_log_loss.unwrap());
        let gain = found.set_log_loss.unwrap() - together.set_log_loss.unwrap();
        assert!((together.test_gain.unwrap() - gain).abs() < 1e-6);
        // On some texts only: the same model, fewer answers.
        let rest = both.evaluation_of(|text| text == 4).unwrap().together.unwrap();
        assert_eq!((rest.likely.answers, &rest.pairs), (1, &together.pairs));
        // Other test labels have no influence.
        let mut other = anger.clone();
        other.scored.observations.iter_mut().for_each(|o| o.level = 1 - o.level);
        let turned = sets(vec![other, disgust.clone()]).unwrap().evaluation().unwrap().together.unwrap();
        assert_eq!((turned.pairs, turned.gain), (together.pairs, together.gain));
        assert!(sets(vec![anger.clone(), with_held_out(disgust, 1)]).is_err(), "held out on other texts");
        // Threads of ten texts are ten units: too few.
        let threads =
            PredictedSets::new(vec![anger.clone(), anger]).unwrap().with_correlations(|text| text / 10, 0);
        assert_eq!(threads.unwrap().evaluation().unwrap().together.unwrap().gain, None);
    }

    #[test]
    fn options_of_other_answers_are_refused() {
        let one = option([0.5; 3], [0; 3], None);
        let mut other = one.clone();
        other.scored.observations[2].annotator = 7;
        assert!(PredictedSets::new(vec![one, other]).is_err());
        assert!(PredictedSets::new(Vec::new()).is_err());
    }
}
