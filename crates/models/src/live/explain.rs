//! Explanation of a prediction: its parts, and the labels of the annotator that influence it most.

use super::model::LiveModel;
use crate::batch::TextScorer;
use crate::mixed::score_parts::{TextScores, probabilities};
use crate::mixed::text_scale::noise;
use crate::mixed::{CrossedEffects, ScoreParts};
use dissensus_stats::data::{ModelError, TextFeatures};

/// Number of labels with the largest first-order effect that are removed and refitted.
const CANDIDATES: usize = 24;

/// The text whose prediction is explained.
#[derive(Clone, Copy, Debug)]
pub enum ExplainedText<'a> {
    /// One of the model's texts.
    Row(u32),
    /// One of the model's texts as if the annotator had not labelled it.
    RowWithoutOwnLabel(u32),
    /// Any text, by its features.
    New(TextFeatures<'a>),
}

impl ExplainedText<'_> {
    /// The row of a text of the model.
    fn row(self) -> Option<u32> {
        match self {
            Self::Row(row) | Self::RowWithoutOwnLabel(row) => Some(row),
            Self::New(_) => None,
        }
    }

    /// The row whose label by the annotator is treated as missing.
    fn left_out(self) -> Option<u32> {
        match self {
            Self::RowWithoutOwnLabel(row) => Some(row),
            _ => None,
        }
    }
}

/// The part of a prediction whose change is reported when a label is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The expected level (index); on a binary scale the probability of its upper level.
    ExpectedLevel,
    /// The probability of a level.
    Level(u16),
}

impl Outcome {
    /// Its value under these probabilities of the levels.
    pub fn of(self, p: &[f64]) -> f64 {
        match self {
            Self::ExpectedLevel => p.iter().enumerate().map(|(level, p)| level as f64 * p).sum(),
            Self::Level(level) => p[usize::from(level)],
        }
    }
}

/// A prediction in its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPrediction {
    /// Binary and ordinal scales: one per threshold, the lowest first (levels - 1). Choice scales: one per
    /// level.
    pub logits: Vec<ScoreParts>,
    /// The resulting probabilities, one per level.
    pub probabilities: Vec<f64>,
    /// Labels of other annotators on the text.
    pub others: usize,
    /// This annotator's label of the text.
    pub own_level: Option<u16>,
}

/// One label of an annotator, and its effect on a prediction for that annotator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// The labelled text.
    pub text: u32,
    /// The label.
    pub level: u16,
    /// The outcome with this label minus the outcome without it.
    pub change: f64,
}

/// The scorer of new texts, detached from the model that it was taken from.
#[derive(Clone, Debug)]
pub struct TextScore(TextScorer);

impl TextScore {
    /// The scores of a text: one on binary and ordinal scales, one per level on choice scales.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`] for an embedding of another length.
    pub fn of(&self, text: TextFeatures<'_>) -> Result<Vec<f64>, ModelError> {
        Ok(self.0.apply(text, 0)?.0)
    }
}

/// The posterior of one annotator's random effects and slopes.
struct Effects {
    theta: Vec<f64>,
    covariance: Vec<f64>,
}

