//! The targets of a question, each of which a model learns, and predictions of their test labels.

use super::choices::EvaluateChoices;
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{Predicted, SplitColumns, predict_baselines, predict_test};
use dissensus_stats::data::Embeddings;
use dissensus_training::encoding::SeenRows;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

/// How texts were divided.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitReport {
    /// `by-text`, `column`, ...
    pub kind: &'static str,
    /// The whole name, for example `by-text:0.7`.
    pub name: String,
    /// Training share, if there is one.
    pub share: Option<f64>,
    /// Number of divisions whose labels are scored together: 1, or the folds of a cross-validation.
    pub folds: usize,
    /// Number of training texts.
    pub train_texts: usize,
    pub test_texts: usize,
    /// Number of training labels.
    pub train_labels: usize,
    pub test_labels: usize,
    /// Texts that the split would score, and that are left out because the encoder in use was tuned on their
    /// labels.
    pub left_out_texts: usize,
    /// Test texts whose body is also in training or validation under another id, ignoring white space and
    /// case. Only the official split has any: divisions drawn here put copies on one side. Also 0 if texts
    /// are on both sides anyway (by annotator, labels at random).
    pub copies_in_training: usize,
    /// Texts that were left out of the test because their body is also in training, in another group.
    pub left_out_copies: usize,
}

/// How labels were divided, and which test texts are also in training.
pub(super) struct Divided {
    pub(super) report: SplitReport,
    pub(super) copies: BTreeSet<u32>,
}

/// The targets of a question, whose labels are divided in the same way.
pub(super) struct Targets<'a> {
    all: &'a [QuestionData],
    first: &'a QuestionData,
    seen: SeenRows,
    pub(super) divided: Divided,
}

impl<'a> Targets<'a> {
    /// Divides the labels of `all`. `seen` are the texts that the encoder has learned from.
    pub(super) fn divide(
        all: &'a [QuestionData],
        seen: SeenRows,
        choices: &EvaluateChoices,
    ) -> Result<Self, ProjectError> {
        let first = first_target(all)?;
        let divided = divide(first, &seen, choices)?;
        Ok(Self { all, first, seen, divided })
    }

    pub(super) fn first(&self) -> &'a QuestionData {
        self.first
    }

    /// The columns by which the labels of `target` are divided.
    pub(super) fn columns<'b>(&'b self, target: &'b QuestionData) -> SplitColumns<'b> {
        SplitColumns { seen: self.seen.rows(), ..target.columns() }
    }

    /// Trains every model on the training labels of each target; the predictions of its test labels, by
    /// model, then target.
    pub(super) fn predict_models(
        &self,
        embeddings: &Embeddings,
        choices: &EvaluateChoices,
        at_least: Option<u16>,
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<Predicted>>, ProjectError> {
        let (split, kinds, fit) = (choices.split, &choices.models, choices.fit_options());
        self.by_model(|nth, target| {
            let name = (self.all.len() > 1).then_some(target.question.name.as_str());
            let within = Within { progress, target: name, nth, of: self.all.len() };
            let (data, columns) = (target.data(embeddings), self.columns(target));
            Ok(predict_test(&data, split, columns, kinds, at_least, &fit, &within)?)
        })
    }

    /// The same by baselines, which do not read the texts.
    pub(super) fn predict_baselines(
        &self,
        embeddings: &Embeddings,
        choices: &EvaluateChoices,
        at_least: Option<u16>,
    ) -> Result<Vec<Vec<Predicted>>, ProjectError> {
        let seed = u64::from(choices.seed);
        self.by_model(|_, target| {
            let (data, columns) = (target.data(embeddings), self.columns(target));
            Ok(predict_baselines(&data, choices.split, columns, at_least, seed)?)
        })
    }

    /// Transposes the predictions of each target's models to those of each model's targets.
    fn by_model(
        &self,
        predict: impl Fn(usize, &QuestionData) -> Result<Vec<Predicted>, ProjectError>,
    ) -> Result<Vec<Vec<Predicted>>, ProjectError> {
        let mut models: Vec<Vec<Predicted>> = Vec::new();
        for (nth, target) in self.all.iter().enumerate() {
            let found = predict(nth, target)?;
            models.resize_with(found.len(), Vec::new);
            models.iter_mut().zip(found).for_each(|(of, one)| of.push(one));
        }
        Ok(models)
    }
}

/// The target that stands for all where texts, annotators and their division are concerned.
pub(super) fn first_target(all: &[QuestionData]) -> Result<&QuestionData, ProjectError> {
    all.first().ok_or(ProjectError::NoQuestion)
}

fn divide(
    question_data: &QuestionData,
    seen: &SeenRows,
    choices: &EvaluateChoices,
) -> Result<Divided, ProjectError> {
    let none = Embeddings::none(question_data.texts.len());
    let (kind, share) = choices.split.parts();
    let (mut train, mut test_texts, mut test_labels) = (BTreeSet::new(), 0, 0);
    let (mut left_out_texts, mut left_out_copies, mut copies) = (0, 0, BTreeSet::new());
    for split in choices.split.each() {
        let columns = SplitColumns { seen: seen.rows(), ..question_data.columns() };
        let division = split.divide(&question_data.data(&none), columns, u64::from(choices.seed), 0.0)?;
        left_out_texts += division.test.left_out();
        left_out_copies += division.copies.left_out;
        copies.extend(division.copies.scored);
        train.extend(division.train);
        test_texts += division.test.texts();
        test_labels += division.test.labels();
    }
    let train_texts: HashSet<u32> = train.iter().map(|o| o.text).collect();
    let report = SplitReport {
        kind,
        name: choices.split.name(),
        share,
        folds: choices.split.each().len(),
        train_texts: train_texts.len(),
        test_texts,
        train_labels: train.len(),
        test_labels,
        left_out_texts,
        copies_in_training: copies.len(),
        left_out_copies,
    };
    Ok(Divided { report, copies })
}

/// The progress of one target as a part of the progress of all.
struct Within<'a> {
    progress: &'a dyn Progress,
    /// Its name; none if it is the only one.
    target: Option<&'a str>,
    nth: usize,
    of: usize,
}

impl Progress for Within<'_> {
    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }

    fn report(&self, done: u64, total: Option<u64>, what: &str) {
        let all = total.map(|total| total * self.of as u64);
        let done = total.map_or(done, |total| total * self.nth as u64 + done.min(total));
        match self.target {
            Some(target) => self.progress.report(done, all, &format!("{target}: {what}")),
            None => self.progress.report(done, all, what),
        }
    }
}
