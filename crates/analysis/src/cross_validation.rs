//! Cross-validation of an encoder's embeddings on training texts: the criterion for choosing a pooling or an
//! encoder.

use super::Analysis;
use dissensus_encoder::Encoder;
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{SeenByEncoder, SplitColumns, SplitSpec};
use dissensus_selection::fit::fit;
use dissensus_stats::data::{FitOptions, ModelKind, Observation, TrainingData};
use dissensus_training::encoding::encoders::SelectedEncoder;
use dissensus_training::encoding::first_texts;
use std::path::Path;
use std::sync::Arc;

/// The parameters of a cross-validation, the same for every encoder.
pub(super) struct CrossValidation {
    question_data: QuestionData,
    /// How labels are divided; only training labels are used.
    split: SplitSpec,
    seed: u64,
    criterion: Criterion,
}

/// What is fitted in a cross-validation.
#[derive(Clone, Copy)]
pub(super) struct Criterion {
    pub(super) model: ModelKind,
    /// Number of folds of the training texts.
    pub(super) folds: u8,
    /// The purpose, for error messages.
    pub(super) purpose: &'static str,
}

impl CrossValidation {
    /// A cross-validation of the labels of a question, by the usual split if there is none.
    pub(super) fn new(
        cx: &Analysis,
        question: Option<&str>,
        split: Option<SplitSpec>,
        seed: u64,
        criterion: Criterion,
    ) -> Result<Self, ProjectError> {
        let question_data = cx.context.question_data(&cx.question(question)?)?;
        let split = split.unwrap_or_else(|| question_data.usual_split());
        question_data.check_split(split)?;
        Ok(Self { question_data, split, seed, criterion })
    }
}

/// Encodes all texts with an encoder, which does not become the project's, and returns the loss of every
/// label of the training texts by models that did not learn from its text.
pub(super) fn held_out_losses(
    cx: &Analysis,
    asked: &CrossValidation,
    (encoder, version, dir): (&Encoder, &SelectedEncoder, &Path),
    progress: &dyn Progress,
) -> Result<Losses, ProjectError> {
    let (question_data, seed) = (&asked.question_data, asked.seed);
    cx.encoding.add_version(encoder, dir)?;
    cx.encoding.encode_version(encoder, &version.key, progress)?;
    let embeddings = cx.encoding.embeddings_of(&version.key)?;
    let embeddings = first_texts(&Arc::new(embeddings), question_data.texts.len())?;
    let data = question_data.data(&embeddings);
    let train = asked.split.divide(&data, question_data.columns(), seed, 0.0)?.train;
    let data = TrainingData { observations: &train, ..data };
    let seen = cx.encoding.seen_by(Some(&version.key), &cx.context.index())?;
    cross_validated(&data, seen.rows(), asked, progress)
}

fn cross_validated(
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    asked: &CrossValidation,
    progress: &dyn Progress,
) -> Result<Losses, ProjectError> {
    let mut losses = Losses::default();
    let mut unseen = 0;
    for split in (SplitSpec::KFold { folds: asked.criterion.folds, fold: None }).each() {
        let columns = SplitColumns { seen, ..asked.question_data.columns() };
        let mut division = split.divide(data, columns, asked.seed, 0.0)?;
        unseen += division.test.texts();
        if division.test.labels() == 0 {
            continue;
        }
        let options = FitOptions { seed: asked.seed, ..FitOptions::default() };
        let train = TrainingData { observations: &division.train, ..*data };
        let model = fit(asked.criterion.model, &train, &options, progress)?;
        let scored = division.test.score(asked.criterion.model.name(), model.as_ref())?;
        let of =
            |(i, o): (usize, &Observation)| -f64::from(scored.row(i)[usize::from(o.level)]).max(1e-9).ln();
        losses.values.extend(scored.observations.iter().enumerate().map(of));
        losses.labels.extend(scored.observations.iter().map(|o| (o.text, o.annotator)));
    }
    seen.check(asked.criterion.purpose, unseen)?;
    Ok(losses)
}

/// Losses of labels that models did not learn from.
#[derive(Default)]
pub(super) struct Losses {
    /// Text and annotator of each.
    labels: Vec<(u32, u32)>,
    pub(super) values: Vec<f64>,
}

/// The index of the first encoder whose losses are of fewer labels than the longest ones, because it has
/// learned from some of them.
pub(super) fn of_other_labels(losses: &[Losses]) -> Option<usize> {
    let longest = losses.iter().max_by_key(|of| of.labels.len())?;
    losses.iter().position(|of| of.labels != longest.labels)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Whether losses are lower by more than a standard error of the paired difference (the rule of Breiman et
/// al. 1984, Classification and regression trees, section 3.4.3): differences are small, and the best of
/// several is partly luck.
pub(super) fn clearly_better(losses: &[f64], than: &[f64]) -> bool {
    let differences: Vec<f64> = than.iter().zip(losses).map(|(b, a)| b - a).collect();
    let gain = mean(&differences);
    let square = differences.iter().map(|d| (d - gain).powi(2)).sum::<f64>();
    let n = differences.len() as f64;
    gain > (square / (n - 1.0).max(1.0) / n.max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoders_are_compared_only_on_the_same_labels() {
        let of = |labels: &[(u32, u32)]| Losses { labels: labels.to_vec(), values: vec![0.5; labels.len()] };
        let all = [(0, 0), (0, 1), (1, 0)];
        assert_eq!(of_other_labels(&[]), None);
        assert_eq!(of_other_labels(&[of(&all), of(&all)]), None);
        // One has learned from a text, whatever its position in the list.
        assert_eq!(of_other_labels(&[of(&all), of(&all[..2]), of(&all)]), Some(1));
        assert_eq!(of_other_labels(&[of(&all[..2]), of(&all), of(&all)]), Some(0));
        // As many labels left, but others: their losses are no pairs.
        assert!(of_other_labels(&[of(&all[..2]), of(&all[1..])]).is_some());
    }

    #[test]
    fn difference_within_chance_is_not_better() {
        let than = [1.0, 0.4, 0.9, 0.5, 0.7, 0.6];
        let lower = |by: [f64; 6]| -> Vec<f64> { than.iter().zip(by).map(|(l, by)| l - by).collect() };
        assert!(clearly_better(&lower([0.1, 0.12, 0.09, 0.1, 0.11, 0.1]), &than));
        assert!(!clearly_better(&lower([0.4, -0.3, 0.2, -0.3, 0.3, -0.1]), &than));
        assert!(!clearly_better(&than, &than));
    }
}