impl LiveModel {
    /// The prediction for an annotator on a text as a sum; equal to
    /// [`dissensus_stats::data::AnnotatorModel::predict`] (or `predict_new_text`) up to single precision. An
    /// unknown annotator is one drawn from the population.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`] for an embedding of another length.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn explain(
        &self,
        text: ExplainedText<'_>,
        annotator: u32,
    ) -> Result<ExplainedPrediction, ModelError> {
        let crossed = &self.model.crossed;
        let effects = self.effects(annotator, text.left_out());
        let scores = self.text_scores(text, annotator)?;
        let logits = crossed.score_parts(&effects.theta, &effects.covariance, &scores);
        let own_level = text.row().and_then(|row| self.label(row, annotator));
        let labels = text.row().map_or(0, |row| crossed.labels[row as usize].len());
        Ok(ExplainedPrediction {
            probabilities: probabilities(crossed.link, &logits),
            others: labels - usize::from(own_level.is_some()),
            own_level: own_level.filter(|_| text.left_out().is_none()),
            logits,
        })
    }

    /// The labels of an annotator that move `outcome` of the prediction most, strongest first, at most
    /// `most`. A label is removed as by [`LiveModel::retract`]: the annotator is refitted without it, and so
    /// is the text if it is the explained one. Shared head, averages, variances, and the posteriors of all
    /// other texts and annotators are fixed. For an annotator with many labels, only the 24 labels with the
    /// largest first-order effect are removed and refitted.
    ///
    /// # Errors
    /// The same as [`LiveModel::explain`].
    ///
    /// # Panics
    /// The same as [`LiveModel::explain`].
    pub fn influences(
        &self,
        text: ExplainedText<'_>,
        annotator: u32,
        outcome: Outcome,
        most: usize,
    ) -> Result<Vec<Influence>, ModelError> {
        let (crossed, whole) = (&self.model.crossed, self.effects(annotator, None));
        let scores = self.text_scores(text, annotator)?;
        let value = |effects: &Effects, text: &TextScores| {
            let logits = crossed.score_parts(&effects.theta, &effects.covariance, text);
            outcome.of(&probabilities(crossed.link, &logits))
        };
        let (row, left_out) = (text.row(), text.left_out());
        let without_own = row.and_then(|row| without_label(crossed, row, annotator, &scores));
        let text_without = |label: u32| match &without_own {
            Some(without) if Some(label) == row => without,
            _ => &scores,
        };
        let known = value(&whole, &scores);
        let mut candidates: Vec<(f64, u32, u16)> = (self.model.labels_of(annotator).iter().enumerate())
            .filter(|(_, (text, _))| Some(*text) != left_out)
            .map(|(at, &(text, level))| {
                let roughly = crossed.cavity_of_label(annotator as usize, at).to_vec();
                let roughly = Effects { theta: roughly, covariance: whole.covariance.clone() };
                ((known - value(&roughly, text_without(text))).abs(), text, level)
            })
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        candidates.truncate(CANDIDATES.max(most));
        let now = value(&self.effects(annotator, left_out), &scores);
        let mut found: Vec<Influence> = candidates
            .into_iter()
            .map(|(_, text, level)| {
                let without: Vec<u32> = left_out.into_iter().chain([text]).collect();
                let left = self.effects_without(annotator, &without);
                Influence { text, level, change: now - value(&left, text_without(text)) }
            })
            .collect();
        found.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()).then(a.text.cmp(&b.text)));
        found.truncate(most);
        Ok(found)
    }

    /// The current scorer of new texts.
    pub fn text_score(&self) -> TextScore {
        TextScore(self.model.head.clone())
    }

    /// The labels of a text as (annotator, level), ordered by annotator.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn labels_of_text(&self, text: u32) -> impl Iterator<Item = (u32, u16)> + '_ {
        self.model.crossed.labels[text as usize].iter().map(|label| (label.annotator, label.level))
    }

    /// The annotator, or one drawn from the population; without the label of `left_out`.
    fn effects(&self, annotator: u32, left_out: Option<u32>) -> Effects {
        let crossed = &self.model.crossed;
        let Some(effect) = crossed.annotators.get(annotator as usize) else {
            return Effects { theta: vec![0.0; crossed.width()], covariance: crossed.prior_covariance() };
        };
        match left_out.filter(|text| self.label(*text, annotator).is_some()) {
            Some(text) => self.effects_without(annotator, &[text]),
            None => Effects {
                theta: effect.theta.clone(),
                covariance: crossed.covariance_of(annotator as usize).into_owned(),
            },
        }
    }

    fn effects_without(&self, annotator: u32, texts: &[u32]) -> Effects {
        let crossed = &self.model.crossed;
        let left = crossed.annotator_refitted_without(annotator as usize, texts, &self.precision);
        let covariance =
            crossed.covariance_with_groups(crossed.groups_of(annotator as usize), &left.covariance);
        Effects { theta: left.theta, covariance: covariance.into_owned() }
    }

    fn text_scores(&self, text: ExplainedText<'_>, annotator: u32) -> Result<TextScores, ModelError> {
        let crossed = &self.model.crossed;
        let row = match text {
            ExplainedText::Row(row) | ExplainedText::RowWithoutOwnLabel(row) => row as usize,
            ExplainedText::New(features) => {
                let (u, z) = self.model.head.apply(features, crossed.slope_dim)?;
                return Ok(TextScores {
                    words: u.clone(),
                    without_own: u.clone(),
                    posterior: u,
                    variance: crossed.text_var,
                    noise: noise(self.model.head.log_scale(features)),
                    z,
                });
            }
        };
        let q = crossed.link.scores();
        let posterior = crossed.u[row * q..(row + 1) * q].to_vec();
        let scores = TextScores {
            words: crossed.scores[row * q..(row + 1) * q].to_vec(),
            without_own: posterior.clone(),
            posterior,
            variance: crossed.v[row],
            noise: crossed.noise(row),
            z: crossed.features(row).to_vec(),
        };
        let Some(without) = without_label(crossed, row as u32, annotator, &scores) else { return Ok(scores) };
        Ok(match text {
            ExplainedText::RowWithoutOwnLabel(_) => without,
            _ => TextScores { without_own: without.posterior, ..scores },
        })
    }
}

