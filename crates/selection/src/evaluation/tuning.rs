//! Tuning of the answer for macro-F1, on training or validation labels, never on test labels.

use super::seen::SeenByEncoder;
use crate::fit::fit;
use dissensus_models::batch::validation_scores;
use dissensus_stats::data::copies::Copies;
use dissensus_stats::data::progress::{Progress, Quiet, step};
use dissensus_stats::data::{FitOptions, ModelError, ModelKind, Observation, TrainingData, folds};
use dissensus_stats::metrics::{F1Rule, Scored, dichotomize, score};

/// Number of folds of the labelled texts, of which [`HELD_OUT`] are held out in turn for tuning.
const FOLDS: usize = 5;
const HELD_OUT: usize = 2;

/// Tunes the rule for macro-F1 by [`scored_by_folds`], with the shares of levels of `data`; with `at_least`
/// for the binary question "is the level this one or higher". With labels on only one text, the most likely
/// level is answered.
pub fn f1_rule_by_folds(
    kind: ModelKind,
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    at_least: Option<u16>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<F1Rule, ModelError> {
    let held_out = scored_by_folds(kind, data, seen, options, progress)?;
    Ok(choose(held_out, data.observations, at_least))
}

/// Predicts labels of `data` by models of the same kind that learned from none of their texts: each fitted
/// to the texts of four fifths and scored on those of the last, two fifths in all. `multilevel` is fitted
/// in one round and without slopes: choices based on these predictions do not depend on that, and it takes
/// half the time. Labels that trained the encoder (`seen`) are not scored.
pub fn scored_by_folds(
    kind: ModelKind,
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Scored, ModelError> {
    let sorted = data.sorted()?;
    let quick = FitOptions { rounds: 1, slopes: false, ..options.clone() };
    let texts: Vec<&[Observation]> = sorted.chunk_by(|a, b| a.text == b.text).collect();
    let rows: Vec<u32> = texts.iter().map(|group| group[0].text).collect();
    let copies = Copies::by_embedding(data.embeddings);
    let of_text = folds::of_listed(&rows, &copies, FOLDS, options.seed ^ 0xf1);
    let excluded = copies.spread(seen.texts);
    let mut held_out = vec![Scored { levels: data.target.levels, ..Scored::default() }];
    for fold in 0..HELD_OUT {
        step(progress, "the answer for macro-F1", fold as f32 / HELD_OUT as f32)?;
        let side = |held: bool| -> Vec<Observation> {
            let texts = texts.iter().zip(&of_text).filter(|(_, f)| (usize::from(**f) == fold) == held);
            texts.flat_map(|(group, _)| group.iter().copied()).collect()
        };
        let (train, mut held) = (side(false), side(true));
        held.retain(|o| !excluded[o.text as usize]);
        if train.is_empty() || held.is_empty() {
            continue;
        }
        let model = fit(kind, &TrainingData { observations: &train, ..*data }, &quick, &Quiet(progress))?;
        held_out.push(score(model.as_ref(), &held));
    }
    Ok(Scored::pooled(held_out))
}

/// Predicts labels of `validation` by `multilevel` on an encoder that was tuned on the labels of `data`,
/// none of them by a model that was calibrated on its text.
pub fn scored_by_calibration(
    data: &TrainingData<'_>,
    validation: &[Observation],
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Scored, ModelError> {
    validation_scores(data, validation, options, &Quiet(progress))
}

/// Chooses the rule on labels predicted without them.
pub(super) fn choose(held_out: Scored, train: &[Observation], at_least: Option<u16>) -> F1Rule {
    let Some(level) = at_least else { return F1Rule::choose(&held_out, train) };
    let train: Vec<Observation> =
        train.iter().map(|o| Observation { level: u16::from(o.level >= level), ..*o }).collect();
    F1Rule::choose(&dichotomize(&held_out, level), &train)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::{Simulation, simulate};
    use dissensus_stats::metrics::{accuracy, macro_f1};

    fn data(sim: &Simulation) -> TrainingData<'_> {
        TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        }
    }

    #[test]
    fn tuned_rule_finds_rare_levels() {
        let sim = simulate(400, 20, 5, 4, 60, 3);
        let (train, test): (Vec<Observation>, Vec<Observation>) =
            sim.observations.iter().partition(|o| o.text % 4 != 0);
        let data = TrainingData { observations: &train, ..data(&sim) };
        let (options, seen) = (FitOptions::default(), SeenByEncoder::default());
        let rule = f1_rule_by_folds(ModelKind::Shared, &data, seen, None, &options, &Silent).unwrap();
        let model = fit(ModelKind::Shared, &data, &options, &Silent).unwrap();
        let scored = score(model.as_ref(), &test).tuned_by(&rule);
        let truth = scored.truth();
        let (tuned, likely) = (scored.tuned_or_predicted(), scored.predicted());
        assert!(rule.alpha > 0.0);
        assert!(macro_f1(&truth, &tuned) > macro_f1(&truth, &likely) + 0.02);
        assert!(accuracy(&truth, &tuned) < accuracy(&truth, &likely));
        // Reproducible, and independent of the order of the labels.
        let turned: Vec<Observation> = train.iter().rev().copied().collect();
        let data = TrainingData { observations: &turned, ..data };
        assert_eq!(rule, f1_rule_by_folds(ModelKind::Shared, &data, seen, None, &options, &Silent).unwrap());
    }

    #[test]
    fn too_little_data_keeps_the_most_likely_level() {
        let sim = simulate(30, 5, 3, 4, 10, 4);
        let of = |observations: &[Observation], texts: &[bool], at_least| {
            let data = TrainingData { observations, ..data(&sim) };
            let (options, seen) = (FitOptions::default(), SeenByEncoder { texts, annotators: &[] });
            f1_rule_by_folds(ModelKind::Shared, &data, seen, at_least, &options, &Silent).unwrap()
        };
        let one_text: Vec<Observation> =
            sim.observations.iter().filter(|o| o.text == sim.observations[0].text).copied().collect();
        assert_eq!(of(&one_text, &[], None).alpha, 0.0);
        assert_eq!(of(&sim.observations, &[], Some(2)).prior.len(), 2);
        assert_eq!(of(&sim.observations, &[true; 30], None).alpha, 0.0, "the encoder has seen all of them");
    }
}
