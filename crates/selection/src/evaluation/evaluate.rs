//! Evaluation of models on held-out labels.

use super::predicted::{Evaluation, HeldOutPart, Predicted};
use super::seen::MIN_UNSEEN_TEXTS;
use super::split::{DataSplit, SplitColumns, SplitSpec};
use super::tuning::{choose, scored_by_folds};
use crate::fit::fit_prepared;
use dissensus_models::batch::Prepared;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use dissensus_stats::data::Observation;
use dissensus_stats::data::TrainingData;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::metrics::Scored;
use dissensus_stats::metrics::{dichotomize, score};
use std::collections::BTreeSet;

/// Share of the training labels that choose a network's number of steps, before it learns from all of them.
const CHOOSES_STEPS: f64 = 0.2;

/// Trains every model of `kinds` on the training side of `split` and scores it on the other; for a
/// cross-validation, the labels of all folds are scored together. Every model learns from all training
/// labels: a network chooses its number of steps on a fifth of them (or on the split's own validation
/// labels), held out in the same way as the split and excluding what trained the encoder where enough
/// remains, and is then trained again on all. The answer for macro-F1 is tuned on validation labels where
/// the split has some, else on folds of the training labels.
///
/// With `at_least` an ordinal question is scored as "is the level this one or higher" (level counted from
/// 0): every model still learns all levels and its probabilities of the levels from there on are added up;
/// metrics are those of a binary question. Measured on POPQUORN against learning the binary question:
/// `majority`, `shared`, `sep-heads` and `multilevel` rank disagreement better this way and accuracies
/// change by less than 0.002; log loss gains 0.004 for `multilevel`, and loses 0.003 for `sep-heads` and
/// 0.02 for `majority`.
///
/// # Errors
/// Those of [`fit`](crate::fit::fit); [`ModelError::AtLeast`]; [`ModelError::EmptySplit`].
pub fn evaluate(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    kinds: &[ModelKind],
    at_least: Option<u16>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Vec<Evaluation>, ModelError> {
    let ordinal = data.target.kind.has_distances() && at_least.is_none();
    let predicted = predict_test(data, split, columns, kinds, at_least, options, progress)?;
    Ok(predicted.iter().map(|model| model.evaluation(ordinal)).collect())
}

/// Predictions that [`evaluate`] scores: the probabilities of every model for each test label.
pub fn predict_test(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    kinds: &[ModelKind],
    at_least: Option<u16>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Vec<Predicted>, ModelError> {
    check_at_least(data, at_least)?;
    let mut pooled: Vec<(Vec<Scored>, Vec<HeldOutPart>)> = vec![Default::default(); kinds.len()];
    let mut unseen_texts = 0;
    for split in split.each() {
        let mut division = split.divide(data, columns, options.seed, 0.0)?;
        unseen_texts += division.test.texts();
        if division.test.labels() == 0 {
            continue;
        }
        let train = TrainingData { observations: &division.train, ..*data };
        let (kept, held) = choosing_steps(split, &division, &train, columns, options.seed)?;
        let prepared = Prepared::new(&train, options)?.validated_on(kept, held);
        let tested: BTreeSet<u32> = division.test.observations().iter().map(|o| o.text).collect();
        for (&kind, (pooled, parts)) in kinds.iter().zip(&mut pooled) {
            let model = fit_prepared(kind, &prepared, options, progress)?;
            let held_out = if division.validation.is_empty() {
                scored_by_folds(kind, &train, columns.seen, options, progress)?
            } else {
                score(model.as_ref(), &division.validation)
            };
            let rule = choose(held_out.clone(), &division.train, at_least);
            parts.push(HeldOutPart { scored: held_out, tested: tested.clone() });
            let mut scored = division.test.score(kind.name(), model.as_ref())?;
            if let Some(level) = at_least {
                scored = dichotomize(&scored, level);
            }
            pooled.push(scored.tuned_by(&rule));
        }
    }
    columns.seen.check(&split.name(), unseen_texts)?;
    let of = |(kind, (parts, held_out)): (&ModelKind, (Vec<Scored>, Vec<HeldOutPart>))| Predicted {
        held_out,
        ..Predicted::new(kind.name(), Scored::pooled(parts))
    };
    Ok(kinds.iter().zip(pooled).map(of).collect())
}

/// Labels that a network learns from while its number of steps is chosen, and those that choose it.
/// Predictions of labels that trained the encoder improve the longer a network learns; they are used for
/// the choice only where there are hardly any others.
fn choosing_steps(
    split: SplitSpec,
    division: &DataSplit,
    train: &TrainingData<'_>,
    columns: SplitColumns<'_>,
    seed: u64,
) -> Result<(Vec<Observation>, Vec<Observation>), ModelError> {
    let (kept, held) = if division.validation.is_empty() {
        let (kept, held, _) = split.carve(train, columns, seed, CHOOSES_STEPS)?;
        (kept, held)
    } else {
        (division.train.clone(), division.validation.clone())
    };
    let unseen = split.unseen(&held, train, columns)?;
    let texts = unseen.iter().map(|o| o.text).collect::<BTreeSet<_>>().len();
    Ok((kept, if texts >= MIN_UNSEEN_TEXTS { unseen } else { held }))
}

pub(super) fn check_at_least(data: &TrainingData<'_>, at_least: Option<u16>) -> Result<(), ModelError> {
    let Some(level) = at_least else { return Ok(()) };
    let levels = data.target.levels;
    let fits = data.target.kind.has_distances() && level > 0 && usize::from(level) < levels;
    if fits { Ok(()) } else { Err(ModelError::AtLeast { level, levels }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::SeenByEncoder;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::simulate;

    #[test]
    fn steps_are_chosen_on_texts_unseen_by_the_encoder() {
        let sim = simulate(200, 6, 3, 4, 100, 3);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let chosen = |seen: &[bool]| {
            let seen = SeenByEncoder { texts: seen, annotators: &[] };
            let columns = SplitColumns { seen, ..SplitColumns::default() };
            let split: SplitSpec = "by-text:0.7".parse().unwrap();
            let division = split.divide(&data, columns, 1, 0.0).unwrap();
            let train = TrainingData { observations: &division.train, ..data };
            choosing_steps(split, &division, &train, columns, 1).unwrap()
        };
        let seen: Vec<bool> = (0..200).map(|text| text % 2 == 0).collect();
        let (kept, held) = chosen(&seen);
        assert!(held.iter().all(|o| !seen[o.text as usize]) && held.len() > 20, "{}", held.len());
        assert!(kept.iter().any(|o| seen[o.text as usize]), "they still teach");
        // Hardly any others: the existing ones are used.
        let nearly_all: Vec<bool> = (0..200).map(|text| text >= 3).collect();
        let (_, held) = chosen(&nearly_all);
        assert!(held.iter().any(|o| nearly_all[o.text as usize]));
    }

    #[test]
    fn pooled_folds_match_single_folds() {
        let sim = simulate(40, 6, 3, 4, 20, 3);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let scores = |split: &str| {
            let kinds = [ModelKind::Shared, ModelKind::Majority];
            let split = split.parse().unwrap();
            let options = FitOptions::default();
            evaluate(&data, split, SplitColumns::default(), &kinds, None, &options, &Silent).unwrap()
        };
        let together = scores("k-fold:3");
        assert_eq!(together[0].scores.n_labels, sim.observations.len());
        let alone: Vec<Evaluation> =
            (1..=3).map(|fold| scores(&format!("k-fold:3/{fold}")).remove(0)).collect();
        let loss = |e: &Evaluation| e.scores.log_loss.unwrap();
        let sum: f64 = alone.iter().map(|e| loss(e) * e.scores.n_labels as f64).sum();
        assert!((loss(&together[0]) - sum / sim.observations.len() as f64).abs() < 1e-9);
    }
}