/// The text's scores without the annotator's label; `None` where there is no such label.
fn without_label(
    crossed: &CrossedEffects,
    text: u32,
    annotator: u32,
    scores: &TextScores,
) -> Option<TextScores> {
    let left = crossed.text_refitted_without(text as usize, annotator)?;
    let (posterior, noise) = (left.mean, left.scale.map_or(0.0, |scale| scale.noise()));
    let without_own = posterior.clone();
    Some(TextScores { without_own, posterior, variance: left.variance, noise, ..scores.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::AnnotatorModel as _;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::{Simulation, simulate};
    use dissensus_stats::data::{FitOptions, Observation, Target, TrainingData};
    use dissensus_stats::math::{attenuation, dot};

    fn live(sim: &Simulation) -> LiveModel {
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap()
    }

    /// Binary, ordinal, one with a common stretch of many thresholds, and choice.
    fn models() -> Vec<(Simulation, LiveModel)> {
        let mut choice = simulate(120, 8, 4, 5, 40, 3);
        choice.target = Target { kind: TargetKind::Nominal, levels: 4 };
        [simulate(120, 8, 2, 5, 40, 1), simulate(120, 8, 5, 5, 40, 2), simulate(90, 8, 12, 4, 40, 4), choice]
            .into_iter()
            .map(|sim| {
                let model = live(&sim);
                (sim, model)
            })
            .collect()
    }

    fn assert_is_the_prediction(found: &ExplainedPrediction, p: &[f32]) {
        assert!((found.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for (exact, p) in found.probabilities.iter().zip(p) {
            assert!((exact - f64::from(*p)).abs() < 2e-5, "{exact} {p}");
        }
    }

    #[test]
    fn explained_parts_add_up_to_the_score() {
        for (sim, model) in models() {
            let (crossed, link) = (&model.model.crossed, model.model.crossed.link);
            for text in 0..30 {
                for annotator in 0..9 {
                    let found = model.explain(ExplainedText::Row(text), annotator).unwrap();
                    // The score in one piece: the text's posterior and the annotator's own intercepts.
                    let (q, d) = (link.scores(), link.random_effects());
                    let u = &crossed.u[text as usize * q..(text as usize + 1) * q];
                    let theta = crossed
                        .annotators
                        .get(annotator as usize)
                        .map_or_else(|| vec![0.0; d], |effect| effect.theta.clone());
                    let mut intercepts = vec![0.0; link.intercepts()];
                    link.intercepts_of(&crossed.fixed_effects, &theta[..d], &mut intercepts);
                    for (j, logit) in found.logits.iter().enumerate() {
                        let whole = u[if link.softmax { j } else { 0 }] + intercepts[j];
                        assert!((logit.score() - whole).abs() < 1e-6, "{logit:?} {whole}");
                    }
                    let mut p = vec![0.0; model.levels()];
                    model.predict(text, annotator, &mut p);
                    assert_is_the_prediction(&found, &p);
                    let own = sim.observations.iter().find(|o| (o.text, o.annotator) == (text, annotator));
                    assert_eq!(found.own_level, own.map(|o| o.level));
                    if own.is_none() {
                        assert!(found.logits.iter().all(|logit| logit.own_label == 0.0));
                    }
                    if found.others == 0 {
                        assert!(found.logits.iter().all(|logit| logit.others.abs() < 1e-9));
                    }
                }
            }
        }
    }

    #[test]
    fn new_text_is_explained_by_words_and_annotator() {
        for (sim, model) in models() {
            let x = sim.embeddings.features(3);
            let found = model.explain(ExplainedText::New(x), 2).unwrap();
            let mut p = vec![0.0; model.levels()];
            model.predict_new_text(x, 2, &mut p).unwrap();
            assert_is_the_prediction(&found, &p);
            let score = model.text_score().of(x).unwrap();
            for (j, logit) in found.logits.iter().enumerate() {
                assert_eq!((logit.others, logit.own_label), (0.0, 0.0));
                assert_eq!(logit.words, score[if score.len() > 1 { j } else { 0 }]);
            }
            assert!(model.explain(ExplainedText::New(x.embedding[1..].into()), 2).is_err());
        }
    }

    /// With slopes, their part is the effect of the annotator's slopes on the text's features, and their
    /// uncertainty attenuates.
    #[test]
    fn explanation_includes_slopes() {
        let (_, mut model) = models().swap_remove(1);
        let crossed = &mut model.model.crossed;
        let texts = crossed.texts();
        crossed.slope_dim = 2;
        crossed.slope_vars = vec![0.5, 0.3];
        crossed.z = (0..texts * 2).map(|i| f64::from((i % 7) as u8) / 3.0 - 1.0).collect();
        crossed.reset_annotators();
        let precision = crossed.prior_precision();
        (0..crossed.annotators.len()).for_each(|a| crossed.update_annotator(a, &precision));
        let (head, crossed) = (model.model.head.clone(), crossed.clone());
        let model = LiveModel::from_model(
            crate::batch::Multilevel::from_parts(head, crossed),
            model.target,
            vec![],
            0,
        );
        let mut largest = 0.0f64;
        for text in 0..20 {
            for annotator in 0..8 {
                let found = model.explain(ExplainedText::Row(text), annotator).unwrap();
                let crossed = &model.model.crossed;
                let theta = &crossed.annotators[annotator as usize].theta;
                let slope = dot(crossed.features(text as usize), &theta[crossed.link.random_effects()..]);
                assert!(found.logits.iter().all(|logit| (logit.slope - slope).abs() < 1e-12));
                largest = largest.max(slope.abs());
                let mut p = vec![0.0; model.levels()];
                model.predict(text, annotator, &mut p);
                assert_is_the_prediction(&found, &p);
                let text_alone = attenuation(crossed.v[text as usize]);
                assert!(found.logits.iter().all(|logit| logit.attenuation < text_alone));
            }
        }
        assert!(largest > 0.1, "{largest}");
    }

    /// With discriminations of their own annotators are predicted, explained and serialised, and follow a
    /// label and its retraction.
    #[test]
    fn explanation_includes_discrimination() {
        for (sim, mut model) in models().into_iter().filter(|(_, model)| !model.model.crossed.link.softmax) {
            let crossed = &mut model.model.crossed;
            crossed.add_discrimination();
            crossed.estimate_parameter_uncertainty(&Silent).unwrap();
            let precision = crossed.prior_precision();
            (0..crossed.annotators.len()).for_each(|a| crossed.update_annotator(a, &precision));
            (0..crossed.texts()).for_each(|t| crossed.update_text(t));
            let (head, crossed) = (model.model.head.clone(), crossed.clone());
            let model = crate::batch::Multilevel::from_parts(head, crossed);
            let mut model = LiveModel::from_model(model, sim.target, vec![], 0);
            let mut largest = 0.0f64;
            let mut p = vec![0.0; model.levels()];
            for text in 0..20 {
                for annotator in 0..9 {
                    let found = model.explain(ExplainedText::Row(text), annotator).unwrap();
                    model.predict(text, annotator, &mut p);
                    assert_is_the_prediction(&found, &p);
                    let factor = model.discrimination(annotator).unwrap().factor();
                    let u = model.model.crossed.u[text as usize];
                    assert!(
                        found.logits.iter().all(|l| (l.discrimination - (factor - 1.0) * u).abs() < 1e-9)
                    );
                    largest = largest.max(found.logits[0].discrimination.abs());
                }
            }
            assert!(largest > 0.02, "{largest}");
            let (low, high) = model.discrimination(u32::MAX).unwrap().interval();
            assert!(low < 1.0 && high > 1.0);
            let read = LiveModel::from_bytes(&model.to_bytes().unwrap()).unwrap();
            let (mut before, mut after) = (vec![0.0; model.levels()], vec![0.0; model.levels()]);
            read.predict(3, 2, &mut after);
            model.predict(3, 2, &mut before);
            assert_eq!(before, after);
            let free = (0..30).find(|t| model.label(*t, 2).is_none()).unwrap();
            let known = model.discrimination(2).unwrap().sd;
            model.record(dissensus_stats::data::Observation { text: free, annotator: 2, level: 0 }).unwrap();
            assert!(model.discrimination(2).unwrap().sd < known + 0.01);
            model.retract(free, 2).unwrap();
            model.predict(3, 2, &mut after);
            for (before, after) in before.iter().zip(&after) {
                assert!((before - after).abs() < 0.01, "{before} {after}");
            }
        }
    }

    fn outcome(model: &LiveModel, text: u32, annotator: u32, outcome: Outcome) -> f64 {
        let mut p = vec![0.0; model.levels()];
        model.predict(text, annotator, &mut p);
        outcome.of(&p.iter().map(|p| f64::from(*p)).collect::<Vec<_>>())
    }

    #[test]
    fn influence_equals_the_effect_of_retracting() {
        for (sim, model) in models() {
            let by = match sim.target.kind {
                TargetKind::Nominal => Outcome::Level(1),
                _ => Outcome::ExpectedLevel,
            };
            let own = sim.observations.iter().find(|o| o.annotator == 3).unwrap();
            for text in [own.text, 0, 1] {
                let all = model.influences(ExplainedText::Row(text), 3, by, 100).unwrap();
                assert_eq!(all.len(), model.labels_of(3));
                assert!(all.windows(2).all(|w| w[0].change.abs() >= w[1].change.abs()));
                for influence in &all {
                    let mut left = model.clone();
                    assert_eq!(left.retract(influence.text, 3).unwrap(), influence.level);
                    let change = outcome(&model, text, 3, by) - outcome(&left, text, 3, by);
                    // The tolerance is 1e-3; the remaining difference is the single precision of predictions.
                    assert!((influence.change - change).abs() < 1e-4, "{influence:?} {change}");
                }
                assert!(all[0].change.abs() > 1e-3, "{:?}", all[0]);
            }
        }
    }

    #[test]
    fn explanation_without_own_label_matches_retraction() {
        for (sim, model) in models() {
            let own = *sim.observations.iter().find(|o| o.annotator == 3).unwrap();
            let text = ExplainedText::RowWithoutOwnLabel(own.text);
            let found = model.explain(text, 3).unwrap();
            let mut left = model.clone();
            left.retract(own.text, 3).unwrap();
            let mut p = vec![0.0; model.levels()];
            left.predict(own.text, 3, &mut p);
            assert_is_the_prediction(&found, &p);
            assert_eq!(found, left.explain(ExplainedText::Row(own.text), 3).unwrap());
            let by = Outcome::Level(1);
            let influences = model.influences(text, 3, by, 100).unwrap();
            assert!(influences.iter().all(|influence| influence.text != own.text));
            let other = left.influences(ExplainedText::Row(own.text), 3, by, 100).unwrap();
            assert_eq!(influences.len(), other.len());
            for influence in &influences {
                let same = other.iter().find(|other| other.text == influence.text).unwrap();
                assert!((influence.change - same.change).abs() < 1e-4, "{influence:?} {same:?}");
            }
            let nobody = (0..100).find(|text| model.label(*text, 3).is_none()).unwrap();
            let without = model.explain(ExplainedText::RowWithoutOwnLabel(nobody), 3).unwrap();
            assert_eq!(without, model.explain(ExplainedText::Row(nobody), 3).unwrap());
        }
    }

    #[test]
    fn strongest_of_many_labels_are_found_without_refitting_all() {
        for levels in [2, 5] {
            let sim = simulate(400, 4, levels, 4, 300, 9);
            let model = live(&sim);
            let ask =
                |most| model.influences(ExplainedText::Row(7), 1, Outcome::ExpectedLevel, most).unwrap();
            let (few, all) = (ask(5), ask(1000));
            assert_eq!((few.len(), all.len()), (5, 300));
            assert_eq!(few, all[..5]);
        }
    }

    #[test]
    fn annotator_without_labels_is_average() {
        let (_, mut model) = models().swap_remove(1);
        let new = model.add_annotator();
        for annotator in [new, 1000] {
            let found = model.explain(ExplainedText::Row(0), annotator).unwrap();
            for logit in &found.logits {
                assert_eq!((logit.severity, logit.thresholds, logit.own_label), (0.0, 0.0, 0.0));
            }
            let none = model.influences(ExplainedText::Row(0), annotator, Outcome::ExpectedLevel, 5).unwrap();
            assert_eq!(none, []);
        }
    }

    #[test]
    fn explanation_follows_a_new_label() {
        let (_, mut model) = models().swap_remove(1);
        let text = (0..120).find(|&t| model.label(t, 0).is_none()).unwrap();
        let before = model.explain(ExplainedText::Row(text), 0).unwrap();
        model.record(Observation { text, annotator: 0, level: 4 }).unwrap();
        let after = model.explain(ExplainedText::Row(text), 0).unwrap();
        assert_eq!((before.own_level, after.own_level), (None, Some(4)));
        assert_eq!(before.others, after.others);
        assert!(after.logits[0].own_label > 0.01, "{:?}", after.logits[0]);
        assert!(after.logits[0].severity > before.logits[0].severity);
        assert_eq!(after.logits[0].words, before.logits[0].words);
    }
}
